"""Moments at which a run is killed, as its own process sees them.

A run has phases, each some functions of Tacit's. A moment is a phase, the how-manieth time it is
entered, and the how-manieth call since then, of Python's functions or of those it calls in C. So a
moment can be met again, on any machine, and lies anywhere: between two blocks, between a file's
last byte and its new name, in the middle of the bootstrap.
"""

import functools
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

PHASES = {
    "planning": ("tacit.engine.ask:Engine.plan", "tacit.engine.ask:Plan.record"),
    "scoring": ("tacit.models.huggingface.causal:CausalModel._compute",),
    "publishing a segment": ("tacit.engine.store:Store.append",),
    "measuring": ("tacit.probes.parts.probe:PartsProbe.measure",),
    "writing findings": ("tacit.runs.folder:RunFolder.finish",),
}
"""The functions that each phase is."""


@dataclass(frozen=True)
class Moment:
    """When a run is killed."""

    phase: str  # one of ``PHASES``
    entry: int  # the how-manieth time it is entered, from 1
    call: int  # the how-manieth call since, or its end; 0 is where half of a file is written

    def arm(self) -> None:
        """Has this process killed at the moment; it writes the moment down first."""
        entered = [0]  # of all functions of the phase together
        for place in PHASES[self.phase]:
            _replace(place, functools.partial(_armed, self, entered))


def count(file: Path) -> None:
    """Has this process write down a line for each phase that it leaves, with the calls it made."""
    for phase, places in PHASES.items():
        for place in places:
            _replace(place, functools.partial(_counted, phase, file))


def _replace(place: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    module, _, name = place.partition(":")
    owner, _, method = name.partition(".")
    kind = getattr(import_module(module), owner)
    setattr(kind, method, wrap(getattr(kind, method)))


def _counted(phase: str, file: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counting(*arguments: object, **named: object) -> object:
        calls = 0

        def called(_: object, event: str, __: object) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}

        sys.setprofile(called)
        try:
            return function(*arguments, **named)
        finally:
            sys.setprofile(None)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([phase, calls]) + "\n")

    return counting


def _armed(moment: Moment, entered: list[int], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def armed(*arguments: object, **named: object) -> object:
        entered[0] += 1
        if entered[0] != moment.entry:
            return function(*arguments, **named)
        if moment.call == 0:
            import_module("tacit.engine.storage").__dict__["_fill"] = functools.partial(
                _half, moment
            )
            return function(*arguments, **named)
        calls = 0

        def called(_: object, event: str, __: object) -> None:
            nonlocal calls
            calls += event in {"call", "c_call"}
            if calls >= moment.call:
                _kill(moment)

        sys.setprofile(called)
        function(*arguments, **named)
        _kill(moment)

    return armed


def _half(moment: Moment, file: Path, content: bytes) -> None:
    file.write_bytes(content[: len(content) // 2])
    _kill(moment)


def _kill(moment: Moment) -> NoReturn:
    handle = os.open("killed.json", os.O_WRONLY | os.O_CREAT)
    os.write(handle, json.dumps(asdict(moment)).encode())
    os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit  # never reached
