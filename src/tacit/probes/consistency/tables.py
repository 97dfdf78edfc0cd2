"""Tables and headlines of the consistency probe's findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import QUESTIONS, Column, Headline, Layout, TableSpec
from tacit.probes.consistency.accuracy_by_score import ACCURACY_BY_SCORE
from tacit.probes.consistency.adjusted import ADJUSTED
from tacit.probes.consistency.audit import AUDIT
from tacit.probes.consistency.background_answers import BACKGROUND_ANSWERS
from tacit.probes.consistency.baselines import ANCHOR_BASELINES
from tacit.probes.consistency.columns import CHANCE, LIFT
from tacit.probes.consistency.controls import CONTROLS
from tacit.probes.consistency.intervention import ANSWERS_IN_CONTEXT, INTERVENTION
from tacit.probes.consistency.negative_examples import NEGATIVE_EXAMPLES
from tacit.probes.consistency.no_knowledge import NO_KNOWLEDGE
from tacit.probes.consistency.prediction import PREDICTION_TABLES
from tacit.probes.consistency.predictor import COVARIANCE, PREDICTOR
from tacit.probes.consistency.reliability import RELIABILITY_TABLES

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.findings import Findings

VARIANT = (
    Column(
        "meta",
        "meta-prompt",
        "count",
        "The index of the meta-prompt (the text around the question), counted from 1.",
    ),
    Column(
        "pair",
        "answer words",
        meaning="The pair of answer words; null if the prompt contains no answer words.",
    ),
)
"""The columns that identify a prompt variant."""


def sampled(before: str = "", replies: str = "that answer \u201cyes\u201d") -> tuple[Column, ...]:
    """Return the columns for sampled replies: vote share with CI, and unparsed replies."""
    return (
        Column(
            f"{before}share",
            "vote share",
            "percent",
            f"The share of parsed replies {replies}, with Wilson's 95 % CI.",
            ends=(f"{before}low", f"{before}high"),
            optional=True,
        ),
        Column(
            f"{before}unparsed",
            "unparsed",
            "count",
            "The number of sampled replies that could not be parsed and are therefore not counted "
            "for any answer.",
            optional=True,
        ),
        Column(
            f"{before}truncated",
            "reasoning truncated",
            "count",
            "The number of unparsed replies that were cut off before the model's reasoning ended.",
            optional=True,
        ),
    )


RELATION = Column("relation", "relation", meaning="The relation of the background fact.")
LOGPROB = Column(
    "logprob", "log-probability (nats)", "nats", "The log-probability of the choice, in nats."
)
PER_BYTE = Column(
    "per_byte",
    "nats per byte",
    "nats",
    "The log-probability of the choice per UTF-8 byte, in nats.",
)
QUESTION_COLUMNS = (
    Column("word", "word", meaning="The answer word."),
    Column(
        "logprob",
        LOGPROB.heading,
        "nats",
        "The log-probability of the answer word in nats; the column is absent if replies are "
        "sampled.",
        optional=True,
    ),
    Column(
        "votes",
        "votes",
        "count",
        "The number of sampled replies that give the answer word in the column \u201cword\u201d.",
        optional=True,
    ),
    *sampled(replies="that give the answer word in the column \u201cword\u201d"),
    *VARIANT,
)
"""The columns for an answer word and its score or votes."""

QUESTION_TABLE = TableSpec(
    QUESTIONS,
    "Background questions",
    "One row per combination of background question, answer word and meta-prompt.",
    columns=(Column("question", "background question", meaning="The question."), *QUESTION_COLUMNS),
    shown=False,
)

_ACCURACIES = (
    Column(
        "positive_accuracy",
        "facts correct",
        "percent",
        "The accuracy on facts, for which the correct answer is \u201cyes\u201d.",
    ),
    Column(
        "negative_accuracy",
        "negatives correct",
        "percent",
        "The accuracy on negatives, for which the correct answer is \u201cno\u201d.",
    ),
)
_ANSWERED = (
    Column(
        "positives",
        "facts answered",
        "count",
        "The number of facts for which the model answered the yes/no question.",
        shown=False,
    ),
    Column(
        "negatives",
        "negatives answered",
        "count",
        "The number of negatives (false versions of facts) for which the model answered the "
        "yes/no question.",
        shown=False,
    ),
)


def _answer(before: str = "") -> tuple[Column, ...]:
    """Return the columns that describe the answer to an anchor question."""
    optional = bool(before)
    return (
        Column(
            f"{before}choice",
            "answer",
            meaning="The choice that the model selects as the answer.",
            optional=optional,
        ),
        Column(
            f"{before}right",
            "correct",
            "truth",
            "Whether the selected choice is correct; null if the model did not answer the "
            "question.",
            optional=optional,
        ),
        Column(
            f"{before}margin",
            "margin",
            "nats",
            "The score of the selected choice minus the score of the second-best choice.",
            optional=optional,
        ),
        Column(
            f"{before}tied",
            "tied",
            "truth",
            "Whether several choices have the highest score. With sampled replies, a question "
            "with tied choices has no answer; otherwise, the first of the tied choices is the "
            "answer.",
            optional=optional,
        ),
        Column(
            f"{before}meta",
            "meta-prompt",
            "count",
            "The index of the meta-prompt (the text around the question) in the prompt that "
            "gives the selected choice its highest score.",
            optional=optional,
        ),
        Column(
            f"{before}pair",
            "answer words",
            "text",
            "The pair of answer words, such as “yes/no”, in the prompt that gives the selected "
            "choice its highest score.",
            optional=optional,
        ),
    )


ANCHORS = TableSpec(
    "anchors",
    "Anchor questions",
    "One row per anchor question, with the background score, the model's answer, and whether the "
    "answer is correct.",
    columns=(
        Column("anchor", "id", meaning="The id of the anchor question in the file of questions."),
        Column("question", "question", meaning="The text of the anchor question."),
        Column(
            "concept",
            "concept",
            meaning="The question concept of the anchor question; null if the question has none.",
        ),
        Column(
            "cluster",
            "cluster",
            meaning="The cluster that is resampled by the bootstrap: the question concept, or "
            "the question itself if there is no question concept.",
        ),
        Column("answer", "correct answer", meaning="The question's correct answer."),
        Column(
            "frequency",
            "frequency",
            "number",
            "The mean Zipf frequency of the question's concepts; null if unknown.",
        ),
        Column("facts", "facts", "count", "The number of background facts of the question."),
        *_ANSWERED,
        *_ACCURACIES,
        Column(
            "background_score",
            "background score",
            "score",
            "The mean of the accuracy on the question's facts and the accuracy on the negatives of "
            "these facts (equation 1 of Sahu et al. 2022). Null if the accuracy on the facts or "
            "the accuracy on the negatives is undefined.",
        ),
        *(column for before in ("", "verify_", "choice_") for column in _answer(before)),
    ),
    shown=False,
)


def _side(before: str, of: str, right: str) -> tuple[Column, ...]:
    """Return the columns for a background question and its answer."""
    named = f"{of}: "
    return (
        Column(f"{before}question", f"{named}question", meaning="The background question."),
        Column(
            f"{before}right",
            f"{named}correct",
            "truth",
            f"Whether the model correctly answers \u201c{right}\u201d to the background question.",
        ),
        Column(
            f"{before}margin",
            f"{named}margin",
            "nats",
            "The score of the best positive answer word minus the score of the best negative "
            "answer word, in nats; with sampled replies, the share of positive replies minus "
            "the share of negative replies. The margin between the positive and the negative "
            "answer is null if the score or share of either answer is unknown.",
        ),
        Column(
            f"{before}tied",
            f"{named}tied",
            "truth",
            "Whether \u201cyes\u201d and \u201cno\u201d have the same score, which counts as the "
            "answer \u201cno\u201d.",
        ),
        Column(
            f"{before}meta",
            f"{named}meta-prompt",
            "count",
            "The index of the meta-prompt (the text around the question) that leads to the "
            "highest score of any answer word.",
        ),
        Column(
            f"{before}pair",
            f"{named}answer words",
            meaning="The pair of answer words, such as “yes/no”, that contains the answer word "
            "with the highest score.",
        ),
        Column(
            f"{before}word",
            f"{named}best word",
            meaning="The answer word with the highest score in any single prompt variant; its "
            "meaning, \u201cyes\u201d or \u201cno\u201d, is the model's answer.",
        ),
        *sampled(before),
    )


FACTS = TableSpec(
    "facts",
    "Background facts",
    "One row per distinct fact, with the model's answers to two yes/no questions: one about the "
    "fact, and one about the negative of the fact. If \u201cyes\u201d and \u201cno\u201d have the "
    "same score, the answer counts as \u201cno\u201d.",
    columns=(
        Column(
            "fact",
            "fact",
            "count",
            "The index of the fact among all distinct facts of the run, counted from 0.",
        ),
        Column("head", "head", meaning="The fact's first concept."),
        RELATION,
        Column("tail", "tail", meaning="The fact's second concept."),
        Column(
            "negative",
            "negative",
            meaning="The second concept of the negative (the false version of the fact).",
        ),
        *_side("positive_", "fact", "yes"),
        *_side("negative_", "negative", "no"),
    ),
    shown=False,
)
LINKS = TableSpec(
    "links",
    "Background facts of anchor questions",
    "One row for each background fact of each anchor question.",
    columns=(
        Column(
            "anchor",
            "question",
            "count",
            "The index of the question's row in the table “anchors”, counted from 0.",
        ),
        Column("fact", "fact", "count", "The index of the fact in the table “facts”."),
    ),
    keys=2,
    shown=False,
)
CHOICES = TableSpec(
    "choices",
    "Choices",
    "One row per combination of choice and prompt variant. The table is empty if anchor questions "
    "are answered only with the method \u201cverify\u201d, which asks about each choice "
    "separately.",
    columns=(
        Column("anchor", "id", meaning="The id of the anchor question in the file of questions."),
        *VARIANT,
        Column("choice", "choice", meaning="The choice."),
        LOGPROB,
        Column("bytes", "bytes", "count", "The number of UTF-8 bytes of the choice."),
        PER_BYTE,
    ),
    keys=4,
    shown=False,
)


VERIFICATIONS = TableSpec(
    "verifications",
    "Verified choices",
    "One row per combination of a choice, an answer word (such as \u201cYes\u201d) and a "
    "meta-prompt (the text around the question). Each prompt asks whether the choice is the answer "
    "to the anchor question. The table exists only in runs that use the method "
    "\u201cverify\u201d.",
    columns=(
        Column("anchor", "id", meaning="The id of the anchor question in the file of questions."),
        Column("choice", "choice", meaning="The choice."),
        *VARIANT,
        Column("word", "word", meaning="The answer word."),
        Column(
            "logprob",
            LOGPROB.heading,
            "nats",
            "The log-probability of the answer word in nats; the column is absent if replies are "
            "sampled.",
            optional=True,
        ),
        Column(
            "votes",
            "votes",
            "count",
            "The number of sampled replies that give the answer word in the column "
            "\u201cword\u201d.",
            optional=True,
        ),
    ),
    keys=5,
    shown=False,
    optional=True,
)


CONSISTENCY_COLUMN = Column(
    "consistency",
    "CC",
    "score",
    "Conceptual consistency: the average precision of the background score as a predictor of "
    "correct answers (equation 3 of Sahu et al. 2022).",
    chance="chance",
)


def _predicts(name: Column) -> tuple[Column, ...]:
    """Return the columns that show how well background scores predict correct answers."""
    return (
        Column(
            "subset",
            "subset",
            meaning="The questions that the row includes. \u201call\u201d: all questions. "
            "\u201crelation\u201d: questions that have a background fact with the relation of "
            "the row. \u201cconcept\u201d: questions that have a background fact about the "
            "concept of the row.",
            shown=False,
        ),
        name,
        Column(
            "n",
            "n",
            "count",
            "The number of anchor questions that have a background score and that the model "
            "answered.",
        ),
        Column(
            "clusters",
            "concepts",
            "count",
            "The number of different question concepts among the anchor questions counted in “n”.",
            shown=False,
        ),
        Column(
            "right",
            "correct",
            "count",
            "The number of correctly answered anchor questions.",
        ),
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "The share of correct answers among the anchor questions counted in “n”.",
            shown=False,
        ),
        Column(
            "background_score",
            "background",
            "score",
            "The mean background score of the anchor questions counted in “n”.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column(
            "lift",
            "lift",
            "score",
            "The lift above chance: (CC - chance)/(1 - chance), where CC is conceptual "
            "consistency; with a 95 % CI that is computed from permutations.",
            ends=("lift_low", "lift_high"),
            chance=0.0,
        ),
        Column(
            "auroc",
            "AUROC",
            "score",
            "The area under the receiver operating characteristic of the background score as a "
            "predictor of correct answers, with a 95 % CI.",
            ends=("auroc_low", "auroc_high"),
            chance=0.5,
        ),
        Column(
            "p_value",
            "p",
            "p",
            "The one-sided p-value of a test of whether the lift exceeds 0, computed from the same "
            "permutations as the 95 % CI of the lift.",
        ),
        Column(
            "p_corrected",
            "p, corrected",
            "p",
            "The p-value of the lift after the correction of Benjamini and Hochberg for the number "
            "of rows in the table.",
        ),
        Column(
            "smallest_lift",
            "smallest detectable lift",
            "score",
            "The smallest lift that a test at the 5 % level would detect with a probability of 80 "
            "% if the n questions were independent.",
        ),
        Column(
            "no_interval",
            "why no interval",
            meaning="Why the lift has no confidence interval; null if it has one.",
        ),
    )


CONSISTENCY = TableSpec(
    "consistency",
    "Conceptual consistency, all questions",
    "Results are computed over the anchor questions that have a background score and that the "
    "model answered. The p-value is the result of a one-sided test of whether the lift exceeds "
    "0. The p-value and the 95 % CI of the lift are computed from the same random permutations, "
    "which redistribute the correct and incorrect answers among the questions.",
    columns=_predicts(
        Column(
            "name",
            "name",
            meaning="The group of anchor questions: \u201call\u201d in every row.",
            shown=False,
        )
    ),
    keys=2,
    printed=Layout(
        columns=("n", "consistency", "chance", "lift", "auroc", "p_value", "smallest_lift")
    ),
)
CONSISTENCY_BY_RELATION = TableSpec(
    "consistency_by_relation",
    "Conceptual consistency by relation",
    "One row per relation. Each row includes the anchor questions that have a background fact with "
    "the relation. The p-values are corrected for the number of relations by the method of "
    "Benjamini and Hochberg.",
    columns=_predicts(Column("name", "relation", meaning="The relation.", filter="relation")),
    keys=2,
)
CONSISTENCY_BY_CONCEPT = TableSpec(
    "consistency_by_concept",
    "Conceptual consistency by concept",
    "One row per concept. Each row is computed from the anchor questions that have a background "
    "fact about the row's concept. The table includes at most 14 concepts: the most frequent "
    "concepts that have at least 28 questions.",
    columns=_predicts(Column("name", "concept", meaning="The concept.", filter="concept")),
    keys=2,
)
BACKGROUND_BY_RELATION = TableSpec(
    "background_by_relation",
    "Background score by relation",
    "For each relation, the accuracy on facts (correct answer: \u201cyes\u201d) and the accuracy "
    "on negatives (correct answer: \u201cno\u201d).",
    columns=(
        Column("relation", "relation", meaning="The relation.", filter="relation"),
        Column("facts", "facts", "count", "The number of distinct facts with the relation."),
        *_ANSWERED,
        *_ACCURACIES,
        Column(
            "background_score",
            "background score",
            "percent",
            "The mean of the accuracy on the facts and the accuracy on the negatives, with a 95 % "
            "CI. The CI is computed by resampling clusters of facts that have the same first "
            "concept.",
            ends=("low", "high"),
            chance=0.5,
        ),
    ),
)
RELEVANCE = TableSpec(
    "relevance",
    "Relevance of a fact",
    "The relevance of facts is P(question correct | fact correct) \N{MINUS SIGN} P(question "
    "correct), as Sahu et al. 2022 define it. The 95 % CI of the relevance comes from a "
    "permutation test with a studentised statistic, in which the labels “fact correct” and “fact "
    "incorrect” are exchanged between facts.",
    columns=(
        Column(
            "relation",
            "relation",
            meaning="The relation of the facts, or the value \u201call\u201d for the facts of all "
            "relations.",
        ),
        Column(
            "facts_right",
            "facts correct",
            "count",
            "The number of facts for which the model correctly answers “yes”. Only background "
            "facts of answered anchor questions are counted.",
        ),
        Column(
            "facts_wrong",
            "facts incorrect",
            "count",
            "The number of facts for which the model incorrectly answers “no”. Only background "
            "facts of answered anchor questions are counted.",
        ),
        Column(
            "given_right",
            "questions correct, fact correct",
            "percent",
            meaning="The accuracy on each fact's anchor questions, averaged over the facts for "
            "which the model correctly answers “yes” to the background question.",
            shown=False,
        ),
        Column(
            "given_wrong",
            "questions correct, fact incorrect",
            "percent",
            meaning="The accuracy on each fact's anchor questions, averaged over the facts for "
            "which the model incorrectly answers “no” to the background question.",
            shown=False,
        ),
        Column(
            "accuracy",
            "questions correct",
            "percent",
            "The accuracy on each fact's anchor questions, averaged over all facts for which "
            "the model answered the background question.",
            shown=False,
        ),
        Column(
            "relevance",
            "relevance, points",
            "points",
            "The column “given_right” minus the column “accuracy”. The relevance is "
            "positive if knowledge of a fact goes together with correct answers to the fact's "
            "anchor questions.",
            ends=("low", "high"),
        ),
        Column(
            "no_interval",
            "why no interval",
            meaning="Why the relevance has no confidence interval; null if it has one.",
        ),
    ),
    printed=Layout(
        where={"relation": ("all",)},
        columns=("facts_right", "facts_wrong", "relevance", "no_interval"),
    ),
)
BACKGROUND_WAYS = TableSpec(
    "background_variants",
    "Background score by prompt variant",
    "One row per prompt variant (a combination of a meta-prompt and a pair of answer words), and "
    "one row per method that combines the scores of all prompt variants.",
    columns=(
        Column(
            "preset",
            "method",
            meaning="The method that converts scores to answers. The method \u201cvotes\u201d "
            "selects the answer that most of the sampled replies contain.",
        ),
        *VARIANT,
        Column("n", "n", "count", "The number of anchor questions that have a background score."),
        *_ACCURACIES,
        Column(
            "background_score",
            "background",
            "score",
            "The mean background score of the anchor questions.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        LIFT,
        Column(
            "missing",
            "missing",
            "count",
            "The number of background questions that the model did not answer.",
        ),
        Column(
            "tied",
            "tied",
            "count",
            "The number of background questions for which \u201cyes\u201d and \u201cno\u201d "
            "have the same score, which counts as the answer \u201cno\u201d.",
        ),
    ),
    keys=3,
)
ANCHOR_WAYS = TableSpec(
    "anchor_variants",
    "Anchor accuracy by prompt variant",
    "The accuracy on anchor questions when a single prompt variant (a combination of a meta-prompt "
    "and a pair of answer words) is used.",
    columns=(
        Column(
            "anchoring",
            "method",
            meaning="The method with which anchor questions are answered: \u201cchoice\u201d or "
            "\u201cverify\u201d.",
        ),
        *VARIANT,
        Column("n", "n", "count", "The number of anchor questions that the model answered."),
        Column(
            "right",
            "correct",
            "count",
            "The number of correctly answered anchor questions.",
        ),
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "The share of correct answers among the anchor questions that the model answered.",
        ),
    ),
    keys=3,
)
WINNERS = TableSpec(
    "winners",
    "How often each prompt variant gives the highest score",
    "A prompt variant is a combination of a meta-prompt and a pair of answer words. Every answer "
    "to a question has a score in each prompt variant. For each prompt variant, the table contains "
    "the number of questions whose highest score comes from this variant.",
    columns=(
        Column(
            "of",
            "of",
            meaning="Which questions are counted: \u201cbackground\u201d for background "
            "questions; \u201cchoice\u201d or \u201cverify\u201d for anchor questions "
            "that are answered with this method.",
        ),
        *VARIANT,
        Column(
            "count",
            "times",
            "count",
            "The number of questions whose answer was decided by this prompt variant, because "
            "its score for the answer was the highest of all variants.",
        ),
        Column(
            "share",
            "share",
            "percent",
            "The share of the answered questions for which this prompt variant gave the highest "
            "score of all variants.",
        ),
    ),
    keys=3,
)


def _background(findings: Findings) -> pl.DataFrame:
    summary = findings.summary
    row = {**summary["background_score"], "n": summary["with_background_score"]}
    sides = {column.name: summary[column.name] for column in _ACCURACIES}
    return _frame(BACKGROUND_SCORE, [{**row, **sides}])


def _accuracy(findings: Findings) -> pl.DataFrame:
    return _frame(ANCHOR_ACCURACY, findings.summary["anchor_accuracy"])


def _relations(findings: Findings) -> pl.DataFrame:
    """Return the table of background scores and conceptual consistency by relation."""
    known = findings.tables["background_by_relation"].select(
        "facts", name="relation", score="background_score"
    )
    found = findings.tables["consistency_by_relation"]
    joined = found.join(known, on="name", maintain_order="left")
    return joined.select(column.name for column in RELATIONS.columns)


def _frame(spec: TableSpec, rows: list[dict[str, object]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=spec.schema)


BACKGROUND_SCORE = TableSpec(
    "background_score",
    "Background score",
    "The mean of the background scores of all relations. The 95 % CI assumes that the relations "
    "of the run are a random sample of all relations. A model that always gives the same answer "
    "would score 50 %. The columns \u201cfacts correct\u201d and \u201cnegatives correct\u201d "
    "contain means over the anchor questions that have a background score.",
    columns=(
        Column(
            "relations",
            "relations",
            "count",
            "The number of relations that have a background score. A relation's background score "
            "is the mean of the accuracy on the facts with the relation and the accuracy on the "
            "negatives of these facts.",
        ),
        Column(
            "value",
            "background score",
            "percent",
            "The mean of the background scores of all relations, with a 95 % CI (Student's t).",
            ends=("low", "high"),
            chance=0.5,
        ),
        Column("n", "n", "count", "The number of anchor questions that have a background score."),
        *_ACCURACIES,
    ),
    keys=0,
    printed=Layout(),
    made=_background,
)
ANCHOR_ACCURACY = TableSpec(
    "anchor_accuracy",
    "Anchor accuracy",
    "The accuracy on all anchor questions, and the accuracy on the anchor questions that have "
    "background facts. Questions that the model did not answer are excluded.",
    columns=(
        Column(
            "of",
            "questions",
            meaning="“all”: all anchor questions; “with facts”: only the anchor questions that "
            "have background facts.",
        ),
        Column("n", "n", "count", "The number of anchor questions that the model answered."),
        Column(
            "value",
            "accuracy",
            "percent",
            "The share of correct answers among the anchor questions that the model answered. "
            "The 95 % CI is computed by resampling question concepts.",
            ends=("low", "high"),
        ),
    ),
    printed=Layout(),
    made=_accuracy,
)
RELATIONS = TableSpec(
    "relations",
    "Background score and conceptual consistency by relation",
    "The background score of a relation is computed from all facts with the relation. The "
    "conceptual consistency of a relation is computed from the anchor questions that have a "
    "background fact with the relation.",
    columns=(
        Column("name", "relation", meaning="The relation."),
        Column("facts", "facts", "count", "The number of distinct facts with the relation."),
        Column("score", "score", "percent", "The background score over the facts of the relation."),
        Column(
            "n",
            "n",
            "count",
            "The number of anchor questions that have a background fact of the relation, a "
            "background score and an answer.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        LIFT,
        Column(
            "p_corrected",
            "p, BH",
            "p",
            "The p-value of the lift, corrected for the number of relations by the method of "
            "Benjamini and Hochberg (BH).",
        ),
    ),
    printed=Layout(),
    shown=False,
    made=_relations,
)

TABLES = (
    *(QUESTION_TABLE, FACTS, LINKS, ANCHORS, CHOICES),
    *(BACKGROUND_ANSWERS, CONSISTENCY, ADJUSTED, BACKGROUND_SCORE, NO_KNOWLEDGE, ANCHOR_ACCURACY),
    CONTROLS,
    *(RELATIONS, CONSISTENCY_BY_RELATION, CONSISTENCY_BY_CONCEPT, BACKGROUND_BY_RELATION),
    *(VERIFICATIONS, NEGATIVE_EXAMPLES, RELEVANCE, BACKGROUND_WAYS, ANCHOR_WAYS, WINNERS),
    *(ACCURACY_BY_SCORE, ANCHOR_BASELINES, *PREDICTION_TABLES),
    *(*RELIABILITY_TABLES, PREDICTOR, COVARIANCE),
    AUDIT,
    *(INTERVENTION, ANSWERS_IN_CONTEXT),
)
HEADLINES = (
    Headline(
        "Conceptual consistency (CC)",
        "average precision of the background score as a predictor of correct answers; the tick "
        "shows the chance level; the confidence interval is in the tile \u201cLift above "
        "chance\u201d",
        CONSISTENCY.name,
        "consistency",
        n=("n", "anchor question"),
    ),
    Headline(
        "Lift above chance",
        "0 (the tick mark): chance level; 1: all correctly answered questions have higher "
        "background scores than all incorrectly answered questions",
        CONSISTENCY.name,
        "lift",
        n=("n", "anchor question"),
        scale=(-1.0, 1.0),
    ),
    Headline(
        "AUROC",
        "0.5 (tick): chance level",
        CONSISTENCY.name,
        "auroc",
        n=("n", "anchor question"),
    ),
    Headline(
        "Background score",
        "mean over relations; the score of a relation is the mean of the accuracy on its facts and "
        "the accuracy on their negatives (false versions of facts); the tick at 50 % is the score "
        "of a model that always gives the same answer",
        BACKGROUND_SCORE.name,
        "value",
        n=("relations", "relation"),
    ),
    Headline(
        "Anchor accuracy",
        "share of correct answers among the model's answers to anchor questions",
        ANCHOR_ACCURACY.name,
        "value",
        where={"of": "all"},
        n=("n", "anchor question"),
    ),
)
