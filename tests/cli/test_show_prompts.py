"""How many prompts ``tacit show prompts`` prints, and that it prints them one at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer

from tacit.cli import show
from tacit.sources.demo import NORMS
from tacit.sources.drawings import demo_drawings
from tacit.tables import read_table
from tests.cli.conftest import Tacit

PEACH = ("show", "prompts", "parts", "--model", "demo", "--drawings", demo_drawings())


def test_json_shows_the_first_prompts_and_counts_the_others(tacit: Tacit, workplace: Path) -> None:
    """On standard error, so that what is printed stays JSON."""
    ran = tacit(*PEACH, "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)) == 3
    whole = tacit(*PEACH, "--json", "--all", "--things", "peach")
    count = len(json.loads(whole.out))
    assert "not shown" not in whole.err
    some = tacit(*PEACH, "--json", "--first", 5, "--things", "peach")
    assert len(json.loads(some.out)) == 5
    assert f"tacit: {count - 5:,} more prompts are not shown; use --first N for more" in some.err
    assert json.loads(some.out) == json.loads(whole.out)[:5]
    assert not (workplace / "scores").exists()


@pytest.mark.usefixtures("workplace")
def test_prompts_are_printed_one_at_a_time(tacit: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is out before the second is made: all together are not held in memory."""
    order: list[str] = []
    shown, echo = show._shown, typer.echo

    def recorded(*arguments: object) -> object:
        order.append("made")
        return shown(*arguments)  # type: ignore[arg-type]

    def echoed(text: object, *, nl: bool = True) -> None:
        order.append("printed")
        echo(text, nl=nl)

    monkeypatch.setattr(show, "_shown", recorded)
    monkeypatch.setattr(typer, "echo", echoed)
    assert tacit(*PEACH, "--json").code == 0
    assert order[:4] == ["made", "printed", "printed", "made"]


@pytest.mark.usefixtures("workplace")
def test_assumptions_count_what_is_not_shown(tacit: Tacit) -> None:
    """As the parts probe does."""
    ran = tacit("show", "prompts", "assumptions", "--model", "demo", "--norms", NORMS, "--json")
    assert ran.code == 0, ran.err
    assert "more prompts are not shown" in ran.err
    assert json.loads(ran.out)


def test_a_prompt_beyond_the_window_is_shown_as_skipped(tacit: Tacit, workplace: Path) -> None:
    """With its length, and the other prompts are shown."""
    drawings = workplace / "drawings"
    shutil.copytree(demo_drawings(), drawings)
    with (drawings / "annotations-0.tsv").open("a", encoding="utf-8") as file:
        file.write(f"annotator_9\tpeach\t---\t{'very ' * 150}old skin\tsurrounds\tflesh\n")
    asked = ("show", "prompts", "parts", "--model", "demo", "--drawings", drawings)
    ran = tacit(*asked, "--things", "peach", "--all", "--json")
    assert ran.code == 0, ran.err
    answers = [answer for prompt in json.loads(ran.out) for answer in prompt["answers"]]
    skipped = [answer for answer in answers if "skipped" in answer]
    assert len(skipped) == 2 * 28
    assert all("window of demo is 128 tokens" in answer["skipped"] for answer in skipped)
    assert "skipped: the prompt" in tacit(*asked, "--things", "peach", "--all").out


@pytest.mark.usefixtures("workplace")
def test_a_server_is_refused_before_anything_is_read(tacit: Tacit) -> None:
    """No request is sent, no prompt is made, and nothing is printed."""
    address = "http://127.0.0.1:9/v1"
    ran = tacit("show", "prompts", "parts", "--model", address, "--drawings", "none")
    assert (ran.code, ran.out) == (2, "")
    assert f"{address} is a server, which does not show" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("workplace")
def test_all_prompts_are_written_with_their_keys(tacit: Tacit) -> None:
    """A row per prompt, with the answers that are scored; no other file is overwritten."""
    ran = tacit(*PEACH, "--things", "peach", "--out", "parts.tsv")
    assert ran.code == 0, ran.err
    rows = read_table("parts.tsv")
    assert f"({rows.height} prompts)" in ran.out
    assert set(rows["thing"]) == {"peach"}
    assert set(rows["answers"]) == {'["True", "False"]'}
    norms = ("show", "prompts", "assumptions", "--model", "demo-masked", "--norms", NORMS)
    assert tacit(*norms, "--limit", 1, "--orders", "main", "--out", "sta.jsonl").code == 0
    of = {(group, text) for group, text in read_table("sta.jsonl").select("group", "text").rows()}
    assert ("retrieval", "A ___ is an animal.") in of
    assert ("elicitation", "Everyone knows that a dog has ___.") in of
    Path("notes.tsv").write_text("a\tb\n1\t2\n")
    refused = tacit(*PEACH, "--out", "notes.tsv")
    assert (refused.code, "is not a table of prompts" in refused.err) == (2, True)
