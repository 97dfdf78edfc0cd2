"""Published values, and the comparison of Tacit's results with published values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import polars as pl
import yaml

_TEXTS = ("table", "row", "column", "model")

MAKERS: Mapping[str, Callable[[pl.Series], Any]] = {
    "number": lambda cells: cells[0],
    "percent": lambda cells: None if cells[0] is None else round(100 * cells[0], 2),
    "exp": lambda cells: None if cells[0] is None else math.exp(cells[0]),
    # 1 if the first known value is above one half, else 0.
    "believed": lambda cells: (cells.drop_nulls().head(1) > 1 / 2).cast(int).max(),
    "rows": len,
    "distinct": lambda cells: cells.n_unique(),
    "most": lambda cells: cells.max(),
}
"""What ``as`` names in a block: how Tacit's value is made of the cells of the column ``take``."""


@dataclass(frozen=True)
class PrintedValue:
    """A published value, and how to compute Tacit's value for comparison."""

    table: str
    row: str
    column: str
    model: str | None
    value: float | None
    low: float | None
    high: float | None
    block: Mapping[str, Any]

    def rows(self, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
        """Return the rows of Tacit's table that correspond to the published value, or None."""
        import polars as pl

        table = tables.get(self.block["from"])
        if table is None:
            return None
        for name, value in self.block.get("where", {}).items():
            table = table.filter(pl.col(name).eq_missing(pl.lit(value)))
        return None if table.is_empty() else table

    def unmet(self, tables: Mapping[str, pl.DataFrame]) -> str | None:
        """Return why Tacit's value is not comparable: its row is not as the block requires."""
        rows = self.rows(tables)
        row = {} if rows is None else rows.row(0, named=True)
        for column, wanted in self.block.get("requires", {}).items():
            value = row.get(column)
            expected = wanted.get(self.model) if isinstance(wanted, dict) else wanted
            if value is None or expected is None:
                continue
            least, most = expected if isinstance(expected, list) else (expected, expected)
            if not least <= value <= most:
                ends = [f"{each:,}" if isinstance(each, int) else each for each in (least, most)]
                text = f"{value:,}" if isinstance(value, int) else value
                return f"{column}: {text}, but {' to '.join(dict.fromkeys(ends))} in the paper"
        return None

    def ours(self, tables: Mapping[str, pl.DataFrame]) -> float | None:
        """Return Tacit's value for comparison, or None if Tacit's table has no matching row."""
        rows = self.rows(tables)
        make = MAKERS[self.block.get("as", "number")]
        return None if rows is None else make(rows[self.block.get("take", rows.columns[0])])

    def difference(self, ours: float | None, digits: int) -> float | None:
        """Return Tacit's value minus the published value, or minus the nearer end of a range."""
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if ours is None or low is None or high is None:
            return None
        return round(ours - min(max(ours, low), high), digits)


@cache
def published(name: str) -> Mapping[str, Any]:
    """Return the content of the YAML file with a paper's published values."""
    path = resources.files("tacit") / "data" / "published" / f"{name}.yaml"
    content: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def printed_values(
    name: str, tables: Mapping[str, pl.DataFrame] | None = None
) -> list[PrintedValue]:
    """Return a paper's published values, in the order of the paper."""
    content = published(name)
    values = [cell for block in content["cells"] for cell in _block_values(block, tables or {})]
    order = content.get("order", {})
    keys = [
        (cell.table, *(getattr(cell, key) for key in order.get(cell.table, ()))) for cell in values
    ]
    begun: dict[tuple[Any, ...], int] = {}
    prefixes = [[key[:n] for n in range(1, len(key) + 1)] for key in keys]
    ranks = [[begun.setdefault(part, len(begun)) for part in parts] for parts in prefixes]
    return [values[at] for at in sorted(range(len(values)), key=ranks.__getitem__)]


def beside(
    values: Sequence[PrintedValue], tables: Mapping[str, pl.DataFrame], digits: int = 2
) -> pl.DataFrame:
    """Return a table that compares published values with Tacit's results."""
    import polars as pl

    rows = []
    for cell in values:
        ours = cell.ours(tables)
        own = {name: getattr(cell, name) for name in _TEXTS}
        ends = {"published": cell.value, "low": cell.low, "high": cell.high}
        rows.append({**own, "ours": ours, **ends, "difference": cell.difference(ours, digits)})
    numbers = dict.fromkeys(("ours", "published", "low", "high", "difference"), pl.Float64)
    return pl.DataFrame(rows, {**dict.fromkeys(_TEXTS, pl.String), **numbers})


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
    if isinstance(entry, dict):
        return {name: _filled(each, keys) for name, each in entry.items()}
    if not isinstance(entry, str):
        return entry
    alone = entry[1:-1] if entry.startswith("{") and entry.endswith("}") else ""
    return keys[alone] if alone in keys else entry.format_map(keys)
