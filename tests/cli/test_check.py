from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

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
    assert result["inverse"] == {"violated": 2, "applicable": 2, "rate": 1.0}
    assert result["transitive"] == {"violated": 1, "applicable": 1, "rate": 1.0}
    assert result["symmetric"] == {"violated": 0, "applicable": 0, "rate": None}
    assert (result["believed"], result["statements"]) == (2, 5)
    assert (result["ties"], result["missing"]) == (1, 1)


def test_the_table_is_for_people(tacit: Tacit, beliefs: Path) -> None:
    """Without --json the rates stand in a table, and undefined ones as a dash."""
    lines = tacit("check", beliefs).out.splitlines()
    assert lines[0].split() == ["constraint", "violated", "applicable", "%"]
    assert lines[1].split() == ["symmetric", "0", "0", "-"]
    assert lines[3].split() == ["inverse", "2", "2", "100.00"]


def test_violations_and_groups_are_written(tacit: Tacit, beliefs: Path, tmp_path: Path) -> None:
    """Both tables are written where asked."""
    violations, groups = tmp_path / "violations.csv", tmp_path / "groups.parquet"
    ran = tacit("check", beliefs, "--violations", violations, "--groups", groups, "--revision-cost")
    assert ran.code == 0
    assert pl.read_csv(violations)["constraint"].to_list() == ["inverse", "inverse", "transitive"]
    assert pl.read_parquet(groups)["violated"].to_list() == [3]
    assert "statements must change at least" in ran.out


def test_a_missing_file_is_a_wrong_request(tacit: Tacit, tmp_path: Path) -> None:
    """A file that is not there ends with code 2 and nothing on standard output."""
    ran = tacit("check", tmp_path / "none.tsv", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no such file" in ran.err


def test_a_table_of_no_known_kind_is_refused_before_any_work(
    tacit: Tacit, beliefs: Path, tmp_path: Path
) -> None:
    """A suffix that names no table ends with code 2."""
    ran = tacit("check", beliefs, "--violations", tmp_path / "violations.xls")
    assert ran.code == 2
    assert ".xls" in ran.err


def test_the_beliefs_are_not_written_over(tacit: Tacit, beliefs: Path) -> None:
    """The input cannot be named as a result."""
    assert tacit("check", beliefs, "--violations", beliefs).code == 2
    assert beliefs.read_text() == BELIEFS


def test_two_tables_are_not_one_file(tacit: Tacit, beliefs: Path, tmp_path: Path) -> None:
    """One path for both tables is refused before either is written."""
    out = tmp_path / "out.tsv"
    ran = tacit("check", beliefs, "--violations", out, "--groups", out)
    assert ran.code == 2
    assert "named for two results" in ran.err
    assert not out.exists()


def test_neither_table_is_written_when_one_cannot_be(tacit: Tacit, tmp_path: Path) -> None:
    """A group whose name holds a tab fits CSV and not TSV, so nothing is written."""
    given, violations, groups = (tmp_path / name for name in ("in.csv", "v.csv", "g.tsv"))
    given.write_text('thing,subject,relation,object,p_true\n"a\tb",x,above,y,0.9\n')
    ran = tacit("check", given, "--violations", violations, "--groups", groups)
    assert ran.code == 2
    assert "holds a tab" in ran.err
    assert not violations.exists()
    assert not groups.exists()


def test_checking_imports_no_torch(beliefs: Path) -> None:
    """Torch is never loaded on the way to a check, nor is anything of the models."""
    program = (
        "import sys; from tacit.cli import main; sys.argv = ['tacit', 'check', sys.argv[1]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name in ('torch', 'transformers', 'spacy')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(beliefs)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"
    assert "constraint" in ran.stdout
