from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.huggingface.packing import cut_neighbours
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.passes import Local, passes

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


@given(st.lists(st.sampled_from(PROMPTS), min_size=1, unique=True), st.integers(1, 300))
def test_neighbours_stand_together(some: list[Prompt], block_tokens: int) -> None:
    prompts = sorted(some, key=lambda prompt: prompt.text)

    costs = np.array(words_in_tree(prompts))
    longest = np.array([len(prompt.text.split()) for prompt in prompts])
    blocks = cut_neighbours(costs, longest, block_tokens)
    assert [at for bounds in blocks for at in range(*bounds)] == list(range(len(prompts)))
    for bounds in blocks:
        block = range(*bounds)
        shared = max(len(prompts[number].text.split()) for number in block)
        limit = max(block_tokens, 8 * longest[block[0]])
        tokens = sum(words_in_tree([prompts[number] for number in block]))
        assert len(block) == 1 or tokens <= limit + shared


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    return tiny.load(tiny.save("gpt2", tmp_path_factory.mktemp("models") / "gpt2"))


def test_the_tokens_of_a_plan_are_those_that_are_computed(local: Local, tmp_path: Path) -> None:
    engine = Engine(local, Store(tmp_path), block_tokens=300)
    local.answer(PROMPTS)  # the first packs are checked
    plan = engine.plan(PROMPTS)
    assert len(plan.blocks) > 2
    with passes(local) as seen:
        engine.ask(PROMPTS, plan)
    assert all(one.is_packed for one in seen)
    assert sum(one.tokens for one in seen) == plan.tokens
    assert 3 * plan.tokens < 2 * sum(local.cost([prompt])[0] for prompt in PROMPTS)


def test_the_order_of_prompts_plays_no_part(local: Local, tmp_path: Path) -> None:
    """The store has the same bits, and about what the model gives when it is asked all at once."""
    rows = []
    for name, prompts in (("a", PROMPTS), ("b", PROMPTS[::-1])):
        engine = Engine(local, Store(tmp_path / name), block_tokens=300)
        engine.ask(prompts)
        rows.append(sorted(engine.store.read(local.fingerprint).iter_rows()))
    assert rows[0] == rows[1]
    asked = zip(engine.ask(PROMPTS), local.answer(PROMPTS), strict=True)
    for one, other in asked:
        values = [[each.logprob for each in scores.answers] for scores in (one, other)]
        assert values[0] == pytest.approx(values[1], abs=1e-4)
