from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.engine.store import Store
from tacit.probes.parts.probe import PartsProbe
from tacit.runs.suite.estimates import ELSEWHERE, FINISHED, UNKNOWN, estimates
from tacit.runs.suite.file import Suite
from tests.runs.suite.suites import CONSISTENCY, PARTS, written


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_models_here_are_measured_and_of_others_the_prompts_are_known(tmp_path: Path) -> None:
    """Nothing is written; prompts that depend on a vocabulary elsewhere are not known."""
    norms = {"probe": "assumptions", "norms": str(tacit.demo_data("norms"))}
    file = written(tmp_path, models=["demo", "some/model"], runs=[PARTS, CONSISTENCY, norms])
    before = sorted(tmp_path.iterdir())
    plan = Suite(file, out=tmp_path / "runs")
    found = {(one["run"], one["model"]): one for one in estimates(plan)}
    assert sorted(tmp_path.iterdir()) == before
    here, there = found["parts", "demo"], found["parts", "some/model"]
    prompts = here["prompts"]
    assert (here["distinct"], here["to_ask"], here["tokens"] > 0) == (prompts, prompts, True)
    assert here["seconds"] is not None
    assert (there["prompts"], there["distinct"], there["note"]) == (prompts, prompts, ELSEWHERE)
    assert there["to_ask"] is there["tokens"] is there["seconds"] is None
    assert len(PartsProbe.read(tmp_path / "things", limit=1).prompts) == prompts
    for model in ("demo", "some/model"):
        unknown = found["assumptions", model]
        assert (unknown["prompts"], unknown["note"]) == (None, UNKNOWN)


def test_a_finished_run_has_nothing_to_ask(tmp_path: Path) -> None:
    """And a run whose answers are cached has only the rest."""
    file = written(tmp_path)
    tacit.suite(file, report=False, progress=False)
    plan = Suite(file, out=tmp_path / "runs", store=Store(tmp_path / ".tacit"))
    (found,) = estimates(plan)
    assert (found["to_ask"], found["note"]) == (0, FINISHED)
    (cached,) = estimates(Suite(file, out=tmp_path / "other", store=Store(tmp_path / ".tacit")))
    assert cached["to_ask"] == 0
    assert cached["prompts"]
