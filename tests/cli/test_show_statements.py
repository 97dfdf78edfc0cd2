from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))
PARROT = DATA / "parrot"
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")
DEMO = demo_drawings()


def test_the_demo_drawings_imply_statements(tacit: Tacit, workplace: Path) -> None:
    """The table has one row per statement, in the drawings' order, with its label as text."""
    ran = tacit("show", "statements", DEMO, "--out", "out.tsv")
    lines = (workplace / "out.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["thing", "annotator", "subject", "relation", "object", "label"]
    assert len(lines) == 279
    assert "peach\tannotator_1\tskin\tsurrounds\tflesh\tTrue" in lines
    assert "peach\tannotator_1\tskin\tsurrounded by\tflesh\tFalse" in lines
    assert "Written: out.tsv" in ran.out
    assert ["all", "278"] in [line.split()[:2] for line in ran.out.splitlines()]


def test_json_prints_counts(tacit: Tacit, workplace: Path) -> None:
    things = ("--things", "Watering Can,peach")
    ran = tacit("show", "statements", DEMO, "--out", "out.tsv", "--json", *things)
    counts = json.loads(ran.out)
    assert (counts["things"], counts["drawings"]) == (2, 6)
    assert counts["true"] + counts["false"] == counts["statements"]
    written = pl.read_csv(workplace / "out.tsv", separator="\t")
    assert counts["statements"] == written.height
    assert sum(c["statements"] for c in counts["categories"].values()) == counts["statements"]


@needs_parrot
def test_the_real_drawings_have_the_published_counts(tacit: Tacit, workplace: Path) -> None:
    """The counts of Table 1, of the agreed statements and of the questions."""
    counts = json.loads(tacit("show", "statements", PARROT, "--json").out)
    assert not list(workplace.iterdir())
    assert counts == {
        "things": 100,
        "drawings": 300,
        "parts": 2191,
        "relations": 2752,
        "repeated_rows": 6,
        "statements": 11720,
        "true": 6894,
        "false": 4826,
        "agreed": {"statements": 508, "true": 306, "false": 202},
        "categories": {
            "spatial": {"relations": 1858, "statements": 9804},
            "connectivity": {"relations": 818, "statements": 1612},
            "functional": {"relations": 76, "statements": 304},
        },
        "table_1": {"spatial": 9956, "connectivity": 1612, "functional": 152},
        "to_ask": {"statements": 216580, "distinct": 108528},
    }


@needs_parrot
@pytest.mark.slow
def test_the_same_drawings_give_the_same_bytes(tmp_path: Path) -> None:
    """Two runs with other hash seeds write the same file."""
    written, out = [], tmp_path / "out.tsv"
    arguments = ("show", "statements", str(PARROT), "--out", str(out))
    command = [sys.executable, "-m", "tacit", *arguments]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, env=environment, capture_output=True, check=True)
        written.append(out.read_bytes())
    assert written[0] == written[1]


CONTRADICTED = "ann\ttree\t---\ttrunk\tabove\troots\n\t\t---\troots\tabove\ttrunk\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "missing: there is no such file or folder"),
        (["."], "thing 'tree', annotator 'ann': 'trunk above roots' is implied to be both true"),
        ([DEMO, "--out", "e.xlsx"], "has the unsupported suffix '.xlsx'; expected one of .tsv"),
        ([DEMO, "--things", "peac"], "of 'peac'; similar names: peach"),
        ([DEMO, "--things", "peach,"], "--things has no name or an empty name"),
        ([DEMO, "--out", DEMO / "annotations-7.tsv"], "choose another name"),
        ([DEMO / "annotations-0.tsv", "--out", DEMO / "annotations-0.tsv"], "another name"),
    ],
)
def test_an_invalid_request_is_an_error(
    tacit: Tacit, workplace: Path, arguments: list[object], message: str
) -> None:
    (workplace / "annotations-0.tsv").write_text(CONTRADICTED)
    before = sorted(DEMO.iterdir())
    ran = tacit("show", "statements", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert [path.name for path in workplace.iterdir()] == ["annotations-0.tsv"]
    assert sorted(DEMO.iterdir()) == before
