"""Models whose answers come one by one, in any order: what is stored of them, and when."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tacit.engine import local
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ScoringError, UnreliableError
from tacit.models.fake import FakeModel
from tacit.models.openai.streaming import Stream
from tacit.requests import Prompt, Sample, Samples, SamplingPrompt, Scores
from tacit.requests.kind import Part

GENEROUS = 60.0
ANSWERS = ("a", "bc")
PROMPTS = [Prompt(f"{'word ' * (number % 7)}{number}", ANSWERS) for number in range(40)]
TEXTS = [prompt.text for prompt in PROMPTS]
SAMPLES = 3


def value(prompt: Prompt, answer: str) -> float:
    """A score that no other prompt or answer has, and that binary fractions do not hold exactly."""
    return -0.1 * (TEXTS.index(prompt.text) + 1) - 1e-7 * len(answer)


def sample(text: str, number: int) -> Sample:
    return Sample(f"a, {number} {text}", "whole")


class Streaming(FakeModel):
    """Works on prompts in threads, as the models behind servers do."""

    def __init__(
        self, before: Callable[[str], object] = str, several: int = 1, *, shuffled: bool = False
    ) -> None:
        super().__init__(value)
        self.before, self.several, self.shuffled = before, several, shuffled

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        def work(prompt: Prompt) -> tuple[Prompt, Scores]:
            self.before(prompt.text)
            return prompt, self.answer([prompt])[0]

        parts = Stream(work, requests, self.several, seconds).parts()
        if not self.shuffled:
            yield from ([one for _, one in part] for part in parts)
            return
        scores = [one for part in parts for _, one in part]
        random.Random(1).shuffle(scores)  # noqa: S311 - drawn to be drawn again
        yield from (scores[at : at + 7] for at in range(0, len(scores), 7))


class Changing(Streaming):
    """Answers, and is then found to be another model."""

    def recheck(self, answered: Sequence[tuple[Any, Any]], *, last: bool) -> str | None:  # noqa: ARG002
        raise UnreliableError("another model")


@dataclass
class Replying:
    """Replies to one number of a text at a time, in threads.

    Args:
        before: Called with each text before it is replied to.
        several: How many threads.
        shuffled: Whether all replies come together, in an order drawn by chance.
    """

    before: Callable[[str], object] = str
    several: int = 1
    shuffled: bool = False
    samples: int = SAMPLES
    name: str = "replying"
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
        return [Samples(tuple(sample(one.text, n) for n in one.numbers)) for one in requests]

    def stream(
        self, requests: Sequence[SamplingPrompt], seconds: float
    ) -> Generator[list[tuple[SamplingPrompt, Samples]]]:
        def work(one: SamplingPrompt) -> tuple[SamplingPrompt, Samples]:
            self.before(one.text)
            self.asked += [(one.text, number) for number in one.numbers]
            return one, self.answer([one])[0]

        singles = [
            SamplingPrompt(each.text, (number,)) for each in requests for number in each.numbers
        ]
        parts = Stream(work, singles, self.several, seconds).parts()
        if not self.shuffled:
            yield from ([one for _, one in part] for part in parts)
            return
        replies = [one for part in parts for _, one in part]
        random.Random(1).shuffle(replies)  # noqa: S311 - drawn to be drawn again
        yield from (replies[at : at + 7] for at in range(0, len(replies), 7))


class Failing:
    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, text: str) -> None:
        if text == self._text:
            raise ScoringError("it is broken")


class Gate:
    """Lets every text but one through, and that one when it is opened."""

    def __init__(self, text: str) -> None:
        self._text, self.opened, self.awaited = text, threading.Event(), threading.Event()

    def __call__(self, text: str) -> None:
        if text == self._text:
            self.awaited.set()
            assert self.opened.wait(GENEROUS)


def stored_scores(folder: Path, model: FakeModel) -> dict[tuple[str, str], float]:
    rows = Store(folder).read(model.fingerprint)
    return {
        (text, answer): logprob
        for text, answer, logprob in rows.select("text", "answer", "logprob").iter_rows()
    }


def stored_replies(folder: Path, model: Replying) -> dict[tuple[str, int], str]:
    """What another process finds in the store."""
    rows = Store(folder).read(model.fingerprint, SamplingPrompt)
    return {
        (text, number): reply
        for text, number, reply in rows.select("text", "number", "reply").iter_rows()
    }


def values(scores: Sequence[Scores]) -> list[list[float | None]]:
    return [[score[answer].logprob for answer in ANSWERS] for score in scores]


EXPECTED = [[value(prompt, answer) for answer in ANSWERS] for prompt in PROMPTS]
REPLIES = {(text, number): sample(text, number).reply for text in TEXTS for number in range(3)}


def test_scores_that_come_out_of_order_are_those_of_their_prompts(tmp_path: Path) -> None:
    """Each prompt has the scores that its own computation gives, to the bit."""
    model = Streaming(shuffled=True, several=3)
    assert values(Engine(model, Store(tmp_path)).ask(PROMPTS)) == EXPECTED
    assert len(model.asked) == len(PROMPTS)


def test_replies_that_come_out_of_order_are_those_of_their_texts(tmp_path: Path) -> None:
    """Each number of each text has its own reply."""
    model = Replying(shuffled=True, several=3)
    Engine(model, Store(tmp_path)).ask(PROMPTS)
    assert stored_replies(tmp_path, model) == REPLIES


def test_progress_adds_up_to_the_plan_whatever_the_order(tmp_path: Path) -> None:
    """In prompts and tokens, in replies and texts."""
    told: list[tuple[int, int]] = []
    engine = Engine(Streaming(shuffled=True), Store(tmp_path), block_tokens=50)
    plan = engine.plan(PROMPTS)
    engine.ask(PROMPTS, plan, lambda part: told.append((part.ended, part.tokens)))
    assert (len(plan.blocks), len(told)) == (5, 6)
    assert [sum(column) for column in zip(*told, strict=True)] == [plan.prompts, plan.tokens]
    told.clear()
    voting = Engine(Replying(shuffled=True), Store(tmp_path))
    drawn = voting.plan(PROMPTS)
    voting.ask(PROMPTS, drawn, lambda part: told.append((part.ended, part.tokens)))
    assert [sum(column) for column in zip(*told, strict=True)] == [drawn.prompts, drawn.tokens]


def test_scores_are_stored_while_another_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of other blocks than its own."""
    monkeypatch.setattr(local, "PERIOD", 0.0)
    gate, stored = Gate(TEXTS[3]), threading.Event()
    model = Streaming(gate, 2)
    engine = Engine(model, Store(tmp_path), block_tokens=50)
    plan, ended = engine.plan(PROMPTS), list[Prompt]()

    def progress(part: Part) -> None:
        ended.extend(part.requests)
        if len(ended) == len(PROMPTS) - 1:
            stored.set()

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(engine.ask, PROMPTS, plan, progress)
        try:
            assert stored.wait(GENEROUS)
            assert gate.awaited.is_set()
            found = {text for text, _ in stored_scores(tmp_path, model)}
            assert found == {*TEXTS} - {TEXTS[3]}
        finally:
            gate.opened.set()
        assert values(asking.result(GENEROUS)) == EXPECTED


def test_replies_are_stored_while_others_are_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the other texts' all."""
    monkeypatch.setattr(local, "PERIOD", 0.0)
    gate, stored, ended = Gate(TEXTS[3]), threading.Event(), list[int]()
    model = Replying(gate, SAMPLES + 1)
    engine = Engine(model, Store(tmp_path))

    def progress(part: Part) -> None:
        ended.append(part.tokens)
        if sum(ended) == SAMPLES * (len(TEXTS) - 1):
            stored.set()

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(engine.ask, PROMPTS, None, progress)
        try:
            assert stored.wait(GENEROUS)
            found = stored_replies(tmp_path, model)
            assert found == {key: reply for key, reply in REPLIES.items() if key[0] != TEXTS[3]}
        finally:
            gate.opened.set()
        asking.result(GENEROUS)
    assert stored_replies(tmp_path, model) == REPLIES


def test_what_was_scored_before_a_failure_is_stored_and_the_rest_asked(tmp_path: Path) -> None:
    """Nothing is asked twice, and the scores are those of a run that nothing happened to."""
    whole = Streaming()
    undisturbed = Engine(whole, Store(tmp_path / "whole")).ask(PROMPTS)
    order = [prompt.text for prompt in whole.asked]
    broken = Streaming(Failing(order[17]))
    with pytest.raises(ScoringError, match="it is broken"):
        Engine(broken, Store(tmp_path)).ask(PROMPTS)
    stored = stored_scores(tmp_path, broken)
    assert {text for text, _ in stored} == {*order[:17]}
    again = Streaming()
    scores = Engine(again, Store(tmp_path)).ask(PROMPTS)
    assert sorted(prompt.text for prompt in again.asked) == sorted(order[17:])
    assert scores == undisturbed
    assert values(scores) == EXPECTED


def test_what_was_replied_before_a_failure_is_stored_and_the_rest_asked(tmp_path: Path) -> None:
    """No reply is paid for twice, and votes are those of a run that nothing happened to."""
    whole = Replying()
    undisturbed = Engine(whole, Store(tmp_path / "whole")).ask(PROMPTS)
    broken = Replying(Failing(whole.asked[17 * SAMPLES][0]))
    with pytest.raises(ScoringError, match="it is broken"):
        Engine(broken, Store(tmp_path)).ask(PROMPTS)
    assert set(stored_replies(tmp_path, broken)) == {key for key in REPLIES if key in broken.asked}
    assert len(broken.asked) == 17 * SAMPLES
    again = Replying()
    votes = Engine(again, Store(tmp_path)).ask(PROMPTS)
    assert {*again.asked} == {*REPLIES} - {*broken.asked}
    assert len(again.asked) == len(REPLIES) - len(broken.asked)
    assert votes == undisturbed
    assert stored_replies(tmp_path, again) == REPLIES


@pytest.mark.parametrize("error", [KeyboardInterrupt, ScoringError])
def test_who_stops_while_others_are_under_way_ends_all_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """An interruption or an error of whoever is told of the progress; what was stored stays."""
    monkeypatch.setattr(local, "PERIOD", 0.0)
    model = Streaming(several=3)
    told: list[int] = []

    def progress(part: Part) -> None:
        told.append(part.ended)
        raise error

    threads = threading.active_count()
    with pytest.raises(error):
        Engine(model, Store(tmp_path)).ask(PROMPTS, None, progress)
    assert threading.active_count() == threads
    assert len(stored_scores(tmp_path, model)) == told[0] * len(ANSWERS)


def test_what_was_streamed_before_a_check_failed_is_withdrawn(tmp_path: Path) -> None:
    """The next run asks all of it again."""
    with pytest.raises(UnreliableError, match="another model"):
        Engine(Changing(), Store(tmp_path)).ask(PROMPTS)
    assert not stored_scores(tmp_path, Changing())
    again = Streaming()
    assert values(Engine(again, Store(tmp_path)).ask(PROMPTS)) == EXPECTED
    assert len(again.asked) == len(PROMPTS)
