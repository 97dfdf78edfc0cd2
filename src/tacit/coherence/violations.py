"""The constraints that apply to the believed statements, and whether each is violated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tacit.coherence.closure import Booleans, Integers, Rules, close, denied, swapped
from tacit.coherence.coded import Coded
from tacit.coherence.components import arrays
from tacit.coherence.ontology import KINDS

COUNTS = ("violated", "applicable", "undecided")
_COLUMNS = [f"{column}{number}" for number in (1, 2, 3) for column in "sro"]


class _Constraints(NamedTuple):
    """Constraints of one kind: the relations of their two statements, and where they apply.

    The second statement has subject and object swapped if ``turned``. Of a transitive constraint,
    subject and object are those of the conclusion, and the values are numbers of constraints.
    """

    kind: str
    first: int
    second: int
    turned: bool
    violated: Any
    applicable: Any
    undecided: Any


def count(
    coded: Coded, believed: Booleans, disbelieved: Booleans, rules: Rules
) -> dict[str, Integers]:
    """Count the constraints of each group, by kind and by what is known of them."""
    counts: dict[str, Integers] = {
        f"{kind}_{name}": np.zeros(len(coded.groups), np.int64) for kind in KINDS for name in COUNTS
    }
    for group, _, true, known in _arrays(coded, believed, disbelieved, rules):
        for each in _constraints(true, known, rules):
            for name, of in zip(
                COUNTS, (each.violated, each.applicable, each.undecided), strict=True
            ):
                sums = of.sum(axis=(1, 2), dtype=np.int64)
                np.add.at(counts[f"{each.kind}_{name}"], group, sums)
    return counts


def jointly_consistent(coded: Coded, believed: Booleans, rules: Rules) -> Booleans:
    """Return, for each group, whether its believed statements can all be true together."""
    consistent = np.ones(len(coded.groups), dtype=bool)
    for group, _, true, _ in _arrays(coded, believed, np.zeros_like(believed), rules):
        close(true, rules)
        contradictory = (true & denied(true, rules)).any(axis=(1, 2, 3))
        consistent[group[contradictory]] = False
    return consistent


def violations(
    coded: Coded, believed: Booleans, disbelieved: Booleans | None, rules: Rules
) -> pl.DataFrame:
    """List the violated constraints: group, kind, and subject, relation, object of each statement.

    If ``disbelieved`` is None, all statements that are not believed are disbelieved.
    """
    numbers = dict.fromkeys(_COLUMNS, pl.Int64)
    found = [pl.DataFrame(schema={"g": pl.Int64, "kind": pl.Enum(KINDS), **numbers})]
    for group, item, true, known in _arrays(coded, believed, disbelieved, rules):
        for each in _constraints(true, known, rules):
            part, *statements = _statements(each, true)
            columns = {"g": group[part]}
            for number, (s, r, o) in enumerate(statements, 1):
                columns[f"s{number}"] = item[part, s]
                columns[f"r{number}"] = np.full(len(part), r)
                columns[f"o{number}"] = item[part, o]
            found.append(pl.DataFrame(columns).with_columns(kind=pl.lit(each.kind, pl.Enum(KINDS))))
    return pl.concat(found, how="diagonal")


def minimal_clash(coded: Coded, believed: Booleans, rules: Rules, group: int) -> Integers:
    """Return believed statements of a group that cannot all be true, without superfluous ones."""

    def possible(rows: Integers) -> bool:
        chosen = np.zeros_like(believed)
        chosen[rows] = True
        return bool(jointly_consistent(coded, chosen, rules)[group])

    def needed(kept: Integers, rows: Integers, *, grown: bool) -> Integers:
        """Return the rows that are needed for a clash in addition to the kept rows."""
        if grown and not possible(kept):
            return rows[:0]
        if len(rows) == 1:
            return rows
        first, second = np.array_split(rows, 2)
        later = needed(np.concatenate([kept, first]), second, grown=True)
        earlier = needed(np.concatenate([kept, later]), first, grown=len(later) > 0)
        return np.concatenate([earlier, later])

    rows = np.flatnonzero(believed & (coded.group == group))
    return np.sort(needed(rows[:0], rows, grown=False))


def _arrays(
    coded: Coded, believed: Booleans, disbelieved: Booleans | None, rules: Rules
) -> Iterator[tuple[Integers, Integers, Booleans, Booleans]]:
    """Yield the groups and items of components, and which statements are believed and known."""
    sets = [believed] if disbelieved is None else [believed, disbelieved]
    for nodes, found in arrays(coded.ends, coded.relation, len(rules.relations), *sets):
        group, item = np.divmod(nodes, len(coded.items))
        known = np.ones_like(found[0]) if disbelieved is None else found[0] | found[1]
        yield group[:, 0], item, found[0], known


def _constraints(true: Booleans, known: Booleans, rules: Rules) -> Iterator[_Constraints]:
    n = true.shape[-1]
    apart, above = ~np.eye(n, dtype=bool), np.triu(np.ones((n, n), dtype=bool), 1)
    for r, relation in enumerate(rules.relations):
        back = swapped(true[:, r])
        alone, both = true[:, r] & ~back & apart, true[:, r] & back & above
        unknown = alone & ~swapped(known[:, r])
        if relation.symmetric:
            yield _Constraints("symmetric", r, r, True, alone & ~unknown, alone | both, unknown)  # noqa: FBT003
        if relation.asymmetric:
            yield _Constraints("asymmetric", r, r, True, both, alone | both, unknown)  # noqa: FBT003
        if relation.transitive:
            steps = (true[:, r] & apart).astype(np.float32)
            chains = (steps @ steps) * apart
            broken = chains * (known[:, r] & ~true[:, r])
            yield _Constraints("transitive", r, r, False, broken, chains, chains * ~known[:, r])  # noqa: FBT003
    for r, s, turned in rules.implications:
        then, sure = ((swapped(each[:, s]) if turned else each[:, s]) for each in (true, known))
        alone = true[:, r] & ~then
        # An inverse is listed from both sides, and counts once where both statements are believed.
        applies = alone if turned and r > s else true[:, r]
        kind = "inverse" if turned else "implies"
        yield _Constraints(kind, r, s, turned, alone & sure, applies, alone & ~sure)
    for r, s, _ in {(min(r, s), max(r, s), turned) for r, s, turned in rules.exclusions}:
        one, other = true[:, r], true[:, s]
        unknown = (one & ~known[:, s]) | (other & ~known[:, r])
        yield _Constraints("excludes", r, s, False, one & other, one | other, unknown)  # noqa: FBT003


def _statements(of: _Constraints, true: Booleans) -> list[Any]:
    """Return the components of the violated constraints, and the local ends of each statement."""
    part, one, other = np.nonzero(of.violated)
    r, s = of.first, of.second
    if of.kind != "transitive":
        return [part, (one, r, other), (other, s, one) if of.turned else (one, s, other)]
    through = true[part, r, one] & true[part, r, :, other]
    through[np.arange(len(part)), one] = through[np.arange(len(part)), other] = False
    which, middle = np.nonzero(through)
    one, other = one[which], other[which]
    return [part[which], (one, r, middle), (middle, r, other), (one, r, other)]
