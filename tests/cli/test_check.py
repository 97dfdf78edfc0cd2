from __future__ import annotations

import json
import re
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


def test_json_has_the_stable_shape_first(tacit: Tacit, beliefs: Path) -> None:
    """Standard output is one JSON object, whose first keys are the stable ones."""
    ran = tacit("check", beliefs, "--json")
    result = json.loads(ran.out)
    assert ran.code == 0
    assert list(result)[:8] == [
        "symmetric",
        "asymmetric",
        "inverse",
        "transitive",
        "macro",
        "micro",
        "believed",
        "statements",
    ]
    assert list(result["inverse"]) == ["violated", "applicable", "undecided", "rate"]
    assert list(result["inverse"].values()) == [1, 2, 1, 1.0]
    assert list(result["transitive"].values()) == [1, 1, 0, 1.0]
    assert list(result["symmetric"].values()) == [0, 0, 0, None]
    assert (result["believed"], result["statements"]) == (2, 5)
    assert (result["ties"], result["missing"]) == (1, 1)


def test_without_json_the_counts_are_a_table(tacit: Tacit, beliefs: Path) -> None:
    """The conflicts come first; then one row per type of constraint, with undefined rates."""
    lines = [line.split() for line in tacit("check", beliefs).out.splitlines()]
    assert ["symmetric", "0", "0", "0", "0", "undefined"] in lines
    assert ["inverse", "1", "1", "1", "2", "100.0", "%"] in lines
    assert [line[0] for line in lines[2:4]] == ["1.", "2."]


def test_json_has_the_conflicts(tacit: Tacit, beliefs: Path) -> None:
    """As rows and as sentences."""
    result = json.loads(tacit("check", beliefs, "--json").out)
    assert {row["conflict"] for row in result["conflicts"]} == {1, 2}
    assert {"subject", "p_true", "cost", "cheapest"} < result["conflicts"][0].keys()
    assert "cannot" in result["sentences"][1]
    assert result["all_conflicts"] is True


def test_a_header_alone_has_no_conflicts(tacit: Tacit, tmp_path: Path) -> None:
    """A memory without beliefs is coherent."""
    file = tmp_path / "beliefs.csv"
    file.write_text("subject,relation,object,p_true\n")
    ran = tacit("check", file)
    assert (ran.code, ran.out.splitlines()[1]) == (0, "0 minimal conflicts")
    ran = tacit("repair", file, "--out", tmp_path / "repaired.csv")
    assert ran.code == 0


def test_violations_and_groups_are_written(tacit: Tacit, beliefs: Path, tmp_path: Path) -> None:
    """Both tables are written where asked."""
    violations, groups = tmp_path / "violations.csv", tmp_path / "groups.parquet"
    tables = ("--violations", violations, "--by-group", groups)
    ran = tacit("check", beliefs, *tables, "--revision-cost")
    assert ran.code == 0
    assert pl.read_csv(violations)["constraint"].to_list() == ["inverse", "transitive"]
    assert pl.read_parquet(groups)["violated"].to_list() == [2]
    assert "revision cost: at least 1 belief must change" in ran.out


@pytest.mark.slow
def test_a_revision_cost_out_of_time_is_an_interval(tacit: Tacit, tmp_path: Path) -> None:
    """The text gives both bounds, and JSON has no cost."""
    given, items = tmp_path / "beliefs.csv", range(40)
    rows = [
        f"{x},above,{y},{(7 * x * x + 3 * y) % 10 / 10}" for x in items for y in items if x != y
    ]
    given.write_text("\n".join(["subject,relation,object,p_true", *rows]) + "\n")
    limited = ("check", given, "--revision-cost", "--time-limit", "0.3")
    assert "beliefs must change; the time limit was reached" in tacit(*limited).out
    result = json.loads(tacit(*limited, "--json").out)
    assert result["revision_cost"] is None
    assert 0 <= result["revision_cost_at_least"] < result["revision_cost_at_most"]


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """Two beliefs that contradict one another, each with a number of its own."""
    file = tmp_path / "numbered.tsv"
    rows = "1\ttrunk\tabove\troots\t0.9\n2\troots\tabove\ttrunk\t0.8\n"
    file.write_text(f"id\tsubject\trelation\tobject\tp_true\n{rows}")
    return file


def test_an_unknown_column_is_carried_along_and_makes_no_groups(
    tacit: Tacit, numbered: Path, tmp_path: Path
) -> None:
    """Rows with numbers of their own contradict one another; the numbers stand in the results."""
    violations = tmp_path / "violations.csv"
    ran = tacit("check", numbered, "--violations", violations, "--json")
    result = json.loads(ran.out)
    assert list(result["asymmetric"].values()) == [1, 1, 0, 1.0]
    assert result["groups"] == 1
    assert (
        "column 'id' is copied to the results; to check each value of it separately, list the "
        "column in --groups" in ran.err
    )
    assert "alone in its group" not in ran.err
    assert pl.read_csv(violations).select("id_1", "id_2").row(0) == (2, 1)


def test_named_columns_group_and_single_rows_are_warned_of(tacit: Tacit, numbered: Path) -> None:
    """--groups id checks each value apart, and the warning names the column."""
    ran = tacit("check", numbered, "--groups", "id", "--json")
    result = json.loads(ran.out)
    assert (result["groups"], result["asymmetric"]["violated"]) == (2, 0)
    assert "grouped by 'id', nearly every row is alone in its group" in ran.err
    assert "copied to the results" not in ran.err


def test_a_known_column_of_single_rows_is_warned_of(tacit: Tacit, tmp_path: Path) -> None:
    """The warning names the column that does it, not the others."""
    file = tmp_path / "beliefs.csv"
    rows = [f"egg,document {n},part {n},above,yolk,0.9\n" for n in range(10)]
    file.write_text("thing,document,subject,relation,object,p_true\n" + "".join(rows))
    assert "grouped by 'document'," in tacit("check", file).err
    shared = tacit("check", file, "--groups", "thing")
    assert "alone in its group" not in shared.err
    assert "column 'document' is copied to the results" in shared.err


def test_conflicts_are_shown_and_written(tacit: Tacit, workplace: Path) -> None:
    """The decided constraints are counted first; a cycle of three is listed as well as a pair."""
    rows = "A,before,B,0.9\nB,before,C,0.9\nC,before,A,0.9\nD,before,E,0.9\nE,before,D,0.8\n"
    (workplace / "cycle.csv").write_text(f"subject,relation,object,p_true\n{rows}", "utf-8")
    files = ("--conflicts", "all.csv", "--violations", "violations.csv")
    shown = tacit("check", "cycle.csv", "--ontology", "time", *files).out.splitlines()
    assert re.match(r"1 of \d+ constraints between two or three statements could", shown[0])
    assert shown[-2:] == ["Written: violations.csv", "Written: all.csv"]
    assert pl.read_csv(workplace / "all.csv")["subject"].to_list() == ["D", "E", "A", "B", "C"]
    (workplace / "order.csv").write_text(
        f"subject,relation,object,p_true\n{rows[:-16].replace('C,before,A', 'A,before,C')}", "utf-8"
    )
    shown = tacit("check", "order.csv", "--ontology", "time").out.splitlines()
    assert shown[1] == "0 minimal conflicts"


@pytest.mark.parametrize("relation", ["Before", "befor", "is_before", "BEFORE_"])
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
