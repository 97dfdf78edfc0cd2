"""Write the result of a gate as Markdown, for a pull request, and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from tacit.findings.numbers import score
from tacit.outputs import OutputKind
from tacit.present.tables import markdown as table
from tacit.runs.gate.decision import GateDecision
from tacit.runs.gate.gate import Gate, changed, interval, outlook, titled

_MOST_LISTED = 20
_MARK = "## Tacit: gate "
_SUITES = "Tacit gate"
_HEADS = {
    **dict.fromkeys(("verdict", "model", "measure"), False),
    **dict.fromkeys(("base", "new", "change [bounds]"), True),
    **dict.fromkeys(("limit", ""), False),
}
"""The headings of the decisions, and whether their columns contain numbers."""


def _starting(name: str, start: str) -> OutputKind:
    def is_own(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(start)) == start.encode()

    return OutputKind(name, is_own)


_XML = "<?xml version='1.0' encoding='utf-8'?>\n"
MARKDOWN = _starting("a result of a gate that Tacit wrote", _MARK)
JUNIT = _starting("a result of a gate that Tacit wrote", f'{_XML}<testsuites name="{_SUITES}"')


def markdown(gate: Gate) -> str:
    """Return the verdict, the decisions as a table, and the first answers that flipped."""
    rows = [[*_HEADS], *map(_row, gate.decisions)]
    differing = "\n".join(f"- {line}" for line in gate.differences)
    decided = table(rows, [*_HEADS.values()])
    blocks = [f"{_MARK}{gate.verdict}", gate.basis, decided, differing, *_listed(gate)]
    return "\n\n".join(blocks) + "\n"


def _row(decision: GateDecision) -> list[str]:
    limit = str(decision.limit)
    of_flips = decision.limit.above is not None
    values = ["", ""] if of_flips else [score(value) for value in decision.values]
    name = titled(decision).replace(decision.measure, f"`{decision.measure}`")
    about = [f"**{decision.verdict}**", decision.model, name]
    return [*about, *values, interval(decision), limit, outlook(decision)]


def _listed(gate: Gate) -> Iterator[str]:
    """Yield the first flipped answers and new or healed violations of each changed model."""
    for (model, noun), rows in gate.flipped.items():
        lines = [f"{row['question']}: {row['base']} → {row['new']}" for row in rows.to_dicts()]
        yield from _folded(f"{model}: {noun}s that flipped", lines)
    for model, rows in gate.violations.items():
        for state in ("new", "healed"):
            lines = rows.filter(state=state)["text"].unique(maintain_order=True).to_list()
            yield from _folded(f"{model}: {state} violations", lines)


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        more = [f"- and {len(lines) - _MOST_LISTED:,} more"] * (len(lines) > _MOST_LISTED)
        listed = "\n".join([*(f"- {line}" for line in lines[:_MOST_LISTED]), *more])
        yield f"<details><summary>{title} ({len(lines):,})</summary>\n\n{listed}\n\n</details>"


def junit(gate: Gate) -> str:
    """Return each decision as a test case: a failure, an error (inconclusive), or passed."""
    verdicts = Counter(each.verdict for each in gate.decisions)
    counts = {
        "tests": str(len(gate.decisions)),
        "failures": str(verdicts["failed"]),
        "errors": str(verdicts["inconclusive"]),
    }
    suites = ET.Element("testsuites", {"name": _SUITES, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": f"against {gate.base}", **counts})
    for each in gate.decisions:
        about = {"classname": each.model, "name": each.measure}
        case = ET.SubElement(suite, "testcase", about)
        text, kind = changed(each), {"failed": "failure", "inconclusive": "error"}
        if each.verdict in kind:
            about = {"message": text, "type": each.verdict}
            ET.SubElement(case, kind[each.verdict], about).text = text
        else:
            ET.SubElement(case, "system-out").text = text
    ET.SubElement(suite, "system-out").text = "\n".join(gate.differences)
    ET.indent(suites)
    return _XML + ET.tostring(suites, encoding="unicode") + "\n"
