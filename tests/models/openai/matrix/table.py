"""The matrix as a table: ``python -m tests.models.openai.matrix.table``.

Each fault, each road and each start comes to an outcome. ``--csv`` prints a line for each with all
details; ``--only WORD`` takes the faults with that word; ``--road`` and ``--start`` take some.
Faults that begin with the 60th request of all, ``--start 60th``, are left out unless asked for: the
preflight is about so long.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import ROADS, STARTS, USUAL
from tests.models.openai.matrix.faults import FAULTS
from tests.models.openai.matrix.outcomes import ACCEPTED, honest, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.models.openai.matrix.fault import Fault, Road, Start
    from tests.models.openai.matrix.outcomes import Outcome

    Case = tuple[Fault, Road, Start]


def cases(
    faults: Sequence[Fault] = FAULTS,
    roads: Sequence[Road] = ROADS,
    starts: Sequence[Start] = USUAL,
) -> Iterator[Case]:
    """Each fault on each road that it applies to, from each of its starts."""
    for fault in faults:
        for road in roads:
            for start in starts:
                if road in fault.roads and start in fault.starts:
                    yield fault, road, start


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table, and what is to be mended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--road", action="append", choices=ROADS)
    parser.add_argument("--start", action="append", choices=STARTS)
    given = parser.parse_args(arguments)
    faults = [fault for fault in FAULTS if given.only in fault.name]
    began = time.monotonic()
    found: list[tuple[Case, Outcome]] = []
    for case in cases(faults, given.road or ROADS, given.start or USUAL):
        found.append((case, outcome(*case)))
        sys.stderr.write(f"{_named(case)}: {found[-1][1].kind}\n")
    print_found = _print_csv if given.csv else _print_table
    print_found(found)
    if not given.csv:
        _print_counts(found, time.monotonic() - began)
        _print_hidden(faults)


def _named(case: Case) -> str:
    fault, road, start = case
    return f"{fault.name} | {road} | {start}"


def _print_csv(found: Sequence[tuple[Case, Outcome]]) -> None:
    writer = csv.writer(sys.stdout)
    header = "fault,road,start,outcome,visible,wrong,missing,requests,preflight,detail"
    writer.writerow(header.split(","))
    for (fault, road, start), one in found:
        visible = fault.hides(road, start) is None
        row = (fault.name, road, start, one.kind, visible, one.wrong, one.missing, *one.requests)
        writer.writerow([*row, one.detail])


def _print_table(found: Sequence[tuple[Case, Outcome]]) -> None:
    known = {(fault.name, road, start): one for (fault, road, start), one in found}
    hidden = {
        (fault.name, road, start): fault.hides(road, start) for (fault, road, start), _ in found
    }
    columns = list(dict.fromkeys((road, start) for (_, road, start), _ in found))
    sys.stdout.write(f"| fault | {' | '.join(f'{r}, {s}' for r, s in columns)} |\n")
    sys.stdout.write(f"|---|{'---|' * len(columns)}\n")
    for name in dict.fromkeys(fault.name for (fault, _, _), _ in found):
        cells = []
        for column in columns:
            one = known.get((name, *column))
            cell = "" if one is None else _entry(one)
            cells.append(f"({cell})" if hidden.get((name, *column)) else cell)
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
    sys.stdout.write("\nIn brackets: what cannot be seen from outside.\n\n")


def _entry(one: Outcome) -> str:
    number = one.wrong or one.missing
    kind = one.kind if one.kind in ACCEPTED else one.kind.upper()
    return f"{kind} {number}" if number else kind


def _print_counts(found: Sequence[tuple[Case, Outcome]], seconds: float) -> None:
    faults = {fault.name for (fault, _, _), _ in found}
    sys.stdout.write(f"{len(faults)} faults, {len(found)} runs, {seconds:.0f} s\n")
    for road in dict.fromkeys(road for (_, road, _), _ in found):
        base = honest(road)
        sys.stdout.write(f"honest, {road}: {base.kind} {base.detail} requests {base.requests}\n")
    for visible in (True, False):
        some = [(case, one) for case, one in found if (case[0].hides(*case[1:]) is None) is visible]
        counts = Counter(one.kind for _, one in some)
        listed = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
        word = "visible" if visible else "not visible"
        sys.stdout.write(f"{word}: {listed}\n")
        for case, one in some:
            if one.kind not in ACCEPTED:
                why = case[0].hides(*case[1:])
                told = f" ({why})" if why else ""
                sys.stdout.write(f"- {_named(case)}: {one.kind}, {one.wrong}{told}\n")


def _print_hidden(faults: Sequence[Fault]) -> None:
    sys.stdout.write("\nWhat cannot be seen from outside:\n")
    for fault in faults:
        for one in fault.hidden:
            roads = ", ".join(road for road in one.roads if road in fault.roads)
            starts = ", ".join(start for start in one.starts if start in fault.starts)
            if roads:
                sys.stdout.write(f"- {fault.name} ({roads}; {starts}): {one.why}\n")


if __name__ == "__main__":
    main()
