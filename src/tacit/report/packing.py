"""The format of the data in a report page: column-oriented, compressed and HTML-safe."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.report.content import Figure, Table

_DIGITS = 6  # significant digits of a number in a table
_DECIMALS = 4  # decimals of a number in a table behind a row


def packed(content: object) -> str:
    """Return the content as gzipped JSON in base64, which never contains ``<``."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def table_data(table: Table) -> dict[str, Any]:
    """Return a table in the format that the page's script reads."""
    names = [column.name for column in table.columns]
    wanted = [*names, *(to for to in table.columns_to if to not in names)]
    keys = (table.behind, None if table.details is None else table.details.key)
    wanted += [key for key in keys if key is not None and key not in wanted]
    shown = {
        column.name: {"heading": column.heading, "kind": column.kind, "to": column.to}
        for column in table.columns
    }
    return {
        "id": table.id,
        "title": table.title,
        "about": table.about,
        "model": table.model,
        "rows": table.frame.height,
        "columns": [{"name": name, **shown.get(name, {"heading": None})} for name in wanted],
        "values": columns_of(table.frame.select(wanted), fine=table.behind is None),
        "details": None
        if table.details is None
        else {
            "key": table.details.key,
            "tables": list(table.details.tables),
            "label": table.details.label,
        },
    }


def columns_of(frame: pl.DataFrame, *, fine: bool = True) -> list[Any]:
    """Return each column's values; columns with repeated strings are dictionary-encoded."""
    import polars as pl

    found: list[Any] = []
    for column in frame.iter_columns():
        if column.dtype.is_float():
            number = column.fill_nan(None)
            rounded = number.round_sig_figs(_DIGITS) if fine else number.round(_DECIMALS)
            found.append(_whole(rounded.to_list()))
        elif column.dtype == pl.String and column.n_unique() * 2 < len(column):
            words = column.unique(maintain_order=True)
            codes = column.replace_strict(words, range(len(words)), return_dtype=pl.Int32)
            found.append({"words": words.to_list(), "codes": codes.to_list()})
        else:
            found.append(column.to_list())
    return found


def _whole(values: Sequence[float | None]) -> list[float | int | None]:
    """Convert whole numbers to integers, and infinite numbers to None."""
    return [
        None if v is None or v in (float("inf"), float("-inf")) else int(v) if v == int(v) else v
        for v in values
    ]


def shared(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return the specifications of charts, and each distinct dataset of the charts once."""
    specs = {each.id: each.spec for each in figures}
    headings = {each.id: each.heading for each in figures}
    datasets: dict[str, Any] = {}
    charts: dict[str, Any] = {}
    for name, spec in specs.items():
        names: dict[str, str] = {}
        for own, rows in spec.get("datasets", {}).items():
            data = _by_column(rows)
            text = json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
            key = hashlib.sha256(text.encode()).hexdigest()[:16]
            datasets[key] = data
            names[own] = key
        rest = {key: value for key, value in spec.items() if key != "datasets"}
        charts[name] = {"spec": rest, "data": names, "title": headings.get(name)}
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
