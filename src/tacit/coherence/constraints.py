"""Split the relations of an ontology into families that can be repaired independently."""

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
    """A family of relations, connected by inverses, implications or exclusions."""

    classes: tuple[RelationClass, ...]
    implications: tuple[tuple[int, int, bool], ...] = ()
    exclusions: tuple[tuple[int, int, bool], ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether at least one relation class of the family is transitive."""
        return any(each.transitive for each in self.classes)

    @property
    def order(self) -> bool:
        """Whether the family of relations is one order relation, with or without an inverse."""
        first = self.classes[0]
        alone = len(self.classes) == 1 and not self.implications and not self.exclusions
        return alone and first.transitive and first.asymmetric


@dataclass(frozen=True)
class Membership:
    """A relation's family and its relation class (the relation with its inverse)."""

    family: int
    position: int
    turned: bool


@dataclass(frozen=True)
class Clauses:
    """All statements about n items, and their constraints except transitive constraints."""

    variables: Integers
    implications: Integers
    exclusions: Integers
    never: Integers
    index: Integers


def compile_ontology(ontology: Ontology) -> tuple[tuple[Family, ...], dict[str, Membership]]:
    """Split the relations of an ontology into families that can be repaired independently."""
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
    """Return the statements about n items, and their constraints except transitive ones."""
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
    """Map each relation to itself or its inverse, whichever the ontology lists first."""
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
    """A table of beliefs encoded as integer arrays with one entry per row."""

    group: Integers
    subject: Integers
    relation: Integers
    object: Integers
    items: list[str]
    groups: pl.DataFrame
    sizes: Integers


def code(beliefs: pl.DataFrame, ontology: Ontology, groups: Sequence[str] | None = None) -> Coded:
    """Encode the groups, items and relations of validated beliefs as integers."""
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
    """Put group columns before a table's columns; rename group columns whose names clash."""
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
