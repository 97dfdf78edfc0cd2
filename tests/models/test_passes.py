import math
from typing import Any, NoReturn

import numpy as np
import pytest
import torch

from tacit.errors import ScoringError
from tacit.models.huggingface import passes, ranking
from tacit.models.huggingface.passes import TokenLogprobs, totals
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tests.models.conftest import Changed, Loaded
from tests.models.passes import differences
from tests.models.passes import passes as passes_of
from tests.models.prompts import ALIKE


@pytest.mark.parametrize("bias", [True, False])
def test_a_part_of_the_vocabulary_at_a_time(bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a column
    """Each token's log-probability is a log-softmax of the head's output."""
    torch.manual_seed(0)
    head, states = torch.nn.Linear(8, 50, bias=bias), torch.randn(3, 8) * 5
    monkeypatch.setattr(passes, "_LOGITS", 60)
    which, tokens = np.array([0, 0, 2, 1]), np.array([1, 49, 19, 20])
    found = passes._by_parts(head, states, which, tokens)
    expected = head.double()(states.double()).log_softmax(-1)[which, tokens]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("first", [0.0, -30.0, -1e4, -1e9, -math.inf])
def test_the_normaliser_with_an_improbable_first_token(first: float) -> None:
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 300)).astype(np.float32))
    logits[:, 0] = first
    exact = logits.double().logsumexp(dim=-1)
    assert (passes._log_sum_exp(logits) - exact).abs().max().item() < 2e-6


@pytest.mark.parametrize("change", ["masked", "scaled"])
def test_logits_that_are_changed_in_place(
    change: str, loaded: Loaded, changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are no head's output, whether or not their stand-in can be changed."""
    model: Any = loaded("gpt2")
    expected = model.answer(ALIKE)

    def spoil(output: Any, _: object) -> None:  # noqa: ANN401 - a model's
        if change == "masked":
            output.logits[:, :, 5] = -1e9
        else:
            output.logits.mul_(1.0)

    changed("gpt2", after=spoil)
    monkeypatch.setattr(model._passes, "splits", None)
    found = model.answer(ALIKE)
    assert model._passes.splits is False
    if change == "scaled":
        assert max(differences(found, expected)) < 1e-5


@pytest.mark.parametrize("packing", [True, False])
def test_only_positions_that_are_read_get_logits(packing: bool, loaded: Loaded) -> None:  # noqa: FBT001 - a column
    """As many states go through the head as there are positions, of a scored sentence too."""
    model, states = loaded("gpt2", packing=packing), list[int]()
    assert model._passes.splits

    def watch(_module: object, _given: object, output: torch.Tensor) -> None:
        states.append(output.shape[:2].numel())

    head = model._model.get_output_embeddings().register_forward_hook(watch)
    try:
        model.answer([Prompt("Is a tree", ("a", "b", "c")), Prompt("Is a bird", ("a", "b"))])
        (sentence,) = model.answer([Prompt("", ("Is a tree a bird?",), "")])
    finally:
        head.remove()
    assert states == [2, sentence.answers[0].tokens]


def values(*numbers: float) -> TokenLogprobs:
    return TokenLogprobs(np.zeros(len(numbers), np.int64), torch.tensor(numbers))


def test_a_sum_does_not_depend_on_order() -> None:
    numbers = [-1e-8, -30.0, -0.1, -1e8, -3.3]
    one = totals([values(*numbers)], 1)
    assert one == totals([values(number) for number in reversed(numbers)], 1)
    assert one == [math.fsum(values(*numbers).logprobs.tolist())]


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf])
def test_a_sum_of_no_number(value: float) -> None:
    with pytest.raises(ScoringError, match="try --dtype float32"):
        totals([values(-1.0, value)], 1)


def test_a_failure_that_a_device_tells_late(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late:
        def cpu(self) -> NoReturn:
            raise RuntimeError("device-side assert triggered")

    model, late = loaded("gpt2"), Late()  # type: Any, Any
    model.answer(ALIKE)  # the first packs are checked
    score = passes.Passes.score
    monkeypatch.setattr(
        passes.Passes, "score", lambda *given: score(*given)._replace(logprobs=late)
    )
    with pytest.raises(ScoringError, match="failed on its device: device-side assert"):
        model.answer(ALIKE)


# The host never waits for a device between two passes: values are fetched behind the last one.


WAITED = [
    Prompt(text, ("a tree s", "bird", "roots above"))
    for text in ("The bird is above ___", "A bird has ___", "The roots and the bird are above ___")
]


@pytest.mark.parametrize(
    ("name", "options"), [("gpt2", {}), ("gpt2", {"packing": False}), ("bert", {}), ("t5", {})]
)
def test_values_are_fetched_behind_the_last_pass(
    name: str, options: dict[str, bool], loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, fetched, on_host = loaded(name, batch_tokens=16, **options), list[int](), passes.on_host

    def watching(found: torch.Tensor) -> Any:  # noqa: ANN401 - on_host's own
        fetched.append(len(seen))
        return on_host(found)

    monkeypatch.setattr(passes, "on_host", watching)
    with passes_of(model) as seen:
        model.answer(WAITED)
    assert len(seen) > 3
    assert set(fetched) == {len(seen)}


def test_ranks_are_fetched_one_pass_behind(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    model, fetched, on_host = loaded("gpt2", batch_tokens=1), list[int](), passes.on_host

    def watching(found: torch.Tensor) -> Any:  # noqa: ANN401 - on_host's own
        fetched.append(len(seen))
        return on_host(found)

    monkeypatch.setattr(ranking, "on_host", watching)
    words = Vocabulary(["bird", "roots", "above"])
    with passes_of(model) as seen:
        model.answer([RankingPrompt(one.text, words, ("bird",)) for one in WAITED])
    assert fetched == [len(seen) - 1, len(seen), len(seen)]
