"""What a paper prints beside one's own figures: ours, published, difference.

Published values stand in YAML (``tacit/data/published``), in blocks of cells. A block says which
table of the paper it is of, what its values are, and where ours come from::

    - table: "3"
      levels: [model, row, column]     # what the nested keys of the values are
      from: violation                  # a table of findings,
      where: {stage: before, constraint: "{row}"}   # its row,
      take: "{column}"                 # its column,
      as: percent                      # and how the number is made of it: see ``MAKERS``
      values: {Macaw-11B: {symmetric: {rate: 29.98}}}

``row``, ``column`` and ``model`` are keys of a level, or templates of them. A value is a number, or
``low`` and ``high`` of a range. ``of`` is a whole whose parts the values count. ``others`` is the
value of all that have a row of ours and are not named. Published values go into no result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl


def _percent(rows: pl.DataFrame, take: str) -> float | None:
    share = rows[take][0]
    return None if share is None else round(100 * share, 2)


def _exp(rows: pl.DataFrame, take: str) -> float | None:
    logprob = rows[take][0]
    return None if logprob is None else math.exp(logprob)


def _believed(rows: pl.DataFrame, take: str) -> float | None:
    known = rows[take].drop_nulls()
    return None if known.is_empty() else int(known[0] > 1 / 2)


def _most(rows: pl.DataFrame, take: str) -> float | None:
    return max(rows[take].drop_nulls(), default=None)


MAKERS: Mapping[str, Callable[[pl.DataFrame, str], float | None]] = {
    "number": lambda rows, take: rows[take][0],
    "percent": _percent,
    "exp": _exp,
    "believed": _believed,
    "rows": lambda rows, _: rows.height,
    "distinct": lambda rows, take: rows[take].n_unique(),
    "most": _most,
}
"""How a number is made of the rows that a cell names: its first value as it is, in per cent with
two decimals, exponentiated, or 1 where it is above one half and else 0; how many rows there are,
how many distinct values, and the greatest."""


@dataclass(frozen=True)
class PrintedValue:
    """A printed value, and where ours comes from.

    Args:
        table: The table of the paper, or what else of it.
        row: Its row.
        column: Its column.
        model: The paper's model; None for what is of the data or the method.
        value: What is printed; None for a range.
        low: Where a printed range begins.
        high: Where it ends.
        block: The block's own entries, filled in.
    """

    table: str
    row: str
    column: str
    model: str | None
    value: float | None
    low: float | None
    high: float | None
    block: Mapping[str, Any]

    def rows(self, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
        """The rows of ours that it names; None where there are none."""
        import polars as pl

        table = tables.get(self.block["from"])
        if table is None:
            return None
        for name, value in self.block.get("where", {}).items():
            table = table.filter(pl.col(name).eq_missing(pl.lit(value)))
        return None if table.is_empty() else table

    def ours(self, tables: Mapping[str, pl.DataFrame]) -> float | None:
        """Our figure; None where there is none."""
        rows = self.rows(tables)
        make = MAKERS[self.block.get("as", "number")]
        return None if rows is None else make(rows, self.block.get("take", ""))

    def difference(self, ours: float | None, digits: int) -> float | None:
        """Ours less the printed value, or less the nearer end of a range and 0 within it."""
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if ours is None or low is None or high is None:
            return None
        return round(ours - min(max(ours, low), high), digits)


@cache
def published(name: str) -> Mapping[str, Any]:
    """A file of published values.

    Args:
        name: ``parrot``, ``consistency`` or ``assumptions``.
    """
    path = resources.files("tacit") / "data" / "published" / f"{name}.yaml"
    content: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def printed_values(
    name: str, tables: Mapping[str, pl.DataFrame] | None = None
) -> list[PrintedValue]:
    """The printed values of a file, in the order of the paper.

    Args:
        name: As for ``published``.
        tables: Ours, for blocks with ``others``, whose cells are those that ours have.
    """
    content = published(name)
    found = [cell for block in content["cells"] for cell in _block_values(block, tables or {})]
    order = content.get("order", {})
    keys = [
        (cell.table, *(getattr(cell, key) for key in order.get(cell.table, ()))) for cell in found
    ]
    first: dict[tuple[Any, ...], int] = {}
    for key in keys:
        for n in range(1, len(key) + 1):
            first.setdefault(key[:n], len(first))
    places = [[first[key[:n]] for n in range(1, len(key) + 1)] for key in keys]
    return [found[at] for at in sorted(range(len(found)), key=places.__getitem__)]


def beside(
    found: Sequence[PrintedValue], tables: Mapping[str, pl.DataFrame], digits: int = 2
) -> pl.DataFrame:
    """Printed values beside ours.

    Args:
        found: What is printed.
        tables: Ours, by name; any may be absent.
        digits: The decimals of a difference.

    Returns:
        Columns table, row, column, model (null: of the data or the method), ours (null where there
        is none), published, low, high (the ends of a range), difference.
    """
    import polars as pl

    rows = []
    for cell in found:
        ours = cell.ours(tables)
        told = (cell.table, cell.row, cell.column, cell.model)
        rows.append((*told, ours, cell.value, cell.low, cell.high, cell.difference(ours, digits)))
    texts = dict.fromkeys(("table", "row", "column", "model"), pl.String)
    numbers = dict.fromkeys(("ours", "published", "low", "high", "difference"), pl.Float64)
    return pl.DataFrame(rows, {**texts, **numbers}, orient="row")


def _block_values(
    block: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]
) -> Iterator[PrintedValue]:
    levels, values = block.get("levels", ()), block["values"]
    if "others" in block:
        (key,) = (name for name, value in block["where"].items() if value == f"{{{levels[0]}}}")
        named = tables[block["from"]][key].unique().sort()
        values = {name: values.get(name, block["others"]) for name in named}
    for keys, value in _leaves(values, len(levels)):
        yield _value_of(block, dict(zip(levels, keys, strict=True)), value)


def _leaves(values: Any, depth: int) -> Iterator[tuple[tuple[Any, ...], Any]]:  # noqa: ANN401 - YAML
    """The values below so many nested keys, with their keys."""
    if not depth:
        yield (), values
        return
    for key, below in values.items():
        for keys, value in _leaves(below, depth - 1):
            yield (key, *keys), value


def _value_of(block: Mapping[str, Any], keys: Mapping[str, Any], value: Any) -> PrintedValue:  # noqa: ANN401 - YAML
    filled = {name: _filled(entry, keys) for name, entry in block.items() if name != "values"}
    ends = value if isinstance(value, dict) else {}
    printed = None if ends else value
    if "of" in filled and printed is not None:
        printed = round(100 * printed / filled["of"], 2)
    model = filled.get("model", keys.get("model"))
    row, column = (str(filled.get(name, keys.get(name, ""))) for name in ("row", "column"))
    return PrintedValue(
        filled["table"], row, column, model, printed, ends.get("low"), ends.get("high"), filled
    )


def _filled(entry: Any, keys: Mapping[str, Any]) -> Any:  # noqa: ANN401 - YAML
    """An entry of a block with the keys of a cell in place of their names."""
    if isinstance(entry, dict):
        return {name: _filled(each, keys) for name, each in entry.items()}
    if not isinstance(entry, str):
        return entry
    alone = entry[1:-1] if entry.startswith("{") and entry.endswith("}") else ""
    return keys[alone] if alone in keys else entry.format_map(keys)
