"""Which engine asks: what goes together, and what a run says of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from tacit.models.registry import folder_of
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

SERVER = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "demo", "--workers", 2), "--workers requires --engine ray"),
        (("--model", "demo", "--address", "auto"), "--address requires --engine ray"),
        (("--model", "demo", "--gpus-per-worker", 1), "--gpus-per-worker requires --engine ray"),
        (
            ("--model", SERVER, "--engine", "ray"),
            "--engine ray applies only to models that Tacit loads",
        ),
        (("--model", SERVER, "--threads", 1), "--threads applies only to models that Tacit loads"),
        (("--model", "demo", "--engine", "ray", "--device", "cuda:1"), "--device is cuda:1"),
        (
            ("--model", "demo", "--engine", "ray", "--device", "cpu", "--gpus-per-worker", 1),
            "--gpus-per-worker and --device cpu exclude each other",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    tacit: Tacit, workplace: Path, options: tuple[object, ...], said: str
) -> None:
    """Before a model is loaded or a cluster started."""
    prompts = workplace / "prompts.jsonl"
    prompts.write_text('{"text": "A cat is", "answers": ["big"]}\n', encoding="utf-8")
    ran = tacit("score", prompts, "--out", workplace / "scores.jsonl", *options)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.slow
def test_workers_of_this_machine_write_the_same_bytes(tacit: Tacit, workplace: Path) -> None:
    """With the same number of threads; the model's folder is found wherever they work."""
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")
    shutil.copytree(folder_of("demo"), workplace / "model")
    lines = [{"text": f"A {word} is", "answers": ["big", "an animal"]} for word in ("cat", "car")]
    (workplace / "prompts.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    before = torch.get_num_threads()
    asked = ("score", "prompts.jsonl", "--model", "model", "--threads", 1)
    try:
        local = tacit(*asked, "--store", "local", "--out", "local.jsonl")
        ran = tacit(
            *asked, "--store", "store", "--out", "ray.jsonl", "--engine", "ray", "--workers", 1
        )
    finally:
        torch.set_num_threads(before)
        ray.shutdown()
    assert (local.code, ran.code) == (0, 0), local.err + ran.err
    assert Path("ray.jsonl").read_bytes() == Path("local.jsonl").read_bytes()


def test_the_manifest_says_who_asked(tacit: Tacit, workplace: Path) -> None:
    """The kind of engine and its threads, which the last bits of a score depend on."""
    before = torch.get_num_threads()
    try:
        ran = tacit(
            *("run", "parts", "--drawings", demo_drawings(), "--things", "peach"),
            *("--model", "demo", "--threads", 1, "--out", workplace / "run"),
        )
    finally:
        torch.set_num_threads(before)
    assert ran.code == 0, ran.err
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["engine"] == {"kind": "local", "threads": 1}
