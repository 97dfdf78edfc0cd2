"""Parse the choices of a question, and its right choice; several layouts are supported."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.strings import Spellings, comparable, convert_strings, shown
from tacit.tables import once

_FEWEST = 2
_UNKNOWN = ("", "-1")  # PIQA's test split has -1 for withheld labels
_SEPARATOR = "|"
_NESTED = re.compile(r"\s*[\[{]|array\(")
_OF_TEXTS = re.compile(r"""\s*(\[\s*\{?|\{)\s*["']|array\(""")  # JSON, Python or numpy


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a question, and the index of the right choice."""

    texts: tuple[str, ...]
    answer: int | None
    repeated: int = 0

    def __post_init__(self) -> None:
        convert_strings(self, "texts")


def is_labelled(cell: object) -> bool:
    """Return whether the choices in a table cell have labels, such as A, B and C."""
    return isinstance(cell, dict) or (
        isinstance(cell, list) and any(isinstance(choice, dict) for choice in cell)
    )


def unnested(cell: object, name: str) -> object:
    """Return the value of a cell with a list or record as JSON text; other cells as they are."""
    if not isinstance(cell, str) or not _NESTED.match(cell):
        return cell
    try:
        return json.loads(cell, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        if not _OF_TEXTS.match(cell) or _is_plain(cell):
            return cell
        raise ValueError(
            f"has {shown(cell)} as its {name}, a list or record that is not JSON ({error}); write "
            'it as JSON text, such as ["a", "b"], or use JSONL or Parquet with nested columns'
        ) from error


def _is_plain(cell: str) -> bool:
    """Return whether a text that begins like a list does not end like one, or is several."""
    if not cell.rstrip().endswith(("]", "}", ")")):
        return True
    try:
        ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return " | " in cell
    return False


def labelled_choices(cell: object, key: object) -> Choices:
    """Parse choices with labels, in the layouts of CommonsenseQA, ARC and OpenBookQA."""
    labels, listed = _labels_and_texts(cell)
    texts = _texts(listed)
    kept = tuple(dict.fromkeys(texts))
    _refuse_few(kept)
    key = comparable(text_of(key, "answerKey"))
    if not key:
        return Choices(kept, None, len(texts) - len(kept))
    if key not in labels:
        raise _not_among(key, labels, texts)
    return Choices(kept, kept.index(texts[labels.index(key)]), len(texts) - len(kept))


def plain_choices(cell: object, answer: object) -> Choices:
    """Parse choices without labels: a list, or text with "|" between choices."""
    texts = _texts(cell.split(_SEPARATOR) if isinstance(cell, str) else cell)
    _refuse_few(texts)
    _refuse_repeated(texts)
    if isinstance(answer, int) and not isinstance(answer, bool):
        return Choices(texts, _counted(answer, texts))
    if answer is None or isinstance(answer, str):
        return Choices(texts, _named(text_of(answer, "answer"), texts))
    raise ValueError(
        f"has the answer {answer!r}; expected a choice's text, its letter, or its index, counted "
        "from 0"
    )


def two_solutions(first: object, second: object, label: object) -> Choices:
    """Parse the two solutions of a PIQA question."""
    texts = _texts([first, second])
    _refuse_repeated(texts)
    written = "" if label is None else str(label).strip()
    if written not in {"0", "1", *_UNKNOWN}:
        raise ValueError(
            f"has the label {label!r}; expected 0 for sol1, 1 for sol2, or an empty label"
        )
    return Choices(texts, None if written in _UNKNOWN else int(written))


def text_of(cell: object, name: str) -> str:
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


def _labels_and_texts(cell: object) -> tuple[list[str], list[object]]:
    labels, texts = _paired(cell)
    if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
        raise ValueError("needs one label and one text for each choice")
    named = [comparable(text_of(label, "label of a choice")) for label in labels]
    if "" in named or len(set(named)) < len(named):
        raise ValueError(f"has the labels {named}; expected a different one for each choice")
    return named, texts


def _paired(cell: object) -> tuple[object, object]:
    """Return the labels and the texts of the choices without validation."""
    if isinstance(cell, dict):
        return cell.get("label"), cell.get("text")
    if isinstance(cell, list) and all(isinstance(choice, dict) for choice in cell):
        return [choice.get("label") for choice in cell], [choice.get("text") for choice in cell]
    return None, None


def _texts(cell: object) -> tuple[str, ...]:
    if not isinstance(cell, list):
        raise ValueError(f"has {cell!r} as its choices; expected a list of texts")  # noqa: TRY004
    texts = tuple(text_of(choice, f"choice {place}") for place, choice in enumerate(cell, 1))
    texts = tuple(map(Spellings(), texts))
    if "" in texts:
        raise ValueError(f"has an empty choice {texts.index('') + 1}; expected text")
    return texts


def _refuse_few(texts: Sequence[str]) -> None:
    if len(texts) < _FEWEST:
        only = f"only the choice {shown(texts[0])}" if texts else "an empty list of choices"
        raise ValueError(
            f"has {only}; expected {_FEWEST} or more different choices, in a list or separated by "
            f"{_SEPARATOR}"
        )


def _refuse_repeated(texts: Sequence[str]) -> None:
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"has the choice {text!r} {texts.count(text)} times; expected it once")


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
    shown = ", ".join(f"{label} {text!r}" for label, text in zip(labels, texts, strict=False))
    return ValueError(f"has the answer {answer!r}, which is not among its choices: {shown}")
