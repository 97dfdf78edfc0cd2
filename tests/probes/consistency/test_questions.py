from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.questions import (
    bare,
    choice_variants,
    prompt_variants,
)
from tacit.probes.consistency.template import load_templates
from tacit.requests import Prompt
from tacit.sources.anchors import Anchor
from tests.probes.consistency.asking_by_hand import META, PAIRS, Case, Fact, probe_of
from tests.probes.consistency.run_by_hand import DOG

if TYPE_CHECKING:
    from tacit.probes.consistency.probe import ConsistencyProbe

TEMPLATES = load_templates()
WORDS = tuple(word for pair in PAIRS for word in pair)

# The sample instances of Table 2 (the one of FormOf has a second "of" there) and negatives of
# Table 3, with a capital and without the question mark.
PRINTED = [
    ("IsA", "security", "department", "Is security a department"),
    ("IsA", "ocean", "shame", "Is ocean a shame"),
    ("HasA", "house", "basement", "Does house has a basement"),
    ("HasA", "oceans", "uncle", "Does oceans has a uncle"),
    ("Antonym", "clever", "dull", "Is clever an antonym of dull"),
    ("Antonym", "wash", "detached", "Is wash an antonym of detached"),
    ("Causes", "fencing", "small cuts", "Does fencing cause small cuts"),
    ("Causes", "going_into_coma", "company", "Does going into coma cause company"),
    ("Desires", "dog", "affection", "Does a dog desires affection"),
    ("Desires", "children", "unemployed", "Does a children desires unemployed"),
    ("FormOf", "partying", "party", "Is partying a form of party"),
    ("FormOf", "bath room", "interrupted", "Is bath room a form of interrupted"),
    ("MadeOf", "car", "metal", "Is the car made of metal"),
    ("MadeOf", "plants", "bicycle", "Is the plants made of bicycle"),
    ("PartOf", "book", "library", "Is book a part of library"),
    ("PartOf", "gulf", "round", "Is gulf a part of round"),
    ("RelatedTo", "doctor", "illness", "Is doctor related to illness"),
    ("RelatedTo", "room", "jordan", "Is room related to jordan"),
    ("SimilarTo", "ridiculous", "silly", "Is ridiculous similar to silly"),
    ("SimilarTo", "lie", "botany", "Is lie similar to botany"),
    ("Synonym", "reply", "answer", "Is reply a synonym of answer"),
    ("Synonym", "heart", "volition", "Is heart a synonym of volition"),
    ("UsedFor", "clothes", "wearing", "Are clothes used for wearing"),
    ("UsedFor", "book", "school", "Are book used for school"),
    ("AtLocation", "door", "library", "Is door at location library"),
    ("AtLocation", "monkey", "fuzzball", "Is monkey at location fuzzball"),
    ("CapableOf", "child", "form_opinions", "Is a child capable of form opinions"),
    ("CapableOf", "computer", "pillow", "Is a computer capable of pillow"),
]


def questions_of(*facts: tuple[str, str, str]) -> list[str]:
    anchor = Anchor("q", "What?", ("a", "b"), 0)
    return probe_of([Case(anchor, tuple(Fact(*fact) for fact in facts))]).asked.texts


def probe(question: str, *choices: str) -> ConsistencyProbe:
    """The probe of one anchor question, answered by choice and by verification."""
    anchor = Anchor("q", question, choices, 0)
    return probe_of([Case(anchor, (DOG,))], anchors="choice,verify")


def asked(question: str, one: str, other: str) -> list[str]:
    return [META[meta].format(q=question, a=one, b=other) for meta in META]


@pytest.mark.parametrize(("relation", "first", "second", "printed"), PRINTED)
def test_prompts_to_the_character(relation: str, first: str, second: str, printed: str) -> None:
    """As Tables 1 to 3 print them: every relation behind every meta-prompt."""
    (question,) = questions_of((first, relation, second))
    assert question == printed
    prompts = [variant.prompt(question) for variant in prompt_variants(TEMPLATES)]
    texts = {prompt.text for prompt in prompts}
    assert set(asked(printed, "Yes", "No")) <= texts
    assert len(prompts) == len(texts) == 24
    assert {prompt.separator for prompt in prompts} == {" "}


def test_every_relation_is_printed() -> None:
    """The 14 of section 4, each with a fact above."""
    relations = list(dict.fromkeys(relation for relation, *_ in PRINTED))
    assert sorted(relations) == sorted(TEMPLATES.relations)
    assert len(relations) == 14


def test_the_24_prompts_of_a_question() -> None:
    """Three with all words, three for each of the pairs; the order is that of the table."""
    prompts = [variant.prompt("Is a b") for variant in prompt_variants(TEMPLATES)]
    rows = [(prompt.text, prompt.answers) for prompt in prompts]
    expected = [(text, WORDS) for text in asked("Is a b", "", "")[:2]]
    for meta in (2, 3, 4):
        expected += [(asked("Is a b", *pair)[meta], pair) for pair in PAIRS]
    expected.append((asked("Is a b", "", "")[5], WORDS))
    assert rows == expected


def test_the_arxiv_version_lacks_the_sixth_meta_prompt() -> None:
    """The second takes no choice in any version."""
    for version in ("review", "arxiv"):
        every = prompt_variants(TEMPLATES, version)
        lacking = set() if version == "review" else {6}
        assert {variant.meta for variant in every} == {1, 2, 3, 4, 5, 6} - lacking
        without_the_second = tuple(variant for variant in every if variant.meta != 2)
        assert choice_variants(TEMPLATES, version) == without_the_second


def test_choices_answer_the_question() -> None:
    """Behind each variant but the second, the labels named though no label is asked for."""
    group = probe("Where is a door?", "bank", "new york").requests()["choice"]
    texts = {prompt.text: prompt.answers for prompt in group.requests if isinstance(prompt, Prompt)}
    assert len(texts) == 23
    assert set(texts.values()) == {("bank", "new york")}
    for text in asked("Where is a door", "True", "False")[2:]:
        assert text in texts
    assert "Where is a door. Is this true?" not in texts
    assert group.keys.columns == ["anchor", "meta", "pair"]


def test_each_choice_is_verified() -> None:
    """By the words of a background question, behind all meta-prompts."""
    group = probe("Where is a door?", "bank", "new york").requests()["verify"]
    prompts = [prompt for prompt in group.requests if isinstance(prompt, Prompt)]
    assert group.keys["choice"].to_list() == ["bank"] * 24 + ["new york"] * 24
    assert prompts[0].text == "Is 'bank' the answer to: Where is a door?"
    last = "Question: Is 'new york' the answer to: Where is a door? Answer:"
    assert (prompts[-1].text, prompts[-1].answers) == (last, WORDS)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where is it?", "Where is it"),
        ("  Where is it ? ", "Where is it"),
        ("Where is it???", "Where is it"),
        ("He had to settle for what?.", "He had to settle for what"),
        ("Where is it?!", "Where is it"),
        ("Name a place.", "Name a place"),
        ("Name a place .", "Name a place"),
        ("What is in the U.S.?", "What is in the U.S."),
        ("He wanted to...", "He wanted to..."),
        ("He wanted to...?", "He wanted to..."),
        ("what should i do", "what should i do"),
        ("Is it? Say where.", "Is it? Say where"),
        ("Watch out!", "Watch out!"),
        ("A ___ is what?", "A ____ is what"),
        ("A _____ is what?", "A _____ is what"),
    ],
)
def test_how_a_question_ends(question: str, said: str) -> None:
    """The meta-prompt ends it; what ended it before goes, and nothing else."""
    assert bare(question) == said


def test_three_underscores_are_no_blank() -> None:
    """Neither in an anchor's question nor in a choice; a concept's are spaces."""
    groups = probe("A ___ or ___?", "___", "b").requests().values()
    prompts = [one for group in groups for one in group.requests if isinstance(one, Prompt)]
    assert {prompt.around for prompt in prompts} == {None}
    assert questions_of(("a___b", "IsA", "c_d")) == ["Is a   b a c d"]


def test_braces_are_text() -> None:
    """What stands in braces in a concept or a question is not filled in."""
    (question,) = questions_of(("{c2}", "IsA", "{question}"))
    assert prompt_variants(TEMPLATES)[0].prompt(question).text == "Is {c2} a {question}?"
    first = probe("{label_a}?", "a", "b").requests()["choice"].requests[0]
    assert isinstance(first, Prompt)
    assert first.text == "{label_a}?"
