"""``tacit export``: what other programs get, and what comes back from them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import yaml

import tacit as package
from tacit.sources.demo import NORMS
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

LIMITED = ("--drawings", demo_drawings(), "--things", "lantern")


def ask(tasks: Path, out: Path) -> None:
    """Ask the demo model as the harness does, from the files alone, the last document first."""
    model = package.load_model("demo")
    out.mkdir()
    for file in tasks.glob("*.yaml"):
        function, _, text = file.read_text(encoding="utf-8").partition("\n")
        assert function == "custom_dataset: !function tacit_documents.load"
        task = yaml.safe_load(text)
        assert (task["doc_to_text"], task["doc_to_choice"]) == ("text", "continuations")
        assert (task["target_delimiter"], task["num_fewshot"]) == ("", 0)
        data = (tasks / task["dataset_kwargs"]["file"]).read_text(encoding="utf-8")
        rows = [json.loads(line) for line in data.splitlines()][::-1]
        prompts = [package.Prompt(row["text"], tuple(row["continuations"]), "") for row in rows]
        lines = []
        for row, scores in zip(rows, model.answer(prompts), strict=True):
            sent = {
                str(at): {"arg_0": row["text"], "arg_1": one}
                for at, one in enumerate(row["continuations"])
            }
            found = [[[str(one.logprob), "False"]] for one in scores.answers]
            lines.append(json.dumps({"doc": row, "arguments": sent, "resps": found}) + "\n")
        name = f"samples_{task['task']}_2026-11-29T12-00-00.000.jsonl"
        (out / name).write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def harness(tacit: Tacit, workplace: Path) -> Path:
    """The folder of samples about lanterns."""
    ran = tacit("export", "lm-eval", "parts", *LIMITED, "--out", "tasks")
    assert ran.code == 0, ran.err
    assert "--tasks tacit_parts --include_path tasks --output_path OUT --log_samples" in ran.out
    ask(workplace / "tasks", workplace / "samples")
    return workplace / "samples"


def test_a_log_of_the_harness_has_the_findings_of_a_run(tacit: Tacit, harness: Path) -> None:
    """Beliefs, violations and repair, although the log has another order."""
    for model, out in ((f"lm-eval:{harness}", "theirs"), ("demo", "ours")):
        ran = tacit("run", "parts", *LIMITED, "--model", model, "--out", out)
        assert ran.code == 0, ran.err
    theirs, ours = (package.load_run(harness.parent / name) for name in ("theirs", "ours"))
    keys = ["thing", "subject", "relation", "object"]
    both = ours.questions.join(theirs.questions, on=keys, suffix=" theirs")
    assert both.height == ours.questions.height > 100
    apart = both.select((pl.col("p_true") - pl.col("p_true theirs")).abs().max())
    assert apart.item() < 1e-5
    assert theirs.metrics == pytest.approx(ours.metrics)


def test_a_log_of_fewer_prompts_is_refused(tacit: Tacit, harness: Path) -> None:
    """With how many lack an answer; nothing is written."""
    given = ("--drawings", demo_drawings(), "--model", f"lm-eval:{harness}", "--out", "theirs")
    ran = tacit("run", "parts", *given)
    assert ran.code == 2
    assert "prompts, such as the prompt" in ran.err
    assert "give the options and the data of the export" in ran.err
    assert not (harness.parent / "theirs").exists()


def test_what_the_harness_cannot_ask_is_refused(tacit: Tacit, workplace: Path) -> None:
    """Ranks of words, and answers within a text."""
    ran = tacit("export", "lm-eval", "assumptions", "--norms", NORMS, "--out", "tasks")
    assert (ran.code, ran.err.count("lm-eval only scores continuations")) == (2, 1)
    template = (
        "text: 'In {a_thing}, {statement}. ___, it is.'\npositive: ['True']\nnegative: ['No']\n"
    )
    (workplace / "own.yaml").write_text(template, encoding="utf-8")
    ran = tacit("export", "lm-eval", "parts", *LIMITED, "--prompt", "own.yaml", "--out", "tasks")
    assert ran.code == 2
    assert "has a blank, and lm-eval only scores continuations" in ran.err
    assert not (workplace / "tasks").exists()
