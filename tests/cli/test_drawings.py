from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.sources.drawings import demo_drawings

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))
PARROT = DATA / "parrot"
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")
DEMO = demo_drawings()
ENRICH = [sys.executable, "-c", "import tacit.cli; tacit.cli.main()", "drawings", "enrich"]


def enrich(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs ``tacit drawings enrich`` as a person does."""
    command = [*ENRICH, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the labelled statements go."""
    return tmp_path / "out" / "enriched.tsv"


def test_the_demo_drawings_are_enriched(out: Path) -> None:
    """The table has its columns and one labelled row per statement; a summary is printed."""
    done = enrich(DEMO, "--out", out)
    table = pl.read_csv(out, separator="\t")
    assert (done.returncode, done.stderr) == (0, "")
    assert table.columns == ["thing", "annotator", "subject", "relation", "object", "label"]
    assert "9 drawings of 3 things: 52 parts, 61 relations (0 repeated rows removed)" in done.stdout
    assert f"Written: {out}" in done.stdout
    assert table.height == 278


def test_the_rows_are_written_as_text(out: Path) -> None:
    """Labels are written True and False, and rows keep the order of the drawings."""
    enrich(DEMO, "--out", out, "--things", "peach")
    lines = out.read_text().splitlines()
    assert lines[1] == "peach\tannotator_1\tskin\tsurrounds\tflesh\tTrue"
    assert lines[2] == "peach\tannotator_1\tskin\tsurrounded by\tflesh\tFalse"


def test_json_prints_counts_and_nothing_else(out: Path) -> None:
    """With --json standard output is one JSON object, which counts what the table holds."""
    done = enrich(DEMO, "--out", out, "--json", "--things", "Watering Can,peach")
    counts = json.loads(done.stdout)
    assert (counts["things"], counts["drawings"]) == (2, 6)
    assert counts["true"] + counts["false"] == counts["statements"]
    assert counts["statements"] == len(out.read_text().splitlines()) - 1
    assert sum(c["statements"] for c in counts["categories"].values()) == counts["statements"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_suffix_chooses_the_format(out: Path, suffix: str) -> None:
    """The same statements are written as CSV, JSONL or Parquet."""
    path = out.with_suffix(suffix)
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".csv": pl.read_csv,
        ".jsonl": pl.read_ndjson,
        ".parquet": pl.read_parquet,
    }
    enrich(DEMO, "--out", path)
    enrich(DEMO, "--out", out)
    text = pl.read_csv(out, separator="\t", infer_schema=False)
    assert readers[suffix](path).cast({"label": pl.String}).drop("label").equals(text.drop("label"))


@needs_parrot
def test_the_real_drawings_give_the_published_counts(out: Path) -> None:
    """The counts of Table 1, of ParRoT++ and of the questions, to the last one."""
    counts = json.loads(enrich(PARROT, "--out", out, "--json").stdout)
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
    assert len(out.read_text().splitlines()) == 11721


@needs_parrot
def test_the_same_drawings_give_the_same_bytes(out: Path) -> None:
    """Two runs with other hash seeds write the same file."""
    written = []
    for seed in ("1", "2"):
        subprocess.run(
            [*ENRICH, PARROT, "--out", out],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        written.append(out.read_bytes())
    assert written[0] == written[1]


def drawing(*rows: str) -> str:
    """A drawing of a tree with these further rows, "subject,relation,object"."""
    cells = "".join("\t\t---\t" + row.replace(",", "\t") + "\n" for row in rows)
    return "ann\ttree\t---\ttrunk\tabove\troots\n" + cells


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (drawing("trunk,over,roots"), ", line 2: uses the unknown relation 'over'; expected part"),
        (drawing("trunk,above"), ", line 2: has 5 cells"),
        (drawing("trunk,above,trunk"), ", line 2: relates 'trunk' to itself"),
        (drawing() + drawing(), ", line 2: begins a second drawing of 'tree' by 'ann'"),
        ("\t\t---\ta\tabove\tb\n", ", line 1: continues a drawing, but none precedes it"),
        (
            drawing("roots,above,trunk"),
            "thing 'tree', annotator 'ann': 'trunk above roots' is implied to be both true",
        ),
        ("", "contains no drawings"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, out: Path, text: str, message: str) -> None:
    """A malformed drawing is one line on standard error, exit code 2, and nothing written."""
    path = tmp_path / "annotations-0.tsv"
    path.write_text(text)
    done = enrich(path, "--out", out)
    assert (done.returncode, done.stdout, out.parent.exists()) == (2, "", False)
    assert done.stderr.startswith(f"tacit: {path}")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing", "--out", "out/e.tsv"], "missing: there is no such file or folder"),
        ([".", "--out", "out/e.tsv"], "expected files named annotations-*.tsv"),
        ([DEMO, "--out", "out/e.xlsx"], "has the unsupported suffix '.xlsx'; expected one of .tsv"),
        (["missing", "--out", "out/e"], "has the unsupported suffix ''"),
        ([DEMO, "--out", "out/e.tsv", "--things", "peac"], "of 'peac'; similar names: peach"),
        (
            [DEMO, "--out", "out/e.tsv", "--things", "peach,"],
            "--things has no name or an empty name",
        ),
        ([DEMO, "--out", "out/e.tsv", "--things", ""], "--things has no name or an empty name"),
        ([DEMO, "--out", DEMO / "annotations-7.tsv"], "choose another name"),
        ([DEMO / "annotations-0.tsv", "--out", DEMO / "annotations-0.tsv"], "another name"),
        ([DEMO], "--out"),
    ],
)
def test_a_wrong_request_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], message: str
) -> None:
    """A wrong path, suffix or thing is a message, exit code 2, and nothing written."""
    before = sorted(DEMO.iterdir())
    monkeypatch.chdir(tmp_path)
    done = enrich(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert sorted(DEMO.iterdir()) == before
