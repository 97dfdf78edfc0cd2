"""Models whose answers come one by one, in any order: what is stored of them, and when."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
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


def streamed(
    work: Callable[[Any], Any],
    items: Iterable[Any],
    several: int,
    seconds: float,
    *,
    shuffled: bool,
) -> Generator[list[Any]]:
    """What threads have done of the items; or all of it, seven at a time, in an order drawn."""
    parts = ([one for _, one in part] for part in Stream(work, items, several, seconds).parts())
    if not shuffled:
        yield from parts
        return
    found = [one for part in parts for one in part]
    random.Random(1).shuffle(found)  # noqa: S311 - drawn to be drawn again
    yield from (found[at : at + 7] for at in range(0, len(found), 7))


class Streaming(FakeModel):
    """Works on prompts in threads, as the models behind servers do."""

    def __init__(
        self, before: Callable[[str], object] = str, several: int = 1, *, shuffled: bool = False
    ) -> None:
        super().__init__(value)
        self.before, self.several, self.shuffled = before, several, shuffled

    @property
    def texts(self) -> list[str]:
        return [prompt.text for prompt in self.asked]

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        def work(prompt: Prompt) -> tuple[Prompt, Scores]:
            self.before(prompt.text)
            return prompt, self.answer([prompt])[0]

        return streamed(work, requests, self.several, seconds, shuffled=self.shuffled)


class Changing(Streaming):
    """Answers, and is then found to be another model."""

    def recheck(self, answered: Sequence[tuple[Any, Any]], *, last: bool) -> str | None:  # noqa: ARG002
        raise UnreliableError("another model")


@dataclass
class Replying:
    """Replies to one number of a text at a time, in threads; calls ``before`` with each text."""

    before: Callable[[str], object] = str
    several: int = 1
    shuffled: bool = False
    samples: int = SAMPLES
    reply: Callable[[str, int], Sample] = sample
    name: str = "replying"
    fingerprint: str = "0" * 64
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.asked]

    @property
    def description(self) -> dict[str, Any]:
        return {"name": self.name, "fingerprint": self.fingerprint}

    @property
    def supports(self) -> frozenset[type]:
        return frozenset({SamplingPrompt})

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        self.asked += [(one.text, number) for one in requests for number in one.numbers]
        return [Samples(tuple(self.reply(one.text, n) for n in one.numbers)) for one in requests]

    def stream(
        self, requests: Sequence[SamplingPrompt], seconds: float
    ) -> Generator[list[tuple[SamplingPrompt, Samples]]]:
        def work(one: SamplingPrompt) -> tuple[SamplingPrompt, Samples]:
            self.before(one.text)
            return one, self.answer([one])[0]

        singles = [SamplingPrompt(one.text, (n,)) for one in requests for n in one.numbers]
        return streamed(work, singles, self.several, seconds, shuffled=self.shuffled)


class Gate:
    """Lets every text but one through, and that one when it is opened."""

    def __init__(self, text: str) -> None:
        self._text, self.opened, self.awaited = text, threading.Event(), threading.Event()

    def __call__(self, text: str) -> None:
        if text == self._text:
            self.awaited.set()
            assert self.opened.wait(GENEROUS)


def failing(at: str) -> Callable[[str], None]:
    def fail(text: str) -> None:
        if text == at:
            raise ScoringError("it is broken")

    return fail


Made = Callable[..., Any]
Stored = dict[tuple[str, Any], Any]
SCORES: Stored = {(p.text, answer): value(p, answer) for p in PROMPTS for answer in ANSWERS}
REPLIES: Stored = {(text, n): sample(text, n).reply for text in TEXTS for n in range(SAMPLES)}


def stored(folder: Path, model: Any) -> Stored:  # noqa: ANN401 - one of the two
    """What another process finds in the store."""
    replies = isinstance(model, Replying)
    rows = Store(folder).read(model.fingerprint, SamplingPrompt if replies else Prompt)
    columns = ("text", "number", "reply") if replies else ("text", "answer", "logprob")
    return {(text, of): found for text, of, found in rows.select(columns).iter_rows()}


EACH = pytest.mark.parametrize(
    ("model_of", "whole", "times"),
    [(Streaming, SCORES, 1), (Replying, REPLIES, SAMPLES)],
    ids=["scores", "replies"],
)
"""Makes a model; what the store has in the end, and how often each text is worked on."""


@EACH
def test_what_comes_out_of_order_is_that_of_its_prompt(
    tmp_path: Path, model_of: Made, whole: Stored, times: int
) -> None:
    """Each prompt has the scores that its own computation gives, to the bit; progress adds up."""
    model, progress = model_of(shuffled=True, several=3), list[tuple[int, int]]()
    engine = Engine(model, Store(tmp_path), block_tokens=50)
    plan = engine.plan(PROMPTS)
    engine.ask(PROMPTS, plan, lambda part: progress.append((part.ended, part.tokens)))
    assert stored(tmp_path, model) == whole
    assert Counter(model.texts) == dict.fromkeys(TEXTS, times)
    assert len(progress) == -(-len(model.texts) // 7)
    assert [sum(column) for column in zip(*progress, strict=True)] == [plan.prompts, plan.tokens]


@EACH
def test_what_is_there_is_stored_while_another_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_of: Made, whole: Stored, times: int
) -> None:
    monkeypatch.setattr(local, "PERIOD", 0.0)
    gate, all_but_one, ended = Gate(TEXTS[3]), threading.Event(), list[Any]()
    model = model_of(gate, times + 1)
    engine = Engine(model, Store(tmp_path), block_tokens=50)

    def progress(part: Part) -> None:
        ended.extend(part.requests)
        if len(ended) == times * (len(PROMPTS) - 1):
            all_but_one.set()

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(engine.ask, PROMPTS, None, progress)
        try:
            assert all_but_one.wait(GENEROUS)
            assert gate.awaited.is_set()
            others = {key: found for key, found in whole.items() if key[0] != TEXTS[3]}
            assert stored(tmp_path, model) == others
        finally:
            gate.opened.set()
        asking.result(GENEROUS)
    assert stored(tmp_path, model) == whole


@EACH
def test_what_came_before_a_failure_is_stored_and_the_rest_asked(
    tmp_path: Path, model_of: Made, whole: Stored, times: int
) -> None:
    """Nothing is asked twice, and the answers are those of a run that nothing happened to."""
    unbroken = model_of()
    undisturbed = Engine(unbroken, Store(tmp_path / "whole")).ask(PROMPTS)
    broken = model_of(failing(unbroken.texts[17 * times]))
    with pytest.raises(ScoringError, match="it is broken"):
        Engine(broken, Store(tmp_path)).ask(PROMPTS)
    assert broken.texts == unbroken.texts[: 17 * times]
    assert stored(tmp_path, broken) == {k: v for k, v in whole.items() if k[0] in broken.texts}
    again = model_of()
    assert Engine(again, Store(tmp_path)).ask(PROMPTS) == undisturbed
    assert sorted(again.texts) == sorted(unbroken.texts[17 * times :])
    assert stored(tmp_path, again) == whole


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
    assert len(stored(tmp_path, model)) == told[0] * len(ANSWERS)


def test_what_was_streamed_before_a_check_failed_is_withdrawn(tmp_path: Path) -> None:
    with pytest.raises(UnreliableError, match="another model"):
        Engine(Changing(), Store(tmp_path)).ask(PROMPTS)
    assert not stored(tmp_path, Changing())
    again = Streaming()
    Engine(again, Store(tmp_path)).ask(PROMPTS)
    assert stored(tmp_path, again) == SCORES
    assert len(again.asked) == len(PROMPTS)
