"""The section of the parts probe (Gu et al. 2023): accuracy, contradictions, repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import estimate, interval, percent, points
from tacit.probes.figures.charts import Look
from tacit.probes.parts.accuracy import ASYMMETRIC
from tacit.report import parts_tables
from tacit.report.charts import figure
from tacit.report.content import Mark, Section, Tile
from tacit.report.graphs import parts_graphs
from tacit.report.obtained import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.report.content import Block, Figure
    from tacit.runs.reading import Run

KINDS = {
    "symmetric": "a mutual relation is believed one way round only, "
    "as in \u201cx next to y\u201d but not \u201cy next to x\u201d",
    "asymmetric": "a one-way relation is believed both ways round, "
    "as in \u201cx above y\u201d and \u201cy above x\u201d",
    "inverse": "a relation is believed in one wording only, "
    "as in \u201cx above y\u201d but not \u201cy below x\u201d",
    "transitive": "two steps are believed and what follows is not, "
    "as in \u201cx above y\u201d and \u201cy above z\u201d but not \u201cx above z\u201d",
    "implies": "a relation is believed and one that it implies is not",
    "excludes": "two relations are believed that exclude one another",
}


def section(runs: Sequence[Run], look: Look | None = None) -> Section:
    """What the parts probe found.

    Args:
        runs: Runs of the probe.
        look: Palette, and the repaired world that stands beside the beliefs.
    """
    from tacit.coherence.ontology import Ontology

    look = look or Look()
    ontology = Ontology.load("parts")
    together = parts_tables.together(runs)
    pictures = parts_graphs(runs, ontology, look)
    blocks: list[Block] = [*([pictures] if pictures else []), *_figures(runs, look)]
    blocks += parts_tables.tables(runs, together)
    beliefs = together["beliefs"]
    drawn = together["accuracy_by_relation"]
    relations = drawn["relation"] if not drawn.is_empty() else beliefs["relation"]
    return Section(
        id="parts",
        title="Parts",
        question="Is the model's picture of everyday things free of contradictions, and does "
        "repairing it make it truer?",
        said={run.name: (*_said(run.summary), obtained(run)) for run in runs},
        tiles=tuple(_tiles(runs, look)),
        blocks=tuple(blocks),
        keys={
            "relation": tuple(sorted(relations.unique())),
            "thing": tuple(sorted(beliefs["thing"].unique())),
        },
        notes=tuple(_notes(runs)),
    )


def _said(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was asked and what came out."""
    asked = (
        f"It was asked {several(summary['questions'], 'true-or-false question')} about how the "
        f"parts of {several(summary['things'], 'everyday thing')} lie to one another "
        f"({several(summary['drawings'], 'drawing')})"
    )
    yield f"{asked} and judged {percent(summary['true_share'])} of them true."
    before, after = _accuracy(summary, "before"), _accuracy(summary, "paper")
    if before and after:
        yield (
            f"It agrees with people's drawings on {estimate(before, 'accuracy')} of "
            f"{several(before['n'], 'statement')}; once its contradictions are repaired, on "
            f"{estimate(after, 'accuracy')}."
        )
        yield from _baselines_said(summary)
    micro = _violation(summary, "micro")
    if micro and _decided(micro):
        yield (
            f"Of {several(_decided(micro), 'rule that applies', 'rules that apply')} to what "
            f"it believes, it breaks {estimate(micro, 'rate')}. {_worst(summary)}"
        )
    if micro and micro["undecided"]:
        rules = several(micro["undecided"], "rule")
        yield f"Undecided, because a statement has no belief: {rules}."
    if summary["missing_statements"]:
        yield (
            f"Left out, without a belief: {several(summary['missing_statements'], 'statement')}."
        )


def _baselines_said(summary: Mapping[str, Any]) -> Iterator[str]:
    """What accuracy and the gain of repair have to be compared with."""
    always = _row(summary["accuracy_baselines"], set="ParRoT", baseline="always true")
    without = _row(summary["accuracy_gain"], set=ASYMMETRIC, objective="paper", part="whole")
    if always:
        yield f"Always saying true is right on {percent(always['accuracy'])}."
    if without and without["gain"] is not None:
        yield (
            "Without connects and next to, which repair makes true wherever it can, repair "
            f"changes accuracy by {estimate(without, 'gain', points)}."
        )


def _row(rows: Sequence[Mapping[str, Any]], **where: str) -> Mapping[str, Any] | None:
    return next((r for r in rows if all(r[name] == value for name, value in where.items())), None)


def _worst(summary: Mapping[str, Any]) -> str:
    """The kind of contradiction that there is the most of."""
    rows = [
        row
        for row in summary["violation"]
        if row["world"] == "before" and row["constraint"] in KINDS and row["violated"]
    ]
    if not rows:
        return "It contradicts itself nowhere."
    worst = max(rows, key=lambda row: row["violated"])
    return (
        f"The most common contradiction, {several(worst['violated'], 'time')} of "
        f"{_decided(worst):,}: {KINDS[worst['constraint']]}."
    )


def _decided(row: Mapping[str, Any]) -> int:
    """How many of the applicable constraints are violated or kept."""
    return int(row["applicable"] - row["undecided"])


def _accuracy(summary: Mapping[str, Any], world: str) -> Mapping[str, Any] | None:
    return _row(summary["accuracy"], set="ParRoT", gold="all", world=world)


def _violation(summary: Mapping[str, Any], constraint: str) -> Mapping[str, Any] | None:
    return _row(summary["violation"], constraint=constraint, world="before")


def _tiles(runs: Sequence[Run], look: Look) -> Iterator[Tile]:
    for world, when in (("before", "before repair"), (look.objective, "after repair")):
        marks = [
            _mark(run.name, row, "accuracy", several(row["n"], "statement"))
            for run in runs
            if (row := _accuracy(run.summary, world))
        ]
        if marks:
            yield Tile(
                f"Accuracy {when}", "statements on which it agrees with the drawings", tuple(marks)
            )
    marks = [
        _mark(run.name, row, "rate", several(_decided(row), "rule that applies", "rules"))
        for run in runs
        if (row := _violation(run.summary, "micro"))
    ]
    yield Tile("Rules broken", "of those that apply to its beliefs; less is better", tuple(marks))


def _mark(model: str, row: Mapping[str, Any], name: str, n: str) -> Mark:
    value, low, high = row[name], row["low"], row["high"]
    return Mark(model, percent(value), f"{interval(low, high)}, n = {n}", value, low, high)


def _figures(runs: Sequence[Run], look: Look) -> Iterator[Figure]:
    from tacit.probes.figures.panels import Shown
    from tacit.probes.figures.writing import charts
    from tacit.probes.parts.figures import FIGURES

    shown = Shown({run.name: run.findings for run in runs}, {}, look)
    for spec, chart in charts(FIGURES, shown):
        yield figure("parts", spec, chart, look.colours)


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    made = runs[0].summary["intervals"]
    yield (
        f"Intervals hold {made['level']:.0%}: {made['method']} that resamples things, "
        f"{made['resamples']:,} times, seed {made['seed']}. With one thing alone there is none."
    )
    yield (
        "A belief is P(true)/(P(true) + P(false)); a statement is believed when that is above one "
        "half. After repair is the best consistent world under the paper's objective. A share of "
        "nothing is undefined, not 0."
    )
