"""The findings that figures show, and the titles and captions of charts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.english import several
from tacit.findings.findings import Findings
from tacit.strings import last_part

if TYPE_CHECKING:
    from tacit.charts.theme import Palette


@dataclass(frozen=True)
class Shown:
    """The models and findings that a figure shows: the argument of a function with ``@figure``.

    Args:
        found: The findings of each model, by its name.
        sizes: The number of parameters of each model; None if it is unknown.
        colours: The palette.
        known_families: The family of each model, such as ``gpt2``; None if it is unknown.

    Examples:
        >>> import polars as pl
        >>> from tacit import Findings, Shown
        >>> from tacit.charts.theme import HOUSE
        >>> found = Findings(pl.DataFrame({"belief": [0.5]}), {})
        >>> Shown({"gpt2": found}, {}, HOUSE).table("questions").rows()
        [(0.5, 'gpt2')]
    """

    found: Mapping[str, Findings]
    sizes: Mapping[str, int | None]
    colours: Palette
    known_families: Mapping[str, str | None] = field(default_factory=dict)

    @cached_property
    def by_size(self) -> bool:
        """Whether models are compared by size: all sizes are known, and at least two differ."""
        sizes = {self.sizes.get(name) for name in self.found}
        return len(sizes) > 1 and all(sizes)

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The label of each model: the last part of its name if unambiguous, or its full name."""
        names = list(self.found)
        if self.by_size:
            names.sort(key=lambda name: self.sizes.get(name) or math.inf)
        ends = [last_part(name) for name in names]
        apart = len(set(ends)) == len(ends) and all(ends)
        return dict(zip(names, ends if apart else names, strict=True))

    @cached_property
    def families(self) -> Mapping[str, str]:
        """The family of each model, by label; a model of an unknown family has its own."""
        return {
            label: self.known_families.get(name) or label for name, label in self.labels.items()
        }

    def table(self, name: str) -> pl.DataFrame | None:
        """Return one table for all models, with a column ``model``; None if it has no rows."""
        import polars as pl

        tables = [
            table.with_columns(model=pl.lit(label))
            for model, label in self.labels.items()
            if (table := self.found[model].table(name)) is not None and not table.is_empty()
        ]
        return pl.concat(tables, how="diagonal_relaxed") if tables else None

    def alone(self, name: str) -> pl.DataFrame | None:
        """Return ``table(name)``, without the column ``model`` if there is only one model."""
        table = self.table(name)
        return table.drop("model") if table is not None and len(self.found) == 1 else table

    def defined(self, name: str, column: str) -> pl.DataFrame | None:
        """Return the table ``name``; None if it is absent or ``column`` has only nulls."""
        table = self.table(name)
        return None if table is None or table[column].is_null().all() else table

    def summaries(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield each model's label and the entry ``summary[name]`` of the model's run."""
        for model, label in self.labels.items():
            if (entry := self.found[model].summary.get(name)) is not None:
                yield label, entry

    def intervals(self, kind: str | None = None) -> str:
        """Return text for a caption that describes how the confidence intervals were computed."""
        entries = [of for _, of in self.summaries("intervals")]
        ways = entries if kind is None else [of[kind] for of in entries if kind in of]
        return " or ".join(dict.fromkeys(map(_interval_method, ways))) or "intervals"


def _interval_method(how: Mapping[str, Any]) -> str:
    times = (
        f"{how['permutations']:,} {how['method']}"
        if "permutations" in how
        else f"{how['method']}, {several(how['resamples'], 'resample')}"
    )
    return f"{100 * how['level']:g} % CIs ({times}, clustered by {how['clusters']})"


def spread(counts: Iterable[int]) -> str:
    """Return counts as text: a single number, or a range from the smallest to the largest count."""
    some = sorted(set(counts))
    return " to ".join(f"{count:,}" for count in dict.fromkeys((*some[:1], *some[-1:])))


def counted(counts: Iterable[int], one: str, many: str | None = None) -> str:
    """Return sample sizes as text, such as ``n = 266 anchors`` or a range."""
    some = set(counts)
    if len(some) == 1:
        return f"n = {several(some.pop(), one, many)}"
    return f"n = {spread(some)} {many or f'{one}s'}" if some else ""
