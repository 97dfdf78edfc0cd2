from __future__ import annotations

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.probes.consistency.questions import Asked
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import Paper
from tests.probes.consistency.asking_by_hand import Fact


def asked(*rows: tuple[int, Fact]) -> Asked:
    """What is asked of some anchors' facts, each with its anchor's place."""
    schema = {"question": pl.Int32, **dict.fromkeys(Fact._fields, pl.String)}
    found = pl.DataFrame([(at, *fact) for at, fact in rows], schema, orient="row")
    return Asked.of(found, load_templates(), Paper())


DOG = Fact("dog", "IsA", "animal", "carrot")
TAIL = Fact("dog", "HasA", "tail", "wheel")


def test_a_fact_of_two_anchors_is_asked_once() -> None:
    """Both anchors are linked to it."""
    both = asked((0, TAIL), (3, DOG), (3, TAIL))
    assert both.facts.select("head", "relation", "tail").rows() == [TAIL[:3], DOG[:3]]
    assert both.facts["fact"].to_list() == [0, 1]
    assert both.links.rows() == [(0, 0), (3, 1), (3, 0)]


def test_each_fact_has_its_questions() -> None:
    """The fact's own and its negative's."""
    both = asked((0, DOG), (0, TAIL))
    own = ["Is dog a animal", "Does dog has a tail"]
    others = ["Is dog a carrot", "Does dog has a wheel"]
    assert both.facts["positive_question"].to_list() == own
    assert both.facts["negative_question"].to_list() == others
    assert both.questions == own + others


def test_a_fact_without_a_negative_has_one_question() -> None:
    """The other is null."""
    alone = asked((0, DOG._replace(negative=None)))
    assert alone.facts["negative_question"].to_list() == [None]
    assert alone.facts["negative_question"].dtype == pl.String
    assert alone.questions == ["Is dog a animal"]


def test_facts_that_come_down_to_one_question() -> None:
    """It is asked once; they stay two facts."""
    two = asked((0, Fact("hub", "PartOf", "car", "sky")), (1, Fact("hub", "IsA", "part of car")))
    assert two.questions == ["Is hub a part of car", "Is hub a part of sky"]
    assert two.facts["positive_question"].to_list() == ["Is hub a part of car"] * 2
    assert two.links.rows() == [(0, 0), (1, 1)]


def test_a_negative_that_is_anothers_fact() -> None:
    """The question is asked once, though one has it answered yes and the other no."""
    two = asked((0, Fact("hub", "PartOf", "car", "sky")), (0, Fact("hub", "PartOf", "sky", "sea")))
    assert two.questions == [f"Is hub a part of {part}" for part in ("car", "sky", "sea")]


def test_relations_without_a_template_are_refused() -> None:
    """All of them are named, and what to do."""
    strange = [Fact("a", relation, "b") for relation in ("Smells", "IsA", "Fears", "Smells")]
    with pytest.raises(RequestError, match="no template for Fears, Smells: add templates with"):
        asked(*((0, fact) for fact in strange))
