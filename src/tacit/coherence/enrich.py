"""Enrichment: derive what true statements imply (Gu et al. 2023, section 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.coherence.closure import close, denied
from tacit.coherence.coded import code
from tacit.coherence.components import arrays
from tacit.errors import DataError, RequestError
from tacit.strings import Spellings
from tacit.tables import frame_of

if TYPE_CHECKING:
    from tacit.coherence.ontology import Ontology

_COLUMNS = ("subject", "relation", "object")


def enrich(statements: pl.DataFrame | Any, ontology: Ontology) -> pl.DataFrame:  # noqa: ANN401
    """Derive the consequences of true statements, and label each statement true or false.

    If s is the inverse of the relation r, a true statement "x r y" implies "y s x". If r is
    symmetric, a true statement "x r y" implies "y r x". If the relation r implies the relation s, a
    true statement "x r y" implies "x s y". If the relation r is transitive and x differs from z,
    true statements "x r y" and "y r z" imply "x r z". The rules that produce true statements are
    applied until no new true statement appears. If the relation r is asymmetric and the statement
    "x r y" is true, the statement "y r x" is false. If one of the relations r and s excludes the
    other, and the statement "x r y" is true, the statement "x s y" is false. If s is the inverse of
    the relation r and the statement "x r y" is false, the statement "y s x" is false. If r is
    symmetric and "x r y" is false, "y r x" is false.

    Args:
        statements: A polars or pandas frame of true statements with the columns ``subject``,
            ``relation`` and ``object``. The other columns together identify the group of each
            statement. Duplicate rows count once.
        ontology: The relations and their properties.

    Returns:
        A table with the columns of ``statements`` and the Boolean column ``label``. Within a group
        of statements, each distinct statement has one row. Groups are in the order in which they
        first appear in ``statements``. Within a group, rows are sorted by subject and then by
        object, both in the order of first mention, and finally by relation, in the order of the
        ontology.

    Raises:
        DataError: If a column is missing or has empty values, if a relation is unknown, or if a
            statement is implied to be both true and false in its group.

    Examples:
        >>> import polars as pl
        >>> from tacit import Ontology, enrich
        >>> statement = {"subject": "trunk", "relation": "above", "object": "roots"}
        >>> labelled = enrich(pl.DataFrame([statement]), Ontology.load("parts"))
        >>> "below" in labelled["relation"].to_list()
        True
    """
    given = frame_of(statements)
    if given is None:
        raise RequestError("expected the statements as a polars or pandas frame")
    groups = _group_columns(given)
    spelled = Spellings(ontology.relations)
    given = spelled.within(given, (*groups, *_COLUMNS))
    spelled.notice()
    unknown = given.filter(~pl.col("relation").is_in(list(ontology.relations)))
    if unknown.height:
        raise DataError(
            f"{_group_text(unknown, groups)}: unknown relation {unknown['relation'][0]!r}; "
            f"expected {', '.join(ontology.relations)}"
        )
    labels = _labels(given, groups, ontology)
    contradictory = labels.filter(pl.col("label").is_null())
    if contradictory.height:
        rows = contradictory.select(*groups, "label").rows()
        more = rows.count(rows[0]) - 1
        text = " ".join(contradictory.select(_COLUMNS).row(0))
        raise DataError(
            f"{_group_text(contradictory, groups)}: {text!r} is implied to be both true and false"
            f"{f' (and {more:,} more)' if more else ''}; correct the statements that imply it"
        )
    return labels.select(*given.columns, "label")


def _group_columns(statements: pl.DataFrame) -> list[str]:
    missing = [name for name in _COLUMNS if name not in statements.columns]
    if missing:
        raise DataError(f"statements have no column {', '.join(missing)}")
    if "label" in statements.columns:
        raise DataError("statements have a column label; expected true statements without labels")
    empty = [name for name in _COLUMNS if statements[name].null_count()]
    if empty:
        raise DataError(
            f"some rows of the statements have no {', '.join(empty)}; fill in every row"
        )
    return [name for name in statements.columns if name not in _COLUMNS]


def _group_text(statements: pl.DataFrame, groups: list[str]) -> str:
    """Return the group of the first row as text."""
    values = statements.select(groups).row(0) if groups else ()
    named = zip(groups, values, strict=True)
    return ", ".join(f"{name} {value!r}" for name, value in named) or "statements"


def _labels(given: pl.DataFrame, groups: list[str], ontology: Ontology) -> pl.DataFrame:
    """Return all implied statements in the documented order; a contradictory one has no label."""
    coded = code(given, list(ontology.relations), groups)
    every = np.ones(len(given), dtype=bool)
    found = [pl.DataFrame(schema={**dict.fromkeys("gsro", pl.Int64), "label": pl.Boolean})]
    for of in arrays(coded.ends, coded.relation, ontology.rules, every):
        (true,) = of.sets
        close(true, of.rules)
        false = denied(true, of.rules)
        part, r, one, other = which = np.nonzero(true | false)
        group, item = np.divmod(of.items, len(coded.items))
        codes = (group[part, 0], item[part, one], of.relations[r], item[part, other])
        label = pl.when(~pl.Series(true[which] & false[which])).then(pl.Series(true[which]))
        found.append(pl.DataFrame(dict(zip("gsro", codes, strict=True))).with_columns(label=label))
    labels = pl.concat(found)
    group, subject, obj = (labels[name].to_numpy() for name in "gso")
    _, first_row = np.unique(coded.group, return_index=True)
    nodes, first = np.unique(coded.ends.T, return_index=True)
    mentioned = (
        first[np.searchsorted(nodes, group * len(coded.items) + item)] for item in (obj, subject)
    )
    labels = labels[np.lexsort((labels["r"], *mentioned, first_row[group]))]
    return coded.beside(
        labels["g"], pl.DataFrame({**coded.words(labels), "label": labels["label"]})
    )
