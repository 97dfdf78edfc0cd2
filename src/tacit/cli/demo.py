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
    from tacit.engine.store import Store
    from tacit.probes.findings import Findings
    from tacit.runs import Run


def demo(
    out: Annotated[Path, typer.Option(help="Where the runs and the report are put.")] = Path(
        "tacit-demo"
    ),
    force: Force = False,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the report in a browser.")
    ] = False,
) -> None:
    """Run all three probes on the bundled models and data, and write a report of it."""
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

    def found(self) -> dict[str, Findings]:
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

    def _parts(self) -> Findings:
        from tacit.cli.parts import PartsOptions
        from tacit.sources.demo import THINGS

        options = PartsOptions(THINGS, None, None, "plain", None, "paper", None)
        return self._ask("parts", options)

    def _consistency(self) -> Findings:
        from tacit.cli.background import BackgroundOptions, spare_torch
        from tacit.cli.consistency import ConsistencyOptions
        from tacit.knowledge.build import Source, build
        from tacit.sources.demo import FACTS, QUESTIONS
        from tacit.sources.dumps import Dump

        spare_torch(None)
        base = self.out / "knowledge.kb"
        if not base.is_file():
            build(Source([Dump(FACTS)]), base)
        return self._ask(
            "consistency", ConsistencyOptions(QUESTIONS, base, None, BackgroundOptions())
        )

    def assume(self, norms: Path) -> Findings:
        """What the assumptions probe finds of the causal model, asked of both.

        Args:
            norms: The norms.
        """
        from tacit.cli.assumptions import AssumptionsJob, AssumptionsOptions, probes_of
        from tacit.models.demo import DEMOS
        from tacit.models.loading import LoadOptions
        from tacit.sources.norms import read_norms

        options = AssumptionsOptions(norms, orders="main")
        loading = LoadOptions()
        probes = probes_of(DEMOS, read_norms(norms), options.choices(), loading)
        request = {"probe": "assumptions", **options.request()}
        folders = {
            name: _run(self.assumptions / name, {**request, "model": name}) for name in DEMOS
        }
        about = {"data": options.digests()}
        found = AssumptionsJob(probes, folders, about, loading, self._store).run()
        return found[self.assumptions / DEMOS[0]][1]

    def _ask(self, probe: str, options: Any) -> Findings:  # noqa: ANN401 - of either probe
        from tacit.cli.running import Job
        from tacit.models.demo import DEMO
        from tacit.models.loading import LoadOptions

        place = self.out / probe
        folder = _run(place, {"probe": probe, **options.request(), "model": DEMO})
        about = {"data": options.digests()}
        found = Job(options.probe(), {DEMO: folder}, about, LoadOptions(), self._store).run()
        return found[place][1]


def _run(folder: Path, request: dict[str, Any]) -> Run:
    """A run of the demo, anew where an earlier Tacit left one of other models or data."""
    from tacit.runs import Run

    if (folder / "run.yaml").is_file():
        (folder / "manifest.json").unlink(missing_ok=True)
    return Run(folder, request)


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
