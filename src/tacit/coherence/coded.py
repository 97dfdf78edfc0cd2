"""A table of beliefs as arrays of integers, and integers as words again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tacit.coherence.closure import Integers


@dataclass(frozen=True)
class Coded:
    """The group, subject, relation and object of each row, as numbers in ``items`` and so on."""

    group: Integers
    subject: Integers
    relation: Integers
    object: Integers
    items: pl.Series
    relations: pl.Series
    groups: pl.DataFrame

    @property
    def ends(self) -> Integers:
        """The subject and the object of each row, as numbers that no other group shares."""
        start = self.group * len(self.items)
        return np.stack([start + self.subject, start + self.object])

    @property
    def frame(self) -> pl.DataFrame:
        """The codes of each row, in the columns g, s, r and o."""
        return pl.DataFrame(
            {"g": self.group, "s": self.subject, "r": self.relation, "o": self.object}
        )

    @property
    def unasked(self) -> int:
        """The number of statements without a row about two different items of a group."""
        sizes = np.bincount(np.unique(self.ends) // max(1, len(self.items)))
        possible = int((sizes * (sizes - 1)).sum()) * len(self.relations)
        return possible - int((self.subject != self.object).sum())

    def words(self, codes: pl.DataFrame) -> dict[str, pl.Series]:
        """Return the subject, relation and object of statements in the columns s, r and o."""
        return {
            "subject": self.items.gather(codes["s"]),
            "relation": self.relations.gather(codes["r"]),
            "object": self.items.gather(codes["o"]),
        }

    def beside(self, groups: Integers | pl.Series, table: pl.DataFrame) -> pl.DataFrame:
        """Put the columns of groups before a table's; rename group columns whose names clash."""
        taken = {name: f"{name} (group)" for name in self.groups.columns if name in table.columns}
        return self.groups.rename(taken).select(pl.all().gather(groups)).hstack(table)


def code(beliefs: pl.DataFrame, relations: Sequence[str], columns: Sequence[str]) -> Coded:
    """Encode the groups, items and relations of beliefs as integers."""
    items = pl.concat([beliefs["subject"], beliefs["object"]]).unique().sort()
    named, known = pl.Enum(items), pl.Enum(relations)
    keys = (
        beliefs.select(columns)
        if columns
        else beliefs.select(group=pl.repeat(1, pl.len(), dtype=pl.Int64))
    )
    groups = keys.unique().sort(pl.all(), nulls_last=False)
    number = "number of the group"
    numbered = keys.join(
        groups.with_row_index(number),
        on=keys.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return Coded(
        numbered[number].cast(pl.Int64).to_numpy(),
        _positions(beliefs["subject"], named),
        _positions(beliefs["relation"], known),
        _positions(beliefs["object"], named),
        items,
        known.categories,
        groups,
    )


def _positions(column: pl.Series, names: pl.Enum) -> Integers:
    return column.cast(names).to_physical().cast(pl.Int64).to_numpy()
