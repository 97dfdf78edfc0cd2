from dataclasses import replace
from pathlib import Path

import pytest

from tacit.coherence.ontology import Ontology
from tacit.coherence.relation import Relation
from tacit.errors import DataError, RequestError

WORDING = 'singular: "{subject} is r the {object}"\n    plural: "{subject} are r the {object}"'
INVERSE_PAIRS = {
    ("part of", "has part"),
    ("inside", "contains"),
    ("in front of", "behind"),
    ("above", "below"),
    ("surrounds", "surrounded by"),
    ("requires", "required by"),
}


def test_parts_has_the_papers_relations_and_properties() -> None:
    """Six inverse pairs are asymmetric, two relations symmetric, eight transitive."""
    relations = Ontology.load("parts").relations
    assert len(relations) == 14
    pairs = {(name, each.inverse) for name, each in relations.items() if each.inverse}
    assert pairs == INVERSE_PAIRS | {(other, name) for name, other in INVERSE_PAIRS}
    asymmetric = {name for name, each in relations.items() if each.asymmetric}
    assert asymmetric == {name for pair in INVERSE_PAIRS for name in pair}
    assert {name for name, each in relations.items() if each.symmetric} == {"connects", "next to"}
    transitive = {name for name, each in relations.items() if each.transitive}
    assert transitive == asymmetric - {"part of", "has part", "requires", "required by"}


def test_parts_is_worded_as_in_the_paper() -> None:
    """The statements of Table 7 come out to the letter."""
    relations = Ontology.load("parts").relations
    above = relations["above"].singular.format(subject="trunk", object="roots")
    assert above == "trunk is above the roots"
    connects = relations["connects"].singular.format(subject="twig", object="branches")
    assert connects == "twig is directly connected to the branches"
    surrounded = relations["surrounded by"].plural.format(subject="roots", object="trunk")
    assert surrounded == "roots are surrounded by the trunk"
    assert relations["contains"].plural.startswith("{subject} contain the")
    assert relations["has part"].plural == "{subject} have the {object} as their part"


def test_the_fingerprint_covers_every_word(tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{number}.yaml" for number in range(3))
    body = f"name: own\nrelations:\n  r:\n    {WORDING}\n"
    one.write_text(body)
    two.write_text(f"# a remark\n{body}")
    three.write_text(body.replace("are r", "are all r"))
    assert Ontology.load(one).fingerprint == Ontology.load(two).fingerprint
    assert Ontology.load(one).fingerprint != Ontology.load(three).fingerprint


def relation(name: str, *lines: str) -> str:
    """One relation of a file: its wording stands on two lines."""
    return "\n    ".join([f"  {name}:", WORDING, *lines]) + "\n"


@pytest.mark.parametrize(
    ("relations", "line", "told"),
    [
        (
            relation("contains", "inverse: within") + relation("within", "inverse: contain"),
            10,
            "contain is not a relation; expected one of contains, within (did you mean contains?)",
        ),
        (relation("r", "inverse: s") + relation("s"), 6, "the inverse of s is not given"),
        (
            relation("r", "inverse: t") + relation("s", "inverse: t") + relation("t", "inverse: s"),
            6,
            "the inverse of t is s; a relation has only one inverse. If r and s are kinds of",
        ),
        (relation("r", "inverse: r"), 6, "refers to itself"),
        (relation("r", "asymmetric: true", "symmetric: true"), 6, "both symmetric and asymmetric"),
        (
            relation("r", "inverse: s", "transitive: true") + relation("s", "inverse: r"),
            7,
            "its inverse s must be transitive",
        ),
        (
            relation("r", "symmetric: true", "inverse: s") + relation("s", "inverse: r"),
            7,
            "its own inverse",
        ),
        (
            relation("r", "implies: [s]", "excludes: [s]") + relation("s"),
            6,
            "r implies s and also excludes it",
        ),
        (
            relation("r", "symmetric: true", "implies: [s]") + relation("s", "asymmetric: true"),
            7,
            "r can never be true: r is symmetric and implies s, which is asymmetric",
        ),
        (
            relation("r", "symmetric: true", "implies: [s]")
            + relation("s", "implies: [t]")
            + relation("t", "asymmetric: true"),
            7,
            "r can never be true: r is symmetric and implies t, which is asymmetric",
        ),
        (
            relation("r", "implies: [s, t]") + relation("s", "excludes: [t]") + relation("t"),
            6,
            "r can never be true: x r y makes s both true and false",
        ),
        (relation("r", "colour: red"), 6, "unknown key colour"),
        (relation("r", "name: q"), 3, "unknown key name in r"),
        (relation("r", "category: 3"), 6, "category must be text"),
        (relation("r", 'category: " "'), 6, "category must not be empty"),
        ("  3: {}\n", 3, "the key 3 must be text"),
        (relation("r", "transitive: perhaps"), 6, "must be true or false"),
        (relation("r", "implies: s"), 6, "must be a list"),
        (relation("r") + relation("r"), 6, "the key 'r' occurs twice"),
        ('  r:\n    singular: "{subject} is it"\n', 4, "lacks the placeholder {object}"),
        (
            relation("r", "functional: true", "inverse: s")
            + relation("s", "functional: true", "inverse: r"),
            6,
            "its inverse s must be inverse_functional",
        ),
        ("  r: [a\n", 4, "is not YAML"),
    ],
)
def test_a_faulty_file_is_refused_with_its_line(
    tmp_path: Path, relations: str, line: int, told: str
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"name: own\nrelations:\n{relations}")
    with pytest.raises(DataError) as raised:
        Ontology.load(file)
    assert told in str(raised.value)
    assert raised.value.line == line


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(RequestError, match="parts, space, taxonomy, time"):
        Ontology.load("kinship")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"own\.yaml: there is no such file"):
        Ontology.load(tmp_path / "own.yaml")


def test_an_ontology_made_in_python_is_checked_like_a_file() -> None:
    older = Relation("older than", "", "", asymmetric=True, inverse="younger than")
    younger = Relation("younger than", "", "", asymmetric=True)
    with pytest.raises(
        RequestError, match=r"^relation older than: inverse: .* of younger than is not"
    ):
        Ontology("family", {"older than": older, "younger than": younger})
    with pytest.raises(RequestError, match="elder is not a relation; expected one of younger"):
        Ontology("family", {"younger than": replace(younger, implies=("elder",))})
    with pytest.raises(RequestError, match="expected a mapping from names to relations"):
        Ontology("family", [younger])  # type: ignore[arg-type] # what is refused
    with pytest.raises(RequestError, match=r"maps 'younger' to .* with this name"):
        Ontology("family", {"younger": younger})
    both = {"older than": older, "younger than": replace(younger, inverse="older than")}
    assert all(each.irreflexive for each in Ontology("family", both).relations.values())
