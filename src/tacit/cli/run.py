"""``tacit run``: a probe, from its source to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import chat as chatting
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
    revision: given.Revision = None,
    dtype: given.Dtype = "auto",
    device: given.Device = "auto",
    batch_tokens: given.BatchTokens = None,
    masked_mode: given.MaskedMode = "left-to-right",
    no_packing: given.NoPacking = False,
    trust_remote_code: given.TrustRemoteCode = False,
    allow_pickle: given.AllowPickle = False,
    adapter: given.Adapter = None,
    device_map: given.DeviceMap = None,
    chat: chatting.Chat = False,
    served_model: given.ServedModel = None,
    tokenizer: given.TokenizerPath = None,
    concurrency: given.Concurrency = 8,
    timeout: given.Timeout = None,
    api: chatting.Api = "completions",
    samples: chatting.Samples = None,
    thinking_tokens: chatting.ThinkingTokens = None,
    yes: chatting.Yes = False,
    engine: given.EngineName = "local",
    address: given.ClusterAddress = None,
    workers: given.Workers = None,
    gpus_per_worker: given.GpusPerWorker = None,
    threads: given.Threads = None,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask how the parts of things relate; count the contradictions and repair them."""
    from tacit.cli import asking
    from tacit.cli.engines import EngineOptions
    from tacit.cli.parts import PartsOptions, Sheet, take_beliefs
    from tacit.cli.running import Job, echo_estimates, folders_of
    from tacit.runs import Run

    models = model or []
    if bool(models) == (beliefs is not None):
        raise RequestError("give either --model, once or more, or --beliefs")
    if beliefs is not None and dry_run:
        raise RequestError("--dry-run is for models; beliefs are there already")
    talking = chatting.Talking(api, samples, thinking_tokens, yes)
    server = asking.server_options(served_model, tokenizer, concurrency, timeout)
    server = talking.options(server, models)
    trust = asking.trust_in(trust_remote_code=trust_remote_code, allow_pickle=allow_pickle)
    loading = asking.load_options(
        revision,
        dtype,
        device,
        batch_tokens,
        masked_mode,
        no_packing,
        server,
        chat,
        trust=trust,
        adapter=adapter,
        device_map=device_map,
    )
    options = PartsOptions(drawings, things, limit, preset, prompt, number, nouns)
    probe = options.probe()
    sheet = Sheet.of(figures, palette, graphs, probe)
    about = {"data": options.digests()}
    request = {"probe": "parts", **options.request()}
    kept = asking.store_at(store)
    asker = EngineOptions(engine, address, workers, gpus_per_worker, threads)
    asker.check(models, loading)
    asked = {"revision": revision, "dtype": dtype, "masked_mode": masked_mode}
    asked |= asking.server_request(served_model, tokenizer) | chatting.local_request(chat, adapter)
    asked |= talking.request()
    folders = folders_of(models, out, {**request, **asked})
    job = Job(probe, folders, about, loading, kept, asker, yes)
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
def consistency(
    questions: given.Questions,
    kb: given.KnowledgeBaseFile,
    model: given.SomeModels,
    out: given.RunFolder,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many questions.")
    ] = None,
    version: given.WordsVersion = "review-lexicon",
    tagger: given.Tagger = None,
    overlap: given.OverlapRule = "all-words",
    relations: given.Relations = None,
    length: given.PathLength = 1,
    cap: given.FactCap = None,
    seed: given.NegativeSeed = 0,
    frequent: given.FrequentWords = 10_000,
    wording: given.FactWording = "paper",
    templates: given.TemplatesFile = None,
    answering: given.Answering = "max",
    meta: given.MetaPrompt = None,
    pair: given.WordPair = None,
    anchoring: given.Anchoring = "choice",
    figures: given.FigureFormats = None,
    palette: given.PaletteName = "house",
    revision: given.Revision = None,
    dtype: given.Dtype = "auto",
    device: given.Device = "auto",
    batch_tokens: given.BatchTokens = None,
    masked_mode: given.MaskedMode = "left-to-right",
    no_packing: given.NoPacking = False,
    trust_remote_code: given.TrustRemoteCode = False,
    allow_pickle: given.AllowPickle = False,
    adapter: given.Adapter = None,
    device_map: given.DeviceMap = None,
    chat: chatting.Chat = False,
    served_model: given.ServedModel = None,
    tokenizer: given.TokenizerPath = None,
    concurrency: given.Concurrency = 8,
    timeout: given.Timeout = None,
    api: chatting.Api = "completions",
    samples: chatting.Samples = None,
    thinking_tokens: chatting.ThinkingTokens = None,
    yes: chatting.Yes = False,
    engine: given.EngineName = "local",
    address: given.ClusterAddress = None,
    workers: given.Workers = None,
    gpus_per_worker: given.GpusPerWorker = None,
    threads: given.Threads = None,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    as_json: given.AsJson = False,
) -> None:
    """Ask background facts and questions; does knowing the one predict answering the other?"""
    from tacit.cli import asking
    from tacit.cli.background import BackgroundOptions
    from tacit.cli.consistency import ConsistencyOptions, echo_found
    from tacit.cli.engines import EngineOptions
    from tacit.cli.running import Job, echo_estimates, folders_of
    from tacit.probes.figures.charts import Look, check_formats

    formats = given.listed(figures)
    check_formats(formats)
    look = Look(palette)
    _ = look.colours  # refuses an unknown one
    talking = chatting.Talking(api, samples, thinking_tokens, yes)
    server = asking.server_options(served_model, tokenizer, concurrency, timeout)
    server = talking.options(server, model)
    talking.check_choices(given.listed(anchoring))
    trust = asking.trust_in(trust_remote_code=trust_remote_code, allow_pickle=allow_pickle)
    loading = asking.load_options(
        revision,
        dtype,
        device,
        batch_tokens,
        masked_mode,
        no_packing,
        server,
        chat,
        trust=trust,
        adapter=adapter,
        device_map=device_map,
    )
    asker = EngineOptions(engine, address, workers, gpus_per_worker, threads)
    asker.check(model, loading)
    background = BackgroundOptions(version, tagger, overlap, relations, length, cap, seed, frequent)
    options = ConsistencyOptions(
        questions, kb, limit, background, wording, templates, answering, meta, pair, anchoring
    )
    asked = {"revision": revision, "dtype": dtype, "masked_mode": masked_mode}
    asked |= asking.server_request(served_model, tokenizer) | chatting.local_request(chat, adapter)
    asked |= talking.request()
    request = {"probe": "consistency", **options.request(), **asked}
    folders = folders_of(model, out, request)
    probe = options.probe()
    kept = asking.store_at(store)
    job = Job(probe, folders, {"data": options.digests()}, loading, kept, asker, yes)
    if dry_run:
        echo_estimates(job.estimate(), as_json=as_json)
        return
    found = job.run()
    echo_found(found, out, formats, look, as_json=as_json)


@app.command("assumptions")
def assumptions(
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
    no_tagged: given.NoTagged = False,
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
    revision: given.Revision = None,
    dtype: given.Dtype = "auto",
    device: given.Device = "auto",
    batch_tokens: given.BatchTokens = None,
    masked_mode: given.MaskedMode = "left-to-right",
    no_packing: given.NoPacking = False,
    trust_remote_code: given.TrustRemoteCode = False,
    allow_pickle: given.AllowPickle = False,
    adapter: given.Adapter = None,
    device_map: given.DeviceMap = None,
    chat: chatting.Chat = False,
    engine: given.EngineName = "local",
    address: given.ClusterAddress = None,
    workers: given.Workers = None,
    gpus_per_worker: given.GpusPerWorker = None,
    threads: given.Threads = None,
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
    from tacit.cli.engines import EngineOptions
    from tacit.cli.running import echo_estimates, folders_of
    from tacit.probes.figures.charts import Look, check_formats
    from tacit.sources.norms import read_norms

    formats = given.listed(figures)
    check_formats(formats)
    look = Look(palette)
    _ = look.colours  # refuses an unknown one
    trust = asking.trust_in(trust_remote_code=trust_remote_code, allow_pickle=allow_pickle)
    loading = asking.load_options(
        revision,
        dtype,
        device,
        batch_tokens,
        masked_mode,
        no_packing,
        chat=chat,
        trust=trust,
        adapter=adapter,
        device_map=device_map,
    )
    asking.check_ranks(model)
    asker = EngineOptions(engine, address, workers, gpus_per_worker, threads)
    asker.check(model, loading)
    options = AssumptionsOptions(
        norms,
        corrections,
        vocabulary,
        wording,
        articles,
        orders,
        not no_tagged,
        least,
        least_people,
        most_words,
        limit,
        top,
        seed,
    )
    asked = {"revision": revision, "dtype": dtype, "masked_mode": masked_mode}
    asked |= chatting.local_request(chat, adapter)
    compared = {"compared": sorted(model)}  # whose words they share
    request = {"probe": "assumptions", **options.request(), **compared, **asked}
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
    from tacit.cli.running import echo_json

    if as_json:
        echo_json(found, comparison=[] if together is None else together.to_dicts())
        return
    for folder, (name, findings) in found.items():
        echo_parts(findings.summary, name)
        typer.echo(f"Written: {folder}")
    if together is not None:
        echo_comparison(together)
