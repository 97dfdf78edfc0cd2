from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tacit.probes.consistency.reading import Reading
from tacit.statistics.tests import mcnemar
from tests.probes.consistency.asking_by_hand import POSITIVE, measured
from tests.probes.consistency.contexts_by_hand import (
    COUNTS,
    IN_CONTEXT,
    copies,
    hurt,
    probe_in_context,
)

if TYPE_CHECKING:
    from typing import Any

    from tacit.findings.findings import Findings


def changes(found: Findings) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = found.tables["intervention"].to_dicts()
    return {(row["group"], row["condition"], row["against"]): row for row in rows}


@pytest.mark.parametrize("way", ["choice", "verify"])
def test_a_model_that_copies_gains_only_where_a_fact_has_the_answer(way: str) -> None:
    """Half of the anchors have it in a true fact; false and irrelevant facts change nothing."""
    found = measured(probe_in_context(reading=Reading(anchoring=(way,))), copies)
    rows = changes(found)
    true = rows["all", "true", "none"]
    assert (true["n"], true["before"], true["after"]) == (12, 0.0, 0.5)
    assert (true["change"], true["gained"], true["lost"]) == (0.5, 6, 0)
    assert true["change_low"] <= 0.5 <= true["change_high"]
    assert true["p_value"] == pytest.approx(2 / 2**6)
    for condition in ("false", "irrelevant"):
        row = rows["all", condition, "none"]
        assert (row["change"], row["change_low"], row["p_value"]) == (0.0, None, 1.0)
        assert (row["gained"], row["lost"]) == (0, 0)
    assert rows["all", "true", "false"]["change"] == 0.5
    assert found.summary["intervention"]["anchoring"] == way


def test_a_model_that_ignores_its_context_changes_nothing() -> None:
    """P is 1, and there is no interval, with the reason."""
    probe = probe_in_context()
    assert probe.contexts is not None
    known = {text for of in probe.contexts.texts.values() for text in of.values()}

    def ignores(text: str, answer: str) -> float:
        context = max((one for one in known if text.startswith(one)), key=len, default="")
        bare = text.removeprefix(context).lstrip()
        dice = random.Random(f"{bare} {answer}")  # noqa: S311
        return -dice.random() * len(answer)

    found = measured(probe, ignores)
    assert 0 < found.tables["anchor_accuracy"]["value"][0] < 1
    for row in changes(found).values():
        assert (row["gained"], row["lost"]) == (0, 0)
        if row["n"]:
            assert (row["change"], row["p_value"], row["p_corrected"]) == (0.0, 1.0, 1.0)
            assert row["no_interval"] == "no answer changed"


def test_a_model_that_false_facts_mislead() -> None:
    """All answers turn wrong behind false facts, and none behind others."""
    rows = changes(measured(probe_in_context(), hurt))
    row = rows["all", "false", "none"]
    assert (row["change"], row["lost"], row["gained"]) == (-1.0, 12, 0)
    assert (row["change_low"], row["change_high"]) == (None, None)
    assert row["no_interval"] == "fewer than 5 clusters, or no variation"
    assert row["p_value"] == pytest.approx(mcnemar(0, 12)) == pytest.approx(2 / 2**12)
    assert row["p_corrected"] == pytest.approx(5 * 2 / 2**12)
    assert rows["all", "true", "none"]["change"] == 0.0
    assert rows["all", "true", "false"]["change"] == 1.0


def test_anchors_are_split_by_whether_the_model_knows_the_facts_in_context() -> None:
    """A fact is known if it is answered correctly as a background question."""

    def knows_some(text: str, answer: str) -> float:
        if answer in POSITIVE:
            return 0.0 if any(f"alpha{at} " in text for at in (0, 1, 2)) else -9.0
        return hurt(text, answer) if "answer" in answer or "wrong" in answer else -5.0

    found = measured(probe_in_context(), knows_some)
    known = found.tables["answers_in_context"].filter(condition="true")
    assert known["facts_right"].to_list() == [at in {0, 1, 2} for at in range(len(COUNTS))]
    rows = changes(found)
    assert rows["facts correct", "false", "none"]["n"] == 3
    assert rows["a fact incorrect", "false", "none"]["n"] == 9


def test_missing_answers_leave_the_pair_out() -> None:
    """A question without an answer in one context is paired in the other contexts."""

    def silent(text: str, answer: str) -> float | None:
        return None if "tail3x1" in text and "alpha3 for" in text else copies(text, answer)

    found = measured(probe_in_context(), silent)
    rows = changes(found)
    assert rows["all", "true", "none"]["n"] == 11
    assert rows["all", "false", "none"]["n"] == 12
    assert rows["all", "true", "false"]["n"] == 11
    assert found.summary["intervention"]["without_pair"]["true"] == 1
    told = (
        found.tables["answers_in_context"].filter(anchor="q3", condition="true").row(0, named=True)
    )
    assert (told["choice"], told["right"]) == (None, None)


def test_without_the_option_nothing_else_is_asked_or_found() -> None:
    """With it, all other requests and tables are the same."""
    with_it = probe_in_context()
    without = replace(with_it, context=None)
    assert list(without.requests()) == ["background", "choice", "prior"]
    assert without.prompts == with_it.prompts[: len(without.prompts)]
    found, more = measured(without, copies), measured(with_it, copies)
    assert set(more.tables) - set(found.tables) == {"intervention", "answers_in_context"}
    for name, table in found.tables.items():
        assert table.equals(more.tables[name]), name
    assert {k: v for k, v in more.summary.items() if k not in {"intervention", "prompts"}} == {
        k: v for k, v in found.summary.items() if k != "prompts"
    }


def test_no_irrelevant_facts_at_all() -> None:
    """With one anchor, the condition is empty, and its rows say so."""
    found = measured(probe_in_context(IN_CONTEXT[:1]), copies)
    row = changes(found)["all", "irrelevant", "none"]
    assert (row["n"], row["change"], row["p_value"]) == (0, None, None)
    assert row["no_interval"] == "no pairs"
    assert found.summary["intervention"]["asked"] == {"true": 1, "false": 1, "irrelevant": 0}
