"""How often intervals of the lift include the true one, and how often p-values are small by chance.

python benchmarks/lift_intervals.py --simulations 2000 --tables clusters

Prints Markdown tables. ``clusters``: false alarms and coverage where the background score has
nothing to do with correctness, by the size of clusters. ``methods``: seven kinds of interval.
``smallest``: the lift that so many anchors could show. Anchors have 1 to 12 pairs of facts each,
their background score is the mean of two accuracies, and 20, 40 or 60 % of them are answered right,
in turns. Samples in which all anchors are right, or none, are drawn again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from tacit.statistics import Estimate
from tacit.statistics.influence import of_average_precision
from tacit.statistics.lift import RankedRows, auroc_of, lift_of, measure_lift
from tacit.statistics.permutation import Permutations, p_value
from tacit.statistics.ranking import (
    auroc,
    average_precision,
    average_precisions,
    chance_level,
    chance_levels,
    lift,
    summed,
)

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[float, float]

ACCURACIES = (0.2, 0.4, 0.6)
SIZES = (28, 100, 300)
DRAWS = 1000
# Permutations of a sample in the table of clusters; the test's level is exact with 399 too.
FEWER = 399
LARGE = 1_000_000
TAILS = (0.025, 0.975)
CHOSEN = "studentised permutations"
OTHER = "AUROC, the same way"


@dataclass(frozen=True)
class Population:
    """How anchors come to be right.

    Args:
        name: What the table calls it.
        slope: What one standard deviation of background knowledge adds to the log-odds of being
            right.
        shared: The standard deviation of what a cluster's anchors share of these log-odds.
        size: How many anchors a cluster has; 0 for 1 to 5, most often 1.
        known: The share of the variance of knowledge that is between clusters.
    """

    name: str
    slope: float
    shared: float = 0.0
    size: int = 0
    known: float = 0.5

    def draw(
        self, n: int, accuracy: float, random: np.random.Generator
    ) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int64]]:
        """Whether each anchor is right, its background score, and its cluster."""
        sizes = self.size or random.choice(5, size=n, p=(0.55, 0.2, 0.12, 0.08, 0.05)) + 1
        cluster = np.repeat(np.arange(n), sizes)[:n]
        between, within = random.normal(size=n)[cluster], random.normal(size=n)
        knowledge = self.known**0.5 * between + (1 - self.known) ** 0.5 * within
        facts = np.minimum(random.geometric(0.3, size=n), 12)
        positive = random.binomial(facts, expit(0.9 + 0.8 * knowledge))
        negative = random.binomial(facts, expit(0.1 + 0.8 * knowledge))
        odds = (
            logit(accuracy) + self.slope * knowledge + self.shared * random.normal(size=n)[cluster]
        )
        return random.random(n) < expit(odds), (positive + negative) / (2 * facts), cluster


POPULATIONS = (
    Population("independent", 0.0),
    Population("independent, clustered", 0.0, shared=1.5),
    Population("weakly dependent", 0.5),
    Population("strongly dependent", 1.2),
)
CLUSTERS = tuple(
    (Population(name, 0.0, shared=shared, size=size, known=known), n)
    for name, shared, size, known, sizes in (
        ("1 to 5", 1.5, 0, 0.5, (28, 100, 300)),
        ("5, strongly dependent", 3.0, 5, 0.9, (100, 300)),
        ("10", 1.5, 10, 0.5, (100, 300, 1000)),
        ("10, score strongly clustered", 1.5, 10, 0.9, (300,)),
        ("20", 1.5, 20, 0.5, (300, 1000)),
        ("20, score strongly clustered", 1.5, 20, 0.9, (300,)),
    )
    for n in sizes
)


@dataclass(frozen=True)
class Trial:
    """One sample: its p-value and each method's interval, None where it has none."""

    p: float
    intervals: dict[str, Ends | None]


def undecided(
    population: Population, n: int, accuracy: float, random: np.random.Generator
) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int64]]:
    """A sample in which some anchors are right and some wrong."""
    drawn = population.draw(n, accuracy, random)
    while drawn[0].all() or not drawn[0].any():
        drawn = population.draw(n, accuracy, random)
    return drawn


def trial(population: Population, n: int, accuracy: float, random: np.random.Generator) -> Trial:
    """Draw a sample and make every interval of it."""
    right, score, cluster = undecided(population, n, accuracy, random)
    how = Permutations(DRAWS, seed=int(random.integers(2**32)))
    sample = RankedRows.of(right, score, cluster)
    of_lift, of_area = sample.permuted(how, sample.log_lifts, sample.log_odds)
    precision, chance = average_precision(right, score), chance_level(right, score)
    value, area = lift(precision, chance), auroc(right, score)
    if precision is None or chance is None or value is None or area is None:
        raise ValueError("some anchors are right and some wrong, so all is defined")
    made = resampled(sample, value, random)
    low, high = np.quantile((permuted_precision(sample, how) - chance) / (1 - chance), TAILS)
    made["permutations"] = value - high, value - low
    for name, ends in (
        (CHOSEN, of_lift.interval(value, lift_of, how.level)),
        (OTHER, of_area.interval(area, auroc_of, how.level)),
    ):
        defined = ends.low is not None and ends.high is not None
        made[name] = (ends.low, ends.high) if defined else None  # type: ignore[assignment]
    return Trial(of_lift.p_value, made)


def permuted_precision(sample: RankedRows, how: Permutations) -> Floats:
    """The average precision of each permutation of single rows, which knows no clusters."""
    random = np.random.default_rng(how.seed)
    keys = random.random((how.permutations, len(sample.labels)))
    labels = np.take_along_axis(np.tile(sample.labels, (len(keys), 1)), keys.argsort(axis=1), 1)
    return average_precisions(summed(labels, sample.counts), sample.counts)


def clustered(population: Population, n: int, simulations: int, seed: int) -> dict[str, str]:
    """A line of the table of clusters: shares of samples without any lift, in per cent."""
    random = np.random.default_rng([seed, n, population.size])
    counts: Counter[str] = Counter()
    shown = 0
    how = Permutations(FEWER)
    for number in range(simulations):
        right, score, cluster = undecided(
            population, n, ACCURACIES[number % len(ACCURACIES)], random
        )
        sample = RankedRows.of(right, score, cluster)
        of_lift, of_area = sample.permuted(how, sample.log_lifts, sample.log_odds)
        precision = average_precision(right, score)
        value, area = lift(precision, chance_level(right, score)), auroc(right, score)
        p = of_lift.p_value
        if precision is None or value is None or area is None:
            raise ValueError("some anchors are right and some wrong, so all is defined")
        counts["free"] += p_value(precision, permuted_precision(sample, how)) <= TAILS[0] * 2
        counts["p ≤ 0.05"] += p <= TAILS[0] * 2
        counts["p ≤ 0.025"] += p <= TAILS[0]
        made = of_lift.interval(value, lift_of, how.level)
        counts["lift"] += includes(made, 0.0)
        counts["AUROC"] += includes(of_area.interval(area, auroc_of, how.level), 0.5)
        stated = sample.informative(made) if sample.why_not(value) is None else Estimate(value)
        shown += stated.low is not None
        counts["shown"] += includes(stated, 0.0)
    share = {name: f"{count / simulations:.1%}" for name, count in counts.items()}
    return {
        "clusters": population.name,
        "anchors": f"{n:,}",
        "p ≤ 0.05, free permutations": share["free"],
        "p ≤ 0.05": share["p ≤ 0.05"],
        "p ≤ 0.025": share["p ≤ 0.025"],
        "lift's interval includes 0": share["lift"],
        "AUROC's includes 0.5": share["AUROC"],
        "not shown": f"{simulations - shown:,}",
        "of those shown": f"{counts['shown'] / shown:.1%}" if shown else "-",
    }


def includes(estimate: Estimate, true: float) -> bool:
    """Whether an interval includes the true figure; one that is missing does not."""
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.low <= true <= estimate.high


def resampled(
    sample: RankedRows, value: float, random: np.random.Generator
) -> dict[str, Ends | None]:
    """The intervals that are made by drawing clusters again, or by leaving each out."""
    starts = np.concatenate([[0], sample.counts.cumsum()[:-1]]).astype(int)
    every = sample.member.toarray()
    right: Floats = np.add.reduceat(every * sample.labels, starts, axis=1)
    rows: Floats = np.add.reduceat(every, starts, axis=1)
    clusters = len(rows)
    drawn = random.integers(0, clusters, size=(DRAWS, clusters))
    cells = drawn + clusters * np.arange(DRAWS)[:, None]
    counted = np.bincount(cells.ravel(), minlength=DRAWS * clusters)
    times = counted.reshape(DRAWS, clusters).astype(np.float64)
    lifts = _lifts(times @ right, times @ rows)
    without = _lifts(right.sum(axis=0) - right, rows.sum(axis=0) - rows)
    without = without[np.isfinite(without)]
    moved = without.mean() - without
    error = float(np.sqrt((len(without) - 1) / len(without) * (moved**2).sum()))
    wide = float(stdtrit(clusters - 1, TAILS[1])) * error
    kept = _lifts(times @ right, times @ rows, chance=_chance(right, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _quantiles((lifts - value) / _errors(right, rows, times))
    own = float(_errors(right, rows, np.ones((1, clusters)))[0])
    return {
        "percentile": _quantiles(lifts),
        "percentile, chance kept": _quantiles(kept),
        "BCa": _corrected(lifts, value, moved),
        "bootstrap-t": (value - high * own, value - low * own),
        "jackknife": (value - wide, value + wide),
    }


def _chance(right: Floats, rows: Floats) -> float:
    return float(chance_levels(right.sum(), rows.sum(axis=0)))


def _lifts(right: Floats, rows: Floats, chance: float | None = None) -> Floats:
    """By counts at thresholds, shape (samples, thresholds); nan where undefined."""
    level = (
        chance_levels(right.sum(axis=1), rows) if chance is None else np.full(len(right), chance)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return (average_precisions(right, rows) - level) / (1 - level)


def _errors(right: Floats, rows: Floats, times: Floats) -> Floats:
    """The lift's standard error in each resample, from what each cluster moves it by."""
    # Next to nothing in place of thresholds at which no row was drawn.
    counts, of_right = times @ rows + 1e-9, (times @ right).sum(axis=1, keepdims=True)
    n = counts.sum(axis=1, keepdims=True)
    influence = of_average_precision(times @ right, counts)
    moved_right = influence.right - 1 / n
    moved_wrong = influence.wrong + of_right / n / (n - of_right)
    sums = (moved_right - moved_wrong) @ right.T + moved_wrong @ rows.T
    # From the logarithm's scale to the lift's.
    level = chance_levels(of_right[:, 0], counts)
    scale = np.exp(-influence.value) / (1 - level)
    errors: Floats = scale * np.sqrt((times * sums**2).sum(axis=1))
    return errors


def _quantiles(values: Floats) -> Ends:
    low, high = np.quantile(values[np.isfinite(values)], TAILS)
    return float(low), float(high)


def _corrected(lifts: Floats, value: float, moved: Floats) -> Ends:
    """Bias-corrected and accelerated: other percentiles, by the jackknife's skew."""
    lifts = lifts[np.isfinite(lifts)]
    below = ((lifts < value).mean() + (lifts <= value).mean()) / 2
    bias = ndtri(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS))
    spread = (moved**2).sum()
    acceleration = (moved**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + ndtri(TAILS)
    low, high = np.quantile(lifts, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


@cache
def truth(population: Population, accuracy: float) -> dict[str, float]:
    """The lift and the area of very many anchors; what chance gives where they tell nothing."""
    if population.slope == 0:
        return {CHOSEN: 0.0, OTHER: 0.5}
    right, score, _ = population.draw(LARGE, accuracy, np.random.default_rng(1))
    value = lift(average_precision(right, score), chance_level(right, score))
    area = auroc(right, score)
    if value is None or area is None:
        raise ValueError("of very many anchors some are right and some wrong")
    return {CHOSEN: value, OTHER: area}


def row(population: Population, n: int, simulations: int, seed: int) -> dict[str, str]:
    """A line of the table: shares in per cent, median widths in parentheses."""
    random = np.random.default_rng([seed, n])
    held: Counter[str] = Counter()
    by_accuracy: Counter[float] = Counter()
    widths = defaultdict(list)
    small = missing = 0
    for number in range(simulations):
        accuracy = ACCURACIES[number % len(ACCURACIES)]
        made = trial(population, n, accuracy, random)
        small += made.p <= TAILS[0] * 2
        missing += made.intervals[CHOSEN] is None
        for name, ends in made.intervals.items():
            if ends is not None:
                true = truth(population, accuracy)
                holds = ends[0] <= true[OTHER if name == OTHER else CHOSEN] <= ends[1]
                held[name] += holds
                by_accuracy[accuracy] += holds and name == CHOSEN
                widths[name].append(ends[1] - ends[0])
    per = simulations / len(ACCURACIES)
    return {
        "correctness": population.name,
        "anchors": f"{n}",
        "p ≤ 0.05": f"{small / simulations:.1%}",
        **{name: f"{held[name] / simulations:.1%} ({median(widths[name]):.2f})" for name in widths},
        "by accuracy": " · ".join(f"{by_accuracy[each] / per:.0%}" for each in ACCURACIES),
        "no interval": f"{missing}",
    }


def smallest(n: int, accuracy: float = 0.4, samples: int = 20) -> dict[str, str]:
    """A line of the second table: what so many anchors could show, on average over samples."""
    random, right = np.random.default_rng(n), round(accuracy * n)
    scores = [POPULATIONS[0].draw(n, accuracy, random)[1] for _ in range(samples)]
    chances = [chance_level(np.arange(n) < right, score) for score in scores]
    lifts = [
        measure_lift(random.permutation(np.arange(n) < right), score, np.arange(n)).smallest
        for score in scores
    ]
    return {
        "anchors": f"{n:,}",
        "accuracy": f"{right / n:.1%}",
        "chance level": f"{np.mean([each for each in chances if each is not None]):.1%}",
        "smallest lift": f"{np.mean([each for each in lifts if each is not None]):.2f}",
    }


def show(lines: Iterable[dict[str, str]]) -> None:
    """Prints a table, each line as it comes."""
    for number, line in enumerate(lines):
        if number == 0:
            print("| " + " | ".join(line) + " |")
            print("|---|" + "---:|" * (len(line) - 1))
        print("| " + " | ".join(line.values()) + " |", flush=True)
        print(f"line {number + 1}", file=sys.stderr)
    print()


def main() -> None:
    """Prints the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    tables = ("clusters", "methods", "smallest")
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables)
    chosen = parser.parse_args()
    simulations, seed = chosen.simulations, chosen.seed
    off = 1.96 * (0.05 * 0.95 / simulations) ** 0.5
    print(f"{simulations:,} samples a line: 5 % and 95 % are counted to within {off:.1%}.\n")
    if "clusters" in chosen.tables:
        show(clustered(population, n, simulations, seed) for population, n in CLUSTERS)
    if "methods" in chosen.tables:
        show(row(population, n, simulations, seed) for population in POPULATIONS for n in SIZES)
        for population in POPULATIONS:
            if population.slope:
                lifts = ", ".join(f"{truth(population, each)[CHOSEN]:.2f}" for each in ACCURACIES)
                print(f"True lifts, {population.name}: {lifts}\n")
    if "smallest" in chosen.tables:
        show(smallest(n) for n in (*SIZES, 1221))


if __name__ == "__main__":
    main()
