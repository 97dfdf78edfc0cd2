"""``tacit run``: a probe, from its source to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options as given
from tacit.cli.background import BackgroundOptions
from tacit.cli.chat import Talking
from tacit.cli.engines import EngineOptions
from tacit.cli.group import group
from tacit.cli.models import ModelOptions, RefusedOptions, ServedOptions
from tacit.cli.spreading import spread
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.findings import Findings

app = group("Run a probe on a model.")


@app.command("parts")
@spread
def parts(
    *,
    drawings: given.Drawings,
    out: given.RunFolder,
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
    loaded: ModelOptions,
    served: ServedOptions,
    talked: Talking,
    asker: EngineOptions,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask how the parts of things relate; count the contradictions and repair them."""
    from tacit.cli import asking
    from tacit.cli.parts import PartsOptions, Sheet, take_beliefs
    from tacit.cli.running import Job, echo_estimates, folders_of
    from tacit.runs import Run

    models = model or []
    if bool(models) == (beliefs is not None):
        raise RequestError("give either --model, once or more, or --beliefs")
    if beliefs is not None and dry_run:
        raise RequestError("--dry-run is for models; beliefs are there already")
    loading = loaded.options(talked.options(served.options(), models))
    options = PartsOptions(drawings, things, limit, preset, prompt, number, nouns)
    probe = options.probe()
    sheet = Sheet.of(figures, palette, graphs, probe)
    about = {"data": options.digests()}
    request = {"probe": "parts", **options.request()}
    kept = asking.store_at(store)
    asker.check(models, loading)
    asked = {**loaded.request(), **served.request(), **talked.request()}
    folders = folders_of(models, out, {**request, **asked})
    job = Job(probe, folders, about, loading, kept, asker, talked.yes)
    if dry_run:
        echo_estimates(job.estimate(), as_json=as_json)
        return
    found = {}
    if beliefs is not None:
        folder = Run(out, {**request, "beliefs": str(beliefs)})
        found[out] = beliefs.name, take_beliefs(probe, beliefs, folder, about)
    found |= job.run()
    for place, (_, findings) in found.items():
        sheet.draw(findings, place / "figures")
    _echo(found, _compared(found, out), as_json=as_json)


@app.command("consistency")
@spread
def consistency(
    *,
    questions: given.Questions,
    kb: given.KnowledgeBaseFile,
    model: given.SomeModels,
    out: given.RunFolder,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions.")
    ] = None,
    background: BackgroundOptions,
    wording: given.FactWording = "paper",
    templates: given.TemplatesFile = None,
    answering: given.Answering = "max",
    meta: given.MetaPrompt = None,
    pair: given.WordPair = None,
    anchoring: given.Anchoring = "choice",
    figures: given.FigureFormats = None,
    palette: given.PaletteName = "house",
    loaded: ModelOptions,
    served: ServedOptions,
    talked: Talking,
    asker: EngineOptions,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask background facts and questions; does knowing the one predict answering the other?"""
    from tacit.cli import asking
    from tacit.cli.consistency import ConsistencyOptions, echo_found
    from tacit.cli.running import Job, echo_estimates, folders_of
    from tacit.probes.figures.charts import Look, check_formats

    formats = given.listed(figures)
    check_formats(formats)
    look = Look(palette)
    _ = look.colours  # refuses an unknown one
    loading = loaded.options(talked.options(served.options(), model))
    talked.check_choices(given.listed(anchoring))
    asker.check(model, loading)
    options = ConsistencyOptions(
        questions, kb, limit, background, wording, templates, answering, meta, pair, anchoring
    )
    asked = {**loaded.request(), **served.request(), **talked.request()}
    request = {"probe": "consistency", **options.request(), **asked}
    folders = folders_of(model, out, request)
    probe = options.probe()
    kept = asking.store_at(store)
    job = Job(probe, folders, {"data": options.digests()}, loading, kept, asker, talked.yes)
    if dry_run:
        echo_estimates(job.estimate(), as_json=as_json)
        return
    found = job.run()
    echo_found(found, out, formats, look, as_json=as_json)


@app.command("assumptions")
@spread
def assumptions(
    *,
    norms: given.NormsFile,
    model: given.SomeModels,
    out: given.RunFolder,
    corrections: given.Corrections = None,
    vocabulary: given.Candidates = "shared",
    wording: given.CausalWording = "blank-last",
    articles: given.ArticleRule = "fixed",
    orders: Annotated[
        str,
        typer.Option(help="all (also bottom, increasing and random), or main, which is quicker."),
    ] = "all",
    concepts: given.ConceptPreset = "paper",
    responses: given.ResponsePreset = "people",
    least: given.LeastProperties = 10,
    least_people: given.LeastPeople = 0,
    most_words: given.MostWords = None,
    limit: given.ConceptLimit = None,
    top: Annotated[
        int, typer.Option(min=1, help="How many of the best candidates are kept of each ranking.")
    ] = 20,
    seed: Annotated[int, typer.Option(help="Where the draws of the random baseline begin.")] = 0,
    figures: given.FigureFormats = None,
    palette: given.PaletteName = "house",
    loaded: ModelOptions,
    refused: RefusedOptions,
    asker: EngineOptions,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask for concepts by the properties people name, and for the properties of concepts."""
    from tacit.cli import asking
    from tacit.cli.assumptions import (
        AssumptionsJob,
        AssumptionsOptions,
        echo_found,
        probes_of,
    )
    from tacit.cli.background import spare_torch
    from tacit.cli.running import echo_estimates, folders_of
    from tacit.probes.figures.charts import Look, check_formats
    from tacit.sources.norms import read_norms

    formats = given.listed(figures)
    check_formats(formats)
    look = Look(palette)
    _ = look.colours  # refuses an unknown one
    loading = loaded.options()
    asking.check_ranks(model)
    refused.refuse()
    asker.check(model, loading)
    options = AssumptionsOptions(
        norms,
        corrections,
        vocabulary,
        wording,
        articles,
        orders,
        concepts,
        responses,
        least,
        least_people,
        most_words,
        limit,
        top,
        seed,
    )
    compared = {"compared": sorted(model)}  # whose words they share
    request = {"probe": "assumptions", **options.request(), **compared, **loaded.request()}
    folders = folders_of(model, out, request)
    spare_torch(None)
    choices, read = options.choices(), read_norms(norms)
    probes = probes_of(model, read, choices, loading)
    kept = asking.store_at(store)
    job = AssumptionsJob(probes, folders, {"data": options.digests()}, loading, kept, asker)
    if dry_run:
        echo_estimates(job.estimate(), as_json=as_json)
        return
    echo_found(job.run(), out, formats, look, as_json=as_json)


def _compared(found: Mapping[Path, tuple[str, Findings]], out: Path) -> pl.DataFrame | None:
    """How several models differ, written beside their runs; None for a single one."""
    from tacit.cli.obtained import warn_of_ways, ways_of, with_ways
    from tacit.probes.parts.compare import compare
    from tacit.tables import write_table

    if len(found) == 1:
        return None
    ways = ways_of(found)
    warn_of_ways("parts", ways)
    together = with_ways(compare(dict(found.values())), ("first", "second"), ways)
    write_table(together, out / "comparison.parquet")
    return together


def _echo(
    found: Mapping[Path, tuple[str, Findings]], together: pl.DataFrame | None, *, as_json: bool
) -> None:
    """Prints what each model showed and, of several, how they differ."""
    from tacit.cli.obtained import ways_of, ways_told
    from tacit.cli.parts_table import echo_comparison, echo_parts
    from tacit.cli.running import echo_json

    if as_json:
        echo_json(found, comparison=[] if together is None else together.to_dicts())
        return
    for folder, (name, findings) in found.items():
        echo_parts(findings.summary, name)
        typer.echo(f"Written: {folder}")
    if together is not None:
        echo_comparison(together)
        typer.echo(ways_told(ways_of(found)))
