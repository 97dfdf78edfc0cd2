"""Attention over long packs (rows of several prompts), most of whose masked keys are omitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from tacit.models.huggingface.packing import Pack

PIECES = range(48, 97)
"""The lengths of a piece in tokens."""

_USUAL = 64
_attend = torch.nn.functional.scaled_dot_product_attention


def piece_of(length: int) -> int:
    """Return the length of pieces for which a longer row needs the least padding."""
    return min(PIECES, key=lambda piece: (-length % piece, abs(piece - _USUAL)))


class PackedAttention(TorchFunctionMode):
    """A context manager in which torch computes attention over packed prompts in pieces.

    This only saves time: the mask alone keeps prompts apart.
    """

    def __init__(self, packs: Sequence[Pack], sees: torch.Tensor, piece: int) -> None:
        super().__init__()
        self._packs, _, self._length, self._columns = sees.shape
        self._pieces = self._length // piece
        kept = self._columns - self._length
        columns = torch.arange(self._columns, device=sees.device)
        begins = columns[kept::piece]
        before = sees[:, 0, ::piece] & (columns < begins[:, None])
        # The depth of a piece's first token is the number of its predecessors. It is known on the
        # host, so no device is queried.
        path = max(int(pack.depths[::piece].max()) for pack in packs)
        along = torch.argsort(~before, dim=-1, stable=True)[..., :path]
        own = columns[kept:].reshape(self._pieces, piece).expand(self._packs, -1, -1)
        self._keys = torch.cat([along, own], dim=-1)
        self._is_key = torch.cat(
            [before.gather(-1, along), torch.ones_like(own, dtype=torch.bool)], dim=-1
        )
        first = torch.arange(0, self._packs * self._columns, self._columns, device=sees.device)
        self._index = (self._keys + first[:, None, None]).flatten()
        self._cut: tuple[torch.Tensor, torch.Tensor] | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - any return type
        """Compute attention over packs piece by piece; call every other function as usual."""
        del types
        kwargs = kwargs or {}
        if func is _attend and self._is_over_packs(*args, **kwargs):
            return self._in_pieces(*args, **kwargs)
        return func(*args, **kwargs)

    def _is_over_packs(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        _value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        *_more: object,
        **_rest: object,
    ) -> bool:
        whole = (self._length, self._columns)
        return (
            attn_mask is not None
            and attn_mask.dim() == query.dim()
            and attn_mask.shape[-2:] == whole
            and (query.shape[-2], key.shape[-2]) == whole
            and query.shape[0] == self._packs
        )

    def _in_pieces(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor,
        *more: Any,  # noqa: ANN401 - as in the wrapped function
        **rest: Any,  # noqa: ANN401 - as in the wrapped function
    ) -> torch.Tensor:
        """Return the attention output, of shape (packs, heads, length, width)."""
        packs, heads, length, width = self._packs, query.shape[1], self._length, query.shape[-1]
        queries = query.transpose(1, 2).reshape(packs * self._pieces, -1, heads, width)
        output: torch.Tensor = _attend(
            queries.transpose(1, 2),
            self._seen(key),
            self._seen(value),
            self._seen_of(attn_mask),
            *more,
            **rest,
        )
        return output.transpose(1, 2).reshape(packs, length, heads, -1).transpose(1, 2)

    def _seen(self, states: torch.Tensor) -> torch.Tensor:
        """Return the keys or values in ``states`` that each piece of a pack needs."""
        by_column = states.transpose(1, 2)
        # In a model on several devices, a layer's device may differ from the mask's.
        seen = by_column.flatten(0, 1).index_select(0, self._index.to(states.device))
        pieces = self._packs * self._pieces
        return seen.view(pieces, -1, *by_column.shape[2:]).transpose(1, 2)

    def _seen_of(self, mask: torch.Tensor) -> torch.Tensor:
        """Return the attention mask of each piece (equal-length section) of each packed row."""
        if self._cut and self._cut[0] is mask:  # the previous layer's
            return self._cut[1]
        heads, shape = mask.shape[-3], (self._pieces, -1, self._columns)
        pieces = mask.expand(self._packs, -1, -1, -1).reshape(self._packs, heads, *shape)
        keys, is_key = self._keys.to(mask.device), self._is_key.to(mask.device)
        seen = torch.take_along_dim(pieces, keys[:, None, :, None], dim=-1)
        hidden = False if mask.dtype is torch.bool else torch.finfo(mask.dtype).min
        seen = seen.masked_fill(~is_key[:, None, :, None], hidden)
        self._cut = mask, seen.transpose(1, 2).flatten(0, 1)
        return self._cut[1]
