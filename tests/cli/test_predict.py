from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import tacit as api
from tests.cli.conftest import TRIPLES, Ran, Tacit

KEYS = ["p_correct", "interval", "answer", "facts", "predictor", "note"]


@pytest.mark.slow
def test_a_new_question_of_the_demo_is_predicted(tacit: Tacit, workplace: Path) -> None:
    """A taught question above a withheld one; again nothing is asked; changed data are refused."""
    questions, facts = (str(api.demo_data(kind)) for kind in ("questions", "facts"))
    assert tacit("kb", "import", facts, "--out", "demo.kb").code == 0
    given = ("--questions", questions, "--kb", "demo.kb", "--out", "run")
    ran = tacit("run", "consistency", "--model", "demo", *given, "--tables")
    assert "demo: Baselines of anchor questions" in ran.out

    def predict(question: str, choices: str, *more: object) -> Ran:
        return tacit("predict", "run", question, "--choices", choices, *more)

    taught, withheld = (
        json.loads(predict(question, choices, "--json").out)
        for question, choices in (
            ("What does a dog wag?", "tail,paw,nose"),
            ("What is a hammer used for?", "hit nail,sing,sleep"),
        )
    )
    for found in (taught, withheld):
        assert list(found) == KEYS
        assert found["interval"][0] <= found["p_correct"] <= found["interval"][1]
        assert all(list(fact) == ["fact", "correct", "effect"] for fact in found["facts"])
    assert taught["answer"] == "tail"
    assert taught["p_correct"] > withheld["p_correct"]
    assert {fact["fact"]: fact["correct"] for fact in taught["facts"]}["dog HasA tail"] is True

    stored = sorted((workplace / ".tacit").rglob("*.parquet"))
    shown = predict("What does a dog wag?", "tail,paw,nose")
    assert shown.out.startswith("Answer: tail\nProbability that it is correct: ")
    assert "dog HasA tail" in shown.out
    assert re.search(r"effect,\n.*correct +points\n", shown.out)
    assert sorted((workplace / ".tacit").rglob("*.parquet")) == stored
    run = api.load_run("run")
    in_python = run.predict("What does a dog wag?", ["tail", "paw", "nose"])
    assert in_python.to_json() == taught

    other = predict("What does a dog wag?", "tail,paw", "--model", "demo-masked")
    assert other.code == 2
    assert "differs from the model of the run" in other.err
    shutil.move("demo.kb", "moved.kb")
    moved = predict("What does a dog wag?", "tail,paw,nose")
    assert moved.code == 2
    assert "demo.kb, which the run used, does not exist here: give --kb PATH" in moved.err
    again = predict("What does a dog wag?", "tail,paw,nose", "--kb", "moved.kb", "--json")
    assert json.loads(again.out) == taught
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "demo.kb").code == 0
    changed = predict("What does a dog wag?", "tail,paw,nose")
    assert changed.code == 2
    assert "demo.kb has changed since the run" in changed.err
