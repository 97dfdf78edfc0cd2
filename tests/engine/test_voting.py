"""The engine of models that are known by their replies."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ScoringError, StoreError
from tacit.models.fake import FakeModel
from tacit.requests import Prompt, RankingPrompt, Sample, Samples, SamplingPrompt, Vocabulary, Votes
from tests.engine.test_streaming import Replying

PROMPTS = [
    Prompt("Is ice cold?", ("Yes", "No")),
    Prompt("Is fire cold?", ("Yes", "No")),
    Prompt("Is ice cold?", ("Yes", "No", "Perhaps"), "\n"),
]


def reply(text: str, number: int) -> Sample:
    draw = hashlib.sha256(f"{text} {number}".encode()).digest()[0]
    return Sample(("Yes", "No.", "Perhaps")[draw % 3], "whole")


def talker(samples: int = 5) -> Replying:
    return Replying(samples=samples, reply=reply)


def counted(text: str, samples: int, answers: Sequence[str]) -> Votes:
    said = [reply(text, number).reply.strip(".") for number in range(samples)]
    counts = {answer: said.count(answer) for answer in answers}
    return Votes(counts, samples - sum(counts.values()))


def test_votes_are_those_of_the_replies(tmp_path: Path) -> None:
    """One text is asked once for all its prompts, and each reads the replies by its own answers."""
    model = talker()
    votes = Engine(model, Store(tmp_path)).ask(PROMPTS)
    assert votes == [counted(prompt.text, 5, prompt.answers) for prompt in PROMPTS]
    assert sorted(model.asked) == sorted(
        (text, number) for text in ("Is ice cold?", "Is fire cold?") for number in range(5)
    )


def test_replies_are_asked_for_once_and_more_samples_ask_the_rest(tmp_path: Path) -> None:
    """Also in another process; fewer samples take the first of them."""
    Engine(talker(3), Store(tmp_path)).ask(PROMPTS)
    more = talker(5)
    engine = Engine(more, Store(tmp_path))
    plan = engine.plan(PROMPTS)
    assert (plan.distinct, plan.stored, plan.tokens) == (2, 0, 4)
    votes = engine.ask(PROMPTS, plan)
    assert sorted({number for _, number in more.asked}) == [3, 4]
    assert votes == [counted(prompt.text, 5, prompt.answers) for prompt in PROMPTS]
    fewer = talker(2)
    votes = Engine(fewer, Store(tmp_path)).ask(PROMPTS)
    assert votes == [counted(prompt.text, 2, prompt.answers) for prompt in PROMPTS]
    assert not fewer.asked


def by_letters(prompt: Prompt, word: str) -> float:
    return -float(len(prompt.text)) - sum(map(ord, word)) % 7 / 8


RANKED = [RankingPrompt(f"text {n}", Vocabulary(["bear", "seal"]), ("bear",)) for n in range(4)]


@pytest.mark.parametrize(
    ("model_of", "prompts"),
    [
        (partial(FakeModel, by_letters), PROMPTS),
        (partial(FakeModel, by_letters), RANKED),
        (talker, PROMPTS),
    ],
    ids=["scores", "rankings", "votes"],
)
def test_what_is_damaged_while_the_rest_is_asked_is_asked_again(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    model_of: Callable[[], Any],
    prompts: list[Any],
) -> None:
    Engine(model_of(), Store(tmp_path)).ask(prompts[:1])
    engine = Engine(model_of(), Store(tmp_path))
    plan = engine.plan(prompts)
    (segment,) = tmp_path.glob("*/*/0*.parquet")
    segment.write_bytes(b"garbled")
    assert engine.ask(prompts, plan) == Engine(model_of(), Store(tmp_path / "other")).ask(prompts)
    assert "is damaged" in caplog.text


def test_replies_that_a_store_loses_twice_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "append", lambda *_: None)
    model = talker()
    with pytest.raises(StoreError, match="no longer contains"):
        Engine(model, Store(tmp_path)).ask(PROMPTS)
    assert len(model.asked) == 20


def test_a_model_that_replies_too_little_is_an_error(tmp_path: Path) -> None:
    class Terse(Replying):
        def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
            return [Samples(some.replies[:-1]) for some in super().answer(requests)]

    with pytest.raises(ScoringError, match="a different number of replies"):
        Engine(Terse(), Store(tmp_path)).ask(PROMPTS)
