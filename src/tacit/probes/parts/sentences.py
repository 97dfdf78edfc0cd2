"""The sentences that describe the findings of the parts probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import estimate, level, percent, points, score
from tacit.probes.parts.accuracy import WITHOUT_SYMMETRIC
from tacit.probes.parts.tables import decided
from tacit.statistics import FEWEST_CLUSTERS, no_interval_because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.findings.findings import Findings


_SMALL = 1e-3  # a smaller probability of either answer is warned about
_MAIN = "paper"  # the objective of the headline
_FEW = 10  # things; a bootstrap over fewer gives intervals that are too narrow

_BESIDE = ("asymmetric", "macro")  # the rates to report beside the micro rate

KINDS = {
    "symmetric": "a symmetric relation is believed in one direction only, "
    "as in \u201cx next to y\u201d but not \u201cy next to x\u201d",
    "asymmetric": "an asymmetric relation is believed in both directions, "
    "as in \u201cx above y\u201d and \u201cy above x\u201d",
    "inverse": "a statement is believed, but its inverse is not, as in \u201cx above y\u201d but "
    "not \u201cy below x\u201d",
    "transitive": "two statements are believed, but a third statement that follows from them is "
    "not, as in \u201cx above y\u201d and \u201cy above z\u201d but not \u201cx above z\u201d",
    "implies": "a statement is believed, but another statement that follows from it is not",
    "excludes": "two statements that exclude each other are believed",
}


def headline(findings: Findings) -> str:
    """Return text with the main results: violations before repair, and gain in accuracy."""
    summary = findings.summary
    micro = _row(summary["violation"], constraint="micro", stage="before")
    if micro is None or micro["rate"] is None:
        return " ".join(["No constraint applies to the model's beliefs.", *_improbable(summary)])
    violated = f"The model's beliefs violate {estimate(micro, 'rate')} of {decided(micro)}"
    if micro["shuffled"] is not None:
        violated += (
            "; after random shuffling, the same beliefs violate "
            f"{percent(micro['shuffled'])} of the constraints that then apply"
        )
    before, after = _accuracy(summary, "before"), _accuracy(summary, "paper")
    gain = _row(summary["accuracy_gain"], set="ParRoT", objective=_MAIN, part="whole")
    if before is None or after is None or gain is None or gain["gain"] is None:
        lines = [
            f"{violated}; by construction, repair removes every violation.",
            *_asymmetry(summary),
        ]
        return " ".join([*lines, *_improbable(summary)])
    always = _row(summary["accuracy_baselines"], set="ParRoT", baseline="always true")
    lines = [
        f"{violated}.",
        *_asymmetry(summary),
        (
            f"By construction, repair (objective: {_MAIN}) removes every violation. Repair changes "
            f"accuracy from {percent(before['accuracy'])} to {percent(after['accuracy'])}, by "
            f"{estimate(gain, 'gain', points)}{_unclear(gain)}."
        ),
        *_without_belief(before),
        *_opposite(summary, gain["gain"]),
    ]
    without = _row(summary["accuracy_gain"], set=WITHOUT_SYMMETRIC, objective=_MAIN, part="whole")
    if without is not None and without["gain"] is not None:
        lines.append(
            "If statements with a symmetric relation (connects, next to) are not counted, "
            f"repair changes accuracy by {estimate(without, 'gain', points)}."
        )
    if always is not None and always["accuracy"] is not None:
        right = percent(always["accuracy"])
        lines.append(
            f"A model that always answers true would be correct on {right} of the statements with "
            "a gold label."
        )
    return " ".join([*lines, *_improbable(summary)])


def _asymmetry(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence with the violation rate of the asymmetric constraints.

    The micro rate (over all constraint types together) hides violations of asymmetric constraints,
    because most applicable constraints are transitive.
    """
    row = _row(summary["violation"], constraint="asymmetric", stage="before")
    if row is None or row["rate"] is None:
        return
    violated = (
        "Of the asymmetric constraints (such as: “x above y” and “y above x” are never both true), "
        f"the beliefs violate {estimate(row, 'rate')}"
    )
    if row["shuffled"] is not None:
        violated += f", and the shuffled beliefs violate {percent(row['shuffled'])}"
        if row["low"] is not None and row["low"] <= row["shuffled"] <= row["high"]:
            violated += ", which is no clear difference"
    yield f"{violated}."


def _improbable(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning if the model would rarely answer true or false."""
    mass = summary.get("answer_probability")
    if mass is not None and mass < _SMALL:
        yield (
            "Interpret the beliefs with caution: the model rarely continues a prompt with an "
            f"answer that means true or false (median probability {score(mass)})."
        )


def _opposite(summary: Mapping[str, Any], gain: float) -> Iterator[str]:
    """Yield a sentence if the sign of the accuracy gain depends on the repair objective.

    The accuracy gain is the accuracy after repair minus the accuracy before repair.
    """
    rows = [
        row
        for row in summary["accuracy_gain"]
        if (row["set"], row["part"]) == ("ParRoT", "whole") and row["objective"] != _MAIN
    ]
    other = [
        f"repair with the objective {row['objective']} changes accuracy by "
        f"{estimate(row, 'gain', points)}"
        for row in rows
        if row["gain"] is not None and row["gain"] * gain < 0
    ]
    if other:
        yield (
            "The sign of the change in accuracy depends on the objective of repair: "
            f"{' and '.join(other)}."
        )


def _without_belief(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence about labelled statements that have no belief."""
    if row.get("missing"):
        of = several(row["n"] + row["missing"], "labelled statement")
        yield (
            f"Accuracies exclude statements whose belief is unknown ({row['missing']:,} of {of})."
        )


def _shuffled(row: Mapping[str, Any]) -> str:
    """Return a phrase with the violation rate of the shuffled beliefs."""
    value = row["shuffled"]
    if value is None:
        return ""
    return f", against {percent(value)} for randomly shuffled beliefs"


def _unclear(row: Mapping[str, Any]) -> str:
    """Return a remark that a gain's interval includes 0; an empty string if it does not."""
    low, high = row["low"], row["high"]
    if low is None or high is None or not low <= 0 <= high:
        return ""
    return ". The confidence interval of the change in accuracy includes 0"


def sentences(findings: Findings) -> Iterator[str]:
    """Yield sentences about the questions and the results."""
    summary = findings.summary
    yield _asked(summary)
    yield judged(summary)
    yield from _probable(summary)
    before, after = _accuracy(summary, "before"), _accuracy(summary, "paper")
    if before and before["accuracy"] is None:
        yield "No statement with a gold label has a belief, so accuracy is undefined."
    elif before and after:
        yield (
            f"The model's beliefs agree with the gold labels on {estimate(before, 'accuracy')} of "
            f"{several(before['n'], 'statement')}, and the repaired beliefs agree on "
            f"{estimate(after, 'accuracy')}."
        )
        yield from _baselines(summary)
    else:
        yield "There are no gold labels for the things of this run, so accuracy is not reported."
    yield from _violations(summary)
    yield from missing(summary)


def _asked(summary: Mapping[str, Any]) -> str:
    own, skipped = summary["by_drawing"], summary.get("skipped", 0)
    questions = several(
        summary["questions"], "true-or-false question" if own else "distinct true-or-false question"
    )
    about = (
        f"{questions} about the relations between the parts of "
        f"{several(summary['things'], 'everyday thing')}. "
        f"The questions cover {several(summary['drawings'], 'drawing')} of everyday things, and "
        f"{several(summary['statements'], 'statement')} about the parts of these things"
        f"{'. Each question was asked separately for each drawing' if own else ''}"
    )
    if not skipped:
        return f"The model was asked {about}."
    asked = summary["questions"] - skipped
    return (
        f"The run consists of {about}. The model was asked {asked:,} of the run's questions, and "
        f"{several(skipped, 'question was', 'questions were')} skipped because the prompt is "
        "longer than the model's context window."
    )


def judged(summary: Mapping[str, Any]) -> str:
    """Return a sentence with the share of questions whose statement the model judged true."""
    if summary["true_share"] is None:
        return (
            "No belief is known: none of the questions has an answer from which a belief can be "
            "computed."
        )
    known = summary["questions"] - summary["missing"]
    of = (
        f"the {several(known, 'question')} whose answers determine a belief"
        if summary["missing"]
        else "the questions"
    )
    return (
        f"For {percent(summary['true_share'])} of {of}, the model judged the statement in the "
        f"question to be true{_ties(summary)}."
    )


def _probable(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the median of P(true) + P(false); the headline warns if the median is small."""
    mass = summary.get("answer_probability")
    if mass is None:
        return
    shown = percent(mass) if mass >= _SMALL else score(mass)
    yield (
        "P(true) + P(false) is the probability that the model continues the prompt with an "
        "answer that means true or false. The median of P(true) + P(false) over the questions "
        f"is {shown}."
    )


def _ties(summary: Mapping[str, Any]) -> str:
    ties = summary["ties"]
    if not ties:
        return ""
    beliefs = several(ties, "belief")
    return f"; {beliefs} of exactly one half {number_of(ties, 'counts', 'count')} as false"


def _baselines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about baselines, symmetric relations and contradictory gold labels."""
    always = _row(summary["accuracy_baselines"], set="ParRoT", baseline="always true")
    without = _row(summary["accuracy_gain"], set=WITHOUT_SYMMETRIC, objective="paper", part="whole")
    if always:
        right = percent(always["accuracy"])
        yield (
            f"A model that always answers true would be correct on {right} of the statements with "
            "a gold label."
        )
    if without and without["gain"] is not None:
        yield (
            "The repair objective “paper” rewards only true statements, so repair makes a "
            "statement with a symmetric relation (connects, next to) true unless a constraint "
            "forbids it. If statements with a symmetric relation are not counted, repair "
            f"changes accuracy by {estimate(without, 'gain', points)}."
        )
    labels, contradicted = summary["labels_labelled"], summary["labels_contradicted"]
    if labels and summary["drawings"] > summary["things"]:
        yield (
            f"{contradicted:,} of {several(labels, 'gold label')} "
            f"({percent(contradicted / labels)}) "
            f"{number_of(contradicted, 'contradicts', 'contradict')} the gold label that follows "
            "from another annotator's drawing."
        )


def _violations(summary: Mapping[str, Any]) -> Iterator[str]:
    micro = _row(summary["violation"], constraint="micro", stage="before")
    if micro is None:
        return
    if micro["applicable"] - micro["undecided"]:
        yield (
            f"The model's beliefs violate {estimate(micro, 'rate')} of the "
            f"{_that_apply(micro)}{_shuffled(micro)}. {_worst(summary)}"
        )
        yield from _asymmetric(summary)
    violating = summary["drawings_with_violation"]
    yield (
        f"{violating:,} of {several(summary['drawings'], 'drawing')} "
        f"{number_of(violating, 'has', 'have')} at least one constraint violation."
    )
    if micro["undecided"]:
        undecided = several(
            micro["undecided"], "applicable constraint is", "applicable constraints are"
        )
        yield (
            f"{undecided} undecided because a belief about one of the statements in the constraint "
            f"is missing, and {number_of(micro['undecided'], 'is', 'are')} therefore excluded from "
            "violation rates."
        )


def _asymmetric(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the violation rate of asymmetric constraints and the macro violation rate."""
    rows = [_row(summary["violation"], constraint=name, stage="before") for name in _BESIDE]
    found = [row for row in rows if row is not None and row["rate"] is not None]
    if len(found) == len(_BESIDE):
        asymmetric, macro = (f"{estimate(row, 'rate')}{_shuffled(row)}" for row in found)
        yield (
            f"The violation rate of the asymmetric constraints is {asymmetric}. The macro "
            f"violation rate (the mean over all constraint types) is {macro}."
        )


def _that_apply(row: Mapping[str, Any]) -> str:
    """Return a phrase with the number of constraints known to be violated or satisfied.

    A constraint is not counted if its outcome is unknown because a belief is missing.
    """
    n = row["applicable"] - row["undecided"]
    kind = "decided constraint" if row["undecided"] else "constraint"
    return f"{several(n, kind)} that {number_of(n, 'applies', 'apply')} to the model's beliefs"


def _worst(summary: Mapping[str, Any]) -> str:
    """Return a sentence on the most common type of violation."""
    rows = [
        row
        for row in summary["violation"]
        if row["stage"] == "before" and row["constraint"] in KINDS and row["violated"]
    ]
    if not rows:
        return "No constraint is violated."
    worst = max(rows, key=lambda row: row["violated"])
    kind = f"{worst['constraint']} constraint"
    return (
        f"The most common violation is that {KINDS[worst['constraint']]} ({worst['violated']:,} of "
        f"{several(worst['applicable'] - worst['undecided'], kind)})."
    )


def missing(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on missing beliefs, and on answers that share a token with adjacent text."""
    without = several(summary["missing"], "question")
    yield (
        f"No belief is known for {without}."
        if summary["missing"]
        else "A belief is known for the statement in every question."
    )
    if summary["missing_statements"]:
        left_out = sum(
            row["missing"]
            for row in summary["accuracy"]
            if (row["set"], row["gold"], row["stage"]) == ("ParRoT", "all", "before")
        )
        yield (
            f"{several(summary['missing_statements'], 'statement')} without a belief ({left_out:,} "
            f"with a gold label) {number_of(summary['missing_statements'], 'is', 'are')} excluded "
            "from the accuracy and the violation rates."
        )
    if summary["filled"]:
        filled = several(summary["filled"], "missing belief is", "missing beliefs are")
        yield (
            f"{filled} replaced by a fixed value that is defined in the file of the prompt "
            "template."
        )
    if spanned := summary.get("spanned"):
        shared = several(spanned, "answer shares", "answers share")
        yield (
            f"{shared} a token with the text around the answer, so "
            f"{number_of(spanned, 'its score includes', 'their scores include')} the "
            "whole shared token."
        )


def notes(findings: Findings) -> Iterator[str]:
    """Yield notes about confidence intervals, beliefs and repair."""
    made = findings.summary["intervals"]
    yield (
        f"Intervals are {level(made['level'])} {made['method']} intervals; the bootstrap "
        f"resamples the everyday things ({made['resamples']:,} resamples, seed {made['seed']}). "
        f"{no_interval_because('things')}"
    )
    things = findings.summary["things"]
    if FEWEST_CLUSTERS <= things < _FEW:
        yield (
            f"The run asks about only {several(things, 'everyday thing')}. Bootstrap intervals "
            f"tend to be too narrow if they are computed by resampling fewer than {_FEW} things, "
            "so the uncertainty may be larger than the intervals show."
        )
    yield (
        "A belief is P(true)/(P(true) + P(false)); with sampled replies, a belief is the share "
        "of parsed replies with the answer true. A statement counts as believed if the belief "
        "is above one half. Repaired beliefs are the truth values that satisfy all constraints "
        "and are optimal under the objective of ParRoT (Gu et al. 2023). A rate over zero cases "
        "is undefined, not 0."
    )


def _row(rows: Sequence[Mapping[str, Any]], **where: str) -> Mapping[str, Any] | None:
    return next((r for r in rows if all(r[name] == value for name, value in where.items())), None)


def _accuracy(summary: Mapping[str, Any], stage: str) -> Mapping[str, Any] | None:
    return _row(summary["accuracy"], set="ParRoT", gold="all", stage=stage)
