"""``tacit norms``: feature production norms, and the prompts that are made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli import options as given
from tacit.cli.group import group
from tacit.errors import DataError, RequestError

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.elicitation import Elicitation
    from tacit.probes.assumptions.filters import Chosen
    from tacit.probes.assumptions.properties import WordedNorms
    from tacit.sources.norms import Norms

app = group("Make prompts of the properties that people name of concepts.")

_LEAST = 10


@dataclass(frozen=True)
class _Retrieval:
    """The options of concept retrieval alone."""

    tagged: bool
    articles: Literal["fixed", "candidate"]
    vocabulary: Path | None
    least: int
    most_words: int | None


@app.command("prompts")
def prompts_command(
    norms: given.NormsFile,
    out: Annotated[Path, typer.Option(help="The prompts: TSV, CSV, JSONL or Parquet.")],
    elicitation: Annotated[
        bool, typer.Option("--elicitation", help="Ask for properties, not for concepts.")
    ] = False,
    wording: Annotated[
        Literal["sentence", "blank-last"],
        typer.Option(help="blank-last is for models that cannot see what follows the blank."),
    ] = "sentence",
    corrections: given.Corrections = None,
    least_people: given.LeastPeople = 0,
    limit: given.ConceptLimit = None,
    most_words: given.MostWords = None,
    least: given.LeastProperties = _LEAST,
    vocabulary: Annotated[
        Path | None, typer.Option(help="Retrieval: only these concepts; a word on each line.")
    ] = None,
    articles: given.ArticleRule = "fixed",
    no_tagged: given.NoTagged = False,
    no_preface: Annotated[
        bool, typer.Option("--no-preface", help='Elicitation: without "Everyone knows that".')
    ] = False,
    as_json: given.AsJson = False,
) -> None:
    """Write the prompts that norms make, and say how many each filter left out."""
    from tacit.tables import check_outputs

    files = [path for path in (norms, corrections, vocabulary) if path is not None]
    check_outputs(files, [out])
    options = _Retrieval(not no_tagged, articles, vocabulary, least, most_words)
    _check(options, elicitation=elicitation, no_preface=no_preface)

    from tacit.cli.background import spare_torch
    from tacit.probes.assumptions.corrections import read_corrections
    from tacit.probes.assumptions.elicitation import Phrasing, elicit
    from tacit.sources.norms import read_norms
    from tacit.tables import write_table

    spare_torch(None)
    read = read_norms(norms)
    own = read_corrections(corrections) if corrections else ()
    if elicitation:
        asked = elicit(read, Phrasing(not no_preface, wording), own, least_people)
        table, summary = _elicited(asked, read, limit)
    else:
        worded, chosen = _chosen(read, own, least_people, options)
        table, summary = _retrieved(worded, chosen, options, wording, limit)
    summary = {"norms": _about(read), **summary, **_unmatched(own, read), "prompts": table.height}
    write_table(table, out)
    typer.echo(json.dumps(summary) if as_json else f"{_readable(summary)}\n\nWritten: {out}")


def _check(options: _Retrieval, *, elicitation: bool, no_preface: bool) -> None:
    """Refuses options that would do nothing."""
    idle = {
        "--most-words": options.most_words is not None,
        "--least": options.least != _LEAST,
        "--vocabulary": options.vocabulary is not None,
        "--articles": options.articles != "fixed",
        "--no-tagged": not options.tagged,
    }
    named = [name for name, is_given in idle.items() if is_given]
    if elicitation and named:
        raise RequestError(f"{', '.join(named)} would do nothing with --elicitation: leave it out")
    if no_preface and not elicitation:
        raise RequestError("--no-preface would do nothing without --elicitation: leave it out")


def _chosen(
    norms: Norms, own: tuple[Correction, ...], least_people: int, options: _Retrieval
) -> tuple[WordedNorms, Chosen]:
    from tacit.probes.assumptions.filters import Filters, choose_concepts
    from tacit.probes.assumptions.properties import Limits, word_properties

    words = None if options.vocabulary is None else _words(options.vocabulary)
    worded = word_properties(norms, own, Limits(least_people, options.most_words))
    filters = Filters(options.tagged, options.articles, words, options.least)
    return worded, choose_concepts(worded, filters)


def _words(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    words = frozenset(line.strip() for line in lines if line.strip())
    if not words:
        raise DataError("is empty; expected a word on each line", path)
    return words


def _retrieved(
    worded: WordedNorms, chosen: Chosen, options: _Retrieval, wording: str, limit: int | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The prompts, and what the properties and the filters came to."""
    import polars as pl

    from tacit.probes.assumptions.retrieval import Asking, retrieval_prompts

    concepts = chosen.concepts[:limit]
    prompts = retrieval_prompts(concepts, Asking(wording, options.articles))
    table = pl.DataFrame(
        [(one.word, one.n, one.text) for one in prompts],
        {"concept": pl.String, "n": pl.Int64, "text": pl.String},
        orient="row",
    )
    summary = {
        "properties": {
            "usable": worded.usable,
            **worded.dropped,
            "corrected": worded.corrected,
            "worded by the feature": worded.from_feature,
        },
        "filters": [
            {"filter": step.name, "removed": len(step.removed), "left": step.left}
            for step in chosen.steps
        ],
        "concepts": len(concepts),
    }
    return table, summary


def _elicited(
    asked: Elicitation, norms: Norms, limit: int | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The prompts, and how many there are by relation, beside the paper's."""
    import polars as pl

    from tacit.probes.assumptions.templates import load_templates

    published = load_templates().published if norms.layout == "cslb" else {}
    kept = asked.limited(norms, limit).prompts
    rows = [
        (
            prompt.relation,
            prompt.concept,
            prompt.text,
            json.dumps({one.word: one.frequency for one in prompt.responses}, ensure_ascii=False),
        )
        for prompt in kept
    ]
    columns = ("relation", "concept", "text", "responses")
    summary = {
        "relations": {
            relation: {
                "prompts": count,
                "published": published.get(relation),
                "without": asked.without[relation],
            }
            for relation, count in asked.counts().items()
        },
        "plural": len(asked.plural),
        "concepts": len({prompt.concept for prompt in kept}),
    }
    return pl.DataFrame(rows, dict.fromkeys(columns, pl.String), orient="row"), summary


def _about(norms: Norms) -> dict[str, Any]:
    return {
        "layout": norms.layout,
        "rows": norms.rows,
        "properties": len(norms.properties),
        "concepts": len(norms.by_concept()),
        "skipped": dict(norms.skipped),
    }


def _unmatched(own: tuple[Correction, ...], norms: Norms) -> dict[str, Any]:
    from tacit.probes.assumptions.corrections import Corrections

    return {"unmatched_corrections": [one.shown for one in Corrections(norms, own).unmatched]}


def _readable(summary: dict[str, Any]) -> str:
    """The counts for a person."""
    norms = summary["norms"]
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in norms["skipped"].items())
    read = (
        f"{norms['layout']}: {norms['rows']:,} rows, {norms['properties']:,} properties of "
        f"{norms['concepts']:,} concepts (rows without one: {skipped})"
    )
    lines = [read, ""]
    if "filters" in summary:
        lines += [f"{name:<32}{count:>9,}" for name, count in summary["properties"].items()]
        lines += ["", f"{'concepts: filter':<32}{'removed':>9}{'left':>9}"]
        lines += [
            f"{step['filter']:<32}{step['removed']:>9,}{step['left']:>9,}"
            for step in summary["filters"]
        ]
    else:
        lines += [f"{'relation':<12}{'prompts':>9}{'published':>11}{'no response':>13}"]
        lines += [
            f"{name:<12}{one['prompts']:>9,}{one['published'] or '-':>11}{one['without']:>13,}"
            for name, one in summary["relations"].items()
        ]
        lines += ["", f"{summary['plural']:,} plural concepts left out"]
    if summary["unmatched_corrections"]:
        met = ", ".join(summary["unmatched_corrections"])
        lines += ["", f"corrections that met no property: {met}"]
    lines += ["", f"{summary['prompts']:,} prompts of {summary['concepts']:,} concepts"]
    return "\n".join(lines)
