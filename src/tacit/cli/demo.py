"""``tacit demo``: the probes at work, with nothing to fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Where the run's folder is put.")] = Path("tacit-demo"),
) -> None:
    """Run the parts probe on the bundled drawings, with a small model of random weights."""
    from tacit.cli import asking
    from tacit.cli.parts_table import echo_parts
    from tacit.cli.running import ask_a_model
    from tacit.engine.store import Store
    from tacit.models.loading import DEMO, LoadOptions
    from tacit.probes.parts.probe import PartsProbe
    from tacit.runs import Run
    from tacit.sources.drawings import demo_drawings

    probe = PartsProbe.read(demo_drawings())
    folder = Run(out / "parts", {"probe": "parts", "model": DEMO, "drawings": DEMO})
    # The demo's model is built anew, so that an earlier run may have been of another.
    (folder.folder / "manifest.json").unlink(missing_ok=True)
    store = Store(out / "store")
    engine = asking.engine_of(DEMO, LoadOptions(), store)
    findings = ask_a_model(probe, engine, folder, {"data": DEMO})
    typer.echo(
        "The demo's model is built on the spot and its weights are random: what follows shows how\n"
        "Tacit works, and nothing about what a language model knows.\n"
    )
    echo_parts(findings.summary, "demo (random weights)")
    typer.echo(f"Written: {folder.folder}")
