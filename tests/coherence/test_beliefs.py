from pathlib import Path

import polars as pl
import pytest

from tacit import check
from tacit.coherence.beliefs import Beliefs, group_columns, read_beliefs
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError, RequestError

HEADER = "thing\tsubject\trelation\tobject\tp_true\n"
TWICE = f"{HEADER}egg\tx\tabove\ty\t0.2\negg\ty\tabove\tx\t0.2\n\negg\tx\tabove\ty\t0.5\n"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("egg\tx\tabove\ty\t1.2", "p_true '1.2'"),
        ("egg\tx\tabove\ty\tabc", "p_true 'abc'"),
        ("egg\tx\tabove\ty\tnan", "p_true 'nan'"),
        ("egg\tx\tover\ty\t0.5", "expected one of part of, has part"),
        ("egg\t\tabove\ty\t0.5", "has no subject"),
    ],
)
def test_a_malformed_row_is_refused_with_its_line(tmp_path: Path, row: str, told: str) -> None:
    file = tmp_path / "beliefs.tsv"
    file.write_text(f"{HEADER}egg\tx\tabove\tz\t0.5\n\n{row}\n")
    with pytest.raises(DataError) as raised:
        read_beliefs(file, Ontology.load("parts"))
    assert f"{file}, line 4: " in str(raised.value)
    assert told in str(raised.value)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    file = tmp_path / "beliefs.csv"
    for text, message in (
        ("subject,relation\nx,above\n", "no column object"),
        ("subject,relation,object,P true\nx,above,y,1\n", r"no column p_true \(did you mean P"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            read_beliefs(file, Ontology.load("parts"))


def test_without_p_true_a_file_is_certain(tmp_path: Path) -> None:
    """As a tuple of three is; one line says so."""
    file = tmp_path / "beliefs.csv"
    file.write_text("subject,relation,object\nx,above,y\n")
    found = read_beliefs(file, Ontology.load("parts"))
    assert found.p_true.to_list() == [1.0]
    assert found.remarks() == ["there is no column p_true, so every statement counts as certain"]


def test_one_statement_with_two_p_is_refused_with_both_lines(tmp_path: Path) -> None:
    file = tmp_path / "beliefs.tsv"
    file.write_text(TWICE)
    with pytest.raises(DataError, match=r"line 5: .* 0\.5 .*, but line 2 has 0\.2"):
        read_beliefs(file, Ontology.load("parts"))


@pytest.mark.parametrize(("rule", "p"), [("mean", 0.35), ("first", 0.2)])
def test_one_statement_with_two_p_can_be_allowed(tmp_path: Path, rule: str, p: float) -> None:
    file = tmp_path / "beliefs.tsv"
    file.write_text(TWICE)
    found = read_beliefs(file, Ontology.load("parts"), rule)  # type: ignore[arg-type]
    assert found.p_true.to_list() == pytest.approx([p, 0.2])


def test_blanks_around_a_word_do_not_make_another(tmp_path: Path) -> None:
    """Blanks at the ends of items, relations and groups are dropped; a blank group is missing."""
    file = tmp_path / "beliefs.tsv"
    file.write_text(f"{HEADER} egg\tx \t above\t y z \t 0.2\n \tx\tabove\ty\t0.5\n")
    rows = read_beliefs(file, Ontology.load("parts")).table.rows()
    assert rows == [("egg", "x", "above", "y z", 0.2), (None, "x", "above", "y", 0.5)]


COLUMNS = ["thing", "id", "subject", "relation", "object", "annotator", "p_true", "repaired"]


@pytest.mark.parametrize(
    ("named", "groups", "carried"),
    [
        (None, ["thing", "annotator"], ["id"]),
        (["annotator", "id"], ["id", "annotator"], ["thing"]),
        ("id", ["id"], ["thing", "annotator"]),
    ],
)
def test_groups_are_the_known_columns_or_those_named(
    named: list[str] | None, groups: list[str], carried: list[str]
) -> None:
    """Truth values and whatever else is there name no group; it is carried along."""
    assert group_columns(COLUMNS, named) == groups
    beliefs = Beliefs(pl.DataFrame(schema=COLUMNS), Ontology.load("parts"), groups)
    assert beliefs.carried == carried


@pytest.mark.parametrize("groups", ["ids", ["ids"], ["p_true"], ["repaired"], [3]])
def test_what_cannot_name_a_group_is_refused(groups: list[str]) -> None:
    """A column that is not there, what a statement is made of, and a number."""
    with pytest.raises(RequestError):
        group_columns(COLUMNS, groups)


def test_one_statement_twice_asks_whether_a_column_identifies_groups(tmp_path: Path) -> None:
    """Two p of one statement in one group may be those of two groups that nobody named."""
    file = tmp_path / "beliefs.tsv"
    file.write_text(TWICE.replace("thing", "plant"))
    with pytest.raises(DataError, match=r"If 'plant' identifies a group, list it in --groups"):
        read_beliefs(file, Ontology.load("parts"))


def test_a_repeated_row_that_carries_something_else_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is kept once, with what its first row carries."""
    file = tmp_path / "beliefs.csv"
    file.write_text("id,subject,relation,object,p_true\n1,x,above,y,0.2\n2,x,above,y,0.2\n")
    assert read_beliefs(file, Ontology.load("parts")).table["id"].to_list() == ["1"]
    assert "1 row repeats a statement of the same group with different values of id;" in caplog.text


def test_a_table_of_nan_is_refused() -> None:
    beliefs = pl.DataFrame(
        {"subject": ["a"], "relation": ["above"], "object": ["b"], "p_true": [float("nan")]}
    )
    with pytest.raises(DataError, match="row 0 of the beliefs has p_true nan"):
        check(beliefs)
