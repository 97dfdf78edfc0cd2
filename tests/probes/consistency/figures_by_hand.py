"""Scores and figures of Sahu et al. (2022), exact and by loops, without Tacit."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Whether an anchor is right, and its background score.
Pair: TypeAlias = tuple[bool, Fraction]


def exact(value: Fraction | None) -> object:
    return None if value is None else pytest.approx(float(value), abs=1e-12)


def share(right: Iterable[bool | None]) -> Fraction | None:
    """Of the answers that are there."""
    there = [one for one in right if one is not None]
    return Fraction(sum(there), len(there)) if there else None


def mean(values: Iterable[Fraction | None]) -> Fraction | None:
    """Of the values that are there."""
    there = [value for value in values if value is not None]
    return sum(there, Fraction()) / len(there) if there else None


def both(positive: Fraction | None, negative: Fraction | None) -> Fraction | None:
    """Equation 1."""
    return None if positive is None or negative is None else (positive + negative) / 2


def average_precision(pairs: Sequence[Pair]) -> Fraction | None:
    """Equation 3: the precision at each score, weighted by the recall that it gains."""
    right = sum(is_right for is_right, _ in pairs)
    if not right:
        return None
    total = Fraction()
    for threshold in {score for _, score in pairs}:
        above = [is_right for is_right, score in pairs if score >= threshold]
        gained = sum(is_right for is_right, score in pairs if score == threshold)
        total += Fraction(gained, right) * Fraction(sum(above), len(above))
    return total


def chance(pairs: Sequence[Pair]) -> Fraction | None:
    """The mean average precision over all ways to deal out as many right ones."""
    scores = sorted(score for _, score in pairs)
    return _dealt(sum(right for right, _ in pairs), tuple(scores))


@cache
def _dealt(right: int, scores: tuple[Fraction, ...]) -> Fraction | None:
    return mean(
        average_precision([(at in chosen, score) for at, score in enumerate(scores)])
        for chosen in combinations(range(len(scores)), right)
    )


def lift(pairs: Sequence[Pair]) -> Fraction | None:
    """How much of the way from chance to 1 was gone."""
    precision, level = average_precision(pairs), chance(pairs)
    if precision is None or level is None or level == 1:
        return None
    return (precision - level) / (1 - level)


def auroc(pairs: Sequence[Pair]) -> Fraction | None:
    """How often a right one scores higher than a wrong one; a tie counts half."""
    right = [score for is_right, score in pairs if is_right]
    wrong = [score for is_right, score in pairs if not is_right]
    return mean(Fraction((a > b) - (b > a) + 1, 2) for a, b in product(right, wrong))
