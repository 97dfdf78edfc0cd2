"""The status of each run of a suite, which is stored in the file ``suite.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from tacit.files import SUITE, publish_text
from tacit.outputs import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from tacit.runs.suite.plan import Plan, PlannedRun

STATUS = "suite.json"
"""The name of the file that contains the status of a suite's runs."""

State: TypeAlias = Literal["waiting", "done", "failed", "skipped"]
"""The state of a run; ``skipped`` means not started because an earlier run failed."""


def _is_own(path: Path) -> bool:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"format", "suite", "runs"} <= set(content)


KIND = Kind("the status of a suite", _is_own)


@dataclass
class Status:
    """The status of all runs of a suite; each change is written to ``suite.json``."""

    plan: Plan
    states: dict[tuple[str, str], State]
    errors: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the initial status of a suite, in which every run is waiting."""
        return cls(plan, {_key(run): "waiting" for run in plan.runs})

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Mark all waiting runs as ``skipped``, unless an error ended the ``with`` block."""
        if kind is None:
            left = [key for key, state in self.states.items() if state == "waiting"]
            self.states |= dict.fromkeys(left, "skipped")
            self._write()

    def waits(self, run: PlannedRun) -> bool:
        """Return whether the state of a run is ``waiting``."""
        return self.states[_key(run)] == "waiting"

    def is_done(self, run: PlannedRun) -> bool:
        """Return whether a run is finished."""
        return self.states[_key(run)] == "done"

    @property
    def failed(self) -> Mapping[tuple[str, str], str]:
        """The error message of each failed run, by the pair of run name and model name."""
        return dict(self.errors)

    @property
    def skipped(self) -> Sequence[tuple[str, str]]:
        """A pair of run name and model name for each skipped run."""
        return [key for key, state in self.states.items() if state == "skipped"]

    def done(self, run: PlannedRun) -> None:
        """Record that a run is finished."""
        self.states[_key(run)] = "done"
        self._write()

    def fail(self, run: PlannedRun, error: str) -> None:
        """Record that a run failed."""
        self.states[_key(run)] = "failed"
        self.errors[_key(run)] = error
        self._write()

    def _write(self) -> None:
        if self.plan.out is None:
            return
        content = {"format": SUITE, "suite": str(self.plan.file.path), "runs": self.to_json()}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        publish_text(self.plan.out / STATUS, text + "\n")

    def to_json(self) -> list[dict[str, Any]]:
        """Return one entry per run: its name, probe, model, folder, status and error."""
        return [
            {
                "run": run.name,
                "probe": run.request.probe,
                "model": run.model,
                "folder": _relative(run.folder, self.plan.out),
                "status": self.states[_key(run)],
                "error": self.errors.get(_key(run)),
            }
            for run in self.plan.runs
        ]


def _key(run: PlannedRun) -> tuple[str, str]:
    return run.name, run.model


def _relative(folder: Path | None, out: Path | None) -> str | None:
    return folder.relative_to(out).as_posix() if folder and out else None
