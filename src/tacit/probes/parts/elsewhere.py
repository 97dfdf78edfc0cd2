"""Beliefs from a file, measured as a model's are."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tacit.coherence.beliefs import read_beliefs
from tacit.errors import DataError
from tacit.probes.parts.measure import STATEMENT
from tacit.probes.parts.questions import QUESTION, questions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from tacit.coherence.ontology import Ontology

log = logging.getLogger(__name__)


def answers_in(path: Path, statements: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Return what the probe asks with the beliefs of a file; what the file lacks is missing.

    Without a column ``annotator``, a row is the belief about a question, which all drawings of the
    thing share. With it, a row is the belief about the statement of one drawing. Where all
    drawings that share a question have the same belief about it, for every question, the result
    has one row per question, as without the column.

    Args:
        path: Beliefs with a column ``thing``; TSV, CSV, JSONL or Parquet. Columns other than
            ``annotator`` are ignored.
        statements: The statements of every drawing: thing, annotator, subject, relation, object.
        ontology: The relations that the file may use.

    Returns:
        One row per question: thing, subject, relation, object and ``p_true``. Or, where drawings
        differ, one row per statement of each drawing, with ``annotator`` behind thing.

    Raises:
        DataError: The file is malformed, gives a question (or a drawing's statement) two beliefs,
            or answers nothing that is asked. A warning counts rows that answer nothing.
    """
    import polars as pl

    beliefs = read_beliefs(path, ontology)
    if "thing" not in beliefs.columns:
        raise DataError("has no column thing, which says what the parts are parts of", path)
    if "annotator" not in beliefs.columns:
        return _answers(path, beliefs, questions(statements), QUESTION)
    # An undrawn thing's annotator has the empty name, which a file writes as a missing value.
    named = beliefs.with_columns(pl.col("annotator").cast(pl.String).fill_null(""))
    own = _answers(path, named, statements.select(STATEMENT), STATEMENT)
    shared = own.select(*QUESTION, "p_true").unique(maintain_order=True)
    return own if shared.select(QUESTION).is_duplicated().any() else shared


def _answers(
    path: Path, beliefs: pl.DataFrame, asked: pl.DataFrame, key: Sequence[str]
) -> pl.DataFrame:
    """Return what is asked with ``p_true``, joined by the columns of a key."""
    distinct = beliefs.select(*key, "p_true").unique(maintain_order=True)
    twice = distinct.select(key).is_duplicated()
    if twice.any():
        shown = ", ".join(map(str, distinct.select(key).row(twice.arg_true()[0])))
        raise DataError(f"gives two beliefs about one question: {shown}", path)
    unasked = distinct.join(asked, on=key, how="anti").height
    if unasked == distinct.height:
        raise DataError(
            "answers none of the questions; things, annotators and parts must be written as in "
            "the drawings, in lower case",
            path,
        )
    if unasked:
        log.warning("%s: %d of its rows answer none of the questions", path, unasked)
    answers = asked.join(distinct, on=key, how="left", maintain_order="left")
    if answers["p_true"].null_count() == answers.height:
        raise DataError("gives no belief: p_true is empty for every question", path)
    return answers
