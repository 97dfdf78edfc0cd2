import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Tacit

BELIEFS = """subject\trelation\tobject\tp_true
trunk\tabove\troots\t0.9
roots\tbelow\ttrunk\t0.2
leaves\tabove\ttrunk\t0.8
leaves\tabove\troots\t0.5
roots\tabove\tleaves\t
"""


@pytest.fixture
def beliefs(tmp_path: Path) -> Path:
    """A few beliefs about a tree."""
    file = tmp_path / "beliefs.tsv"
    file.write_text(BELIEFS)
    return file


def test_the_counts_are_a_table_or_json(tacit: Tacit, beliefs: Path) -> None:
    """The conflicts come first; then one row per type of constraint, with undefined rates."""
    lines = [line.split() for line in tacit("check", beliefs).out.splitlines()]
    assert ["symmetric", "0", "0", "0", "0", "undefined"] in lines
    assert ["inverse", "1", "1", "1", "2", "100.0", "%"] in lines
    assert [line[0] for line in lines[2:4]] == ["1.", "2."]
    result = json.loads(tacit("check", beliefs, "--json").out)
    assert list(result["inverse"].values()) == [1, 2, 1, 1.0]
    assert list(result["symmetric"].values()) == [0, 0, 0, None]
    names = ("believed", "statements", "ties", "missing")
    assert [result[name] for name in names] == [2, 5, 1, 1]
    assert {row["conflict"] for row in result["conflicts"]} == {1, 2}
    assert "cannot" in result["sentences"][1]


def test_all_tables_are_written(tacit: Tacit, beliefs: Path, workplace: Path) -> None:
    """Where asked; a cycle of three statements is a conflict."""
    tables = ("--violations", "violations.csv", "--by-group", "groups.parquet")
    ran = tacit("check", beliefs, *tables, "--conflicts", "all.csv", "--revision-cost")
    assert ran.out.endswith("Written: violations.csv\nWritten: all.csv\nWritten: groups.parquet\n")
    assert pl.read_csv("violations.csv")["constraint"].to_list() == ["inverse", "transitive"]
    assert pl.read_parquet("groups.parquet")["violated"].to_list() == [2]
    assert "revision cost: at least 1 belief must change" in ran.out
    rows = "A,before,B,0.9\nB,before,C,0.9\nC,before,A,0.9\nD,before,E,0.9\nE,before,D,0.8\n"
    (workplace / "cycle.csv").write_text(f"subject,relation,object,p_true\n{rows}", "utf-8")
    ran = tacit("check", "cycle.csv", "--ontology", "time", "--conflicts", "all.csv")
    assert pl.read_csv("all.csv")["subject"].to_list() == ["D", "E", "A", "B", "C"]


def test_a_header_alone_has_no_conflicts(tacit: Tacit, workplace: Path) -> None:
    (workplace / "beliefs.csv").write_text("subject,relation,object,p_true\n")
    assert tacit("check", "beliefs.csv").out.splitlines()[1] == "0 minimal conflicts"
    assert tacit("repair", "beliefs.csv", "--out", "repaired.csv").code == 0


@pytest.mark.slow
def test_a_revision_cost_out_of_time_is_an_interval(tacit: Tacit, tmp_path: Path) -> None:
    given, items = tmp_path / "beliefs.csv", range(40)
    rows = [
        f"{x},above,{y},{(7 * x * x + 3 * y) % 10 / 10}" for x in items for y in items if x != y
    ]
    given.write_text("\n".join(["subject,relation,object,p_true", *rows]) + "\n")
    limited = ("check", given, "--revision-cost", "--time-limit", "0.3")
    assert "beliefs must change; the time limit was reached" in tacit(*limited).out


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """Two beliefs that contradict one another, each with a number of its own."""
    file = tmp_path / "numbered.tsv"
    rows = "1\ttrunk\tabove\troots\t0.9\n2\troots\tabove\ttrunk\t0.8\n"
    file.write_text(f"id\tsubject\trelation\tobject\tp_true\n{rows}")
    return file


def test_what_likely_names_groups_is_warned_of(tacit: Tacit, numbered: Path) -> None:
    """A column that is only copied to the results, and one whose rows are alone in their groups."""
    ran = tacit("check", numbered, "--violations", numbered.with_name("violations.csv"), "--json")
    result = json.loads(ran.out)
    assert (result["groups"], result["asymmetric"]["violated"]) == (1, 1)
    assert (
        "column 'id' is copied to the results; to check each value of it separately, list the "
        "column in --groups" in ran.err
    )
    assert "alone in its group" not in ran.err
    violations = pl.read_csv(numbered.with_name("violations.csv"))
    assert violations.select("id_1", "id_2").row(0) == (2, 1)
    ran = tacit("check", numbered, "--groups", "id", "--json")
    result = json.loads(ran.out)
    assert (result["groups"], result["asymmetric"]["violated"]) == (2, 0)
    assert "grouped by 'id', nearly every row is alone in its group" in ran.err
    assert "copied to the results" not in ran.err


def test_a_known_column_of_single_rows_is_warned_of(tacit: Tacit, tmp_path: Path) -> None:
    file = tmp_path / "beliefs.csv"
    rows = [f"egg,document {n},part {n},above,yolk,0.9\n" for n in range(10)]
    file.write_text("thing,document,subject,relation,object,p_true\n" + "".join(rows))
    assert "grouped by 'document'," in tacit("check", file).err


@pytest.mark.parametrize("relation", ["befor", "BEFORE_"])
def test_an_unknown_relation_of_an_own_ontology_is_compared_with_known_ones(
    tacit: Tacit, workplace: Path, relation: str
) -> None:
    """A similar relation is suggested, and no ontology file to somebody who has named one."""
    words = '{singular: "{subject} was {object}", plural: "{subject} were {object}"}'
    (workplace / "own.yaml").write_text(f"name: own\nrelations:\n  before: {words}\n")
    (workplace / "own.csv").write_text(f"subject,relation,object,p_true\nA,{relation},B,0.9\n")
    ran = tacit("check", "own.csv", "--ontology", "own.yaml")
    assert ran.code == 2
    assert "expected one of before (did you mean before?)" in ran.err
    assert "--ontology" not in ran.err
