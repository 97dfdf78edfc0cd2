"""Minimal conflicts: beliefs that cannot all be right, but can if any one is given up."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tacit.coherence.closure import Booleans, Rules, close, consequences, denied, supporting
from tacit.coherence.coded import Coded
from tacit.coherence.components import arrays

Statement: TypeAlias = tuple[int, ...]
"""Relation, subject and object; and 1 if it follows by transitivity of this relation."""
Support: TypeAlias = frozenset[int]
"""The rows of beliefs from which a statement follows."""

_CLASH: Statement = ()
# A dense group can have more conflicts than anyone reads, and takes long to search.
_MOST_FOUND = 1000
_MOST_STEPS = 1_000_000
_PAIR = 2


def conflicts(
    coded: Coded, believed: Booleans, disbelieved: Booleans, rules: Rules
) -> tuple[list[list[int]], bool]:
    """List the rows of each minimal conflict, the smallest first, and whether that is all."""
    subject, obj = coded.ends.tolist()
    statements: list[Statement] = list(zip(coded.relation.tolist(), subject, obj, strict=True))
    true: dict[Statement, int]
    true, false = (
        {statements[row]: row for row in np.flatnonzero(side).tolist()}
        for side in (believed, disbelieved)
    )
    # A search within sets of a few rows finds the smallest conflicts everywhere before it grows.
    pending = dict(enumerate(sorted(_wanted(coded, believed, disbelieved, rules), key=len)))
    found: dict[int, list[list[int]]] = {number: [] for number in pending}
    largest, steps, more = _PAIR, _MOST_STEPS, _MOST_FOUND
    while pending and steps > 0 and more > 0:
        for number, wanted in list(pending.items()):
            search, before = _Search(rules, wanted, false, largest), found[number]
            for statement in wanted & true.keys():
                search.add(statement, frozenset([true[statement]]))
            found[number] = max(before, search.run(len(before) + more, steps), key=len)
            more -= len(found[number]) - len(before)
            steps -= search.steps
            if not search.left:
                del pending[number]
        largest += largest // 2
    every = (rows for within in found.values() for rows in within)
    return sorted(every, key=lambda rows: (len(rows), rows)), not pending


def _wanted(
    coded: Coded, believed: Booleans, disbelieved: Booleans, rules: Rules
) -> Iterator[set[Statement]]:
    """Yield, by component, the statements from which a statement that cannot be true follows."""
    for of in arrays(coded.ends, coded.relation, rules, believed, disbelieved):
        true, false = of.sets
        close(true, of.rules)
        wanted = true & (false | denied(true, of.rules))
        some = wanted.any(axis=(1, 2, 3))
        wanted, items = wanted[some], of.items[some]
        supporting(wanted, true[some], of.rules)
        for mine, nodes in zip(wanted, items, strict=True):
            r, one, other = np.nonzero(mine)
            columns = (of.relations[r], nodes[one], nodes[other])
            yield set(zip(*(column.tolist() for column in columns), strict=True))


@dataclass
class _Search:
    """Derives statements from ever larger sets of rows, so that a set is met after its subsets."""

    rules: Rules
    wanted: set[Statement]
    false: Mapping[Statement, int]
    largest: int

    def __post_init__(self) -> None:
        implied, self.excluded = consequences(self.rules, 2)
        self.implied = [(r, s, turned) for r, s, turned in implied if turned or r != s]
        self.supports: dict[Statement, list[Support]] = {each: [] for each in self.wanted}
        self.waiting: list[tuple[int, list[int], Statement]] = []
        self.seen: set[tuple[Statement, Support]] = set()
        self.objects: dict[Statement, list[int]] = defaultdict(list)
        self.subjects: dict[Statement, list[int]] = defaultdict(list)
        for r, x, y in sorted(self.wanted):
            self.objects[r, x].append(y)
            self.subjects[r, y].append(x)
        self.starts: dict[Statement, list[tuple[int, Support]]] = defaultdict(list)
        self.left = False
        self.steps = 0
        self.clashes: dict[int, list[Support]] = defaultdict(list)

    def add(self, statement: Statement, support: Support) -> None:
        """Note that a statement follows from rows, unless they are too many for now."""
        self.steps += 1 + len(support) // 32  # large sets take longer
        if statement == _CLASH or statement[:3] in self.wanted:
            if len(support) > self.largest:
                self.left = True
            elif (statement, support) not in self.seen:
                self.seen.add((statement, support))
                heapq.heappush(self.waiting, (len(support), sorted(support), statement))

    def run(self, most: int, steps: int) -> list[list[int]]:
        """Return conflicts; afterwards, ``left`` says whether there may be others."""
        found: list[list[int]] = []
        while self.waiting and len(found) < most and self.steps < steps:
            _, rows, statement = heapq.heappop(self.waiting)
            support = frozenset(rows)
            known = [clash for row in rows for clash in self.clashes[row]]
            known += self.supports.get(statement[:3], ())
            if any(each <= support for each in known):
                continue
            if statement == _CLASH:
                found.append(rows)
                self.clashes[rows[0]].append(support)
                continue
            self.supports[statement[:3]].append(support)
            for conclusion, also in self._consequences(statement, support):
                self.add(conclusion, support | also)
        self.left |= bool(self.waiting)
        return found

    def _consequences(
        self, statement: Statement, support: Support
    ) -> Iterator[tuple[Statement, Support]]:
        """Yield what follows from a statement, and the rows that it follows from besides."""
        r, x, y, *chained = statement
        each, none = self.rules.relations[r], frozenset[int]()
        for of, s, turned in self.implied:
            if of == r:
                # What a chain implies also follows from a chain of what its steps imply.
                yield (s, *((y, x) if turned else (x, y)), *chained), none
        if each.transitive and x != y:
            yield from self._chains(r, x, y, support, chained=bool(chained))
        if (r, x, y) in self.false:
            yield _CLASH, frozenset([self.false[r, x, y]])
        if each.irreflexive and x == y:
            yield _CLASH, none
        for rival in self._rivals(r, x, y):
            yield from ((_CLASH, also) for also in self.supports.get(rival, ()))

    def _chains(
        self, r: int, x: int, y: int, support: Support, *, chained: bool
    ) -> Iterator[tuple[Statement, Support]]:
        """Yield what follows by transitivity; a chain grows only at its start, to be met once."""
        for z, also in self.starts[r, x]:
            if z not in (x, y):
                yield (r, z, y, 1), also
        if not chained:
            self.starts[r, y].append((x, support))
            for z in self.objects[r, y]:
                if z not in (x, y):
                    yield from (((r, x, z, 1), also) for also in self.supports[r, y, z])

    def _rivals(self, r: int, x: int, y: int) -> Iterator[Statement]:
        """Yield the statements that are never true together with one."""
        each = self.rules.relations[r]
        for of, s, turned in self.excluded:
            if of == r:
                yield (s, y, x) if turned else (s, x, y)
        if each.functional and x != y:
            yield from ((r, x, z) for z in self.objects[r, x] if z not in (x, y))
        if each.inverse_functional and x != y:
            yield from ((r, z, y) for z in self.subjects[r, y] if z not in (x, y))


def sentence(beliefs: Sequence[Mapping[str, Any]], groups: Sequence[str]) -> str:
    """Return a conflict as a sentence, with the least costly change that resolves it."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for each in beliefs:
        p = "" if each["p_true"] is None else f" ({each['p_true']:.2f})"
        sides[each["believed"]].append(f"{_quoted(each)}{p}")
    true, false = sides[True], sides[False]
    verb = {1: "cannot be true", 2: "cannot both be true"}.get(len(true), "cannot all be true")
    unless = f" while {false[0]} is false" if false else ""
    where = ", ".join(f"{name} {beliefs[0][name]}" for name in groups)
    cheapest = [each for each in beliefs if each["cheapest"]]
    cost = f"cost {cheapest[0]['cost']:.2f}"
    if len(cheapest) == len(beliefs) > 1:
        way = f"change any one of them ({cost} each)"
    else:
        ways = [f"{'drop' if one['believed'] else 'believe'} {_quoted(one)}" for one in cheapest]
        way = f"{' or '.join(ways)} ({cost}{' each' if len(ways) > 1 else ''})"
    return f"{f'{where}: ' if where else ''}{_joined(true)} {verb}{unless}: {way}"


def _quoted(statement: Mapping[str, Any]) -> str:
    return f'"{statement["subject"]} {statement["relation"]} {statement["object"]}"'


def _joined(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
