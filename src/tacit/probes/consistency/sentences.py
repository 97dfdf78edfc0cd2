"""Sentences about the questions, the results and the methods of the consistency probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import (
    UNDEFINED,
    estimate,
    level,
    p_value,
    percent,
    points,
    ratio,
    score,
)
from tacit.probes.consistency import controls, intervention
from tacit.probes.consistency.prediction import sentences as prediction_sentences
from tacit.statistics import prediction, regression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HALF = 0.5  # the AUROC of a useless score
_NO_ODDS_RATIO = {
    regression.NO_ROWS: "the model answered no anchor question that has a background score",
    regression.UNDEFINED: "all anchor questions are answered correctly, or all incorrectly",
    regression.CONSTANT: "all anchor questions in the regression have the same background score",
    regression.SEPARATED: (
        "the predictors of the regression separate correct from incorrect answers perfectly"
    ),
    regression.FEW_CLUSTERS: "there are too few question concepts for the regression",
    regression.FEW_ROWS: "too few anchor questions are answered correctly, or too few are "
    "answered incorrectly, to fit the logistic regression of correct "
    "answers",
}
"""Reasons, as clauses, why the adjusted odds ratio was not computed."""


def sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about the questions, the results and the missing answers.

    Args:
        summary: The summary of the probe's findings.
    """
    bare = summary["without_facts"]
    yield (
        f"The model was asked {several(summary['anchors'], 'anchor question')} (multiple "
        f"choice), of which {bare:,} {number_of(bare, 'has', 'have')} no background fact. The "
        f"anchor questions have {several(summary['facts'], 'distinct background fact')} in "
        "total. Each background fact and each negative (false fact) is asked as a yes/no "
        f"question, which gives {several(summary['questions'], 'background question')}. The run "
        f"has {several(summary['prompts'], 'prompt')} in total."
    )
    answered, known = summary["anchor_accuracy"][0], summary["background_score"]
    yield (
        f"The model answers {estimate(answered)} of {several(answered['n'], 'anchor question')} "
        "correctly; the expected accuracy of random guessing is "
        f"{percent(summary['guessing_accuracy'])}. The model's background score, averaged over "
        f"{several(known['relations'], 'relation')}, is {estimate(known)}; a model that always "
        "gives the same answer would score 50\N{NO-BREAK SPACE}%."
    )
    yield from _odds(summary)
    if summary.get("no_knowledge"):
        yield _without_knowledge(summary["no_knowledge"])
    yield _relevant(summary["relevance"])
    yield from prediction_sentences(summary)
    if "clear_questions" in summary:
        clear = summary["clear_questions"]
        yield (
            f"For {clear:,} of {several(summary['questions'], 'background question')}, the 95 % CI "
            "of the share of \u201cyes\u201d replies excludes 0.5."
        )
    if "intervention" in summary:
        yield from intervention.sentences(summary["intervention"])
    yield from _unanswered(summary)
    yield from _unscored(summary)
    yield from _worded(summary)


def _odds(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence with the adjusted odds ratio, or with the reason why it is undefined."""
    if summary["no_odds_ratio"] is not None:
        yield (
            "The adjusted odds ratio of the background score was not computed: "
            f"{_NO_ODDS_RATIO[summary['no_odds_ratio']]}."
        )
        return
    names = {"value": "", "low": "_low", "high": "_high"}
    row = {name: summary[f"odds_ratio{end}"] for name, end in names.items()}
    yield (
        "When the background score rises from 0 to 1, the odds of a correct answer are "
        f"multiplied by {estimate(row, 'value', ratio)} (p {_p(summary['odds_ratio_p'])}). The "
        "odds ratio of the background score is adjusted for the number of facts, the frequency "
        "of the concepts and the length of the correct choice."
    )


def _without_knowledge(row: Mapping[str, Any]) -> str:
    """Return a sentence about the no-knowledge baseline, which sees only the second concept."""
    if row["auroc"] is None:
        return (
            "The no-knowledge baseline, which classifies statements as true or false by their "
            f"second concept alone, is undefined: {row['undefined']}."
        )
    area, accuracy = (
        estimate(
            {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}, how=how
        )
        for name, how in (("auroc", score), ("accuracy", percent))
    )
    return (
        "A logistic regression that uses only the second concept of a statement distinguishes "
        f"{several(row['facts'], 'fact')} from their negatives with an AUROC of {area} and an "
        f"accuracy of {accuracy}. A model that does not know how two concepts are related can "
        "reach a background score as high as the accuracy of the no-knowledge baseline."
    )


def _relevant(row: Mapping[str, Any]) -> str:
    """Return a sentence about the relevance of background facts."""
    right, wrong = several(row["facts_right"], "fact"), several(row["facts_wrong"], "fact")
    sides = (
        f"{right} for which the model correctly answers “yes” and {wrong} for which it "
        "incorrectly answers “no”"
    )
    if row["relevance"] is None:
        return f"The relevance of background facts is undefined: {sides}."
    shown = estimate({**row, "value": row["relevance"]}, "value", points)
    without = f"; no interval: {row['no_interval']}" if row["no_interval"] else ""
    return (
        f"The relevance of the background facts is {shown}. For each fact, Tacit computes the "
        "accuracy on the anchor questions whose background contains the fact. The relevance is "
        "a difference of two mean accuracies on anchor questions: the mean over the facts that "
        "the model knows, minus the mean over all facts. The relevance "
        f"is computed from {sides}{without}."
    )


def _unanswered(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing answers, tied answers and missing background scores."""
    missing, without = summary["missing_questions"], summary["without_answer"]
    if missing or without:
        facts, negatives = (
            several(summary[f"{side}s_without_answer"], side) for side in ("fact", "negative")
        )
        yield (
            f"{several(missing, 'background question')} (about {facts} and {negatives}) and "
            f"{several(without, 'anchor question')} are excluded because the model did not "
            "answer them."
        )
    else:
        yield "The model answered every background question and every anchor question."
    if summary["tied_questions"] or summary["tied_anchors"]:
        tied, anchors = summary["tied_questions"], summary["tied_anchors"]
        outcome = (
            "a question with tied choices has no answer"
            if "votes" in summary
            else "the first tied choice of a question counts as the model's answer"
        )
        yield (
            f"For {several(tied, 'background question')}, \u201cyes\u201d and \u201cno\u201d "
            "have the same score, and the answer counts as \u201cno\u201d. For "
            f"{several(anchors, 'anchor question')}, several choices have the highest score "
            f"({outcome})."
        )
    else:
        yield "No question has tied answers."
    if summary["without_background_score"]:
        scoreless = summary["without_background_score"]
        yield (
            f"{several(scoreless, 'anchor question')} with background facts "
            f"{number_of(scoreless, 'has', 'have')} no background score."
        )
    if summary["without_margin"]:
        unsure = summary["without_margin"]
        yield (
            f"{several(unsure, 'background question has', 'background questions have')} an answer "
            "but no margin, because the best score for the opposite answer is unknown."
        )


def _unscored(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about missing scores and about answers with unusual tokenization."""
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
            f"{number_of(long, 'has', 'have')} several tokens; the score of such a word is the sum "
            "of the tokens' log-probabilities."
        )
    if spanned := summary.get("spanned"):
        yield (
            f"In {several(spanned, 'pair', 'pairs')} of prompt and answer, one token contains "
            "both the end of the prompt and the start of the answer, and the answer's score "
            "includes this token."
        )


def _surface(counts: Mapping[str, int]) -> str:
    """Return a sentence on how many facts are worded with the knowledge base's own sentences."""
    facts, texts, worded = counts["facts"], counts["with_text"], counts["worded"]
    if not texts:
        return (
            "No fact has surface text in the knowledge base; all facts are worded with the "
            "templates of Sahu et al. 2022."
        )
    if worded == facts:
        return (
            f"{several(facts, 'fact is', 'facts are')} worded with the surface text: the "
            "knowledge base's own sentence for the fact."
        )
    unclear = texts - worded
    unusable = ""
    if unclear:
        unusable = (
            f", among them {several(unclear, 'fact whose', 'facts whose')} surface text does not "
            "mark the head and the tail,"
        )
    return (
        f"{worded:,} of {several(facts, 'fact')} {number_of(worded, 'is', 'are')} worded with "
        "the surface text: the knowledge base's own sentence for the fact. All other facts"
        f"{unusable} are worded with the templates of Sahu et al. 2022."
    )


def _worded(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the wording of facts, missing negatives, repeated choices.

    A fact may be worded by its surface text: the fact's sentence in the knowledge base. A
    negative is a false version of a fact. A repeated choice equals another choice of its anchor
    question.
    """
    if "surface" in summary:
        yield _surface(summary["surface"])
    if summary["without_negative"]:
        lacking = summary["without_negative"]
        yield f"There is no negative (false version) for {several(lacking, 'fact')}."
    if summary["repeated_choices"]:
        yield (
            f"{several(summary['repeated_choices'], 'choice repeats', 'choices repeat')} another "
            "choice of the same anchor question; repetitions are dropped, so that all choices "
            "of a question differ."
        )


def notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about chance levels, intervals and the extraction of facts.

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
        f"Intervals of lift and AUROC: {consistency}. The intervals and the p-values of lift and "
        "AUROC are computed from the same permutations. Intervals of relevance: "
        f"{relevance}. Relevance has a confidence interval only if the model knows at least "
        f"{made['relevance']['least_facts']} facts and at least "
        f"{made['relevance']['least_facts']} facts are unknown to the model. "
        f"Interval of the background score: {made['background_score']['method']} over "
        f"{made['background_score']['over']}. Intervals of accuracies: {others}."
    )
    if summary.get("no_knowledge"):
        yield (
            "The no-knowledge baseline is a logistic regression on six properties of a "
            "statement's second concept. Four properties that the no-knowledge baseline uses "
            "describe the second concept itself: number of words, number of characters, Zipf "
            "frequency and part of speech. The no-knowledge baseline also uses two counts: the "
            "number of facts in the knowledge base that contain the statement's second concept, "
            "and the number of facts that have the statement's relation and second concept. If "
            "the statement is a fact, the counts that the no-knowledge baseline uses leave out "
            "the statement itself. A negative (a false version of a fact) may take its second "
            "concept from another fact; the counts that the no-knowledge baseline uses then "
            "leave out this other fact. In the cross-validation of the no-knowledge baseline, "
            "all facts with the same first concept are in one fold. "
            f"Intervals of the no-knowledge baseline: {_made(made['no_knowledge'])}. "
            "The intervals of the no-knowledge baseline do not include the uncertainty "
            "of the regression coefficients."
        )
    yield (
        "The chance level of conceptual consistency is the mean of the average precision over "
        "all permutations of the answers, computed exactly. Lift is (CC \N{MINUS SIGN} chance)/(1 "
        "\N{MINUS SIGN} chance), where CC is conceptual consistency and \u201cchance\u201d is "
        "the chance level of conceptual consistency. The interval of the lift is "
        "clipped at the lowest possible lift. The interval of a lift is not shown if it "
        "includes 0 and is wider than 1. A lift of 0 is the chance level, and a lift of 1 is a "
        f"perfect ranking. A rate over zero cases is {UNDEFINED}, not 0."
    )
    if "intervention" in summary:
        yield from intervention.notes(summary["intervention"])


def _made(how: Mapping[str, Any]) -> str:
    if "permutations" in how:
        method = f"{how['permutations']:,} {how['method']}"
    else:
        method = f"{how['method']}, {several(how['resamples'], 'resample')}"
    return f"{level(how['level'])}, {method}, seed {how['seed']}, clustered by {how['clusters']}"


def verdict(summary: Mapping[str, Any]) -> str:
    """Return a sentence that states whether background scores predict correct answers.

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
            f"All {n} have the same background score, "
            f"{score(found['background_score'])}{_alike(summary)}. A constant background score "
            "cannot predict which questions are answered correctly, so conceptual consistency is "
            f"at its chance level, which is the share of correct answers: {score(found['chance'])}."
        )
    return _ranked(found, summary, n)


def _ranked(found: Mapping[str, Any], summary: Mapping[str, Any], n: str) -> str:
    """Return a sentence about the lift, for a run in which the lift is defined."""
    row = {"value": found["lift"], "low": found["lift_low"], "high": found["lift_high"]}
    figures = (
        f"conceptual consistency is {score(found['consistency'])} (chance level "
        f"{score(found['chance'])}), a lift of {estimate(row, 'value', score)}, computed from {n}"
    )
    verb = number_of(found["right"], "is", "are")
    right = f"{found['right']:,} of which {verb} answered correctly"
    reason = found["no_interval"]
    if reason == prediction.PERFECT:
        return (
            "Every question that is answered correctly has a higher background score than every "
            f"question that is answered incorrectly: {figures}, {right}. No interval is computed "
            "for a lift of 1, the highest possible lift. A permutation test of whether "
            f"conceptual consistency exceeds the chance level gives p {_p(found['p_value'])}."
        )
    if reason == prediction.ONE_CLUSTER:
        return (
            "Whether background scores predict correct answers cannot be tested, because all "
            f"{n} are about the same concept: {figures}, {right}."
        )
    if reason == prediction.TOO_FEW_CLUSTERS:
        return (
            "There are too few question concepts to test whether background scores predict "
            f"correct answers: {figures}, {right}. If the questions are about fewer than "
            f"{prediction.FEWEST_CLUSTERS} concepts, the lift has no confidence interval."
        )
    if reason == prediction.TOO_FEW:
        return (
            "There are too few anchor questions to test whether background scores predict correct "
            f"answers: {figures}, {right}. With only {n}, the interval of the lift would be wider "
            "than 1, which is the difference between the highest possible lift (1) and the chance "
            "level (0)."
        )
    doubts = [
        *_disagreement(found),
        *controls.doubts(
            summary.get(controls.CONTROLS.name, ()),
            adjusted=_is_adjusted(summary),
        ),
    ]
    return " ".join([f"{_outcome(found, summary)}: {figures}. {_adjusted(summary)}.", *doubts])


def _outcome(found: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Return the conclusion that follows from the lift and the adjusted lift."""
    plain = _side(found["lift_low"], found["lift_high"])
    adjusted = _side(summary["lift_adjusted_low"], summary["lift_adjusted_high"])
    answers = {1: "correct", -1: "incorrect"}
    if adjusted is None:
        claim = "there is no evidence that background scores predict correct answers"
        if plain:
            claim = f"higher background scores are associated with {answers[plain]} answers"
        return f"Without adjustment for the number of facts, {claim}"
    if plain and plain == adjusted:
        return f"Higher background scores predict {answers[plain]} answers"
    if adjusted:
        return (
            "There is no clear evidence that background scores predict correct answers, because "
            "adjusting the lift for the number of facts changes the conclusion"
        )
    if plain:
        return (
            f"Higher background scores are associated with {answers[plain]} answers, but not among "
            "questions with similar numbers of facts, so the number of facts may explain the "
            "association"
        )
    return "There is no evidence that background scores predict correct answers"


def _side(low: float | None, high: float | None) -> int | None:
    """Return 0 if the interval includes 0, else its sign (1 or -1); None if undefined."""
    if low is None or high is None:
        return None
    return 1 if low > 0 else -1 if high < 0 else 0


def _is_adjusted(summary: Mapping[str, Any]) -> bool:
    """Return whether the lift adjusted for the number of facts has a value and an interval."""
    return summary["lift_adjusted"] is not None and summary["no_adjusted_interval"] is None


def _adjusted(summary: Mapping[str, Any]) -> str:
    """Return a sentence, without its full stop, about the lift adjusted for number of facts."""
    names = {"value": "", "low": "_low", "high": "_high"}
    row = {name: summary[f"lift_adjusted{end}"] for name, end in names.items()}
    if not _is_adjusted(summary):
        return (
            "The lift cannot be adjusted for the number of facts "
            f"({summary['no_adjusted_interval']})"
        )
    return (
        "Adjusted for the number of facts per question, the lift is "
        f"{estimate(row, 'value', score)}"
    )


def _disagreement(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence if the intervals of lift and AUROC lead to different conclusions."""
    low, high = found["auroc_low"], found["auroc_high"]
    if low is None or high is None:
        return
    if _side(low - _HALF, high - _HALF) == _side(found["lift_low"], found["lift_high"]):
        return
    row = {"value": found["auroc"], "low": low, "high": high}
    yield (
        "The lift and the AUROC lead to different conclusions: the AUROC is "
        f"{estimate(row, 'value', score)} (chance level 0.5). Lift depends mostly on the questions "
        "with the highest background scores; AUROC depends on all questions alike."
    )


def _alike(summary: Mapping[str, Any]) -> str:
    """Return a clause if the model answers only yes or only no to background questions.

    If the model gives both answers to background questions, the clause is an empty string.
    """
    for answer, other in (("positive", "negative"), ("negative", "positive")):
        if (summary[f"{answer}_accuracy"], summary[f"{other}_accuracy"]) == (1, 0):
            word = "yes" if answer == "positive" else "no"
            return f", because the model answers every background question with \u201c{word}\u201d"
    return ""


def _p(value: float) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"
