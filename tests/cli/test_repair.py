import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import permutations
from pathlib import Path

import pytest

import tacit as tacit_package
from tests.cli.conftest import Tacit

RELATIONS = ("above", "below", "next to", "connects", "part of", "has part")


def beliefs_with_ties(seed: int) -> str:
    """Two groups of six items; p has one decimal, so that many assignments are equally good."""
    draw = random.Random(seed)  # noqa: S311 - test data
    rows = ["thing\tsubject\trelation\tobject\tp_true"]
    for thing in ("egg", "tree"):
        for x, y in permutations("abcdef", 2):
            rows += [f"{thing}\t{x}\t{r}\t{y}\t{draw.randint(0, 10) / 10}" for r in RELATIONS]
    return "\n".join(rows) + "\n"


@pytest.fixture
def beliefs(tmp_path: Path) -> Path:
    """Beliefs about two things, many of them tied."""
    file = tmp_path / "beliefs.tsv"
    file.write_text(beliefs_with_ties(0))
    return file


def test_the_value_is_the_confidence_kept(tacit: Tacit, beliefs: Path, tmp_path: Path) -> None:
    """The sum of round(100 p) over what is repaired to True; the assignment breaks no rule."""
    out = tmp_path / "repaired.tsv"
    assignment, groups = tmp_path / "assignment.tsv", tmp_path / "groups.tsv"
    tables = ("--assignment", assignment, "--by-group", groups)
    value = json.loads(tacit("repair", beliefs, "--out", out, *tables, "--json").out)["value"]
    header, *rows = [line.split("\t") for line in out.read_text().splitlines()]
    columns = beliefs.read_text().split("\n", 1)[0].split("\t")
    assert header == [*columns, "believed", "repaired", "free"]
    assert value == sum(round(100 * float(row[4])) for row in rows if row[6] == "True")
    assert {row[5] for row in rows} == {"True", "False"}
    assert len(groups.read_text().splitlines()) == 3
    checked = json.loads(tacit("check", assignment, "--believed", "repaired", "--json").out)
    assert checked["micro"] == 0.0


@pytest.mark.slow
def test_hash_seeds_and_the_order_of_rows_change_nothing(beliefs: Path, tmp_path: Path) -> None:
    header, *rows = beliefs.read_text().splitlines()
    found = []
    for number, seed in enumerate(("0", "4294967295")):
        shuffled = random.Random(number).sample(rows, len(rows))  # noqa: S311 - test data
        given, out = tmp_path / f"given{number}.tsv", tmp_path / f"out{number}.tsv"
        given.write_text("\n".join([header, *(rows if number == 0 else shuffled)]) + "\n")
        program = "from tacit.cli import main; main()"
        arguments = ["repair", str(given), "--out", str(out), "--json"]
        subprocess.run(
            [sys.executable, "-c", program, *arguments],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        found.append(sorted(out.read_text().splitlines()))
    assert found[0] == found[1]


INTERRUPTED = """
import signal, subprocess

class Told(subprocess.Popen):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        print("solving", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)
subprocess.Popen = Told
from tacit.cli import main
main()
"""


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_the_solver(tmp_path: Path) -> None:
    draw = random.Random(0)  # noqa: S311 - test data
    rows = [f"{x},above,{y},{draw.random()}" for x, y in permutations(range(40), 2)]
    given = tmp_path / "given.csv"
    given.write_text("\n".join(["subject,relation,object,p_true", *rows]) + "\n")
    command = ["repair", str(given), "--out", str(tmp_path / "out.csv"), "--objective", "log-odds"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "solving\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert not (tmp_path / "out.csv").exists()


def test_a_missing_statement_that_turns_true_is_counted_once(tacit: Tacit, tmp_path: Path) -> None:
    """Two premises and the missing conclusion: one statement turned true, and it was missing."""
    given = tmp_path / "given.csv"
    given.write_text(
        "id,subject,relation,object,p_true\n1,a,above,b,0.9\n2,b,above,c,0.9\n3,a,above,c,\n"
    )
    ran = tacit("repair", given, "--out", tmp_path / "repaired.csv")
    lines = (tmp_path / "repaired.csv").read_text().splitlines()
    assert lines[3] == "3,a,above,c,,,True,False"
    assert "1 statement turned true (1 of them missing before), 0 turned false" in ran.out
    assert "before repair: 1 missing, " in ran.out


def test_the_papers_objective_is_the_default_of_its_relations_alone(
    tacit: Tacit, tmp_path: Path
) -> None:
    """Any other ontology has log-odds, and so do a user's own relations in Python."""
    given, out = tmp_path / "given.csv", tmp_path / "repaired.csv"
    given.write_text("subject,relation,object,p_true\nBach,before,Mozart,0.9\n")
    ran = tacit("repair", given, "--ontology", "time", "--out", out, "--json")
    assert (json.loads(ran.out)["objective"], ran.err) == ("log-odds", "")
    chosen = ("--objective", "paper", "--ontology", "time")
    ran = tacit("repair", given, *chosen, "--out", out, "--json")
    assert json.loads(ran.out)["objective"] == "paper"
    assert tacit_package.repair(given, {"before": {}}).objective == "log-odds"
    given.write_text("subject,relation,object,p_true\nleaf,part of,tree,0.9\n")
    assert json.loads(tacit("repair", given, "--out", out, "--json").out)["objective"] == "paper"


def test_the_surest_changes_are_printed(tacit: Tacit, tmp_path: Path) -> None:
    given = tmp_path / "given.csv"
    rows = [f"x{n},before,y{n},0.9\ny{n},before,x{n},{0.6 + n / 100:.2f}" for n in range(11)]
    given.write_text("\n".join(["subject,relation,object,p_true", *rows, "a,before,b,"]) + "\n")
    ran = tacit("repair", given, "--ontology", "time", "--out", tmp_path / "repaired.csv")
    lines = [line for line in ran.out.splitlines() if line.startswith(("dropped: ", "and "))]
    assert lines[0] == "dropped: y10 before x10 (0.70)"
    assert [len(lines), lines[-1]] == [11, "and 1 more"]
