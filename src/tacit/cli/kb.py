"""``tacit kb``: import of knowledge bases, and extraction of the background facts of questions."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.options import declared, group
from tacit.english import several
from tacit.errors import DataError, RequestError
from tacit.knowledge.options import BackgroundOptions
from tacit.present import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.background import Background
    from tacit.sources.anchors import Anchor

app = group("Build a knowledge base, and extract from it the background facts of questions.")


@app.command("import")
def import_command(
    dumps: Annotated[
        list[Path],
        typer.Argument(
            help="Files of ConceptNet assertions or of tab-separated triples, optionally "
            "compressed with gzip, or JSONL or Parquet tables of triples."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File for the knowledge base.")],
    language: Annotated[
        str,
        typer.Option(help="Language of the concepts to import from ConceptNet assertions."),
    ] = "en",
    columns: Annotated[
        str | None,
        typer.Option(
            help="Order of the columns relation, head and tail in a file of tab-separated triples "
            "[default: the order of the header line, or relation,head,tail]."
        ),
    ] = None,
    source_version: Annotated[
        str | None,
        typer.Option(help="Version of the source, recorded in the knowledge base."),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of the source, recorded in the knowledge base."),
    ] = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Import ConceptNet 5.7 or files of plain triples as a knowledge base.

    The command writes the knowledge base to one DuckDB file. Commands that read the knowledge base
    need no network.

    Example: tacit kb import conceptnet-assertions-5.7.0.csv.gz --out conceptnet.kb
    """
    from tacit.knowledge.build import Source, build
    from tacit.outputs import Kind, check_outputs
    from tacit.sources.dumps import Dump

    for path in dumps:
        if path.is_dir():
            raise DataError("this is a folder: name its files, for example with *.tsv", path)
    order = () if columns is None else tuple(name.strip() for name in columns.split(","))
    files = [Dump(path, language, order) for path in dumps]
    check_outputs(dumps, [(out, Kind("a knowledge base", _is_base))], force=force)
    source = Source(files, language, source_version, licence)
    from tacit.knowledge.words import spare_torch

    spare_torch(None)
    with progress.reading(sum(path.stat().st_size for path in dumps)) as advance:
        build(source, out, advance)
    for dump in files:
        if dump.bad:
            sys.stderr.write(
                f"tacit: {dump.path}: skipped {dump.bad:,} of {several(dump.lines, 'line')} that "
                f"could not be read: {dump.bad_line_text()}\n"
            )
    _echo_about(out, as_json)


@app.command("info")
def info_command(base: given.KnowledgeBaseFile, as_json: given.AsJson = False) -> None:
    """Show the size, the relations and the source of a knowledge base.

    Example: tacit kb info conceptnet.kb
    """
    _echo_about(base, as_json)


@app.command("facts")
@declared()
def facts_command(
    *,
    base: given.KnowledgeBaseFile,
    question: Annotated[str, typer.Argument(help="The text of the question.")],
    choices: Annotated[list[str] | None, typer.Argument(help="The answer choices, if any.")] = None,
    extracted: BackgroundOptions,
    as_json: given.AsJson = False,
) -> None:
    """Show the background facts of one question.

    The command prints the question's concepts and the facts that connect these concepts. Each fact
    is printed with a negative: a false version of the fact, with a randomly drawn concept as the
    tail (second concept).

    Example: tacit kb facts conceptnet.kb "Are mountains tall?"
    """
    from tacit.knowledge.background import background
    from tacit.knowledge.base import KnowledgeBase

    texts = [question, *(choices or [])]
    if not all(text.strip() for text in texts):
        raise RequestError("the question or one of its choices is empty")
    if len(texts) == 2:  # noqa: PLR2004 - the question and one choice
        raise RequestError(
            "a question with choices requires at least two: give two or more choices, or none"
        )
    how = extracted.extraction()
    from tacit.knowledge.words import spare_torch

    spare_torch(extracted.tagger)
    with KnowledgeBase(base) as opened:
        found = background(opened, [texts], how)
    if as_json:
        typer.echo(json.dumps(_as_json(found)))
    else:
        _echo_facts(found)


@app.command("background")
@declared()
def background_command(
    *,
    base: given.KnowledgeBaseFile,
    questions: given.Questions,
    out: Annotated[Path, typer.Option(help="File for the facts: TSV, CSV, JSONL or Parquet.")],
    extracted: BackgroundOptions,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Extract the background facts of all questions, and write the facts to a file.

    For each question, the output file has one row per background fact of this question. The column
    "negative" contains a randomly drawn tail (second concept) that makes the fact false.

    Example: tacit kb background conceptnet.kb --questions dev.jsonl --out facts.tsv
    """
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_table

    columns = ("question", "head", "relation", "tail", "negative")
    kind = table_with("a table of background facts", *columns)
    check_outputs([base, questions], [(out, kind)], force=force)

    from tacit.knowledge.background import background
    from tacit.knowledge.base import KnowledgeBase
    from tacit.sources.anchors import read_anchors

    how = extracted.extraction()
    from tacit.knowledge.words import spare_torch

    spare_torch(extracted.tagger)
    anchors = read_anchors(questions)
    with KnowledgeBase(base) as opened:
        found = background(opened, [(a.question, *a.choices) for a in anchors], how)
    found.check_facts()
    write_table(_named(found.facts, anchors), out)
    summary = {**found.summary(), "extraction": how.to_json()}
    if as_json:
        typer.echo(json.dumps(summary))
        return
    typer.echo(f"{_readable_background(summary)}\n")
    typer.echo(f"Written: {out}")


def _named(facts: pl.DataFrame, anchors: Sequence[Anchor]) -> pl.DataFrame:
    """Return the facts with each question's index replaced by the question's id."""
    import polars as pl

    ids = pl.Series("question", [anchor.id for anchor in anchors], pl.String)
    return facts.with_columns(ids.gather(facts["question"]))


def _as_json(found: Background) -> dict[str, Any]:
    """Return one question's background facts as plain values for JSON."""
    return {
        "concepts": found.concepts["concept"].to_list(),
        "facts": found.facts.drop("question").to_dicts(),
        "found": found.found["found"].item(),
        "counts": None if found.counts is None else asdict(found.counts),
    }


def _echo_facts(found: Background) -> None:
    """Print one question's concepts and background facts as text."""
    concepts = found.concepts["concept"].to_list()
    typer.echo(f"concepts: {', '.join(concepts) or 'none'}")
    facts = found.facts
    if facts.is_empty():
        typer.echo("facts: none between these concepts")
        return
    columns = ["head", "relation", "tail", "negative"]
    rows = [tuple(columns), *facts.select(columns).iter_rows()]
    cells = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
    typer.echo("")
    for row in cells:
        typer.echo("".join(map(str.ljust, row, widths)).rstrip())
    left_out = found.found["found"].item() - facts.height
    if left_out:
        typer.echo(f"and {left_out:,} more, left out by --cap")


def _is_base(path: Path) -> bool:
    """Return whether a file is a Tacit knowledge base, in any version of the format."""
    from tacit.knowledge.base import KnowledgeBase

    try:
        with KnowledgeBase(path):
            return True
    except DataError:
        return False
    except RequestError:  # an unsupported format version
        return True


def _echo_about(path: Path, as_json: bool) -> None:
    """Print the metadata of a knowledge base."""
    from tacit.knowledge.background import negatives_in_words
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.negatives import Draw, eligible

    with KnowledgeBase(path) as base:
        words, frequency_cap = eligible(base), Draw().frequent
        about = {
            **base.about,
            "eligible_negatives": words,
            "frequency_cap": frequency_cap,
            "negatives_beyond_cap": max(0, words - frequency_cap),
            "relations": dict(base.relations),
        }
    if as_json:
        typer.echo(json.dumps(about))
        return
    typer.echo(
        f"{path}: {several(about['facts'], 'fact')} between "
        f"{several(about['concepts'], 'concept')} "
        f"({words:,} of them dictionary words), {several(about['edges'], 'edge')}"
    )
    typer.echo(negatives_in_words(words, frequency_cap))
    typer.echo(f"version: {about['version'] or 'not given'}")
    typer.echo(f"licence: {about['licence'] or 'not given'}")
    for source in about["sources"]:
        order = f" with the columns {', '.join(source['columns'])}" if source["columns"] else ""
        typer.echo(
            f"from {source['file']} ({source['layout']}{order}, "
            f"{several(source['lines'], 'line')}, "
            f"{source['bad_lines']:,} unreadable), SHA-256 {source['sha256']}"
        )
    typer.echo("edges of each relation:")
    width = max(map(len, about["relations"]))
    for name, edges in about["relations"].items():
        typer.echo(f"{name:<{width}}{edges:>12,}")


def _readable_background(summary: dict[str, Any]) -> str:
    """Format a summary of questions' background facts as text."""
    from tacit.knowledge.background import counts_in_words

    per = summary["per_question"]
    spread = ", ".join(f"{name.replace('_', ' ')} {count:.0f}" for name, count in per.items())
    read = (
        f"{several(summary['questions'], 'question')}: {summary['with_facts']:,} with background "
        f"facts, {summary['without_facts']:,} without"
    )
    lines = [read, f"{several(summary['facts'], 'fact')}, {summary['distinct_facts']:,} distinct"]
    lines.append(f"facts per question with background facts: {spread}")
    lines += counts_in_words(summary)
    if summary["without_negative"]:
        facts = several(summary["without_negative"], "distinct fact has", "distinct facts have")
        lines.append(f"{facts} no possible negative")
    width = max(map(len, summary["relations"]), default=0)
    lines += ["", *(f"{name:<{width}}{n:>9,}" for name, n in summary["relations"].items())]
    return "\n".join(lines)
