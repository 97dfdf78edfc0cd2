"""Sentences on what the consistency probe asked and found, and how its figures are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import UNDEFINED, estimate, level, p_value, points, score
from tacit.statistics import prediction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what was asked, what was found, and what has no answer.

    Args:
        summary: The summary of the probe's findings.
    """
    yield (
        f"It was asked {several(summary['anchors'], 'multiple-choice question')}, "
        f"{summary['without_facts']:,} of them without a background fact, and "
        f"{several(summary['facts'], 'distinct fact')} behind them, with their negatives, as "
        f"{several(summary['questions'], 'yes/no background question')}: "
        f"{several(summary['prompts'], 'prompt')} in all."
    )
    answered, known = summary["anchor_accuracy"][0], summary["background_score"]
    yield (
        f"It answers {estimate(answered)} of {several(answered['n'], 'question')} right. Its "
        f"background score, the mean over {several(known['relations'], 'relation')}, is "
        f"{estimate(known)}; one half is what always giving the same answer gets."
    )
    yield _relevant(summary["relevance"])
    if "clear_questions" in summary:
        clear = summary["clear_questions"]
        yield (
            f"Of {several(summary['questions'], 'background question')}, {clear:,} "
            f"{number_of(clear, 'has', 'have')} "
            "a share of yes whose 95 % CI lies on one side of one half."
        )
    yield from _unanswered(summary)
    yield from _unscored(summary)
    yield from _worded(summary)


def _relevant(row: Mapping[str, Any]) -> str:
    """Return a sentence about the relevance of a fact, with the counts of right and wrong facts."""
    right, wrong = several(row["facts_right"], "fact"), f"{row['facts_wrong']:,}"
    sides = f"{right} answered right and {wrong} answered wrong"
    if row["relevance"] is None:
        return f"The relevance of a fact is undefined: {sides}."
    shown = estimate({**row, "value": row["relevance"]}, "value", points)
    without = f", no interval: {row['no_interval']}" if row["no_interval"] else ""
    return f"The relevance of a fact is {shown} ({sides}{without})."


def _unanswered(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing answers, ties and missing background scores."""
    missing, without = summary["missing_questions"], summary["without_answer"]
    if missing or without:
        facts, negatives = (
            several(summary[f"{side}s_without_answer"], side) for side in ("fact", "negative")
        )
        yield (
            f"{several(missing, 'background question')} (of {facts} and {negatives}) and "
            f"{several(without, 'question')} have no answer and are left out."
        )
    else:
        yield "Every background question and every question has an answer."
    if summary["tied_questions"] or summary["tied_anchors"]:
        tied, anchors = summary["tied_questions"], summary["tied_anchors"]
        yield (
            f"{several(tied, 'background question is', 'background questions are')} undecided and "
            f"taken as no; {several(anchors, 'question is', 'questions are')} undecided, and the "
            "first choice is taken."
        )
    else:
        yield "None is undecided."
    if summary["without_background_score"]:
        scoreless = summary["without_background_score"]
        questions = several(scoreless, "question with facts has", "questions with facts have")
        yield f"{questions} no background score."
    if summary["without_margin"]:
        unsure = summary["without_margin"]
        yield (
            f"{several(unsure, 'background question has', 'background questions have')} an "
            "answer, but not by how much: the best word of the other side has no score."
        )


def _unscored(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing scores, answers of several tokens and shared tokens."""
    for name, of, what in (
        ("inputs", "answer word", "background questions"),
        ("anchor_inputs", "answer", "questions"),
    ):
        lacking = summary.get(f"{name}_without_score", 0)
        if lacking:
            yield (
                f"{lacking:,} of {several(summary[name], of)} of {what} "
                f"{number_of(lacking, 'has', 'have')} no score."
            )
    if summary.get("inputs_of_several_tokens"):
        long = summary["inputs_of_several_tokens"]
        yield (
            f"{long:,} of {several(summary['inputs'], 'answer word')} of background questions "
            f"{number_of(long, 'takes', 'take')} several tokens: the sum of their "
            "log-probabilities counts."
        )
    if summary.get("spanned"):
        yield (
            f"{several(summary['spanned'], 'answer shares', 'answers share')} a token with "
            "their text, scored with it."
        )


def _worded(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about facts without a negative and repeated choices."""
    if summary["without_negative"]:
        lacking = summary["without_negative"]
        yield f"{several(lacking, 'fact has', 'facts have')} no possible negative."
    if summary["repeated_choices"]:
        yield (
            f"{several(summary['repeated_choices'], 'choice is', 'choices are')} repeated within a "
            "question: each counts once."
        )


def notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the extraction of facts, chance levels and intervals.

    Args:
        summary: The summary of the probe's findings.
    """
    from tacit.knowledge.background import counts_in_words

    if "question_facts" in summary:
        yield from (f"{sentence}." for sentence in counts_in_words(summary))
    made = summary["intervals"]
    consistency, relevance, others = (
        _made(made[kind]) for kind in ("consistency", "relevance", "others")
    )
    yield (
        f"Intervals: of lift and AUROC, {consistency}, the p-value from the same "
        f"permutations; of relevance, {relevance}, and none with fewer than "
        f"{made['relevance']['least_facts']} facts right or wrong; of the background score, "
        f"{made['background_score']['method']} over {made['background_score']['over']}; of "
        f"accuracies, {others}."
    )
    yield (
        "The chance level is the mean average precision over all permutations, exact. Lift is "
        "(consistency \N{MINUS SIGN} chance)/(1 \N{MINUS SIGN} chance). Its interval ends at the "
        "lowest lift that is possible; one that includes 0 and is wider than from chance to "
        f"perfect is not shown. A figure of nothing is {UNDEFINED}, not 0."
    )


def _made(how: Mapping[str, Any]) -> str:
    times = how.get("permutations", how.get("resamples"))
    return (
        f"{how['method']} ({times:,}, seed {how['seed']}, {level(how['level'])}), clustered by "
        f"{how['clusters']}"
    )


def verdict(summary: Mapping[str, Any]) -> str:
    """Return a sentence on whether background scores predict correct answers, or why it is unknown.

    Args:
        summary: The summary of the probe's findings.
    """
    found = summary["consistency"]
    n, reason = several(found["n"], "question"), found["no_interval"]
    if reason == prediction.NO_ROWS:
        return (
            "No question has both a background score and an answer: there is no conceptual "
            "consistency to compute."
        )
    if reason in {prediction.ALL_RIGHT, prediction.ALL_WRONG}:
        side = "right" if reason == prediction.ALL_RIGHT else "wrong"
        all_of = f"The only question is answered {side}"
        if found["n"] > 1:
            all_of = f"All {n} are answered {side}"
        return f"{all_of}: there is nothing to predict, and conceptual consistency has no lift."
    if reason == prediction.ONE_SCORE:
        return (
            f"All {n} have the same background score, {score(found['background_score'])}"
            f"{_alike(summary)}, so it cannot predict which are answered right: conceptual "
            "consistency is at its chance level, the share of right answers, "
            f"{score(found['chance'])}."
        )
    return _ranked(found, n)


def _ranked(found: Mapping[str, Any], n: str) -> str:
    """Return the sentence about a defined lift."""
    row = {"value": found["lift"], "low": found["lift_low"], "high": found["lift_high"]}
    figures = (
        f"conceptual consistency is {score(found['consistency'])} where chance gives "
        f"{score(found['chance'])}, a lift of {estimate(row, 'value', score)} on {n}"
    )
    right = f"{found['right']:,} of them answered right"
    reason = found["no_interval"]
    if reason == prediction.PERFECT:
        return (
            "Every question answered right has a higher background score than every question "
            f"answered wrong: {figures}, {right}. A perfect ranking has no interval; that these "
            f"questions are ranked so by chance has p {_p(found['p_value'])}."
        )
    if reason == prediction.ONE_CLUSTER:
        return (
            f"All {n} share one question concept, so whether what it knows predicts what it "
            f"answers cannot be told: {figures}, {right}."
        )
    if reason == prediction.TOO_FEW_CLUSTERS:
        return (
            "Too few question concepts to tell whether what it knows predicts what it answers: "
            f"{figures}, {right}. An interval takes {prediction.FEWEST_CLUSTERS} concepts."
        )
    if reason == prediction.TOO_FEW:
        return (
            "Too few questions to tell whether what it knows predicts what it answers: "
            f"{figures}, {right}. The interval would be wider than from chance to perfect."
        )
    outcome = "These questions do not show whether background scores go with right answers"
    if found["lift_low"] > 0:
        outcome = "Higher background scores go with right answers"
    elif found["lift_high"] < 0:
        outcome = "Higher background scores go with wrong answers"
    return f"{outcome}: {figures}, not adjusted for the number of facts."


def _alike(summary: Mapping[str, Any]) -> str:
    """Return a phrase if all background answers are the same, else an empty string."""
    for answer, other in (("positive", "negative"), ("negative", "positive")):
        if (summary[f"{answer}_accuracy"], summary[f"{other}_accuracy"]) == (1, 0):
            word = "yes" if answer == "positive" else "no"
            return f", as the model answers every background question with {word}"
    return ""


def _p(value: float) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"
