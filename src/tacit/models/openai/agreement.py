"""When two log-probabilities of a server are the same, but for rounding."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 0.1
"""Nats by which any may differ: half precision rounds so far when a server batches otherwise."""

TYPICAL = 0.02
"""Nats by which half of them may differ."""

ENOUGH = 8
"""On so many texts at least is a server compared with itself."""


def agree(differences: Sequence[float]) -> bool:
    """Whether absolute differences, in nats, are no more than rounding.

    Raises:
        ValueError: There are none.
    """
    if not differences:
        raise ValueError("nothing was compared")
    # A difference that is no number compares false, and so does not agree.
    return all(one <= LARGEST for one in differences) and statistics.median(differences) <= TYPICAL
