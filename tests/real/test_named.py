"""Named tokens of a test server that serves a real model, beside the model in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.models.openai.loading import load_server
from tacit.models.openai.options import ServerOptions
from tacit.requests import Prompt, RankingPrompt, Vocabulary, missing_by_reason
from tests.models.openai.model import Manners
from tests.models.openai.serving import Serving, serving
from tests.models.openai.test_agreement import HuggingFace
from tests.real.conftest import loaded
from tests.real.test_scores import PROMPTS, TOLERANCE

pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = ("big", "brown", "furry", "fast", "wild", "unbelievable", "a large mammal", "zyzzyva")


@pytest.fixture(scope="module", params=["vllm", "sglang"])
def server(request: pytest.FixtureRequest, folder: Path) -> Iterator[Serving]:
    names: Any = request.param
    manners = Manners(names=names, by_id=names == "vllm", most=20, window=2048)
    with serving(HuggingFace(folder), manners) as running:
        yield running


def test_named_tokens_and_ranks_are_those_of_the_model_here(server: Serving, folder: Path) -> None:
    """Few requests are sent, and no answer is missing."""
    local = loaded(folder)
    served = load_server(server.address, ServerOptions(tokenizer=folder))
    assert served.description["roads"] == ["named-tokens"]
    rankings = [
        RankingPrompt("Everyone knows that a bear is ___", Vocabulary(WORDS), WORDS),
        RankingPrompt("A dog is", Vocabulary(WORDS), WORDS),
    ]
    prompts: list[Prompt] = PROMPTS[::3]
    before = len(server.requests)
    scores, ranks = served.answer(prompts), served.answer(rankings)
    assert len(server.requests) - before < len(prompts)
    assert not missing_by_reason(scores)
    for here, there in zip(local.answer(prompts), scores, strict=True):
        values = [one.logprob for one in here.answers]
        assert [one.logprob for one in there.answers] == pytest.approx(values, abs=TOLERANCE)
    for one, other in zip(local.answer(rankings), ranks, strict=True):
        assert [each.rank for each in one.targets] == [each.rank for each in other.targets]
