"""Beliefs as numbers: groups, items and relations in a fixed order, whatever the rows' order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.coherence.beliefs import group_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.ontology import Ontology
    from tacit.coherence.structure import Integers


@dataclass(frozen=True)
class Coded:
    """Beliefs in numbers, one entry per row.

    Args:
        group: Which group the row belongs to.
        subject: Position in ``items``.
        relation: Position in the ontology.
        object: Position in ``items``.
        items: All names, sorted.
        groups: One row per group, in sorted order, with the group's columns.
        sizes: How many items each group has.
    """

    group: Integers
    subject: Integers
    relation: Integers
    object: Integers
    items: list[str]
    groups: pl.DataFrame
    sizes: Integers


def code(beliefs: pl.DataFrame, ontology: Ontology, groups: Sequence[str] | None = None) -> Coded:
    """Number the groups, items and relations of checked beliefs.

    Args:
        beliefs: Checked beliefs.
        ontology: The relations.
        groups: The columns that name a group, as in :func:`tacit.coherence.beliefs.group_columns`.
    """
    columns = group_columns(beliefs, groups)
    items = pl.concat([beliefs["subject"], beliefs["object"]]).unique().sort()
    named = pl.Enum(items)
    related = pl.Enum(list(ontology.relations))
    group, table = _groups(beliefs, columns)
    subject = _positions(beliefs["subject"], named)
    object_ = _positions(beliefs["object"], named)
    keys = np.concatenate([group, group]) * max(1, len(items)) + np.concatenate([subject, object_])
    sizes = np.bincount(np.unique(keys) // max(1, len(items)), minlength=len(table))
    return Coded(
        group,
        subject,
        _positions(beliefs["relation"], related),
        object_,
        items.to_list(),
        table,
        sizes.astype(np.int64),
    )


def beside(groups: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """The groups' columns and a table's, one row each; a group's column of a taken name is renamed.

    A group's column ``value`` beside a table's ``value`` becomes ``value (group)``.
    """
    taken = {name: f"{name} (group)" for name in groups.columns if name in table.columns}
    return pl.concat([groups.rename(taken), table], how="horizontal")


def _groups(beliefs: pl.DataFrame, columns: list[str]) -> tuple[Integers, pl.DataFrame]:
    if not columns:
        # Without a group's column all beliefs are one group.
        count = min(1, len(beliefs))
        return np.zeros(len(beliefs), dtype=np.int64), pl.DataFrame({"group": [1] * count})
    groups = beliefs.select(columns).unique().sort(columns, nulls_last=False)
    number = "number of the group"
    numbered = beliefs.select(columns).join(
        groups.with_row_index(number),
        on=columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return numbered[number].cast(pl.Int64).to_numpy(), groups


def _positions(column: pl.Series, names: pl.Enum) -> Integers:
    return column.cast(names).to_physical().cast(pl.Int64).to_numpy()
