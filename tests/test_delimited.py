"""Delimited text, as the readers of all kinds of file take it."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from tacit.coherence.beliefs import read_beliefs
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError
from tacit.sources.drawings import read_drawings, read_things
from tacit.sources.dumps import Dump
from tacit.sources.norms import read_norms
from tacit.sources.questions import read_anchors
from tacit.tables import read_table, write_table

pd = pytest.importorskip("pandas")

PARTS = Ontology.load("parts")
Rows = list[list[str]]


def triples(source: Any) -> list[tuple[str, ...]]:  # noqa: ANN401
    """The facts of a dump, none of whose lines is malformed."""
    dump = Dump(source)
    rows = [row for batch in dump.batches() for row in batch.to_dicts()]
    assert dump.bad == 0, dump.bad_line_text()
    return [(row["relation"], row["head"], row["tail"]) for row in rows]


@dataclass(frozen=True)
class Reader:
    """A reader, and a table that it reads; the cells are as they are found in the result."""

    read: Callable[[Any], Any]
    suffixes: tuple[str, ...]
    rows: Rows
    header: bool = True


READERS = {
    "beliefs": Reader(
        lambda path: read_beliefs(path, PARTS).table.rows(),
        (".csv", ".tsv"),
        [["subject", "relation", "object", "p_true"], ["roof, flat", "above", "wall", "0.9"]],
    ),
    "things": Reader(
        read_things,
        (".csv", ".tsv"),
        [["Everyday thing", "Parts"], ["teapot", "body, lid"], ["lamp", "base, bulb"]],
    ),
    "drawings": Reader(
        lambda path: read_drawings(path, PARTS.relations),
        (".tsv",),
        [["ann", "tea pot", "---", "lid", "above", "body"], ["", "", "---", "a", "above", "b"]],
        header=False,
    ),
    "norms": Reader(
        lambda path: read_norms(path).properties,
        (".csv", ".tsv", ".txt", ".dat"),
        [["concept", "feature", "pf"], ["bear", "has fur, long", "25"], ["bear", "is big", "2"]],
    ),
    "CSLB": Reader(
        lambda path: read_norms(path).properties,
        (".csv", ".tsv", ".txt", ".dat"),
        [
            ["concept", "feature", "pf", "feature type", "feature alternatives"],
            ["bear", "has fur", "25", "visual", "has fur; has hair"],
        ],
    ),
    "questions": Reader(
        read_anchors,
        (".csv", ".tsv"),
        [["question", "choices", "answer"], ["Where?", "[HH] | [Hh] | [hh]", "[hh]"]],
    ),
    "triples": Reader(
        triples,
        (".tsv",),
        [["relation", "head", "tail"], ["AtLocation", "dog", "kennel"], ["IsA", "dog", "pet"]],
    ),
    "triples without a header": Reader(
        triples, (".tsv",), [["AtLocation", "dog", "kennel"], ["IsA", "dog", "pet"]], header=False
    ),
}
KINDS = [(kind, suffix) for kind, reader in READERS.items() for suffix in reader.suffixes]
WITH_HEADER = [(kind, suffix) for kind, suffix in KINDS if READERS[kind].header]
kinds = pytest.mark.parametrize(("kind", "suffix"), KINDS)
with_header = pytest.mark.parametrize(("kind", "suffix"), WITH_HEADER)


def text(rows: Sequence[Sequence[object]], suffix: str, **how: Any) -> str:  # noqa: ANN401
    """The rows as Python's csv module writes them."""
    file = io.StringIO()
    csv.writer(file, **{"delimiter": "," if suffix == ".csv" else "\t", **how}).writerows(rows)
    return file.getvalue()


def written(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


@kinds
def test_quotes_marks_and_blank_lines_do_not_matter(tmp_path: Path, kind: str, suffix: str) -> None:
    reader = READERS[kind]
    plain = reader.read(written(tmp_path / f"t{suffix}", text(reader.rows, suffix)))
    quoted = text(reader.rows, suffix, quoting=csv.QUOTE_ALL, lineterminator="\r\n\r\n")
    assert reader.read(written(tmp_path / f"t{suffix}", f"\ufeff{quoted}\r\n")) == plain


@kinds
def test_a_malformed_line_is_an_error_with_its_number(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    """Below an unclosed quote no line is part of the cell above it; Latin-1 is no UTF-8."""
    reader = READERS[kind]
    *lines, last = text(reader.rows, suffix, lineterminator="\n").splitlines()
    for broken, encoding in ((f'"{last}', "utf-8"), (f"ü{last}", "latin-1")):
        path = written(tmp_path / f"t{suffix}", "\n".join([*lines, broken]), encoding)
        with pytest.raises((DataError, AssertionError), match=f"line {len(reader.rows)}"):
            reader.read(path)


@with_header
@pytest.mark.parametrize("last", [False, True])
def test_a_column_without_a_name_is_ignored_with_a_notice(
    tmp_path: Path, kind: str, suffix: str, caplog: pytest.LogCaptureFixture, *, last: bool
) -> None:
    """R's row names, pandas' index, notes beside an Excel table."""
    reader = READERS[kind]
    plain = reader.read(written(tmp_path / f"t{suffix}", text(reader.rows, suffix)))
    caplog.clear()
    extra = ["", *(f"bear.{n}" for n in range(1, len(reader.rows)))]
    rows = [
        [*row, cell] if last else [cell, *row] for row, cell in zip(reader.rows, extra, strict=True)
    ]
    assert reader.read(written(tmp_path / f"t{suffix}", text(rows, suffix))) == plain
    [notice] = [one.getMessage() for one in caplog.records]
    assert f"column {len(reader.rows[0]) + 1 if last else 1}" in notice


@with_header
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("mark", [";", "|"])
def test_another_separator_is_named_whatever_the_decimal_mark(
    tmp_path: Path, kind: str, suffix: str, quoting: int, mark: str
) -> None:
    """Neither a decimal comma hides it, nor a header with quotes, as R's write.csv2 writes it."""
    reader = READERS[kind]
    rows = [[cell.replace("0.9", "0,9") for cell in row] for row in reader.rows]
    path = written(tmp_path / f"t{suffix}", text(rows, suffix, delimiter=mark, quoting=quoting))
    with pytest.raises(DataError, match="separated by"):
        reader.read(path)


@pytest.mark.parametrize("suffix", [".xlsx", ".jsonl", ".parquet"])
def test_the_name_of_a_column_may_be_missing_in_any_format(
    tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the McRae and the CSLB layout alike, no unnamed column is a list of wordings."""
    header, *rows = [["", *READERS["norms"].rows[0]], ["x", *READERS["norms"].rows[1]]]
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame(dict(zip(header, *rows, strict=True)))
    if suffix == ".xlsx":
        book = Workbook()
        assert book.active is not None
        for row in (header, *rows):
            book.active.append(row)
        book.save(path)
    elif suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    [only] = read_norms(path).properties
    assert (only.feature, only.alternatives, only.people) == ("has fur, long", (), ())
    assert "column 1" in caplog.text


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_rows_without_text_and_long_cells_are_kept(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"a": [None, "x" * 200_000, None], "b": [None, "y", "z"]})
    for some in (frame, frame.select("a")):
        write_table(some, tmp_path / f"t{suffix}")
        assert read_table(tmp_path / f"t{suffix}").equals(some)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_the_names_of_columns_may_differ_invisibly(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(pl.DataFrame({"cafe\u0301": ["x"], "b\u00a0": ["y"], "c\u200b ": ["z"]}), path)
    assert read_table(path, ["caf\u00e9", "b", "c"]).rows() == [("x", "y", "z")]
    write_table(pl.DataFrame({"b": ["x"], "b\u00a0": ["y"]}), path)
    with pytest.raises(DataError, match=r"twice|duplicate"):
        read_table(path)


def test_a_quote_within_a_cell_is_text(tmp_path: Path) -> None:
    path = written(tmp_path / "t.tsv", 'a\tb\n5" disk\t6"\n"5"" disk"\tx\n')
    assert read_table(path).rows() == [('5" disk', '6"'), ('5" disk', "x")]
    facts = written(tmp_path / "f.tsv", 'IsA\t5" disk\t6"\nIsA\t"5"" disk"\tx\n')
    assert triples(facts) == [("IsA", '5" disk', '6"'), ("IsA", '5" disk', "x")]


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("kind", ["things", "norms", "CSLB", "questions", "triples", "beliefs"])
def test_a_data_frame_is_read_as_its_file(tmp_path: Path, kind: str, library: str) -> None:
    reader = READERS[kind]
    header, *rows = reader.rows
    texts = pl.LazyFrame(rows, header, orient="row").cast(pl.Categorical())
    frame = texts if library == "polars" else texts.collect().to_pandas()
    assert reader.read(frame) == reader.read(written(tmp_path / "t.tsv", text([header, *rows], "")))


CELLS = st.text(st.sampled_from("ab1é ,;|\t\n\r\"'\\#"), max_size=4)
# A carriage return before a line feed is the end of a line.
CELLS = CELLS.filter(lambda cell: not cell.endswith("\r"))
NAMES = st.text(st.sampled_from("ab ,\t\n\"'"), max_size=3)


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    header = draw(
        st.lists(NAMES, min_size=1, max_size=4, unique=True).filter(
            lambda names: any(map(str.strip, names))
        )
    )
    row = st.lists(CELLS, min_size=len(header), max_size=len(header))
    return [header, *draw(st.lists(row, max_size=4))]


def of_polars(rows: Rows, suffix: str) -> str:
    frame = pl.DataFrame(rows[1:], dict.fromkeys(rows[0], pl.String), orient="row")
    return frame.write_csv(separator="," if suffix == ".csv" else "\t")


def of_pandas(rows: Rows, suffix: str, *, index: bool = False) -> str:
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    return str(frame.to_csv(sep="," if suffix == ".csv" else "\t", index=index))


def of_r(rows: Rows, suffix: str, escaped: str, *, corner: Sequence[str] = ()) -> str:
    """As R's write.table and write.csv do; ``corner`` is the header of the row names."""
    separator = "," if suffix == ".csv" else "\t"
    lines = [[*corner, *rows[0]], *([str(n), *row] for n, row in enumerate(rows[1:], 1))]
    return "".join(
        separator.join('"' + cell.replace('"', escaped) + '"' for cell in line) + "\n"
        for line in lines
    )


WRITERS: dict[str, Callable[[Rows, str], str]] = {
    "csv": text,
    "csv, all quoted": lambda rows, suffix: text(rows, suffix, quoting=csv.QUOTE_ALL),
    "csv, Unix": lambda rows, suffix: text(rows, suffix, dialect="unix"),
    "csv, LF": lambda rows, suffix: text(rows, suffix, lineterminator="\n"),
    "polars": of_polars,
    "pandas": of_pandas,
    "pandas with its index": lambda rows, suffix: of_pandas(rows, suffix, index=True),
    "R's write.csv": lambda rows, suffix: of_r(rows, suffix, '""', corner=[""]),
    "R's write.table": lambda rows, suffix: of_r(rows, suffix, '\\"'),
}
fuzzed = settings(max_examples=40, suppress_health_check=list(HealthCheck), database=None)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_any_table_of_any_writer_is_read_back_or_refused(
    tmp_path: Path, writer: str, suffix: str
) -> None:
    """Columns without a name and blank lines are left out; an empty cell is missing."""
    path = tmp_path / f"t{suffix}"
    of_table = writer == "R's write.table"
    plain = [["a", "b"], ["x", "y"] if of_table else ["x, y", '5" disk'], ["\t", "é"]]
    written(path, WRITERS[writer](plain, suffix))
    if of_table:
        with pytest.raises(DataError, match="row names"):
            read_table(path)
    else:
        assert read_table(path).rows() == [*map(tuple, plain[1:])]

    @fuzzed
    @given(tables())
    def check(rows: Rows) -> None:
        letters = "".join(cell for row in rows for cell in row)
        # Where R escapes a quote with a backslash, one that precedes a separator seems to close.
        assume("table" not in writer or '"' not in letters or not {*letters} & {*",\t\n"})
        written(path, WRITERS[writer](rows, suffix))
        try:
            found = read_table(path)
        except DataError:
            return
        named = [place for place, name in enumerate(rows[0]) if name.strip()]
        assert found.columns == [rows[0][place].strip() for place in named]
        assert found.rows() == [tuple(row[place] or None for place in named) for row in rows[1:]]

    check()


WORDS = st.text(st.sampled_from("ab1é,\"' \t\n"), max_size=4).filter(str.strip)


@pytest.mark.parametrize("writer", [one for one in WRITERS if "table" not in one])
def test_any_triples_are_read_back_or_counted_as_malformed(tmp_path: Path, writer: str) -> None:
    """By the names of their columns; what stands on two lines is malformed."""
    path = tmp_path / "t.tsv"

    @fuzzed
    @given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4))
    def check(rows: list[tuple[str, str, str]]) -> None:
        lines = [["subject", "object", "rel"], *map(list, rows)]
        written(path, WRITERS[writer](lines, ".tsv"))
        dump = Dump(path)
        names = ("head", "tail", "relation")
        found = [row for batch in dump.batches() for row in batch.select(names).iter_rows()]
        assert dump.bad or found == rows

    check()
