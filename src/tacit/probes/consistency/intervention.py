"""The intervention: does stating facts before an anchor question change the answer?

Each anchor that has a context is asked without it, and behind its own facts, its negatives stated
as facts, and another anchor's facts (METHODS section 4). The pairs of answers are compared for all
anchors, and by two properties of an anchor's own facts in the context: whether the model answered
all of them correctly as background questions, and whether one of them has a concept of the correct
choice, so that the answer may be copied.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.findings.spec import Column, Layout, TableSpec
from tacit.probes.consistency.contexts import CONDITIONS
from tacit.statistics import Bootstrap
from tacit.statistics.paired import holm, paired_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Chosen
    from tacit.probes.consistency.background_scores import CorrectAnswers
    from tacit.probes.consistency.contexts import Contexts, Fact
    from tacit.probes.consistency.questions import Asked

ALL = "all"
GROUPS: Mapping[str, tuple[str, bool]] = {
    "facts known": ("facts_known", True),
    "a fact not known": ("facts_known", False),
    "answer in a fact": ("answer_in_fact", True),
    "answer in no fact": ("answer_in_fact", False),
}
"""The groups of anchors: for each, a column of the answers in context, and its value."""

ANSWERS_IN_CONTEXT = TableSpec(
    "answers_in_context",
    "Answers in context",
    "Each anchor question that is asked behind facts, with its context and answers.",
    columns=(
        Column("anchor", "id", meaning="The question's id in the file."),
        Column(
            "condition",
            "facts in context",
            meaning="True (its own facts), false (its negatives) or irrelevant (another "
            "question's facts).",
        ),
        Column("cluster", "cluster", meaning="The bootstrap cluster, as in ``anchors``."),
        Column("facts", "facts", "count", "How many facts the context states."),
        Column("context", "context", meaning="The text of the facts."),
        Column(
            "facts_known",
            "facts known",
            "truth",
            "Whether the model answered all the question's own facts of a context correctly, as "
            "background questions; null if unknown.",
        ),
        Column(
            "answer_in_fact",
            "answer in a fact",
            "truth",
            "Whether a concept of one of its own facts is in the correct choice; null if unknown.",
        ),
        Column("right_before", "correct, no facts", "truth", "Whether the answer is correct."),
        Column("choice", "answer", meaning="The choice that the model selects in the context."),
        Column("right", "correct", "truth", "Whether it is correct; null without an answer."),
        Column("tied", "tied", "truth", "Whether choices tie."),
    ),
    keys=2,
    shown=False,
    optional=True,
)
INTERVENTION = TableSpec(
    "intervention",
    "Intervention: accuracy behind stated facts",
    "Paired change of accuracy when facts precede the anchor question. Facts known: the model "
    "answers all of the question's own facts in the context correctly. Answer in a fact: one of "
    "them has a concept of the correct choice, so a gain may be copying.",
    columns=(
        Column("group", "questions", meaning="All, or by the question's own facts."),
        Column("condition", "facts in context", meaning="True, false or irrelevant."),
        Column("n", "n", "count", "Questions with both answers."),
        Column("clusters", "concepts", "count", "Their question concepts.", shown=False),
        Column("before", "accuracy, no facts", "percent", "The accuracy without facts."),
        Column("after", "accuracy, with facts", "percent", "The accuracy behind the facts."),
        Column(
            "change",
            "change",
            "points",
            "The difference; the 95 % CI resamples question concepts.",
            ends=("low", "high"),
            chance=0.0,
        ),
        Column("gained", "wrong to correct", "count", "Answers that turn correct."),
        Column("lost", "correct to wrong", "count", "Answers that turn wrong."),
        Column("p_value", "p", "p", "McNemar's exact test, two-sided."),
        Column("p_corrected", "p, Holm", "p", "Corrected over the conditions of a group (Holm)."),
        Column(
            "no_interval",
            "why no interval",
            meaning="Why there is no interval; null if there is one.",
        ),
    ),
    keys=2,
    printed=Layout(
        columns=("group", "condition", "n", "before", "after", "change", "p_value", "p_corrected")
    ),
    optional=True,
)


def tables(
    contexts: Contexts,
    chosen: Mapping[str, Chosen],
    known: CorrectAnswers,
    asked: Asked,
    anchors: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Return the tables of the intervention.

    Args:
        contexts: The contexts.
        chosen: The answers of each condition's anchors, in the order of ``contexts.texts``.
        known: Whether each fact was answered correctly.
        asked: The facts.
        anchors: ``anchor``, ``cluster`` and ``right``, one row per anchor.
    """
    facts_known = _facts_known(contexts.own, known, asked)
    answers = _answers(contexts, chosen, facts_known, anchors)
    return {ANSWERS_IN_CONTEXT.name: answers, INTERVENTION.name: changes(answers)}


def _answers(
    contexts: Contexts,
    chosen: Mapping[str, Chosen],
    facts_known: Mapping[int, bool | None],
    anchors: pl.DataFrame,
) -> pl.DataFrame:
    """Return the table of answers in context."""
    import polars as pl

    rows: list[tuple[Any, ...]] = []
    told = anchors.select("anchor", "cluster", "right").rows()
    for condition, found in chosen.items():
        for row, (at, context) in enumerate(contexts.texts[condition].items()):
            name, cluster, before = told[at]
            anchor, choice = contexts.anchors[at], int(found.choice[row])
            missing = bool(found.missing[row])
            own = (facts_known[at], contexts.touching.get(at))
            rows.append(
                (
                    *(name, condition, cluster, len(contexts.own[at]), context, *own, before),
                    None if missing else anchor.choices[choice],
                    None if missing else choice == anchor.answer,
                    bool(found.tied[row]),
                )
            )
    return pl.DataFrame(rows, ANSWERS_IN_CONTEXT.schema, orient="row")


def _facts_known(
    own: Mapping[int, Sequence[Fact]], known: CorrectAnswers, asked: Asked
) -> dict[int, bool | None]:
    """Return whether all facts of each anchor's context were answered correctly.

    None if a fact has no answer and no other one was answered incorrectly.
    """
    of = asked.facts.select("head", "relation", "tail").iter_rows()
    right = dict(zip(of, known.positive.tolist(), strict=True))
    answers = {at: [right[fact[:3]] for fact in facts] for at, facts in own.items()}
    return {
        at: False if 0 in values else True if values == [1] * len(values) else None
        for at, values in answers.items()
    }


def changes(answers: pl.DataFrame, bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Compute the paired change of accuracy of each condition, for all anchors and by group.

    Args:
        answers: The table of answers in context.
        bootstrap: The bootstrap for the intervals; the default if None.
    """
    import polars as pl

    pairs = answers.drop_nulls(["right_before", "right"])
    parts = {
        ALL: pairs,
        **{name: pairs.filter(**{of: is_so}) for name, (of, is_so) in GROUPS.items()},
    }
    rows = [row for name, part in parts.items() for row in _group(name, part, bootstrap)]
    return pl.DataFrame(rows, INTERVENTION.schema)


def _group(
    name: str, pairs: pl.DataFrame, bootstrap: Bootstrap | None
) -> list[dict[str, str | int | float | None]]:
    """Return the rows of a group, one per condition."""
    rows = []
    for condition in CONDITIONS:
        part = pairs.filter(condition=condition)
        found = paired_change(
            part["right_before"], part["right"], part["cluster"], bootstrap or Bootstrap()
        )
        figures = {key: value for key, value in asdict(found).items() if key != "change"}
        change = {"change": found.change.value, "low": found.change.low, "high": found.change.high}
        clusters = part["cluster"].n_unique()
        rows.append(
            {"group": name, "condition": condition, "clusters": clusters, **figures, **change}
        )
    corrected = holm([row["p_value"] for row in rows])
    return [{**row, "p_corrected": p} for row, p in zip(rows, corrected, strict=True)]


def summary(contexts: Contexts, anchoring: str, found: pl.DataFrame) -> dict[str, Any]:
    """Return the part of the summary about the intervention.

    Args:
        contexts: The contexts.
        anchoring: The method of answering anchors in context.
        found: The table of changes.
    """
    asked = {condition: len(of) for condition, of in contexts.texts.items()}
    return {
        "anchoring": anchoring,
        "format": asdict(contexts.templates.context),
        **asdict(contexts.choice),
        "anchors": len(contexts.own),
        "without_context": len(contexts.anchors) - len(contexts.own),
        "facts": sum(map(len, contexts.own.values())),
        "answer_in_fact": sum(contexts.touching.values()) if contexts.touching else None,
        "asked": asked,
        "without_pair": {
            condition: asked[condition] - n
            for condition, n in found.filter(group=ALL).select("condition", "n").iter_rows()
        },
        "changes": found.to_dicts(),
    }
