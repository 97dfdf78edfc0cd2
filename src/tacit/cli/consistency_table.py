"""What the consistency probe found, as a person reads it in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.obtained import obtained_told
from tacit.english import several
from tacit.present import terminal
from tacit.report.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl
    from rich.table import Table

    from tacit.findings.findings import Findings

_UNDEFINED = "-"


def echo_consistency(findings: Findings, model: str) -> None:
    """Prints what the probe found: the figures, those of each relation, and what lies behind."""
    console = terminal.console()
    console.print(_figures(findings.summary, model))
    console.print(_relations(findings.tables))
    typer.echo("\n".join(_told(findings.summary)))


def _figures(summary: Mapping[str, Any], model: str) -> Table:
    """The figures of all questions together; fits 80 columns."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{model}: conceptual consistency")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("n", justify="right")
    found = summary["consistency"]
    n = f"{found['n']:,}"
    table.add_row("conceptual consistency", _number(found["consistency"]), "", n)
    table.add_row("  chance level", _number(found["chance"]), "", n)
    table.add_row("  lift above chance", *_estimate(found, "lift", _number), n)
    table.add_row("  smallest lift that n shows", _number(found["smallest_lift"]), "", n)
    table.add_row("  p of no lift", _number(found["p_value"]), "", n)
    table.add_row("  AUROC", *_estimate(found, "auroc", _number), n)
    table.add_section()
    score = summary["background_score"]
    relations = f"{several(score['relations'], 'relation')}"
    table.add_row("background score", *_interval(score, _percent), relations)
    scored = f"{summary['with_background_score']:,}"
    for side, of in (("positive", "facts"), ("negative", "negatives")):
        share = _percent(summary[f"{side}_accuracy"])
        table.add_row(f"  {of} right, by question", share, "", scored)
    table.add_section()
    for share in summary["anchor_accuracy"]:
        label = f"questions right, {share['of']}"
        table.add_row(label, *_interval(share, _percent), f"{share['n']:,}")
    relevance = summary["relevance"]
    sides = f"{relevance['facts_right']:,} right, {relevance['facts_wrong']:,} wrong"
    value = _interval({**relevance, "value": relevance["relevance"]}, _points)
    table.add_row("relevance of a fact, points", *value, sides)
    return table


def _relations(tables: Mapping[str, pl.DataFrame]) -> Table:
    """Each relation's background score, and the consistency of the questions it stands behind."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("relation", no_wrap=True)
    for heading in ("facts", "score", "questions", "CC", "chance", "lift", "p, BH"):
        table.add_column(heading, justify="right", no_wrap=True)
    known = {row["relation"]: row for row in tables["background_by_relation"].to_dicts()}
    for row in tables["consistency_by_relation"].to_dicts():
        of = known[row["name"]]
        table.add_row(
            row["name"],
            f"{of['facts']:,}",
            _percent(of["background_score"]),
            f"{row['n']:,}",
            *map(_number, (row["consistency"], row["chance"], row["lift"], row["p_corrected"])),
        )
    return table


def _told(summary: Mapping[str, Any]) -> Iterator[str]:
    """The verdict, what was asked and answered, and how intervals are computed, in sentences."""
    from tacit.knowledge.counts import counts_in_words

    yield verdict(summary)
    yield from obtained_told(summary)
    yield (
        f"{several(summary['anchors'], 'question')}, {summary['without_facts']:,} without a "
        f"background fact; {several(summary['facts'], 'distinct fact')}, "
        f"{several(summary['questions'], 'background question')}, "
        f"{several(summary['prompts'], 'prompt')}"
    )
    if "question_facts" in summary:
        yield from counts_in_words(summary)
    yield (
        f"{several(summary['missing_questions'], 'background question')} without an answer, "
        f"{summary['tied_questions']:,} undecided (taken as no); "
        f"{several(summary['without_answer'], 'question')} without an answer, "
        f"{summary['tied_anchors']:,} undecided (the first choice "
        "taken)"
    )
    if summary["without_background_score"]:
        without = summary["without_background_score"]
        questions = several(without, "question with facts has", "questions with facts have")
        yield f"{questions} no background score"
    if summary["relevance"]["no_interval"]:
        yield f"No interval of the relevance: {summary['relevance']['no_interval']}"
    if summary["without_negative"]:
        yield (
            f"{several(summary['without_negative'], 'fact has', 'facts have')} no possible negative"
        )
    if summary.get("inputs_of_several_tokens"):
        yield (
            f"{summary['inputs_of_several_tokens']:,} of "
            f"{several(summary['inputs'], 'answer word')} took "
            "several tokens: the sum of their log-probabilities counts"
        )
    yield from _missing(summary)
    if summary.get("spanned"):
        yield (
            f"{several(summary['spanned'], 'answer shares', 'answers share')} a token with "
            "their text, scored with it"
        )
    if summary["repeated_choices"]:
        yield (
            f"{several(summary['repeated_choices'], 'choice')} repeated within a question: "
            "each counts once"
        )
    made, others = summary["intervals"]["consistency"], summary["intervals"]["others"]
    yield (
        f"Intervals and p: of lift, AUROC and relevance, {made['method']} "
        f"({made['permutations']:,}) clustered by question concept; of the background score, "
        "Student's t over relations; of the others, "
        f"{others['method']} ({others['resamples']:,}) clustered by question concept"
    )


def _missing(summary: Mapping[str, Any]) -> Iterator[str]:
    """What has no answer, no margin or no score, and of sampled replies what is clear."""
    if "clear_questions" in summary:
        yield (
            f"{several(summary['clear_questions'], 'background question')} with a share of yes "
            "whose 95 % interval lies on one side of one half"
        )
    if summary["facts_without_answer"] or summary["negatives_without_answer"]:
        yield (
            f"{several(summary['facts_without_answer'], 'fact')} and "
            f"{several(summary['negatives_without_answer'], 'negative')} without an answer"
        )
    if summary["without_margin"]:
        yield (
            f"{several(summary['without_margin'], 'background question')} with an answer, but not "
            "by how much: the best word of the other side has no score"
        )
    if summary.get("inputs_without_score") or summary.get("anchor_inputs_without_score"):
        yield (
            f"{summary['inputs_without_score']:,} of "
            f"{several(summary['inputs'], 'answer word')} of "
            f"background questions, and {summary['anchor_inputs_without_score']:,} of "
            f"{several(summary['anchor_inputs'], 'answer')} of questions, have no score"
        )


def _estimate(row: Mapping[str, Any], name: str, shown: Callable[..., str]) -> tuple[str, str]:
    """A figure and its interval, of a row that has them under the figure's name."""
    ends = {"low": row[f"{name}_low"], "high": row[f"{name}_high"]}
    return _interval({"value": row[name], **ends}, shown)


def _interval(row: Mapping[str, Any], shown: Callable[..., str]) -> tuple[str, str]:
    """A figure and both ends; nothing for the second where there is no interval."""
    value = shown(row["value"])
    if row["low"] is None or row["high"] is None:
        return value, ""
    return value, f"{shown(row['low'])} to {shown(row['high'])}"


def _number(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.3f}"


def _percent(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{share:.1%}"


def _points(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{100 * share:+.1f}"
