"""The section of the consistency probe (Sahu et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import number_of, several
from tacit.findings.numbers import UNDEFINED, estimate, interval, percent, points, score
from tacit.probes.figures.charts import Look
from tacit.report import consistency_tables
from tacit.report.charts import figure
from tacit.report.content import Mark, Section, Tile
from tacit.report.obtained import obtained
from tacit.report.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tacit.report.content import Figure
    from tacit.runs.reading import Run


def section(runs: Sequence[Run], look: Look | None = None) -> Section:
    """What the consistency probe found.

    Args:
        runs: Runs of the probe.
        look: The palette.
    """
    look = look or Look()
    tables = consistency_tables.tables(runs)
    relations = {name for run in runs for name in run.tables["background_by_relation"]["relation"]}
    concepts = {name for run in runs for name in run.tables["consistency_by_concept"]["name"]}
    return Section(
        id="consistency",
        title="Consistency",
        question="Does knowing the background of a question predict answering it right?",
        said={run.name: (*_said(run.summary), obtained(run)) for run in runs},
        tiles=tuple(_tiles(runs)),
        blocks=(*_figures(runs, look), *tables),
        keys={"relation": tuple(sorted(relations)), "concept": tuple(sorted(concepts))},
        notes=tuple(_notes(runs)),
    )


def _said(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was asked and what came out."""
    yield (
        f"It was asked {several(summary['anchors'], 'multiple-choice question')} and, as yes/no "
        f"questions, the {several(summary['facts'], 'fact')} that lie behind them, and their "
        f"negatives ({several(summary['prompts'], 'prompt')})."
    )
    answered = summary["anchor_accuracy"][0]
    known = summary["background_score"]
    yield (
        f"It answers {estimate(answered)} of {several(answered['n'], 'question')} right. Its "
        f"background score, the mean over {several(known['relations'], 'relation')}, is "
        f"{estimate(known)}; one half is what always giving the same answer gets."
    )
    yield verdict(summary)
    yield _relevant(summary["relevance"])
    if "clear_questions" in summary:
        clear = summary["clear_questions"]
        yield (
            f"Of {several(summary['questions'], 'background question')}, {clear:,} "
            f"{number_of(clear, 'has', 'have')} "
            "a share of yes whose 95 % interval lies on one side of one half."
        )
    yield from _left_out(summary)


def _left_out(summary: Mapping[str, Any]) -> Iterator[str]:
    """What has no score, and what has no answer for it; earlier runs do not count all of it."""
    words, answers = (
        summary.get(name, 0) for name in ("inputs_without_score", "anchor_inputs_without_score")
    )
    if words:
        yield (
            f"{words:,} of {several(summary['inputs'], 'answer word')} of background questions "
            f"{number_of(words, 'has', 'have')} no score."
        )
    if answers:
        of = several(summary["anchor_inputs"], "answer")
        yield f"{answers:,} of {of} of questions {number_of(answers, 'has', 'have')} no score."
    if summary["missing_questions"] or summary["without_answer"]:
        facts, negatives = (
            summary.get(name) for name in ("facts_without_answer", "negatives_without_answer")
        )
        of = (
            ""
            if facts is None or negatives is None
            else f" (of {several(facts, 'fact')} and {several(negatives, 'negative')})"
        )
        yield (
            f"{several(summary['missing_questions'], 'background question')}{of} and "
            f"{several(summary['without_answer'], 'question')} have no answer and are left out."
        )
    if summary.get("without_margin"):
        without = summary["without_margin"]
        yield (
            f"{several(without, 'background question has', 'background questions have')} an "
            "answer, but not by how much: the best word of the other side has no score."
        )


def _relevant(row: Mapping[str, Any]) -> str:
    """The relevance of a fact, with the counts of facts on either side."""
    right, wrong = several(row["facts_right"], "fact"), f"{row['facts_wrong']:,}"
    sides = f"{right} answered right and {wrong} answered wrong"
    if row["relevance"] is None:
        return f"The relevance of a fact is undefined: {sides}."
    shown = estimate({**row, "value": row["relevance"]}, "value", points)
    without = f", no interval: {row['no_interval']}" if row["no_interval"] else ""
    return f"The relevance of a fact is {shown} ({sides}{without})."


def _tiles(runs: Sequence[Run]) -> Iterator[Tile]:
    all_found = [(run.name, run.summary["consistency"]) for run in runs]
    yield Tile(
        "Conceptual consistency (CC)",
        "average precision of the background score; tick: chance",
        tuple(_plain(name, found) for name, found in all_found),
    )
    yield Tile(
        "Lift above chance",
        "0 is chance, 1 perfect; tick: 0",
        tuple(_estimated(name, found, "lift", (-1.0, 1.0), 0.0) for name, found in all_found),
    )
    yield Tile(
        "AUROC",
        "one half is chance (tick)",
        tuple(_estimated(name, found, "auroc", (0.0, 1.0), 0.5) for name, found in all_found),
    )
    yield Tile(
        "Background score",
        "facts and negatives answered right; tick: always the same answer",
        tuple(
            _share(run.name, run.summary["background_score"], "relations", "relation", 0.5)
            for run in runs
        ),
    )
    yield Tile(
        "Questions right",
        "accuracy on all answered questions",
        tuple(
            _share(run.name, run.summary["anchor_accuracy"][0], "n", "question", None)
            for run in runs
        ),
    )


def _plain(model: str, found: Mapping[str, Any]) -> Mark:
    value, chance = found["consistency"], found["chance"]
    n = several(found["n"], "question")
    about = f"chance {score(chance)}, n = {n}; its interval is the lift's"
    return Mark(model, score(value), about, value, reference=chance)


def _estimated(
    model: str, found: Mapping[str, Any], name: str, ends: tuple[float, float], chance: float
) -> Mark:
    value, low, high = found[name], found[f"{name}_low"], found[f"{name}_high"]
    n = several(found["n"], "question")

    def at(number: float | None) -> float | None:
        # A lift may lie far below -1; what is beyond the scale stands at its end.
        least, most = ends
        return None if number is None else min(1.0, max(0.0, (number - least) / (most - least)))

    about = f"{interval(low, high, score)}, n = {n}"
    return Mark(model, score(value), about, at(value), at(low), at(high), at(chance))


def _share(model: str, row: Mapping[str, Any], n: str, of: str, chance: float | None) -> Mark:
    about = f"{interval(row['low'], row['high'])}, n = {several(row[n], of)}"
    value = row["value"]
    return Mark(model, percent(value), about, value, row["low"], row["high"], chance)


def _figures(runs: Sequence[Run], look: Look) -> Iterator[Figure]:
    from tacit.probes.consistency.figures import FIGURES
    from tacit.probes.figures.panels import Shown
    from tacit.probes.figures.writing import charts

    sizes = {run.name: run.model.get("parameters") for run in runs}
    shown = Shown({run.name: run.findings for run in runs}, sizes, look)
    for spec, chart in charts(FIGURES, shown):
        yield figure("consistency", spec, chart, look.colours)


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    from tacit.knowledge.counts import counts_in_words

    extracted = dict.fromkeys(
        sentence
        for run in runs
        if "question_facts" in run.summary
        for sentence in counts_in_words(run.summary)
    )
    yield from (f"{sentence}." for sentence in extracted)
    made = runs[0].summary["intervals"]
    of: Callable[[str], str] = lambda kind: _made(made[kind])  # noqa: E731 - one line
    yield (
        f"Intervals: of lift and AUROC, {of('consistency')}, the p-value from the same "
        f"permutations; of relevance, {of('relevance')}, and none with fewer than "
        f"{made['relevance']['least_facts']} facts right or wrong; of the background score, "
        f"{made['background_score']['method']} over {made['background_score']['over']}; of "
        f"accuracies, {of('others')}."
    )
    yield (
        "The chance level is the mean average precision over all permutations, exact. Lift is "
        "(consistency \N{MINUS SIGN} chance)/(1 \N{MINUS SIGN} chance). Its interval ends at the "
        "lowest lift that is possible; one that includes 0 and is wider than from chance to "
        f"perfect is not shown. A figure of nothing is {UNDEFINED}, not 0."
    )


def _made(how: Mapping[str, Any]) -> str:
    times = how.get("permutations", how.get("resamples"))
    return (
        f"{how['method']} ({times:,}, seed {how['seed']}, {how['level']:.0%}), clustered by "
        f"{how['clusters']}"
    )
