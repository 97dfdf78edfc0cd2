from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.present.terminal import console, visible, visible_output
from tacit.sources.drawings import demo_drawings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Tacit

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\r\u202egpj\u2066\x08\x7f\u2028"


@given(st.text(st.characters()))
def test_what_is_shown_steers_no_terminal(text: str) -> None:
    """No control character but tab and line feed is left, and nothing that turns text round."""
    shown = visible(text)
    shown.encode()
    kinds = {unicodedata.category(each) for each in shown if each not in "\t\n"}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    turning = {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"}
    assert not {unicodedata.bidirectional(each) for each in shown} & turning
    assert visible(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_says_the_same(text: str) -> None:
    """Whoever reads JSON from standard output gets the text itself."""
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


def test_ordinary_text_stays_as_it_is() -> None:
    """In any language, with marks that belong to it."""
    for text in (
        "caf\u00e9\t95\u00a0%\n",
        "\u5b57 \u06a9\u200c\u0647",
        "\U0001f469\u200d\U0001f52c",
        r"\u001b",
    ):
        assert visible(text) == text


def test_tables_are_texts(capsys: pytest.CaptureFixture[str]) -> None:
    """Grid that look like markup stay, and what steers a terminal does not."""
    from rich.table import Table

    table = Table()
    table.add_column("[bold]name")
    table.add_row(f"[/red] :bear: {HOSTILE}")
    console().print(table)
    out = capsys.readouterr().out
    assert "[bold]name" in out
    assert "[/red] :bear:" in out
    assert all(each == "\n" or each.isprintable() for each in out)


def test_streams_are_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever comes out of what was done within."""
    before = sys.stdout, sys.stderr

    def work() -> None:
        with visible_output():
            sys.stdout.writelines(["a\x1b\n", "b\n"])
            sys.stderr.write("c\x07\n")
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr() == ("a\\u001b\nb\n", "c\\u0007\n")


def run(folder: Path, *arguments: str | bytes) -> subprocess.CompletedProcess[bytes]:
    """Tacit in a process of its own, with its output as bytes."""
    program = "from tacit.cli import main; main()"
    environment = {**os.environ, "TACIT_STORE": "store"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )


def test_hostile_names_are_shown_as_text(tmp_path: Path, tacit: Tacit) -> None:
    """By ``check``, by ``show``, and in an error's one line."""
    drawings = tmp_path / "d.tsv"
    name = HOSTILE.replace("\r", "").replace("\u2028", "")
    drawings.write_text(f"ann\t{name}\t---\t{name}1\tinside\t{name}2\n", encoding="utf-8")
    shown = tacit("show", "prompts", "parts", "--model", "demo", "--drawings", drawings)
    assert shown.code == 0, shown.err
    missing = tacit("check", tmp_path / f"missing{name}.tsv")
    assert missing.code == 2
    assert len(missing.err.splitlines()) == 1
    for text in (shown.out, shown.err, missing.err):
        assert all(each == "\n" or each.isprintable() for each in text)
    assert "\\u001b]0;title" in missing.err


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
@pytest.mark.slow
def test_a_folder_whose_name_is_not_utf_8_holds_a_run(tmp_path: Path) -> None:
    """As --out, --store, an input and a report; the run goes on there; what cannot be is said."""
    bad = b"n\xff"
    (tmp_path / os.fsdecode(b"in" + bad)).symlink_to(demo_drawings())
    command = (
        *("run", "parts", "--model", "demo", "--things", "peach", "--json"),
        *("--drawings", b"in" + bad, "--store", b"store" + bad, "--out", b"run" + bad),
    )
    for _ in range(2):
        ran = run(tmp_path, *command)
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["runs"][0]["out"] == os.fsdecode(b"run" + bad)
    again = run(tmp_path, *command[:-1], b"other" + bad)
    assert again.returncode == 0, again.stderr
    out = b"report" + bad + b".html"
    reported = run(tmp_path, "report", b"run" + bad, b"other" + bad, "--out", out)
    assert reported.returncode == 0, reported.stderr
    html = (tmp_path / os.fsdecode(out)).read_text(encoding="utf-8")
    assert r"(other" + r"n\udcff)" in html
    facts = tmp_path / "facts.tsv"
    facts.write_text("IsA\tbear\tanimal\n", encoding="utf-8")
    refused = run(tmp_path, "kb", "import", "facts.tsv", "--out", bad)
    assert refused.returncode == 2
    assert refused.stderr.decode().splitlines()[-1] == (
        r"tacit: n\udcff: has a name that is not valid UTF-8, which DuckDB requires: rename it"
    )
