"""Tables and headlines of the consistency probe's findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import QUESTIONS, Column, Headline, Layout, TableSpec
from tacit.probes.consistency.accuracy_by_score import ACCURACY_BY_SCORE
from tacit.probes.consistency.adjusted import ADJUSTED
from tacit.probes.consistency.audit import AUDIT
from tacit.probes.consistency.baselines import ANCHOR_BASELINES
from tacit.probes.consistency.columns import CHANCE
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
    Column("meta", "meta-prompt", "count", "The number of the meta-prompt."),
    Column(
        "pair", "answer words", meaning="The pair of answer words; null if the prompt has no pair."
    ),
)
"""The columns that identify a prompt variant."""


def sampled(before: str = "") -> tuple[Column, ...]:
    """Return the columns for sampled replies: vote share with interval, and unparsed replies.

    Args:
        before: Prefix of the column names.
    """
    return (
        Column(
            f"{before}share",
            "vote share",
            "percent",
            "The share of sampled replies that gave this answer, with Wilson's 95 % CI.",
            ends=(f"{before}low", f"{before}high"),
            optional=True,
        ),
        Column(
            f"{before}unparsed",
            "unparsed",
            "count",
            "The number of replies that could not be parsed. Such replies count for no answer.",
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


RELATION = Column("relation", "relation", meaning="The relation of the facts.")
LOGPROB = Column("logprob", "log-probability (nats)", "nats", "The log-probability, in nats.")
PER_BYTE = Column("per_byte", "nats per byte", "nats", "The log-probability per UTF-8 byte.")
QUESTION_COLUMNS = (
    Column("word", "word", meaning="The answer word."),
    Column(
        "logprob",
        LOGPROB.heading,
        "nats",
        "The log-probability of the answer word in nats; the column is absent for sampled replies.",
        optional=True,
    ),
    Column(
        "votes",
        "votes",
        "count",
        "The number of sampled replies to this prompt that gave the answer word.",
        optional=True,
    ),
    *sampled(),
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
        "The accuracy on facts, whose correct answer is yes.",
    ),
    Column(
        "negative_accuracy",
        "negatives correct",
        "percent",
        "The accuracy on negatives, whose correct answer is no.",
    ),
)
_ANSWERED = (
    Column(
        "positives",
        "facts answered",
        "count",
        "The number of facts that have an answer.",
        shown=False,
    ),
    Column(
        "negatives",
        "negatives answered",
        "count",
        "The number of negatives that have an answer.",
        shown=False,
    ),
)


def _answer(before: str = "") -> tuple[Column, ...]:
    """Return the columns that describe the answer to an anchor question.

    Args:
        before: Prefix of the column names: an empty string for the main anchoring method,
            ``choice_`` or ``verify_`` for another method.
    """
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
            "Whether the selected choice is correct; null without an answer.",
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
            "Whether several choices have the highest score. If so, the first of these choices "
            "is the answer; with sampled replies, there is no answer.",
            optional=optional,
        ),
        Column(
            f"{before}meta",
            "meta-prompt",
            "count",
            "The meta-prompt whose score decided the answer.",
            optional=optional,
        ),
        Column(
            f"{before}pair",
            "answer words",
            "text",
            "The pair of answer words whose score decided the answer.",
            optional=optional,
        ),
    )


ANCHORS = TableSpec(
    "anchors",
    "Anchor questions",
    "Each anchor question with the background score, the model's answer, and whether the answer is "
    "correct.",
    columns=(
        Column("anchor", "id", meaning="The id of the anchor question in the file of questions."),
        Column("question", "question", meaning="The question's text."),
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
            "The accuracy on the question's facts and the accuracy on the negatives, averaged "
            "(equation 1). Null if one of the accuracies is null.",
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
        Column(f"{before}right", f"{named}correct", "truth", f"Whether the answer is {right}."),
        Column(
            f"{before}margin",
            f"{named}margin",
            "nats",
            "The score of the best positive word minus the score of the best negative word. "
            "Scores are in nats, or are vote shares. Null if one of the scores is unknown.",
        ),
        Column(
            f"{before}tied",
            f"{named}tied",
            "truth",
            "Whether the best positive word and the best negative word tie; a tie counts as no.",
        ),
        Column(
            f"{before}meta",
            f"{named}meta-prompt",
            "count",
            "The meta-prompt with the score that decides the answer.",
        ),
        Column(
            f"{before}pair",
            f"{named}answer words",
            meaning="The pair of answer words with the score that decides the answer.",
        ),
        Column(
            f"{before}word",
            f"{named}best word",
            meaning="The answer word with the score that decides the answer.",
        ),
        *sampled(before),
    )


FACTS = TableSpec(
    "facts",
    "Background facts",
    "Each distinct fact and its negative, asked as yes/no questions; a tie counts as no.",
    columns=(
        Column("fact", "fact", "count", "The index of the fact, from 0."),
        Column("head", "head", meaning="The fact's first concept."),
        RELATION,
        Column("tail", "tail", meaning="The fact's second concept."),
        Column(
            "negative",
            "negative",
            meaning="The second concept of the negative, which replaces the tail of the fact.",
        ),
        *_side("positive_", "fact", "yes"),
        *_side("negative_", "negative", "no"),
    ),
    shown=False,
)
LINKS = TableSpec(
    "links",
    "Facts of anchor questions",
    "The background facts of each anchor question, one row per question and fact.",
    columns=(
        Column(
            "anchor",
            "question",
            "count",
            "The number of the question's row in the table ``anchors``, from 0.",
        ),
        Column("fact", "fact", "count", "The index of the fact in the table ``facts``."),
    ),
    keys=2,
    shown=False,
)
CHOICES = TableSpec(
    "choices",
    "Choices",
    "One row per combination of choice and prompt variant. If anchor questions are answered only "
    "by verify, the table is empty.",
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
    "One row per combination of choice, answer word and meta-prompt. Each prompt asks whether "
    "the choice is the answer. Only runs that use verify have this table.",
    columns=(
        Column("anchor", "id", meaning="The id of the anchor question in the file of questions."),
        Column("choice", "choice", meaning="The choice."),
        *VARIANT,
        Column("word", "word", meaning="The answer word."),
        Column(
            "logprob",
            LOGPROB.heading,
            "nats",
            "The log-probability of the answer word in nats; the column is absent for sampled "
            "replies.",
            optional=True,
        ),
        Column(
            "votes",
            "votes",
            "count",
            "The number of sampled replies that gave the answer word.",
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
    "correct answers (equation 3).",
    chance="chance",
)


def _predicts(name: Column) -> tuple[Column, ...]:
    """Return the columns that show how well background scores predict correct answers."""
    return (
        Column(
            "subset",
            "subset",
            meaning="Which questions the row includes: \u201call\u201d, \u201crelation\u201d "
            "(those with facts of the relation) or \u201cconcept\u201d (those with facts about "
            "the concept).",
            shown=False,
        ),
        name,
        Column("n", "n", "count", "The number of questions with a background score and an answer."),
        Column(
            "clusters",
            "concepts",
            "count",
            "The number of different question concepts of these questions.",
            shown=False,
        ),
        Column(
            "right",
            "correct",
            "count",
            "The number of the n questions that are answered correctly.",
        ),
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "The share of the n questions that are answered correctly.",
            shown=False,
        ),
        Column(
            "background_score",
            "background",
            "score",
            "The mean background score of the n questions.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column(
            "lift",
            "lift",
            "score",
            "(consistency - chance)/(1 - chance), with a 95 % CI from permutations.",
            ends=("lift_low", "lift_high"),
            chance=0.0,
        ),
        Column(
            "auroc",
            "AUROC",
            "score",
            "The area under the receiver operating characteristic, with a 95 % CI.",
            ends=("auroc_low", "auroc_high"),
            chance=0.5,
        ),
        Column(
            "p_value",
            "p",
            "p",
            "The one-sided p-value of a test whether the lift exceeds 0. The test and the "
            "interval use the same permutations.",
        ),
        Column(
            "p_corrected",
            "p, corrected",
            "p",
            "The p-value, corrected over the rows of the table (Benjamini and Hochberg).",
        ),
        Column(
            "smallest_lift",
            "smallest detectable lift",
            "score",
            "The smallest lift that would be detected with a probability of 80 %, with n "
            "independent questions and a significance level of 5 %.",
        ),
        Column(
            "no_interval",
            "why no interval",
            meaning="Why the lift has no interval; null if an interval exists.",
        ),
    )


CONSISTENCY = TableSpec(
    "consistency",
    "Conceptual consistency, all questions",
    "Results are computed over the anchor questions that have a background score and an answer. "
    "The p-value is from a one-sided test whether the lift exceeds 0. The test and the interval "
    "use the same permutations.",
    columns=_predicts(
        Column("name", "name", meaning="The value \u201call\u201d in every row.", shown=False)
    ),
    keys=2,
    printed=Layout(
        columns=("n", "consistency", "chance", "lift", "auroc", "p_value", "smallest_lift")
    ),
)
CONSISTENCY_BY_RELATION = TableSpec(
    "consistency_by_relation",
    "Conceptual consistency by relation",
    "One row per relation. A row includes the anchor questions that have a background fact with "
    "the relation. The p-values are corrected over all relations of a model (Benjamini and "
    "Hochberg).",
    columns=_predicts(Column("name", "relation", meaning="The relation.", filter="relation")),
    keys=2,
)
CONSISTENCY_BY_CONCEPT = TableSpec(
    "consistency_by_concept",
    "Conceptual consistency by concept",
    "One row per concept. A row includes the anchor questions that have a background fact with "
    "the concept. Of the concepts with at least 28 questions, the table includes the 14 most "
    "frequent.",
    columns=_predicts(Column("name", "concept", meaning="The concept.", filter="concept")),
    keys=2,
)
BACKGROUND_BY_RELATION = TableSpec(
    "background_by_relation",
    "Background score by relation",
    "For each relation, the accuracy on facts (expected answer: yes) and the accuracy on "
    "negatives (expected answer: no).",
    columns=(
        Column("relation", "relation", meaning="The relation.", filter="relation"),
        Column("facts", "facts", "count", "The number of distinct facts with the relation."),
        *_ANSWERED,
        *_ACCURACIES,
        Column(
            "background_score",
            "background score",
            "percent",
            "The accuracy on the facts and the accuracy on the negatives, averaged, with a 95 % "
            "CI. For the CI, the first concepts of the facts are resampled.",
            ends=("low", "high"),
            chance=0.5,
        ),
    ),
)
RELEVANCE = TableSpec(
    "relevance",
    "Relevance of a fact",
    "The relevance of facts is P(question correct | fact correct) \N{MINUS SIGN} P(question "
    "correct), as Sahu et al. 2022 define it. For the interval, the answers are permuted among "
    "the facts.",
    columns=(
        Column(
            "relation", "relation", meaning="The value \u201call\u201d, or a relation of the facts."
        ),
        Column(
            "facts_right",
            "facts correct",
            "count",
            "The number of facts that are answered correctly. Only facts in the background of an "
            "answered anchor question are counted.",
        ),
        Column(
            "facts_wrong",
            "facts incorrect",
            "count",
            "The number of facts that are answered incorrectly. Only facts in the background of "
            "an answered anchor question are counted.",
        ),
        Column(
            "given_right",
            "questions correct, fact correct",
            "percent",
            meaning="For each fact, the accuracy on the anchor questions whose background "
            "contains the fact. The column is the mean of these accuracies over the facts that "
            "are answered correctly.",
            shown=False,
        ),
        Column(
            "given_wrong",
            "questions correct, fact incorrect",
            "percent",
            meaning="For each fact, the accuracy on the anchor questions whose background "
            "contains the fact. The column is the mean of these accuracies over the facts that "
            "are answered incorrectly.",
            shown=False,
        ),
        Column(
            "accuracy",
            "questions correct",
            "percent",
            "For each fact, the accuracy on the anchor questions whose background contains the "
            "fact. The column is the mean of these accuracies over all answered facts.",
            shown=False,
        ),
        Column(
            "relevance",
            "relevance, points",
            "points",
            "For each fact, the accuracy on the anchor questions whose background contains the "
            "fact. The column is the mean of these accuracies over the facts that are answered "
            "correctly, minus their mean over all answered facts.",
            ends=("low", "high"),
        ),
        Column(
            "no_interval",
            "why no interval",
            meaning="Why the difference has no interval; null if an interval exists.",
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
    "One row per prompt variant, which is a meta-prompt with a pair of answer words. Further "
    "rows: one per method that uses all variants.",
    columns=(
        Column(
            "preset",
            "method",
            meaning="The method that converts scores to answers. The method \u201cvotes\u201d "
            "uses the majority of all sampled replies.",
        ),
        *VARIANT,
        Column("n", "n", "count", "The number of questions with a background score."),
        *_ACCURACIES,
        Column(
            "background_score",
            "background",
            "score",
            "The mean background score of the anchor questions.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column("lift", "lift", "score", "(consistency - chance)/(1 - chance)."),
        Column(
            "missing", "missing", "count", "The number of background questions without an answer."
        ),
        Column(
            "tied", "tied", "count", "The number of tied background questions, which count as no."
        ),
    ),
    keys=3,
)
ANCHOR_WAYS = TableSpec(
    "anchor_variants",
    "Anchor accuracy by prompt variant",
    "The accuracy on anchor questions if a single prompt variant is used.",
    columns=(
        Column("anchoring", "method", meaning="Choice or verify."),
        *VARIANT,
        Column("n", "n", "count", "The number of questions that have an answer."),
        Column(
            "right",
            "correct",
            "count",
            "The number of the n questions that are answered correctly.",
        ),
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "The share of the n questions that are answered correctly.",
        ),
    ),
    keys=3,
)
WINNERS = TableSpec(
    "winners",
    "Prompt variants that decide the answers",
    "For each prompt variant (a meta-prompt with a pair of answer words), how often its score "
    "was the highest of all variants.",
    columns=(
        Column(
            "of",
            "of",
            meaning="The answers that are counted: answers to background questions, or answers "
            "to anchor questions with the method \u201cchoice\u201d or \u201cverify\u201d.",
        ),
        *VARIANT,
        Column(
            "count",
            "times",
            "count",
            "The number of answers that were decided by the prompt variant.",
        ),
        Column(
            "share",
            "share",
            "percent",
            "The count as a share of all answers that were decided by a single prompt variant.",
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
    "The mean of the background scores of all relations. The 95 % CI treats relations as a "
    "sample. A model that always gives the same answer would score 50 %. The accuracy on facts "
    "and the accuracy on negatives are means over the n anchor questions that have a background "
    "score.",
    columns=(
        Column(
            "relations", "relations", "count", "The number of relations with a background score."
        ),
        Column(
            "value",
            "background score",
            "percent",
            "The mean of the background scores of all relations, with a 95 % CI (Student's t).",
            ends=("low", "high"),
            chance=0.5,
        ),
        Column("n", "n", "count", "The number of questions with a background score."),
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
    "background facts. Questions without an answer are excluded.",
    columns=(
        Column(
            "of",
            "questions",
            meaning="All anchor questions, or the anchor questions with background facts.",
        ),
        Column("n", "n", "count", "The number of the row's anchor questions that have an answer."),
        Column(
            "value",
            "accuracy",
            "percent",
            "The share of the n questions that are answered correctly, with a 95 % CI. For the CI, "
            "question concepts are resampled.",
            ends=("low", "high"),
        ),
    ),
    printed=Layout(),
    made=_accuracy,
)
RELATIONS = TableSpec(
    "relations",
    "Background score and conceptual consistency by relation",
    "For each relation, the results on its facts and the results on n anchor questions. Each of "
    "these questions has a background fact with the relation.",
    columns=(
        Column("name", "relation", meaning="The relation."),
        Column("facts", "facts", "count", "The number of distinct facts with the relation."),
        Column("score", "score", "percent", "The relation's background score."),
        Column(
            "n",
            "n",
            "count",
            "The number of questions that have a fact of the relation, a background score and an "
            "answer.",
        ),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column("lift", "lift", "score", "(consistency - chance)/(1 - chance)."),
        Column(
            "p_corrected",
            "p, BH",
            "p",
            "The p-value of the lift, corrected over the relations (Benjamini and Hochberg).",
        ),
    ),
    printed=Layout(),
    shown=False,
    made=_relations,
)

TABLES = (
    *(QUESTION_TABLE, FACTS, LINKS, ANCHORS, CHOICES),
    *(CONSISTENCY, ADJUSTED, BACKGROUND_SCORE, NO_KNOWLEDGE, ANCHOR_ACCURACY, CONTROLS),
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
        "average precision of the background score; tick: chance level; interval: see the lift",
        CONSISTENCY.name,
        "consistency",
        n=("n", "anchor question"),
    ),
    Headline(
        "Lift above chance",
        "0 (tick): chance level; 1: perfect ranking",
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
        "accuracy on facts and negatives; tick: always giving the same answer",
        BACKGROUND_SCORE.name,
        "value",
        n=("relations", "relation"),
    ),
    Headline(
        "Anchor accuracy",
        "share of the answered anchor questions that are answered correctly",
        ANCHOR_ACCURACY.name,
        "value",
        where={"of": "all"},
        n=("n", "anchor question"),
    ),
)
