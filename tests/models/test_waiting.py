"""The host never waits for a device between two passes: what is read is fetched behind the last."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from torch import Tensor

from tacit.models.huggingface import passes as forward
from tacit.models.huggingface import ranking
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tests.models.conftest import Loaded
from tests.models.passes import passes

# Of unequal lengths, with answers of one token and of several.
ASKED = [
    Prompt(text, ("a tree s", "bird", "roots above"))
    for text in ("The bird is above ___", "A bird has ___", "The roots and the bird are above ___")
]


@pytest.mark.parametrize(
    ("name", "options"),
    [("gpt2", {}), ("gpt2", {"packing": False}), ("mamba", {}), ("bert", {}), ("t5", {})],
)
def test_answers(
    name: str, options: dict[str, bool], loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packed and plain, with and without branches, of each kind."""
    model = loaded(name, batch_tokens=16, **options)
    fetched: list[int] = []
    on_host = forward.on_host

    def watching(values: Tensor) -> NDArray[np.float32]:
        fetched.append(len(seen))
        return on_host(values)

    monkeypatch.setattr(forward, "on_host", watching)
    with passes(model) as seen:
        model.answer(ASKED)
    assert len(seen) > 3
    assert set(fetched) == {len(seen)}


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_rankings(name: str, loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is ranked is one pass behind what is computed."""
    model = loaded(name, batch_tokens=1)
    vocabulary = Vocabulary(["bird", "roots", "above"])
    fetched: list[int] = []
    on_host = forward.on_host

    def watching(values: Tensor) -> NDArray[np.float32]:
        fetched.append(sum(one.part == "model" for one in seen))
        return on_host(values)

    monkeypatch.setattr(ranking, "on_host", watching)
    with passes(model) as seen:
        model.answer([RankingPrompt(one.text, vocabulary, ("bird",)) for one in ASKED])
    last = sum(one.part == "model" for one in seen)
    assert fetched == [last - 1, last, last]
