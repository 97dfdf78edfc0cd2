"""The sentences that describe the findings of the parts probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import estimate, level, percent, points, score
from tacit.findings.verdict import Verdict
from tacit.probes.parts.accuracy import WITHOUT_SYMMETRIC
from tacit.probes.parts.verdict import row_of
from tacit.statistics import FEWEST_CLUSTERS, no_interval_because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    """Return the verdict, how often the model judges statements true, and the main results."""
    summary = findings.summary
    verdict = Verdict.of(summary["verdict"])
    lines = [str(verdict)]
    if summary["true_share"] is not None:
        known = several(summary["questions"] - summary["missing"], "statement")
        lines.append(f"The model judges {percent(summary['true_share'])} of {known} true.")
    micro = row_of(summary["violation"], constraint="micro", stage="before")
    if micro is not None and micro["rate"] is not None:
        beside = (
            f"; shuffled beliefs {percent(micro['shuffled'])}"
            if micro["shuffled"] is not None
            else ""
        )
        lines.append(f"Constraint violations: {estimate(micro, 'rate')}{beside}.")
    main = row_of(summary["discrimination"], set=WITHOUT_SYMMETRIC, stage="before")
    if main is not None and main["auroc"] is not None:
        ends = {"low": main["auroc_low"], "high": main["auroc_high"]}
        area = estimate({"value": main["auroc"], **ends}, how=score)
        gain = _gain(summary) if verdict.shows_something else ""
        lines.append(f"Without symmetric relations: AUROC {area}{gain}.")
    return " ".join([*lines, *_improbable(summary)])


def _gain(summary: Mapping[str, Any]) -> str:
    """Return the gain of repair as a clause, beside the accuracy of repaired shuffled beliefs."""
    where = {"set": WITHOUT_SYMMETRIC}
    gain = row_of(summary["accuracy_gain"], **where, objective=_MAIN, part="whole")
    after = row_of(summary["accuracy"], **where, gold="all", stage=_MAIN)
    shuffled = row_of(summary["repaired_shuffled"], **where)
    if not (gain and after and shuffled) or gain["gain"] is None:
        return ""
    return (
        f"; repair changes accuracy by {estimate(gain, 'gain', points)} to "
        f"{percent(after['accuracy'])}, and that of shuffled beliefs to "
        f"{percent(shuffled['after'])}"
    )


def _improbable(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning if the model would rarely answer true or false."""
    mass = summary.get("answer_probability")
    if mass is not None and mass < _SMALL:
        yield (
            "Caution: the model rarely continues a prompt with an answer that means true or false "
            f"(median probability {score(mass)})."
        )


def _shuffled(row: Mapping[str, Any]) -> str:
    """Return a phrase with the violation rate of the shuffled beliefs."""
    value = row["shuffled"]
    if value is None:
        return ""
    return f", against {percent(value)} for randomly shuffled beliefs"


def sentences(findings: Findings) -> Iterator[str]:
    """Yield sentences about the questions and the results."""
    summary = findings.summary
    yield _asked(summary)
    yield judged(summary)
    yield from _probable(summary)
    before = row_of(summary["accuracy"], set="ParRoT", gold="all", stage="before")
    if before and before["accuracy"] is None:
        yield "No statement with a gold label has a belief, so accuracy is undefined."
    elif before:
        yield (
            f"The model's beliefs agree with the gold labels on {estimate(before, 'accuracy')} of "
            f"{several(before['n'], 'statement')}."
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
    """Yield sentences about a baseline and about contradictory gold labels."""
    always = row_of(summary["accuracy_baselines"], set="ParRoT", baseline="always true")
    if always:
        right = percent(always["accuracy"])
        yield (
            f"A model that always answers true would be correct on {right} of the statements with "
            "a gold label."
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
    micro = row_of(summary["violation"], constraint="micro", stage="before")
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
    rows = [row_of(summary["violation"], constraint=name, stage="before") for name in _BESIDE]
    found = [row for row in rows if row is not None and row["rate"] is not None]
    if len(found) == len(_BESIDE):
        asymmetric, macro = (f"{estimate(row, 'rate')}{_shuffled(row)}" for row in found)
        yield (
            f"The violation rate of the asymmetric constraints is {asymmetric}. The macro "
            f"violation rate (the mean over all constraint types) is {macro}."
        )


def _that_apply(row: Mapping[str, Any]) -> str:
    """Return a phrase with the number of constraints known to be violated or satisfied."""
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
