"""Feature production norms: the properties that participants listed for each concept.

Norms are read from tab-separated text, CSV, JSONL, Parquet, Excel workbooks and data frames.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from tacit.delimited import SEPARATORS, Numbered, read_rows, with_header
from tacit.errors import DataError, MissingPackage
from tacit.sources.registry import check_exists
from tacit.sources.wordings import (
    PROBLEMS,
    SHIFTED,
    feature_text,
    is_underscored,
    read_alternatives,
    shifted_rows,
)
from tacit.strings import Spellings, comparable, convert_strings
from tacit.tables import line_of_row, read_table, table_path

_TABLES = (".jsonl", ".parquet")
_WORKBOOK = ".xlsx"
SUFFIXES = (*SEPARATORS, *_TABLES, _WORKBOOK)
# The CSLB norms' categories for the labels of the brain-region taxonomy (BR_Label).
_CATEGORIES = {
    "function": "functional",
    "smell": "other perceptual",
    "sound": "other perceptual",
    "tactile": "other perceptual",
    "taste": "other perceptual",
}


@dataclass(frozen=True, slots=True)
class Property:
    """A property that participants listed for a concept."""

    concept: str
    feature: str
    frequency: int
    category: str | None = None
    alternatives: tuple[str, ...] = ()
    people: tuple[frozenset[str], ...] = ()

    def __post_init__(self) -> None:
        convert_strings(self, "alternatives")


@dataclass(frozen=True, slots=True)
class Norms:
    """The properties that a norm file contains, in the order of the file."""

    path: Path
    properties: tuple[Property, ...]
    underscored: bool = False
    uncounted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def by_concept(self) -> dict[str, list[Property]]:
        """Group the properties by concept; the order of the file is kept."""
        found: dict[str, list[Property]] = {}
        for one in self.properties:
            found.setdefault(one.concept, []).append(one)
        return found


@dataclass(frozen=True, slots=True)
class NormLayout:
    """A layout of norm files: the names of the columns in the files, in lower case."""

    name: str
    title: str
    marks: frozenset[str]
    frequency: str
    category: str
    alternatives: str | None = None
    participants: str | None = None

    @property
    def required(self) -> tuple[str, ...]:
        return ("concept", "feature", self.frequency)

    def __str__(self) -> str:
        """Return the layout's title and the names of its columns."""
        known = (self.category, self.alternatives, self.participants)
        optional = ", ".join(name for name in known if name)
        return f"{self.title} ({', '.join(self.required)}; optional {optional})"


# In the order in which they are compared with a header.
LAYOUTS = (
    NormLayout(
        "cslb",
        "the CSLB norms",
        frozenset({"feature type", "feature alternatives"}),
        "pf",
        "feature type",
        "feature alternatives",
        "participant list",
    ),
    NormLayout(
        "mcrae",
        "the McRae norms",
        frozenset({"prod_freq", "br_label", "wb_label"}),
        "prod_freq",
        "br_label",
    ),
    NormLayout("table", "a table", frozenset({"concept", "feature", "pf"}), "pf", "category"),
)


class _Row(NamedTuple):
    """A property, the line on which its row begins, and a problem with its alternatives."""

    line: int
    found: Property
    problem: str | None


def read_norms(path: Path | str | Any) -> Norms:  # noqa: ANN401 - any data frame
    """Read norms; of a property that is listed twice, the higher frequency is kept."""
    path = table_path(path)
    columns, cells = _sheet(path)
    layout = _layout_of(columns, path)
    underscored = layout.name == "mcrae" or (
        layout.name == "table" and is_underscored([row["feature"] for _, row in cells])
    )
    spelled = Spellings()
    rows = []
    for line, row in cells:
        try:
            rows.append(_row(line, row, layout, spelled, underscored=underscored))
        except ValueError as error:
            raise DataError(str(error), path, line) from None
    spelled.notice(path)
    rows = _without_shifted([row for row in rows if row.found.feature])
    found: dict[tuple[str, str], Property] = {}
    uncounted: dict[str, list[int]] = {problem: [] for problem in PROBLEMS}
    for line, one, problem in rows:
        if problem is not None:
            uncounted[problem].append(line)
        first = found.setdefault((one.concept, one.feature), one)
        if one.frequency > first.frequency:
            found[one.concept, one.feature] = replace(first, frequency=one.frequency)
    if not found:
        raise DataError(
            f"contains no properties; expected rows of {', '.join(layout.required)}", path
        )
    lines = {problem: tuple(lines) for problem, lines in uncounted.items() if lines}
    return Norms(path, tuple(found.values()), underscored, lines)


def _layout_of(columns: Sequence[str], path: Path) -> NormLayout:
    layout = next((one for one in LAYOUTS if not one.marks.isdisjoint(columns)), None)
    if layout is None:
        raise DataError(
            f"has the columns {', '.join(columns)}, which match no supported layout of norms; "
            f"expected {'; '.join(map(str, LAYOUTS))}; if the file is your own, rename its columns",
            path,
            1,
        )
    missing = [name for name in layout.required if name not in columns]
    if missing:
        raise DataError(
            f"has no column {', '.join(missing)}; expected {layout}; found {', '.join(columns)}",
            path,
            1,
        )
    return layout


def _row(
    line: int,
    cells: Mapping[str, str],
    layout: NormLayout,
    spelled: Spellings,
    *,
    underscored: bool,
) -> _Row:
    concept, feature = spelled(cells["concept"]), cells["feature"]
    if not concept:
        raise ValueError("has no concept; expected its name")
    category = comparable(cells.get(layout.category, "")).lower()
    if layout.name == "mcrae":
        visual = category.startswith("visual")
        category = "visual perceptual" if visual else _CATEGORIES.get(category, category)
    gave = read_alternatives(
        cells.get(layout.alternatives or "", ""), cells.get(layout.participants or "", "")
    )
    one = Property(
        concept,
        spelled(feature_text(feature) if underscored else feature),
        _frequency(cells[layout.frequency], layout),
        category or None,
        gave.texts,
        gave.people,
    )
    return _Row(line, one, gave.problem)


def _frequency(text: str, layout: NormLayout) -> int:
    try:
        value = float(text)
        whole = int(value)
    except (ValueError, OverflowError):
        value, whole = -1.0, 0
    if value != whole or whole < 0:
        raise ValueError(
            f"has {text!r} as its production frequency ({layout.frequency}); expected the "
            "number of people who listed the property, a whole number of at least 0"
        )
    return whole


def _without_shifted(rows: Sequence[_Row]) -> list[_Row]:
    """Remove a row's alternatives if they belong to the feature of another row."""
    concepts: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        concepts[row.found.concept].append(row)
    shifted = {
        some[index].line
        for some in concepts.values()
        for index in shifted_rows([(one.feature, one.alternatives) for _, one, _ in some])
    }
    return [
        _Row(line, replace(one, alternatives=(), people=()), SHIFTED)
        if line in shifted
        else _Row(line, one, problem)
        for line, one, problem in rows
    ]


def _sheet(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the columns in lower case, and the rows with tidy cells that are not blank."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = "; save it as .xlsx" if suffix == ".xls" else ""
        raise DataError(
            f"has the unsupported suffix {path.suffix!r}; expected one of "
            f"{', '.join(SUFFIXES)}{hint}",
            path,
        )
    check_exists(path, "norms")
    read = _workbook if suffix == _WORKBOOK else _table if suffix in _TABLES else read_rows
    tidy = ((line, [" ".join(cell.split()) for cell in cells]) for line, cells in read(path))
    rows = ((line, cells) for line, cells in tidy if any(cells))
    header = [(line, [name.lower() for name in names]) for line, names in islice(rows, 1)]
    (_, columns), found = with_header(chain(header, rows), path, uneven=True)
    return columns, [(line, dict(zip(columns, cells, strict=True))) for line, cells in found]


def _table(path: Path) -> Iterator[Numbered]:
    frame = read_table(path)
    yield 1, frame.columns
    for number, cells in enumerate(frame.iter_rows()):
        yield line_of_row(path, number), [_text(cell) for cell in cells]


def _workbook(path: Path) -> Iterator[Numbered]:
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
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
