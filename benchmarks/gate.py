"""How often a gate fails or cannot decide, in simulated comparisons of a run of the parts probe.

Usage: python benchmarks/gate.py RUN

Things are drawn anew in each comparison, and the answers about each get noise, other votes, or
planted changes. The power is that which the gate itself states after a comparison without changes:
its mean, beside how often the changes are then found (failed). Both have a standard error of at
most 1.6 per cent.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

import tacit
from tacit.coherence.beliefs import Beliefs
from tacit.coherence.check import check
from tacit.findings.measure import ratio
from tacit.probes.parts.beliefs import DRAWING, STATEMENT, ontology_of
from tacit.probes.parts.questions import QUESTION
from tacit.runs.gate.decision import VERDICTS, GateDecision, decide
from tacit.runs.gate.flips import PairedAnswers
from tacit.runs.gate.policy import Limit

Floats = NDArray[np.float64]
NOISE = 0.055  # the standard deviation of SmolLM2's log-odds in bfloat16 minus those in float32
MARGIN = 0.25
VOTES = 10
RISE = 0.02  # the planted rise of the violation rate, that by noise included
REPLICATES, COMPARISONS = 200, 1000
VIOLATION, FLIPPED = (0, 1), (2, 3)  # numerators and denominators among the counts


@dataclass(frozen=True)
class Stored:
    """A run's beliefs, and a function that counts violations by thing."""

    beliefs: pl.DataFrame
    questions: pl.DataFrame
    held: Beliefs

    @classmethod
    def read(cls, folder: Path) -> Stored:
        """Read a run."""
        findings = tacit.load_run(folder).findings
        table = findings.tables["beliefs"].select(*STATEMENT, "p_true")
        questions = findings.questions.select(*QUESTION, "p_true").sort(QUESTION)
        return cls(table, questions, Beliefs(table, ontology_of(findings), DRAWING))

    @property
    def log_odds(self) -> Floats:
        """The log-odds of each question."""
        p: Floats = self.questions["p_true"].to_numpy()
        return np.asarray(np.log(p / (1 - p)))

    @property
    def things(self) -> pl.DataFrame:
        """The number of questions about each thing."""
        return self.questions.group_by("thing").len("n").sort("thing")

    @cached_property
    def harmful(self) -> NDArray[np.bool_]:
        """Whether the violation rate rises if only this belief flips."""
        odds, thing = self.log_odds, self.questions["thing"].rank("dense").to_numpy() - 1
        order = self.questions.select(pl.int_range(pl.len()).over("thing")).to_series().to_numpy()
        rises = np.zeros(len(odds), dtype=np.bool_)
        for at in range(order.max() + 1):
            one = order == at
            flipped = sides(self, np.where(one, -odds, odds))
            before, after = self.counts(sides(self, odds), flipped, None)[:, :2]
            rate = before[0].sum() / before[1].sum()
            change = after - before
            rises[one] = (change[0] - rate * change[1])[thing[one]] > 0
        return rises

    def counts(self, before: pl.DataFrame, after: pl.DataFrame, margin: float | None) -> Floats:
        """Return the counts in both runs, shape (runs, columns, things)."""
        answers, things = PairedAnswers.of("statement", before, after), self.things
        share = answers.measure(margin).of(np.eye(things.height))[:, 1]
        differ = answers.flipped.group_by("thing").len("differ")
        each = things.join(differ, on="thing", how="left").fill_null(0)
        n = each["n"].to_numpy()
        found = []
        for at, side in enumerate((before, after)):
            truth = self.beliefs.join(side, on=QUESTION, maintain_order="left")["side"]
            groups = (
                check(self.held, truth)
                .groups.group_by("thing")
                .agg(
                    pl.col("violated").sum(),
                    decided=(pl.col("applicable") - pl.col("undecided")).sum(),
                )
            )
            rows = things.join(groups, on="thing", how="left")
            counted = rows.select("violated", "decided").to_numpy().T
            found.append([*counted, share * n * at, n, each["differ"]])
        return np.array(found, dtype=np.float64)


Make = Callable[[Stored, np.random.Generator], tuple[pl.DataFrame, pl.DataFrame]]


def sides(stored: Stored, odds: Floats) -> pl.DataFrame:
    """The sides of ``Probe.sides`` for log-odds."""
    keys = stored.questions.select(QUESTION)
    return keys.with_columns(side=pl.Series(odds > 0), right=None, log_odds=pl.Series(odds))


def voted(stored: Stored, generator: np.random.Generator) -> pl.DataFrame:
    """The sides of ``Probe.sides`` for sampled votes."""
    yes = generator.binomial(VOTES, stored.questions["p_true"].to_numpy())
    keys = stored.questions.select(QUESTION)
    side = pl.Series(2 * yes > VOTES)
    return keys.with_columns(side=side, right=None, yes=pl.Series(yes), votes=VOTES)


def noisy(noise: float, flips: float | Floats = 0.0) -> Make:
    """Add noise to the log-odds of the second run, and flip beliefs with a probability."""

    def make(stored: Stored, generator: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
        odds = stored.log_odds
        changed = odds + noise * generator.standard_normal(len(odds))
        flipped = generator.random(len(odds)) < flips
        changed[flipped] = -np.sign(odds[flipped]) * (np.abs(odds[flipped]) + 1)
        return sides(stored, odds), sides(stored, changed)

    return make


def other_votes(
    stored: Stored, generator: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two runs' votes from the same beliefs."""
    return voted(stored, generator), voted(stored, generator)


@dataclass(frozen=True)
class Drawn:
    """Counts by replicate, shape (replicates, runs, columns, things)."""

    counts: Floats

    @classmethod
    def of(cls, stored: Stored, make: Make, margin: float | None = None) -> Drawn:
        """Draw replicates."""
        generator = np.random.default_rng(0)
        made = (make(stored, generator) for _ in range(REPLICATES))
        return cls(np.stack([stored.counts(*each, margin) for each in made]))

    @classmethod
    def rising(cls, stored: Stored, noise: float) -> Drawn:
        """Add noise and flip beliefs that make violations, until their rate rises by ``RISE``."""
        least = cls.of(stored, noisy(noise)).change(*VIOLATION)
        share = RISE
        for _ in range(3):
            drawn = cls.of(stored, noisy(noise, np.where(stored.harmful, share, 0.0)))
            share *= (RISE - least) / (drawn.change(*VIOLATION) - least)
        return drawn

    def change(self, over: int, under: int) -> float:
        """The true change: that of all replicates together."""
        totals = self.counts.sum(axis=(0, 3))
        return float(totals[1, over] / totals[1, under] - totals[0, over] / totals[0, under])

    def decisions(self, columns: tuple[int, int], limit: Limit, things: int) -> list[GateDecision]:
        """The decisions on comparisons that draw things, each with the answers of a replicate."""
        generator = np.random.default_rng(1)
        found = []
        for _ in range(COMPARISONS):
            thing = generator.integers(self.counts.shape[3], size=things)
            replicate = generator.integers(REPLICATES, size=things)
            drawn = self.counts[replicate, :, :, thing]
            over, under = (drawn[:, :, column].T for column in columns)
            measure = ratio("measure", np.arange(things), over, under)
            n, flipped = int(drawn[:, 0, 3].sum()), float(drawn[:, 1, 4].sum())
            about = {"measure": "", "model": "", "n": n, "flipped": flipped / n}
            found.append(decide(measure, limit, about=about, candidates=1))
        return found


HEADS = ("answers", "things", "limit", "true", *VERDICTS, "power")


def row(name: str, things: int, limit: Limit, drawn: Drawn, same: Drawn) -> None:
    """Print in per cent how often a gate fails and cannot decide, and what ``same`` states."""
    columns = VIOLATION if limit.above is None else FLIPPED
    found, stated = (each.decisions(columns, limit, things) for each in (drawn, same))
    counts, true = Counter(each.verdict for each in found), drawn.change(*columns)
    percents = [100 * counts[verdict] / COMPARISONS for verdict in VERDICTS]
    percents += [100 * fmean(each.power(true) or 0 for each in stated)]
    cells = [name, str(things), str(limit), f"{100 * true:+.2f}", *(f"{p:.1f}" for p in percents)]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    stored = Stored.read(parser.parse_args().run)
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    noise, votes = Drawn.of(stored, noisy(NOISE), MARGIN), Drawn.of(stored, other_votes)
    one, more = Drawn.of(stored, noisy(0, 0.01)), Drawn.rising(stored, NOISE)
    equal, flips = Drawn(one.counts[:, [0, 0]]), Limit(above=0.5)
    for things in (50, 100, 400):
        for limit in (Limit(rises_by=1.0), flips):
            row("noise", things, limit, noise, noise)
            row("votes", things, limit, votes, votes)
        row("1 % flip", things, flips, one, equal)
        row("noise, rise", things, Limit(rises_by=0.0), more, noise)


if __name__ == "__main__":
    main()
