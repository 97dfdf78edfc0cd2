"""Read drawings of everyday things: the parts and the relations that annotators drew."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from tacit.delimited import Numbered, read_rows
from tacit.english import several
from tacit.errors import DataError, RequestError
from tacit.sources.registry import advice, check_exists
from tacit.strings import Spellings, convert_strings, strings
from tacit.tables import columns_of, line_of_row, read_table, table_path

_PATTERN = "annotations-*.tsv"
_COLUMNS = "annotator, thing, ---, subject, relation, object"
_CELLS = (6, 7)  # the seventh is a remark on the drawing

_Drawn: TypeAlias = tuple[str, str]  # a thing and the annotator who drew it
_Relation: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True)
class Drawing:
    """A drawing: the mental model that one annotator has of one thing.

    Attributes:
        thing: The everyday thing, in lower case.
        annotator: The annotator's ID; empty if the drawing was not made by an annotator.
        parts: The parts of the thing. In the drawings from ``read_drawings``, these are the parts
            that occur in the relations, in the order of their first occurrence.
        relations: The relations as triples (subject, relation, object), in the order of the file.
            Each triple is listed once.
        repeated: The number of rows that were omitted because they repeat another row of the
            drawing.

    Examples:
        >>> from tacit import Drawing
        >>> egg = Drawing("egg", "1", ("yolk", "shell"), (("shell", "surrounds", "yolk"),))
        >>> egg.parts
        ('yolk', 'shell')
    """

    thing: str
    annotator: str
    parts: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...]
    repeated: int = 0

    def __post_init__(self) -> None:
        convert_strings(self, "parts")


def read_drawings(
    path: Path | str, relations: Collection[str], things: Collection[str] | None = None
) -> list[Drawing]:
    """Read drawings; texts are changed to lower case, and repeated rows are merged.

    Args:
        path: A folder in the layout of the everyday-things data, or a single annotations file.
        relations: The names of the relations that a drawing may contain.
        things: The things whose drawings are returned; None for the drawings of all things.

    Returns:
        The drawings, in the order of the files and of the rows in each file. The files are ordered
        by the numbers in their names: annotations-2 comes before annotations-10.

    Raises:
        DataError: If the file or folder does not exist or contains no drawing, if a row is
            malformed, if an annotator has two drawings of the same thing, or if one of ``things``
            has no drawing. If a row is malformed, the error message contains the file and the line
            number. A row is malformed, for example, if its relation is unknown, if its number of
            cells is wrong, if a part is blank, or if a part is related to itself. The first row of
            a file is malformed if it does not name an annotator and a thing.

    Examples:
        >>> from tacit import Ontology, demo_data, read_drawings
        >>> drawings = read_drawings(demo_data("drawings"), Ontology.load("parts").relations)
        >>> drawings[0].thing, drawings[0].parts[:2]
        ('tree', ('leaves', 'trunk'))
    """
    if not isinstance(path, str | PathLike):
        raise RequestError(
            f"an object of type {type(path).__name__} is not a path; drawings are read from a file "
            "or a folder"
        )
    path = Path(path)
    known = {name.lower(): name for name in strings(relations, "relations")}
    drawn: dict[_Drawn, Counter[_Relation]] = {}
    begun: dict[_Drawn, str] = {}  # where each drawing begins
    spelled = Spellings(known)
    for file in _annotation_files(path):
        current = None  # a drawing cannot span two files
        for line, cells in _rows(file, spelled):
            try:
                current = _drawing_of(cells, current, begun)
                relation = _relation_of(cells, known)
            except ValueError as error:
                raise DataError(str(error), file, line) from None
            begun.setdefault(current, f"{file}, line {line}")
            drawn.setdefault(current, Counter())[relation] += 1
    spelled.notice(path)
    if not drawn:
        raise DataError(f"contains no drawings; expected rows of {_COLUMNS}", path)
    drawings = [_drawing(thing, annotator, rows) for (thing, annotator), rows in drawn.items()]
    return drawings if things is None else _only(drawings, things, path)


def read_things(path: Path | str | Any) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - any frame
    """Read the parts listed for each everyday thing (Gu et al. 2023, section 4.1)."""
    path = table_path(path)
    path = path / "things.tsv" if path.is_dir() else path
    table = read_table(path, ("Everyday thing", "Parts"))
    found: dict[str, tuple[str, ...]] = {}
    spelled = Spellings()
    for row, (name, listed) in enumerate(table.select("Everyday thing", "Parts").iter_rows()):
        thing = spelled((name or "").strip().lower())
        parts = tuple(spelled(part.strip().lower()) for part in (listed or "").split(","))
        problem = ""
        if not thing:
            problem = "has no thing; expected its name"
        elif thing in found:
            problem = f"lists {thing!r} a second time; expected one row per thing"
        elif "" in parts:
            problem = f"has a blank part of {thing!r}; expected names separated by commas"
        if problem:
            raise DataError(problem, path, line_of_row(path, row))
        found[thing] = parts
    spelled.notice(path)
    return found


def is_things(path: Path | str) -> bool:
    """Return whether a file or folder contains things and their parts, but no drawings."""
    path = Path(path)
    if path.is_dir():
        return (path / "things.tsv").is_file() and not any(path.glob(_PATTERN))
    if path.suffix in {".jsonl", ".parquet"}:
        return path.is_file()
    try:
        return "Everyday thing" in columns_of(path)
    except DataError:
        return False


def undrawn(path: Path | str, things: Collection[str] | None = None) -> list[Drawing]:
    """Return, for each thing, a drawing with the thing's parts but no relations."""
    listed = read_things(path)
    drawings = [Drawing(thing, "", tuple(dict.fromkeys(of)), ()) for thing, of in listed.items()]
    return drawings if things is None else _only(drawings, things, Path(path))


def files_of(path: Path | str) -> list[Path]:
    """Return the data files in a folder; if ``path`` is a file, return only this file."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    things = path / "things.tsv"
    return [*_drawn_in(path), things] if things.is_file() else _drawn_in(path)


def demo_drawings() -> Path:
    """Return the folder that contains Tacit's example drawings."""
    return Path(str(resources.files("tacit") / "data" / "demo" / "drawings"))


def _annotation_files(path: Path) -> list[Path]:
    check_exists(path, "drawings", folder=True)
    if path.is_file():
        return [path]
    files = _drawn_in(path)
    if not files:
        raise DataError(
            f"contains no drawings; expected files named {_PATTERN}; {advice('drawings')}", path
        )
    return files


def _drawn_in(folder: Path) -> list[Path]:
    return sorted((file for file in folder.glob(_PATTERN) if file.is_file()), key=_natural)


def _natural(file: Path) -> tuple[list[tuple[int, str]], str]:
    """Return a sort key for a file name; numbers in the name are compared by value."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", file.name)
    return [(int(piece), "") if piece[0].isdigit() else (-1, piece) for piece in pieces], file.name


def _rows(file: Path, spelled: Spellings) -> Iterator[Numbered]:
    """Yield the rows of a file that are not blank, with their names as they were first spelled."""
    for line, untidy in read_rows(file):
        cells = [cell.strip().lower() for cell in untidy]
        if any(cells):
            yield line, [*map(spelled, cells[:6]), *cells[6:]]


def _drawing_of(cells: list[str], current: _Drawn | None, begun: Mapping[_Drawn, str]) -> _Drawn:
    """Return the thing and the annotator of the drawing that a row begins or continues."""
    if len(cells) not in _CELLS or cells[2] != "---":
        raise ValueError(
            f"has {several(len(cells), 'cell')}, the third {(cells + [''] * 3)[2]!r}; "
            f"expected {_COLUMNS}, separated by tabs"
        )
    annotator, thing = cells[:2]
    if not annotator and not thing:
        if current is None:
            raise ValueError(
                "continues a drawing, but none precedes it; name the annotator and thing"
            )
        return current
    if not annotator or not thing:
        raise ValueError(
            "names an annotator without a thing, or a thing without an annotator; "
            "expected both to begin a drawing, or neither to continue the one above"
        )
    if (thing, annotator) in begun:
        raise ValueError(
            f"begins a second drawing of {thing!r} by {annotator!r}; the first begins at "
            f"{begun[thing, annotator]}. Leave the two cells blank to continue a drawing, or name "
            "another annotator for a second drawing"
        )
    return thing, annotator


def _relation_of(cells: list[str], known: Mapping[str, str]) -> _Relation:
    """Return the subject, relation and object of a row."""
    subject, relation, obj = cells[3:6]
    if relation not in known:
        raise ValueError(f"uses the unknown relation {relation!r}; expected {', '.join(known)}")
    if not subject or not obj:
        raise ValueError("has an empty subject or object; expected two parts")
    if subject == obj:
        raise ValueError(f"relates {subject!r} to itself; expected two different parts")
    return subject, known[relation], obj


def _drawing(thing: str, annotator: str, rows: Counter[_Relation]) -> Drawing:
    parts = dict.fromkeys(part for subject, _, obj in rows for part in (subject, obj))
    return Drawing(thing, annotator, tuple(parts), tuple(rows), rows.total() - len(rows))


def _only(drawings: list[Drawing], things: Collection[str], path: Path) -> list[Drawing]:
    drawn = list(dict.fromkeys(drawing.thing for drawing in drawings))
    spelled = Spellings(drawn)
    wanted = {spelled(thing.strip().lower()) for thing in strings(things, "things")}
    if not wanted or "" in wanted:
        raise RequestError("--things has no name or an empty name; name one or more things")
    for thing in sorted(wanted.difference(drawn)):
        near = difflib.get_close_matches(thing, drawn, n=5)
        hint = (
            f"similar names: {', '.join(near)}"
            if near
            else f"it contains {several(len(drawn), 'thing')}"
        )
        raise DataError(f"contains no drawing of {thing!r}; {hint}", path)
    return [drawing for drawing in drawings if drawing.thing in wanted]
