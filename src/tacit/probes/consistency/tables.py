"""The tables of the consistency probe's findings, and its headlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import QUESTIONS, Column, Headline, Layout, TableSpec

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.findings import Findings

VARIANT = (
    Column("meta", "meta-prompt", "count", "The number of the meta-prompt."),
    Column("pair", "answer words", meaning="The pair of answer words; null where there is none."),
)
"""The columns of a prompt variant."""


def sampled(before: str = "") -> tuple[Column, ...]:
    """Return the columns for sampled replies: the vote share, its interval and unread replies.

    Args:
        before: Prefix of the columns' names.
    """
    return (
        Column(
            f"{before}share",
            "share of replies",
            "percent",
            "The share of the replies that say so; with Wilson's 95 % CI.",
            ends=(f"{before}low", f"{before}high"),
            optional=True,
        ),
        Column(
            f"{before}unparsed",
            "unparsed",
            "count",
            "Replies that cannot be read, which count for no answer.",
            optional=True,
        ),
        Column(
            f"{before}truncated",
            "thought cut",
            "count",
            "Of these, replies that were cut while the model was thinking.",
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
        "Its log-probability, in nats; not of replies.",
        optional=True,
    ),
    Column(
        "votes",
        "votes",
        "count",
        "Sampled replies that gave the word, in its place.",
        optional=True,
    ),
    *sampled(),
    *VARIANT,
)
"""How an answer word was answered with."""

QUESTION_TABLE = TableSpec(
    QUESTIONS,
    "Background questions",
    "Each background question with each answer word behind each meta-prompt.",
    columns=(Column("question", "background question", meaning="The question."), *QUESTION_COLUMNS),
    shown=False,
)

_ACCURACIES = (
    Column("positive_accuracy", "facts right", "percent", "Accuracy on facts (answer: yes)."),
    Column("negative_accuracy", "negatives right", "percent", "Accuracy on negatives (no)."),
)
_ANSWERED = (
    Column("positives", "facts answered", "count", "Facts that have an answer.", shown=False),
    Column("negatives", "negatives answered", "count", "Negatives with an answer.", shown=False),
)


def _answer(before: str = "") -> tuple[Column, ...]:
    """Return the columns of an anchor's answer.

    Args:
        before: Prefix of the columns' names: the name of the anchoring method, or empty for the
            method that counts.
    """
    optional = bool(before)
    return (
        Column(f"{before}choice", "its answer", meaning="The choice taken.", optional=optional),
        Column(
            f"{before}right",
            "right",
            "truth",
            "Whether it is right; null without an answer.",
            optional=optional,
        ),
        Column(
            f"{before}margin",
            "ahead by",
            "nats",
            "By how much it is ahead of the next choice.",
            optional=optional,
        ),
        Column(
            f"{before}tied",
            "undecided",
            "truth",
            "Whether choices tie; the first is taken.",
            optional=optional,
        ),
        Column(
            f"{before}meta",
            "meta-prompt",
            "count",
            "The meta-prompt that gave the answer.",
            optional=optional,
        ),
        Column(
            f"{before}pair",
            "answer words",
            "text",
            "The answer words that gave the answer.",
            optional=optional,
        ),
    )


ANCHORS = TableSpec(
    "anchors",
    "Anchor questions",
    "Each anchor question with its background score, its answer, and whether that is right.",
    columns=(
        Column("anchor", "id", meaning="The question's id in the file."),
        Column("question", "question", meaning="Its text."),
        Column("concept", "concept", meaning="Its question concept; null where it has none."),
        Column("cluster", "cluster", meaning="The concept, else the question itself."),
        Column("answer", "right answer", meaning="Its right answer."),
        Column("facts", "facts", "count", "How many background facts it has."),
        *_ANSWERED,
        *_ACCURACIES,
        Column(
            "background_score",
            "background score",
            "score",
            "The mean of both accuracies (equation 1); null where one of them is.",
        ),
        *(column for before in ("", "verify_", "choice_") for column in _answer(before)),
    ),
    shown=False,
)


def _side(before: str, of: str, right: str) -> tuple[Column, ...]:
    """Return the columns of one of a fact's two questions and its answer."""
    named = f"{of}: "
    return (
        Column(f"{before}question", f"{named}question", meaning="The background question."),
        Column(f"{before}right", f"{named}right", "truth", f"Whether the answer is {right}."),
        Column(
            f"{before}margin",
            f"{named}ahead by",
            "nats",
            "Best positive word less best negative one (nats, or share of votes); null where "
            "one of these is not known.",
        ),
        Column(f"{before}tied", f"{named}undecided", "truth", "Whether they tie, which is no."),
        Column(f"{before}meta", f"{named}meta-prompt", "count", "That of the best word."),
        Column(f"{before}pair", f"{named}answer words", meaning="The pair of the best word."),
        Column(f"{before}word", f"{named}best word", meaning="The answer word that decides."),
        *sampled(before),
    )


FACTS = TableSpec(
    "facts",
    "Background facts",
    "Each distinct fact and its negative, as yes/no questions; a tie counts as no.",
    columns=(
        Column("fact", "fact", "count", "The number of the fact, from 0."),
        Column("head", "head", meaning="Its first concept."),
        RELATION,
        Column("tail", "tail", meaning="Its second concept."),
        Column("negative", "negative", meaning="What stands for the tail in its negative."),
        *_side("positive_", "fact", "yes"),
        *_side("negative_", "negative", "no"),
    ),
    shown=False,
)
LINKS = TableSpec(
    "links",
    "Facts of anchor questions",
    "Which anchor question has which fact in its background.",
    columns=(
        Column("anchor", "question", "count", "The question's row in ``anchors``, from 0."),
        Column("fact", "fact", "count", "The fact's number in ``facts``."),
    ),
    keys=2,
    shown=False,
)
CHOICES = TableSpec(
    "choices",
    "Choices",
    "Each choice behind each prompt variant; no row where choices are verified alone.",
    columns=(
        Column("anchor", "id", meaning="The question's id in the file."),
        *VARIANT,
        Column("choice", "choice", meaning="The choice."),
        LOGPROB,
        Column("bytes", "bytes", "count", "The choice's UTF-8 bytes."),
        PER_BYTE,
    ),
    keys=4,
    shown=False,
)


CONSISTENCY_COLUMN = Column(
    "consistency",
    "CC",
    "score",
    "Conceptual consistency: the average precision of the background score (equation 3).",
    chance="chance",
)
CHANCE = Column("chance", "chance", "score", "The mean of CC over all permutations, exact.")


def _predicts(name: Column) -> tuple[Column, ...]:
    """Return the columns on how well the background score predicts correct answers in a subset."""
    return (
        Column(
            "subset", "subset", meaning="Of what they are: all, relation, concept.", shown=False
        ),
        name,
        Column("n", "n", "count", "Questions with a background score and an answer."),
        Column("clusters", "concepts", "count", "Their question concepts.", shown=False),
        Column("right", "right", "count", "How many of them are answered right."),
        Column("accuracy", "accuracy", "percent", "The share that is right.", shown=False),
        Column("background_score", "background", "score", "The mean of their background scores."),
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
            "Area under the receiver operating characteristic, with a 95 % CI.",
            ends=("auroc_low", "auroc_high"),
            chance=0.5,
        ),
        Column("p_value", "p", "p", "One-sided, of no lift, from the same permutations."),
        Column("p_corrected", "p, corrected", "p", "By Benjamini and Hochberg, over the rows."),
        Column(
            "smallest_lift",
            "smallest lift that n shows",
            "score",
            "The lift that passes 5 % in 80 of 100 samples of so many independent questions.",
        ),
        Column(
            "no_interval", "no interval because", meaning="Why the lift has none; null if it has."
        ),
    )


CONSISTENCY = TableSpec(
    "consistency",
    "Conceptual consistency, all questions",
    "Over the questions that have a background score and an answer. p: one-sided, of no lift, from "
    "the same permutations as the interval.",
    columns=_predicts(Column("name", "name", meaning="Always all.", shown=False)),
    keys=2,
    printed=Layout(
        columns=("n", "consistency", "chance", "lift", "auroc", "p_value", "smallest_lift")
    ),
)
CONSISTENCY_BY_RELATION = TableSpec(
    "consistency_by_relation",
    "Conceptual consistency by relation",
    "Over the questions whose background holds the relation. p, corrected: Benjamini and Hochberg, "
    "over the relations of a model.",
    columns=_predicts(Column("name", "relation", meaning="The relation.", filter="relation")),
    keys=2,
)
CONSISTENCY_BY_CONCEPT = TableSpec(
    "consistency_by_concept",
    "Conceptual consistency by concept",
    "Over the questions whose background holds the concept: the 14 most frequent, of at least 28 "
    "questions each.",
    columns=_predicts(Column("name", "concept", meaning="The concept.", filter="concept")),
    keys=2,
)
BACKGROUND_BY_RELATION = TableSpec(
    "background_by_relation",
    "Background score by relation",
    "Accuracy on the relation's facts (to be answered yes) and their negatives (no).",
    columns=(
        Column("relation", "relation", meaning="The relation.", filter="relation"),
        Column("facts", "facts", "count", "Its distinct facts."),
        *_ANSWERED,
        *_ACCURACIES,
        Column(
            "background_score",
            "background score",
            "percent",
            "The mean of both accuracies; the 95 % CI resamples the facts' heads.",
            ends=("low", "high"),
            chance=0.5,
        ),
    ),
)
RELEVANCE = TableSpec(
    "relevance",
    "Relevance of a fact",
    "P(question right | fact right) less P(question right), as the paper defines it. The interval "
    "permutes which facts are right.",
    columns=(
        Column("relation", "relation", meaning="All, then each relation."),
        Column("facts_right", "facts right", "count", "Facts right, of an answered question."),
        Column("facts_wrong", "facts wrong", "count", "Facts wrong, of an answered question."),
        Column(
            "given_right",
            "questions right, fact right",
            "percent",
            meaning="The mean accuracy on the questions of a fact that is right.",
            shown=False,
        ),
        Column(
            "given_wrong",
            "questions right, fact wrong",
            "percent",
            meaning="The mean accuracy on the questions of a fact that is wrong.",
            shown=False,
        ),
        Column(
            "accuracy",
            "questions right",
            "percent",
            "The mean over all these facts.",
            shown=False,
        ),
        Column(
            "relevance",
            "relevance, points",
            "points",
            "The first mean less the mean over all facts.",
            ends=("low", "high"),
        ),
        Column("no_interval", "no interval because", meaning="Why there is none; null if it has."),
    ),
    printed=Layout(
        where={"relation": ("all",)},
        columns=("facts_right", "facts_wrong", "relevance", "no_interval"),
    ),
)
BACKGROUND_WAYS = TableSpec(
    "background_variants",
    "Ways to read the background",
    "Each meta-prompt and pair alone, and all together.",
    columns=(
        Column("preset", "way", meaning="How answers are read; votes: all replies together."),
        *VARIANT,
        Column("n", "n", "count", "Questions with a background score."),
        *_ACCURACIES,
        Column("background_score", "background", "score", "The mean over the questions."),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column("lift", "lift", "score", "(consistency - chance)/(1 - chance)."),
        Column("missing", "missing", "count", "Background questions without an answer."),
        Column("tied", "undecided", "count", "Background questions that tie, which is no."),
    ),
    keys=3,
)
ANCHOR_WAYS = TableSpec(
    "anchor_variants",
    "Ways to answer questions",
    "Each variant alone.",
    columns=(
        Column("anchoring", "way", meaning="Choice or verify."),
        *VARIANT,
        Column("n", "n", "count", "Questions that have an answer."),
        Column("right", "right", "count", "How many of them are answered right."),
        Column("accuracy", "accuracy", "percent", "The share that is right."),
    ),
    keys=3,
)
WINNERS = TableSpec(
    "winners",
    "Which variant gave the answer",
    "How often each meta-prompt and pair had the highest score of all.",
    columns=(
        Column("of", "of", meaning="Of background questions, or of questions by choice or verify."),
        *VARIANT,
        Column("count", "times", "count", "How often it gave the answer."),
        Column("share", "share", "percent", "The share of the answers that one input gave."),
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
    """Return the background score and the conceptual consistency of each relation."""
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
    "The mean over relations, with an interval over them; one half is what always giving the same "
    "answer gets. Beside it the accuracies on facts and negatives, as means over the n questions "
    "with a background score.",
    columns=(
        Column("relations", "relations", "count", "Relations with a background score."),
        Column(
            "value",
            "background score",
            "percent",
            "The mean over relations; with Student's t-interval.",
            ends=("low", "high"),
            chance=0.5,
        ),
        Column("n", "n", "count", "Questions with a background score."),
        *_ACCURACIES,
    ),
    keys=0,
    printed=Layout(),
    made=_background,
)
ANCHOR_ACCURACY = TableSpec(
    "anchor_accuracy",
    "Questions right",
    "Accuracy on the answered questions: all, and those with background facts.",
    columns=(
        Column("of", "questions", meaning="All, or those with facts."),
        Column("n", "n", "count", "How many have an answer."),
        Column(
            "value",
            "right",
            "percent",
            "The share that is right; the 95 % CI resamples question concepts.",
            ends=("low", "high"),
        ),
    ),
    printed=Layout(),
    made=_accuracy,
)
RELATIONS = TableSpec(
    "relations",
    "Background score and conceptual consistency by relation",
    "Facts of the relation, and the n questions whose background holds it.",
    columns=(
        Column("name", "relation", meaning="The relation."),
        Column("facts", "facts", "count", "Its distinct facts."),
        Column("score", "score", "percent", "Its background score."),
        Column("n", "n", "count", "Questions with such a fact."),
        CONSISTENCY_COLUMN,
        CHANCE,
        Column("lift", "lift", "score", "(consistency - chance)/(1 - chance)."),
        Column("p_corrected", "p, BH", "p", "By Benjamini and Hochberg, over relations."),
    ),
    printed=Layout(),
    shown=False,
    made=_relations,
)

TABLES = (
    *(QUESTION_TABLE, FACTS, LINKS, ANCHORS, CHOICES),
    *(CONSISTENCY, BACKGROUND_SCORE, ANCHOR_ACCURACY),
    *(RELATIONS, CONSISTENCY_BY_RELATION, CONSISTENCY_BY_CONCEPT, BACKGROUND_BY_RELATION),
    *(RELEVANCE, BACKGROUND_WAYS, ANCHOR_WAYS, WINNERS),
)
HEADLINES = (
    Headline(
        "Conceptual consistency (CC)",
        "average precision of the background score; tick: chance; its interval is the lift's",
        CONSISTENCY.name,
        "consistency",
        n=("n", "question"),
    ),
    Headline(
        "Lift above chance",
        "0 is chance, 1 perfect; tick: 0",
        CONSISTENCY.name,
        "lift",
        n=("n", "question"),
        scale=(-1.0, 1.0),
    ),
    Headline(
        "AUROC",
        "one half is chance (tick)",
        CONSISTENCY.name,
        "auroc",
        n=("n", "question"),
    ),
    Headline(
        "Background score",
        "facts and negatives answered right; tick: always the same answer",
        BACKGROUND_SCORE.name,
        "value",
        n=("relations", "relation"),
    ),
    Headline(
        "Questions right",
        "accuracy on all answered questions",
        ANCHOR_ACCURACY.name,
        "value",
        where={"of": "all"},
        n=("n", "question"),
    ),
)
