"""Log finished runs to an experiment tracker: W&B, trackio or MLflow."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from tacit.errors import RequestError, WorkError
from tacit.runs.metrics import numbers_in
from tacit.runs.run import Run

Tracker = Literal["wandb", "trackio", "mlflow"]
_PROJECT = "tacit"


def check_tracker(name: Tracker) -> None:
    """Raise an error if a tracker is not installed."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:  # a folder of this name is no package
        raise RequestError(f"--log {name}: {name} is not installed: pip install {name}")


def log_runs(name: Tracker, runs: Iterable[Run], report: Path | None) -> None:
    """Log each run's request, block, main results and report as a run of a tracker."""
    try:
        with redirect_stdout(sys.stderr):
            for run in runs:
                _LOG[name](run, _text(run), numbers_in(run.metrics), report)
    except Exception as error:  # what a tracker raises is its own
        raise WorkError(
            f"--log {name}: the run is finished, but not logged ({type(error).__name__}: {error})"
        ) from error


def _text(run: Run) -> str:
    return "\n\n".join([*(run.block.lines if run.block else ()), *run.notes])


def _wandb(run: Run, text: str, numbers: Mapping[str, float], report: Path | None) -> None:
    import wandb

    project = os.environ.get("WANDB_PROJECT", _PROJECT)
    with wandb.init(project=project, name=run.name, notes=text, config=dict(run.request)) as made:
        made.log(dict(numbers))
        if report is not None:
            made.log_artifact(str(report), name=f"{made.id}-report", type="report")


def _trackio(run: Run, text: str, numbers: Mapping[str, float], report: Path | None) -> None:
    import trackio

    project = os.environ.get("TRACKIO_PROJECT", _PROJECT)
    trackio.init(project=project, name=run.name, config=dict(run.request))
    try:
        trackio.log({**numbers, f"{run.probe}/block": trackio.Markdown(text)})
        if report is not None:
            trackio.log_artifact(report, type="report")
    finally:
        trackio.finish()


def _mlflow(run: Run, text: str, numbers: Mapping[str, float], report: Path | None) -> None:
    import mlflow

    if "MLFLOW_EXPERIMENT_NAME" not in os.environ:
        mlflow.set_experiment(_PROJECT)
    with mlflow.start_run(run_name=run.name, description=text):
        mlflow.log_params(dict(run.request))
        mlflow.log_metrics(dict(numbers))
        if report is not None:
            mlflow.log_artifact(str(report))


_LOG: Mapping[Tracker, Callable[[Run, str, Mapping[str, float], Path | None], Any]] = {
    "wandb": _wandb,
    "trackio": _trackio,
    "mlflow": _mlflow,
}
