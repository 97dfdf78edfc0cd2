"""Whatever is computed in a wider number format, nothing is lost on the way."""

from __future__ import annotations

import pytest
import torch

from tacit.models.huggingface.self_check import widened


def test_operations_and_conversions_are_widened() -> None:
    """Those of a model that computes a part in float32 on purpose, too."""
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(300, 2000), torch.nn.Linear(2000, 50, bias=False))
    states = torch.randn(4, 300)
    with torch.inference_mode(), widened(torch.float64):
        found = torch.softmax(layer(states).float(), dim=-1, dtype=torch.float32)
    expected = torch.softmax(layer.double()(states.double()), dim=-1)
    assert found.dtype == torch.float64
    assert torch.allclose(found, expected, rtol=1e-12)


def test_a_new_tensor_is_wide_and_can_be_changed() -> None:
    """As masks and buffers are made."""
    with torch.inference_mode(), widened(torch.float64):
        made = torch.zeros(3)
        made[1:] = torch.ones(2)
        assert made.dtype == torch.float64
        assert made.tolist() == [0, 1, 1]


def test_a_change_that_would_be_lost_is_an_error() -> None:
    """A buffer of the model's own format cannot be written."""
    buffer = torch.zeros(3)
    with torch.inference_mode(), widened(torch.float64), pytest.raises(NotImplementedError):
        buffer.add_(1)
