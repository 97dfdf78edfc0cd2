import polars as pl
import pytest

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.sources.drawings import Drawing, read_drawings
from tacit.sources.statements import agreed, all_statements, drawing_statements
from tests.fetched_data import PARROT, needs_parrot

TREE = Drawing("tree", "ann", ("trunk", "roots"), (("trunk", "above", "roots"),))
QUESTION = ["thing", "subject", "relation", "object"]

# Table 5. In the paper's layout the row of 8 runs on over a line that begins with "corn", the row
# of 6 ends with "helicopter" and that of 4 begins with "pillow": so they have 11, 7 and 21 things,
# and only so do the counts sum to 508.
TABLE_5 = {
    36: "coffee maker, fish",
    28: "rabbit",
    18: "deer",
    16: "egg, electric stove, tree",
    14: "ink pen",
    12: "laptop, sandwich, rice cooker, airplane, table",
    10: "fire extinguisher, bird",
    8: "elevator, flashlight, stroller, dishwasher, kayak, ship, teapot, telescope, "
    "corn, hot air balloon, microwave",
    6: "wheelchair, barbeque grill, kite, microphone, computer, duck, helicopter",
    4: "pillow, truck, washing machine, door, hair dryer, rocket, screw, toaster, butterfly, "
    "chair, knife, photo frame, shoe, baby bottle, bed, bird cage, car, chainsaw, "
    "electric tea kettle, humidifier, piano",
    2: "binoculars, digital camera, zipper, apple, digital clinical thermometer, earphone, "
    "flower, windmill, backpack, dog, doorbell, lightbulb, bat, cat, umbrella, stethoscope, tent",
    0: "air conditioner, bicycle, blender, boat, glider, guitar, house, pencil sharpener, "
    "table fan, dryer, pencil, suitcase, telephone, microscope, refrigerator, space heater, "
    "typewriter, violin, wall clock, window, bookcase, bus, cable car, calculator, saucepan, "
    "train, cow, rat, table lamp",
}


@pytest.fixture(scope="module")
def parrot() -> list[Drawing]:
    return read_drawings(PARROT, Ontology.load("parts").relations)


@pytest.fixture(scope="module")
def enriched(parrot: list[Drawing]) -> pl.DataFrame:
    return enrich(drawing_statements(parrot), Ontology.load("parts"))


def labelled(*rows: tuple[str, str, str, bool]) -> pl.DataFrame:
    """Statements "x above y" from (thing, annotator, subject, label)."""
    return pl.DataFrame(
        [(thing, who, subject, "above", "y", label) for thing, who, subject, label in rows],
        schema=["thing", "annotator", "subject", "relation", "object", "label"],
        orient="row",
    )


def test_drawn_relations_keep_their_order() -> None:
    other = Drawing("tree", "bea", ("b", "a"), (("b", "inside", "a"), ("a", "connects", "b")))
    assert drawing_statements([TREE, other]).rows() == [
        ("tree", "ann", "trunk", "above", "roots"),
        ("tree", "bea", "b", "inside", "a"),
        ("tree", "bea", "a", "connects", "b"),
    ]


def test_every_ordered_pair_is_asked_with_every_relation() -> None:
    """Pairs come in order of first mention, each with the relations in the order given."""
    assert all_statements([TREE], ["below", "above"]).rows() == [
        ("tree", "ann", "trunk", "below", "roots"),
        ("tree", "ann", "trunk", "above", "roots"),
        ("tree", "ann", "roots", "below", "trunk"),
        ("tree", "ann", "roots", "above", "trunk"),
    ]


def test_no_drawings_make_empty_tables() -> None:
    for table in (drawing_statements([]), all_statements([], ["above"])):
        assert table.schema == dict.fromkeys(
            ["thing", "annotator", "subject", "relation", "object"], pl.String
        )
        assert table.height == 0


def test_agreement_needs_every_annotator_and_one_label() -> None:
    table = labelled(
        ("tree", "ann", "all true", True),
        ("tree", "ann", "all false", False),
        ("tree", "ann", "split", True),
        ("tree", "ann", "two only", True),
        ("tree", "bea", "split", False),
        ("tree", "bea", "all false", False),
        ("tree", "bea", "all true", True),
        ("tree", "cid", "all true", True),
        ("tree", "cid", "two only", True),
        ("tree", "cid", "all false", False),
        ("tree", "cid", "split", True),
    )
    assert agreed(table).rows() == [
        ("tree", "all true", "above", "y", True),
        ("tree", "all false", "above", "y", False),
    ]


def test_one_annotator_is_no_agreement() -> None:
    """A thing drawn once has no agreed statement, whoever drew other things."""
    table = labelled(
        ("tree", "ann", "x", True), ("bush", "ann", "x", True), ("bush", "b", "x", True)
    )
    assert agreed(table)["thing"].to_list() == ["bush"]


@needs_parrot
def test_every_enriched_statement_is_asked(parrot: list[Drawing], enriched: pl.DataFrame) -> None:
    asked = all_statements(parrot, Ontology.load("parts").relations)
    assert enriched.join(asked, on=asked.columns, how="anti").height == 0


@needs_parrot
def test_the_agreed_statements_are_those_of_table_5(enriched: pl.DataFrame) -> None:
    """508 agreed statements, 306 true and 202 false, with Table 5's count for every thing."""
    published = {thing: n for n, things in TABLE_5.items() for thing in things.split(", ")}
    together = agreed(enriched)
    counts = dict(together["thing"].value_counts().iter_rows())
    assert (len(published), sum(published.values())) == (100, 508)
    assert {thing: counts.get(thing, 0) for thing in enriched["thing"].unique()} == published
    assert (together.height, together["label"].sum()) == (508, 306)


@needs_parrot
def test_the_annotators_contradict_one_another_as_published(enriched: pl.DataFrame) -> None:
    """80 of the 11,720 statements have the other label in another drawing (appendix C)."""
    assert enriched.filter(pl.col("label").n_unique().over(QUESTION) > 1).height == 80
