"""Sentences on the questions and results of the consistency probe, and on its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import UNDEFINED, estimate, level, p_value, points, score
from tacit.probes.consistency.prediction import sentences as prediction_sentences
from tacit.statistics import prediction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what was asked, what was found, and what has no answer.

    Args:
        summary: The summary of the probe's findings.
    """
    bare = summary["without_facts"]
    yield (
        f"It was asked {several(summary['anchors'], 'anchor question')} (multiple choice), "
        f"{bare:,} of which {number_of(bare, 'has', 'have')} no background fact. The background "
        f"consists of {several(summary['facts'], 'distinct fact')}. With the negatives, this makes "
        f"{several(summary['questions'], 'yes/no background question')}, and "
        f"{several(summary['prompts'], 'prompt')} in total."
    )
    answered, known = summary["anchor_accuracy"][0], summary["background_score"]
    yield (
        f"It answers {estimate(answered)} of {several(answered['n'], 'anchor question')} "
        "correctly. Its background score, averaged over "
        f"{several(known['relations'], 'relation')}, is {estimate(known)}; always giving the same "
        "answer would score 50\N{NO-BREAK SPACE}%."
    )
    yield _relevant(summary["relevance"])
    yield from prediction_sentences(summary)
    if "clear_questions" in summary:
        clear = summary["clear_questions"]
        yield (
            f"For {clear:,} of {several(summary['questions'], 'background question')}, the 95 % CI "
            "of the vote share of yes excludes one half."
        )
    yield from _unanswered(summary)
    yield from _unscored(summary)
    yield from _worded(summary)


def _relevant(row: Mapping[str, Any]) -> str:
    """Return a sentence about the relevance of a fact, with the counts of both kinds of facts."""
    right, wrong = several(row["facts_right"], "fact"), f"{row['facts_wrong']:,}"
    sides = f"{right} answered correctly and {wrong} incorrectly"
    if row["relevance"] is None:
        return f"The relevance of a fact is undefined, with {sides}."
    shown = estimate({**row, "value": row["relevance"]}, "value", points)
    without = f"; no interval: {row['no_interval']}" if row["no_interval"] else ""
    return f"The relevance of a fact is {shown}, from {sides}{without}."


def _unanswered(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing answers, ties and missing background scores."""
    missing, without = summary["missing_questions"], summary["without_answer"]
    if missing or without:
        facts, negatives = (
            several(summary[f"{side}s_without_answer"], side) for side in ("fact", "negative")
        )
        yield (
            f"{several(missing, 'background question')} (about {facts} and {negatives}) and "
            f"{several(without, 'anchor question')} have no answer and are left out."
        )
    else:
        yield "Every background question and every anchor question has an answer."
    if summary["tied_questions"] or summary["tied_anchors"]:
        tied, anchors = summary["tied_questions"], summary["tied_anchors"]
        outcome = (
            f"{number_of(anchors, 'has', 'have')} no answer"
            if "votes" in summary
            else f"{number_of(anchors, 'takes', 'take')} the first of the tied choices"
        )
        yield (
            f"{several(tied, 'background question is', 'background questions are')} tied and "
            f"{number_of(tied, 'counts', 'count')} as no; "
            f"{several(anchors, 'anchor question is', 'anchor questions are')} tied and {outcome}."
        )
    else:
        yield "No question is tied."
    if summary["without_background_score"]:
        scoreless = summary["without_background_score"]
        questions = several(
            scoreless, "anchor question with facts has", "anchor questions with facts have"
        )
        yield f"{questions} no background score."
    if summary["without_margin"]:
        unsure = summary["without_margin"]
        yield (
            f"{several(unsure, 'background question has', 'background questions have')} an "
            "answer but no known margin, because the best word of the other side has no score."
        )


def _unscored(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing scores, answers of several tokens and shared tokens."""
    for name, of, what in (
        ("inputs", "answer word", "background questions"),
        ("anchor_inputs", "answer", "anchor questions"),
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
            f"{number_of(long, 'has', 'have')} several tokens; the score is the sum of the "
            "tokens' log-probabilities."
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
            f"{several(summary['repeated_choices'], 'choice is', 'choices are')} repeated within "
            "an anchor question; repeated choices are counted once."
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
        f"Intervals of lift and AUROC: {consistency}; p-values come from the same permutations. "
        f"Intervals of relevance: {relevance}; there is none with fewer than "
        f"{made['relevance']['least_facts']} facts answered correctly or incorrectly. Interval of "
        f"the background score: {made['background_score']['method']} over "
        f"{made['background_score']['over']}. Intervals of accuracies: {others}."
    )
    yield (
        "The chance level is the exact mean of average precision over all permutations. Lift is "
        "(consistency \N{MINUS SIGN} chance)/(1 \N{MINUS SIGN} chance). Its interval is cut at the "
        "lowest possible lift. An interval that includes 0 and is wider than 1, the distance from "
        f"chance to a perfect ranking, is not shown. A rate over zero cases is {UNDEFINED}, not 0."
    )


def _made(how: Mapping[str, Any]) -> str:
    if "permutations" in how:
        method = f"{how['permutations']:,} {how['method']}"
    else:
        method = f"{how['method']}, {several(how['resamples'], 'resample')}"
    return f"{level(how['level'])}, {method}, seed {how['seed']}, clustered by {how['clusters']}"


def verdict(summary: Mapping[str, Any]) -> str:
    """Return a sentence on whether background scores predict correct answers, or why it is unknown.

    Args:
        summary: The summary of the probe's findings.
    """
    found = summary["consistency"]
    n, reason = several(found["n"], "anchor question"), found["no_interval"]
    if reason == prediction.NO_ROWS:
        return (
            "No anchor question has both a background score and an answer, so conceptual "
            "consistency cannot be computed."
        )
    if reason in {prediction.ALL_RIGHT, prediction.ALL_WRONG}:
        side = "correctly" if reason == prediction.ALL_RIGHT else "incorrectly"
        all_of = f"The only anchor question is answered {side}"
        if found["n"] > 1:
            all_of = f"All {n} are answered {side}"
        return f"{all_of}, so there is nothing to predict and the lift is undefined."
    if reason == prediction.ONE_SCORE:
        return (
            f"All {n} have the same background score, {score(found['background_score'])}"
            f"{_alike(summary)}. It cannot predict which of them are answered correctly, and "
            "conceptual consistency equals its chance level, the share of correct answers, "
            f"{score(found['chance'])}."
        )
    return _ranked(found, n)


def _ranked(found: Mapping[str, Any], n: str) -> str:
    """Return the sentence about a defined lift."""
    row = {"value": found["lift"], "low": found["lift_low"], "high": found["lift_high"]}
    figures = (
        f"conceptual consistency is {score(found['consistency'])} (chance level "
        f"{score(found['chance'])}), a lift of {estimate(row, 'value', score)} over {n}"
    )
    right = f"{found['right']:,} of them answered correctly"
    reason = found["no_interval"]
    if reason == prediction.PERFECT:
        return (
            "Every correctly answered question has a higher background score than every "
            f"incorrectly answered one: {figures}, {right}. A perfect ranking has no interval; the "
            f"permutation test gives p {_p(found['p_value'])}."
        )
    if reason == prediction.ONE_CLUSTER:
        return (
            f"All {n} share one question concept, which is too few to test whether background "
            f"scores predict correct answers: {figures}, {right}."
        )
    if reason == prediction.TOO_FEW_CLUSTERS:
        return (
            "There are too few question concepts to test whether background scores predict correct "
            f"answers: {figures}, {right}. An interval requires {prediction.FEWEST_CLUSTERS} "
            "question concepts."
        )
    if reason == prediction.TOO_FEW:
        return (
            "There are too few anchor questions to test whether background scores predict correct "
            f"answers: {figures}, {right}. The interval would be wider than the distance from "
            "chance to a perfect ranking."
        )
    outcome = "There is no evidence that background scores predict correct answers"
    if found["lift_low"] > 0:
        outcome = "Higher background scores predict correct answers"
    elif found["lift_high"] < 0:
        outcome = "Higher background scores predict incorrect answers"
    return f"{outcome}: {figures}. The lift is not adjusted for the number of facts."


def _alike(summary: Mapping[str, Any]) -> str:
    """Return a phrase if all background answers are the same, else an empty string."""
    for answer, other in (("positive", "negative"), ("negative", "positive")):
        if (summary[f"{answer}_accuracy"], summary[f"{other}_accuracy"]) == (1, 0):
            word = "yes" if answer == "positive" else "no"
            return f", because the model answers every background question with {word}"
    return ""


def _p(value: float) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"
