"""Whether facts in the prompt change the answers to anchor questions (METHODS 4)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.probes.consistency.answer_tables import with_choices
from tacit.probes.consistency.contexts import CONDITIONS, Fact
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.tests import holm, paired_change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.probes.consistency.contexts import Contexts
    from tacit.statistics import Bootstrap

ALL, BEFORE = "all", "none"
COMPARISONS = (
    *((condition, BEFORE) for condition in CONDITIONS),
    (CONDITIONS[0], CONDITIONS[1]),
    (CONDITIONS[0], CONDITIONS[2]),
)
"""The pairs of conditions that are compared, such as true facts against no facts."""
GROUPS = {"facts correct": True, "a fact incorrect": False}
"""Groups of anchor questions by the value of ``facts_right`` in ``answers_in_context``."""


def tables(
    contexts: Contexts,
    chosen: Mapping[str, pl.DataFrame],
    facts: pl.DataFrame,
    anchors: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Return the tables ``answers_in_context`` and ``intervention``, by table name."""
    known = _facts_right(contexts, facts)
    answers = TABLES["answers_in_context"].frame(_answers(contexts, chosen, known, anchors))
    return {"answers_in_context": answers, "intervention": changes(answers)}


def _facts_right(contexts: Contexts, facts: pl.DataFrame) -> dict[int, bool | None]:
    """Return whether the model answers all background questions about the own facts correctly."""
    import polars as pl

    rows = [(at, *fact[:3]) for at, own in contexts.own.items() for fact in own]
    names = Fact._fields[:3]
    stated = pl.DataFrame(rows, ["question", *names], orient="row")
    found = stated.join(facts, on=names).group_by("question")
    return dict(found.agg(pl.col("positive_right").all(ignore_nulls=False)).iter_rows())


def _answers(
    contexts: Contexts,
    chosen: Mapping[str, pl.DataFrame],
    known: Mapping[int, bool | None],
    anchors: pl.DataFrame,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table ``answers_in_context``."""
    before = anchors.select("anchor", "cluster", right_before="right").to_dicts()
    for condition, found in chosen.items():
        answered = with_choices(contexts.anchors, found).select("anchor", "choice", "right", "tied")
        for row in answered.iter_rows(named=True):
            at = row["anchor"]
            yield {
                **row,
                **before[at],
                "condition": condition,
                "facts": len(contexts.own[at]),
                "context": contexts.texts[condition][at],
                "facts_right": known[at],
            }


def changes(answers: pl.DataFrame, bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Compute paired accuracy changes between conditions, overall and by question group."""
    import polars as pl

    columns = ("anchor", "condition", "cluster", "facts_right", "right")
    alone = answers.unique("anchor", maintain_order=True).with_columns(
        condition=pl.lit(BEFORE), right="right_before"
    )
    every = pl.concat(each.select(columns) for each in (alone, answers)).drop_nulls("right")
    parts = {ALL: every} | {name: every.filter(facts_right=so) for name, so in GROUPS.items()}
    return TABLES["intervention"].frame(
        {"group": name, **row} for name, part in parts.items() for row in _changes(part, bootstrap)
    )


def _changes(answers: pl.DataFrame, bootstrap: Bootstrap | None) -> list[dict[str, Any]]:
    """Return one row per comparison of two conditions in a group of anchor questions."""
    rows = []
    for condition, against in COMPARISONS:
        after, before = (answers.filter(condition=each) for each in (condition, against))
        both = before.join(after.select("anchor", after="right"), "anchor", maintain_order="left")
        found = paired_change(both["right"], both["after"], both["cluster"], bootstrap)
        keys = {"condition": condition, "against": against}
        of = {"clusters": both["cluster"].n_unique(), "no_interval": found.change.why}
        rows.append({**keys, **of, **vars(found)})
    corrected = holm([row["p_value"] for row in rows])
    return [{**row, "p_corrected": p} for row, p in zip(rows, corrected, strict=True)]


def summary(contexts: Contexts, anchoring: str, found: pl.DataFrame) -> dict[str, Any]:
    """Return how facts were stated, and how many anchor questions have no context or answer."""
    asked = {condition: len(of) for condition, of in contexts.texts.items()}
    paired = found.filter(group=ALL, against=BEFORE).select("condition", "n").iter_rows()
    return {
        "anchoring": anchoring,
        "format": asdict(contexts.templates.context),
        **asdict(contexts.choice),
        "anchors": len(contexts.own),
        "without_context": len(contexts.anchors) - len(contexts.own),
        "facts": sum(map(len, contexts.own.values())),
        "asked": asked,
        "without_pair": {condition: asked[condition] - n for condition, n in paired},
    }
