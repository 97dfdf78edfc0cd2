"""The section of the assumptions probe (Weir et al. 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import UNDEFINED, interval, percent, score
from tacit.probes.assumptions.retrieved import reads_sentences, shown_probability
from tacit.probes.figures.charts import Look
from tacit.report import assumptions_tables
from tacit.report.charts import figure
from tacit.report.content import Mark, Section, Tile
from tacit.report.obtained import obtained

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.report.content import Figure
    from tacit.runs.reading import Run

_NUMBERS = (1, 4, 10)  # properties stated, of the first screen
_ORDER = "top-decreasing"
_RELATIONS = ("is", "is a", "has", "has a", "made of")


def section(runs: Sequence[Run], look: Look | None = None) -> Section:
    """What the assumptions probe found.

    Args:
        runs: Runs of the probe.
        look: The palette.
    """
    concepts = {
        name
        for run in runs
        for table in ("retrieval", "elicitation")
        for name in run.tables[table]["concept"].unique()
    }
    return Section(
        id="assumptions",
        title="Assumptions",
        question="Does the model share the assumptions that people have about a concept?",
        said={run.name: (*_said(run), obtained(run)) for run in runs},
        tiles=tuple(_tiles(runs)),
        blocks=(*_figures(runs, look or Look()), *assumptions_tables.tables(runs)),
        keys={"relation": _RELATIONS, "concept": tuple(sorted(concepts))},
        notes=tuple(_notes(runs)),
    )


def _main(run: Run) -> list[dict[str, Any]]:
    """Retrieval in the order of Figure 2, over all categories, by wording and number."""
    table = run.tables["retrieval_by_number"]
    rows = table.filter(table["category"].is_null() & (table["order"] == _ORDER))
    return rows.sort("n", maintain_order=True).to_dicts()


def _elicited(run: Run) -> list[dict[str, Any]]:
    """Elicitation as the paper asks it, over the whole vocabulary, by relation."""
    rows = run.tables["elicitation_by_relation"].filter(preface=True, over="vocabulary")
    return rows.to_dicts()


def _said(run: Run) -> Iterator[str]:
    """What was asked and what came out."""
    summary, rows = run.summary, _main(run)
    yield (
        f"It was asked {several(summary['retrieval_prompts'], 'time')} which concept has the "
        f"properties that people named ({several(summary['concepts'], 'concept')}, 1 to 10 "
        f"properties), and {several(summary['elicitation_prompts'], 'time')} what people say of a "
        "concept."
    )
    for wording in dict.fromkeys(row["wording"] for row in rows):
        told = [
            f"{_row(row, 'mrr', score)} from {several(row['n'], 'property', 'properties')}"
            for row in rows
            if row["wording"] == wording and row["n"] in _NUMBERS and row["mrr"] is not None
        ]
        if told:
            yield (
                "It finds the concept with a mean reciprocal rank (1 is always first) of "
                f"{_listed(told)}, wording {wording}, {_among(rows, wording)}."
            )
    mean = [
        f"{score(row['map'])} for \u201c{row['relation']}\u201d"
        for row in _elicited(run)
        if row["map"] is not None
    ]
    if mean:
        yield (
            "People's words stand in its ranking of what follows with a mean average precision of "
            f"{_listed(mean)}."
        )


def _among(rows: Sequence[Mapping[str, Any]], wording: str) -> str:
    """How many candidates the ranks of a wording are among, and their chance level."""
    row = next(r for r in rows if r["wording"] == wording and r["candidates"] is not None)
    words = several(row["candidates"], "candidate word")
    return f"among {words}, where chance gives {score(row['chance_mrr'])}"


def _row(row: Mapping[str, Any], name: str, how: Any) -> str:  # noqa: ANN401 - a way to write
    ends = row[f"{name}_low"], row[f"{name}_high"]
    told = interval(*ends, how) if None not in ends else ""
    return f"{how(row[name])} ({told})" if told else str(how(row[name]))


def _listed(told: Sequence[str]) -> str:
    *others, last = told
    return f"{', '.join(others)} and {last}" if others else last


def _tiles(runs: Sequence[Run]) -> Iterator[Tile]:
    whole = any(
        reads_sentences(run.summary.get("kind"), wording)
        for run in runs
        for wording in run.summary["wordings"]
    )
    among = "; of a causal model in the wording sentence: among the candidates" if whole else ""
    for name, label, about in (
        (
            "mrr",
            "Finding the concept: mean reciprocal rank",
            (
                "by how many of its properties are stated; 1: always the first of all candidates; "
                "tick: chance"
            ),
        ),
        (
            "probability",
            "Finding the concept: probability",
            f"of the right word, by how many properties are stated{among}",
        ),
    ):
        marks = tuple(
            _mark(
                row,
                _shown(run, row) if name == "probability" else name,
                _called(run, row, several(row["n"], "property", "properties"), runs),
            )
            for run in runs
            for row in _main(run)
            if row["n"] in _NUMBERS
        )
        yield Tile(label, about, marks)
    marks = tuple(
        _mark(row, "map", _called(run, {}, f"\u201c{row['relation']}\u201d", runs))
        for run in runs
        for row in _elicited(run)
    )
    yield Tile(
        "Naming properties: mean average precision",
        "by relation; 1: people's words stand before all others; tick: chance",
        marks,
    )


def _shown(run: Run, row: Mapping[str, Any]) -> str:
    """Which probability of a row is shown."""
    return shown_probability(run.summary.get("kind"), row["wording"])


def _called(run: Run, row: Mapping[str, Any], of: str, runs: Sequence[Run]) -> str:
    """What a mark is of: the model where there are several, the wording likewise."""
    wording = row.get("wording") if len(run.summary["wordings"]) > 1 else None
    model = run.name if len(runs) > 1 else None
    return ", ".join(part for part in (model, wording, of) if part)


def _mark(row: Mapping[str, Any], name: str, called: str) -> Mark:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    how = percent if name in {"probability", "renormalised"} else score
    n = (
        several(row["concepts"], "concept")
        if "concepts" in row
        else several(row["prompts"], "prompt")
    )
    about, chance = f"{interval(low, high, how)}, n = {n}", row.get(f"chance_{name}")
    if chance is not None:
        among = several(row["candidates"], "candidate")
        about += f", chance {score(chance)} among {among}"
    return Mark(called, how(value), about, value, low, high, chance)


def _figures(runs: Sequence[Run], look: Look) -> Iterator[Figure]:
    from tacit.probes.assumptions.figures import FIGURES
    from tacit.probes.figures.panels import Shown
    from tacit.probes.figures.writing import charts

    shown = Shown({run.name: run.findings for run in runs}, {}, look)
    for spec, chart in charts(FIGURES, shown):
        yield figure("assumptions", spec, chart, look.colours)


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    made = runs[0].summary["intervals"]
    yield (
        f"Intervals hold {made['level']:.0%}: {made['method']} that resamples "
        f"{made['clusters']}s, {made['resamples']:,} times, seed {made['seed']}."
    )
    yield (
        "A rank is pessimistic: of candidates that are tied with the right word, all stand before "
        "it. A word that the model cannot write is missing and left out of means; how many are, "
        f"the tables say. A mean of nothing is {UNDEFINED}, not 0."
    )
