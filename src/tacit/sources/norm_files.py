"""Read files of feature production norms: TSV, CSV, JSONL, Parquet or Excel workbooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tacit.delimited import SEPARATORS, read_rows, with_header
from tacit.errors import DataError, MissingPackage
from tacit.sources.missing import check_exists
from tacit.tables import line_of_row, read_table

_TABLES = (".jsonl", ".parquet")
_WORKBOOK = ".xlsx"
SUFFIXES = (*SEPARATORS, *_TABLES, _WORKBOOK)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a norm file: its cells by column name, and the line on which it begins."""

    line: int
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The column names of a norm file in lower case, and all rows that are not blank."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_sheet(path: Path) -> Sheet:
    """Read a norm file as cells of text; consecutive white space becomes a single space."""
    if path.suffix.lower() not in SUFFIXES:
        hint = "; save it as .xlsx" if path.suffix.lower() == ".xls" else ""
        raise DataError(
            f"has the unsupported suffix {path.suffix!r}; expected one of "
            f"{', '.join(SUFFIXES)}{hint}",
            path,
        )
    check_exists(path, "norms")
    (_, header), rows = with_header(_lines(path), path, uneven=True)
    columns = tuple(header)
    return Sheet(
        columns, tuple(Row(line, dict(zip(columns, cells, strict=True))) for line, cells in rows)
    )


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of the header and of each row that is not blank."""
    suffix = path.suffix.lower()
    read = _workbook if suffix == _WORKBOOK else _table if suffix in _TABLES else read_rows
    tidy = ((line, [" ".join(cell.split()) for cell in cells]) for line, cells in read(path))
    rows = ((line, cells) for line, cells in tidy if any(cells))
    for line, header in rows:
        yield line, [name.lower() for name in header]
        yield from rows


def _table(path: Path) -> Iterator[tuple[int, list[str]]]:
    frame = read_table(path)
    yield 1, frame.columns
    for number, cells in enumerate(frame.iter_rows()):
        yield line_of_row(path, number), [_text(cell) for cell in cells]


def _workbook(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingPackage("openpyxl", "excel") from error
    try:
        with (
            path.open("rb") as file,
            closing(load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            rows = list(book.worksheets[0].iter_rows(values_only=True))
    except Exception as error:  # errors of the archive, of XML and of openpyxl
        raise DataError(f"cannot be read as a workbook: {error}", path) from error
    for line, cells in enumerate(rows, 1):
        yield line, [_text(cell) for cell in cells]


def _text(cell: object) -> str:
    """Convert a cell to text: a missing value becomes "", and 3.0 becomes "3"."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


_BEHAVIOUR = re.compile(r"(?:in)?beh - ")
_NOUN = re.compile(r"an? ")
# The CSLB norms' categories for the labels of the brain-region taxonomy (BR_Label).
_CATEGORIES = {
    "function": "functional",
    "smell": "other perceptual",
    "sound": "other perceptual",
    "tactile": "other perceptual",
    "taste": "other perceptual",
}


def feature_text(feature: str) -> str:
    """Rewrite a feature in the style of the CSLB norms, unless it already has this style."""
    text = " ".join(feature.replace("_", " ").split())
    if _NOUN.match(text):
        return f"is {text}"
    behaviour = _BEHAVIOUR.match(text)
    return _done(text[behaviour.end() :]) if behaviour else text


def category_of(label: str) -> str:
    """Convert a category of the McRae norms to the name that the CSLB norms use."""
    if label.startswith("visual"):
        return "visual perceptual"
    return _CATEGORIES.get(label, label)


def is_written_so(features: list[str]) -> bool:
    """Return whether features are in McRae's style, with underscores in place of spaces."""
    plain = re.compile(r"(?:an?|has|is|made_of|used_for|(?:in)?beh_-)_")
    return not any(" " in feature for feature in features) and any(map(plain.match, features))


def _done(text: str) -> str:
    """Replace a verb by "does" and its base form: "eats grass" becomes "does eat grass"."""
    from lemminflect import getAllLemmas, getInflection

    verb, space, rest = text.partition(" ")
    if verb in {"is", "has", "does"}:
        return text
    for base in getAllLemmas(verb).get("VERB", ()):
        if verb in getInflection(base, "VBZ"):
            return f"does {base}{space}{rest}"
    return text
