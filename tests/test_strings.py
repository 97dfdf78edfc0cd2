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
from tacit.charts.shown import counted
from tacit.coherence.ontology import Ontology
from tacit.english import Nouns, number_of, several
from tacit.errors import RequestError
from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
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
from tacit.sources.questions import Anchor, read_anchors
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
    """A string, which would be taken for its letters, is refused, too, and not shown whole."""
    for take in (lambda value: strings(value, "answers"), lambda value: Prompt("…", value)):
        with pytest.raises(RequestError, match=message):
            take(given)
    with pytest.raises(RequestError) as raised:
        strings("x" * 500, "answers")
    assert len(str(raised.value)) < 300


def test_a_list_is_as_good_as_a_tuple_and_a_set_stays_a_set() -> None:
    assert {Prompt("…", ["Paris"]): 1} == {Prompt("…", ("Paris",)): 1}  # type: ignore[arg-type]
    assert Nouns(plural={"glasses"}).plural == frozenset({"glasses"})  # type: ignore[arg-type]


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


def test_names_that_look_the_same_are_the_same() -> None:
    """Accents, letter case and spaces matter, and so do tags, in which some flags differ."""
    assert {name: comparable(other) for name, other in SPELLINGS.items()} == dict.fromkeys(
        SPELLINGS, CAFE
    )
    england, scotland = "\U0001f3f4\U000e0067\U000e007f", "\U0001f3f4\U000e0073\U000e007f"
    assert len({comparable(name) for name in (CAFE, *DIFFERENT, england, scotland)}) == 8


@given(st.text())
def test_the_compared_form_is_compared_to_itself(text: str) -> None:
    form = comparable(text)
    assert comparable(form) == form
    assert comparable(unicodedata.normalize("NFD", text)) == form


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


def beliefs(_: Path, one: str, other: str) -> int:
    return _violated([_belief(one, "wall"), _belief("wall", other)])


def groups(_: Path, one: str, other: str) -> int:
    rows = [{"thing": one, **_belief("roof", "wall")}, {"thing": other, **_belief("wall", "roof")}]
    return _violated(rows)


def statements(_: Path, one: str, other: str) -> int:
    rows = [{"subject": each, "relation": "above", "object": "wall"} for each in (one, other)]
    return tacit.enrich(pl.DataFrame(rows), Ontology.load("parts")).height


def drawings(at: Path, one: str, other: str) -> tuple[str, ...]:
    first, second = f"anna\t{one}\t---\t{one}\tabove\twall", f"\t\t---\twall\tabove\t{other}"
    file = _written(at, "annotations-0.tsv", first, second)
    return read_drawings(file, ["above"], [other])[0].parts


def beliefs_of_drawings(at: Path, one: str, other: str) -> float:
    row = f"anna\t{one}\t---\t{one}\tabove\twall"
    probe = PartsProbe.read(_written(at, "annotations-0.tsv", row))
    belief = {"thing": other, "annotator": "anna", **_belief(other, "wall")}
    table = probe.measure_file(_written(at, "beliefs.jsonl", json.dumps(belief))).tables["beliefs"]
    return float(table.filter(subject=one, relation="above")["p_true"].item())


def _base(at: Path, *triples: str) -> KnowledgeBase:
    build(KnowledgeSource([Dump(_written(at, "d.tsv", *triples))]), at / "d.kb")
    return KnowledgeBase(at / "d.kb")


def questions_and_concepts(at: Path, one: str, other: str) -> object:
    with _base(at, f"AtLocation\t{one}\ttown") as base:
        return background(base, [[f"Is the {other} in town?"]]).facts.rows()


def concepts(at: Path, one: str, other: str) -> int:
    with _base(at, f"AtLocation\t{one}\ttown", f"AtLocation\t{other}\ttown") as base:
        return int(base.about["concepts"])


def relations(at: Path, one: str, other: str) -> tuple[str, ...]:
    with _base(at, f"{one}\tfox\tden") as base:
        return base.chosen([other])


def templates(at: Path, one: str, other: str) -> str:
    file = _written(at, "t.yaml", json.dumps({"relations": {one: {"text": "is {c1} in {c2}?"}}}))
    return load_templates(file).relations[comparable(other)].text


def _anchor(at: Path, **row: object) -> Anchor:
    return read_anchors(_written(at, "q.jsonl", json.dumps({"question": "Where?", **row})))[0]


def answers(at: Path, one: str, other: str) -> int | None:
    return _anchor(at, choices=["town", one], answer=other).answer


def labels(at: Path, one: str, other: str) -> tuple[int | None, int]:
    choices = {"label": ["A", one, "C"], "text": ["town", one, other]}
    anchor = _anchor(at, choices=choices, answerKey=other)
    return anchor.answer, anchor.repeated


def _refused(read: Callable[[], object]) -> str:
    with pytest.raises(RequestError) as raised:
        read()
    return str(raised.value)[-20:]


def repeated_choices(at: Path, one: str, other: str) -> str:
    return _refused(lambda: _anchor(at, choices=[one, other], answer=one))


def ids(at: Path, one: str, other: str) -> str:
    rows = [
        {"id": name, "question": "?", "choices": ["a", "b"], "answer": "a"} for name in (one, other)
    ]
    return _refused(lambda: read_anchors(_written(at, "q.jsonl", *map(json.dumps, rows))))


def choices_of_a_new_question(_: Path, one: str, other: str) -> str:
    return _refused(lambda: _checked("Where?", [one, other]))


def replies(_: Path, one: str, other: str) -> bool:
    return read_answer(f"{other}.", ["bar", one]) == one


def _norms(at: Path, one: str, other: str) -> Norms:
    header = "concept\tfeature\tpf\tfeature type\tfeature alternatives\tparticipant list"
    rows = [
        f"{name}\thas a {name}\t5\t{name}\thas a {name};has {name}\t1;2" for name in (one, other)
    ]
    return read_norms(_written(at, "n.tsv", header, *rows))


def norms(at: Path, one: str, other: str) -> tuple[int, int, int]:
    of = _norms(at, one, other)
    return len(of.by_concept()), len(of.properties), len({p.category for p in of.properties})


def alternatives(_: Path, one: str, other: str) -> int:
    return len(read_alternatives(f"has {one};has {other};is big").texts)


def corrections(at: Path, one: str, other: str) -> int:
    own = [Correction(f"has a {other}", "has chairs", other)]
    return len(Corrections(_norms(at, one, one), own).unmatched)


def vocabulary(at: Path, one: str, other: str) -> list[str]:
    one, other = one.removeprefix("ice "), other.replace("ice", "").strip()
    of = read_norms(_written(at, "n.csv", "concept,feature,pf", f"{other},has chairs,5"))
    options = AssumptionsOptions(of.path, least=1)
    chosen = choose_concepts(word_properties(of, options), options, [one])
    return [concept.word for concept in chosen.concepts]


def responses(at: Path, one: str, other: str) -> int:
    one, other = (name.split()[-1] for name in (one, other.replace("\u00a0", " ")))
    rows = [f"bar,has {name},5" for name in (one, other)]
    of = read_norms(_written(at, "n.csv", "concept,feature,pf", *rows))
    (prompt,) = elicit(of, AssumptionsOptions(of.path)).prompts
    assert comparable(one) in prompt.responses[0].spellings
    return len(prompt.responses)


def nouns(at: Path, one: str, other: str) -> bool:
    file = _written(at, "n.yaml", json.dumps({"plural": [one.rsplit(maxsplit=1)[-1]]}))
    return Nouns.load(file).is_plural(other)


JOINS: list[Callable[[Path, str, str], object]] = [
    *(beliefs, groups, statements, drawings, beliefs_of_drawings, questions_and_concepts),
    *(concepts, relations, templates, answers, labels, repeated_choices, ids, replies, norms),
    *(choices_of_a_new_question, alternatives, corrections, vocabulary, responses, nouns),
]


@pytest.mark.parametrize("join", JOINS)
def test_two_spellings_of_a_name_are_joined(
    join: Callable[[Path, str, str], object], tmp_path: Path
) -> None:
    assert join(tmp_path, CAFE, EVERY_WAY) == join(tmp_path, CAFE, CAFE)


def test_one_alone_is_singular() -> None:
    """Nought is plural, and thousands have a comma; irregular plurals and verbs are given."""
    found = [several(n, "thing") for n in (0, 1, 2, 1000)]
    assert found == ["0 things", "1 thing", "2 things", "1,000 things"]
    assert several(1, "property", "properties") == "1 property"
    assert several(3, "reply is", "replies are") == "3 replies are"
    assert (number_of(1, "has", "have"), number_of(0, "has", "have")) == ("has", "have")
    assert (number_of(1, "probe"), number_of(2, "probe")) == ("probe", "probes")


def test_captions_count_in_the_right_number() -> None:
    found = [counted(counts, "anchor") for counts in ([1], [5, 5], [0, 1], [])]
    assert found == ["n = 1 anchor", "n = 5 anchors", "n = 0 to 1 anchors", ""]
