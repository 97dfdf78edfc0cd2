"""What a reader sees first of a run: the verdict and the main figures beside chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tacit.english import several
from tacit.findings.block import Block, Entries, sentence, sure_ends
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Measured, TopAnswer, Verdict, verdict
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.baselines import RANDOM
from tacit.probes.consistency.controls import IRRELEVANT
from tacit.statistics.lift import FEWEST_CLUSTERS

_SIGNIFICANT = 0.05


def block(findings: Findings) -> Block:
    summary, cell = findings.summary, Entries(findings, TABLES)
    verdict = Verdict.of(summary["verdict"])
    row = findings.tables["background_answers"].row(0, named=True)
    asked, main = "", []
    if row["n"]:
        asked = (
            f"Says yes to {percent(row['yes_facts'])} of {several(row['facts'], 'fact')} and "
            f"{percent(row['yes_negatives'])} of {several(row['n'] - row['facts'], 'negative')}."
        )
    if area := cell("background_answers", "auroc"):
        main.append(f"AUROC of the yes-margin {area} (chance {score(1 / 2)})")
    if right := cell("anchor_accuracy", "value", of="all"):
        guess = cell("anchor_baselines", "accuracy", baseline=RANDOM)
        questions = several(right.row["n"], "question")
        main.append(f"{right} of {questions} answered correctly (chance {guess})")
    lift = cell("adjusted", "lift_adjusted")
    if lift and verdict.shows_something:
        main.append(f"adjusted lift of the background score {lift} (chance {score(0.0)})")
    control = verdict.shows_something and cell("controls", "lift_adjusted", background=IRRELEVANT)
    return Block(
        verdict,
        asked,
        sentence(main),
        f"Control: the background of other questions has a lift of {control}." if control else None,
        _missing(summary),
    )


def _missing(summary: Mapping[str, Any]) -> str | None:
    """Return what has no answer or score, and the facts that the cap leaves out."""
    lacking = {
        "background question": summary["missing_questions"],
        "anchor question": summary["without_answer"],
    }
    counts = [several(n, name) for name, n in lacking.items() if n]
    unscored = summary.get("inputs_without_score", 0)
    if cut := summary.get("facts_beyond_cap"):
        counts.append(f"{several(cut, 'fact')} beyond the cap")
    words = f"{unscored:,} of {several(summary.get('inputs', 0), 'answer word')} without a score"
    if not counts and not unscored:
        return None
    return f"Missing: {'; '.join([*counts, *([words] if unscored else [])])}."


def verdict_of(answers: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> Verdict:
    cell = Entries(Findings(answers, tables), TABLES)
    lift = _lift(tables["adjusted"].row(0, named=True))
    names = {"auroc": "the AUROC of the yes-margin", "balanced_accuracy": "the balanced accuracy"}
    area, balanced = (
        Measured(words, *sure_ends(cell("background_answers", name)), 0.5)
        for name, words in names.items()
    )
    return verdict(
        TopAnswer.of("yes" if yes else "no" for yes in answers["yes"]),
        tables["consistency"]["clusters"].item(),
        FEWEST_CLUSTERS,
        (lift, area),
        noun=("concept",),
        also=(balanced,),
        control=_control(lift, tables["controls"]),
    )


def _lift(row: Mapping[str, Any]) -> Measured:
    """Return the adjusted lift; the highest lift has no interval, but a p-value."""
    value, low, high = (row[f"lift_adjusted{end}"] for end in ("", "_low", "_high"))
    if value is not None and value >= 1 and row["p_adjusted"] is not None:
        high = 1.0
        low = 1.0 if row["p_adjusted"] <= _SIGNIFICANT else 0.0
    why = row["no_adjusted_interval"] and f"no interval of the lift: {row['no_adjusted_interval']}"
    return Measured("the adjusted lift", low, high, 0.0, scale=2.0, why=why)


def _control(lift: Measured, controls: pl.DataFrame) -> str | None:
    """Return a clause if irrelevant background predicts the answers as well."""
    (other,) = controls.filter(background=IRRELEVANT)["lift_adjusted"]
    if other is None or lift.low is None or lift.low > other:
        return None
    return f"irrelevant background has an adjusted lift of {score(other)}, within the interval"
