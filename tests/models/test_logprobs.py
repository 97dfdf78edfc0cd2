from __future__ import annotations

import math

import pytest
import torch

from tacit.errors import ScoringError
from tacit.models.huggingface.logprobs import Read, Tally, Values, padded, read_off


def test_read_off() -> None:
    """Each token's log-probability is a log-softmax over the whole vocabulary, in float32."""
    torch.manual_seed(0)
    logits = torch.randn(3, 4, 50) * 5
    wanted = [
        [(0, Read(9, 1, 0)), (0, Read(9, 2, 1)), (3, Read(9, 3, 0))],
        [],
        [(2, Read(9, 49, 2))],
    ]
    values = logits.double().log_softmax(-1)
    (found,) = read_off(logits, wanted)
    answers, fetched = found.fetched()
    assert answers.tolist() == [0, 1, 0, 2]
    assert fetched.tolist() == pytest.approx(
        [float(values[r, c, t]) for r, c, t in ((0, 0, 1), (0, 0, 2), (0, 3, 3), (2, 2, 49))],
        abs=1e-5,
    )


def test_nothing_to_read() -> None:
    """Rows that nothing is read off give nothing."""
    assert read_off(torch.zeros(2, 1, 5), [[], []]) == []


@pytest.mark.parametrize(
    ("left", "ids", "mask"),
    [
        (False, [[1, 2, 3], [4, 0, 0]], [[1, 1, 1], [1, 0, 0]]),
        (True, [[1, 2, 3], [0, 0, 4]], [[1, 1, 1], [0, 0, 1]]),
    ],
)
def test_padded(left: bool, ids: list[list[int]], mask: list[list[int]]) -> None:  # noqa: FBT001 - a column
    """Shorter rows are filled up on the right, or on the left, and the mask is 0 there."""
    made = padded([(1, 2, 3), (4,)], 0, torch.device("cpu"), left=left)
    assert [one.tolist() for one in made] == [ids, mask]


def found(*values: float) -> Values:
    """Log-probabilities of one answer's tokens."""
    return Values([0] * len(values), torch.tensor(values))


def test_a_tally_does_not_depend_on_order() -> None:
    """The sum of an answer's tokens is the same to the last bit, whatever order they come in."""
    values = [-1e-8, -30.0, -0.1, -1e8, -3.3]
    one, other = Tally(), Tally()
    one.add([found(*values)])
    for value in reversed(values):
        other.add([found(value)])
    assert one.totals(1) == other.totals(1) == [math.fsum(found(*values).logprobs.tolist())]


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_a_tally_of_no_number(value: float) -> None:
    """What is no finite number is an error, and says what to try."""
    tally = Tally()
    tally.add([found(-1.0, value)])
    with pytest.raises(ScoringError, match="try --dtype float32"):
        tally.totals(1)
