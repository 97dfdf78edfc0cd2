import csv
import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.english import several
from tacit.errors import DataError, RequestError
from tacit.sources.dumps import Dump
from tests.fetched_data import SAMPLE, needs_sample

GOOD = b"IsA\tdog\tanimal"
PACKED = gzip.compress(
    b"".join(
        b"IsA\t%s\tanimal\n" % hashlib.sha256(b"%d" % n).hexdigest().encode() for n in range(10_000)
    )
)


def assertion(
    relation: str = "/r/IsA", head: str = "/c/en/dog", tail: str = "/c/en/animal", info: str = "{}"
) -> bytes:
    return f"/a/[{relation}/,{head}/,{tail}/]\t{relation}\t{head}\t{tail}\t{info}".encode()


def write(path: Path, lines: Sequence[bytes]) -> Path:
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(dump: Dump) -> list[dict[str, Any]]:
    return [row for batch in dump.batches() for row in batch.to_dicts()]


def triples(dump: Dump) -> list[tuple[str, str, str]]:
    return [(row["relation"], row["head"], row["tail"]) for row in rows(dump)]


@needs_sample
@pytest.mark.parametrize("language", ["en", "fr", "e"])
def test_assertions_are_read_in_one_language(language: str) -> None:
    """Rows between two concepts of a language, with their lines' numbers, as Python reads them."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    expected = [
        (number, *line[1:])
        for number, line in enumerate(lines, 1)
        if all(end.startswith(f"/c/{language}/") for end in line[2:4])
    ]
    dump = Dump(SAMPLE, language)
    names = ("line", "relation", "head", "tail", "info")
    assert [tuple(row[name] for name in names) for row in rows(dump)] == expected
    assert bool(expected) == (language != "e")
    assert (dump.layout, dump.lines, dump.bad) == ("assertions", 764, 0)


@pytest.mark.parametrize("name", ["dump.tsv", "dump.tsv.gz"])
def test_bytes_are_counted_as_on_the_disk(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [GOOD] * 1000)
    dump = Dump(path)
    assert len(rows(dump)) == 1000
    assert dump.bytes_read == path.stat().st_size


def test_a_compressed_dump_may_have_any_name_and_several_members(tmp_path: Path) -> None:
    path = tmp_path / "dump.csv"
    path.write_bytes(gzip.compress(GOOD + b"\nIsA\tca") + gzip.compress(b"t\tanimal\n"))
    assert triples(Dump(path)) == [("IsA", "dog", "animal"), ("IsA", "cat", "animal")]


def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "dump.tsv"
    path.write_bytes(b"\xef\xbb\xbfIsA\tdog\tanimal\r\n\r\n\n\t\t\nIsA\tcat\tNULL")
    dump = Dump(path)
    assert triples(dump) == [("IsA", "dog", "animal"), ("IsA", "cat", "NULL")]
    assert (dump.lines, dump.bad) == (5, 0)


@pytest.mark.parametrize(
    "columns",
    [
        ("relation", "head", "tail"),
        ("head", "relation", "tail"),
        ("weight", "tail", "relation", "head"),
    ],
)
def test_columns_have_the_given_order(tmp_path: Path, columns: tuple[str, ...]) -> None:
    cells = {"relation": "IsA", "head": "dog", "tail": "animal", "weight": ""}
    line = "\t".join(cells[name] for name in columns)
    [row] = rows(Dump(write(tmp_path / "dump.tsv", [line.encode()]), columns=columns))
    assert {name: row[name] for name in columns} == {name: cells[name] for name in columns}


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
def test_invalid_columns_are_an_error(tmp_path: Path, columns: tuple[str, ...]) -> None:
    path = write(tmp_path / "dump.tsv", [GOOD])
    with pytest.raises(RequestError, match=f"the columns {','.join(columns)} are invalid"):
        Dump(path, columns=columns)


BAD = {
    "too few columns": b"IsA\tdog",
    "too many columns": b"IsA\tdog\tanimal\t1",
    "one word": b"IsA",
    "a blank": b" ",
    "Latin-1": b"IsA\tb\xe4r\tanimal",
    "Latin-1 and too few columns": b"b\xe4r",
    "half a character at the end": b"IsA\tdog\tanimal\xe2\x82",
    "an unclosed quote": b'IsA\t"dog\tanimal',
    "a quote that ends within a cell": b'IsA\t"dog" cat\tanimal',
    "a surrogate": b"IsA\tdog\t\xed\xa0\x80",
}
BAD_ASSERTIONS = {
    "too few columns": b"\t".join(assertion().split(b"\t")[:4]),
    "a triple": GOOD,
    "no relation's address": assertion(relation="IsA"),
    "no concept's address": assertion(head="dog"),
    "a tail that is neither concept nor of the web": assertion(tail="animal"),
    "Latin-1 in another language": assertion(head="/c/de/b_r").replace(b"_", b"\xe4"),
}


@pytest.mark.parametrize(
    ("good", "line"),
    [
        *((GOOD, line) for line in BAD.values()),
        *((assertion(), x) for x in BAD_ASSERTIONS.values()),
    ],
    ids=[*BAD, *BAD_ASSERTIONS],
)
def test_a_bad_line_is_counted_and_shown_with_its_number(
    tmp_path: Path, good: bytes, line: bytes
) -> None:
    dump = Dump(write(tmp_path / "dump.tsv", [good] * 5 + [line] + [good] * 4))
    assert [row["line"] for row in rows(dump)] == [1, 2, 3, 4, 5, 7, 8, 9, 10]
    assert (dump.lines, dump.bad) == (10, 1)
    assert dump.shown == [(6, line.decode(errors="replace"))]
    assert dump.bad_line_text() == f"line 6: {line.decode(errors='replace')!r}"


def test_an_assertion_about_a_web_address_is_no_bad_line(tmp_path: Path) -> None:
    web = assertion("/r/ExternalURL", tail="http://dbpedia.org/resource/Dog")
    dump = Dump(write(tmp_path / "dump.csv", [assertion(), web]))
    assert (len(rows(dump)), dump.lines, dump.bad) == (1, 2, 0)


KINDS = st.sampled_from([GOOD, GOOD, b"", *BAD.values()])


@settings(max_examples=60)
@given(st.lists(KINDS, max_size=60), st.integers(64, 200), st.sampled_from(["d.tsv", "d.tsv.gz"]))
def test_bad_lines_have_their_numbers_whatever_the_blocks(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[bytes], block: int, name: str
) -> None:
    lines = [GOOD, *kinds]
    path = write(tmp_path_factory.mktemp("dump") / name, lines)
    expected = [k for k, line in enumerate(lines, 1) if line not in {GOOD, b""}]
    with patch("tacit.sources.dumps._BLOCK", block), patch("tacit.sources.dumps.SHOWN", 1000):
        dump = Dump(path)
        good = rows(dump)
    assert [row["line"] for row in good] == [k for k, x in enumerate(lines, 1) if x == GOOD]
    assert (dump.lines, dump.bad) == (len(lines), len(expected))
    assert [number for number, _ in dump.shown] == expected


def test_the_first_bad_lines_are_shown_and_cut_short(tmp_path: Path) -> None:
    dump = Dump(write(tmp_path / "dump.tsv", [GOOD] * 2000 + [b"long " * 100] * 9))
    first = next(iter(dump.batches()))
    dump.reject(first.filter(first["line"] == 3))
    assert [number for number, _ in dump.shown] == [3, 2001, 2002, 2003, 2004]
    assert dump.shown[1][1] == "long " * 24 + "..."
    assert dump.bad == 10
    dump.check()


@pytest.mark.parametrize(("lines", "bad"), [(100, 1), (300, 3), (2900, 29), (99, 0)])
def test_one_bad_line_in_a_hundred_is_tolerated(tmp_path: Path, lines: int, bad: int) -> None:
    def read(count: int) -> Dump:
        good = [GOOD] * (lines - count)
        dump = Dump(write(tmp_path / "dump.tsv", [*good[:50], *[b"bad"] * count, *good[50:]]))
        rows(dump)
        return dump

    read(bad).check()
    message = f"has {several(bad + 1, 'malformed line')} out of {lines:,}; .*; line 51: 'bad'"
    with pytest.raises(DataError, match=message) as error:
        read(bad + 1).check()
    assert error.value.path == tmp_path / "dump.tsv"


def test_a_file_with_few_good_lines_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.tsv", [GOOD] + [b"bad"] * 5000)
    with patch("tacit.sources.dumps._BLOCK", 100):
        dump = Dump(path)
        rows(dump)
    assert 1000 < dump.bad < 2000
    with pytest.raises(DataError, match="malformed lines out of"):
        dump.check()


@pytest.mark.parametrize(
    "data",
    [
        PACKED[: len(PACKED) // 2],
        PACKED[:5],
        PACKED + PACKED[:-9],
        PACKED[:100] + bytes([PACKED[100] ^ 0xFF]) + PACKED[101:],
        PACKED[:-6] + bytes([PACKED[-6] ^ 1]) + PACKED[-5:],
    ],
    ids=["half", "header", "second member", "flipped", "checksum"],
)
def test_a_truncated_or_damaged_gzip_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "dump.csv.gz"
    path.write_bytes(data)
    with pytest.raises(
        DataError, match=r"cannot be read to its end .*; download it again"
    ) as error:
        rows(Dump(path))
    assert error.value.path == path


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
def test_a_file_that_is_no_dump_is_an_error(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "dump"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message) as error:
        Dump(path)
    assert error.value.path == path


def test_a_line_longer_than_a_block_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.tsv", [GOOD, b"IsA\t" + b"long " * 1000 + b"\tanimal"])
    with patch("tacit.sources.dumps._BLOCK", 500), pytest.raises(DataError, match="has a line of"):
        rows(Dump(path))
