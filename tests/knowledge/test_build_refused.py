import gzip
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

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
BAD_INFO = [
    '{"weight": 2.0',
    "[2.0]",
    "2.0",
    "weight 2.0",
    "",
    '{"license": "cc:by/4.0"}',
    '{"weight": null}',
    '{"weight": "heavy"}',
    '{"weight": [2.0]}',
    '{"weight": NaN}',
    '{"weight": 1e400}',
]


def assertion(info: str = GOOD, head: str = "/c/en/dog", relation: str = "/r/IsA") -> str:
    return f"/a/[{relation}/,{head}/,/c/en/pet/]\t{relation}\t{head}\t/c/en/pet\t{info}"


@pytest.mark.parametrize("block", [150, 1000])
def test_what_an_assertion_tells_of_itself_is_checked(tmp_path: Path, block: int) -> None:
    """An assertion without a weight that can be read is a bad line, whatever the blocks."""
    infos = [info for bad in BAD_INFO for info in (GOOD, bad)]
    dump = tmp_path / "dump.csv"
    dump.write_text("\n\n".join(assertion(info) for info in infos))
    read = Dump(dump)
    with (
        patch("tacit.sources.dumps._BLOCK", block),
        patch("tacit.sources.dumps.SHOWN", 100),
        patch("tacit.sources.dumps.TOLERATED", 1.0),
    ):
        build(KnowledgeSource([read]), tmp_path / "base.duckdb")
    assert [number for number, _ in read.shown] == [*range(3, 2 * len(infos), 4)]
    assert len(edges(tmp_path / "base.duckdb")) == len(BAD_INFO)


def test_a_concept_without_a_label_is_a_bad_line(tmp_path: Path) -> None:
    heads = ("/c/en/", "/c/en/_", "/c/en//n")
    dump = tmp_path / "dump.csv"
    dump.write_text("\n".join([assertion()] * 300 + [assertion(head=head) for head in heads]))
    build(KnowledgeSource([Dump(dump)]), tmp_path / "base.duckdb")
    with KnowledgeBase(tmp_path / "base.duckdb") as base:
        assert base.about["sources"][0]["bad_lines"] == 3
        assert (base.about["edges"], base.about["concepts"]) == (300, 2)


BAD_TRIPLES = [
    *("IsA\tdog\tpet\theavy", "IsA\tdog\tpet\tnan", "IsA\tdog\tpet\t-inf"),
    *("IsA\t_\tpet\t1", "IsA\t \tpet\t1", "\tdog\tpet\t1", "IsA\tdog\t\t1"),
]


def test_a_triple_without_a_number_or_a_name_is_a_bad_line(tmp_path: Path) -> None:
    lines = ["IsA\tcat\tpet\t2.5"] * 700
    path = made_of(tmp_path, [*lines, *BAD_TRIPLES], (*TRIPLES, "weight"))
    assert {edge[:3] for edge in edges(path)} == {("IsA", "cat", "pet")}
    with KnowledgeBase(path) as base:
        assert base.about["sources"][0]["bad_lines"] == len(BAD_TRIPLES)


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
        build(KnowledgeSource([Dump(dump, "fr")]), tmp_path / "base.duckdb")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("add_lexicon", KeyboardInterrupt),
        ("add_lexicon", MemoryError),
        ("_write_description", OSError),
        ("_join_edges", duckdb.OutOfMemoryException),
        ("move_into", PermissionError),
    ],
)
def test_a_failing_import_leaves_nothing(
    tmp_path: Path, step: str, kind: type[BaseException]
) -> None:
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
    dump = tmp_path / "Ann's dump.tsv"
    dump.write_text("IsA\tdog\tpet\n")
    out = tmp_path / "Ann's; folder" / "é 'base"
    build(KnowledgeSource([Dump(dump)]), out)
    assert len(edges(out)) == 1
    assert [path.name for path in out.parent.iterdir()] == ["é 'base"]
