from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.reading import Reading
from tests.probes.consistency.asking_by_hand import Dice, Fact, measured, probe_of
from tests.probes.consistency.run_by_hand import CASES, is_right, knows, knows_other

if TYPE_CHECKING:
    from typing import Any

    from tests.probes.consistency.asking_by_hand import Reply
    from tests.probes.consistency.run_by_hand import Run

OTHER = {"choice": "verify", "verify": "choice"}


def answer_columns(row: dict[str, Any], side: str) -> list[object]:
    names = ("question", "margin", "tied", "meta", "pair", "word")
    return [row[f"{side}_{name}"] for name in names]


def answered(question: str, reply: Reply) -> list[object]:
    winner = reply.winner
    spoken = [None] * 3 if winner is None else [winner.meta, winner.pair, winner.word]
    return [question, reply.margin, reply.tied, *spoken]


def test_each_fact_of_a_run(run: Run) -> None:
    """With both questions, the margin, and the meta-prompt, pair and word that won."""
    for row, fact in zip(run.rows("facts"), run.facts, strict=True):
        assert [row[name] for name in Fact._fields] == list(fact)
        assert answer_columns(row, "positive") == answered(
            fact.question, run.replies[fact.question]
        )
        assert row["positive_right"] is knows(fact, run.replies)
        assert row["negative_right"] is knows_other(fact, run.replies)
        if fact.other is None:
            assert answer_columns(row, "negative") == [None] * 6
        else:
            assert answer_columns(row, "negative") == answered(fact.other, run.replies[fact.other])


def test_links_lead_from_an_anchor_to_its_facts(run: Run) -> None:
    """A person can follow each to its contribution."""
    facts = {row["fact"]: row for row in run.rows("facts")}
    for at, case in enumerate(run.cases):
        mine = [facts[row["fact"]] for row in run.rows("links") if row["anchor"] == at]
        assert [(row["head"], row["relation"], row["tail"]) for row in mine] == [
            fact[:3] for fact in case.facts
        ]


def test_each_anchor_of_a_run(run: Run) -> None:
    """Its background score, what it was answered with and by which variant, and whether right."""
    scores = run.background(run.replies)
    for row, case, score, taken in zip(
        run.rows("anchors"), run.cases, scores, run.counting, strict=True
    ):
        anchor = case.anchor
        assert anchor.answer is not None
        assert (row["anchor"], row["question"]) == (anchor.id, anchor.question)
        assert row["answer"] == anchor.choices[anchor.answer]
        assert (row["facts"], row["concept"]) == (len(case.facts), anchor.concept)
        assert row["cluster"] == (anchor.concept or "anchor no concept")
        assert row["background_score"] == (None if score is None else float(score))
        assert (row["choice"], row["tied"]) == (taken.choice, taken.tied)
        assert row["margin"] == taken.margin
        assert (row["meta"], row["pair"]) == (taken.winner or (None, None))
        assert row["right"] is is_right(case, taken)


def test_the_other_way_to_answer_stands_beside(run: Run) -> None:
    """Under its name, when it was asked; it changes nothing of the first."""
    other = OTHER[run.anchoring[0]]
    rows = run.rows("anchors")
    if len(run.anchoring) == 1:
        assert not [name for name in rows[0] if name.startswith(("choice_", "verify_"))]
        return
    for row, case, taken in zip(rows, run.cases, run.taken(other), strict=True):
        assert row[f"{other}_choice"] == taken.choice
        assert row[f"{other}_right"] is is_right(case, taken)
        assert (row[f"{other}_tied"], row[f"{other}_margin"]) == (taken.tied, taken.margin)
        assert (row[f"{other}_meta"], row[f"{other}_pair"]) == (taken.winner or (None, None))


def test_every_input_of_every_question(run: Run) -> None:
    """84 rows for each distinct question, 70 in the arXiv version, null where there is no score."""
    rows = run.found.questions.to_dicts()
    assert len(rows) == len(run.scores) * 14 * run.metas
    found = {(r["question"], r["meta"], r["pair"], r["word"]): r["logprob"] for r in rows}
    assert found == {
        (text, one.meta, one.pair, one.word): value
        for text, scores in run.scores.items()
        for one, value in scores.items()
    }


def test_every_choice_in_every_form(run: Run) -> None:
    """23 variants, 22 in the arXiv version; nothing when only verifying was asked for."""
    rows = run.rows("choices")
    if "choice" not in run.anchoring:
        assert rows == []
        return
    variants = 22 if run.metas == 5 else 23
    assert len(rows) == variants * sum(len(case.anchor.choices) for case in run.cases)
    assert {row["meta"] for row in rows} == {1, 3, 4, 5, 6} - ({6} if run.metas == 5 else set())
    for row in rows:
        assert row["bytes"] == len(row["choice"].encode())
        value = row["logprob"]
        assert row["per_byte"] == (None if value is None else value / row["bytes"])
    bare = [row for row in rows if row["anchor"] == "three facts" and row["meta"] == 1]
    assert [row["choice"] for row in bare] == ["x", "café", "kennel"]
    for row in bare:
        assert row["logprob"] == run.says("Where does a dog live?", row["choice"])


def test_verifying_alone_asks_no_choices() -> None:
    """The table of choices has its columns, and no rows."""
    probe = probe_of(CASES[:1], reading=Reading(anchoring=("verify",)))
    found = measured(probe, Dice(1))
    assert found.tables["choices"].is_empty()
    assert found.tables["choices"].columns[:2] == ["anchor", "meta"]
    assert found.tables["anchors"]["right"].null_count() == 0


def test_tables_are_as_declared_and_hold_no_nan(run: Run) -> None:
    """What was not measured is null."""
    run.found.check(ConsistencyProbe.tables.values())
    for table in (*run.found.tables.values(), run.found.questions):
        floats = table.select(pl.selectors.float())
        assert not np.isnan(floats.drop_nulls().to_numpy()).any()
        assert all(not column.is_nan().any() for column in floats)
