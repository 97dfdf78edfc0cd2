"""``tacit run consistency``, and the commands that read its run."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Ran, Tacit


def run(tacit: Tacit, out: str, *more: object) -> Ran:
    """Runs the probe with the demo's model."""
    given = ("--questions", "questions.csv", "--kb", "small.kb", "--out", out)
    return tacit("run", "consistency", "--model", "demo", *given, *more)


def test_a_run_from_its_questions_to_one_of_them(tacit: Tacit, source: Path) -> None:
    """Its folder is whole, another reading asks nothing, and a question can be followed."""
    ran = run(tacit, "run", "--anchors", "choice,verify")
    assert ran.code == 0
    manifest = json.loads((source / "run" / "manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert manifest["summary"]["prompts"] == 8 * 24 + 2 * 3 * 23 + 7 * 24
    anchors = pl.read_parquet(source / "run" / "findings" / "anchors.parquet")
    assert anchors["anchor"].to_list() == ["q1", "q2", "q3"]
    assert anchors["facts"].to_list() == [2, 2, 0]
    others = pl.read_parquet(source / "run" / "findings" / "other_answers.parquet")
    assert others.select("anchor", "method").rows() == [(f"q{n}", "verify") for n in (1, 2, 3)]
    assert pl.read_parquet(source / "run" / "questions.parquet").height == 8 * 84

    segments = sorted((source / ".tacit").rglob("*.parquet"))
    again = run(tacit, "again", "--answering", "count", "--json")
    assert sorted((source / ".tacit").rglob("*.parquet")) == segments
    assert json.loads(again.out)["runs"][0]["anchors"] == 3

    assert "kennel" in tacit("show", "anchor", "run", "q1").out
    traced = json.loads(tacit("show", "anchor", "run", "q1", "--json").out)
    assert traced["background_score"] == anchors["background_score"][0]
    assert tacit("show", "anchor", "run", "q9").code == 2
    predicted = tacit("predict", "run", "Where?", "--choices", "a,b")
    assert (predicted.code, "the run has no predictor, because" in predicted.err) == (2, True)


@pytest.mark.slow
def test_facts_beyond_the_cap_are_reported(tacit: Tacit, source: Path) -> None:
    ran = run(tacit, "run", "--cap", 1)
    summary = json.loads((source / "run" / "manifest.json").read_text())["summary"]
    assert (summary["questions_beyond_cap"], summary["facts_beyond_cap"]) == (2, 2)
    assert "Missing: 2 facts beyond the cap" in ran.out


def test_the_same_run_gives_the_same_bytes(tacit: Tacit, source: Path) -> None:
    """From the store, and from a model that is asked again; with facts in the prompt as well."""
    for out in ("one", "two", "three"):
        ran = run(tacit, out, "--intervene", "--anchors", "verify,choice")
        assert ran.code == 0, ran.err
        if out == "two":
            shutil.rmtree(source / ".tacit")
    files = [path.name for path in (source / "one" / "findings").iterdir()]
    for name in files:
        contents = {
            (source / out / "findings" / name).read_bytes() for out in ("one", "two", "three")
        }
        assert len(contents) == 1, name
    assert (source / "three" / "findings" / "intervention.parquet").is_file()
    summary = json.loads((source / "one" / "manifest.json").read_text())["summary"]
    counts = summary["intervention"]
    assert [counts[name] for name in ("anchoring", "most", "anchors", "facts")] == [
        *("verify", 5, 2, 4)
    ]
    answers = pl.read_parquet(source / "one" / "findings" / "answers_in_context.parquet")
    for condition, fact in (
        ("true", "A dog can be found at a kennel."),
        ("irrelevant", "A book can be found at a library."),
    ):
        assert fact in answers.filter(anchor="q1", condition=condition)["context"].item()


def test_a_dry_run_counts_prompts_and_writes_nothing(tacit: Tacit, source: Path) -> None:
    asked = ("--dry-run", "--intervene", "--context-facts", 1, "--limit", 3)
    (counted,) = json.loads(run(tacit, "run", *asked, "--json").out)["runs"]
    assert counted["groups"] == {
        "background": 8 * 24,
        "choice": 3 * 23,
        "prior": 3 * 23,
        **{f"intervention-{name}": 2 * 23 for name in ("true", "false", "irrelevant")},
    }
    assert sum(counted["groups"].values()) == counted["prompts"]
    assert counted["with_fast"]["prompts"] == 8 + 2 * 3 + 3 * 2
    printed = run(tacit, "run", *asked).out
    assert "first 3 anchor questions" in printed
    assert f"with --fast: {counted['with_fast']['to_ask']} prompts" in printed
    assert "intervention-irrelevant 46\n" in printed
    assert not (source / "run").exists()


def test_a_context_longer_than_the_window_drops_the_pair(tacit: Tacit, source: Path) -> None:
    """The prompts are skipped and counted; the question without facts is answered."""
    questions = source / "questions.csv"
    long = questions.read_text().replace("sleep?", "sleep" + " and sleep" * 42 + "?")
    questions.write_text(long, encoding="utf-8")
    ran = run(tacit, "run", "--intervene")
    assert ran.code == 0, ran.err
    summary = json.loads((source / "run" / "manifest.json").read_text())["summary"]
    assert summary["without_answer"] == 0
    assert summary["skipped"] > 0
    assert summary["intervention"]["without_pair"] == {"true": 1, "false": 1, "irrelevant": 1}


def test_a_relation_of_ones_own_needs_a_template(tacit: Tacit, source: Path) -> None:
    """Without one it is refused with what to do; with one it is asked, and figures are drawn."""
    (source / "questions.csv").write_text(
        "question,choices,answer\nWhat does a dog eat?,bone|stone,bone\n", encoding="utf-8"
    )
    ran = run(tacit, "run", "--relations", "Eats")
    assert ran.code == 2
    assert "no template for Eats: add templates with --templates FILE" in ran.err
    own = source / "own.yaml"
    own.write_text("relations:\n  Eats:\n    text: 'Does a {c1} eat a {c2}?'\n", encoding="utf-8")
    ran = run(tacit, "run", "--relations", "Eats", "--templates", own)
    assert ran.code == 0
    facts = pl.read_parquet(source / "run" / "findings" / "fact_answers.parquet")
    assert facts["question"][0] == "Does a dog eat a bone"
