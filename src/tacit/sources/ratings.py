"""Read the ratings that people gave to a sample of background facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.errors import DataError, RequestError
from tacit.strings import comparable
from tacit.tables import line_of_row, read_table, resolved, table_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    RatedFact: TypeAlias = tuple[str, str, str, str]
    Ratings: TypeAlias = Mapping[RatedFact, int | None]

FACT = ("question_id", "head", "relation", "tail")
"""The columns that together identify a fact in a sample of background facts."""
RATING = "rating"

# Programs that read a column with blank cells as numbers write 1.0 for 1.
_VALUES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "": None}


def read_ratings(path: Path | Any) -> Ratings:  # noqa: ANN401 - any data frame
    """Read a file with the ratings of one rater."""
    path = table_path(path)
    table = read_table(path, (*FACT, RATING))
    if table.is_empty():
        raise DataError("has no facts; expected the sample that tacit kb audit writes", path)
    found: dict[RatedFact, int | None] = {}
    for row, (*cells, rating) in enumerate(table.select(*FACT, RATING).iter_rows()):
        question, head, relation, tail = (comparable(str(cell or "")) for cell in cells)
        fact = question, head, relation, tail
        if fact in found:
            raise DataError(f"rates {_named(fact)} twice", path, line_of_row(path, row))
        found[fact] = _value(rating, path, row)
    return found


def read_both(first: Path, second: Path) -> tuple[Ratings, Ratings]:
    """Read two raters' ratings of the same sample; the order of the rows may differ."""
    if resolved(first) == resolved(second):
        raise RequestError(f"{first} is given twice; give the files of two raters")
    one, other = read_ratings(first), read_ratings(second)
    for mine, path, others, theirs in ((one, first, other, second), (other, second, one, first)):
        for row, fact in enumerate(mine):
            if fact not in others:
                raise DataError(
                    f"rates {_named(fact)}, which is not in {theirs}: both files must be copies of "
                    "one sample of tacit kb audit",
                    path,
                    line_of_row(path, row),
                )
    return one, other


def is_unrated(path: Path) -> bool:
    """Return whether a file is a sample of facts that nobody has rated yet."""
    try:
        return not {0, 1} & {*read_ratings(path).values()}
    except DataError:
        return False


def _value(rating: object, path: Path, row: int) -> int | None:
    text = "" if rating is None else f"{rating:g}" if isinstance(rating, float) else str(rating)
    if text.strip() not in _VALUES:
        raise DataError(
            f"has the rating {text!r}; expected 1 (relevant and true), 0, or an empty cell",
            path,
            line_of_row(path, row),
        )
    return _VALUES[text.strip()]


def _named(fact: RatedFact) -> str:
    question, *triple = fact
    return f"the fact {' '.join(triple)!r} of question {question!r}"
