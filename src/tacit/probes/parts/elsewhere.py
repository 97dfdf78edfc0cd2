"""Beliefs that were asked elsewhere, measured as a model's are."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tacit.coherence.beliefs import read_beliefs
from tacit.errors import DataError
from tacit.probes.parts.questions import QUESTION

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tacit.coherence.ontology import Ontology

log = logging.getLogger(__name__)


def answers_in(path: Path, questions: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """The questions with the beliefs of a file; a question that the file lacks has none.

    Args:
        path: Beliefs with a column ``thing``; TSV, CSV, JSONL or Parquet. Where it has a column
            ``annotator``, a question may stand there once per drawing, with the same p.
        questions: What the probe asks: thing, subject, relation, object.
        ontology: The relations that the file may use.

    Returns:
        The questions' columns and ``p_true``.

    Raises:
        DataError: The file is malformed, gives a question two beliefs, or answers none of the
            questions. Where only some of its statements are none that is asked, a warning counts
            them.
    """
    beliefs = read_beliefs(path, ontology)
    if "thing" not in beliefs.columns:
        raise DataError("has no column thing, which says what the parts are parts of", path)
    distinct = beliefs.select(*QUESTION, "p_true").unique(maintain_order=True)
    twice = distinct.select(QUESTION).is_duplicated()
    if twice.any():
        told = ", ".join(map(str, distinct.select(QUESTION).row(twice.arg_true()[0])))
        raise DataError(f"gives two beliefs about one question: {told}", path)
    unasked = distinct.join(questions, on=QUESTION, how="anti").height
    if unasked == distinct.height:
        raise DataError(
            "answers none of the questions; things and parts must be written as in the drawings, "
            "in lower case",
            path,
        )
    if unasked:
        log.warning("%s: %d of its statements are none that is asked", path, unasked)
    answers = questions.join(distinct, on=QUESTION, how="left", maintain_order="left")
    if answers["p_true"].null_count() == answers.height:
        raise DataError("gives no belief: p_true is empty for every question", path)
    return answers
