"""Anchor questions: multiple-choice questions that are read from a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tacit.errors import DataError
from tacit.sources.choices import (
    Choices,
    is_labelled,
    labelled_choices,
    plain_choices,
    text_of,
    two_solutions,
    unnested,
)
from tacit.sources.missing import check_exists
from tacit.strings import comparable, convert_strings
from tacit.tables import (
    check_suffix,
    line_of_row,
    read_json_lines,
    read_parquet,
    read_table,
    table_path,
)

Row: TypeAlias = dict[str, Any]

_WITHIN = ("choices", "question_concept")
_PIQA = ("goal", "sol1", "sol2")
_KNOWN = (
    "Known layouts: question, choices, answer; CommonsenseQA, ARC and OpenBookQA with question "
    "(or question_stem), choices with labels, answerKey; PIQA with goal, sol1, sol2, label"
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A multiple-choice question."""

    id: str
    question: str
    choices: tuple[str, ...]
    answer: int | None
    concept: str | None = None
    repeated: int = 0

    def __post_init__(self) -> None:
        convert_strings(self, "choices")


class _NoColumnError(ValueError):
    """An error for a row whose columns do not match any known layout."""


def read_anchors(path: Path | str | Any) -> list[Anchor]:  # noqa: ANN401 - any data frame
    """Read multiple-choice questions in file order; see ``docs/reference/questions.md``."""
    path = table_path(path)
    anchors: dict[str, Anchor] = {}
    rows: dict[str, int] = {}
    for number, row in enumerate(_rows(path)):
        anchor = _read_row(row, number, path)
        key = comparable(anchor.id)
        if key in anchors:
            raise DataError(
                f"has the same id {anchor.id!r} as line {line_of_row(path, rows[key])}; "
                "expected a unique id",
                path,
                line_of_row(path, number),
            )
        anchors[key], rows[key] = anchor, number
    if not anchors:
        raise DataError(f"contains no questions; expected one row per question. {_KNOWN}", path)
    return list(anchors.values())


def _rows(path: Path) -> Iterable[Row]:
    check_suffix(path)
    check_exists(path, "questions")
    if path.suffix == ".jsonl":
        return [row for _, row in read_json_lines(path)]
    if path.suffix == ".parquet":
        return read_parquet(path).iter_rows(named=True)
    return read_table(path).iter_rows(named=True)


def _read_row(row: Row, number: int, path: Path) -> Anchor:
    """Convert a row to an anchor question; ``number`` is the row's index, counted from 0."""
    try:
        return _anchor(_flat(row), number)
    except _NoColumnError as error:
        header = path.suffix in {".csv", ".tsv"}
        raise DataError(str(error), path, 1 if header else line_of_row(path, number)) from None
    except ValueError as error:
        raise DataError(str(error), path, line_of_row(path, number)) from None


def _is_piqa(row: Row) -> bool:
    return all(name in row for name in _PIQA)


def _flat(row: Row) -> Row:
    """Store a question's text in ``question``, and move nested choices to the top level."""
    if _is_piqa(row):
        return {**row, "question": row["goal"]}
    question = row.get("question", row.get("question_stem"))
    if isinstance(question, str) and "stem" in question:
        nested = unnested(question, "question")
        question = nested if isinstance(nested, dict) else question
    if isinstance(question, dict):
        within = {name: question[name] for name in _WITHIN if name in question}
        return {**row, **within, "question": question.get("stem")}
    return {**row, "question": question} if "question_stem" in row else row


def _anchor(row: Row, number: int) -> Anchor:
    """Convert a row, as returned by ``_flat``, to an anchor question."""
    choices = _choices(row)
    question = text_of(row["question"], "question")
    if not question:
        raise ValueError("has an empty question; expected a text")
    concept = text_of(row.get("question_concept", row.get("concept")), "concept")
    return Anchor(
        _id(row.get("id")) or str(number + 1),
        question,
        choices.texts,
        choices.answer,
        concept or None,
        choices.repeated,
    )


def _choices(row: Row) -> Choices:
    if _is_piqa(row):
        return two_solutions(row["sol1"], row["sol2"], row.get("label"))
    _refuse_missing(row, ["question", "choices"])
    cell = unnested(row["choices"], "choices")
    if cell is None:
        raise ValueError("has no choices; expected two or more")
    if is_labelled(cell):
        if "answer" in row:
            _refuse_missing(row, ["answerKey"])
        return labelled_choices(cell, row.get("answerKey"))
    _refuse_missing(row, ["answer"])
    return plain_choices(cell, row["answer"])


def _refuse_missing(row: Row, names: list[str]) -> None:
    missing = [name for name in names if name not in row]
    if missing:
        found = ", ".join(row) or "nothing"
        raise _NoColumnError(f"has no {', '.join(missing)}; found {found}. {_KNOWN}")


def _id(cell: object) -> str:
    whole = isinstance(cell, int) and not isinstance(cell, bool)
    return str(cell) if whole else text_of(cell, "id")
