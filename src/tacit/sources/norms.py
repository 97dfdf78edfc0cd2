"""Feature production norms: the properties that participants listed for each concept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.sources import norm_files
from tacit.sources.alternatives import (
    PROBLEMS,
    SHIFTED,
    read_alternatives,
    shifted_rows,
)
from tacit.sources.norm_files import Row, Sheet, read_sheet
from tacit.strings import Spellings, comparable, convert_strings
from tacit.tables import table_path

NO_FEATURE = "no feature"
REPEATED = "repeated"


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
class Layout:
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
        """The names of the columns that a file must contain."""
        return ("concept", "feature", self.frequency)


# In the order in which they are compared with a header.
LAYOUTS = (
    Layout(
        "cslb",
        "the CSLB norms",
        frozenset({"feature type", "feature alternatives"}),
        "pf",
        "feature type",
        "feature alternatives",
        "participant list",
    ),
    Layout(
        "mcrae",
        "the McRae norms",
        frozenset({"prod_freq", "br_label", "wb_label"}),
        "prod_freq",
        "br_label",
    ),
    Layout("table", "a table", frozenset({"concept", "feature", "pf"}), "pf", "category"),
)


@dataclass(frozen=True, slots=True)
class Norms:
    """The properties that a norm file contains, in the order of the file."""

    path: Path
    layout: str
    properties: tuple[Property, ...]
    rows: int
    skipped: Mapping[str, int]
    underscored: bool = False
    uncounted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def by_concept(self) -> dict[str, list[Property]]:
        """Group the properties by concept; the order of the file is kept."""
        found: dict[str, list[Property]] = {}
        for one in self.properties:
            found.setdefault(one.concept, []).append(one)
        return found


def read_norms(path: Path | str | Any) -> Norms:  # noqa: ANN401 - any data frame
    """Read norms from tab-separated text, CSV, JSONL, Parquet, a workbook or a data frame."""
    path = table_path(path)
    sheet = read_sheet(path)
    layout = _layout_of(sheet, path)
    underscored = layout.name == "mcrae" or (
        layout.name == "table"
        and norm_files.is_written_so([row.cells["feature"] for row in sheet.rows])
    )
    found: dict[tuple[str, str], Property] = {}
    skipped = Counter({NO_FEATURE: 0, REPEATED: 0})
    rows: list[tuple[int, Property, str | None]] = []
    spelled = Spellings()
    for row in sheet.rows:
        one, problem = _property(row, layout, path, spelled, underscored=underscored)
        if one.feature:
            rows.append((row.line, one, problem))
        else:
            skipped[NO_FEATURE] += 1
    spelled.notice(path)
    uncounted: dict[str, list[int]] = {problem: [] for problem in PROBLEMS}
    for line, one, problem in _without_shifted(rows):
        if problem is not None:
            uncounted[problem].append(line)
        first = found.setdefault((one.concept, one.feature), one)
        if first is not one:
            skipped[REPEATED] += 1
            found[one.concept, one.feature] = replace(
                first, frequency=max(first.frequency, one.frequency)
            )
    if not found:
        raise DataError(
            f"contains no properties; expected rows of {', '.join(layout.required)}", path
        )
    return Norms(
        path,
        layout.name,
        tuple(found.values()),
        len(sheet.rows),
        dict(skipped),
        underscored,
        {problem: tuple(lines) for problem, lines in uncounted.items() if lines},
    )


def _without_shifted(
    rows: Sequence[tuple[int, Property, str | None]],
) -> Iterator[tuple[int, Property, str | None]]:
    """Yield all rows; remove a row's wordings if they belong to another row's feature."""
    concepts: dict[str, list[tuple[int, Property]]] = {}
    for line, one, _ in rows:
        concepts.setdefault(one.concept, []).append((line, one))
    shifted: set[int] = set()
    for some in concepts.values():
        found = shifted_rows([(one.feature, one.alternatives) for _, one in some])
        shifted |= {some[at][0] for at in found}
    for line, one, problem in rows:
        if line in shifted:
            yield line, replace(one, alternatives=(), people=()), SHIFTED
        else:
            yield line, one, problem


def _layout_of(sheet: Sheet, path: Path) -> Layout:
    columns = set(sheet.columns)
    layout = next((one for one in LAYOUTS if one.marks & columns), None)
    if layout is None:
        raise DataError(
            f"has the columns {', '.join(sheet.columns)}, which match no supported layout of "
            f"norms; expected {'; '.join(map(_described, LAYOUTS))}; if the file is your own, "
            "rename its columns",
            path,
            1,
        )
    missing = [name for name in layout.required if name not in columns]
    if missing:
        raise DataError(
            f"has no column {', '.join(missing)}; expected {_described(layout)}; "
            f"found {', '.join(sheet.columns)}",
            path,
            1,
        )
    return layout


def _described(layout: Layout) -> str:
    known = (layout.category, layout.alternatives, layout.participants)
    optional = [name for name in known if name]
    return f"{layout.title} ({', '.join(layout.required)}; optional {', '.join(optional)})"


def _property(
    row: Row, layout: Layout, path: Path, spelled: Spellings, *, underscored: bool
) -> tuple[Property, str | None]:
    """Return the property in a row, and any problem with the list of its wordings."""
    cells = row.cells
    concept, feature = spelled(cells["concept"]), cells["feature"]
    if not concept:
        raise DataError("has no concept; expected its name", path, row.line)
    category = comparable(cells.get(layout.category, "")).lower()
    optional = [
        "" if name is None else cells.get(name, "")
        for name in (layout.alternatives, layout.participants)
    ]
    gave = read_alternatives(*optional)
    one = Property(
        concept,
        spelled(norm_files.feature_text(feature) if underscored else feature),
        _frequency(cells[layout.frequency], layout, path, row.line),
        (norm_files.category_of(category) if layout.name == "mcrae" else category) or None,
        gave.texts,
        gave.people,
    )
    return one, gave.problem


def _frequency(text: str, layout: Layout, path: Path, line: int) -> int:
    try:
        value = float(text)
        whole = int(value)
    except (ValueError, OverflowError):
        value, whole = -1.0, 0
    if value != whole or whole < 0:
        raise DataError(
            f"has {text!r} as its production frequency ({layout.frequency}); expected the "
            "number of people who listed the property, a whole number of at least 0",
            path,
            line,
        )
    return whole
