from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.coherence.ontology import Ontology
from tacit.english import Nouns
from tacit.errors import RequestError
from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.probes.assumptions.corrections import Correction, Corrections
from tacit.probes.assumptions.elicitation import elicit
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.properties import choose_concepts, word_properties
from tacit.probes.consistency.new_question import _checked
from tacit.probes.consistency.template import load_templates
from tacit.probes.parts.probe import PartsProbe
from tacit.requests import Prompt
from tacit.requests.answer_parsing import read_answer
from tacit.sources.drawings import read_drawings
from tacit.sources.dumps import Dump
from tacit.sources.norms import Norms, read_norms
from tacit.sources.questions import read_anchors
from tacit.sources.wordings import read_alternatives
from tacit.strings import Spellings, comparable, strings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Paris", r"answers is the string 'Paris'.*such as \['Paris'\]"),
        (3, "answers is 3"),
        (["a", 1], "answers contains 1"),
    ],
)
def test_what_holds_no_strings_is_refused(given: Any, message: str) -> None:  # noqa: ANN401
    """A string, which would be taken for its letters, is refused, too."""
    for take in (lambda value: strings(value, "answers"), lambda value: Prompt("…", value)):
        with pytest.raises(RequestError, match=message):
            take(given)


def test_a_list_is_as_good_as_a_tuple_and_a_set_stays_a_set() -> None:
    """So that a prompt can be a key."""
    assert {Prompt("…", ["Paris"]): 1} == {Prompt("…", ("Paris",)): 1}  # type: ignore[arg-type]
    assert Nouns(plural={"glasses"}).plural == frozenset({"glasses"})  # type: ignore[arg-type]


def test_a_long_string_is_cut_in_the_message() -> None:
    """The message shows at most 80 characters of the string."""
    with pytest.raises(RequestError) as raised:
        strings("x" * 500, "answers")
    assert len(str(raised.value)) < 300


CAFE = "ice café"
SPELLINGS = {
    "NFD": unicodedata.normalize("NFD", CAFE),
    "soft hyphen": "ice ca\u00adfé",
    "zero-width space": "ice café\u200b",
    "zero-width joiner": "ice\u200d café",
    "byte order mark": "\ufeffice café",
    "direction mark": "ice café\u200e",
    "variation selector": "ice café\ufe0f",
    "non-breaking space": "ice\u00a0café",
    "NFD after a joiner": "ice cafe\u200c\u0301",
}
EVERY_WAY = "ice\u00a0cafe\u200c\u0301"
DIFFERENT = ("ice cafe", "Ice café", "icecafé", "ice  café", "ice cafè")


@pytest.mark.parametrize("other", SPELLINGS.values(), ids=SPELLINGS)
def test_names_that_look_the_same_are_the_same(other: str) -> None:
    """A name is compared in NFC, without invisible characters, and with plain spaces."""
    assert comparable(other) == comparable(CAFE) == CAFE


@given(st.text())
def test_the_compared_form_is_compared_to_itself(text: str) -> None:
    """The form in which names are compared is its own form, and does not depend on NFC or NFD."""
    form = comparable(text)
    assert comparable(form) == form
    assert comparable(unicodedata.normalize("NFD", text)) == form


def test_names_that_look_different_differ() -> None:
    """Accents, letter case and spaces matter, and so do tags, in which some flags differ."""
    england, scotland = "\U0001f3f4\U000e0067\U000e007f", "\U0001f3f4\U000e0073\U000e007f"
    assert len({comparable(name) for name in (CAFE, *DIFFERENT, england, scotland)}) == 8


def test_the_first_spelling_is_kept_and_the_notice_names_an_example(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Later spellings become the first; an invisible name is no name."""
    spelled = Spellings()
    assert [spelled(one) for one in ("cafe\u0301", "café", "a", "a\u200b", "\u200b")] == [
        *("cafe\u0301", "cafe\u0301", "a", "a", "")
    ]
    spelled.notice("b.csv")
    assert r"b.csv: café: 'caf\xe9' is read as 'cafe\u0301'" in caplog.text
    assert "(and 1 more)" in caplog.text


def _written(at: Path, name: str, *lines: str) -> Path:
    (at / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return at / name


def _belief(subject: str, obj: str) -> dict[str, object]:
    return {"subject": subject, "relation": "above", "object": obj, "p_true": 0.9}


def _violated(beliefs: object) -> int:
    return int(tacit.check(beliefs).to_json()["asymmetric"]["violated"])


def _drawn(at: Path, one: str, other: str) -> Path:
    return _written(
        at,
        "annotations-0.tsv",
        f"anna\t{one}\t---\t{one}\tabove\twall",
        f"\t\t---\twall\tabove\t{other}",
    )


def _parts(at: Path, one: str, other: str) -> tuple[str, ...]:
    return read_drawings(_drawn(at, one, other), ["above"], [other])[0].parts


def _believed(at: Path, one: str, other: str) -> float:
    row = f"anna\t{one}\t---\t{one}\tabove\twall"
    probe = PartsProbe.read(_written(at, "annotations-0.tsv", row))
    belief = {"thing": other, "annotator": "anna", **_belief(other, "wall")}
    beliefs = _written(at, "beliefs.jsonl", json.dumps(belief))
    table = probe.measure_file(beliefs).tables["beliefs"]
    return float(table.filter(subject=one, relation="above")["p_true"].item())


def _enriched(at: Path, one: str, other: str) -> int:  # noqa: ARG001 - as the others
    rows = [{"subject": one, "relation": "above", "object": "wall"}]
    rows.append({"subject": other, "relation": "above", "object": "wall"})
    return tacit.enrich(pl.DataFrame(rows), Ontology.load("parts")).height


def _found(at: Path, one: str, other: str) -> object:
    build(Source([Dump(_written(at, "d.tsv", f"AtLocation\t{one}\ttown"))]), at / "d.kb")
    with KnowledgeBase(at / "d.kb") as base:
        return background(base, [[f"Is the {other} in town?"]]).facts.rows()


def _concepts(at: Path, one: str, other: str) -> int:
    dump = _written(at, "d.tsv", f"AtLocation\t{one}\ttown", f"AtLocation\t{other}\ttown")
    build(Source([Dump(dump)]), at / "d.kb")
    with KnowledgeBase(at / "d.kb") as base:
        return int(base.about["concepts"])


def _relations(at: Path, one: str, other: str) -> tuple[str, ...]:
    build(Source([Dump(_written(at, "d.tsv", f"{one}\tfox\tden"))]), at / "d.kb")
    with KnowledgeBase(at / "d.kb") as base:
        return base.chosen([other])


def _templates(at: Path, one: str, other: str) -> str:
    file = _written(at, "t.yaml", json.dumps({"relations": {one: {"text": "is {c1} in {c2}?"}}}))
    return load_templates(file).relations[comparable(other)].text


def _answer(at: Path, one: str, other: str) -> int | None:
    row = {"question": "Where?", "choices": ["town", one], "answer": other}
    return read_anchors(_written(at, "q.jsonl", json.dumps(row)))[0].answer


def _labelled(at: Path, one: str, other: str) -> tuple[int | None, int]:
    choices = {"label": ["A", one, "C"], "text": ["town", one, other]}
    row = {"question": "Where?", "choices": choices, "answerKey": other}
    anchor = read_anchors(_written(at, "q.jsonl", json.dumps(row)))[0]
    return anchor.answer, anchor.repeated


def _refused(read: Callable[[], object]) -> str:
    with pytest.raises(RequestError) as raised:
        read()
    return str(raised.value)[-20:]


def _choices(at: Path, one: str, other: str) -> str:
    row = {"question": "Where?", "choices": [one, other], "answer": one}
    return _refused(lambda: read_anchors(_written(at, "q.jsonl", json.dumps(row))))


def _ids(at: Path, one: str, other: str) -> str:
    rows = [
        {"id": name, "question": "?", "choices": ["a", "b"], "answer": "a"} for name in (one, other)
    ]
    return _refused(lambda: read_anchors(_written(at, "q.jsonl", *map(json.dumps, rows))))


def _new_question(at: Path, one: str, other: str) -> str:  # noqa: ARG001 - as the others
    return _refused(lambda: _checked("Where?", [one, other]))


def _norms(at: Path, one: str, other: str) -> Norms:
    header = "concept\tfeature\tpf\tfeature type\tfeature alternatives\tparticipant list"
    rows = [
        f"{name}\thas a {name}\t5\t{name}\thas a {name};has {name}\t1;2" for name in (one, other)
    ]
    return read_norms(_written(at, "n.tsv", header, *rows))


def _properties(at: Path, one: str, other: str) -> tuple[int, int, int]:
    norms = _norms(at, one, other)
    return (
        len(norms.by_concept()),
        len(norms.properties),
        len({p.category for p in norms.properties}),
    )


def _alternatives(at: Path, one: str, other: str) -> int:  # noqa: ARG001 - as the others
    return len(read_alternatives(f"has {one};has {other};is big").texts)


def _corrected(at: Path, one: str, other: str) -> int:
    corrections = [Correction(f"has a {other}", "has chairs", other)]
    return len(Corrections(_norms(at, one, one), corrections).unmatched)


def _among(at: Path, one: str, other: str) -> list[str]:
    one, other = one.removeprefix("ice "), other.replace("ice", "").strip()
    norms = read_norms(_written(at, "n.csv", "concept,feature,pf", f"{other},has chairs,5"))
    options = AssumptionsOptions(norms.path, least=1)
    chosen = choose_concepts(word_properties(norms, options), options, [one])
    return [concept.word for concept in chosen.concepts]


def _responded(at: Path, one: str, other: str) -> int:
    one, other = (name.split()[-1] for name in (one, other.replace("\u00a0", " ")))
    rows = [f"bar,has {name},5" for name in (one, other)]
    norms = read_norms(_written(at, "n.csv", "concept,feature,pf", *rows))
    (prompt,) = elicit(norms, AssumptionsOptions(norms.path)).prompts
    assert comparable(one) in prompt.responses[0].spellings
    return len(prompt.responses)


def _nouns(at: Path, one: str, other: str) -> bool:
    return Nouns.load(
        _written(at, "n.yaml", json.dumps({"plural": [one.rsplit(maxsplit=1)[-1]]}))
    ).is_plural(other)


JOINS: dict[str, Callable[[Path, str, str], object]] = {
    "beliefs, check": lambda _, one, other: _violated(
        [_belief(one, "wall"), _belief("wall", other)]
    ),
    "beliefs, groups": lambda _, one, other: _violated(
        [{"thing": one, **_belief("roof", "wall")}, {"thing": other, **_belief("wall", "roof")}]
    ),
    "statements": _enriched,
    "drawings": _parts,
    "beliefs of drawings": _believed,
    "concepts": _concepts,
    "questions and concepts": _found,
    "relations": _relations,
    "templates of relations": _templates,
    "answers and choices": _answer,
    "labels and choices": _labelled,
    "repeated choices": _choices,
    "ids of questions": _ids,
    "choices of a new question": _new_question,
    "replies and answers": lambda _, one, other: [read_answer(f"{other}.", ["bar", one])] == [one],
    "norms": _properties,
    "alternatives": _alternatives,
    "corrections": _corrected,
    "concepts and vocabulary": _among,
    "responses": _responded,
    "nouns": _nouns,
}


@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS)
def test_two_spellings_of_a_name_are_joined(
    join: Callable[[Path, str, str], object], tmp_path: Path
) -> None:
    """Wherever two names meet, a name and its other spelling do what one spelling would."""
    assert join(tmp_path, CAFE, EVERY_WAY) == join(tmp_path, CAFE, CAFE)
