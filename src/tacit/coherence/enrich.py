"""Enrichment: derive what true statements imply (Gu et al. 2023, section 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.errors import DataError, RequestError
from tacit.strings import Spellings
from tacit.tables import frame_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import polars as pl

    from tacit.coherence.ontology import Ontology, Relation

Statement: TypeAlias = tuple[str, str, str]  # subject, relation, object

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
    import polars as pl

    frame = frame_of(statements)
    if frame is None:
        raise RequestError("expected the statements as a polars or pandas frame")
    statements = frame
    groups = _group_columns(statements)
    spelled = Spellings(ontology.relations)
    statements = spelled.within(statements, (*groups, *_COLUMNS))
    spelled.notice()
    stated: dict[tuple[Any, ...], dict[Statement, None]] = {}
    for *values, subject, relation, obj in statements.select(*groups, *_COLUMNS).iter_rows():
        stated.setdefault(tuple(values), {}).setdefault((subject, relation, obj))
    rows: list[tuple[Any, ...]] = []
    for group, given in stated.items():
        where = ", ".join(f"{name} {value!r}" for name, value in zip(groups, group, strict=True))
        labels = _labels(given, ontology, where or "statements")
        rows.extend((*group, *statement, label) for statement, label in labels.items())
    names = [*groups, *_COLUMNS, "label"]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    schema = {name: statements.schema.get(name, pl.Boolean()) for name in names}
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), schema=schema)
    return frame.select(*statements.columns, "label")


def clashes(statement: Statement, relations: Mapping[str, Relation]) -> set[Statement]:
    """Return the statements that ``statement`` implies to be both true and false."""
    true = _truths([statement], relations)
    return true & _falsehoods(true, relations)


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


def _labels(given: Collection[Statement], ontology: Ontology, where: str) -> dict[Statement, bool]:
    """Map the given and derived statements of a group to their truth values."""
    relations = ontology.relations
    items: dict[str, int] = {}
    for subject, relation, obj in given:
        if relation not in relations:
            raise DataError(
                f"{where}: unknown relation {relation!r}; expected {', '.join(relations)}"
            )
        items.setdefault(subject, len(items))
        items.setdefault(obj, len(items))
    rank = {name: position for position, name in enumerate(relations)}
    true = _truths(given, relations)
    false = _falsehoods(true, relations)

    def order(statement: Statement) -> tuple[int, int, int]:
        subject, relation, obj = statement
        return items[subject], items[obj], rank[relation]

    both = sorted(true & false, key=order)
    if both:
        raise DataError(
            f"{where}: {' '.join(both[0])!r} is implied to be both true and false"
            f"{f' (and {len(both) - 1:,} more)' if both[1:] else ''}; "
            "correct the statements that imply it"
        )
    return {statement: statement in true for statement in sorted(true | false, key=order)}


def _truths(given: Iterable[Statement], relations: Mapping[str, Relation]) -> set[Statement]:
    known: set[Statement] = set()
    after: dict[tuple[str, str], list[str]] = {}  # (relation, subject) to objects
    before: dict[tuple[str, str], list[str]] = {}
    waiting = list(given)
    while waiting:
        statement = waiting.pop()
        if statement in known:
            continue
        known.add(statement)
        subject, name, obj = statement
        waiting += _partners(statement, relations)
        waiting += [(subject, implied, obj) for implied in relations[name].implies]
        if relations[name].transitive:
            after.setdefault((name, subject), []).append(obj)
            before.setdefault((name, obj), []).append(subject)
            waiting += [
                (subject, name, end) for end in after.get((name, obj), ()) if end != subject
            ]
            waiting += [
                (start, name, obj) for start in before.get((name, subject), ()) if start != obj
            ]
    return known


def _falsehoods(true: set[Statement], relations: Mapping[str, Relation]) -> set[Statement]:
    known: set[Statement] = set()
    waiting: list[Statement] = []
    for subject, name, obj in true:
        relation = relations[name]
        if relation.asymmetric or (relation.irreflexive and subject == obj):
            waiting.append((obj, name, subject))
        waiting += [(subject, other, obj) for other in relation.excludes]
        waiting += [(subject, o.name, obj) for o in relations.values() if name in o.excludes]
    while waiting:
        statement = waiting.pop()
        if statement not in known:
            known.add(statement)
            waiting += _partners(statement, relations)
    return known


def _partners(statement: Statement, relations: Mapping[str, Relation]) -> list[Statement]:
    """Return the statements that are equivalent to a statement by symmetry or inverse."""
    subject, name, obj = statement
    relation = relations[name]
    partners = [(obj, name, subject)] if relation.symmetric else []
    return [*partners, (obj, relation.inverse, subject)] if relation.inverse else partners
