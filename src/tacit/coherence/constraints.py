"""Split the relations of an ontology into families that can be repaired independently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.coherence.beliefs import group_columns
from tacit.coherence.closure import Booleans, Integers, Link, RelationClass, Rules
from tacit.coherence.ontology import Ontology


@dataclass(frozen=True)
class Families:
    """Families of relations, which can be repaired independently.

    A relation and its inverse are one relation of a family. ``places`` are, for each relation of
    the ontology, its family, its position there, and whether subject and object are swapped there.
    """

    relations: tuple[RelationClass, ...]
    rules: tuple[Rules, ...]
    places: tuple[Integers, Integers, Booleans]


@dataclass(frozen=True)
class Clauses:
    """All statements about n items, and their constraints except transitive constraints."""

    variables: Integers
    implications: Integers
    exclusions: Integers
    index: Integers


def families_of(ontology: Ontology) -> Families:
    """Divide the relations of an ontology into those that no constraint connects."""
    rules = ontology.rules
    count = len(rules.relations)
    first = np.arange(count)
    for r, s, turned in rules.implications:
        first[r] = min(r, s) if turned else first[r]
    links = [(r, s) for r, s, _ in (*rules.implications, *rules.exclusions)]
    ends = np.array([*links, *((r, r) for r in range(count))]).T
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(count, count))
    number, family = connected_components(graph, directed=False)
    position, reversed_ = np.zeros(count, dtype=np.int64), first != np.arange(count)
    found = []
    for mine in range(number):
        members = np.flatnonzero((family == mine) & ~reversed_)
        position[members] = np.arange(len(members))

        def inside(links: Iterable[Link], mine: int = mine) -> tuple[Link, ...]:
            each = {
                (
                    int(position[first[r]]),
                    int(position[first[s]]),
                    bool(reversed_[r] ^ reversed_[s] ^ turned),
                )
                for r, s, turned in links
                if family[r] == mine
            }
            # A relation and its inverse are one, which implies itself.
            return tuple(sorted(link for link in each if link[0] != link[1] or link[2]))

        relations = tuple(rules.relations[r] for r in members)
        found.append(Rules(relations, inside(rules.implications), inside(rules.exclusions)))
    places = (family.astype(np.int64), position[first], reversed_)
    return Families(rules.relations, tuple(found), places)


@lru_cache(maxsize=64)
def clauses_of(rules: Rules, n: int) -> Clauses:
    """Return the statements about n items, and their constraints except transitive ones."""
    there = np.ones((len(rules.relations), n, n), dtype=bool)
    for position, each in enumerate(rules.relations):
        if n > 1:
            np.fill_diagonal(there[position], val=False)
        if each.symmetric:
            there[position] &= np.triu(there[position])
    variables = np.argwhere(there).astype(np.int64)
    index = np.full(there.shape, -1, dtype=np.int64)
    index[there] = np.arange(len(variables))
    for position, each in enumerate(rules.relations):
        if each.symmetric:
            index[position] = np.maximum(index[position], index[position].T)
    first, then = _linked(rules, rules.implications, variables, index)
    implications = _sorted(first[first != then], then[first != then], len(variables))
    links = [_linked(rules, rules.exclusions, variables, index)]
    above = np.triu_indices(n, 1)
    links += [
        (index[position][above], index[position].T[above])
        for position, each in enumerate(rules.relations)
        if each.asymmetric and n > 1
    ]
    one, other = (np.concatenate(ends) for ends in zip(*links, strict=True))
    exclusions = _sorted(np.minimum(one, other), np.maximum(one, other), len(variables))
    return Clauses(variables, implications, exclusions, index)


def triples_of(rules: Rules, n: int) -> Integers:
    """Return all transitive constraints on n items as (premise, premise, conclusion) rows."""
    index = clauses_of(rules, n).index
    i, j, k = (axis.ravel() for axis in np.indices((n, n, n)))
    different = (i != j) & (j != k) & (i != k)
    i, j, k = i[different], j[different], k[different]
    found = [
        np.stack([index[c, i, j], index[c, j, k], index[c, i, k]], axis=1)
        for c, each in enumerate(rules.relations)
        if each.transitive
    ]
    return np.concatenate([*found, np.empty((0, 3), dtype=np.int64)])


def _linked(
    rules: Rules, links: tuple[Link, ...], variables: Integers, index: Integers
) -> tuple[Integers, Integers]:
    """Return two arrays: the first and second statement of each implication or exclusion."""
    nothing = np.empty(0, dtype=np.int64)
    ones, others = [nothing], [nothing]
    for a, b, turned in links:
        numbers = np.flatnonzero(variables[:, 0] == a)
        i, j = variables[numbers, 1], variables[numbers, 2]
        # A symmetric statement represents both directions, and each has consequences.
        readings = [(i, j), (j, i)] if rules.relations[a].symmetric else [(i, j)]
        for x, y in readings:
            ones.append(numbers)
            others.append(index[b, y, x] if turned else index[b, x, y])
    return np.concatenate(ones), np.concatenate(others)


def _sorted(one: Integers, other: Integers, count: int) -> Integers:
    """Return the distinct pairs of statements in ascending order, shape (m, 2)."""
    keys = np.unique(one * max(1, count) + other)
    return np.stack(np.divmod(keys, max(1, count)), axis=1)


@dataclass(frozen=True)
class Coded:
    """A table of beliefs encoded as integer arrays with one entry per row.

    ``unasked`` is the number of possible statements without a row: a possible statement connects
    any two different items of a group by any relation.
    """

    group: Integers
    subject: Integers
    relation: Integers
    object: Integers
    items: list[str]
    relations: list[str]
    groups: pl.DataFrame
    unasked: int

    @property
    def ends(self) -> Integers:
        """The subject and the object of each row, as numbers that no other group shares."""
        start = self.group * len(self.items)
        return np.stack([start + self.subject, start + self.object])

    @property
    def frame(self) -> pl.DataFrame:
        """The codes of each row, in the columns g, s, r and o."""
        return pl.DataFrame(
            {"g": self.group, "s": self.subject, "r": self.relation, "o": self.object}
        )

    def words(self, codes: pl.DataFrame) -> dict[str, pl.Series]:
        """Return the subject, relation and object of statements in the columns s, r and o."""
        items = pl.Series(self.items, dtype=pl.String)
        relations = pl.Series(self.relations, dtype=pl.String)
        return {
            "subject": items.gather(codes["s"]),
            "relation": relations.gather(codes["r"]),
            "object": items.gather(codes["o"]),
        }


def code(beliefs: pl.DataFrame, ontology: Ontology, groups: Sequence[str] | None = None) -> Coded:
    """Encode the groups, items and relations of validated beliefs as integers."""
    columns = group_columns(beliefs, groups)
    items = pl.concat([beliefs["subject"], beliefs["object"]]).unique().sort()
    named = pl.Enum(items)
    names = list(ontology.relations)
    group, table = _groups(beliefs, columns)
    subject = _positions(beliefs["subject"], named)
    object_ = _positions(beliefs["object"], named)
    relation = _positions(beliefs["relation"], pl.Enum(names))
    coded = Coded(group, subject, relation, object_, items.to_list(), names, table, 0)
    sizes = np.bincount(np.unique(coded.ends) // max(1, len(items)), minlength=len(table))
    possible = int((sizes * (sizes - 1)).sum()) * len(names)
    return replace(coded, unasked=possible - int((subject != object_).sum()))


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
