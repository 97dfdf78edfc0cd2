"""Trackers get the request, the block, the numbers and the report of each run."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from tacit.errors import RequestError, WorkError
from tacit.present import trackers
from tacit.runs.reading import read_run
from tacit.runs.run import Run
from tests.report.conftest import parts_run

REPORT = Path("report.html")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read_run(parts_run(tmp_path_factory.mktemp("run"), request={"limit": 2}))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    module = MagicMock(__spec__=ModuleSpec("fake", None, origin="fake"))
    for name in ("wandb", "trackio", "mlflow"):
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.delenv(f"{name.upper()}_PROJECT", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return module


def test_each_tracker_gets_the_numbers_of_metrics_json(
    run: Run, fake: MagicMock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As well as what it takes: notes, a page, an artefact; mlflow in the user's experiment."""
    values = {name: value for name, value in run.metrics.items() if value is not None}
    del values["parts/verdict"]
    trackers.check_tracker("wandb")
    trackers.log_runs("wandb", [run], REPORT)
    about = fake.init.call_args.kwargs
    assert about["project"] == "tacit"
    assert about["config"]["limit"] == 2
    assert run.block is not None
    assert about["notes"].startswith("\n\n".join(run.block.lines))
    made = fake.init.return_value.__enter__.return_value
    made.log.assert_called_once_with(values)
    assert made.log_artifact.call_args.args == ("report.html",)

    fake.init.side_effect = lambda **_: print("Project initialized")  # noqa: T201
    trackers.log_runs("trackio", [run], None)
    (logged,) = fake.log.call_args.args
    assert logged.pop("parts/block") is fake.Markdown.return_value
    assert logged == values
    fake.log_artifact.assert_not_called()
    fake.finish.assert_called_once_with()
    assert capsys.readouterr() == ("", "Project initialized\n")

    trackers.log_runs("mlflow", [run], REPORT)
    fake.set_experiment.assert_called_once_with("tacit")
    fake.log_metrics.assert_called_once_with(values)
    fake.log_artifact.assert_called_once_with("report.html")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    trackers.log_runs("mlflow", [run], REPORT)
    fake.set_experiment.assert_called_once()


def test_what_is_wrong_is_stated(
    run: Run, fake: MagicMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.start_run.side_effect = RuntimeError("no network")
    with pytest.raises(WorkError, match=r"--log mlflow: .* not logged \(RuntimeError: no network"):
        trackers.log_runs("mlflow", [run], REPORT)
    monkeypatch.setattr(trackers, "find_spec", lambda _: None)
    with pytest.raises(RequestError, match="--log wandb: wandb is not installed: pip install wand"):
        trackers.check_tracker("wandb")
