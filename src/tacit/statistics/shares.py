"""The share of independent draws that came out one way, with its interval (Wilson 1927)."""

from __future__ import annotations

from statistics import NormalDist

from tacit.statistics.intervals import Estimate


def wilson(successes: int, draws: int, level: float = 0.95) -> Estimate:
    """A share with Wilson's score interval, which is defined and lies in 0 to 1 also at its ends.

    Args:
        successes: How many draws came out so.
        draws: How many there were, each independent of the others.
        level: The interval's coverage.

    Returns:
        No value and no interval of no draws.
    """
    if not draws:
        return Estimate(None, None, None)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, shrunk = successes / draws, 1 + z**2 / draws
    middle = (share + z**2 / (2 * draws)) / shrunk
    half = z / shrunk * (share * (1 - share) / draws + z**2 / (4 * draws**2)) ** 0.5
    # At the ends the formula gives 0 and 1, but for rounding.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == draws else middle + half
    return Estimate(share, low, high)
