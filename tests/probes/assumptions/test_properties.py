from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.probes.assumptions.corrections import Correction, Corrections, read_corrections
from tacit.probes.assumptions.properties import word_properties
from tacit.sources.norms import Norms, read_norms
from tests.probes.assumptions.made_up import norms_of, options


def test_properties_left_out_are_listed_with_the_first_reason_that_holds(tmp_path: Path) -> None:
    """Each once, so that they and the usable ones are all; the counts are those of the list."""
    rows = (
        *("owl\thas wings\t9", "owl\tsilent\t7", "owl\tis an owl\t2", "owl\thave wings\t12"),
        *("owl\tis one of the owls here\t5", "owl\tgod\t1", "cat\tdoes purr\t3", "elk\tgod\t3"),
    )
    norms = norms_of(tmp_path, *(f"{row}\t\t" for row in rows))
    worded = word_properties(norms, options(norms, least_people=2, most_words=5))
    assert [(one.concept, one.feature, reason) for one, reason in worded.left_out] == [
        ("owl", "has wings", "worded as another"),
        ("owl", "silent", "no wording"),
        ("owl", "is an owl", "names its concept"),
        ("owl", "is one of the owls here", "too long"),
        ("owl", "god", "named by too few people"),
        ("elk", "god", "no wording"),
    ]
    assert [(step.name, len(step.removed), step.left) for step in worded.steps] == [
        ("named by too few people", 1, 7),
        ("no wording", 2, 5),
        ("too long", 1, 4),
        ("names its concept", 1, 3),
        ("worded as another", 1, 2),
    ]
    assert worded.properties["elk"] == ()
    assert [one.property.feature for one in worded.properties["owl"]] == ["have wings"]


def test_corrections_override(norms: Norms) -> None:
    """Those of one concept precede general ones; those that match no property are reported."""
    own = (
        Correction("has legs", "walks on legs"),
        Correction("has legs", "has two legs", "owl"),
        Correction("is a bear", "is a beast"),
        Correction("has wheels", "rolls"),
        Correction("has claws", "claws", "owl"),
        Correction("does eat", "eats like a bear"),
    )
    worded = word_properties(norms, options(norms), own)
    first = [worded.properties[concept][0].text for concept in ("owl", "fox", "bear")]
    assert first == ["has two legs", "walks on legs", "has claws"]
    assert "is a beast" in [one.text for one in worded.properties["bear"]]
    assert Corrections(norms, own).unmatched == own[3:5]
    assert [one.feature for one, reason in worded.left_out if reason == "names its concept"] == [
        "does eat"
    ]


def test_features_of_mcrae_are_corrected_as_written_or_as_read(tmp_path: Path) -> None:
    """Both ``beh_-_eats`` and "does eat" name the same property."""
    path = tmp_path / "m.csv"
    path.write_text("Concept,Feature,Prod_Freq\nelk,beh_-_eats,5\n", encoding="utf-8")
    norms = read_norms(path)
    for feature in ("beh_-_eats", "does eat"):
        corrections = Corrections(norms, [Correction(feature, "feeds")])
        assert corrections.wording(norms.properties[0]) == "feeds"
        assert corrections.unmatched == ()


def test_corrections_are_read(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("feature,wording,concept\nhas legs,walks,\nis big,is huge,bear\n")
    found = read_corrections(path)
    assert [(one.concept, one.feature, one.wording) for one in found] == [
        (None, "has legs", "walks"),
        ("bear", "is big", "is huge"),
    ]
    assert found[1].shown == "bear: 'is big'"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("\nis big\t", "line 2: has no feature or no wording"),
        ("\n\tis", "line 2: has no feature or no wording"),
        ("\na\tis a ___", "line 2: has an underscore in the wording"),
        ("\na\tis big.", "with punctuation; the prompt adds its own"),
        ("\na\tx\na\ty", "line 3: corrects 'a' again; line 2 already does"),
        ("\tnote\na\tx\ty", "line 1: has unknown columns note; expected concept,"),
        ("", "contains no correction"),
    ],
)
def test_malformed_corrections_are_errors(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(f"feature\twording{rows}\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_corrections(path)
    assert message in str(caught.value)
