"""The sentences on the findings of the parts probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import estimate, level, percent, points
from tacit.probes.parts.accuracy import ASYMMETRIC
from tacit.probes.parts.tables import decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.findings.findings import Findings


KINDS = {
    "symmetric": "a mutual relation is believed one way round only, "
    "as in \u201cx next to y\u201d but not \u201cy next to x\u201d",
    "asymmetric": "a one-way relation is believed both ways round, "
    "as in \u201cx above y\u201d and \u201cy above x\u201d",
    "inverse": "a relation is believed in one wording only, "
    "as in \u201cx above y\u201d but not \u201cy below x\u201d",
    "transitive": "two steps are believed and what follows is not, "
    "as in \u201cx above y\u201d and \u201cy above z\u201d but not \u201cx above z\u201d",
    "implies": "a relation is believed and one that it implies is not",
    "excludes": "two relations are believed that exclude one another",
}


def headline(findings: Findings) -> str:
    """Return the violation rate before repair and the accuracy gain of repair in a sentence."""
    summary = findings.summary
    micro = _row(summary["violation"], constraint="micro", stage="before")
    if micro is None or micro["rate"] is None:
        return "No constraint applies to what it believes."
    violated = f"It violates {estimate(micro, 'rate')} of {decided(micro)}"
    before, after = _accuracy(summary, "before"), _accuracy(summary, "paper")
    gain = _row(summary["accuracy_gain"], set="ParRoT", objective="paper", part="whole")
    if before is None or after is None or gain is None or gain["gain"] is None:
        return f"{violated}; repair removes every violation."
    return (
        f"{violated}. Repair removes every violation and changes accuracy from "
        f"{percent(before['accuracy'])} to {percent(after['accuracy'])}, by "
        f"{estimate(gain, 'gain', points)}."
    )


def sentences(findings: Findings) -> Iterator[str]:
    """Yield sentences on the questions and the results."""
    summary = findings.summary
    yield _asked(summary)
    yield judged(summary)
    before, after = _accuracy(summary, "before"), _accuracy(summary, "paper")
    if before and after:
        yield (
            f"It agrees with people's drawings on {estimate(before, 'accuracy')} of "
            f"{several(before['n'], 'statement')}; once its contradictions are repaired, on "
            f"{estimate(after, 'accuracy')}."
        )
        yield from _baselines(summary)
    else:
        yield "Nobody drew these things, so there is no accuracy."
    yield from _violations(summary)
    yield from missing(summary)


def _asked(summary: Mapping[str, Any]) -> str:
    own = summary["by_drawing"]
    questions = several(
        summary["questions"], "true-or-false question" if own else "distinct true-or-false question"
    )
    return (
        f"It was asked {questions} about how the parts of "
        f"{several(summary['things'], 'everyday thing')} lie to one another "
        f"({several(summary['drawings'], 'drawing')}, "
        f"{several(summary['statements'], 'statement')}"
        f"{'; each drawing has its own' if own else ''})."
    )


def judged(summary: Mapping[str, Any]) -> str:
    """Return a sentence on how many of the questions are believed."""
    return f"It judged {percent(summary['true_share'])} of them true{_ties(summary)}."


def _ties(summary: Mapping[str, Any]) -> str:
    ties = summary["ties"]
    if not ties:
        return ""
    return f"; {ties:,} at exactly one half {number_of(ties, 'counts', 'count')} as false"


def _baselines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the baselines of accuracy and of the gain of repair."""
    always = _row(summary["accuracy_baselines"], set="ParRoT", baseline="always true")
    without = _row(summary["accuracy_gain"], set=ASYMMETRIC, objective="paper", part="whole")
    if always:
        yield f"Always saying true is right on {percent(always['accuracy'])}."
    if without and without["gain"] is not None:
        yield (
            "Without connects and next to, which repair makes true wherever it can, repair "
            f"changes accuracy by {estimate(without, 'gain', points)}."
        )
    labels, contradicted = summary["labels_labelled"], summary["labels_contradicted"]
    if labels:
        yield (
            f"Of {several(labels, 'label')}, {contradicted:,} ({percent(contradicted / labels)}) "
            f"{number_of(contradicted, 'contradicts', 'contradict')} another annotator's."
        )


def _violations(summary: Mapping[str, Any]) -> Iterator[str]:
    micro = _row(summary["violation"], constraint="micro", stage="before")
    if micro is None:
        return
    if micro["applicable"] - micro["undecided"]:
        yield (
            f"Of {decided(micro)} to what it believes, it violates {estimate(micro, 'rate')}. "
            f"{_worst(summary)}"
        )
    drawings = several(
        summary["drawings_with_violation"],
        "drawing contradicts itself",
        "drawings contradict themselves",
    )
    yield f"{drawings}."
    if micro["undecided"]:
        rules = several(micro["undecided"], "constraint")
        yield f"Undecided, because a statement has no belief, and left out of rates: {rules}."


def _worst(summary: Mapping[str, Any]) -> str:
    """Return a sentence on the most common type of violation."""
    rows = [
        row
        for row in summary["violation"]
        if row["stage"] == "before" and row["constraint"] in KINDS and row["violated"]
    ]
    if not rows:
        return "It contradicts itself nowhere."
    worst = max(rows, key=lambda row: row["violated"])
    return (
        f"The most common contradiction, {several(worst['violated'], 'time')} of "
        f"{worst['applicable'] - worst['undecided']:,}: {KINDS[worst['constraint']]}."
    )


def missing(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of missing and filled-in beliefs, and of answers that share a token."""
    without = several(summary["missing"], "question has", "questions have")
    yield f"{without} no belief." if summary["missing"] else "Every question has a belief."
    if summary["missing_statements"]:
        left_out = sum(
            row["missing"]
            for row in summary["accuracy"]
            if (row["set"], row["gold"], row["stage"]) == ("ParRoT", "all", "before")
        )
        yield (
            f"Left out, without a belief: {several(summary['missing_statements'], 'statement')}, "
            f"{left_out:,} of them labelled."
        )
    if summary["filled"]:
        filled = several(summary["filled"], "missing belief was", "missing beliefs were")
        yield f"{filled} filled in, as the preset says."
    if summary.get("spanned"):
        shared = several(summary["spanned"], "answer shares", "answers share")
        yield f"{shared} a token with their text, scored with it."


def notes(findings: Findings) -> Iterator[str]:
    """Yield notes on intervals, beliefs and accuracy."""
    made = findings.summary["intervals"]
    yield (
        f"Intervals hold {level(made['level'])}: {made['method']} that resamples things, "
        f"{made['resamples']:,} times, seed {made['seed']}. With one thing alone there is none."
    )
    yield (
        "A belief is P(true)/(P(true) + P(false)); a statement is believed when that is above one "
        "half. After repair is the best consistent assignment under the paper's objective. A share "
        "of nothing is undefined, not 0."
    )


def _row(rows: Sequence[Mapping[str, Any]], **where: str) -> Mapping[str, Any] | None:
    return next((r for r in rows if all(r[name] == value for name, value in where.items())), None)


def _accuracy(summary: Mapping[str, Any], stage: str) -> Mapping[str, Any] | None:
    return _row(summary["accuracy"], set="ParRoT", gold="all", stage=stage)
