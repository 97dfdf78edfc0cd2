"""Split the relations of an ontology into families that can be repaired independently.

A relation and its inverse (for example, "above" and "below") express the same facts, so they form
one relation class. A constraint connects two relation classes if a relation of one class implies or
excludes a relation of the other class. Relation classes belong to the same family if implications
or exclusions connect them, directly or through other classes. The beliefs of each family of
relations can be repaired independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.coherence.beliefs import group_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.coherence.ontology import Ontology, Relation

    Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    from collections.abc import Sequence


@dataclass(frozen=True)
class RelationClass:
    """A relation and its inverse, named after the one that is listed first in the ontology."""

    name: str
    symmetric: bool
    asymmetric: bool
    transitive: bool
    irreflexive: bool


@dataclass(frozen=True)
class Family:
    """A family of relations, connected by inverses, implications or exclusions.

    Args:
        classes: The relation classes of the family, in the order of the ontology file. A relation
            class is a relation with its inverse, if any.
        implications: Implications between relation classes, as triples (a, b, ``turned``). The
            numbers a and b of an implication are indices into ``classes``. For each implication (a,
            b, ``turned``) and all items x and y, the statement (x, a, y) implies (x, b, y) if
            ``turned`` is False, and (y, b, x) if ``turned`` is True.
        exclusions: Exclusions between relation classes, as triples (a, b, ``turned``). The numbers
            a and b of an exclusion are indices into ``classes``. For each exclusion (a, b,
            ``turned``) and all items x and y, the statement (x, a, y) excludes (x, b, y) if
            ``turned`` is False, and (y, b, x) if ``turned`` is True.
    """

    classes: tuple[RelationClass, ...]
    implications: tuple[tuple[int, int, bool], ...] = ()
    exclusions: tuple[tuple[int, int, bool], ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether at least one relation class of the family is transitive."""
        return any(each.transitive for each in self.classes)

    @property
    def order(self) -> bool:
        """Whether the family of relations is one order relation, with or without an inverse.

        An order relation is asymmetric and transitive.
        """
        first = self.classes[0]
        alone = len(self.classes) == 1 and not self.implications and not self.exclusions
        return alone and first.transitive and first.asymmetric


@dataclass(frozen=True)
class Membership:
    """A relation's family and its relation class (the relation with its inverse).

    The Boolean ``turned`` is True if the ontology lists the relation's inverse before the relation.
    """

    family: int
    position: int
    turned: bool


@dataclass(frozen=True)
class Clauses:
    """All statements about n items, and their constraints except transitive constraints.

    Args:
        variables: For each statement, three numbers (class, i, j), shape (v, 3): the index of its
            relation class (a relation with its inverse), and the indices of its two items.
        implications: Pairs of statements of which the first implies the second, as indices into
            ``variables``, shape (m, 2).
        exclusions: Pairs of statements that are never both true, as indices into ``variables``,
            shape (m, 2).
        never: Statements that are never true, because they relate an item to itself by an
            irreflexive relation, as indices into ``variables``, shape (m,).
        index: The row number of each statement in ``variables``, shape (classes, n, n). Element [c,
            i, j] belongs to the statement that relates item i to item j by the relation class c (a
            relation with its inverse). The row number is -1 if the statement has no row in
            ``variables``.
    """

    variables: Integers
    implications: Integers
    exclusions: Integers
    never: Integers
    index: Integers


def compile_ontology(ontology: Ontology) -> tuple[tuple[Family, ...], dict[str, Membership]]:
    """Split the relations of an ontology into families that can be repaired independently.

    Returns:
        The families of connected relations, and a mapping from the name of each relation to its
        family and its relation class. A relation class consists of a relation and its inverse.
    """
    relations = ontology.relations
    first, turned = _representatives(relations)
    names = [name for name in relations if first[name] == name]
    links = [
        (kind, name, other)
        for name, relation in relations.items()
        for kind, others in (("implies", relation.implies), ("excludes", relation.excludes))
        for other in others
    ]
    joined = _joined(names, [(first[a], first[b]) for _, a, b in links])
    families = []
    places = {}
    for number, members in enumerate(joined):
        position = {name: rank for rank, name in enumerate(members)}
        rules: dict[str, set[tuple[int, int, bool]]] = {"implies": set(), "excludes": set()}
        for kind, a, b in links:
            if first[a] in position:
                ends = (position[first[a]], position[first[b]])
                rules[kind].add((*ends, turned[a] != turned[b]))
        families.append(
            Family(
                tuple(_class_of(relations[name]) for name in members),
                tuple(sorted(rules["implies"])),
                tuple(sorted(rules["excludes"])),
            )
        )
        for name in relations:
            if first[name] in position:
                places[name] = Membership(number, position[first[name]], turned[name])
    return tuple(families), places


@lru_cache(maxsize=64)
def clauses_of(family: Family, n: int) -> Clauses:
    """Return the statements about n items, and their constraints except transitive ones.

    If there is only one item (n is 1), each statement relates the item to itself. If there are
    several items (n is larger than 1), each statement relates two different items. For a symmetric
    relation, there is only one statement about each unordered pair of items.
    """
    there = np.ones((len(family.classes), n, n), dtype=bool)
    for position, each in enumerate(family.classes):
        if n > 1:
            np.fill_diagonal(there[position], val=False)
        if each.symmetric:
            there[position] &= np.triu(there[position])
    variables = np.argwhere(there).astype(np.int64)
    index = np.full(there.shape, -1, dtype=np.int64)
    index[there] = np.arange(len(variables))
    for position, each in enumerate(family.classes):
        if each.symmetric:
            index[position] = np.maximum(index[position], index[position].T)
    first, then = _linked(family, family.implications, variables, index)
    implications = _sorted(first[first != then], then[first != then], len(variables))
    links = [_linked(family, family.exclusions, variables, index)]
    above = np.triu_indices(n, 1)
    links += [
        (index[position][above], index[position].T[above])
        for position, each in enumerate(family.classes)
        if each.asymmetric and n > 1
    ]
    one, other = (np.concatenate(ends) for ends in zip(*links, strict=True))
    exclusions = _sorted(np.minimum(one, other), np.maximum(one, other), len(variables))
    never = [
        index[position, 0, 0]
        for position, each in enumerate(family.classes)
        if n == 1 and each.irreflexive
    ]
    return Clauses(
        variables,
        implications,
        exclusions,
        np.array(never, dtype=np.int64),
        index,
    )


def triples_of(family: Family, n: int) -> Integers:
    """Return all transitive constraints on n items as (premise, premise, conclusion) rows."""
    index = clauses_of(family, n).index
    i, j, k = (axis.ravel() for axis in np.indices((n, n, n)))
    different = (i != j) & (j != k) & (i != k)
    i, j, k = i[different], j[different], k[different]
    found = [
        np.stack([index[c, i, j], index[c, j, k], index[c, i, k]], axis=1)
        for c, each in enumerate(family.classes)
        if each.transitive
    ]
    return np.concatenate([*found, np.empty((0, 3), dtype=np.int64)])


def _linked(
    family: Family,
    links: tuple[tuple[int, int, bool], ...],
    variables: Integers,
    index: Integers,
) -> tuple[Integers, Integers]:
    """Return two arrays: the first and second statement of each implication or exclusion."""
    nothing = np.empty(0, dtype=np.int64)
    ones, others = [nothing], [nothing]
    for a, b, turned in links:
        numbers = np.flatnonzero(variables[:, 0] == a)
        i, j = variables[numbers, 1], variables[numbers, 2]
        # A symmetric statement represents both directions, and each has consequences.
        readings = [(i, j), (j, i)] if family.classes[a].symmetric else [(i, j)]
        for x, y in readings:
            ones.append(numbers)
            others.append(index[b, y, x] if turned else index[b, x, y])
    return np.concatenate(ones), np.concatenate(others)


def _sorted(one: Integers, other: Integers, count: int) -> Integers:
    """Return the distinct pairs of statements in ascending order, shape (m, 2)."""
    keys = np.unique(one * max(1, count) + other)
    return np.stack(np.divmod(keys, max(1, count)), axis=1)


def _class_of(relation: Relation) -> RelationClass:
    return RelationClass(
        relation.name,
        relation.symmetric,
        relation.asymmetric,
        relation.transitive,
        relation.irreflexive,
    )


def _representatives(
    relations: Mapping[str, Relation],
) -> tuple[dict[str, str], dict[str, bool]]:
    """Map each relation to itself or its inverse, whichever the ontology lists first.

    The second mapping of the result gives, for each relation, whether the ontology lists the
    relation's inverse first.

    A relation and its inverse form one class, named after the relation that the ontology lists
    first.
    """
    first: dict[str, str] = {}
    turned: dict[str, bool] = {}
    for name, relation in relations.items():
        seen = relation.inverse is not None and relation.inverse in first
        first[name] = relation.inverse if seen and relation.inverse else name
        turned[name] = seen
    return first, turned


def _joined(names: list[str], links: list[tuple[str, str]]) -> list[list[str]]:
    """Group linked names into connected components, in the order of ``names``."""
    group = {name: {name} for name in names}
    for a, b in links:
        merged = group[a] | group[b]
        for name in merged:
            group[name] = merged
    found = []
    for name in names:
        members = [each for each in names if each in group[name]]
        if members not in found:
            found.append(members)
    return found


@dataclass(frozen=True)
class Coded:
    """A table of beliefs encoded as integer arrays with one entry per row.

    Args:
        group: The group of each row, as an index into ``groups``.
        subject: The subject of each row, as an index into ``items``.
        relation: The relation of each row, as an index into the relations of the ontology.
        object: The object of each row, as an index into ``items``.
        items: The names of all items, sorted.
        groups: A table of the group columns, with one row per group, sorted.
        sizes: The number of items in each group.
    """

    group: Integers
    subject: Integers
    relation: Integers
    object: Integers
    items: list[str]
    groups: pl.DataFrame
    sizes: Integers


def code(beliefs: pl.DataFrame, ontology: Ontology, groups: Sequence[str] | None = None) -> Coded:
    """Encode the groups, items and relations of validated beliefs as integers.

    Args:
        beliefs: A validated table of beliefs.
        ontology: The ontology whose relations the beliefs use.
        groups: The names of the columns that identify a group of beliefs, as in
            :func:`tacit.coherence.beliefs.group_columns`.
    """
    columns = group_columns(beliefs, groups)
    items = pl.concat([beliefs["subject"], beliefs["object"]]).unique().sort()
    named = pl.Enum(items)
    related = pl.Enum(list(ontology.relations))
    group, table = _groups(beliefs, columns)
    subject = _positions(beliefs["subject"], named)
    object_ = _positions(beliefs["object"], named)
    keys = np.concatenate([group, group]) * max(1, len(items)) + np.concatenate([subject, object_])
    sizes = np.bincount(np.unique(keys) // max(1, len(items)), minlength=len(table))
    return Coded(
        group,
        subject,
        _positions(beliefs["relation"], related),
        object_,
        items.to_list(),
        table,
        sizes.astype(np.int64),
    )


def beside(groups: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Put group columns before a table's columns; rename group columns whose names clash.

    If ``groups`` and ``table`` both have a column ``value``, the group column is renamed to ``value
    (group)``.
    """
    taken = {name: f"{name} (group)" for name in groups.columns if name in table.columns}
    return pl.concat([groups.rename(taken), table], how="horizontal")


def _groups(beliefs: pl.DataFrame, columns: list[str]) -> tuple[Integers, pl.DataFrame]:
    if not columns:
        # Without group columns, all beliefs form one group.
        count = min(1, len(beliefs))
        return np.zeros(len(beliefs), dtype=np.int64), pl.DataFrame({"group": [1] * count})
    groups = beliefs.select(columns).unique().sort(columns, nulls_last=False)
    number = "number of the group"
    numbered = beliefs.select(columns).join(
        groups.with_row_index(number),
        on=columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return numbered[number].cast(pl.Int64).to_numpy(), groups


def _positions(column: pl.Series, names: pl.Enum) -> Integers:
    return column.cast(names).to_physical().cast(pl.Int64).to_numpy()
