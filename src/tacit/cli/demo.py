"""``tacit demo``: all three probes at work, with nothing to fetch."""

from __future__ import annotations

import os
import sys
import webbrowser
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Force

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.engine.store import Store
    from tacit.runs.reading import Run


def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", "--output", help="Where the runs and the report are put."),
    ] = Path("tacit-demo"),
    force: Force = False,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the report in a browser.")
    ] = False,
) -> None:
    """Run all three probes on the bundled models and data, and write a report of it.

    Example: tacit demo
    """
    from tacit.cli.demo_told import told
    from tacit.outputs import check_outputs
    from tacit.report.writing import page_kind, write_report

    report = out / "report.html"
    check_outputs([], [(report, page_kind("report"))], force=force)
    runs = Runs(out)
    found = runs.found()
    write_report([runs.parts, runs.consistency, runs.assumptions], report)
    for line in told(found):
        typer.echo(line)
    typer.echo(f"Report: {report}")
    if not no_open and _has_display():
        webbrowser.open(report.resolve().as_uri())


@dataclass(frozen=True)
class Runs:
    """The demo's runs.

    Args:
        out: The folder that holds them, with the store and the knowledge base.
    """

    out: Path

    @property
    def parts(self) -> Path:
        """The run of the parts probe."""
        return self.out / "parts"

    @property
    def consistency(self) -> Path:
        """The run of the consistency probe."""
        return self.out / "consistency"

    @property
    def assumptions(self) -> Path:
        """The folder of the runs of the assumptions probe."""
        return self.out / "assumptions"

    @cached_property
    def _store(self) -> Store:
        from tacit.engine.store import Store

        return Store(self.out / "store")

    def found(self) -> dict[str, Run]:
        """What each probe finds of the causal model, by the probe's name.

        One probe and the charts' runtime are made on the second core meanwhile.
        """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        from tacit.sources.demo import NORMS

        with ProcessPoolExecutor(1, get_context("spawn"), _silent) as beside:
            beside.submit(_bundle)
            assumptions = beside.submit(self.assume, NORMS)
            return {
                "parts": self._parts(),
                "consistency": self._consistency(),
                "assumptions": assumptions.result(),
            }

    def _parts(self) -> Run:
        from tacit.probes.parts.options import PartsOptions
        from tacit.sources.demo import THINGS

        return self._run("parts", PartsOptions(THINGS), self.parts)

    def _consistency(self) -> Run:
        from tacit.knowledge.build import Source, build
        from tacit.knowledge.words import spare_torch
        from tacit.probes.consistency.options import ConsistencyOptions
        from tacit.sources.demo import FACTS, QUESTIONS
        from tacit.sources.dumps import Dump

        spare_torch(None)
        base = self.out / "knowledge.kb"
        if not base.is_file():
            build(Source([Dump(FACTS)]), base)
        return self._run("consistency", ConsistencyOptions(QUESTIONS, base), self.consistency)

    def assume(self, norms: Path) -> Run:
        """What the assumptions probe finds of the causal model, asked of both.

        Args:
            norms: The norms.
        """
        from tacit.models.demo import DEMOS
        from tacit.probes.assumptions.options import AssumptionsOptions

        options = AssumptionsOptions(norms, orders="main")
        return self._run("assumptions", options, self.assumptions, DEMOS)

    def _run(
        self,
        probe: str,
        options: Any,  # noqa: ANN401 - of any probe
        out: Path,
        models: Sequence[str] = (),
    ) -> Run:
        """The run of the causal model; anew where an earlier one is of other models or data."""
        from tacit.models.demo import DEMO
        from tacit.present.reporter import Terminal
        from tacit.runs.workflow import RunRequest

        for manifest in (out / "manifest.json", *out.glob("*/manifest.json")):
            manifest.unlink(missing_ok=True)
        names = tuple(models) or (DEMO,)
        request = RunRequest(probe, options, names, out=out, store=self._store, reporter=Terminal())
        return request.run()[names[0]]


def _silent() -> None:
    """Keeps what a process says to itself; what fails is told by the one that waits for it."""
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to its end


def _bundle() -> None:
    """Makes the charts' runtime for the report, which takes seconds the first time."""
    from tacit.report.runtime import runtime

    runtime()


def _has_display() -> bool:
    """Whether a browser could be seen here."""
    if sys.platform.startswith(("win", "darwin")):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
