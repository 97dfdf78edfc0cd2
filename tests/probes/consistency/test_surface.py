"""Background questions from surface text."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.english import Nouns
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.sentences import sentences
from tacit.probes.consistency.surface import Sentence, Surface
from tacit.probes.consistency.template import load_templates
from tacit.requests import BLANK
from tacit.sources.dumps import Dump
from tests.probes.consistency.asking_by_hand import Dice, measured

if TYPE_CHECKING:
    from pathlib import Path

NOUNS = Nouns.load()

# Text, head and tail; the statement; the statement about "apple" in place of the tail.
STATED = [
    (
        ("You are likely to find [[wheat]] in [[a field]]", "wheat", "field"),
        "you are likely to find wheat in a field",
        "you are likely to find wheat in an apple",
    ),
    (
        ("*Something you find on [[a test]] is [[hard questions]]", "hard questions", "test"),
        "something you find on a test is hard questions",
        "something you find on an apple is hard questions",
    ),
    (
        ("[[a dog]] wants to [[chase a cat]]", "dog", "chase cat"),
        "a dog wants to chase a cat",
        "a dog wants to apple",
    ),
    (
        ("[[dog]] is a [[mammal]].", "dog", "mammal"),
        "dog is a mammal",
        "dog is an apple",
    ),
    (
        ("**[[The dog]] is in [[the kennel]] .", "dog", "kennel"),
        "the dog is in the kennel",
        "the dog is in the apple",
    ),
    (
        ("[[a guide dog]] is a type of [[dog]]", "guide dog", "dog"),
        "a guide dog is a type of dog",
        "a guide dog is a type of apple",
    ),
    (
        ("[[A  child&#39;s_toy]] &amp; more is [[An eggplant]]", "child's toy", "eggplant"),
        "a child's toy & more is An eggplant",
        "a child's toy & more is an apple",
    ),
    (
        ("[[Paris]] is part of [[France]]", "paris", "france"),
        "Paris is part of France",
        "Paris is part of apple",
    ),
    (("[[I]] am [[a person]]", "i", "person"), "I am a person", "I am an apple"),
    (("I can use [[a pen]] to [[write]]", "pen", "write"), "I can use a pen to write", None),
    (
        (
            "[[Education in the United States]] is [[a thing]]",
            "education in united states",
            "thing",
        ),
        "Education in the United States is a thing",
        "Education in the United States is an apple",
    ),
]


@pytest.mark.parametrize(("given", "statement", "negative"), STATED)
def test_statements(given: tuple[str, str, str], statement: str, negative: str | None) -> None:
    """Marks are removed, the first letter is lowered, and a negative has the tail's article."""
    sentence = Sentence.parse(*given)
    assert sentence is not None
    assert sentence.statement(NOUNS) == statement
    if negative is not None:
        assert sentence.statement(NOUNS, "apple") == negative


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dogs are animals",
        "[[dog]] is an animal",
        "[[dog]] and [[cat]] are [[animal]]",
        "[[dog [[big]]]] is an [[animal]]",
        "[[dog]] is an [[animal]",
        "[[]] is an [[animal]]",
        "[[pets]] are [[creatures]]",
        "[[dog animal]] is an [[animal dog]]",
    ],
)
def test_texts_that_do_not_mark_head_and_tail_are_not_used(text: str) -> None:
    """One mark or three, nested marks, and concepts that match neither label or both alike."""
    assert Sentence.parse(text, "dog", "animal") is None


@given(text=st.text(st.sampled_from("[]*adog nimal_.&;")), tail=st.text(max_size=5))
def test_any_text_can_be_parsed(text: str, tail: str) -> None:
    """A statement has no marks of concepts, and no blank of a prompt."""
    sentence = Sentence.parse(text, "dog", "animal")
    if sentence is not None:
        for stated in (sentence.statement(NOUNS), sentence.statement(NOUNS, tail)):
            assert BLANK not in stated
            assert "[[" not in stated.replace(tail, "")


LINES = [
    ("AtLocation", "wheat", "field", "You are likely to find [[wheat]] in [[a field]]"),
    ("AtLocation", "hard_questions", "test", "*Something on [[a test]] is [[hard questions]]"),
    ("IsA", "test", "field", "[[exams]] are [[areas]]"),
    ("UsedFor", "field", "wheat", None),
]
QUESTIONS = """question,choices,answer
Where is wheat?,field|test,field
What is a test with hard questions?,exam|field,exam
"""


def probe(folder: Path, *, with_texts: bool = True) -> ConsistencyProbe:
    """The probe of two questions, of which some facts have surface text."""
    lines = []
    for relation, head, tail, text in LINES:
        about = {"weight": 1.0} | ({"surfaceText": text} if text and with_texts else {})
        cells = (f"/a/[{head}]", f"/r/{relation}", f"/c/en/{head}", f"/c/en/{tail}")
        lines.append("\t".join((*cells, json.dumps(about))) + "\n")
    (folder / "dump.csv").write_text("".join(lines), encoding="utf-8")
    (folder / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    build(Source([Dump(folder / "dump.csv")]), folder / "base.kb")
    return ConsistencyProbe.of(
        ConsistencyOptions(folder / "questions.csv", folder / "base.kb", wording="surface")
    )


def test_facts_without_a_usable_text_are_worded_by_templates(tmp_path: Path) -> None:
    """Each fact and its negative have the same wording; the counts are in the summary."""
    of = probe(tmp_path)
    asked = {
        head: (of.asked.texts[one], of.asked.texts[other])
        for head, one, other in of.asked.facts.select(
            "head", "positive_question", "negative_question"
        ).iter_rows()
    }
    negatives = dict(of.asked.facts.select("head", "negative").iter_rows())
    assert asked["wheat"][0] == "Is it true that you are likely to find wheat in a field"
    assert asked["wheat"][1].startswith("Is it true that you are likely to find wheat in a")
    assert asked["wheat"][1].endswith(negatives["wheat"])
    assert asked["hard questions"][0] == "Is it true that something on a test is hard questions"
    assert asked["test"] == ("Is test a field", f"Is test a {negatives['test']}")
    assert asked["field"] == (
        "Are field used for wheat",
        f"Are field used for {negatives['field']}",
    )
    found = measured(of, Dice(3))
    assert found.summary["surface"] == {"facts": 4, "with_text": 3, "worded": 2}
    assert (
        "2 of 4 facts are worded with the surface text: the knowledge base's own sentence for "
        "the fact. All other facts, among them 1 fact whose surface text does not mark the head "
        "and the tail, are worded with the templates of Sahu et al. 2022."
    ) in list(sentences(found.summary))


def test_no_text_at_all_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line before any cost, and a sentence of the run."""
    with caplog.at_level(logging.WARNING):
        of = probe(tmp_path, with_texts=False)
    (warning,) = caplog.messages
    assert "has no surface text for any of the facts" in warning
    found = measured(of, Dice(3))
    assert found.summary["surface"] == {"facts": 4, "with_text": 0, "worded": 0}
    assert any(text.startswith("No fact has surface text") for text in sentences(found.summary))


def test_the_question_is_data(tmp_path: Path) -> None:
    """The template comes from consistency.yaml, and braces in a text are text."""
    assert load_templates().surface == "Is it true that {statement}?"
    dump = tmp_path / "dump.csv"
    info = json.dumps({"weight": 1, "surfaceText": "[[dog]] {is} [[animal]]"})
    dump.write_text(f"/a/1\t/r/IsA\t/c/en/dog\t/c/en/animal\t{info}\n", encoding="utf-8")
    build(Source([Dump(dump)]), tmp_path / "base.kb")
    facts = pl.DataFrame({"head": ["dog"], "relation": ["IsA"], "tail": ["animal"]})
    with KnowledgeBase(tmp_path / "base.kb") as base:
        surface = Surface.of(base, facts, "really: {statement}?")
    assert surface.question(("dog", "IsA", "animal"), "cat") == "Really: dog {is} cat"
