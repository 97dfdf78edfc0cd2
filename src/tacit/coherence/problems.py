"""Split the repair of beliefs into independent problems, and put their solutions together."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import polars as pl

from tacit.coherence.beliefs import Beliefs
from tacit.coherence.closure import Booleans, Floats, Integers, Rules
from tacit.coherence.coded import Coded
from tacit.coherence.components import by_size, connected, distinct, families
from tacit.coherence.constraints import clauses_of
from tacit.coherence.solve import Solutions, solve
from tacit.coherence.violations import violations
from tacit.english import several
from tacit.errors import RepairError, RequestError

# Tables of all triples of items are in memory: about 1 GB each for this many items.
_MOST_JOINED = 500


@dataclass(frozen=True)
class Assignment:
    """A consistent assignment of truth values to the rows of a table, and to all statements.

    ``room`` is, for each group, how much larger the total weight of a better one can be at most.
    """

    row_true: Booleans
    row_free: Booleans
    room: Floats
    optimal: Booleans
    settled: bool
    statements: pl.DataFrame


@dataclass(frozen=True)
class Bucket:
    """Repair problems with the same relations and the same number of items, one per row.

    ``variables`` are the numbers of the variables in the problems, and ``places`` their problem and
    their statement. ``relations`` are the indices of the relations among all.
    """

    relations: Integers
    rules: Rules
    group: Integers
    items: Integers
    weights: Integers
    variables: Integers
    places: tuple[Integers, Integers]
    names: Sequence[str]

    def ties(self, problems: Integers) -> Integers:
        """Return tie-breaking numbers (0 to 4,095) of the statements of some of the problems."""
        items, names = self.items[problems], self.names
        relation, first, second = clauses_of(self.rules, items.shape[1]).variables.T
        keys = (relation * len(names) + items[:, first]) * len(names) + items[:, second]
        each, where = distinct(keys)
        pairs, obj = np.divmod(each, len(names))
        columns = (*np.divmod(pairs, len(names)), obj)
        numbers = [
            _tie_number(self.rules.relations[r].name, names[i], names[j])
            for r, i, j in zip(*(column.tolist() for column in columns), strict=True)
        ]
        return np.array(numbers, dtype=np.int64)[where]


@lru_cache(maxsize=1 << 17)  # every objective asks for the same statements
def _tie_number(relation: str, subject: str, obj: str) -> int:
    words = f"{relation}\t{subject}\t{obj}".encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=2).digest()) & 4095


def best_assignment(
    beliefs: Beliefs,
    weights: Integers,
    deadline: float = math.inf,
    *,
    break_ties: bool = True,
) -> Assignment:
    """Find the consistent assignment of truth values with the largest total weight."""
    coded, rules = beliefs.coded, beliefs.ontology.rules
    variables = _variables(coded, weights, rules)
    buckets = list(_buckets(variables, rules, coded.items.to_list()))
    answers = solve(buckets, deadline, break_ties=break_ties)
    true = np.zeros(len(variables.weight), dtype=bool)
    # A variable outside all problems could be true at no loss only if its weight is 0.
    free = variables.lossless & (variables.weight == 0)
    room = np.zeros(len(coded.groups))
    optimal = np.ones(len(coded.groups), dtype=bool)
    for bucket, answer in zip(buckets, answers, strict=True):
        true[bucket.variables] = answer.true[bucket.places]
        free[bucket.variables] = answer.free[bucket.places]
        np.add.at(room, bucket.group, answer.bound - (bucket.weights * answer.true).sum(axis=1))
        np.logical_and.at(optimal, bucket.group, answer.optimal)
    statements = _statements(buckets, answers)
    _verify(statements, beliefs)
    settled = all(bool(answer.settled.all()) for answer in answers)
    of_row = variables.of_row
    return Assignment(true[of_row], free[of_row], room, optimal, settled, statements)


@dataclass(frozen=True)
class _Variables:
    """The true/false variables of a repair; equivalent statements share one variable.

    ``lossless`` are the variables of an order relation without negative weights.
    """

    group: Integers
    family: Integers
    relation: Integers
    first: Integers
    second: Integers
    weight: Integers
    lossless: Booleans
    of_row: Integers


def _variables(coded: Coded, weights: Integers, rules: Rules) -> _Variables:
    """Merge equivalent statements, such as inverse statements, into one shared variable."""
    relation = rules.canonical[coded.relation]
    symmetric = np.array([each.symmetric for each in rules.relations])
    turned = (relation != coded.relation) | (symmetric[relation] & (coded.subject > coded.object))
    first = np.where(turned, coded.object, coded.subject)
    second = np.where(turned, coded.subject, coded.object)
    # Renumbered first, because products of all four could overflow.
    kinds = coded.group * len(rules.relations) + relation
    pairs = distinct(first * len(coded.items) + second)[1]
    keys = distinct(kinds)[1] * (int(pairs.max(initial=0)) + 1) + pairs
    _, of_first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.zeros(len(of_first), dtype=np.int64)
    np.add.at(weight, of_row, weights)
    columns = np.stack([coded.group, relation, first, second])
    group, relation, first, second = columns[:, of_first]
    family = np.zeros(len(rules.relations), dtype=np.int64)
    for number, (members, _) in enumerate(families(rules)):
        family[members] = number
    family, order = family[relation], np.array([mine.order for _, mine in families(rules)])
    keys = group * len(order) + family
    negative = np.zeros(int(keys.max(initial=-1)) + 1, dtype=bool)
    np.logical_or.at(negative, keys, weight < 0)
    lossless = order[family] & ~negative[keys]
    return _Variables(group, family, relation, first, second, weight, lossless, of_row)


def _buckets(variables: _Variables, rules: Rules, names: Sequence[str]) -> Iterator[Bucket]:
    """Split the variables into independent repair problems, grouped by family and size."""
    part = _problems(variables, rules)
    ends = np.stack([variables.first, variables.second])
    for family, (members, mine) in enumerate(families(rules)):
        for same in by_size(ends, np.where(variables.family == family, part, -1)):
            count, n = same.items.shape
            if n > _MOST_JOINED:
                raise RequestError(
                    "statements of a transitive relation with positive weight connect "
                    f"{n:,} items of one group; repair supports at most {_MOST_JOINED:,}; "
                    "split the group, or remove statements with a small weight"
                )
            clauses, rows = clauses_of(mine, n), same.rows
            position = np.searchsorted(members, variables.relation[rows])
            places = (same.component, clauses.index[position, *same.ends])
            weights = np.zeros((count, len(clauses.variables)), dtype=np.int64)
            weights[places] = variables.weight[rows]
            group = np.zeros(count, dtype=np.int64)
            group[same.component] = variables.group[rows]
            yield Bucket(members, mine, group, same.items, weights, rows, places, names)


def _problems(variables: _Variables, rules: Rules) -> Integers:
    """For each variable, return the number of its problem; -1 if it belongs to no problem."""
    # A statement of weight 0 can be true at no cost, so it counts as wanted, except in orders
    # without negative weights, where any statement can be true at no cost.
    wanted = np.where(variables.lossless, variables.weight > 0, variables.weight >= 0)
    ends = np.stack([variables.first, variables.second])
    width = int(ends.max(initial=0)) + 1
    nodes = (variables.group * len(families(rules)) + variables.family) * width + ends
    keys = np.zeros((2, len(rules.relations)), dtype=bool)
    for members, mine in families(rules):
        keys[:, members] = mine.keys
    return connected(nodes, wanted, keys[:, variables.relation])


def _statements(buckets: Sequence[Bucket], answers: Sequence[Solutions]) -> pl.DataFrame:
    """Return every statement assigned true, with any inverse or symmetric counterpart."""
    found = [np.zeros((4, 0), dtype=np.int64)]
    for bucket, answer in zip(buckets, answers, strict=True):
        index = clauses_of(bucket.rules, bucket.items.shape[1]).index
        problem, r, one, other = np.nonzero(answer.true[:, index] & (index >= 0))
        subject, obj = bucket.items[problem, one], bucket.items[problem, other]
        found.append(np.stack([bucket.group[problem], subject, bucket.relations[r], obj]))
    return pl.DataFrame(dict(zip("gsro", np.concatenate(found, axis=1), strict=True)))


def _verify(statements: pl.DataFrame, beliefs: Beliefs) -> None:
    """Verify that an assignment violates no constraint, by the method of ``tacit check``."""
    group, subject, relation, obj = (statements[name].to_numpy() for name in "gsro")
    true = replace(beliefs.coded, group=group, subject=subject, relation=relation, object=obj)
    rules = beliefs.ontology.rules
    broken = violations(true, np.ones(len(statements), dtype=bool), None, rules)
    irreflexive = [r for r, each in enumerate(rules.relations) if each.irreflexive]
    own = statements.filter(pl.col("s") == pl.col("o"), pl.col("r").is_in(irreflexive))
    if len(broken) or len(own):
        shown = (broken if len(broken) else own).row(0, named=True)
        raise RepairError(
            f"the repaired beliefs violate {several(len(broken) + len(own), 'constraint')}, for "
            f"example {shown}; this is a bug in Tacit: please report it with the beliefs and the "
            "ontology"
        )
