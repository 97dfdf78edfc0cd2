"""Files of ratings of background facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.errors import DataError, RequestError
from tacit.sources.ratings import is_unrated, read_both, read_ratings
from tacit.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEADER = "question_id\thead\trelation\ttail\trating\n"
DOG = "q1\tdog\tIsA\tanimal\t"
CAT = "q1\tcat\tIsA\tanimal\t"


def written(folder: Path, name: str, *rows: str, header: str = HEADER) -> Path:
    """A file of ratings."""
    path = folder / name
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_ratings_are_zero_one_or_blank(tmp_path: Path) -> None:
    """Spaces around a rating do not count."""
    path = written(tmp_path, "one.tsv", f"{DOG}1", f"{CAT} ", "q2\tcat\tIsA\tanimal\t 0")
    assert list(read_ratings(path).values()) == [1, None, 0]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("ratings", [["1", "0", None], [1, 0, None], [1.0, 0.0, None]])
def test_other_formats_and_types(
    tmp_path: Path, suffix: str, ratings: Sequence[str | float | None]
) -> None:
    """As a spreadsheet or a script may write them."""
    facts = {name: ["a", "b", "c"] for name in ("question_id", "head", "relation", "tail")}
    write_table(pl.DataFrame({**facts, "rating": ratings}), tmp_path / f"one{suffix}")
    assert list(read_ratings(tmp_path / f"one{suffix}").values()) == [1, 0, None]


@pytest.mark.parametrize("rating", ["2", "yes", "0.5", "-1", "True"])
def test_other_ratings_are_refused_with_their_line(tmp_path: Path, rating: str) -> None:
    """The message says what is expected."""
    path = written(tmp_path, "one.tsv", f"{CAT}1", f"{DOG}{rating}")
    with pytest.raises(DataError, match=rf"one\.tsv, line 3: has the rating '{rating}'; expected"):
        read_ratings(path)


def test_malformed_files_are_refused(tmp_path: Path) -> None:
    """Without rows or columns, with a fact twice, and one that is not there."""
    with pytest.raises(DataError, match="has no facts"):
        read_ratings(written(tmp_path, "none.tsv"))
    with pytest.raises(DataError, match="line 1: has no column question_id"):
        read_ratings(written(tmp_path, "other.tsv", "1\t2", header="a\tb\n"))
    with pytest.raises(DataError, match="line 4: rates the fact 'dog IsA animal' of question 'q1'"):
        read_ratings(written(tmp_path, "twice.tsv", f"{DOG}1", f"{CAT}1", f"{DOG}0"))
    with pytest.raises(DataError, match="there is no such file"):
        read_ratings(tmp_path / "missing.tsv")


def test_both_files_rate_one_sample(tmp_path: Path) -> None:
    """In any order; a fact that only one has is named with its line."""
    one = written(tmp_path, "one.tsv", f"{DOG}1", f"{CAT}0")
    other = written(tmp_path, "other.tsv", f"{CAT}0", f"{DOG}")
    first, second = read_both(one, other)
    assert {fact: (first[fact], second[fact]) for fact in first} == {
        ("q1", "dog", "IsA", "animal"): (1, None),
        ("q1", "cat", "IsA", "animal"): (0, 0),
    }
    short = written(tmp_path, "short.tsv", f"{CAT}0")
    for pair in ((one, short), (short, one)):
        with pytest.raises(DataError, match=r"one\.tsv, line 2: rates the fact 'dog IsA animal'"):
            read_both(*pair)
    with pytest.raises(RequestError, match="given twice"):
        read_both(one, one)


def test_only_a_sample_without_ratings_is_unrated(tmp_path: Path) -> None:
    """A rating is a person's work, which no command may overwrite."""
    assert is_unrated(written(tmp_path, "new.tsv", DOG, CAT))
    assert not is_unrated(written(tmp_path, "begun.tsv", DOG, f"{CAT}0"))
    assert not is_unrated(written(tmp_path, "odd.tsv", f"{DOG}yes"))
    assert not is_unrated(written(tmp_path, "other.tsv", "1\t2", header="a\tb\n"))
