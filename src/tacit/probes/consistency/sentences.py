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
from tacit.findings.verdict import Verdict
from tacit.probes.consistency import intervention
from tacit.probes.consistency.prediction import sentences as prediction_sentences
from tacit.statistics import regression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
    """Yield sentences about the questions, the results and the missing answers."""
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
    shows_something = Verdict.of(summary["verdict"]).shows_something
    if shows_something:
        yield from _odds(summary)
    if summary.get("no_knowledge"):
        yield _without_knowledge(summary["no_knowledge"])
    yield _relevant(summary["relevance"])
    if shows_something:
        yield from prediction_sentences(summary)
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
    yield (
        "When the background score rises from 0 to 1, the odds of a correct answer are "
        f"multiplied by {_estimated(summary, 'odds_ratio', ratio)} "
        f"(p {_p(summary['odds_ratio_p'])}). The odds ratio of the background score is adjusted "
        "for the number of facts, the frequency of the concepts and the length of the correct "
        "choice."
    )


def _without_knowledge(row: Mapping[str, Any]) -> str:
    """Return a sentence about the no-knowledge baseline, which sees only the second concept."""
    if row["auroc"] is None:
        return (
            "The no-knowledge baseline, which classifies statements as true or false by their "
            f"second concept alone, is undefined: {row['undefined']}."
        )
    area, accuracy = _estimated(row, "auroc", score), _estimated(row, "accuracy", percent)
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


def _worded(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the wording of facts, missing negatives, repeated choices."""
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
    """Yield sentences about chance levels, intervals and the extraction of facts."""
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


def headline(summary: Mapping[str, Any]) -> str:
    """Return the verdict, how often the model says yes, and the main results."""
    verdict = Verdict.of(summary["verdict"])
    said, found = summary["background_answers"], summary["consistency"]
    told = [str(verdict)]
    if said["n"]:
        told.append(
            f"The model says “yes” to {percent(said['yes_facts'])} of "
            f"{several(said['facts'], 'fact')} and {percent(said['yes_negatives'])} of "
            f"{several(said['n'] - said['facts'], 'negative')}; the AUROC of its margin is "
            f"{_estimated(said, 'auroc', score)}, chance 0.5."
        )
    if verdict.shows_something:
        told.append(
            f"The adjusted lift of the background score over "
            f"{several(found['n'], 'anchor question')} is "
            f"{_estimated(summary, 'lift_adjusted', score)}, chance 0."
        )
    return " ".join(told)


def _estimated(row: Mapping[str, Any], name: str, how: Callable[[float | None], str]) -> str:
    ends = {end: row[f"{name}_{end}"] for end in ("low", "high")}
    return estimate({"value": row[name], **ends}, how=how)


def _p(value: float) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"
