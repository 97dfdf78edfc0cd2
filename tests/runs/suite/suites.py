"""Suites on the demo's data, and models that count themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import WeakSet

import pytest

from tacit import FakeModel, build_kb, demo_data
from tacit.requests import Prompt

PARTS: dict[str, Any] = {"probe": "parts", "drawings": "things", "limit": 1}

_FOLDER = TemporaryDirectory()


@cache
def knowledge() -> Path:
    """The demo's facts as a knowledge base, built once per process."""
    return build_kb(demo_data("facts"), Path(_FOLDER.name) / "demo.kb")


def written(folder: Path, **content: Any) -> Path:  # noqa: ANN401 - YAML
    """A suite's file, and the data that it names, in a folder."""
    things, questions = folder / "things", folder / "questions.jsonl"
    if not things.exists():
        things.symlink_to(demo_data("drawings"))
        questions.symlink_to(demo_data("questions"))
    whole = {"out": "runs", "models": ["demo"], "runs": [PARTS], **content}
    file = folder / "suite.yaml"
    file.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return file


def states(out: Path) -> dict[tuple[str, str], str]:
    content = json.loads((out / "suite.json").read_text(encoding="utf-8"))
    return {(run["run"], run["model"]): run["status"] for run in content["runs"]}


class Counting:
    """Loads models that answer at random, and counts those that are in memory together."""

    def __init__(self, failing: Sequence[str] = ()) -> None:
        self.alive: WeakSet[FakeModel] = WeakSet()
        self.most = 0
        self.loaded: list[str] = []
        self.asked: list[tuple[str, Prompt]] = []
        self.failing = failing

    def load(self, name: str, *_: object) -> FakeModel:
        self.loaded.append(name)
        if name in self.failing:
            raise MemoryError("not enough memory")

        def scores(prompt: Prompt, answer: str) -> float:
            self.asked.append((name, prompt))
            return -1.0 - len(prompt.text + answer) % 7

        model = FakeModel(scores, name)
        self.alive.add(model)
        self.most = max(self.most, len(self.alive))
        return model

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Counting:
        monkeypatch.setattr("tacit.models.loading.find", lambda *_: None)
        monkeypatch.setattr("tacit.models.loading.load_model", self.load)
        return self


def with_lines(entries: Mapping[str, Sequence[str]]) -> str:
    lines = [line for key, of in entries.items() for line in (f"{key}:", *(f"  - {e}" for e in of))]
    return "\n".join(lines) + "\n"
