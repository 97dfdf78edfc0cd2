import re
from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit.errors import RequestError

pd = pytest.importorskip("pandas")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agent-memory.md"
ROWS = [("Anna", "lives in", "Berlin", 0.95), ("Anna", "lives in", "Paris", 0.8)]
RELATIONS = {"lives in": {"functional": True}}
FRAME = pl.DataFrame(ROWS, ["subject", "relation", "object", "p_true"], orient="row")


def test_the_programs_of_the_page_print_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = re.findall(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(pairs) == 3
    names: dict[str, object] = {}
    for program, printed in pairs:
        exec(program, names)  # noqa: S102 - our own page
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    "beliefs",
    [
        iter(ROWS),
        [list(row) for row in ROWS],
        FRAME.lazy(),
        FRAME.to_dicts(),
        pd.DataFrame(FRAME.to_dicts()).astype(dict.fromkeys(FRAME.columns[:3], "category")),
    ],
)
def test_every_kind_of_table_has_the_same_conflicts(beliefs: object) -> None:
    """Tuples, lists, a lazy frame, dictionaries, and a pandas frame with categories."""
    assert len(tacit.check(beliefs, RELATIONS).sentences) == 1


def test_a_tuple_without_a_probability_is_certain() -> None:
    """Both cost the same, so either can be given up."""
    found = tacit.check([row[:3] for row in ROWS], RELATIONS)
    assert found.conflicts["cost"].to_list() == pytest.approx([13.8155] * 2, abs=1e-3)
    assert found.conflicts["cheapest"].all()


@pytest.mark.parametrize(
    "beliefs", [[], iter(()), FRAME.head(0), pl.DataFrame(), FRAME.head(0).to_pandas()]
)
def test_an_empty_memory_has_no_conflicts(beliefs: object) -> None:
    assert tacit.check(beliefs, RELATIONS).sentences == []
    assert tacit.repair(beliefs, RELATIONS).beliefs.is_empty()


def test_a_statement_of_an_item_and_itself_is_a_conflict_of_one() -> None:
    """If the relation is asymmetric; the other statements are checked as ever."""
    rows = [("A", "manages", "A", 0.8), ("A", "manages", "B", 0.9)]
    relations = {"manages": {"asymmetric": True, "transitive": True}}
    found = tacit.check(rows, relations, revision_cost=True)
    assert found.sentences == [
        '"A manages A" (0.80) cannot be true: drop "A manages A" (cost 1.39)'
    ]
    assert found.revision_cost == 1
    assert tacit.repair(rows, relations).beliefs["repaired"].to_list() == [False, True]
    # More relations than are enumerated.
    many: dict[str, dict[str, object]] = {"r": {"asymmetric": True}}
    many |= {f"r{n}": {"implies": ["r"]} for n in range(30)}
    repaired = tacit.repair([("A", name, "A", 0.9) for name in many], many, time_limit=60)
    assert (repaired.status, repaired.turned_false) == ("optimal", 31)


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({"lives in": {"functionl": True}}, r"unknown key functionl; .* \(did you mean functional"),
        ({}, "relations is empty"),
    ],
)
def test_wrong_relations_are_refused(relations: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        tacit.check(ROWS, relations)
