"""``tacit norms``: feature production norms, and the prompts that are made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli import options as given
from tacit.cli.group import group
from tacit.english import several
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.elicitation import Elicitation
    from tacit.probes.assumptions.filters import Chosen, ConceptPreset, Step
    from tacit.probes.assumptions.properties import WordedNorms
    from tacit.sources.norms import Norms

app = group("Make prompts of the properties that people name of concepts.")

_LEAST = 10
_SHOWN = 30
"""The most line numbers that are printed."""


@dataclass(frozen=True)
class _Retrieval:
    """The options of concept retrieval alone."""

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
    concepts: given.ConceptPreset = "paper",
    responses: given.ResponsePreset = "people",
    no_preface: Annotated[
        bool, typer.Option("--no-preface", help='Elicitation: without "Everyone knows that".')
    ] = False,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Write the prompts that norms make, and say how many each filter left out.

    Example: tacit norms prompts --norms norms.dat --out prompts.jsonl
    """
    from tacit.outputs import check_outputs, table_with

    files = [path for path in (norms, corrections, vocabulary) if path is not None]
    check_outputs(files, [(out, table_with("a table of prompts", "concept", "text"))], force=force)
    options = _Retrieval(articles, vocabulary, least, most_words)
    _check(options, responses, elicitation=elicitation, no_preface=no_preface)

    from tacit.knowledge.words import spare_torch
    from tacit.probes.assumptions.corrections import read_corrections
    from tacit.probes.assumptions.elicitation import ElicitationRules, Phrasing, elicit
    from tacit.probes.assumptions.properties import Limits, word_properties
    from tacit.sources.norms import read_norms
    from tacit.tables import write_table

    spare_torch(None)
    read = read_norms(norms)
    own = read_corrections(corrections) if corrections else ()
    if elicitation:
        rules = ElicitationRules(concepts, responses, least_people)
        asked = elicit(read, Phrasing(not no_preface, wording), own, rules)
        table, summary = _elicited(asked, read, limit)
    else:
        worded = word_properties(read, own, Limits(least_people, options.most_words))
        chosen = _chosen(worded, concepts, options)
        table, summary = _retrieved(worded, chosen, options, wording, limit)
    summary = {"norms": _about(read), **summary, **_unmatched(own, read), "prompts": table.height}
    write_table(table, out)
    typer.echo(json.dumps(summary) if as_json else f"{_readable(summary)}\n\nWritten: {out}")


def _check(options: _Retrieval, responses: str, *, elicitation: bool, no_preface: bool) -> None:
    """Refuses options that would do nothing."""
    idle = {
        "--most-words": options.most_words is not None,
        "--least": options.least != _LEAST,
        "--vocabulary": options.vocabulary is not None,
        "--articles": options.articles != "fixed",
    }
    named = [name for name, is_given in idle.items() if is_given]
    if elicitation and named:
        raise RequestError(f"{', '.join(named)} would do nothing with --elicitation: leave it out")
    asking = {"--no-preface": no_preface, "--responses": responses != "people"}
    named = [name for name, is_given in asking.items() if is_given]
    if named and not elicitation:
        raise RequestError(
            f"{', '.join(named)} would do nothing without --elicitation: leave it out"
        )


def _chosen(worded: WordedNorms, concepts: ConceptPreset, options: _Retrieval) -> Chosen:
    from tacit.probes.assumptions.filters import Filters, choose_concepts
    from tacit.probes.assumptions.words import read_words

    words = None if options.vocabulary is None else read_words(options.vocabulary).words
    return choose_concepts(worded, Filters(concepts, options.articles, words, options.least))


def _retrieved(
    worded: WordedNorms, chosen: Chosen, options: _Retrieval, wording: str, limit: int | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The prompts, and what the properties and the filters came to."""
    import polars as pl

    from tacit.probes.assumptions.retrieval import Asking, retrieval_prompts

    concepts = chosen.concepts[:limit]
    prompts = retrieval_prompts(concepts, Asking(wording, options.articles))
    table = pl.DataFrame(
        [(one.word, one.n, one.text, one.answer) for one in prompts],
        {"concept": pl.String, "n": pl.Int64, "text": pl.String, "answer": pl.String},
        orient="row",
    )
    if options.articles == "fixed":
        table = table.drop("answer")  # the concept
    summary = {
        "properties": {
            "usable": worded.usable,
            **worded.dropped,
            "corrected": worded.corrected,
            **{f"by the feature: {why}": count for why, count in worded.from_feature.items()},
        },
        "filters": _steps(chosen.steps),
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
        "filters": _steps(asked.steps),
        "responses": dict(asked.notes),
        "concepts": len({prompt.concept for prompt in kept}),
    }
    return pl.DataFrame(rows, dict.fromkeys(columns, pl.String), orient="row"), summary


def _steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [
        {"filter": step.name, "removed": len(step.removed), "left": step.left} for step in steps
    ]


def _about(norms: Norms) -> dict[str, Any]:
    return {
        "layout": norms.layout,
        "rows": norms.rows,
        "properties": len(norms.properties),
        "concepts": len(norms.by_concept()),
        "skipped": dict(norms.skipped),
        "uncounted": {problem: list(lines) for problem, lines in norms.uncounted.items()},
    }


def _unmatched(own: tuple[Correction, ...], norms: Norms) -> dict[str, Any]:
    from tacit.probes.assumptions.corrections import Corrections

    return {"unmatched_corrections": [one.shown for one in Corrections(norms, own).unmatched]}


def _readable(summary: dict[str, Any]) -> str:
    """The counts for a person."""
    norms = summary["norms"]
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in norms["skipped"].items())
    read = (
        f"{norms['layout']}: {several(norms['rows'], 'row')}, "
        f"{several(norms['properties'], 'property', 'properties')} of "
        f"{several(norms['concepts'], 'concept')} (rows without one: {skipped})"
    )
    uncounted = norms["uncounted"].items()
    lines = [read, *(_rows_at(problem, at, norms["rows"]) for problem, at in uncounted), ""]
    if "properties" in summary:
        lines += [f"{name:<46}{count:>7,}" for name, count in summary["properties"].items()]
    else:
        lines += [f"{'relation':<12}{'prompts':>9}{'published':>11}{'no response':>13}"]
        lines += [
            f"{name:<12}{one['prompts']:>9,}{one['published'] or '-':>11}{one['without']:>13,}"
            for name, one in summary["relations"].items()
        ]
        lines += ["", f"{'responses':<46}{'number':>7}"]
        lines += [f"{name:<46}{count:>7,}" for name, count in summary["responses"].items()]
    lines += ["", f"{'concepts: filter':<32}{'removed':>9}{'left':>9}"]
    lines += [
        f"{step['filter']:<32}{step['removed']:>9,}{step['left']:>9,}"
        for step in summary["filters"]
    ]
    if summary["unmatched_corrections"]:
        met = ", ".join(summary["unmatched_corrections"])
        lines += ["", f"corrections that met no property: {met}"]
    lines += [
        "",
        f"{several(summary['prompts'], 'prompt')} of {several(summary['concepts'], 'concept')}",
    ]
    return "\n".join(lines)


def _rows_at(problem: str, lines: list[int], rows: int) -> str:
    """How many rows have a problem, and on which lines they are."""
    more = ", …" if lines[_SHOWN:] else ""
    shown = ", ".join(map(str, lines[:_SHOWN]))
    return f"{problem}: {len(lines):,} of {rows:,} rows; by line: {shown}{more}"
