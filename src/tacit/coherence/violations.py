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
_NONE = -1


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
    for of in arrays(coded.ends, coded.relation, rules, believed, disbelieved):
        group, true, known = of.items[:, 0] // len(coded.items), of.sets[0], of.sets[0] | of.sets[1]
        for each in _constraints(true, known, of.rules):
            for name, applies in zip(
                COUNTS, (each.violated, each.applicable, each.undecided), strict=True
            ):
                sums = applies.sum(axis=(1, 2), dtype=np.int64)
                np.add.at(counts[f"{each.kind}_{name}"], group, sums)
    for kind, keys, rows in _sharing(coded, believed, rules):
        k, unknown = pl.col("true").sum(), (~pl.col("known")).sum()
        pairs = k * (k - 1) // 2
        found = (
            rows.with_columns(known=(believed | disbelieved)[rows["row"]])
            .group_by(keys)
            .agg(violated=pairs, applicable=pairs + k * (pl.len() - k), undecided=k * unknown)
        )
        for name in COUNTS:
            np.add.at(counts[f"{kind}_{name}"], found["g"].to_numpy(), found[name].to_numpy())
    return counts


def _sharing(
    coded: Coded, believed: Booleans, rules: Rules
) -> Iterator[tuple[str, list[str], pl.DataFrame]]:
    """Yield the rows of functional relations, and the columns of which one row can be true."""
    rows = coded.frame.with_columns(true=believed).with_row_index("row")
    rows = rows.filter(pl.col("s") != pl.col("o"))
    for kind, key, unique in (
        ("functional", "s", [each.functional for each in rules.relations]),
        ("inverse_functional", "o", [each.inverse_functional for each in rules.relations]),
    ):
        if any(unique):
            yield kind, ["g", "r", key], rows.filter(pl.col("r").is_in(np.flatnonzero(unique)))


def jointly_consistent(
    coded: Coded, believed: Booleans, disbelieved: Booleans, rules: Rules
) -> Booleans:
    """Return, for each group, whether its statements can all be true, or false if disbelieved."""
    consistent = np.ones(len(coded.groups), dtype=bool)
    for of in arrays(coded.ends, coded.relation, rules, believed, disbelieved):
        true, false = of.sets
        close(true, of.rules)
        contradictory = (true & (false | denied(true, of.rules))).any(axis=(1, 2, 3))
        consistent[of.items[contradictory, 0] // len(coded.items)] = False
    return consistent


def violations(
    coded: Coded, believed: Booleans, disbelieved: Booleans | None, rules: Rules
) -> pl.DataFrame:
    """List the violated constraints: group, kind, and subject, relation, object of each statement.

    If ``disbelieved`` is None, all statements that are not believed are disbelieved.
    """
    kinds = pl.Enum(KINDS)
    found = [np.empty((2 + len(_COLUMNS), 0), np.int64)]
    sets = [believed] if disbelieved is None else [believed, disbelieved]
    for of in arrays(coded.ends, coded.relation, rules, *sets):
        group, item = np.divmod(of.items, len(coded.items))
        true = of.sets[0]
        known = np.ones_like(true) if disbelieved is None else true | of.sets[1]
        for each in _constraints(true, known, of.rules):
            part, *statements = _statements(each, true)
            columns = np.full((2 + len(_COLUMNS), len(part)), _NONE)
            columns[:2] = group[part, 0], np.full(len(part), KINDS.index(each.kind))
            for at, (s, r, o) in enumerate(statements):
                relation = np.full(len(part), of.relations[r])
                columns[2 + 3 * at : 5 + 3 * at] = item[part, s], relation, item[part, o]
            found.append(columns)
    numbers = dict(zip(("g", "kind", *_COLUMNS), np.concatenate(found, axis=1), strict=True))
    frames = [
        pl.DataFrame(numbers).with_columns(
            pl.col(_COLUMNS).replace(_NONE, None),
            kind=pl.Series(KINDS, dtype=kinds)[numbers["kind"]],
        )
    ]
    for kind, keys, rows in _sharing(coded, believed, rules):
        true = rows.filter("true")
        pairs = true.join(true, on=keys).filter(pl.col("row") < pl.col("row_right"))
        one, other = (coded.frame[pairs[name]] for name in ("row", "row_right"))
        frames.append(
            pl.DataFrame({"g": one["g"]}).with_columns(
                *(one[name].alias(f"{name}1") for name in "sro"),
                *(other[name].alias(f"{name}2") for name in "sro"),
                kind=pl.lit(kind, kinds),
            )
        )
    return pl.concat(frames, how="diagonal")


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
