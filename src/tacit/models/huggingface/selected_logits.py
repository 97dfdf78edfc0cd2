"""A model's head at chosen places only: the vocabulary's logits elsewhere are nobody's business.

Heads look at one token's state at a time, whatever the architecture calls them. So the body's
states are cut to the places that are read before the head sees them. Whether a model then gives the
same is measured when it is loaded.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import torch
    from transformers import PreTrainedModel


def bodies_of(model: PreTrainedModel) -> list[torch.nn.Module]:
    """The parts of a model that may be what its head looks at, likely ones first."""
    parts = [model.base_model]
    if hasattr(model, "get_decoder"):
        parts.append(model.get_decoder())  # OPT's head looks at a part of its base model
    return [part for part in parts if part is not None and part is not model]


def narrowed(body: torch.nn.Module, positions: torch.Tensor) -> AbstractContextManager[None]:
    """Lets the head see one state of each row: its output is of the shape (rows, 1, vocabulary).

    Args:
        body: The part of the model whose output the head sees.
        positions: The place in each row, of shape (rows,).
    """
    import torch

    rows = torch.arange(len(positions), device=positions.device)
    return _cutting(body, lambda states: _at(states, rows, positions).unsqueeze(1))


def gathered(
    body: torch.nn.Module, rows: torch.Tensor, columns: torch.Tensor
) -> AbstractContextManager[None]:
    """Lets the head see some states: its output is of the shape (1, places, vocabulary).

    Args:
        body: The part of the model whose output the head sees.
        rows: The row of each place, of shape (places,).
        columns: The place in it, of shape (places,).
    """
    return _cutting(body, lambda states: _at(states, rows, columns).unsqueeze(0))


def _at(states: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """The states at some places; a model on several devices may end on another than it begins."""
    return states[rows.to(states.device), columns.to(states.device)]


@contextmanager
def _cutting(body: torch.nn.Module, cut: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    def replace(_body: object, _given: object, output: Any) -> Any:  # noqa: ANN401 - any model's class
        kept = cut(output[0])
        if isinstance(output, tuple):
            return (kept, *output[1:])
        output.last_hidden_state = kept
        return output

    hook = body.register_forward_hook(replace)
    try:
        yield
    finally:
        hook.remove()


def narrowing_difference(narrow: torch.Tensor, whole: torch.Tensor) -> float:
    """The largest difference in nats between two predictions, of shape (rows, vocabulary)."""
    return float((narrow.log_softmax(dim=-1) - whole.log_softmax(dim=-1)).abs().max())
