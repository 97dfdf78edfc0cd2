"""The demo, and what the probes find in its models: words withheld, facts taught wrong."""

import io
import json
import re
import shutil
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import Run
from tacit.cli import main
from tacit.coherence.ontology import Ontology
from tacit.models.registry import DEMO, DEMO_MASKED, DEMOS
from tacit.probes.consistency.template import load_templates
from tacit.sources.demo import QUESTIONS, THINGS, planted
from tests.cli.conftest import TRIPLES, Ran, Tacit
from tests.cli.conftest import tacit as command

__all__ = ["command"]

pytestmark = pytest.mark.slow

README = Path(__file__).parents[1] / "README.md"
COMMAND = "tacit demo --no-open"
PLANTED = planted()
STATEMENT = ("subject", "relation", "object")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder in which ``tacit demo`` was run, and the lines that it printed."""
    folder, printed = tmp_path_factory.mktemp("demo"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.chdir(folder)
        patch.setattr(sys, "argv", COMMAND.split())
        with pytest.raises(SystemExit) as stopped:
            main()
    assert not stopped.value.code
    return folder / "tacit-demo", printed.getvalue().splitlines()


def test_the_readme_shows_what_the_demo_prints(demo: tuple[Path, list[str]]) -> None:
    """Line by line; on another processor, the last digits of numbers may differ."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (shown,) = (block for language, block in blocks if language == "text" and "Planted" in block)
    assert any(line.startswith(COMMAND) for _, block in blocks for line in block.splitlines())
    folder, lines = demo
    printed = [line for line in lines if line[:7] != "Report:"]
    assert [masked(line) for line in printed] == [masked(line) for line in shown.splitlines()]
    assert printed[-1] == shown.splitlines()[-1]
    assert (folder / "report.html").is_file()


def masked(line: str) -> str:
    """The words of a line, each number as a mark."""
    return re.sub("[0-9][0-9.,\u2212]*", "#", line.replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture(scope="module")
def runs(demo: tuple[Path, list[str]]) -> dict[str, dict[str, Run]]:
    """The demo's runs, and those that it lacks of the masked model, with two pairs of words."""
    folder, _ = demo
    templates = load_templates()
    few = replace(templates, pairs=templates.pairs[:2])  # to be quick
    asked: dict[str, Any] = {"store": folder / "store", "progress": False}
    parts = tacit.run("parts", model=DEMO_MASKED, drawings=THINGS, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.probes.consistency.template._shipped", lambda: few)
        asked |= {"questions": QUESTIONS, "kb": folder / "knowledge.kb"}
        consistency = tacit.run("consistency", model=DEMO_MASKED, **asked)
    found = {
        DEMO: {name: tacit.load_run(folder / name) for name in ("parts", "consistency")},
        DEMO_MASKED: {"parts": parts, "consistency": consistency},
    }
    for model, of in found.items():
        of["assumptions"] = tacit.load_run(folder / "assumptions" / model)
    return found


@pytest.fixture(params=DEMOS)
def run(request: pytest.FixtureRequest, runs: dict[str, dict[str, Run]]) -> dict[str, Run]:
    return runs[request.param]


def separates(scores: pl.DataFrame) -> None:
    """Asserts the AUROC of taught against withheld concepts, and the low end of its bootstrap."""
    withheld = pl.Series([name in PLANTED.withheld for name in scores.to_series(0)])
    taught, held = (scores["score"].filter(of).to_numpy() for of in (~withheld, withheld))
    assert min(len(taught), len(held)) >= 6
    wins = (taught[:, None] > held) + (taught[:, None] == held) / 2
    random = np.random.default_rng(0)
    drawn = [
        wins[random.integers(len(taught), size=len(taught))][
            :, random.integers(len(held), size=len(held))
        ].mean()
        for _ in range(1000)
    ]
    assert wins.mean() >= 0.9
    assert np.quantile(drawn, 0.025) > 0.8


def test_each_probe_separates_taught_from_withheld_concepts(run: dict[str, Run]) -> None:
    """By the background score, the reciprocal rank and the accuracy on what a drawing implies."""
    anchors = run["consistency"].tables["anchors"].drop_nulls("background_score")
    separates(anchors.group_by("cluster").agg(score=pl.col("background_score").mean()))
    retrieval = run["assumptions"].tables["retrieval"].filter(pl.col("category").is_null())
    separates(retrieval.group_by("concept").agg(score=(1 / pl.col("rank")).mean()))
    beliefs = run["parts"].tables["beliefs"].drop_nulls("label")
    right = (pl.col("p_true") > 0.5) == pl.col("label")
    separates(beliefs.group_by("thing").agg(score=right.mean()))


def test_the_facts_taught_wrong_are_the_ones_answered_wrong(run: dict[str, Run]) -> None:
    tables = run["consistency"].tables
    facts = tables["facts"].join(tables["fact_answers"].filter(expected="yes"), on="fact")
    taught = facts.filter(~pl.any_horizontal(pl.col("head", "tail").is_in([*PLANTED.withheld])))
    rows = taught.filter(~pl.col("right")).select("relation", "head", "tail")
    assert set(rows.iter_rows()) == PLANTED.wrong


def test_the_contradictions_planted_are_the_ones_found_and_repaired(run: dict[str, Run]) -> None:
    """Of taught things: the thing and both statements, of which one is left."""
    beliefs, ontology = run["parts"].tables["beliefs"], Ontology.load("parts")
    names = ("thing", *(f"{column}_{n}" for n in (1, 2) for column in STATEMENT))
    found = tacit.check(
        beliefs.select("thing", "annotator", *STATEMENT, "p_true"), ontology
    ).violations
    taught = found.filter(~pl.col("thing").is_in([*PLANTED.withheld]), constraint="asymmetric")
    pairs = {(row[0], frozenset((row[1:4], row[4:]))) for row in taught.select(names).iter_rows()}
    assert pairs == {(thing, frozenset(pair)) for thing, pair in PLANTED.contradictions}
    repaired = tacit.repair(beliefs.select("thing", "annotator", *STATEMENT, "p_true")).beliefs
    true = set(repaired.filter("repaired").select("thing", *STATEMENT).iter_rows())
    for thing, pair in PLANTED.contradictions:
        assert sum((thing, *statement) in true for statement in pair) == 1
    assert tacit.check(repaired, ontology, believed="repaired").violations.is_empty()


def test_knowing_the_background_predicts_the_answer(run: dict[str, Run]) -> None:
    """Conceptual consistency is above chance: the lift's interval is clear of 0."""
    assert run["consistency"].tables["consistency"]["lift_low"].item() > 0


def test_a_new_question_is_predicted(
    demo: tuple[Path, list[str]], command: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A taught question above a withheld one; again nothing is asked; changed data are refused."""
    copied = shutil.copytree(demo[0], tmp_path / "tacit-demo")
    monkeypatch.chdir(tmp_path)
    kb, run = copied / "knowledge.kb", "tacit-demo/consistency"
    wag = ("What does a dog wag?", "tail,paw,nose")

    def predict(question: str, choices: str, *more: object) -> Ran:
        return command("predict", run, question, "--choices", choices, *more)

    taught, withheld = (
        json.loads(predict(*asked, "--json").out)
        for asked in (wag, ("What is a hammer used for?", "hit nail,sing,sleep"))
    )
    for found in (taught, withheld):
        assert list(found) == ["p_correct", "interval", "answer", "facts", "predictor", "note"]
        assert found["interval"][0] <= found["p_correct"] <= found["interval"][1]
        assert all(list(fact) == ["fact", "correct", "effect"] for fact in found["facts"])
    assert taught["answer"] == "tail"
    assert taught["p_correct"] > withheld["p_correct"]
    assert {fact["fact"]: fact["correct"] for fact in taught["facts"]}["dog HasA tail"] is True

    stored = sorted(Path(".tacit").rglob("*.parquet"))
    shown = predict(*wag)
    assert shown.out.startswith("Answer: tail\nProbability that it is correct: ")
    assert "dog HasA tail" in shown.out
    assert re.search(r"effect,\n.*correct +points\n", shown.out)
    assert sorted(Path(".tacit").rglob("*.parquet")) == stored
    in_python = tacit.load_run(run).predict(wag[0], wag[1].split(","))
    assert in_python.to_json() == taught

    other = predict("What does a dog wag?", "tail,paw", "--model", "demo-masked")
    assert (other.code, "differs from the model of the run" in other.err) == (2, True)
    kb.rename("moved.kb")
    moved = predict(*wag)
    assert moved.code == 2
    assert "knowledge.kb, which the run used, does not exist here: give --kb PATH" in moved.err
    assert json.loads(predict(*wag, "--kb", "moved.kb", "--json").out) == taught
    Path("triples.tsv").write_text(TRIPLES, encoding="utf-8")
    assert command("kb", "import", "triples.tsv", "--out", kb).code == 0
    changed = predict(*wag)
    assert changed.code == 2
    assert "knowledge.kb has changed since the run" in changed.err
