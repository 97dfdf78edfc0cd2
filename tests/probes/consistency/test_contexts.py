from __future__ import annotations

import random
from dataclasses import replace
from hashlib import md5
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.probes.consistency.contexts import CONDITIONS, ContextChoice, Contexts
from tacit.probes.consistency.template import RelationTemplate
from tests.probes.consistency.contexts_by_hand import COUNTS, IN_CONTEXT, probe_in_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.probes.consistency.asking_by_hand import Case


def contexts(cases: Sequence[Case] = IN_CONTEXT, most: int = 5, seed: int = 0) -> Contexts:
    found = probe_in_context(cases, choice=ContextChoice(most, seed)).contexts
    assert found is not None
    return found


@pytest.mark.parametrize("most", [1, 2, 5])
def test_every_condition_states_equally_many_facts(most: int) -> None:
    """At most the maximum, the heaviest first."""
    found = contexts(most=most)
    assert set(found.texts) == set(CONDITIONS)
    for texts in found.texts.values():
        assert {at: text.count(".") for at, text in texts.items()} == {
            at: min(most, COUNTS[at]) for at in texts
        }
    stated = {at: list(map(tuple, facts)) for at, facts in found.own.items()}
    assert stated == {at: [*case.facts[:most]] for at, case in enumerate(IN_CONTEXT)}


def test_facts_are_stated_as_sentences() -> None:
    """Before the prompt and one space."""
    found = contexts()
    assert found.texts["true"][2] == "Alpha2 has answer2. Alpha2 has tail2x1."
    assert found.texts["false"][2] == "Alpha2 has false2x0. Alpha2 has false2x1."
    (prompt, *_) = probe_in_context().questions.prompts["intervention-true"]
    assert prompt.text == f"{found.texts['true'][0]} What is alpha0 for?"


def test_equal_weights_are_ordered_by_a_seeded_hash() -> None:
    """As at the cap on background facts."""
    chosen = {}
    for seed in range(4):
        found = contexts(most=1, seed=seed)
        facts = found.background.facts.with_columns(weight=pl.lit(None, pl.Float64))
        found = replace(found, background=replace(found.background, facts=facts))
        for at in (0, 5):
            digests = {
                md5("\t".join((str(seed), *fact[:3])).encode()).hexdigest(): fact  # noqa: S324
                for fact in IN_CONTEXT[at].facts
            }
            assert tuple(*found.own[at]) == digests[min(digests)]
            chosen[seed, at] = found.own[at]
    assert len(set(chosen.values())) > 2


def test_irrelevant_facts_share_no_concept_and_no_word() -> None:
    """An anchor for which none fits has none."""
    found = contexts()
    assert len(found.irrelevant) > 8
    for at, stated in found.irrelevant.items():
        concepts = {end for fact in IN_CONTEXT[at].facts for end in (fact.head, fact.tail)}
        assert not concepts & {end for fact in stated for end in fact}
        assert f"{at}" not in {fact.head.removeprefix("alpha") for fact in stated}
    # Anchors with 4 facts have one other anchor with as many; one that shares a word has none.
    *others, last = IN_CONTEXT
    shares = tuple(fact._replace(tail="alpha5 case") for fact in last.facts)
    assert 5 not in contexts([*others, replace(last, facts=shares)]).irrelevant
    assert 5 in found.irrelevant


def test_an_anchor_that_shares_a_concept_is_no_source_of_irrelevant_facts() -> None:
    """Also if its facts do not mention the concept."""
    found = contexts()
    known = found.background
    shared = pl.DataFrame({"question": [11, 5], "concept": ["person"] * 2}, known.concepts.schema)
    known = replace(known, concepts=pl.concat([known.concepts, shared]))
    assert not {5, 11} & set(replace(found, background=known).irrelevant)
    assert {5, 11} <= set(found.irrelevant)


def test_contexts_do_not_depend_on_the_order_of_the_anchors() -> None:
    """Each anchor has the same text in any order."""
    order = random.Random(1).sample(range(len(COUNTS)), len(COUNTS))  # noqa: S311
    shuffled = contexts([IN_CONTEXT[at] for at in order])
    for condition, texts in contexts().texts.items():
        assert {order[n]: text for n, text in shuffled.texts[condition].items()} == texts


def test_facts_without_a_negative_are_left_out() -> None:
    """An anchor without any other fact has no context."""

    def left(everywhere: bool = False) -> list[Case]:  # noqa: FBT001, FBT002
        return [
            replace(
                case,
                facts=tuple(
                    fact._replace(negative=None)
                    if everywhere or at == 1 or fact.tail.endswith("x1")
                    else fact
                    for fact in case.facts
                ),
            )
            for at, case in enumerate(IN_CONTEXT)
        ]

    found = contexts(left())
    assert 1 not in found.own
    assert [len(found.own[at]) for at in (0, 2, 5)] == [2, 1, 3]
    with pytest.raises(RequestError, match="no question has such a fact"):
        contexts(left(everywhere=True))


def test_a_relation_without_a_statement_is_refused() -> None:
    """With what to do."""
    found = contexts()
    own = {**found.templates.relations, "HasA": RelationTemplate("Does {c1} has a {c2}?")}
    with pytest.raises(RequestError, match=r"no statement for HasA: add statement .* --templates"):
        replace(found, templates=replace(found.templates, relations=own))
