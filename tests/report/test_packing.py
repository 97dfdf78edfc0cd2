from __future__ import annotations

import base64
import gzip
import json

import polars as pl

from tacit.findings.display import Details, FigureSpec
from tacit.findings.spec import Column, TableSpec
from tacit.report.charts import Figure
from tacit.report.packing import packed, shared, table_data
from tests.report.conftest import EVIL


def unpacked(text: str) -> object:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_packed_text_cannot_end_a_script() -> None:
    """What is packed comes back whole, and holds no character that HTML reads."""
    content = {"name": EVIL, "more": ["<!--", "</script>", "\u2028", None, 1.5]}
    text = packed(content)
    assert not set(text) & set("<>&'\"")
    assert unpacked(text) == content


def test_data_that_charts_share_stand_once() -> None:
    spec = {"mark": "point", "datasets": {"own": [{"x": 1}, {"x": 2}]}}
    found = shared([Figure(FigureSpec(name, "", "", str), spec) for name in "ab"])
    assert len(found["datasets"]) == 1
    assert found["charts"]["a"]["data"] == found["charts"]["b"]["data"]
    assert "datasets" not in found["charts"]["a"]["spec"]


def test_what_is_missing_stays_missing() -> None:
    """A missing number is null, as is one that is not finite; 0 stays 0."""
    frame = pl.DataFrame(
        {
            "name": ["a", "a", "a", "b", None] * 2,
            "value": [0.0, None, float("nan"), float("inf"), 1 / 3] * 2,
        }
    )
    spec = TableSpec("t", "", "", (Column("name", "name"), Column("value", "value", "score")))
    names, values = table_data(Details(spec, frame))["values"]
    assert values == [0, None, None, None, 0.333333] * 2
    found = [None if code is None else names["words"][code] for code in names["codes"]]
    assert found == ["a", "a", "a", "b", None] * 2
