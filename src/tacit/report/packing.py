"""The format of the data in a report page: column-oriented, compressed and HTML-safe."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.findings.display import Details

if TYPE_CHECKING:
    from tacit.report.charts import Figure

_DIGITS = 6  # significant digits of a number in a table
_DECIMALS = 4  # decimals of a number in a table behind a row


def packed(content: object) -> str:
    """Return the content as gzipped JSON in base64, which never contains ``<``."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def table_data(table: Details) -> dict[str, Any]:
    """Return a table in the format that the page's script reads."""
    columns = list(_columns(table))
    names = [column["name"] for column in columns]
    hidden = dict.fromkeys([*(column["to"] for column in columns), table.behind, table.key])
    columns += [{"name": name, "heading": None} for name in hidden if name and name not in names]
    frame = table.table.select(column["name"] for column in columns)
    return {
        "id": table.spec.name,
        "title": table.spec.title,
        "about": table.spec.reading,
        "rows": frame.height,
        "columns": columns,
        "values": columns_of(frame, fine=table.behind is None),
        "details": {"key": table.key, "tables": table.opens} if table.key and table.opens else None,
    }


def _columns(table: Details) -> Iterator[dict[str, Any]]:
    """Yield the columns that the page shows; ``to`` names the column that completes the value."""
    for column in table.spec.in_table(table.table):
        if not column.shown or column.kind == "list":
            continue
        about = {"name": column.name, "heading": column.heading, "kind": column.kind}
        yield {**about, "to": column.within}
        if column.ends and column.ends[0] in table.table.columns:
            low, high = column.ends
            yield {"name": low, "heading": "95 % CI", "kind": column.kind, "to": high}


def columns_of(frame: pl.DataFrame, *, fine: bool = True) -> list[Any]:
    """Return each column's values; columns with repeated strings are dictionary-encoded."""
    columns: list[Any] = []
    for column in frame.iter_columns():
        if column.dtype.is_float():
            number = column.fill_nan(None)
            rounded = number.round_sig_figs(_DIGITS) if fine else number.round(_DECIMALS)
            columns.append(_whole(rounded.to_list()))
        elif column.dtype == pl.String and column.n_unique() * 2 < len(column):
            words = column.unique(maintain_order=True)
            codes = column.replace_strict(words, range(len(words)), return_dtype=pl.Int32)
            columns.append({"words": words.to_list(), "codes": codes.to_list()})
        else:
            columns.append(column.to_list())
    return columns


def _whole(values: Sequence[float | None]) -> list[float | int | None]:
    """Convert whole numbers to integers, and infinite numbers to None."""
    return [
        None if v is None or v in (float("inf"), float("-inf")) else int(v) if v == int(v) else v
        for v in values
    ]


def shared(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return the specifications of charts, and each distinct dataset of the charts once."""
    datasets: dict[str, Any] = {}
    charts: dict[str, Any] = {}
    for each in figures:
        names: dict[str, str] = {}
        for own, rows in each.chart.get("datasets", {}).items():
            data = _by_column(rows)
            text = json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
            key = hashlib.sha256(text.encode()).hexdigest()[:16]
            datasets[key] = data
            names[own] = key
        rest = {key: value for key, value in each.chart.items() if key != "datasets"}
        charts[each.declared.name] = {"spec": rest, "data": names, "title": each.heading}
    return {"charts": charts, "datasets": datasets}


def _by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "rows": len(rows),
        "columns": names,
        "values": [[_finite(row.get(name)) for row in rows] for name in names],
    }


def _finite(value: Any) -> Any:  # noqa: ANN401 - any value of a chart
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - not a number
        return None
    return value
