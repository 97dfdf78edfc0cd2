"""Attention over packs in pieces, beside torch's over whole packs."""

import random
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.models.huggingface.packed_attention import PackedAttention, piece_of
from tacit.models.huggingface.packing import Pack, Rows, Tree
from tacit.models.huggingface.passes import sight
from tests.models.test_packing import packs_of

attend = torch.nn.functional.scaled_dot_product_attention


def paths_of(seed: int) -> list[tuple[int, ...]]:
    """Paths of 1 to 30 tokens, of which there are few, so that they begin alike."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    tokens, many = chance.randint(1, 3), chance.randint(30, 120)
    return [
        tuple(chance.randint(0, tokens) for _ in range(chance.randint(1, 30))) for _ in range(many)
    ]


def packs_from(paths: Sequence[tuple[int, ...]], length: int) -> list[Pack]:
    rows = list(dict.fromkeys(paths))
    reads = [(number, len(ids) - 1, 0, number) for number, ids in enumerate(rows)]
    return packs_of(Tree.of(Rows.of(rows, reads)), length)


def sees_of(packs: Sequence[Pack], piece: int) -> torch.Tensor:
    """What the packs' tokens see, the packs filled up to whole pieces."""
    longest = max(len(pack.ends) for pack in packs)
    longest += -longest % piece
    return sight(torch.tensor([[*pack.ends] + [0] * (longest - len(pack.ends)) for pack in packs]))


def states(packs: int, heads: int, length: int, seed: int) -> torch.Tensor:
    made = torch.randn(packs, length, heads, 8, generator=torch.Generator().manual_seed(seed))
    return made.transpose(1, 2)


def own(packs: Sequence[Pack], output: torch.Tensor) -> torch.Tensor:
    """What was computed for tokens, and not for what packs were filled up with."""
    parts = [output[n, :, : len(pack.ids)] for n, pack in enumerate(packs)]
    return torch.cat([part.flatten(1) for part in parts], dim=-1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(100, 400), heads=st.sampled_from([1, 2, 4]))
def test_pieces_give_what_whole_packs_give(seed: int, length: int, heads: int) -> None:
    """For any trees, with a bias by head and key in the mask, and keys that heads share."""
    packs = packs_from(paths_of(seed), length)
    piece = piece_of(max(len(pack.ids) for pack in packs))
    sees = sees_of(packs, piece)
    longest = sees.shape[-1]
    query, key, value = (
        states(len(packs), some, longest, seed) for seed, some in enumerate((4, heads, heads))
    )
    slopes = torch.linspace(0, 0.1, 4)[:, None, None] * torch.arange(longest)
    mask = slopes.masked_fill(~sees, torch.finfo(torch.float32).min)
    with PackedAttention(packs, sees, piece):
        near = attend(query, key, value, attn_mask=mask, scale=0.5, enable_gqa=True)
    whole = attend(query, key, value, attn_mask=mask, scale=0.5, enable_gqa=True)
    assert near.shape == whole.shape
    assert torch.allclose(own(packs, near), own(packs, whole), atol=1e-5)


def test_what_cannot_be_seen_is_not_looked_at() -> None:
    """Keys that no token of a piece sees may be anything, where whole packs would show it."""
    packs = packs_from([(n, *range(20)) for n in range(19)], 400)
    sees = sees_of(packs, 50)
    query, key, value = (states(1, 1, 400, seed) for seed in range(3))
    bare = torch.zeros(sees.shape)
    with PackedAttention(packs, sees, 50):
        # A mask that hides nothing shows which keys are there at all.
        near = attend(query, key, value, attn_mask=bare)
        value[:, :, 350:] = torch.nan
        again = attend(query, key, value, attn_mask=bare)
    assert torch.equal(near[:, :, :350], again[:, :, :350])
    assert again[:, :, 350:].isnan().all()
    assert attend(query, key, value, attn_mask=bare).isnan().all()


@pytest.mark.parametrize("masked", [True, False])
def test_other_attention_stays_as_it_is(*, masked: bool) -> None:
    """Of another length than the packs, or without a mask."""
    packs = packs_from([(n, *range(20)) for n in range(20)], 400)
    sees = sees_of(packs, 50)
    length = 60 if masked else sees.shape[-1]
    query, key, value = (states(1, 1, length, seed) for seed in range(3))
    mask = torch.zeros(length, length) if masked else None
    with PackedAttention(packs, sees, 50):
        near = attend(query, key, value, attn_mask=mask)
    assert torch.equal(near, attend(query, key, value, attn_mask=mask))


def test_a_mask_of_true_and_false() -> None:
    packs = packs_from([(n, n % 3, *range(20)) for n in range(20)], 400)
    sees = sees_of(packs, 50)
    query, key, value = (states(len(packs), 2, sees.shape[-1], seed) for seed in range(3))
    with PackedAttention(packs, sees, 50):
        near = attend(query, key, value, sees)
    assert torch.allclose(own(packs, near), own(packs, attend(query, key, value, sees)), atol=1e-5)


@given(length=st.integers(97, 5000))
def test_pieces_fill_a_row(length: int) -> None:
    """A long row has pieces of 48 to 96 tokens and is filled up by less than a twentieth."""
    piece = piece_of(length)
    assert 48 <= piece <= 96
    assert -length % piece <= length / 20
