"""The engine of models that are known by their replies."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ScoringError, StoreError
from tacit.requests import Prompt, Sample, Samples, SamplingPrompt, Votes

PROMPTS = [
    Prompt("Is ice cold?", ("Yes", "No")),
    Prompt("Is fire cold?", ("Yes", "No")),
    Prompt("Is ice cold?", ("Yes", "No", "Perhaps"), "\n"),
]


@dataclass
class Talker:
    """Replies by text and number alone."""

    samples: int = 5
    name: str = "talker"
    fingerprint: str = "0" * 64
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def description(self) -> dict[str, Any]:
        return {"name": self.name, "fingerprint": self.fingerprint}

    @property
    def supports(self) -> frozenset[type]:
        return frozenset({SamplingPrompt})

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        for one in requests:
            self.asked += [(one.text, number) for number in one.numbers]
        return [Samples(tuple(reply(one.text, n) for n in one.numbers)) for one in requests]

    def stream(
        self, requests: Sequence[SamplingPrompt], seconds: float
    ) -> Generator[list[tuple[SamplingPrompt, Samples]]]:
        """Eight replies to a text at a time, whatever the seconds."""
        assert seconds > 0
        for one in requests:
            for at in range(0, len(one.numbers), 8):
                some = SamplingPrompt(one.text, one.numbers[at : at + 8])
                yield [(some, self.answer([some])[0])]


def reply(text: str, number: int) -> Sample:
    draw = hashlib.sha256(f"{text} {number}".encode()).digest()[0]
    return Sample(("Yes", "No.", "Perhaps")[draw % 3], "whole")


def counted(text: str, samples: int, answers: Sequence[str]) -> Votes:
    """The votes, counted by worker."""
    said = [reply(text, number).reply.strip(".") for number in range(samples)]
    counts = {answer: said.count(answer) for answer in answers}
    return Votes(counts, samples - sum(counts.values()))


def test_votes_are_those_of_the_replies(tmp_path: Path) -> None:
    """One text is asked once for all its prompts, and each reads the replies by its own answers."""
    talker = Talker()
    votes = Engine(talker, Store(tmp_path)).ask(PROMPTS)
    assert votes == [counted(prompt.text, 5, prompt.answers) for prompt in PROMPTS]
    assert sorted(talker.asked) == sorted(
        (text, number) for text in ("Is ice cold?", "Is fire cold?") for number in range(5)
    )


def test_replies_are_asked_for_once_and_more_samples_ask_the_rest(tmp_path: Path) -> None:
    """Also in another process; fewer samples take the first of them."""
    Engine(Talker(samples=3), Store(tmp_path)).ask(PROMPTS)
    more = Talker(samples=5)
    engine = Engine(more, Store(tmp_path))
    plan = engine.plan(PROMPTS)
    assert (plan.distinct, plan.stored, plan.tokens) == (2, 0, 4)
    votes = engine.ask(PROMPTS, plan)
    assert sorted({number for _, number in more.asked}) == [3, 4]
    assert votes == [counted(prompt.text, 5, prompt.answers) for prompt in PROMPTS]
    fewer = Talker(samples=2)
    votes = Engine(fewer, Store(tmp_path)).ask(PROMPTS)
    assert votes == [counted(prompt.text, 2, prompt.answers) for prompt in PROMPTS]
    assert not fewer.asked


def test_progress_counts_each_text_and_each_reply_once(tmp_path: Path) -> None:
    """Each text when it has the last of its replies."""
    told: list[tuple[int, int]] = []
    engine = Engine(Talker(20), Store(tmp_path))
    plan = engine.plan(PROMPTS)
    engine.ask(PROMPTS, plan, lambda part: told.append((part.ended, part.tokens)))
    assert told == [(0, 8), (0, 8), (1, 4)] * 2
    assert (plan.prompts, plan.tokens) == (2, 40)


def test_replies_that_are_damaged_during_a_run_are_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Once the rest is there; the others are left alone."""
    Engine(Talker(), Store(tmp_path)).ask(PROMPTS[:1])
    talker = Talker()
    engine = Engine(talker, Store(tmp_path))
    plan = engine.plan(PROMPTS)
    (segment,) = tmp_path.glob("votes/*/*.parquet")
    segment.write_bytes(b"garbled")
    votes = engine.ask(PROMPTS, plan)
    assert votes == [counted(prompt.text, 5, prompt.answers) for prompt in PROMPTS]
    texts = [PROMPTS[1].text] * 5 + [PROMPTS[0].text] * 5
    assert talker.asked == [(text, n % 5) for n, text in enumerate(texts)]
    assert "is damaged" in caplog.text


def test_replies_that_a_store_loses_twice_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its disk is not asked for a third time."""
    monkeypatch.setattr(Store, "append", lambda *_: None)
    talker = Talker()
    with pytest.raises(StoreError, match="no longer contains"):
        Engine(talker, Store(tmp_path)).ask(PROMPTS)
    assert len(talker.asked) == 20


def test_a_model_that_replies_too_little_is_an_error(tmp_path: Path) -> None:
    """Nothing is stored under a wrong number."""

    class Terse(Talker):
        def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
            return [Samples(some.replies[:-1]) for some in super().answer(requests)]

    with pytest.raises(ScoringError, match="a different number of replies"):
        Engine(Terse(), Store(tmp_path)).ask(PROMPTS)
