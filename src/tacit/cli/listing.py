"""``tacit list``: the names that commands and options accept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import get_args

import typer

from tacit.cli.options import AsJson
from tacit.options import declarations
from tacit.probes.registry import probe, probes
from tacit.sources.registry import Source, registry


def list_names(as_json: AsJson = False) -> None:
    """List the probes, models, presets, ontologies, suites, templates and data sets by name.

    Example: tacit list
    """
    by_heading = _names()
    if as_json:
        typer.echo(
            json.dumps({heading.split()[0].lower(): names for heading, names in by_heading.items()})
        )
        return
    width = max(len(name) for names in by_heading.values() for name in names) + 2
    for heading, names in by_heading.items():
        typer.echo(f"{heading}:")
        for name, about in names.items():
            typer.echo(f"  {name:<{width}}{about}")


def _names() -> Mapping[str, Mapping[str, str]]:
    from tacit.coherence.ontology import Ontology, shipped_ontologies
    from tacit.models.openai.roads import ROADS
    from tacit.models.registry import LOGS, schemes
    from tacit.runs.suite.file import Suite

    kinds = {name: probe(name) for name in probes()}
    options = {name: declarations(kind.Options) for name, kind in kinds.items()}
    templates = Path(str(resources.files("tacit"))) / "data" / "templates"
    return {
        "Probes (tacit run PROBE)": {name: kind.summary for name, kind in kinds.items()},
        "Models (--model MODEL)": {
            "demo, demo-masked": "bundled with Tacit",
            "ORG/NAME": "on the Hugging Face hub",
            "FOLDER, FILE.gguf": "on this machine",
            "http://HOST/v1": "behind a server",
            **{f"{one}:NAME": LOGS.get(one, "of an installed back-end") for one in schemes()},
        },
        "Roads of elicitation from servers (--elicitation ROAD)": {
            road.name: f"{road.about} (--api {road.api})" for road in ROADS
        },
        "Presets of prompts (--preset PRESET)": {
            name: ", ".join(get_args(known["preset"].kind))
            for name, known in options.items()
            if "preset" in known
        },
        "Ontologies (--ontology ONTOLOGY)": {
            name: ", ".join(Ontology.load(name).relations) for name in shipped_ontologies()
        },
        "Suites (tacit suite SUITE)": dict.fromkeys(
            Suite.SHIPPED, "shown by tacit suite SUITE --print"
        ),
        "Templates (to copy for --prompt or --templates)": {
            path.name: str(path) for path in templates.glob("*.yaml") if path.stem in kinds
        },
        "Data sets (tacit get SOURCE)": {
            name: _about(source) for name, source in registry().sources.items()
        },
    }


def _about(source: Source) -> str:
    from rich.filesize import decimal

    from tacit.sources.fetching import is_fetched

    state = f"to fetch, {decimal(source.size)}" if source.size else "to fetch"
    if not source.fetched:
        state = source.condition or "by hand"
    return f"{source.title} ({'fetched' if is_fetched(source) else state})"
