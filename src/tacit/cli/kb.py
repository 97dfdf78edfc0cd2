"""``tacit kb``: import of knowledge bases, and extraction of the background facts of questions."""

from __future__ import annotations

import json
import sys
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
    from tacit.knowledge.background import Background

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
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.knowledge.words import spare_torch
    from tacit.outputs import OutputKind, check_outputs
    from tacit.sources.dumps import Dump

    for path in dumps:
        if path.is_dir():
            raise DataError("this is a folder: name its files, for example with *.tsv", path)
    order = () if columns is None else tuple(name.strip() for name in columns.split(","))
    files = [Dump(path, language, order) for path in dumps]
    check_outputs(dumps, [(out, OutputKind("a knowledge base", _is_base))], force=force)
    source = KnowledgeSource(files, source_version, licence)
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
@declared(short=False)
def facts_command(
    *,
    base: given.KnowledgeBaseFile,
    question: Annotated[str | None, typer.Argument(help="The text of one question.")] = None,
    choices: Annotated[
        list[str] | None, typer.Argument(help="The answer choices of the question, if any.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="Instead of one question: a file of multiple-choice questions."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for the facts: TSV, CSV, JSONL or Parquet.")
    ] = None,
    extracted: BackgroundOptions,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Show the background facts of one question, or extract those of a file of questions.

    The background facts are the facts that connect the question's concepts. Each fact has a
    negative: a false version of the fact, with a randomly drawn concept as the tail (second
    concept).

    Example: tacit kb facts conceptnet.kb "Are mountains tall?"

    Example: tacit kb facts conceptnet.kb --questions dev.jsonl --out facts.tsv
    """
    from tacit.knowledge.background import background as extract
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.words import spare_torch
    from tacit.outputs import check_outputs, table_with
    from tacit.tables import write_table

    kind = table_with("a table of background facts", "anchor", *_FACT)
    inputs = [base] if questions is None else [base, questions]
    check_outputs(inputs, [(out, kind)], force=force)
    texts = _texts(question, choices or [], questions)
    spare_torch(extracted.tagger)
    with KnowledgeBase(base) as opened:
        background = extract(opened, list(texts.values()), extracted)
    if questions is not None:
        background.check_facts()
    if out is not None:
        write_table(background.named(list(texts)), out)
    if questions is None:
        _echo_facts(background, as_json)
    else:
        _echo_summary({**background.summary(), "extraction": extracted.to_json()}, as_json)
    if out is not None and not as_json:
        typer.echo(f"Written: {out}")


_FACT = ("head", "relation", "tail", "negative")


def _texts(
    question: str | None, choices: list[str], questions: Path | None
) -> dict[str, tuple[str, ...]]:
    """Return the question and choices of each question to extract facts for, by its id."""
    from tacit.sources.questions import read_anchors

    if (question is None) == (questions is None):
        raise RequestError("give either a question or a file of questions (--questions)")
    if questions is not None:
        return {anchor.id: (anchor.question, *anchor.choices) for anchor in read_anchors(questions)}
    if not question or not all(text.strip() for text in (question, *choices)):
        raise RequestError("the question or one of its choices is empty")
    if len(choices) == 1:
        raise RequestError(
            "a question with choices requires at least two: give two or more choices, or none"
        )
    return {"1": (question, *choices)}


def _echo_facts(background: Background, as_json: bool) -> None:
    from tacit.present.tables import print_rows

    concepts, facts = background.concepts["concept"].to_list(), background.facts.drop("anchor")
    number = background.found["found"].item()
    if as_json:
        about = {"concepts": concepts, "facts": facts.to_dicts(), "found": number}
        typer.echo(json.dumps({**about, "counts": background.counts}))
        return
    typer.echo(f"concepts: {', '.join(concepts) or 'none'}")
    print_rows(f"{several(number, 'background fact')}", facts.select(_FACT), most=None)
    if number > facts.height:
        typer.echo(f"and {number - facts.height:,} more, left out by --cap")


def _echo_summary(summary: dict[str, Any], as_json: bool) -> None:
    """Print a summary: plain values as lines, and the number of each relation as a table."""
    import polars as pl

    from tacit.present.tables import print_rows

    if as_json:
        typer.echo(json.dumps(summary))
        return
    relations = summary.pop("relations")
    for name, value in summary.items():
        typer.echo(f"{name.replace('_', ' ')}: {_readable(value)}")
    rows = {"relation": list(relations), "number": list(relations.values())}
    print_rows("", pl.DataFrame(rows, {"relation": pl.String, "number": pl.Int64}), most=None)


def _readable(value: Any) -> str:  # noqa: ANN401 - any value of a summary
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_readable(of)}" for name, of in value.items())
    if isinstance(value, list):
        return "; ".join(map(_readable, value))
    if value is None:
        return "none"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


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
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.options import FREQUENT

    with KnowledgeBase(path) as base:
        about = {
            **base.about,
            **base.eligible_negatives(FREQUENT),
            "relations": dict(base.relations),
        }
    _echo_summary(about, as_json)
