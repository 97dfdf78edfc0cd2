# ruff: noqa: INP001 - a script of the site, not a package
"""Fill the pages of the site that are generated from the code; a hook of ``mkdocs.yml``.

The generated text of a page replaces the line ``MARKER`` and what follows it, which only readers of
the repository see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Any

import typer
import typer.core

import tacit
from tacit.cli import app
from tacit.cli.options import WHOLE_HELP
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.coherence.relation import Relation
from tacit.findings.findings import SHARED
from tacit.findings.spec import Column, TableSpec
from tacit.options import declarations, python_names
from tacit.probes.base import declared_tables, title_of
from tacit.probes.registry import BUILT_IN, probe
from tacit.report.writing import glossary
from tacit.sources.registry import Source, registry

MARKER = "<!-- generated when the site is built -->"
PUBLIC_NAMES = {
    "Run a probe": (
        *("run", "suite", "compare", "gate", "load_run", "Run", "Runs", "Gate", "demo_data"),
        "TrainerCallback",
        "marks_by",
    ),
    "Check and repair beliefs": ("check", "repair", "enrich", "Check", "Repaired"),
    "Ontologies and drawings": ("Ontology", "Relation", "Drawing", "read_drawings"),
    "Knowledge bases": ("build_kb",),
    "Models": (
        *("load_model", "LoadOptions", "ServerOptions", "LanguageModel", "FakeModel", "Engine"),
        "Store",
    ),
    "Requests and answers": (
        *("Prompt", "Scores", "AnswerScore", "RankingPrompt", "Vocabulary", "Ranking"),
        *("Standing", "SamplingPrompt", "Samples", "Sample", "Votes"),
    ),
    "Write a probe": (
        *("Probe", "Requests", "Answers", "Findings", "TableSpec", "Column", "Layout", "Details"),
        *("Headline", "FigureSpec", "figure", "option", "template", "read_table", "Block"),
        *("ShareProbe", "share", "Shown"),
    ),
    "Errors": ("TacitError",),
}


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:  # noqa: ANN401 - of mkdocs
    """Return the Markdown of a page, with its generated part."""
    written, marker, _ = markdown.partition(MARKER)
    return written + "\n".join(PAGES[page.file.src_uri]()) + "\n" if marker else markdown


def commands() -> Iterator[str]:
    """The help of every command."""
    root = typer.main.get_command(app)
    return _help(root, typer.Context(root, info_name="tacit", **root.context_settings))


def _help(command: Any, context: Any) -> Iterator[str]:  # noqa: ANN401 - Typer's types
    context.meta[WHOLE_HELP] = True
    yield f"## {context.command_path}\n"
    yield f"```text\n{command.get_help(context)}\n```\n"
    if not isinstance(command, typer.core.TyperGroup):
        return
    for name in command.list_commands(context):  # probes are commands that no one registered
        below = command.get_command(context, name)
        yield from _help(below, typer.Context(below, parent=context, info_name=name))


def public_names() -> Iterator[str]:
    """The public names in groups; mkdocstrings renders their docstrings."""
    listed = {name for names in PUBLIC_NAMES.values() for name in names}
    if missing := set(tacit.__all__) - listed - {"__version__"}:
        raise ValueError(f"in no group of the page: {', '.join(sorted(missing))}")
    for title, names in PUBLIC_NAMES.items():
        yield f"## {title}\n"
        for name in names:
            thing = getattr(tacit, name)
            yield f"### tacit.{name}\n\n::: {thing.__module__}.{thing.__qualname__}\n"
            if name.endswith("Options"):
                yield "\n".join(_own(thing)) + "\n"


def _own(kind: type) -> Iterator[str]:
    """The options of a dataclass with their help, without those of the dataclasses nested in it."""
    names = {one.name for one in fields(kind)}
    for name, about in declarations(kind).items():
        if name in names:
            yield f"- `{name}`: {python_names(about.help, kind)}"


def tables() -> Iterator[str]:
    """The tables of every probe, and those that all probes share."""
    for name in BUILT_IN:
        kind = probe(name)
        yield from _group(title_of(kind), list(declared_tables(kind).values()))
    yield from _group("Every probe", list(SHARED.values()))


def _group(title: str, specs: list[TableSpec]) -> Iterator[str]:
    times = Counter(_meaning(column) for spec in specs for column in spec.columns)
    shared = {line for line, n in times.items() if n > 1}
    yield f"## {title}\n"
    for spec in specs:
        yield from _table(spec, shared)
    if shared:
        yield f"### Columns of several tables: {title.lower()}\n"
        yield from _lines(sorted(shared))


def _table(spec: TableSpec, shared: Collection[str]) -> Iterator[str]:
    some = " Only some runs have this table." if spec.optional else ""
    names = [f"`{column.name}`" for column in spec.columns]
    names[: spec.keys] = [f"**{name}**" for name in names[: spec.keys]]
    further = ", and further columns of the file that was read" if spec.open else ""
    yield f"### {spec.name}\n"
    yield f"{spec.title}. {spec.reading}{some}\n".replace("|", "\\|")
    yield f"Columns: {', '.join(names)}{further}.\n"
    yield from _lines([line for line in map(_meaning, spec.columns) if line not in shared])


def _lines(rows: list[str]) -> Iterator[str]:
    if rows:
        yield "\n".join(["| column | kind | meaning |", "|---|---|---|", *rows, ""])


def _meaning(column: Column) -> str:
    ends = ", interval" if column.ends else ""
    some = ", some runs" if column.optional else ""
    meaning = (column.meaning or f"{column.heading.capitalize()}.").replace("|", "\\|")
    return f"| `{column.name}` | {column.kind}{ends}{some} | {meaning} |"


def terms() -> Iterator[str]:
    """The terms that reports explain."""
    return (f"**{name}**\n:   {term['meaning']}\n" for name, term in glossary().items())


def ontologies() -> Iterator[str]:
    """The relations of each ontology that Tacit ships."""
    for name in shipped_ontologies():
        yield f"## {name}\n"
        yield "| relation | as a statement | properties | inverse | implies | excludes |"
        yield "|---|---|---|---|---|---|"
        yield from map(_relation, Ontology.load(name).relations.values())
        yield ""


def _relation(relation: Relation) -> str:
    properties = {
        "symmetric": relation.symmetric,
        "asymmetric": relation.asymmetric,
        "transitive": relation.transitive,
        "irreflexive": relation.irreflexive and not relation.asymmetric,  # which includes it
        "functional": relation.functional,
        "inverse functional": relation.inverse_functional,
    }
    entries = (
        relation.name,
        relation.singular.format(subject="x", object="y"),
        ", ".join(name for name, holds in properties.items() if holds),
        relation.inverse or "",
        ", ".join(relation.implies),
        ", ".join(relation.excludes),
    )
    return f"| {' | '.join(entries)} |"


def data_sets() -> Iterator[str]:
    """The data sets that Tacit reads, by kind."""
    known = registry()
    yield "| source | what it is | licence |\n|---|---|---|"
    for source in known.sources.values():
        licence = source.licence or "unknown"
        yield f"| [{source.label}](#{source.name}) | {source.title} | {licence} |"
    for kind in known.kinds.values():
        yield f"\n## {kind.noun.capitalize()}\n"
        yield f"Tacit reads {kind.expected} ([layouts](../reference/{kind.reference}))."
        for source in known.of_kind(kind.name):
            yield from _source(source)


def _source(source: Source) -> Iterator[str]:
    yield f"\n### {source.name}\n\n{source.title}.\n"
    yield "| property | value |\n|---|---|"
    yield from (f"| {heading} | {text} |" for heading, text in source.facts().items())
    how = f"Fetch the files with `tacit get {source.name}`" if source.fetched else "By hand"
    yield f"\n{how}:\n"
    yield from (f"{number}. {step}" for number, step in enumerate(source.steps, 1))


PAGES = {
    "reference/cli.md": commands,
    "reference/python.md": public_names,
    "reference/tables.md": tables,
    "reference/glossary.md": terms,
    "reference/ontologies.md": ontologies,
    "how-to/get-the-data.md": data_sets,
}
