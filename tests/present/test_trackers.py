"""Trackers get the request, the block, the numbers and the report of each run."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

import tacit
from tacit.errors import RequestError, WorkError
from tacit.present import trackers
from tacit.runs.run import Run

REPORT = Path("report.html")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of the demo model."""
    asked: dict[str, Any] = {"drawings": tacit.demo_data("drawings"), "limit": 2, "fast": True}
    store = tmp_path_factory.mktemp("store")
    return tacit.run("parts", model="demo", store=store, progress=False, **asked)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Stands in for the package of any tracker."""
    module = MagicMock(__spec__=ModuleSpec("fake", None, origin="fake"))
    for name in ("wandb", "trackio", "mlflow"):
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.delenv(f"{name.upper()}_PROJECT", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return module


def numbers(run: Run) -> dict[str, float]:
    """The numbers of ``metrics.json``."""
    values = {name: value for name, value in run.metrics.items() if value is not None}
    del values["parts/verdict"]
    return values


def test_wandb(run: Run, fake: MagicMock) -> None:
    """A run with notes and an artefact."""
    trackers.check_tracker("wandb")
    trackers.log_runs("wandb", [run], REPORT)
    about = fake.init.call_args.kwargs
    assert about["project"] == "tacit"
    assert about["config"]["limit"] == 2
    assert run.block is not None
    assert about["notes"].startswith("\n\n".join(run.block.lines))
    made = fake.init.return_value.__enter__.return_value
    made.log.assert_called_once_with(numbers(run))
    assert made.log_artifact.call_args.args == ("report.html",)


def test_trackio(run: Run, fake: MagicMock, capsys: pytest.CaptureFixture[str]) -> None:
    """What it prints goes to standard error; no report, no artefact."""
    fake.init.side_effect = lambda **_: print("Project initialized")  # noqa: T201
    trackers.log_runs("trackio", [run], None)
    (logged,) = fake.log.call_args.args
    assert logged.pop("parts/block") is fake.Markdown.return_value
    assert logged == numbers(run)
    fake.log_artifact.assert_not_called()
    fake.finish.assert_called_once_with()
    assert capsys.readouterr() == ("", "Project initialized\n")


def test_mlflow(run: Run, fake: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's experiment is used if there is one."""
    trackers.log_runs("mlflow", [run], REPORT)
    fake.set_experiment.assert_called_once_with("tacit")
    fake.log_metrics.assert_called_once_with(numbers(run))
    fake.log_artifact.assert_called_once_with("report.html")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    trackers.log_runs("mlflow", [run], REPORT)
    fake.set_experiment.assert_called_once()


def test_what_is_wrong_is_stated(
    run: Run, fake: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tracker that fails, and one that is not installed."""
    fake.start_run.side_effect = RuntimeError("no network")
    with pytest.raises(WorkError, match=r"--log mlflow: .* not logged \(RuntimeError: no network"):
        trackers.log_runs("mlflow", [run], REPORT)
    monkeypatch.setattr(trackers, "find_spec", lambda _: None)
    with pytest.raises(RequestError, match="--log wandb: wandb is not installed: pip install wand"):
        trackers.check_tracker("wandb")
