"""Facts before questions: which are stated, and what models make of them that read them or not."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import md5
from typing import Any

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.consistency.intervention import CONDITIONS, Contexts
from tacit.probes.consistency.template import RelationTemplate
from tests.probes.consistency.asking_by_hand import POSITIVE, Case, Fact, measured
from tests.probes.consistency.planted_by_hand import (
    COUNTS,
    IN_CONTEXT,
    copies,
    hurt,
    probe_in_context,
)


def contexts(cases: Sequence[Case] = IN_CONTEXT, most: int = 5, seed: int = 0) -> Contexts:
    found = probe_in_context(cases, context_facts=most).contexts
    assert found is not None
    return replace(found, seed=seed)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_every_condition_states_equally_many_facts(most: int) -> None:
    found = contexts(most=most)
    counts = {f"q{at}": min(most, count) for at, count in enumerate(COUNTS)}
    assert set(found.texts) == set(CONDITIONS)
    for texts in found.texts.values():
        assert all(text.count(".") == counts[anchor] for anchor, text in texts.iter_rows())
    own = [(case.anchor.id, *fact) for case in IN_CONTEXT for fact in case.facts[:most]]
    assert found.own.rows() == own
    first = [f"Alpha2 has {name}." for name in ("answer2", "tail2x1")[:most]]
    true, false = (dict(found.texts[name].iter_rows())["q2"] for name in ("true", "false"))
    assert true == " ".join(first)
    assert false.startswith("Alpha2 has false2x0.")


@pytest.mark.parametrize("seed", [0, 3])
def test_equal_weights_are_ordered_by_a_seeded_hash(seed: int) -> None:
    """As at the cap on background facts."""
    found = contexts(most=1, seed=seed)
    facts = found.background.facts.with_columns(weight=pl.lit(None, pl.Float64))
    found = replace(found, background=replace(found.background, facts=facts))

    def digest(fact: Fact) -> str:
        return md5("\t".join((str(seed), *fact[:3])).encode()).hexdigest()  # noqa: S324

    for at in (0, 5):
        (stated,) = found.own.filter(anchor=f"q{at}").drop("anchor").rows()
        assert stated == min(IN_CONTEXT[at].facts, key=digest)


def test_irrelevant_facts_share_no_concept_and_no_word() -> None:
    """An anchor for which none fits has none; the concepts of its text count too."""
    found, other = contexts(), contexts(IN_CONTEXT[5:] + IN_CONTEXT[:5])
    for name, texts in found.texts.items():
        assert other.texts[name].sort("anchor").equals(texts.sort("anchor"))
    assert found.irrelevant["anchor"].n_unique() > 8
    for anchor, *stated in found.irrelevant.iter_rows():
        own = {end for fact in IN_CONTEXT[int(anchor[1:])].facts for end in (fact.head, fact.tail)}
        assert not own & set(stated)
    # Anchors with 4 facts have one other anchor with as many; one that shares a word has none.
    *others, last = IN_CONTEXT
    shares = tuple(fact._replace(tail="alpha5 case") for fact in last.facts)
    assert "q5" not in contexts([*others, replace(last, facts=shares)]).irrelevant["anchor"]
    known = found.background
    shared = pl.DataFrame({"anchor": [11, 5], "concept": ["person"] * 2}, known.concepts.schema)
    known = replace(known, concepts=pl.concat([known.concepts, shared]))
    assert not {"q5", "q11"} & set(replace(found, background=known).irrelevant["anchor"])
    assert {"q5", "q11"} <= set(found.irrelevant["anchor"])


def test_facts_without_a_negative_are_left_out() -> None:
    """An anchor without another fact has no context; a relation without a statement is refused."""

    def left(*ends: str) -> list[Case]:
        kept = [
            [fact._replace(negative=None) if fact.tail.endswith(ends) else fact for fact in of]
            for of in (case.facts for case in IN_CONTEXT)
        ]
        return [replace(case, facts=tuple(of)) for case, of in zip(IN_CONTEXT, kept, strict=True)]

    found = contexts(left("x0", "x1"))
    counts = [found.own.filter(anchor=name).height for name in ("q1", "q0", "q2", "q5")]
    assert counts == [0, 2, 1, 2]
    with pytest.raises(RequestError, match="no question has such a fact"):
        contexts(left(""))
    own = {**found.templates.relations, "HasA": RelationTemplate("Does {c1} has a {c2}?")}
    with pytest.raises(RequestError, match=r"no statement for HasA: add statement .* --templates"):
        replace(found, templates=replace(found.templates, relations=own))


def changes(found: Findings) -> dict[tuple[str, str, str], dict[str, Any]]:
    rows = found.tables["intervention"].to_dicts()
    return {(row["group"], row["condition"], row["against"]): row for row in rows}


@pytest.mark.parametrize("way", ["choice", "verify"])
def test_a_model_that_copies_gains_only_where_a_fact_has_the_answer(way: str) -> None:
    """Half of the anchors have it in a true fact; false and irrelevant facts change nothing."""
    found = measured(probe_in_context(anchors=way), copies)
    rows = changes(found)
    true = rows["all", "true", "none"]
    assert (true["n"], true["before"], true["after"]) == (12, 0.0, 0.5)
    assert (true["change"], true["gained"], true["lost"]) == (0.5, 6, 0)
    assert true["change_low"] <= 0.5 <= true["change_high"]
    assert true["p_value"] == pytest.approx(2 / 2**6)
    for condition in ("false", "irrelevant"):
        row = rows["all", condition, "none"]
        assert (row["change"], row["change_low"], row["p_value"]) == (0.0, None, 1.0)
        assert row["no_interval"] == "no answer changed"
    assert rows["all", "true", "false"]["change"] == 0.5
    assert found.summary["intervention"]["anchoring"] == way


def test_a_model_that_false_facts_mislead() -> None:
    """All answers turn wrong behind false facts, and none behind others."""
    rows = changes(measured(probe_in_context(), hurt))
    row = rows["all", "false", "none"]
    assert (row["change"], row["lost"], row["gained"]) == (-1.0, 12, 0)
    assert (row["change_low"], row["change_high"]) == (None, None)
    assert row["no_interval"] == "no variation"
    assert row["p_value"] == pytest.approx(2 / 2**12)
    assert row["p_corrected"] == pytest.approx(5 * 2 / 2**12)
    assert rows["all", "true", "none"]["change"] == 0.0
    assert rows["all", "true", "false"]["change"] == 1.0
    found = measured(probe_in_context(IN_CONTEXT[:1]), hurt)
    row = changes(found)["all", "irrelevant", "none"]
    assert (row["n"], row["change"], row["p_value"], row["no_interval"]) == (
        *(0, None, None, "no pairs"),
    )
    assert found.summary["intervention"]["asked"] == {"true": 1, "false": 1, "irrelevant": 0}


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
    assert [rows["all", *of]["n"] for of in (("true", "none"), ("true", "false"))] == [11, 11]
    assert rows["all", "false", "none"]["n"] == 12
    assert found.summary["intervention"]["without_pair"]["true"] == 1
    row = found.tables["answers_in_context"].filter(anchor="q3", condition="true")
    assert row.select("choice", "right").row(0) == (None, None)


def test_without_the_option_nothing_else_is_asked_or_found() -> None:
    """With it, all other requests and tables are the same; a context stands before the prompt."""
    with_it, without = probe_in_context(), probe_in_context(intervene=False)
    asked = without.prompts
    assert asked == with_it.prompts[: len(asked)]
    assert contexts().texts["true"].row(0)[1] + " What is alpha0 for?" in {
        prompt.text for prompt in with_it.prompts[len(asked) :]
    }
    found, more = measured(without, copies), measured(with_it, copies)
    assert set(more.tables) - set(found.tables) == {"intervention", "answers_in_context"}
    assert all(table.equals(more.tables[name]) for name, table in found.tables.items())
    assert set(more.summary) - set(found.summary) == {"intervention"}
