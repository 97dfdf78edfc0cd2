from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.questions import bare, prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import Prompt
from tacit.sources.questions import Anchor
from tests.probes.consistency.asking_by_hand import META, PAIRS, Case, Fact, probe_of
from tests.probes.consistency.run_by_hand import DOG

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
    anchor = Anchor("q", question, choices, 0)
    return probe_of([Case(anchor, (DOG,))], anchors="choice,verify")


def test_prompts_to_the_character() -> None:
    """As Tables 1 to 3 print them: all 14 relations behind every meta-prompt."""
    relations = {relation for relation, *_ in PRINTED}
    assert relations == set(TEMPLATES.relations)
    assert len(relations) == 14
    facts = [(first, relation, second) for relation, first, second, _ in PRINTED]
    questions = questions_of(*facts)
    assert questions == [printed for *_, printed in PRINTED]
    for question in questions:
        prompts = [variant.prompt(question) for variant in prompt_variants(TEMPLATES)]
        texts = {prompt.text for prompt in prompts}
        assert {text.format(q=question, a="Yes", b="No") for text in META.values()} <= texts
        assert len(prompts) == len(texts) == 24
        assert {prompt.separator for prompt in prompts} == {" "}


def test_how_a_question_ends() -> None:
    """The meta-prompt ends it; what ended it before goes, and nothing else."""
    expected = {
        "  Where is it ? ": "Where is it",
        "Where is it???": "Where is it",
        "He had to settle for what?.": "He had to settle for what",
        "Where is it?!": "Where is it",
        "Name a place.": "Name a place",
        "What is in the U.S.?": "What is in the U.S.",
        "He wanted to...": "He wanted to...",
        "He wanted to...?": "He wanted to...",
        "Is it? Say where.": "Is it? Say where",
        "Watch out!": "Watch out!",
        "A ___ is what?": "A ____ is what",
        "A _____ is what?": "A _____ is what",
    }
    assert {question: bare(question) for question in expected} == expected


def test_underscores_and_braces_are_text() -> None:
    """Three are no blank in a question or a choice; those of a concept are spaces; braces stay."""
    groups = probe("A ___ or ___?", "___", "b").requests().values()
    prompts = [one for group in groups for one in group.requests if isinstance(one, Prompt)]
    assert {prompt.around for prompt in prompts} == {None}
    assert questions_of(("a___b", "IsA", "c_d")) == ["Is a   b a c d"]
    (question,) = questions_of(("{c2}", "IsA", "{question}"))
    assert prompt_variants(TEMPLATES)[0].prompt(question).text == "Is {c2} a {question}?"
    first = probe("{label_a}?", "a", "b").requests()["choice"].requests[0]
    assert isinstance(first, Prompt)
    assert first.text == "{label_a}?"
