"""``tacit show``: prompts and statements."""

import json
from pathlib import Path

import polars as pl
import pytest
import typer

from tacit.cli import prompts as show
from tacit.sources.demo import NORMS
from tacit.sources.drawings import demo_drawings
from tacit.tables import read_table
from tests.cli.conftest import Tacit
from tests.fetched_data import PARROT, needs_parrot

DEMO = demo_drawings()
PEACH = ("show", "prompts", "parts", "--model", "demo", "--drawings", DEMO, "--things", "peach")


def test_prompts_are_shown_as_tokens_and_ids(tacit: Tacit, workplace: Path) -> None:
    """Those of the answer are marked; how many are left out is on standard error."""
    ran = tacit(*PEACH, "--json", "--first", 5)
    prompts = json.loads(ran.out)
    (one,) = prompts[0]["answers"][0]["inputs"]
    assert one["tokens"][-1] == "True"
    assert one["scored"] == [len(one["ids"]) - 2, len(one["ids"]) - 1]
    assert len(one["ids"]) == len(one["tokens"])
    whole = tacit(*PEACH, "--json", "--all")
    assert (json.loads(whole.out)[:5], "not shown" in whole.err) == (prompts, False)
    more = len(json.loads(whole.out)) - len(prompts)
    assert f"tacit: {more:,} more prompts are not shown; use --first N for more" in ran.err
    readable = tacit(*PEACH).out
    assert "[True]" in readable
    assert prompts[1]["text"] in readable
    assert not list(workplace.iterdir())


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


def test_a_prompt_beyond_the_window_is_shown_as_skipped(tacit: Tacit, workplace: Path) -> None:
    rows = (f"me\tpeach\t---\t{'very ' * 150}old skin\tsurrounds", "\t\t---\tstone\tinside")
    drawing = "".join(f"{row}\tflesh\n" for row in rows)
    (workplace / "annotations-0.tsv").write_text(drawing, encoding="utf-8")
    asked = ("show", "prompts", "parts", "--model", "demo", "--drawings", "annotations-0.tsv")
    ran = tacit(*asked, "--all", "--json")
    assert ran.code == 0, ran.err
    answers = [answer for prompt in json.loads(ran.out) for answer in prompt["answers"]]
    skipped = [answer for answer in answers if "skipped" in answer]
    assert 0 < len(skipped) < len(answers)
    assert all("window of demo is 128 tokens" in answer["skipped"] for answer in skipped)


@pytest.mark.usefixtures("workplace")
def test_all_prompts_are_written_with_their_keys(tacit: Tacit) -> None:
    ran = tacit(*PEACH, "--out", "parts.tsv")
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


def test_statements_of_drawings_are_written_and_counted(tacit: Tacit, workplace: Path) -> None:
    """The table has one row per statement, in the drawings' order, with its label as text."""
    ran = tacit("show", "statements", DEMO, "--out", "out.tsv")
    lines = (workplace / "out.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["thing", "annotator", "subject", "relation", "object", "label"]
    assert len(lines) == 279
    assert "peach\tannotator_1\tskin\tsurrounds\tflesh\tTrue" in lines
    assert "peach\tannotator_1\tskin\tsurrounded by\tflesh\tFalse" in lines
    assert "Written: out.tsv" in ran.out
    assert ["all", "278"] in [line.split()[:2] for line in ran.out.splitlines()]
    things = ("--things", "Watering Can,peach", "--json")
    counts = json.loads(tacit("show", "statements", DEMO, "--out", "some.csv", *things).out)
    assert (counts["things"], counts["drawings"]) == (2, 6)
    assert counts["statements"] == pl.read_csv(workplace / "some.csv").height
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
