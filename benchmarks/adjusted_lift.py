"""How often the adjusted tests say that background predicts answers where it does not, and does.

python benchmarks/adjusted_lift.py --simulations 2000

Prints a Markdown table. In each sample, anchors have 1 to 12 pairs of facts. Where the table says
so, questions with few facts are easier or harder: each doubling of the facts changes the log-odds
of a right answer. The last lines have a true dependence on knowledge. A cluster of anchors shares
part of the knowledge, of the log-odds and, where the table says so, the number of facts.

Columns: the share of samples with p ≤ 0.05 of the plain lift and of the adjusted lift, and the
share of the samples with an interval in which the interval of the adjusted lift includes 0.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tacit.statistics.lift import RankedRows, measure_lift, strata_of
from tacit.statistics.permutation import Permutations

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ACCURACIES = (0.2, 0.4, 0.6)
PERMUTATIONS = 399
LEVEL = 0.05


class Anchors(NamedTuple):
    """A sample: whether each anchor is right, its score, its number of facts and its cluster."""

    right: NDArray[np.bool_]
    score: Floats
    facts: Ints
    cluster: Ints


@dataclass(frozen=True)
class Population:
    """How anchors come to be right.

    Args:
        name: The name in the table.
        anchors: Number of anchors of a sample.
        by_facts: What each doubling of the number of facts adds to the log-odds of being right.
        slope: What one standard deviation of knowledge adds to the log-odds of being right.
        size: Number of anchors of a cluster.
        shared: Standard deviation of the part of the log-odds that a cluster shares.
        same_facts: Whether the anchors of a cluster have equally many facts.
    """

    name: str
    anchors: int = 300
    by_facts: float = 0.0
    slope: float = 0.0
    size: int = 1
    shared: float = 0.0
    same_facts: bool = False

    def draw(self, accuracy: float, random: np.random.Generator) -> Anchors:
        """Draw a sample in which some anchors are right and some wrong."""
        while True:
            drawn = self._draw(accuracy, random)
            if 0 < drawn.right.sum() < len(drawn.right):
                return drawn

    def _draw(self, accuracy: float, random: np.random.Generator) -> Anchors:
        n = self.anchors
        cluster = np.arange(n) // self.size
        between, within = random.normal(size=n)[cluster], random.normal(size=n)
        knowledge = (between + within) / 2**0.5
        facts = np.minimum(random.geometric(0.3, size=n), 12)
        facts = facts[cluster] if self.same_facts else facts
        positive = random.binomial(facts, expit(0.9 + 0.8 * knowledge))
        negative = random.binomial(facts, expit(0.1 + 0.8 * knowledge))
        odds = (
            logit(accuracy)
            + self.by_facts * (np.log2(facts) - 1.2)
            + self.slope * knowledge
            + self.shared * random.normal(size=n)[cluster]
        )
        right = random.random(n) < expit(odds)
        return Anchors(right, (positive + negative) / (2 * facts), facts, cluster)


_EFFECTS = (
    ("the number of facts has no effect", 0.0),
    ("questions with few facts are easier", -0.6),
    ("questions with few facts are harder", 0.6),
)

POPULATIONS = (
    *(
        Population(f"{n:,} questions; {effect}", n, by_facts)
        for n in (100, 300, 1000)
        for effect, by_facts in _EFFECTS
    ),
    *(
        Population(
            f"600 questions in clusters of {size}{also}; {effect}", 600, by_facts, 0, size, 1, same
        )
        for size in (10, 20)
        for effect, by_facts in _EFFECTS[1:]
        for also, same in (
            ("", False),
            ("; all questions of a cluster have the same number of facts", True),
        )
    ),
    *(
        Population(f"300 questions; effect of knowledge {slope}; {effect}", 300, by_facts, slope)
        for slope in (0.3, 0.6)
        for effect, by_facts in _EFFECTS
    ),
)


def row(population: Population, simulations: int, seed: int) -> dict[str, str]:
    """A line of the table."""
    random = np.random.default_rng([seed, population.anchors, population.size])
    counts: Counter[str] = Counter()
    how = Permutations(PERMUTATIONS)
    for number in range(simulations):
        drawn = population.draw(ACCURACIES[number % len(ACCURACIES)], random)
        counts.update(name for name, holds in outcomes(drawn, how).items() if holds)
    n = simulations
    return {
        "simulation": population.name,
        "plain p ≤ 0.05": f"{counts['plain'] / n:.1%}",
        "adjusted p ≤ 0.05": f"{counts['adjusted'] / n:.1%}",
        "adjusted interval includes 0": f"{counts['includes'] / max(1, counts['interval']):.1%}",
        "no interval": f"{n - counts['interval']:,}",
    }


def outcomes(drawn: Anchors, how: Permutations) -> dict[str, bool]:
    """Run both tests on one sample."""
    rows = RankedRows.of(drawn.right, drawn.score, drawn.cluster)
    (plain,) = rows.permuted(how, rows.log_lifts)
    strata = strata_of(drawn.facts)
    adjusted = measure_lift(drawn.right, drawn.score, drawn.cluster, how, strata=strata)
    low, high = adjusted.lift.low, adjusted.lift.high
    return {
        "plain": plain.p_value <= LEVEL,
        "adjusted": adjusted.p_value is not None and adjusted.p_value <= LEVEL,
        "interval": low is not None and high is not None,
        "includes": low is not None and high is not None and low <= 0 <= high,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="lines whose name contains this text")
    chosen = parser.parse_args()
    off = 1.96 * (LEVEL * (1 - LEVEL) / chosen.simulations) ** 0.5
    print(f"{chosen.simulations:,} samples a line: 5 % is counted to within {off:.1%}.\n")
    lines = [population for population in POPULATIONS if chosen.only in population.name]
    for number, population in enumerate(lines):
        line = row(population, chosen.simulations, chosen.seed)
        if number == 0:
            print("| " + " | ".join(line) + " |")
            print("|---|" + "---:|" * (len(line) - 1))
        print("| " + " | ".join(line.values()) + " |", flush=True)
        print(f"line {number + 1} of {len(lines)}", file=sys.stderr)


if __name__ == "__main__":
    main()
