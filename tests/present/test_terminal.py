import io
import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.cli import main
from tacit.present.terminal import console, visible, visible_output
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\r\u202egpj\u2066\x08\x7f\u2028"


@given(st.text(st.characters()))
def test_what_is_shown_steers_no_terminal(text: str) -> None:
    """No control character but tab and line feed is left, and nothing that turns text round.

    JSON on standard output contains the text unchanged.
    """
    shown = visible(text)
    shown.encode()
    kinds = {unicodedata.category(each) for each in shown if each not in "\t\n"}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    turning = {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI"}
    assert not {unicodedata.bidirectional(each) for each in shown} & turning
    assert visible(shown) == shown
    if "Cs" not in map(unicodedata.category, text):
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


def printed(encoding: str, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[str, str]:
    """What a command that ends well writes to streams of an encoding."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding) for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    monkeypatch.setattr(sys, "argv", ["tacit", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    out, err = (stream.detach() for stream in streams.values())
    return out.getvalue().decode(encoding), err.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_what_a_stream_cannot_write_is_replaced(
    encoding: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a run's tables and sentences, in help and in notes; JSON says the same."""
    name = "te\u00e1\u0161\u8336\U0001fad6\x1b"
    things = workplace / "things.tsv"
    things.write_text(f"Everyday thing\tParts\n{name}\tbody, lid, spout\n", encoding="utf-8")
    shared = ("--drawings", things, "--model", "demo")
    table, _ = printed(
        encoding, monkeypatch, "run", "parts", *shared, "--out", "run", "--no-report"
    )
    assert ("e\u2212" if encoding == "utf-8" else "e-") in table
    helped, _ = printed(encoding, monkeypatch, "run", "parts", "--help")
    assert "--drawings" in helped
    shown, _ = printed(encoding, monkeypatch, "show", "prompts", "parts", *shared, "--json")
    assert name in json.loads(shown)[0]["text"]
    readable, _ = printed(encoding, monkeypatch, "show", "prompts", "parts", *shared)
    assert name[:2] in readable
    assert "\x1b" not in readable + helped + table


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("{} check b.csv >&-", 0),
        ("{} check c.csv <&- >&- 2>&-", 2),
        ("{} nothing 2< b.csv", 2),
        ("{} nothing 2>/dev/full", 2),
        ("set -o pipefail; {} check b.csv | true", 0),
        ("set -o pipefail; {} check --help | true", 0),
    ],
)
def test_a_stream_that_nobody_reads_changes_no_exit_code(
    shell: str, code: int, tmp_path: Path
) -> None:
    """Closed, read-only, full, or a pipe whose reader has gone; nothing is written elsewhere."""
    belief = "subject,relation,object,p_true\nroof,above,wall,0.9\n"
    (tmp_path / "b.csv").write_text(belief)
    program = f"{sys.executable} -c 'from tacit.cli import main; main()'"
    ran = subprocess.run(
        ["/bin/bash", "-c", shell.format(program)], cwd=tmp_path, capture_output=True, check=False
    )
    assert ran.returncode == code
    assert b"Traceback" not in ran.stderr
    assert (b"output is closed" in ran.stderr) == shell.endswith("b.csv >&-")
    assert (tmp_path / "b.csv").read_text() == belief


def test_a_name_of_256_characters_is_refused(workplace: Path, tacit: Tacit) -> None:
    (workplace / "b.csv").write_text("subject,relation,object,p_true\nroof,above,wall,0.9\n")
    shared = ("--model", "demo", "--drawings", demo_drawings())
    for command in (("repair", "b.csv"), ("run", "parts", *shared), ("report", "r"), ("demo",)):
        refused = tacit(*command, "--out", "n" * 256)
        assert refused.code == 2
        assert len(refused.err.splitlines()) == 1
    assert [path.name for path in workplace.iterdir()] == ["b.csv"]


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
@pytest.mark.usefixtures("workplace")
def test_a_folder_whose_name_is_not_utf_8_holds_a_run(tacit: Tacit) -> None:
    """As --out, --store, an input and a report; the run goes on there; what cannot be is said."""
    bad = os.fsdecode(b"n\xff")
    Path(f"in{bad}").symlink_to(demo_drawings())
    command = (
        *("run", "parts", "--model", "demo", "--things", "peach", "--json"),
        *("--drawings", f"in{bad}", "--store", f"store{bad}", "--out", f"run{bad}"),
    )
    for _ in range(2):
        ran = tacit(*command)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["runs"][0]["out"] == f"run{bad}"
    again = tacit(*command[:-1], f"other{bad}")
    assert again.code == 0, again.err
    reported = tacit("report", f"run{bad}", f"other{bad}", "--out", f"report{bad}.html")
    assert reported.code == 0, reported.err
    html = Path(f"report{bad}.html").read_text(encoding="utf-8")
    assert r"(other" + r"n\udcff)" in html
    Path("facts.tsv").write_text("IsA\tbear\tanimal\n", encoding="utf-8")
    refused = tacit("kb", "import", "facts.tsv", "--out", bad)
    assert refused.code == 2
    assert refused.err.splitlines()[-1] == (
        r"tacit: n\udcff: has a name that is not valid UTF-8, which DuckDB requires: rename it"
    )
