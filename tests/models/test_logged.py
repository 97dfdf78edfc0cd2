"""Logs of other programs: what is read, and what is refused with the file and the line."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import DataError, MissingPackage, ModelError, PromptError
from tacit.requests import ZERO

TEXT = "Is it a bird?"


def sample(*values: float, text: str = TEXT, **other: Any) -> str:  # noqa: ANN401 - any content
    continuations = [" Yes", " No"]
    arguments = {
        f"gen_args_{at}": {"arg_0": text, "arg_1": one} for at, one in enumerate(continuations)
    }
    resps = [[[str(value), "False"]] for value in values]
    doc = {"key": {}, "text": text, "continuations": continuations}
    return json.dumps({"doc": doc, "arguments": arguments, "resps": resps, **other}) + "\n"


def log(folder: Path, *lines: str, task: str = "tacit_parts_questions", day: int = 1) -> str:
    file = folder / f"samples_{task}_2026-11-{day:02}T12-00-00.123.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    return f"lm-eval:{file}"


def test_answers_are_found_by_their_prompts(tmp_path: Path) -> None:
    other = sample(-3.0, -4.0, text="Is it a tree?")
    model = tacit.load_model(log(tmp_path, other, sample(-1.0, -math.inf)))
    (scores,) = model.answer([tacit.Prompt(TEXT, ("No", "Yes"))])
    assert [one.logprob for one in scores.answers] == [None, -1.0]
    assert scores["No"].missing == ZERO


def test_the_fingerprint_is_that_of_the_scores(tmp_path: Path) -> None:
    names = [
        log(tmp_path, sample(-1.0, at), day=day) for day, at in ((1, -2.0), (2, -2.0), (3, -9))
    ]
    first, same, other = (tacit.load_model(name).fingerprint for name in names)
    assert first == same != other


def test_tasks_of_one_folder_are_one_model(tmp_path: Path) -> None:
    log(tmp_path, sample(-1.0, -2.0), task="one")
    log(tmp_path, sample(-3.0, -4.0, text="Is it a tree?"), task="other")
    config = {"model": "hf", "model_args": "pretrained=m", "model_num_parameters": 7}
    (tmp_path / "results_x.json").write_text(json.dumps({"config": config}), encoding="utf-8")
    model = tacit.load_model(f"lm-eval:{tmp_path}")
    asked = [tacit.Prompt(text, ("Yes",)) for text in (TEXT, "Is it a tree?")]
    assert [one["Yes"].logprob for one in model.answer(asked)] == [-1.0, -3.0]
    assert model.description["parameters"] == 7


def test_prompts_without_an_answer_are_counted(tmp_path: Path) -> None:
    model = tacit.load_model(log(tmp_path, sample(-1.0, -2.0)))
    asked = [tacit.Prompt(TEXT, answers) for answers in (("Yes", "No"), ("Yes", "Perhaps"))]
    with pytest.raises(PromptError, match=r"no answer to 1 of 2 prompts, such as .*a bird"):
        model.cost(asked)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": "a"}\n', "line 2: is not a sample of a task that `tacit export lm-eval` wrote"),
        (sample(-1.0, -2.0, arguments={}), "line 2: another text was asked than the prompt"),
        (sample(-1.0, math.nan), "line 2: nan is no log-probability"),
        (sample(-1.0, 0.5), "line 2: 0.5 is no log-probability"),
        (sample(-1.0), "line 2: is not a sample"),
        ("oh\n", "line 2: "),
    ],
)
def test_a_foreign_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        tacit.load_model(log(tmp_path, sample(-1.0, -2.0), line))


def test_a_folder_without_or_with_two_logs_is_refused(tmp_path: Path) -> None:
    """Two logs of a task may be of different models."""
    with pytest.raises(ModelError, match="has no file samples_"):
        tacit.load_model(f"lm-eval:{tmp_path}")
    for day in (1, 2):
        log(tmp_path, sample(-1.0, -2.0), day=day)
    with pytest.raises(ModelError, match="has 2 logs of the task tacit_parts_questions"):
        tacit.load_model(f"lm-eval:{tmp_path}")
    with pytest.raises(DataError, match="nowhere"):
        tacit.load_model("lm-eval:nowhere.jsonl")


def test_a_log_of_inspect_needs_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(MissingPackage, match=r"pip install 'tacit-lm\[inspect\]'"):
        tacit.load_model(f"inspect:{tmp_path / 'log.eval'}")
