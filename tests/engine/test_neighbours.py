from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.ask import Engine
from tacit.engine.plan import cut_neighbours
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.passes import passes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.models.passes import Local

WORDS = ("a", "tree", "bird", "trunk", "egg")
PROMPTS = [
    Prompt(f"Is {a} {relation} {b}{end}", ("yes", "the roots"))
    for a in WORDS
    for relation in ("above", "a part of")
    for b in WORDS
    for end in ("?", ". Is this true?")
]


def words_in_tree(prompts: Sequence[Prompt]) -> list[int]:
    """For each prompt, how many of its words stand in no other before it behind the same words."""
    seen: set[tuple[str, ...]] = set()
    costs = []
    for prompt in prompts:
        words = prompt.text.split()
        mine = {tuple(words[:at]) for at in range(1, len(words) + 1)}
        costs.append(len(mine - seen))
        seen |= mine
    return costs


class Sharing(FakeModel):
    """Computes what texts begin with once."""

    shares_prefixes = True

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """The words that each prompt adds."""
        return words_in_tree(requests)


@given(st.permutations(PROMPTS), st.integers(1, 300))
def test_neighbours_stand_together(prompts: list[Prompt], block_tokens: int) -> None:
    """All prompts come once, in the order of their texts, in blocks told what each costs alone."""
    blocks = cut_neighbours(prompts, words_in_tree, block_tokens)
    assert [p.text for block in blocks for p in block.requests] == sorted(p.text for p in PROMPTS)
    for block in blocks:
        assert block.tokens == sum(words_in_tree(block.requests))
        shared = max(len(prompt.text.split()) for prompt in block.requests)
        limit = max(block_tokens, 8 * words_in_tree(block.requests[:1])[0])
        assert len(block.requests) == 1 or block.tokens <= limit + shared


def test_only_a_model_that_shares_is_asked_in_the_order_of_texts(tmp_path: Path) -> None:
    """Any other is asked the longest first."""
    model = Sharing(lambda *_: -1.0)
    Engine(model, Store(tmp_path / "one")).ask(PROMPTS)
    assert [prompt.text for prompt in model.asked] == sorted(prompt.text for prompt in PROMPTS)
    other = FakeModel(lambda *_: -1.0)
    Engine(other, Store(tmp_path / "other")).ask(PROMPTS)
    costs = [-cost for cost in other.cost(other.asked)]
    assert costs == sorted(costs)
    assert len(set(costs)) > 1


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    """A tiny GPT-2 that packs."""
    return tiny.load(tiny.save("gpt2", tmp_path_factory.mktemp("models") / "gpt2"))


def test_the_tokens_of_a_plan_are_those_that_are_computed(local: Local, tmp_path: Path) -> None:
    """And fewer by a third than the prompts alone would take."""
    engine = Engine(local, Store(tmp_path), block_tokens=300)
    local.answer(PROMPTS)  # the first packs are checked
    plan = engine.plan(PROMPTS)
    assert len(plan.blocks) > 2
    with passes(local) as seen:
        engine.ask(PROMPTS, plan)
    assert all(one.is_packed for one in seen)
    assert sum(one.tokens for one in seen) == plan.tokens
    assert 3 * plan.tokens < 2 * sum(local.cost([prompt])[0] for prompt in PROMPTS)


def values(engine: Engine) -> list[Any]:
    """What the store holds, to the last bit."""
    frame = engine.store.read(engine.model.fingerprint)
    return sorted(frame.iter_rows())


def test_a_run_that_was_killed_goes_on_to_the_same_bits(local: Local, tmp_path: Path) -> None:
    """Its blocks are recorded, so that packs are the same; the order of prompts plays no part."""
    whole = Engine(local, Store(tmp_path / "whole"), block_tokens=300)
    whole.ask(PROMPTS)
    path = tmp_path / "blocks.parquet"
    parts = Engine(local, Store(tmp_path / "parts"), block_tokens=300, seconds=0)
    plan = parts.plan(PROMPTS, path)
    plan.record(path)

    def stop(_block: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parts.ask(PROMPTS, plan, stop)
    assert 0 < len(values(parts)) < len(values(whole))
    assert 0 < len(parts.plan(PROMPTS, path).blocks) < len(plan.blocks)
    parts.ask(PROMPTS, parts.plan(PROMPTS, path))
    assert values(parts) == values(whole)
    other = Engine(local, Store(tmp_path / "turned"), block_tokens=300)
    other.ask(PROMPTS[::-1])
    assert values(other) == values(whole)
