"""``tacit run``: a probe, from its source to a run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.group import group
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.findings import Findings

app = group("Run a probe on a model.")


@app.command("parts")
def parts(
    drawings: given.Drawings,
    out: Annotated[
        Path, typer.Option(help="The run's folder; of several models, one in it for each.")
    ],
    model: given.ModelNames = None,
    beliefs: given.BeliefsFile = None,
    things: given.Things = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many drawings.")
    ] = None,
    preset: given.Preset = "plain",
    prompt: given.PromptFile = None,
    number: given.NumberPreset = "paper",
    nouns: given.NounsFile = None,
    figures: given.FigureFormats = None,
    palette: given.PaletteName = "house",
    graphs: given.Graphs = None,
    revision: given.Revision = None,
    dtype: given.Dtype = "auto",
    device: given.Device = "auto",
    batch_tokens: given.BatchTokens = None,
    masked_mode: given.MaskedMode = "left-to-right",
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask how the parts of things relate; count the contradictions and repair them."""
    from tacit.cli import asking
    from tacit.cli.parts import PartsOptions, Sheet, ask_a_model, folders_of, take_beliefs
    from tacit.engine.store import Store
    from tacit.runs import Run

    models = model or []
    if bool(models) == (beliefs is not None):
        raise RequestError("give either --model, once or more, or --beliefs")
    if beliefs is not None and dry_run:
        raise RequestError("--dry-run is for models; beliefs are there already")
    loading = asking.load_options(revision, dtype, device, batch_tokens, masked_mode)
    options = PartsOptions(drawings, things, limit, preset, prompt, number, nouns)
    probe = options.probe()
    sheet = Sheet.of(figures, palette, graphs, probe)
    about = {"data": options.digests()}
    request = {"probe": "parts", **options.request()}
    kept = Store(store) if store else Store.default()
    asking.check_places(models, loading)
    asked = {"revision": revision, "dtype": dtype, "masked_mode": masked_mode}
    folders = folders_of(models, out, {**request, **asked})
    if dry_run:
        _tell(
            {
                name: asking.estimate(
                    asking.engine_of(name, loading, kept), probe.prompts, folder.blocks
                )
                for name, folder in folders.items()
            },
            as_json=as_json,
        )
        return
    found = {}
    if beliefs is not None:
        folder = Run(out, {**request, "beliefs": str(beliefs)})
        found[out] = beliefs.name, take_beliefs(probe, beliefs, folder, about)
    for name, folder in folders.items():
        # The engine is not kept, so that one model at a time is in memory.
        found[folder.folder] = (
            name,
            ask_a_model(probe, asking.engine_of(name, loading, kept), folder, about),
        )
    for place, (_, findings) in found.items():
        sheet.draw(findings, place / "figures")
    _echo(found, _compared(found, out), as_json=as_json)


def _tell(estimates: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    """Prints what would be asked of each model."""
    from tacit.cli.asking import echo_estimate

    told = [{"model": name, **estimate} for name, estimate in estimates.items()]
    if as_json:
        typer.echo(json.dumps({"runs": told}))
        return
    for each in told:
        echo_estimate(each)


def _compared(found: Mapping[Path, tuple[str, Findings]], out: Path) -> pl.DataFrame | None:
    """How several models differ, written beside their runs; None for a single one."""
    from tacit.probes.parts.compare import compare
    from tacit.tables import write_table

    if len(found) == 1:
        return None
    together = compare(dict(found.values()))
    write_table(together, out / "comparison.parquet")
    return together


def _echo(
    found: Mapping[Path, tuple[str, Findings]], together: pl.DataFrame | None, *, as_json: bool
) -> None:
    """Prints what each model showed and, of several, how they differ."""
    from tacit.cli.parts_table import echo_comparison, echo_parts

    if as_json:
        runs = [
            {"model": name, "out": str(folder), **of.summary}
            for folder, (name, of) in found.items()
        ]
        rows = [] if together is None else together.to_dicts()
        typer.echo(json.dumps({"runs": runs, "comparison": rows}))
        return
    for folder, (name, findings) in found.items():
        echo_parts(findings.summary, name)
        typer.echo(f"Written: {folder}")
    if together is not None:
        echo_comparison(together)
