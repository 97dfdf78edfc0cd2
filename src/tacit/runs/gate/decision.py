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
"""The probability with which a change of the size ``Decision.detectable`` fails."""

_RESAMPLES_IN_TAIL = 100
_MOST_TIMES = 100  # no more than so many times the questions are proposed


@dataclass(frozen=True)
class Decision:
    """The decision on a measure of a changed model.

    Args:
        measure: The name of the measure, such as ``parts/says_true``.
        label: The measure in words.
        model: The name of the changed model.
        limit: The limit that the policy sets.
        values: The values of the base and of the changed model; None if undefined.
        change: The change with its interval; for flipped answers, their share. Each end of the
            interval is a one-sided bound at ``confidence``.
        n: The number of questions that a model answered.
        flipped: The share of them whose answer differs.
        confidence: The confidence of the limit, corrected for the number of changed models.
        error: The standard error of the change; None if it is unknown.
    """

    measure: str
    label: str
    model: str
    limit: Limit
    values: tuple[float | None, ...]
    change: Change
    n: int
    flipped: float
    confidence: float
    error: float | None

    @property
    def verdict(self) -> Verdict:
        """Passed if the whole interval is within the limit, failed if it is beyond the limit."""
        value, low, high = self.change.value, self.change.low, self.change.high
        if value is None or low is None or high is None:
            return "inconclusive"
        highest, lowest = self._limits
        if low > highest or high < lowest:
            return "failed"
        return "passed" if high <= highest and low >= lowest else "inconclusive"

    @property
    def _limits(self) -> tuple[float, float]:
        highest, lowest = self.limit.highest, self.limit.lowest
        return (
            math.inf if highest is None else highest,
            -math.inf if lowest is None else lowest,
        )

    def power(self, change: float) -> float | None:
        """Return the probability that the gate fails if ``change`` is the true change.

        For a larger change than was measured, more answers must differ, and the error grows with
        them as it has grown with those that differ now.
        """
        from scipy.special import ndtr, ndtri

        if self.error is None or self.change.value is None:
            return None
        per_flip = max(1 / self.n, self.error**2 / self.flipped if self.flipped else 0.0)
        more = max(0.0, abs(change) - abs(self.change.value)) * per_flip
        error = max(1 / self.n, math.sqrt(self.error**2 + more))
        beyond = max(change - self._limits[0], self._limits[1] - change)
        return float(ndtr(beyond / error - ndtri(self.confidence)))

    @property
    def detectable(self) -> float | None:
        """The smallest true change beyond the limit that fails with the probability ``POWER``.

        None if no answer differs, as the error of a measure is unknown then.
        """
        from scipy.optimize import brentq

        if self.error is None or not (self.flipped or self.limit.above is not None):
            return None
        highest, lowest = self._limits
        sign, limit = (1, highest) if highest < math.inf else (-1, -lowest)
        most = limit + 10.0

        def missing(size: float) -> float:
            return (self.power(sign * size) or 0.0) - POWER

        return sign * float(brentq(missing, limit, most)) if missing(most) > 0 else None

    @property
    def needed(self) -> int | None:
        """How many questions would decide, if the change stays as it is; None if unknown.

        The interval is taken to narrow with the square root of their number.
        """
        value, low, high = self.change.value, self.change.low, self.change.high
        if self.verdict != "inconclusive" or value is None or low is None or high is None:
            return None
        times = 0.0
        for limit, sign in zip(self._limits, (1, -1), strict=True):
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
    measure: Measure, limit: Limit, *, about: Mapping[str, Any], candidates: int
) -> Decision:
    """Decide on the change of a measure for one of several ``candidates`` (by Bonferroni).

    ``about`` are the fields ``measure``, ``model``, ``n`` and ``flipped`` of the decision.
    """
    from scipy.special import ndtri

    tail = (1 - limit.confidence) / candidates
    resamples = max(Bootstrap.resamples, math.ceil(_RESAMPLES_IN_TAIL / tail))
    change, error = Change(None, why=measure.apart), None
    if not measure.apart:
        change = measure.difference(Bootstrap(resamples, level=1 - 2 * tail))
    if change.value is not None and (change.low is not None or change.why == "no variation"):
        low, high = (change.value if end is None else end for end in (change.low, change.high))
        error = float((high - low) / (2 * ndtri(1 - tail)))
        # As many answers of which none changed would leave this much open.
        unseen = 1 - tail ** (1 / about["n"])
        low, high = min(low, change.value - unseen), max(high, change.value + unseen)
        change = replace(change, low=low, high=high, why=None)
    return Decision(
        label=measure.name,
        limit=limit,
        values=measure.values,
        change=change,
        confidence=1 - tail,
        error=error,
        **about,
    )


def unchanged(
    measure: Measure, limit: Limit, *, about: Mapping[str, Any], candidates: int
) -> Decision:
    """Decide on a measure of two runs whose findings are equal."""
    change, values = Change(0.0, 0.0, 0.0), measure.values
    return Decision(
        label=measure.name,
        limit=limit,
        values=values,
        change=change,
        confidence=1 - (1 - limit.confidence) / candidates,
        error=0.0,
        **about,
    )
