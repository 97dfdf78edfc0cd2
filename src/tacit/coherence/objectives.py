"""What a repaired world should keep: the weight of each statement.

``paper``     round(100 * p) for a statement kept; nothing argues against one
``log-odds``  |log p/(1 - p)| for or against: the most probable consistent world
``margin``    |p - 1/2| for or against
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.coherence.structure import Integers
    from tacit.coherence.worlds import Floats

Objective = Literal["paper", "log-odds", "margin"]

_CLIP = 1e-6
# Sums of integers are the same in any order, so equal worlds are found equal.
_UNITS = 1_000_000


def check_objective(objective: str) -> None:
    """Refuses a name that is no objective.

    Raises:
        RequestError: It is none.
    """
    if objective not in get_args(Objective):
        raise RequestError(
            f"the objective is {objective!r}; expected {', '.join(get_args(Objective))}"
        )


def weights_of(p_true: Floats, objective: str) -> Floats:
    """The weight of each statement, positive for it and negative against it.

    Args:
        p_true: Probabilities, nan where the belief is missing, whose weight is 0.
        objective: ``paper``, ``log-odds`` (weights in nats) or ``margin``.
    """
    p = np.where(np.isnan(p_true), 0.5, p_true)
    if objective == "paper":
        # NumPy rounds halves to even, as Python does.
        weights = np.rint(100 * p)
    elif objective == "log-odds":
        p = np.clip(p, _CLIP, 1 - _CLIP)
        weights = np.log(p / (1 - p))
    else:
        weights = p - 0.5
    return np.where(np.isnan(p_true), 0.0, weights)


def whole_weights(weights: Floats, objective: str) -> Integers:
    """The weights in whole units: one for ``paper``, else a millionth."""
    units = 1 if objective == "paper" else _UNITS
    return np.rint(weights * units).astype(np.int64)


def unit_of(objective: str) -> float:
    """What one whole unit is worth."""
    return 1.0 if objective == "paper" else 1.0 / _UNITS
