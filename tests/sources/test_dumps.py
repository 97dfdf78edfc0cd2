from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.english import several
from tacit.errors import DataError, RequestError
from tacit.sources.dumps import Dump

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))
SAMPLE = DATA / "conceptnet" / "assertions-sample.csv"
needs_sample = pytest.mark.skipif(not SAMPLE.is_file(), reason="the sample of 5.7 is not here")

GOOD = b"IsA\tdog\tanimal"


def assertion(
    relation: str = "/r/IsA", head: str = "/c/en/dog", tail: str = "/c/en/animal", info: str = "{}"
) -> bytes:
    """A line of assertions."""
    return f"/a/[{relation}/,{head}/,{tail}/]\t{relation}\t{head}\t{tail}\t{info}".encode()


def write(path: Path, lines: Sequence[bytes], end: bytes = b"\n") -> Path:
    """Writes the lines; compressed when the name says so."""
    data = b"".join(line + end for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(dump: Dump) -> list[dict[str, Any]]:
    """All rows that a dump gives."""
    return [row for batch in dump.batches() for row in batch.to_pylist()]


def triples(dump: Dump) -> list[tuple[str, str, str]]:
    """The relations, heads and tails that a dump gives."""
    return [(row["relation"], row["head"], row["tail"]) for row in rows(dump)]


@needs_sample
def test_assertions_are_read_in_their_language() -> None:
    """Of the 764 lines of the sample, the 96 between two English concepts come, as they stand."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    english = [
        (place, *line[1:])
        for place, line in enumerate(lines)
        if line[2].startswith("/c/en/") and line[3].startswith("/c/en/")
    ]
    dump = Dump(SAMPLE)
    assert [
        tuple(row[k] for k in ("row", "relation", "head", "tail", "info")) for row in rows(dump)
    ] == english
    assert (dump.layout, dump.lines, dump.bad, len(english)) == ("assertions", 764, 0, 96)
    assert all(json.loads(line[4])["weight"] for line in lines)


@needs_sample
def test_another_language_can_be_asked_for() -> None:
    """Both concepts of a row are of the language, and a language is not what begins like it."""
    french = rows(Dump(SAMPLE, "fr"))
    assert french
    assert all(row[end].startswith("/c/fr/") for row in french for end in ("head", "tail"))
    assert not rows(Dump(SAMPLE, "e"))


@pytest.mark.parametrize("name", ["dump.tsv", "dump.tsv.gz"])
def test_bytes_are_counted_and_hashed_as_they_lie_on_the_disk(tmp_path: Path, name: str) -> None:
    """Read to its end, a dump has its file's size and SHA-256, compressed or not."""
    path = write(tmp_path / name, [GOOD] * 1000)
    dump = Dump(path)
    assert len(rows(dump)) == 1000
    assert dump.bytes_read == path.stat().st_size
    assert dump.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_compression_shows_in_the_bytes_and_not_in_the_name(tmp_path: Path) -> None:
    """A compressed dump may have any name, and several members one after another."""
    path = tmp_path / "dump.csv"
    path.write_bytes(gzip.compress(GOOD + b"\nIsA\tca") + gzip.compress(b"t\tanimal\n"))
    assert triples(Dump(path)) == [("IsA", "dog", "animal"), ("IsA", "cat", "animal")]


def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    """CRLF, a last line without an end, and a byte order mark change nothing."""
    path = tmp_path / "dump.tsv"
    path.write_bytes(b"\xef\xbb\xbfIsA\tdog\tanimal\r\nIsA\tcat\tNULL")
    assert triples(Dump(path)) == [("IsA", "dog", "animal"), ("IsA", "cat", "NULL")]


@pytest.mark.parametrize(
    "columns",
    [
        ("relation", "head", "tail"),
        ("head", "relation", "tail"),
        ("weight", "tail", "relation", "head"),
    ],
)
def test_columns_come_in_the_order_that_is_told(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """Triples may have their columns in any order, with a weight or without."""
    line = {"relation": b"IsA", "head": b"dog", "tail": b"animal", "weight": b"2.5"}
    path = write(tmp_path / "dump.tsv", [b"\t".join(line[name] for name in columns)])
    [row] = rows(Dump(path, columns=columns))
    assert row == {name: line[name].decode() for name in columns} | {"row": 0}


def test_the_first_weight_may_be_blank(tmp_path: Path) -> None:
    """A first line without a weight is a triple like any other."""
    path = write(tmp_path / "dump.tsv", [GOOD + b"\t", b"IsA\tcat\tanimal\t1"])
    dump = Dump(path, columns=("relation", "head", "tail", "weight"))
    assert [row["weight"] for row in rows(dump)] == ["", "1"]


@pytest.mark.parametrize(
    "columns",
    [
        ("",),
        ("relation", "head"),
        ("relation", "head", "head"),
        ("relation", "head", "tail", "tail"),
        ("relation", "head", "tail", "licence"),
        ("relation", "head", "weight"),
    ],
)
def test_wrong_columns_are_refused(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """Columns that lack one of the three, repeat one, or name another are refused by name."""
    path = write(tmp_path / "dump.tsv", [GOOD])
    with pytest.raises(RequestError, match="are invalid; expected relation, head and tail") as told:
        Dump(path, columns=columns)
    assert ",".join(columns) in str(told.value)


BAD = {
    "too few columns": b"IsA\tdog",
    "too many columns": b"IsA\tdog\tanimal\t1",
    "one word": b"IsA",
    "a blank": b" ",
    "a blank head": b"IsA\t \tanimal",
    "no relation": b"\tdog\tanimal",
    "no tail": b"IsA\tdog\t",
    "Latin-1": b"IsA\tb\xe4r\tanimal",
    "Latin-1 and too few columns": b"b\xe4r",
    "half a character at the end": b"IsA\tdog\tanimal\xe2\x82",
    "an unclosed quote": b'IsA\t"dog\tanimal',
    "a quote that ends within a cell": b'IsA\t"dog" cat\tanimal',
    "a surrogate": b"IsA\tdog\t\xed\xa0\x80",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_line_is_counted_and_told_with_its_number(tmp_path: Path, line: bytes) -> None:
    """A line that is no triple is counted, passed over, and told with its number and text."""
    dump = Dump(write(tmp_path / "dump.tsv", [GOOD] * 5 + [line] + [GOOD] * 4))
    assert [row["row"] for row in rows(dump)] == [0, 1, 2, 3, 4, *rows_after(line)]
    assert (dump.lines, dump.bad) == (10, 1)
    [(number, text)] = dump.shown
    assert number == 6
    assert text.split("\t")[0] == line.split(b"\t")[0].replace(b"\xe4", b"\x1a").decode()
    assert dump.bad_line_text() == f"line 6: {text!r}"


def rows_after(line: bytes) -> range:
    """The numbers of four rows after a bad one; the parser numbers none with other columns."""
    return range(6, 10) if line.count(b"\t") == 2 else range(5, 9)


BAD_ASSERTIONS = {
    "too few columns": b"\t".join(assertion().split(b"\t")[:4]),
    "a triple": GOOD,
    "no relation's address": assertion(relation="IsA"),
    "no concept's address": assertion(head="dog"),
    "a tail that is neither concept nor of the web": assertion(tail="animal"),
    "Latin-1 in another language": assertion(head="/c/de/b_r").replace(b"_", b"\xe4"),
}


@pytest.mark.parametrize("line", BAD_ASSERTIONS.values(), ids=BAD_ASSERTIONS)
def test_a_bad_assertion_is_counted(tmp_path: Path, line: bytes) -> None:
    """A line that is no assertion is counted, whatever language it may be in."""
    dump = Dump(write(tmp_path / "dump.csv", [assertion(), line, assertion()]))
    assert len(rows(dump)) == 2
    assert (dump.lines, dump.bad, dump.shown[0][0]) == (3, 1, 2)


def test_addresses_of_the_web_are_no_bad_lines(tmp_path: Path) -> None:
    """An assertion whose tail is an address of the web is good, and is no edge of the language."""
    web = assertion("/r/ExternalURL", tail="http://dbpedia.org/resource/Dog")
    dump = Dump(write(tmp_path / "dump.csv", [assertion(), web]))
    assert (len(rows(dump)), dump.lines, dump.bad) == (1, 2, 0)


KINDS = st.sampled_from([GOOD, GOOD, b"", *BAD.values()])


@settings(max_examples=60, deadline=None)
@given(st.lists(KINDS, max_size=60), st.integers(64, 200), st.sampled_from(["d.tsv", "d.tsv.gz"]))
def test_bad_lines_have_their_numbers_however_they_are_mixed(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[bytes], block: int, name: str
) -> None:
    """Good, bad and empty lines are told apart and numbered, whatever the blocks read."""
    lines = [GOOD, *kinds]
    path = write(tmp_path_factory.mktemp("dump") / name, lines)
    expected = [k for k, line in enumerate(lines, 1) if line not in {GOOD, b""}]
    with patch("tacit.sources.dumps._BLOCK", block), patch("tacit.sources.dumps.SHOWN", 1000):
        dump = Dump(path)
        good = rows(dump)
    assert len(good) == lines.count(GOOD)
    assert (dump.lines, dump.bad) == (len(lines), len(expected))
    assert sorted(number for number, _ in dump.shown) == expected


def test_a_row_that_is_rejected_later_has_its_line_s_number(tmp_path: Path) -> None:
    """A row's number becomes its line's: lines passed over and empty ones are reckoned in."""
    lines = [GOOD, b"x", b"", GOOD, b"x", b"x", b"IsA\tcat\tanimal", GOOD]
    dump = Dump(write(tmp_path / "dump.tsv", lines))
    [cat] = [row for row in rows(dump) if row["head"] == "cat"]
    dump.reject(cat["row"], "the cat")
    assert dump.bad == 4
    assert dump.bad_line_text() == "line 2: 'x'; line 5: 'x'; line 6: 'x'; line 7: 'the cat'"


def test_only_a_few_bad_lines_are_told_and_cut_short(tmp_path: Path) -> None:
    """Five bad lines are told, each cut to 120 letters; all are counted."""
    dump = Dump(write(tmp_path / "dump.tsv", [GOOD] * 2000 + [b"long " * 100] * 9))
    rows(dump)
    assert [number for number, _ in dump.shown] == [2001, 2002, 2003, 2004, 2005]
    assert dump.shown[0][1] == "long " * 24 + "..."
    assert dump.bad == 9
    dump.check()


@pytest.mark.parametrize(("lines", "bad"), [(100, 1), (300, 3), (2900, 29), (99, 0)])
def test_one_bad_line_in_a_hundred_is_tolerated_and_no_more(
    tmp_path: Path, lines: int, bad: int
) -> None:
    """Exactly 1 % of bad lines pass; one more is refused, with the count and the first few."""

    def read(count: int) -> Dump:
        good = [GOOD] * (lines - count)
        dump = Dump(write(tmp_path / "dump.tsv", [*good[:50], *[b"bad"] * count, *good[50:]]))
        rows(dump)
        assert (dump.lines, dump.bad) == (lines, count)
        return dump

    read(bad).check()
    message = f"has {several(bad + 1, 'malformed line')} out of {lines:,}; .*; line 51: 'bad'"
    with pytest.raises(DataError, match=message) as told:
        read(bad + 1).check()
    assert told.value.path == tmp_path / "dump.tsv"


def test_a_file_with_little_good_is_not_read_to_its_end(tmp_path: Path) -> None:
    """When most of many lines are bad the rest is not read, and the dump is refused."""
    path = write(tmp_path / "dump.tsv", [GOOD] + [b"bad"] * 5000)
    with patch("tacit.sources.dumps._BLOCK", 100):
        dump = Dump(path)
        rows(dump)
    assert 1000 < dump.bad < 2000
    with pytest.raises(DataError, match="malformed lines out of"):
        dump.check()


def packed() -> bytes:
    """A compressed dump of 10,000 lines that differ."""
    words = (hashlib.sha256(b"%d" % number).hexdigest() for number in range(10_000))
    return gzip.compress("".join(f"IsA\t{word}\tanimal\n" for word in words).encode())


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.999])
def test_a_dump_cut_in_the_middle_of_a_member_is_refused(tmp_path: Path, kept: float) -> None:
    """A download that broke off is an error that says so, and not a shorter dump."""
    data = packed()
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(DataError, match=r"is truncated or damaged .*; download it again") as told:
        rows(Dump(path))
    assert told.value.path == path


def test_a_dump_cut_in_its_second_member_is_refused(tmp_path: Path) -> None:
    """Whole members before do not hide that one is cut."""
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(packed() + packed()[:-9])
    with pytest.raises(DataError, match="is truncated or damaged"):
        rows(Dump(path))


@pytest.mark.parametrize("kept", [2, 5, 12])
def test_a_dump_cut_before_its_first_line_is_refused(tmp_path: Path, kept: int) -> None:
    """A gzip file of a few bytes is an error too."""
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(packed()[:kept])
    with pytest.raises(DataError, match="cannot be read: ") as told:
        Dump(path)
    assert told.value.path == path


@pytest.mark.parametrize("place", [0.3, 0.9])
def test_damaged_bytes_are_refused(tmp_path: Path, place: float) -> None:
    """A gzip file whose bytes were changed fails its own check, and that is told."""
    data = bytearray(packed())
    data[int(len(data) * place)] ^= 0xFF
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged") as told:
        rows(Dump(path))
    assert told.value.path == path


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n  \n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b'{"weight": 1.0}\n', r"line 1: is not a dump: .* found '{\"weight\": 1.0}'"),
        (b"\n\nhello\n", "line 3: is not a dump"),
        (b"IsA\t\tanimal\n", "line 1: is not a dump"),
        (
            b"IsA\tdog\tanimal\t1.0\n",
            "line 1: is not a dump: .* or the columns relation, head, tail",
        ),
        (b"a\tb\tc\td\te\n", "first of which begins with /a/"),
        (b"\x89PNG\r\n\x1a\n\x00\x00" * 50, "line 1: is not a dump"),
    ],
)
def test_what_is_no_dump_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    """An empty file, JSON, an image or other columns are refused at the first line."""
    path = tmp_path / "dump"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message) as told:
        Dump(path)
    assert told.value.path == path


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    """A folder and a path where nothing is are refused."""
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(DataError, match=r"there is no such file|is a folder") as told:
            Dump(path)
        assert told.value.path == path


def test_a_line_of_gigabytes_is_told(tmp_path: Path) -> None:
    """A line longer than a block is an error."""
    path = write(tmp_path / "dump.tsv", [GOOD, b"IsA\t" + b"long " * 1000 + b"\tanimal"])
    with patch("tacit.sources.dumps._BLOCK", 500):
        dump = Dump(path)
        with pytest.raises(DataError, match="cannot be read as a dump"):
            rows(dump)


MILLIONS = gzip.compress(b"\n" * 1_500_000)


@pytest.mark.parametrize("first", [b"", GOOD + b"\n", assertion() + b"\n"])
@pytest.mark.slow
def test_a_file_of_blank_lines_ends_soon(tmp_path: Path, first: bytes) -> None:
    """A few megabytes of gzip hold billions of them; they are counted in blocks, not as rows."""
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(gzip.compress(first) + MILLIONS * 40)
    with pytest.raises(DataError, match=r"blank lines") as refused:
        rows(Dump(path))
    assert str(path) in str(refused.value)


def test_some_blank_lines_do_no_harm(tmp_path: Path) -> None:
    """They are neither bad nor a sign of a damaged file."""
    path = write(tmp_path / "dump.csv", [b"", b"", GOOD, b"", b"IsA\tcat\tanimal", b"", b""])
    dump = Dump(path)
    assert sum(batch.num_rows for batch in dump.batches()) == 2
    assert dump.bad == 0
