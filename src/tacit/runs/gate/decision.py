"""The decision on a measure: whether its change is within a limit, beyond it, or undecided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tacit.findings.measure import Measure
from tacit.runs.gate.policy import Limit
from tacit.statistics import Bootstrap, Change

Verdict = Literal["failed", "inconclusive", "passed"]
VERDICTS: tuple[Verdict, ...] = ("failed", "inconclusive", "passed")
"""The verdicts, the worst first."""

POWER = 0.8
"""The probability with which a change of the size ``GateDecision.detectable`` fails."""

_RESAMPLES_IN_TAIL = 100
_MOST_CHANGE = 10.0
_EQUAL = 1e-9  # by how much a number of answers may miss a whole one by rounding
_MOST_TIMES = 100  # no more than so many times the questions are proposed


@dataclass(frozen=True)
class GateDecision:
    """The decision on a measure of a changed model.

    Each end of the interval of ``change`` is a one-sided bound at ``confidence``, corrected for the
    number of changed models. The change of flipped answers is their share.
    """

    measure: str
    model: str
    limit: Limit
    values: tuple[float | None, ...]  # of the base and of the changed model
    change: Change
    n: int  # questions that a model answered
    flipped: float  # the share of them whose answer differs
    confidence: float
    note: str | None = None  # what a share of flipped answers leaves out

    @property
    def verdict(self) -> Verdict:
        """Passed if the whole interval is within the limit, failed if it is beyond the limit."""
        if self._ends is None:
            return "inconclusive"
        _, low, high = self._ends
        lowest, highest = self.limit.ends
        if low > highest or high < lowest:
            return "failed"
        return "passed" if high <= highest and low >= lowest else "inconclusive"

    @property
    def _ends(self) -> tuple[float, float, float] | None:
        """The change and both bounds."""
        value, low, high = self.change.value, self.change.low, self.change.high
        return None if value is None or low is None or high is None else (value, low, high)

    def power(self, change: float) -> float | None:
        """Return the probability that the gate fails if ``change`` is the true change.

        For a larger change than was measured, more answers must differ, and the variance grows with
        them as it has grown with those that differ now. The number of flipped answers is taken as a
        Poisson variable, and any other change as a normal one.
        """
        from scipy.special import gammainc, gammainccinv, ndtr, ndtri

        if self._ends is None:
            return None
        value, low, high = self._ends
        lowest, highest = self.limit.ends
        above, below = change - highest, lowest - change
        z = float(ndtri(self.confidence))
        variance = ((value - low if above > below else high - value) / z) ** 2
        per_flip = max(1 / self.n, variance / self.flipped if self.flipped else 0.0)
        if self.limit.above is None:
            variance += max(0.0, abs(change) - abs(value)) * per_flip
            return float(ndtr(max(above, below) / max(1 / self.n, math.sqrt(variance)) - z))
        by_chance = max(0.0, variance / per_flip - value)
        limit, expected = ((of + by_chance) / per_flip for of in (highest, change))
        fewest = math.ceil(gammainccinv(math.floor(limit + _EQUAL) + 1, 1 - self.confidence))
        return float(gammainc(fewest, expected))

    @property
    def detectable(self) -> float | None:
        """The size of the smallest true change that fails with the probability ``POWER``.

        None if no answer differs, as the error of a measure is unknown then.
        """
        from scipy.optimize import brentq

        is_known = self.flipped or self.limit.above is not None
        if self._ends is None or not is_known or self.change.low == self.change.high:
            return None
        lowest, highest = self.limit.ends
        limits = {
            way: way * end for way, end in ((1, highest), (-1, lowest)) if abs(end) < math.inf
        }

        def missing(size: float) -> float:
            return min(self.power(way * size) or 0.0 for way in limits) - POWER

        least = max(limits.values())
        most = least + _MOST_CHANGE
        return float(brentq(missing, least, most)) if missing(most) > 0 else None

    @property
    def needed(self) -> int | None:
        """How many questions would decide, if the change stays as it is; None if unknown.

        The interval is taken to narrow with the square root of their number.
        """
        if self.verdict != "inconclusive" or self._ends is None:
            return None
        value, low, high = self._ends
        times = 0.0
        for limit, sign in zip(self.limit.ends, (-1, 1), strict=True):
            beyond = sign * (value - limit)
            reach = high - value if (sign > 0) == (beyond < 0) else value - low
            times = max(times, (reach / abs(beyond)) ** 2 if beyond else math.inf)
        return math.ceil(self.n * times) if times < _MOST_TIMES else None

    def to_json(self) -> dict[str, Any]:
        """Return the decision with changes in percentage points."""
        points = {
            "change": self.change.value,
            "low": self.change.low,
            "high": self.change.high,
            "detectable": self.detectable,
        }
        return {
            "measure": self.measure,
            "model": self.model,
            "verdict": self.verdict,
            "limit": self.limit.model_dump(exclude_none=True),
            "base": self.values[0],
            "new": self.values[1],
            **{name: None if of is None else 100 * of for name, of in points.items()},
            "confidence": self.confidence,
            "n": self.n,
            "needed": self.needed,
            "why": self.change.why,
        }


def decide(
    measure: Measure,
    limit: Limit,
    *,
    about: Mapping[str, Any],
    candidates: int,
    are_equal: bool = False,
) -> GateDecision:
    """Decide on the change of a measure for one of several ``candidates`` (by Bonferroni).

    ``about`` are the fields ``measure``, ``model``, ``n`` and ``flipped`` of the decision.
    """
    tail = (1 - limit.confidence) / candidates
    change = Change(None, why=measure.apart)
    if are_equal:
        change = Change(0.0, 0.0, 0.0)
    elif not measure.apart:
        resamples = max(Bootstrap.resamples, math.ceil(_RESAMPLES_IN_TAIL / tail))
        change = measure.difference(Bootstrap(resamples, level=1 - 2 * tail))
    if change.value is not None and (change.low is not None or change.why == "no variation"):
        low, high = (change.value if end is None else end for end in (change.low, change.high))
        # As many answers of which none changed would leave this much open.
        unseen = 0.0 if are_equal else 1 - tail ** (1 / about["n"])
        if limit.above is None:
            low = min(low, change.value - unseen)
        change = replace(change, low=low, high=max(high, change.value + unseen), why=None)
    return GateDecision(
        limit=limit,
        values=measure.values,
        change=change,
        confidence=1 - tail,
        note=measure.note if limit.above is not None else None,
        **about,
    )
