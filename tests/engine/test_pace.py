"""Parts of blocks, by a clock that stands until somebody answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tacit.engine.ask import Engine
from tacit.engine.pace import PERIOD, Pace
from tacit.engine.plan import Block
from tacit.engine.store import Store
from tacit.engine.voting import BLOCK_DRAWS, VotingEngine
from tacit.models.fake import FakeModel
from tacit.prompts import Prompt
from tests.engine.test_voting import Talker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.models.chat_samples import Draws, Sample
    from tacit.prompts import LogProbs

PROMPTS = [Prompt(f"text {n}", ("a", "b")) for n in range(300)]


def by_text(prompt: Prompt, answer: str) -> float:
    """A score that is another for each prompt and answer."""
    return -float(prompt.text.removeprefix("text ")) - len(answer) / 8 - 1


@dataclass
class Clock:
    """Stands until it is put forward."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


class Slow(FakeModel):
    """Takes some seconds for each prompt, a hundred times more behind a number of them."""

    def __init__(self, clock: Clock, seconds: float, slower: int | None = None) -> None:
        super().__init__(by_text)
        self.parts: list[int] = []
        self._clock, self._seconds, self._slower = clock, seconds, slower

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The scores, when their time has gone by."""
        self.parts.append(len(prompts))
        for _ in prompts:
            late = self._slower is not None and self._clock.now >= self._slower
            self._clock.now += self._seconds * (100 if late else 1)
        return super().score(prompts)


def paced(model: FakeModel, store: Store, clock: Clock, least: int = 1) -> Engine:
    """An engine that stores parts of blocks."""
    return Engine(model, store, pace=Pace(least, clock=clock))


def test_parts_are_stored_within_half_a_period(tmp_path: Path) -> None:
    """Once the time of an answer is known; few are asked until then."""
    clock = Clock()
    model, times = Slow(clock, 0.5), [0.0]
    engine = paced(model, Store(tmp_path), clock)
    engine.ask(PROMPTS, progress=lambda _: times.append(clock.now))
    assert len(engine.plan(PROMPTS[:1]).blocks) == 0
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps == [0.5, 2.0, 8.0, *[PERIOD / 2] * 4, 19.5]
    assert sum(model.parts) == len(PROMPTS)


def test_a_server_that_becomes_slower_is_asked_less_at_once(tmp_path: Path) -> None:
    """The part behind the one that took too long is stored in time again."""
    clock = Clock()
    model, times = Slow(clock, 0.05, slower=20), [0.0]
    paced(model, Store(tmp_path), clock).ask(
        PROMPTS[:280], progress=lambda _: times.append(clock.now)
    )
    gaps = [after - before for before, after in pairwise(times)]
    assert max(gaps[:4]) < PERIOD / 2
    assert all(gap <= PERIOD / 2 for gap in gaps[5:])


def test_as_many_are_asked_at_once_as_the_server_is_to_have(tmp_path: Path) -> None:
    """Also where one answer alone takes longer than a period."""
    clock = Clock()
    model = Slow(clock, 100)
    paced(model, Store(tmp_path), clock, least=8).ask(PROMPTS[:20])
    assert model.parts == [8, 8, 4]


class Dying(Slow):
    """Is killed, as if by ``kill -9``, before some prompt."""

    def __init__(self, clock: Clock, dies: int) -> None:
        super().__init__(clock, 1)
        self._dies = dies

    def score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        """The scores, if it lives."""
        if len(self.asked) + len(prompts) > self._dies:
            raise KeyboardInterrupt
        return super().score(prompts)


@pytest.mark.parametrize("dies", [0, 1, 4, 5, 100, 299])
def test_who_is_killed_keeps_what_was_stored_and_ends_the_same(tmp_path: Path, dies: int) -> None:
    """What is left is asked once; nothing is asked again; the scores are what they were."""
    clock, path = Clock(), tmp_path / "blocks.parquet"
    whole = paced(Slow(clock, 1), Store(tmp_path / "whole"), clock).ask(PROMPTS)
    dying = Dying(clock, dies)
    engine = paced(dying, Store(tmp_path / "store"), clock)
    plan = engine.plan(PROMPTS, path)
    plan.record(path)
    with pytest.raises(KeyboardInterrupt):
        engine.ask(PROMPTS, plan)
    assert dies - len(dying.asked) < max(1, PERIOD / 2)
    going_on = Slow(clock, 1)
    again = paced(going_on, Store(tmp_path / "store"), clock)
    plan = again.plan(PROMPTS, path)
    assert plan.stored == len(dying.asked)
    assert again.ask(PROMPTS, plan) == whole
    assert sorted(p.text for p in going_on.asked + dying.asked) == sorted(p.text for p in PROMPTS)
    assert not path.exists(), "blocks that mean nothing are not recorded"


def test_progress_counts_each_prompt_and_each_token_once(tmp_path: Path) -> None:
    """However a block is parted."""
    clock, told = Clock(), list[Block]()
    engine = paced(Slow(clock, 0.7), Store(tmp_path), clock)
    plan = engine.plan(PROMPTS)
    engine.ask(PROMPTS, plan, told.append)
    assert len(told) > len(plan.blocks)
    assert sum(block.ended for block in told) == plan.prompts
    assert sum(block.tokens for block in told) == plan.tokens


def test_a_model_of_this_process_computes_whole_blocks(tmp_path: Path) -> None:
    """Its batches stay what they were, however long they take."""
    clock = Clock()
    model = Slow(clock, 100)
    Engine(model, Store(tmp_path), block_tokens=1000).ask(PROMPTS)
    plan = Engine(FakeModel(by_text), Store(tmp_path / "other"), block_tokens=1000).plan(PROMPTS)
    assert model.parts == [len(block.prompts) for block in plan.blocks]
    assert len(model.parts) > 1


@dataclass
class SlowTalker(Talker):
    """Takes ten seconds for each request."""

    clock: Clock = field(default_factory=Clock)
    requests: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def sample(self, draws: Sequence[Draws]) -> list[list[Sample]]:
        """The replies, when their time has gone by."""
        self.clock.now += 10 * len(draws)
        self.requests += [(each.text, each.numbers) for each in draws]
        return super().sample(draws)


@pytest.mark.parametrize("together", [1, 4])
def test_replies_are_stored_in_parts_that_part_no_request(tmp_path: Path, together: int) -> None:
    """Who is killed goes on with the requests that are left, and has the same votes."""
    prompts = [Prompt(f"Is {n} cold?", ("Yes", "No")) for n in range(4)]
    whole = VotingEngine(Talker(10), Store(tmp_path / "whole")).ask(prompts)
    assert len(prompts) * 10 < BLOCK_DRAWS
    clock = Clock()
    dying = SlowTalker(10, dies=20, clock=clock)
    pace = Pace(1, clock=clock)
    store = Store(tmp_path / "store")
    with pytest.raises(Exception, match="out of money"):
        VotingEngine(dying, store, pace, together).ask(prompts)
    going_on = SlowTalker(10, clock=clock)
    engine = VotingEngine(going_on, store, pace, together)
    plan = engine.plan(prompts)
    assert 0 < plan.tokens < len(prompts) * 10
    told: list[tuple[int, int]] = []
    assert engine.ask(prompts, plan, lambda part: told.append((part.ended, part.tokens))) == whole
    assert sum(ended for ended, _ in told) == plan.prompts
    assert sum(tokens for _, tokens in told) == plan.tokens
    steps = {numbers for _, numbers in going_on.requests}
    assert steps <= {tuple(range(at, min(at + together, 10))) for at in range(0, 10, together)}
