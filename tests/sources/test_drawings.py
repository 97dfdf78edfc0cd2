from collections import Counter
from pathlib import Path

import pytest

from tacit.errors import DataError, RequestError
from tacit.sources.drawings import (
    Drawing,
    demo_drawings,
    is_things,
    read_drawings,
    read_things,
    undrawn,
)
from tests.fetched_data import PARROT, needs_parrot

RELATIONS = ("part of", "inside", "behind", "above", "surrounds", "requires", "connects", "next to")

TREE = "ann\ttree\t---\ttrunk\tabove\troots\n\t\t---\tleaves\tconnects\ttrunk\n"


def write(folder: Path, text: str, name: str = "annotations-0.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_a_blank_first_cell_continues_the_drawing_above(tmp_path: Path) -> None:
    assert read_drawings(write(tmp_path, TREE), RELATIONS) == [
        Drawing(
            "tree",
            "ann",
            ("trunk", "roots", "leaves"),
            (("trunk", "above", "roots"), ("leaves", "connects", "trunk")),
        )
    ]


def test_case_spaces_remarks_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    untidy = (
        "\ufeffAnn \t Tree\t---\tTRUNK \tabove \t roots\tnot all of it\r\n\r\n"
        "\t \t---\tleaves\tConnects\ttrunk\t\r\n\t\t\t\t\t\n"
    )
    tidy = read_drawings(write(tmp_path, TREE), RELATIONS)
    assert read_drawings(write(tmp_path, untidy), RELATIONS) == tidy


def test_a_repeated_row_counts_once_within_a_drawing(tmp_path: Path) -> None:
    again = "\t\t---\tTrunk\tabove\troots\n"
    text = TREE + again + again + TREE.replace("ann", "bea")
    first, second = read_drawings(write(tmp_path, text), RELATIONS)
    assert (len(first.relations), first.repeated) == (2, 2)
    assert (len(second.relations), second.repeated) == (2, 0)


def test_files_are_read_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write(tmp_path, TREE.replace("ann", f"ann{number}"), f"annotations-{number}.tsv")
    write(tmp_path, "nothing of ours", "notes.tsv")
    assert [drawing.annotator for drawing in read_drawings(tmp_path, RELATIONS)] == [
        "ann1",
        "ann2",
        "ann10",
    ]


def test_things_select_drawings_in_any_case(tmp_path: Path) -> None:
    text = TREE + TREE.replace("tree", "bush") + TREE.replace("tree", "hedge")
    path = write(tmp_path, text)
    chosen = read_drawings(path, RELATIONS, ["Hedge ", "tree"])
    assert [drawing.thing for drawing in chosen] == ["tree", "hedge"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("\t\t---\ttrunk\tover\troots\n", "unknown relation 'over'; expected part of, inside"),
        ("\t\t---\ttrunk\tabove\n", "has 5 cells"),
        ("\t\t---\ttrunk\tabove\troots\tremark\tmore\n", "has 8 cells"),
        ("\t\ttrunk\tabove\troots\t\n", "the third 'trunk'"),
        ("tree\n", "has 1 cell"),
        ("\t\t---\ttrunk\tabove\tTrunk \n", "relates 'trunk' to itself"),
        ("\t\t---\ttrunk\tabove\t \n", "has an empty subject or object"),
        ("\ttree\t---\ttrunk\tabove\troots\n", "expected both to begin a drawing"),
        ("ann\t\t---\ttrunk\tabove\troots\n", "expected both to begin a drawing"),
        ("Ann\tTree\t---\tbark\tabove\troots\n", "a second drawing of 'tree' by 'ann'"),
    ],
)
def test_a_malformed_row_is_named_by_file_and_line(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path, TREE + "\n" + row)
    with pytest.raises(DataError) as caught:
        read_drawings(path, RELATIONS)
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert message in str(caught.value)


def test_a_second_drawing_names_where_the_first_begins(tmp_path: Path) -> None:
    first = write(tmp_path, TREE)
    second = write(tmp_path, "bea\tbush\t---\ta\tabove\tb\n" + TREE, "annotations-1.tsv")
    with pytest.raises(DataError) as caught:
        read_drawings(tmp_path, RELATIONS)
    assert str(caught.value).startswith(f"{second}, line 2: ")
    assert f"begins at {first}, line 1." in str(caught.value)


def test_a_continuation_needs_a_drawing_above_in_its_file(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    path = write(tmp_path, "\t\t---\ttrunk\tabove\troots\n", "annotations-1.tsv")
    with pytest.raises(DataError, match="none precedes it") as caught:
        read_drawings(tmp_path, RELATIONS)
    assert (caught.value.path, caught.value.line) == (path, 1)


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        read_drawings(tmp_path / "missing", RELATIONS)
    with pytest.raises(DataError, match="expected files named annotations-"):
        read_drawings(tmp_path, RELATIONS)
    write(tmp_path, "\n\n")
    with pytest.raises(DataError, match="contains no drawings"):
        read_drawings(tmp_path, RELATIONS)


def test_a_thing_nobody_drew_lists_near_ones(tmp_path: Path) -> None:
    path = write(tmp_path, TREE + TREE.replace("tree", "bush"))
    with pytest.raises(DataError, match=r"no drawing of 'treee'; similar names: tree$"):
        read_drawings(path, RELATIONS, ["tree", "treee"])
    with pytest.raises(DataError, match="no drawing of 'xylophone'; it contains 2 things"):
        read_drawings(path, RELATIONS, ["xylophone"])


def test_things_are_read_with_their_parts(tmp_path: Path) -> None:
    """Parts are split at commas, stripped and lower-cased; a folder stands for its things.tsv."""
    write(tmp_path, "Everyday thing\tParts\r\nCar\troof , CPU,wheel\r\n", "things.tsv")
    assert read_things(tmp_path) == {"car": ("roof", "cpu", "wheel")}
    assert read_things(tmp_path / "things.tsv") == read_things(tmp_path)


def test_a_folder_of_things_alone_has_no_drawings(tmp_path: Path) -> None:
    (tmp_path / "things.tsv").write_text("Everyday thing\tParts\ncup\thandle, rim\n")
    assert is_things(tmp_path)
    assert [drawing.thing for drawing in undrawn(tmp_path)] == ["cup"]
    assert not is_things(demo_drawings())


@pytest.mark.parametrize("things", [[], [""], [" ", ""]])
def test_a_choice_of_no_thing_is_refused(tmp_path: Path, things: list[str]) -> None:
    """As --things "" gives it."""
    with pytest.raises(RequestError, match="an empty name"):
        read_drawings(write(tmp_path, TREE), RELATIONS, things)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("\twheel", "has no thing"),
        ("CAR\twheel", "lists 'car' a second time"),
        ("bus\twheel,,door", "has a blank part of 'bus'"),
        ("bus\t", "has a blank part of 'bus'"),
    ],
)
def test_a_malformed_thing_is_named_by_line(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path, f"Everyday thing\tParts\ncar\troof\n{row}\n", "things.tsv")
    with pytest.raises(DataError) as caught:
        read_things(path)
    assert str(caught.value).startswith(f"{path}, line 3: {message}")


def test_the_demo_drawings_are_three_things_by_three_annotators() -> None:
    """The drawings that come with Tacit read without error and use only their seed parts."""
    drawings = read_drawings(demo_drawings(), (*RELATIONS, "in front of"))
    things = read_things(demo_drawings())
    assert Counter(drawing.thing for drawing in drawings) == dict.fromkeys(things, 3)
    assert len(things) == 3
    for drawing in drawings:
        assert 4 <= len(drawing.parts) <= 7
        assert set(drawing.parts) <= set(things[drawing.thing])


@needs_parrot
def test_the_real_things_have_the_published_counts() -> None:
    """100 things with 716 seed parts (Table 1), and they are the things that were drawn."""
    things = read_things(PARROT)
    assert len(things) == 100
    assert sum(len(parts) for parts in things.values()) == 716
    assert next(iter(things)) == "boat"
    assert set(things) == {drawing.thing for drawing in read_drawings(PARROT, RELATIONS)}
