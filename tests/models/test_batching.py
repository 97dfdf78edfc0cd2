import logging
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import product
from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ScoringError
from tacit.models.huggingface.passes import Budget, how_many, in_batches
from tacit.requests import Prompt
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local

PROMPTS = [
    Prompt("In a tree, the trunk is above the roots" + "." * n, ("True", "False", "birdhouse"))
    for n in range(12)
]
MANY = [Prompt("It is", tuple(map("".join, product("abc", "def", "ghi", "jk", "mn"))))]


@pytest.fixture(autouse=True, scope="module")
def _no_collection() -> Iterator[None]:
    """Collecting garbage takes longer than all else here, and is of no use without a device."""
    with patch("tacit.models.huggingface.passes.gc.collect"):
        yield


def limited(model: Local, most: int, error: Callable[[], Exception]) -> Local:
    """Has a model fail on more tokens than it can take, padding and what is cached included."""
    forward = model._model.forward

    @wraps(forward)
    def tight(**given: object) -> object:
        mask = given.get("decoder_attention_mask", given.get("attention_mask"))
        assert isinstance(mask, torch.Tensor)
        if len(mask) * mask.shape[-1] > most:
            raise error()
        return forward(**given)

    model._model.forward = tight
    return model


def out_of_memory() -> Exception:
    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


ERRORS: list[Callable[[], Exception]] = [
    MemoryError,
    lambda: RuntimeError(
        "[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"
    ),
    lambda: RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
]


@pytest.mark.parametrize(
    ("name", "prompts", "error"),
    [
        *((name, PROMPTS, out_of_memory) for name in ("gpt2", "mamba", "bert", "t5")),
        *(("gpt2", MANY, error) for error in ERRORS),
    ],
)
def test_running_out_of_memory(
    name: str,
    prompts: list[Prompt],
    error: Callable[[], Exception],
    folder_of: FolderOf,
    loaded: Loaded,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = tiny.load(folder_of(name), batch_tokens=4096)
    expected = loaded(name).answer(prompts)
    with caplog.at_level(logging.WARNING, "tacit"):
        scores = limited(model, 60, error).answer(prompts)
    assert "out of memory: the batch size is reduced to" in caplog.text
    assert model.description["batch_tokens"] < 4096
    for one, other in zip(scores, expected, strict=True):
        assert [a.logprob for a in one.answers] == pytest.approx(
            [a.logprob for a in other.answers], abs=1e-4
        )


def test_memory_for_not_even_one_row(folder_of: FolderOf) -> None:
    model = tiny.load(folder_of("gpt2"))
    with pytest.raises(ScoringError, match="out of memory even with one sequence"):
        limited(model, 2, out_of_memory).answer(PROMPTS)


@pytest.mark.parametrize("error", [IndexError, RuntimeError])
def test_other_failures(error: type[Exception], folder_of: FolderOf) -> None:
    model = tiny.load(folder_of("gpt2"))
    with pytest.raises(ScoringError, match=r"the model failed on a batch of .*no luck"):
        limited(model, 2, lambda: error("no luck")).answer(PROMPTS)


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_batches(costs: list[int], tokens: int) -> None:
    """Every row comes once, the costliest first, in batches that fit unless one row does not."""
    budget = Budget(tokens)
    batches: list[list[int]] = []
    in_batches(costs, budget, batches.append)
    order = [row for batch in batches for row in batch]
    assert sorted(order) == list(range(len(costs)))
    assert [costs[row] for row in order] == sorted(costs, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(costs[row] for row in batch) <= tokens
    assert budget.tokens == tokens


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 200), st.integers(1, 60)
)
def test_batches_that_run_out_of_memory(costs: list[int], tokens: int, most: int) -> None:
    """Every row is done exactly once or the work fails; it fails only when a row is too much."""
    done: list[int] = []

    def forward(batch: list[int]) -> None:
        if sum(costs[row] for row in batch) > most:
            raise MemoryError
        done.extend(batch)

    budget = Budget(tokens)
    if max(costs) > most:
        with pytest.raises(ScoringError, match="one sequence per batch"):
            in_batches(costs, budget, forward)
    else:
        in_batches(costs, budget, forward)
        assert sorted(done) == list(range(len(costs)))
    assert 1 <= budget.tokens <= tokens


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_how_many(cost: int, tokens: int) -> None:
    number = how_many(cost, Budget(tokens))
    assert number >= 1
    assert number == 1 or number * cost <= tokens
    assert (number + 1) * max(cost, 1) > tokens


def test_rows_either_side_of_a_length_are_apart() -> None:
    """Those of one side may be together, the longest first."""
    batches: list[list[int]] = []
    in_batches([30, 44, 39, 41, 40], Budget(1000, apart=40), batches.append)
    assert batches == [[1, 3], [4, 2, 0]]


def test_a_row_beside_longer_ones_has_its_own_positions(folder_of: FolderOf) -> None:
    """A model that turns all positions of a pass by its longest row scores each as if alone."""
    model = tiny.load(folder_of("phi3-longrope"))
    reference = plain.load("phi3-longrope", folder_of("phi3-longrope"))
    prompts = [Prompt("a" + " tree" * n, ("a", "bird")) for n in (5, 30, 35, 37, 45, 60)]
    for prompt, score in zip(prompts, model.answer(prompts), strict=True):
        for one in score.answers:
            assert one.logprob == pytest.approx(reference.score(prompt, one.answer)[0], abs=1e-4)
