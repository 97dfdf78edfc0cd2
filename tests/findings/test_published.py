import math
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from tacit.findings import published
from tacit.findings.published import beside, printed_values

FOUND = pl.DataFrame(
    {
        "kind": ["a", "a", "b", "c"],
        "when": [1, 2, 1, 1],
        "share": [0.25, 0.5, None, 0.8],
        "logprob": [math.log(0.5), -1.0, -2.0, None],
    }
)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a function
    """Puts blocks in place of a paper's."""

    def put(*blocks: dict[str, Any], order: dict[str, Sequence[str]] | None = None) -> None:
        content = {"cells": blocks, "order": order or {}}
        monkeypatch.setattr(published, "published", lambda _: content)

    return put


def ours(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - entries of a block
    where = {"kind": "{row}", "when": 1}
    block = {"table": "1", "levels": ["row"], "from": "found", "where": where, "take": "share"}
    return {**block, **more}


def test_ours_are_taken_from_the_row_that_is_named(printed: Any) -> None:  # noqa: ANN401
    """A row without a value, or none at all, is missing, and so is its difference."""
    printed(ours(values={"a": 0.2, "b": 0.3, "z": 0.4}))
    table = beside(printed_values("x"), {"found": FOUND})
    assert table["ours"].to_list() == [0.25, None, None]
    assert table["published"].to_list() == [0.2, 0.3, 0.4]
    assert table["difference"].to_list() == [0.05, None, None]
    assert beside(printed_values("x"), {})["ours"].to_list() == [None] * 3


def test_numbers_are_made_as_a_block_says(printed: Any) -> None:  # noqa: ANN401
    shares = {"number": 0.25, "percent": 25.0, "believed": 0, "rows": 2, "distinct": 2, "most": 0.5}
    for how, value in {**shares, "exp": 0.5}.items():
        take = "logprob" if how == "exp" else "share"
        printed(ours(values={"a": 1}, where={"kind": "{row}"}, take=take) | {"as": how})
        assert beside(printed_values("x"), {"found": FOUND})["ours"][0] == pytest.approx(value)


def test_a_range_has_no_difference_within_it(printed: Any) -> None:  # noqa: ANN401
    """Else it is the distance to the nearer end."""
    ends = {"a": {"low": 0.2, "high": 0.3}, "c": {"low": 0.1, "high": 0.5}}
    printed(ours(values=ends))
    table = beside(printed_values("x"), {"found": FOUND})
    assert table["published"].is_null().all()
    assert table["difference"].to_list() == [0, 0.3]


def test_counts_of_a_whole_are_per_cent(printed: Any) -> None:  # noqa: ANN401
    printed(ours(values={"a": 100}, of=300) | {"as": "percent"})
    row = beside(printed_values("x"), {"found": FOUND}).row(0, named=True)
    assert (row["published"], row["ours"], row["difference"]) == (33.33, 25.0, -8.33)


def test_a_value_is_comparable_if_its_row_is_as_required(printed: Any) -> None:  # noqa: ANN401
    """A value, a range, or one for each model; what is unknown is no reason."""
    for wanted, reason in (
        ({"when": 1, "share": [0, 0.3], "other": 5}, None),
        ({"when": [2, 1000]}, "when: 1, but 2 to 1,000 in the paper"),
        ({"kind": "b"}, "kind: a, but b in the paper"),
        ({"when": {"m": 7}}, "when: 1, but 7 in the paper"),
        ({"when": {"n": 7}}, None),
    ):
        printed(ours(values={"a": 1}, model="m", requires=wanted))
        (cell,) = printed_values("x")
        assert cell.unmet({"found": FOUND}) == reason
    assert cell.unmet({}) is None


def test_others_have_the_value_of_those_that_are_not_named(printed: Any) -> None:  # noqa: ANN401
    """Of what ours have, sorted; what only the paper has is left out."""
    printed(ours(values={"b": 7, "z": 9}, others=0))
    found = printed_values("x", {"found": FOUND})
    assert [(cell.row, cell.value) for cell in found] == [("a", 0), ("b", 7), ("c", 0)]


def test_cells_stand_in_the_order_of_the_paper(printed: Any) -> None:  # noqa: ANN401
    """By table and, where that is said, by model, each in the order of its first cell."""
    by_model = {"levels": ["model"], "row": "r", "where": {"when": 1}}
    first = ours(**by_model, column="before", values={"m": 1, "n": 2})
    second = ours(**by_model, column="after", values={"m": 3, "n": 4})
    printed(first, ours(table="2", values={"a": 5}), second, order={"1": ["model"]})
    assert [(cell.table, cell.model, cell.value) for cell in printed_values("x")] == [
        ("1", "m", 1),
        ("1", "m", 3),
        ("1", "n", 2),
        ("1", "n", 4),
        ("2", None, 5),
    ]
