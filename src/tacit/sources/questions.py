"""Anchor questions: multiple-choice questions that are read from a file, in several layouts.

A question in the layout of PIQA, or with its choices nested in it, is first rewritten in the layout
of CommonsenseQA on the Hugging Face Hub.
"""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tacit.errors import DataError
from tacit.sources.registry import check_exists
from tacit.strings import Spellings, comparable, convert_strings, shown
from tacit.tables import (
    check_suffix,
    line_of_row,
    once,
    read_json_lines,
    read_parquet,
    read_table,
    table_path,
)

Row: TypeAlias = dict[str, Any]

_PIQA = ("goal", "sol1", "sol2")
_WITHHELD = ("", "-1")  # PIQA's test split has -1 for withheld labels
_KNOWN = (
    "Known layouts: question, choices, answer; CommonsenseQA, ARC and OpenBookQA with question "
    "(or question_stem), choices with labels, answerKey; PIQA with goal, sol1, sol2, label"
)
_SEPARATOR = "|"
_NESTED = re.compile(r"\s*[\[{]|array\(")
# A list or record of texts, as JSON, Python or numpy writes it.
_OF_TEXTS = re.compile(r"""\s*((\[\s*\{?|\{)\s*["']|array\().*[\]})]\s*""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A multiple-choice question; ``repeated`` is the number of choices that were left out."""

    id: str
    question: str
    choices: tuple[str, ...]
    answer: int | None
    concept: str | None = None
    repeated: int = 0

    def __post_init__(self) -> None:
        convert_strings(self, "choices")


def read_anchors(path: Path | str | Any) -> list[Anchor]:  # noqa: ANN401 - any data frame
    """Read multiple-choice questions in file order; see ``docs/reference/questions.md``."""
    path = table_path(path)
    found: dict[str, tuple[int, Anchor]] = {}
    for number, row in enumerate(_rows(path)):
        try:
            anchor = _anchor(row, number)
        except ValueError as error:
            raise DataError(str(error), path, line_of_row(path, number)) from None
        first, _ = found.setdefault(comparable(anchor.id), (number, anchor))
        if first != number:
            raise DataError(
                f"has the same id {anchor.id!r} as line {line_of_row(path, first)}; expected a "
                "unique id",
                path,
                line_of_row(path, number),
            )
    if not found:
        raise DataError(f"contains no questions; expected one row per question. {_KNOWN}", path)
    return [anchor for _, anchor in found.values()]


def _rows(path: Path) -> Iterable[Row]:
    check_suffix(path)
    check_exists(path, "questions")
    if path.suffix == ".jsonl":
        return [row for _, row in read_json_lines(path)]
    frame = read_parquet(path) if path.suffix == ".parquet" else read_table(path)
    return frame.iter_rows(named=True)


def _anchor(row: Row, number: int) -> Anchor:
    """Convert a row to a question; ``number``, counted from 0, stands in for a missing id."""
    row = _flat(row)
    _refuse_missing(row, "question", "choices")
    cell = _unnested(row["choices"], "choices")
    labelled = isinstance(cell, dict) or (
        isinstance(cell, list) and any(isinstance(choice, dict) for choice in cell)
    )
    # Without labels, or with an answer in the wrong column, no answer may be read as unknown.
    if not labelled or "answer" in row:
        _refuse_missing(row, "answerKey" if labelled else "answer")
    read = _labelled_choices if labelled else _plain_choices
    choices, answer, repeated = read(cell, row.get("answerKey" if labelled else "answer"))
    question = _text(row["question"], "question")
    if not question:
        raise ValueError("has an empty question; expected a text")
    concept = _text(row.get("question_concept", row.get("concept")), "concept")
    return Anchor(
        _id(row.get("id")) or str(number + 1), question, choices, answer, concept or None, repeated
    )


def _flat(row: Row) -> Row:
    """Return a row with the columns of CommonsenseQA on the Hub, or of a table of one's own."""
    if all(name in row for name in _PIQA):
        label = "" if row.get("label") is None else str(row["label"]).strip()
        return row | {
            "question": row["goal"],
            "choices": {"label": ["0", "1"], "text": [row["sol1"], row["sol2"]]},
            "answerKey": "" if label in _WITHHELD else label,
        }
    if "question_stem" in row:
        row = {"question": row["question_stem"]} | row
    question = row.get("question")
    if isinstance(question, str) and "stem" in question:
        nested = _unnested(question, "question")
        question = nested if isinstance(nested, dict) else question
    if not isinstance(question, dict):
        return row
    within = {name: question[name] for name in ("choices", "question_concept") if name in question}
    return row | within | {"question": question.get("stem")}


def _refuse_missing(row: Row, *names: str) -> None:
    missing = [name for name in names if name not in row]
    if missing:
        found = ", ".join(row) or "nothing"
        raise ValueError(f"has no {', '.join(missing)}; found {found}. {_KNOWN}")


def _unnested(cell: object, name: str) -> object:
    """Return the value of a cell with a list or record as JSON text; other cells as they are."""
    if not isinstance(cell, str) or not _NESTED.match(cell):
        return cell
    try:
        return json.loads(cell, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        if not _OF_TEXTS.fullmatch(cell) or (" | " in cell and not _is_literal(cell)):
            return cell
        raise ValueError(
            f"has {shown(cell)} as its {name}, a list or record that is not JSON ({error}); write "
            'it as JSON text, such as ["a", "b"], or use JSONL or Parquet with nested columns'
        ) from error


def _is_literal(cell: str) -> bool:
    """Return whether a text is one Python literal, not several with a separator between them."""
    try:
        ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _labelled_choices(cell: object, key: object) -> tuple[tuple[str, ...], int | None, int]:
    """Return the different choices, the index of the right one, and the number of repeats."""
    labels, texts = _labels_and_texts(cell)
    kept = _enough(tuple(dict.fromkeys(texts)))
    key = comparable(_text(key, "answerKey"))
    if key and key not in labels:
        raise _not_among(key, labels, texts)
    answer = kept.index(texts[labels.index(key)]) if key else None
    return kept, answer, len(texts) - len(kept)


def _labels_and_texts(cell: object) -> tuple[list[str], tuple[str, ...]]:
    labels, texts = None, None
    if isinstance(cell, dict):
        labels, texts = cell.get("label"), cell.get("text")
    elif isinstance(cell, list) and all(isinstance(choice, dict) for choice in cell):
        labels, texts = ([choice.get(name) for choice in cell] for name in ("label", "text"))
    if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
        raise ValueError("needs one label and one text for each choice")
    named = [comparable(_text(label, "label of a choice")) for label in labels]
    if "" in named or len(set(named)) < len(named):
        raise ValueError(f"has the labels {named}; expected a different one for each choice")
    return named, _texts(texts)


def _plain_choices(cell: object, answer: object) -> tuple[tuple[str, ...], int | None, int]:
    """Parse choices without labels: a list, or text with "|" between choices."""
    if cell is None:
        raise ValueError("has no choices; expected two or more")
    texts = _enough(_texts(cell.split(_SEPARATOR) if isinstance(cell, str) else cell))
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"has the choice {text!r} {texts.count(text)} times; expected it once")
    if isinstance(answer, int) and not isinstance(answer, bool):
        return texts, _counted(answer, texts), 0
    if answer is None or isinstance(answer, str):
        return texts, _named(_text(answer, "answer"), texts), 0
    raise ValueError(
        f"has the answer {answer!r}; expected a choice's text, its letter, or its index, counted "
        "from 0"
    )


def _counted(answer: int, texts: Sequence[str]) -> int:
    if not 0 <= answer < len(texts):
        raise ValueError(
            f"has the answer {answer}; expected an index from 0 to {len(texts) - 1}, or nothing "
            "if the answer is unknown"
        )
    if str(answer) in texts and texts[answer] != str(answer):
        raise ValueError(
            f"has the ambiguous answer {answer}: it may be the choice {str(answer)!r}, or the "
            f"index of {texts[answer]!r}; write the choice as text, in quotes"
        )
    return answer


def _named(answer: str, texts: Sequence[str]) -> int | None:
    answer = Spellings(texts)(answer)
    if not answer:
        return None
    letters = list(string.ascii_uppercase[: len(texts)])
    if answer in texts:
        return texts.index(answer)
    if answer in letters:
        return letters.index(answer)
    problem = _not_among(answer, letters, texts)
    if answer.lstrip("-").isdecimal():
        raise ValueError(
            f"{problem}. The index of a choice must be a number, not text: in JSONL without "
            "quotes, in Parquet in an integer column"
        )
    raise problem


def _not_among(answer: str, labels: Sequence[str], texts: Sequence[str]) -> ValueError:
    listed = ", ".join(f"{label} {text!r}" for label, text in zip(labels, texts, strict=False))
    return ValueError(f"has the answer {answer!r}, which is not among its choices: {listed}")


def _texts(cell: object) -> tuple[str, ...]:
    if not isinstance(cell, list):
        raise ValueError(f"has {cell!r} as its choices; expected a list of texts")  # noqa: TRY004
    spelled = Spellings()
    texts = tuple(spelled(_text(one, f"choice {number}")) for number, one in enumerate(cell, 1))
    if "" in texts:
        raise ValueError(f"has an empty choice {texts.index('') + 1}; expected text")
    return texts


def _enough(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(texts) > 1:
        return texts
    only = f"only the choice {shown(texts[0])}" if texts else "an empty list of choices"
    raise ValueError(
        f"has {only}; expected 2 or more different choices, in a list or separated by {_SEPARATOR}"
    )


def _id(cell: object) -> str:
    whole = isinstance(cell, int) and not isinstance(cell, bool)
    return str(cell) if whole else _text(cell, "id")


def _text(cell: object, name: str) -> str:
    """Return the stripped text of a table cell; return "" if the cell is None."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise ValueError(f"has {cell!r} as its {name}; expected text")  # noqa: TRY004 - a bad row
    try:
        cell.encode()
    except UnicodeEncodeError as error:  # JSON within CSV can contain an escaped one
        raise ValueError(
            f"has an unpaired surrogate in its {name}; expected valid Unicode"
        ) from error
    return cell.strip()
