"""How often intervals of the relevance of a fact include the true one.

python benchmarks/relevance_intervals.py --simulations 2000

Prints a Markdown table. Anchors come in clusters of 1 to 5, most often 1; each has one fact or
more, and 15 % of the facts belong to a second anchor of any cluster. Whether a fact is answered
right depends on what the model knows of its first anchor, half of which the cluster has in common;
facts are as easy as it takes for a given share of right answers. 20, 40 or 60 % of the anchors are
answered right, in turns. The percentile bootstrap over clusters is shown for comparison.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from tacit.statistics import Bootstrap
from tacit.statistics.conditional import FEWEST_ITEMS, Links, conditional_gain
from tacit.statistics.studentised import Permutations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

ACCURACIES = (0.2, 0.4, 0.6)
# The level of the interval is exact with so few permutations too.
PERMUTATIONS = 399
RESAMPLES = 300
SHARED_FACTS = 0.15


@dataclass(frozen=True)
class Population:
    """How anchors and facts come to be right.

    Args:
        name: What the table calls it.
        slope: What one standard deviation of knowledge adds to an anchor's log-odds.
        shared: The standard deviation of what a cluster's anchors share of these log-odds.
        size: How many anchors a cluster has; 0 for 1 to 5.
    """

    name: str
    slope: float
    shared: float
    size: int = 0

    def draw(
        self, sizes: Sizes, right: float, accuracy: float, random: np.random.Generator
    ) -> tuple[NDArray[np.bool_], Links]:
        """Whether each fact is right, and its anchors."""
        n = sizes.anchors
        counts = self.size or random.choice(5, size=n, p=(0.55, 0.2, 0.12, 0.08, 0.05)) + 1
        cluster = np.repeat(np.arange(n), counts)[:n]
        knowledge = (random.normal(size=n)[cluster] + random.normal(size=n)) / 2**0.5
        odds = (
            logit(accuracy) + self.slope * knowledge + self.shared * random.normal(size=n)[cluster]
        )
        answered = random.random(n) < expit(odds)
        anchor = np.repeat(np.arange(n), random.geometric(1 / sizes.facts, size=n))
        known = random.random(len(anchor)) < expit(ease(right) + knowledge[anchor])
        second = np.flatnonzero(random.random(len(anchor)) < SHARED_FACTS)
        fact = np.concatenate([np.arange(len(anchor)), second])
        anchor = np.concatenate([anchor, random.integers(0, n, len(second))])
        return known, Links(fact, cluster[anchor], answered[anchor])

    def relevance(self, right: float, accuracy: float) -> float:
        """The true one, by quadrature over knowledge and the clusters' luck."""
        nodes, weights = _normal()
        known = expit(ease(right) + nodes)
        odds = logit(accuracy) + self.slope * nodes[:, None] + self.shared * nodes
        answered = expit(odds) @ weights
        gain = float(weights @ (known * answered) / (weights @ known) - weights @ answered)
        # The second anchor, one of two, has nothing to do with the fact.
        return (1 - SHARED_FACTS / 2) * gain


@dataclass(frozen=True)
class Sizes:
    """How much is asked.

    Args:
        anchors: How many anchors.
        facts: The mean number of facts that each brings.
    """

    anchors: int
    facts: float


@cache
def ease(right: float) -> float:
    """The log-odds, without knowledge, at which so many of the facts are right."""
    nodes, weights = _normal()
    return float(brentq(lambda odds: float(weights @ expit(odds + nodes)) - right, -20, 20))


@cache
def _normal() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return nodes, weights / weights.sum()


SMALL, LARGE = Sizes(500, 2.3), Sizes(1221, 5)
INDEPENDENT, DEPENDENT = Population("independent", 0.0, 1.5), Population("dependent", 1.2, 0.0)
LINES = (
    (INDEPENDENT, SMALL, 0.005),
    (INDEPENDENT, SMALL, 0.01),
    (INDEPENDENT, LARGE, 0.005),
    (INDEPENDENT, LARGE, 0.01),
    *(
        (population, SMALL, share)
        for population in (INDEPENDENT, DEPENDENT)
        for share in (0.05, 0.5)
    ),
    (Population("independent, clusters of 10", 0.0, 1.5, 10), SMALL, 0.05),
    (DEPENDENT, LARGE, 0.005),
    (DEPENDENT, LARGE, 0.01),
    (DEPENDENT, SMALL, 0.95),
)


def row(population: Population, sizes: Sizes, right: float, simulations: int) -> dict[str, str]:
    """A line of the table."""
    random = np.random.default_rng([sizes.anchors, round(right * 1000), population.size])
    held: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    facts, widths = [], []
    for number in range(simulations):
        accuracy = ACCURACIES[number % len(ACCURACIES)]
        known, links = population.draw(sizes, right, accuracy, random)
        facts.append(len(known))
        true = population.relevance(right, accuracy)
        if known.any():
            low, high = bootstrapped(known, links, number)
            held["bootstrap"] += low <= true <= high
        found = conditional_gain(known, links, Permutations(PERMUTATIONS, seed=number))
        if found.gain.low is None or found.gain.high is None:
            reasons[found.no_interval or ""] += 1
            continue
        held["permutations"] += found.gain.low <= true <= found.gain.high
        widths.append(found.gain.high - found.gain.low)
    made = len(widths)
    return {
        "facts and anchors": population.name,
        "facts": f"{median(facts):,.0f}",
        "right": f"{right:.1%}",
        "no interval": ", ".join(f"{n:,} {why}" for why, n in reasons.items()) or "0",
        "includes the true relevance": f"{held['permutations'] / made:.1%}" if made else "-",
        "median width": f"{100 * median(widths):.1f}" if made else "-",
        "bootstrap, all samples": f"{held['bootstrap'] / simulations:.1%}",
    }


def bootstrapped(known: NDArray[np.bool_], links: Links, seed: int) -> tuple[float, float]:
    """The percentile interval over clusters; nothing in it where it has no ends."""
    item, right = np.asarray(links.item), np.asarray(links.right)
    weight = 1 / np.bincount(item)[item]
    under = np.stack([weight, weight * known[item]])
    made = Bootstrap(RESAMPLES, seed=seed).difference(links.cluster, under * right, under)
    return (1.0, -1.0) if made.low is None or made.high is None else (made.low, made.high)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--simulations", type=int, default=2000)
    simulations = parser.parse_args().simulations
    print(
        f"{simulations:,} samples a line; no interval below {FEWEST_ITEMS} facts right or wrong; "
        f"{PERMUTATIONS} permutations, {RESAMPLES} resamples.\n"
    )
    for number, (population, sizes, right) in enumerate(LINES):
        line = row(population, sizes, right, simulations)
        if number == 0:
            print("| " + " | ".join(line) + " |")
            print("|---|" + "---:|" * (len(line) - 1))
        print("| " + " | ".join(line.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
