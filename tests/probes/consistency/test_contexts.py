from __future__ import annotations

import random
from dataclasses import replace
from hashlib import md5

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.probes.consistency.contexts import CONDITIONS, ContextChoice, Contexts
from tacit.probes.consistency.template import RelationTemplate, load_templates
from tests.probes.consistency.contexts_by_hand import (
    COUNTS,
    anchors,
    background,
    facts,
    probe_in_context,
)


def contexts(most: int = 5, seed: int = 0) -> Contexts:
    """The contexts of the anchors."""
    return Contexts(anchors(), background(), load_templates(), ContextChoice(most, seed))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_every_condition_states_equally_many_facts(most: int) -> None:
    """At most the maximum, the heaviest first."""
    found = contexts(most)
    assert set(found.texts) == set(CONDITIONS)
    for texts in found.texts.values():
        assert {at: text.count(".") for at, text in texts.items()} == {
            at: min(most, COUNTS[at]) for at in texts
        }
    heaviest = {(row[0], row[1:5]) for row in facts() if (row[5] or 0) > 9 - most}
    assert {(at, fact) for at, of in found.own.items() for fact in of} == heaviest


def test_facts_are_stated_as_sentences() -> None:
    """Before the prompt and one space."""
    found = contexts()
    assert found.texts["true"][2] == "Alpha2 has answer2. Alpha2 has tail2x1."
    assert found.texts["false"][2] == "Alpha2 has false2x0. Alpha2 has false2x1."
    probe = probe_in_context()
    (prompt, *_) = probe.questions.prompts["intervention-true"]
    assert prompt.text == f"{found.texts['true'][0]} What is alpha0 for?"


def test_equal_weights_are_ordered_by_a_seeded_hash() -> None:
    """As at the cap on background facts."""
    rows = [(*row[:5], None) for row in facts()]
    chosen = {}
    for seed in range(4):
        found = Contexts(anchors(), background(rows), load_templates(), ContextChoice(1, seed))
        for at in (0, 5):
            digests = {
                md5("\t".join((str(seed), *row[1:4])).encode()).hexdigest(): row[1:5]  # noqa: S324
                for row in rows
                if row[0] == at
            }
            first = digests[min(digests)]
            assert found.own[at] == (first,)
            chosen[seed, at] = first
    assert len(set(chosen.values())) > 2


def test_irrelevant_facts_share_no_concept_and_no_word() -> None:
    """An anchor for which none fits has none."""
    found = contexts()
    assert len(found.irrelevant) > 8
    for at, stated in found.irrelevant.items():
        concepts = {end for row in facts() if row[0] == at for end in (row[1], row[3])}
        assert not concepts & {end for fact in stated for end in fact}
        assert f"{at}" not in {fact.head.removeprefix("alpha") for fact in stated}
    # Anchors with 4 facts have one other anchor with as many; one that shares a word has none.
    rows = [(*row[:3], "alpha5 case", *row[4:]) if row[0] == 11 else row for row in facts()]
    with_word = Contexts(anchors(), background(rows), load_templates(), ContextChoice())
    assert 5 not in with_word.irrelevant
    assert 5 in found.irrelevant


def test_an_anchor_that_shares_a_concept_is_no_source_of_irrelevant_facts() -> None:
    """Also if its facts do not mention the concept."""
    known = background()
    shared = pl.DataFrame({"question": [11, 5], "concept": ["person"] * 2}, known.concepts.schema)
    known = replace(known, concepts=pl.concat([known.concepts, shared]))
    found = Contexts(anchors(), known, load_templates(), ContextChoice())
    assert not {5, 11} & set(found.irrelevant)
    assert {5, 11} <= set(contexts().irrelevant)


def test_contexts_do_not_depend_on_the_order_of_the_anchors() -> None:
    """Each anchor has the same text in any order."""
    order = list(range(len(COUNTS)))
    random.Random(1).shuffle(order)  # noqa: S311
    place = {at: n for n, at in enumerate(order)}
    rows = sorted(((place[row[0]], *row[1:]) for row in facts()), key=lambda row: row[0])
    shuffled = Contexts(
        [anchors()[at] for at in order], background(rows), load_templates(), ContextChoice()
    )
    for condition, texts in contexts().texts.items():
        assert shuffled.texts[condition] == {place[at]: text for at, text in texts.items()}


def test_facts_without_a_negative_are_left_out() -> None:
    """An anchor without any other fact has no context."""
    rows = [
        (*row[:4], None, row[5]) if row[0] == 1 or row[3].endswith("x1") else row for row in facts()
    ]
    found = Contexts(anchors(), background(rows), load_templates(), ContextChoice())
    assert 1 not in found.own
    assert [len(found.own[at]) for at in (0, 2, 5)] == [2, 1, 3]
    with pytest.raises(RequestError, match="no question has such a fact"):
        probe_in_context(background([(*row[:4], None, row[5]) for row in facts()]))


def test_a_relation_without_a_statement_is_refused() -> None:
    """With what to do."""
    templates = load_templates()
    own = {**templates.relations, "HasA": RelationTemplate("Does {c1} has a {c2}?")}
    with pytest.raises(RequestError, match=r"no statement for HasA: add statement .* --templates"):
        Contexts(anchors(), background(), replace(templates, relations=own), ContextChoice())
