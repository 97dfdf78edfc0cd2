from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.sources.norms import read_norms
from tacit.sources.wordings import (
    SHIFTED,
    UNALIGNED,
    UNNAMED,
    Alternatives,
    read_alternatives,
    shifted_rows,
)

HEADER = "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"


def counts(alternatives: Alternatives) -> dict[str, int]:
    pairs = zip(alternatives.texts, alternatives.people, strict=True)
    return {text: len(people) for text, people in pairs}


@pytest.mark.parametrize(
    ("cell", "participants", "read"),
    [
        ("has fur; has fur; has hair", "12; 7; 30", {"has fur": 2, "has hair": 1}),
        ("has fur; has fur; has hair", "12 7 30", {"has fur": 2, "has hair": 1}),
        ("has fur;has fur;has hair;", "12;7;30;", {"has fur": 2, "has hair": 1}),
        ("has fur; has hair", "12, 7; 30", {"has fur": 2, "has hair": 1}),
        ("has fur; has hair", "12 7, 30", {"has fur": 2, "has hair": 1}),
        ("has fur; has hair; has fur", "12; 7; 12", {"has fur": 1, "has hair": 1}),
        ("has fur", "12; 7; 30", {"has fur": 3}),
        ("has fur, has hair", "12, 7", {"has fur": 1, "has hair": 1}),
        ("has fur|has hair", "12|7", {"has fur": 1, "has hair": 1}),
        ("has long, thin legs; has legs", "12; 7", {"has long, thin legs": 1, "has legs": 1}),
    ],
)
def test_the_people_of_each_alternative_are_counted(
    cell: str, participants: str, read: dict[str, int]
) -> None:
    """One participant per entry, or several; a participant counts once for one wording."""
    found = read_alternatives(cell, participants)
    assert (counts(found), found.problem) == (read, None)


@pytest.mark.parametrize(
    ("cell", "participants", "problem"),
    [
        ("has fur; has hair", "1 2 3", UNALIGNED),
        ("has fur; has fur; has hair", "1; 2", UNALIGNED),
        ("has fur; has hair", "", UNNAMED),
        ("has fur; has hair", " ; ", UNNAMED),
        ("has fur", "", None),
        ("", "1 2 3", None),
    ],
)
def test_lists_that_are_not_aligned_count_nobody(
    cell: str, participants: str, problem: str | None
) -> None:
    """One wording alone needs no list: everyone who named the property gave it."""
    found = read_alternatives(cell, participants)
    assert (found.people, found.problem) == ((), problem)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 5)), min_size=1, max_size=12))
def test_people_are_counted_as_by_brute_force(given_by: list[tuple[str, int]]) -> None:
    cell = ";".join(f"has {text}" for text, _ in given_by)
    found = read_alternatives(cell, ";".join(str(person) for _, person in given_by))
    assert counts(found) == {
        f"has {text}": len({person for other, person in given_by if other == text})
        for text, _ in given_by
    }


@pytest.mark.parametrize(
    ("feature", "texts", "shifted"),
    [
        ("has wheels", ["has windows", "windows"], True),
        ("has wheels", ["does carry people"], True),
        ("has wheels", ["has four wheels", "has windows"], False),
        ("has wheels", ["has a wheel"], False),
        ("has wheels", ["rolls"], False),
        ("has wheels", ["3", "17"], True),
        ("has wheels", [], False),
        ("is big_large", ["is huge", "is large"], False),
    ],
)
def test_alternatives_of_another_feature_are_told(
    feature: str,
    texts: list[str],
    shifted: bool,  # noqa: FBT001 - a test's parameter
) -> None:
    """They share no word with their own feature and have the words of another one."""
    others = ["has windows_glass", "does carry people_passengers", "is red"]
    rows = [(feature, texts), *((other, [other]) for other in others)]
    assert shifted_rows(rows) == (frozenset({0}) if shifted else frozenset())


def test_the_last_row_of_a_shift_is_told() -> None:
    """Its own alternatives stand in another row, and what it has fits no feature."""
    rows = [("has wheels", ["has windows"]), ("has windows", ["is fast"]), ("is red", ["is red"])]
    assert shifted_rows(rows) == {0, 1}


def test_rows_that_cannot_be_counted_are_listed_by_line(tmp_path: Path) -> None:
    """Alternatives of another feature are removed; those that are not aligned have no people."""
    rows = (
        "Vehicles\tvisual perceptual\tbus\thas wheels\t3\thas wheels;has wheels;wheels\t1;2;3",
        "Vehicles\tvisual perceptual\tbus\thas windows\t2\tdoes carry people;carries people\t4;5",
        "Vehicles\tfunctional\tbus\tdoes carry people\t2\tis red;red\t6;7",
        "Vehicles\tvisual perceptual\tbus\tis red\t2\tis red;is scarlet\t8;9",
        "Things\tvisual perceptual\tboots\tis black\t3\tis black;is dark\t1;2;3",
        "Things\tvisual perceptual\tboots\tis brown_tan\t3\tis brown;is tan\t",
    )
    path = tmp_path / "norms.dat"
    path.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    norms = read_norms(path)
    assert norms.uncounted == {SHIFTED: (3, 4), UNALIGNED: (6,), UNNAMED: (7,)}
    found = {one.feature: (one.alternatives, len(one.people)) for one in norms.properties}
    assert found["has windows"] == found["does carry people"] == ((), 0)
    assert found["is black"] == (("is black", "is dark"), 0)
    assert found["has wheels"] == (("has wheels", "wheels"), 2)
