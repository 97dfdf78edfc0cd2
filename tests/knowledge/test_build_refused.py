from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import DataError, RequestError, WorkError
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
from tacit.sources.dumps import TRIPLES, Dump
from tests.knowledge.tables import edges


def made_of(folder: Path, lines: Sequence[str], columns: tuple[str, ...] = TRIPLES) -> Path:
    """A knowledge base of a file in a folder; no other file is left there."""
    dump = folder / "dump.tsv"
    dump.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    build(KnowledgeSource([Dump(dump, columns=columns)]), folder / "base.duckdb")
    assert {path.name for path in folder.iterdir()} == {"dump.tsv", "base.duckdb"}
    return folder / "base.duckdb"


GOOD = '{"weight": 2.0, "license": "cc:by/4.0"}'
BAD_INFO = {
    "broken": '{"weight": 2.0',
    "a list": "[2.0]",
    "a number": "2.0",
    "no JSON": "weight 2.0",
    "nothing": "",
    "no weight": '{"license": "cc:by/4.0"}',
    "a weight that is null": '{"weight": null}',
    "a weight that is a word": '{"weight": "heavy"}',
    "a weight that is a list": '{"weight": [2.0]}',
    "a weight that is not a number": '{"weight": NaN}',
    "a weight without end": '{"weight": 1e400}',
}


def assertion(info: str = GOOD, head: str = "/c/en/dog", relation: str = "/r/IsA") -> str:
    return f"/a/[{relation}/,{head}/,/c/en/pet/]\t{relation}\t{head}\t/c/en/pet\t{info}"


@pytest.mark.parametrize("info", BAD_INFO.values(), ids=BAD_INFO)
def test_what_an_assertion_tells_of_itself_is_checked(tmp_path: Path, info: str) -> None:
    """An assertion without a weight that can be read is a bad line, told with its number."""
    lines = [assertion()] * 150
    lines[50:50] = ["bad", "", assertion(info)]
    dump = tmp_path / "dump.csv"
    dump.write_text("\n".join(lines))
    read = Dump(dump)
    with (
        patch("tacit.sources.dumps._BLOCK", 1000),
        pytest.raises(DataError, match="has 2 malformed lines out of 153") as told,
    ):
        build(KnowledgeSource([read]), tmp_path / "base.duckdb")
    assert "line 51: 'bad'; line 53: '/a/[/r/IsA/,/c/en/dog/,/c/en/pet/]" in str(told.value)
    assert (read.bad, read.lines) == (2, 153)
    assert [path.name for path in tmp_path.iterdir()] == ["dump.csv"]


@pytest.mark.parametrize("head", ["/c/en/", "/c/en/_", "/c/en//n"])
def test_a_concept_without_a_label_is_a_bad_line(tmp_path: Path, head: str) -> None:
    """An address of English that names nothing makes no concept."""
    dump = tmp_path / "dump.csv"
    dump.write_text("\n".join([assertion()] * 99 + [assertion(head=head)]))
    build(KnowledgeSource([Dump(dump)]), tmp_path / "base.duckdb")
    with KnowledgeBase(tmp_path / "base.duckdb") as base:
        assert base.about["sources"][0]["bad_lines"] == 1
        assert base.about["edges"] == 99
        assert base.about["concepts"] == 2


@pytest.mark.parametrize(
    "line",
    [
        "IsA\tdog\tpet\theavy",
        "IsA\tdog\tpet\tnan",
        "IsA\tdog\tpet\t-inf",
        "IsA\t_\tpet\t1",
        "IsA\t \tpet\t1",
        "\tdog\tpet\t1",
        "IsA\tdog\t\t1",
    ],
)
def test_a_triple_without_a_number_or_a_name_is_a_bad_line(tmp_path: Path, line: str) -> None:
    """A weight that is no number, and a label of underscores, are counted and left out."""
    lines = ["IsA\tcat\tpet\t2.5"] * 99
    path = made_of(tmp_path, [*lines, line], (*TRIPLES, "weight"))
    assert {edge[:3] for edge in edges(path)} == {("IsA", "cat", "pet")}
    with KnowledgeBase(path) as base:
        assert base.about["sources"][0]["bad_lines"] == 1


BUILT = st.lists(st.sampled_from([GOOD, *BAD_INFO.values()]), min_size=1, max_size=40)


@settings(max_examples=8, deadline=None)
@given(BUILT, st.integers(150, 400))
def test_bad_assertions_have_their_numbers_however_they_are_mixed(
    tmp_path_factory: pytest.TempPathFactory, infos: list[str], block: int
) -> None:
    """Whatever the blocks, bad assertions are counted and told by their lines."""
    folder = tmp_path_factory.mktemp("mixed")
    dump = folder / "dump.csv"
    dump.write_text("\n\n".join(assertion(info) for info in [GOOD, *infos]))
    expected = [2 * place + 3 for place, info in enumerate(infos) if info != GOOD]
    read = Dump(dump)
    with (
        patch("tacit.sources.dumps._BLOCK", block),
        patch("tacit.sources.dumps.SHOWN", 100),
        patch("tacit.sources.dumps.TOLERATED", 1.0),
    ):
        build(KnowledgeSource([read]), folder / "base.duckdb")
    assert [number for number, _ in read.shown] == expected
    assert read.bad == len(expected)
    assert len(edges(folder / "base.duckdb")) == len(infos) + 1 - len(expected)


def test_columns_in_a_wrong_order_are_told(tmp_path: Path) -> None:
    """Where heads are read as relations there are too many, and the columns are asked about."""
    lines = [f"IsA\ta {number}\tdog" for number in range(33_000)]
    with pytest.raises(
        DataError, match="check that its columns are in the order head, relation, tail"
    ) as told:
        made_of(tmp_path, lines, ("head", "relation", "tail"))
    assert "33,000 relations, " in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["dump.tsv"]


def test_no_edge_in_the_language_is_told(tmp_path: Path) -> None:
    dump = tmp_path / "dump.csv"
    dump.write_text(assertion())
    with pytest.raises(DataError, match="no edge between two concepts of the language 'fr'"):
        build(KnowledgeSource([Dump(dump, "fr")], language="fr"), tmp_path / "base.duckdb")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("add_lexicon", KeyboardInterrupt),
        ("add_lexicon", MemoryError),
        ("_write_description", OSError),
        ("_join_edges", duckdb.OutOfMemoryException),
        ("publish", PermissionError),
    ],
)
def test_a_failing_import_leaves_nothing(
    tmp_path: Path, step: str, kind: type[BaseException]
) -> None:
    """Whatever fails at whatever step, no file is left, and an error of the disk says so."""
    dump, out = tmp_path / "dump.tsv", tmp_path / "base.duckdb"
    dump.write_text("IsA\tdog\tpet\n")
    out.write_text("as it was")
    expected = WorkError if issubclass(kind, (OSError, duckdb.Error)) else kind
    with (
        patch(f"tacit.knowledge.build.{step}", side_effect=kind("nothing is left")),
        pytest.raises(expected, match="nothing is left") as told,
    ):
        build(KnowledgeSource([Dump(dump)]), out)
    assert expected is not WorkError or str(told.value).startswith(f"{out}: cannot be created: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.duckdb", "dump.tsv"]
    assert out.read_text() == "as it was"


def test_a_bad_dump_leaves_nothing(tmp_path: Path) -> None:
    """A second dump that breaks off ends the import; what the first gave is not kept."""
    whole, cut, out = tmp_path / "whole.tsv", tmp_path / "cut.tsv.gz", tmp_path / "base.duckdb"
    whole.write_text("IsA\tdog\tpet\n")
    cut.write_bytes(gzip.compress(b"IsA\tcat\tpet\n" * 1000)[:-6])
    out.write_text("as it was")
    with pytest.raises(DataError, match="may be truncated") as told:
        build(KnowledgeSource([Dump(whole), Dump(cut)]), out)
    assert told.value.path == cut
    assert {path.name for path in tmp_path.iterdir()} == {"whole.tsv", "cut.tsv.gz", "base.duckdb"}
    assert out.read_text() == "as it was"


def test_a_knowledge_base_takes_another_s_place(tmp_path: Path) -> None:
    """A second import to the same file replaces the first, also while that is open."""
    path = made_of(tmp_path, ["IsA\tdog\tpet"])
    with KnowledgeBase(path) as old:
        made_of(tmp_path, ["HasA\tdog\ttail", "HasA\tcat\ttail"])
        assert old.relations == {"IsA": 1}
    with KnowledgeBase(path) as new:
        assert new.relations == {"HasA": 2}


def test_a_file_that_is_given_twice_is_an_error(tmp_path: Path) -> None:
    """Its facts would be counted twice; another path to it does not hide it."""
    dump, link = tmp_path / "dump.tsv", tmp_path / "link.tsv"
    dump.write_text("IsA\tdog\tpet\n")
    link.symlink_to(dump)
    for twice in ([dump, dump], [dump, link]):
        with pytest.raises(RequestError, match="is given twice"):
            build(KnowledgeSource([Dump(path) for path in twice]), tmp_path / "base.duckdb")


def test_a_path_may_hold_any_letter(tmp_path: Path) -> None:
    """Apostrophes and blanks in a path do no harm, and folders that are not there are made."""
    dump = tmp_path / "Ann's dump.tsv"
    dump.write_text("IsA\tdog\tpet\n")
    out = tmp_path / "Ann's; folder" / "é 'base"
    build(KnowledgeSource([Dump(dump)]), out)
    assert len(edges(out)) == 1
    assert [path.name for path in out.parent.iterdir()] == ["é 'base"]
