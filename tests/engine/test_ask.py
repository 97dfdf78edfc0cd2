import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.blocks import cut
from tacit.engine.store import Store
from tacit.errors import ScoringError
from tacit.models.fake import FakeModel
from tacit.models.huggingface.fingerprint import Identity
from tacit.requests import (
    UNKNOWN,
    Prompt,
    RankingPrompt,
    Scores,
    ScoringKind,
    Vocabulary,
    missing_by_reason,
)

IDENTITY = Identity(
    {"model.safetensors": "00"}, "config", "tokenizer", None, "float32", "BOS", "s1"
)


WORDS, FEW = Vocabulary(("a", "b", "cd")), Vocabulary(("b", "e"))


def by_length(prompt: Prompt, answer: str) -> float:
    return -len(prompt.text) - len(prompt.separator) / 8 - len(answer) / 64


def model_of(identity: Identity = IDENTITY) -> FakeModel:
    model = FakeModel(by_length)
    model.fingerprint = identity.fingerprint
    return model


def test_a_prompt_is_asked_once_however_often_it_stands_there(tmp_path: Path) -> None:
    """Also when its answers come in another order or in parts."""
    model = model_of()
    prompts = [Prompt("x", ("a", "b")), Prompt("x", ("b", "a")), Prompt("x", ("b", "c"))]
    scores = Engine(model, Store(tmp_path)).ask(prompts)
    assert model.asked == [Prompt("x", ("a", "b", "c"))]
    assert [[one.answer for one in score.answers] for score in scores] == [
        ["a", "b"],
        ["b", "a"],
        ["b", "c"],
    ]


@pytest.mark.parametrize(
    ("prompt", "identity", "asked"),
    [
        (Prompt("x", ("b", "a")), IDENTITY, []),
        (Prompt("x", ("a", "b", "c")), IDENTITY, [Prompt("x", ("c",))]),
        (Prompt("x", ("A",)), IDENTITY, [Prompt("x", ("A",))]),
        (Prompt("x.", ("a",)), IDENTITY, [Prompt("x.", ("a",))]),
        (Prompt("x", ("a",), "\n"), IDENTITY, [Prompt("x", ("a",), "\n")]),
        (Prompt("x", ("a",)), replace(IDENTITY, revision="v2"), [Prompt("x", ("a",))]),
    ],
)
def test_only_what_is_new_is_asked(
    tmp_path: Path, prompt: Prompt, identity: Identity, asked: list[Prompt]
) -> None:
    """Of a text, an answer or a separator that differs by a character; of another model all."""
    Engine(model_of(), Store(tmp_path)).ask([Prompt("x", ("a", "b"))])
    model = model_of(identity)
    assert Engine(model, Store(tmp_path)).ask([prompt]) == FakeModel(by_length).answer([prompt])
    assert model.asked == asked


def test_no_prompts_are_no_work(tmp_path: Path) -> None:
    assert Engine(model_of(), Store(tmp_path / "store")).ask([]) == []
    assert not (tmp_path / "store").exists()


class Confused(FakeModel):
    def answer(self, requests: Sequence[Any]) -> list[Any]:
        return [Scores(score.answers[::-1]) for score in super().answer(requests)]


def test_scores_of_other_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match="answers other than"):
        Engine(Confused(by_length), Store(tmp_path / "s")).ask([Prompt("x", ("a", "b"))])
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("prompt", "value"),
    [
        *((Prompt("x", ("a",)), value) for value in (math.nan, math.inf, -math.inf, 3.0)),
        *((RankingPrompt("x", WORDS, ("a",)), value) for value in (math.inf, -math.inf, 3.0)),
    ],
)
def test_what_is_no_log_probability_is_refused(
    tmp_path: Path, prompt: Prompt | RankingPrompt, value: float
) -> None:
    with pytest.raises(ScoringError, match="not a log-probability"):
        Engine(FakeModel(lambda *_: value), Store(tmp_path / "s")).ask([prompt])
    assert not (tmp_path / "s").exists()


def test_blocks_hold_every_prompt_once_and_keep_to_their_size() -> None:
    """The longest come first; a prompt over the size has a block of its own."""
    prompts = [Prompt("w " * n, ("a",)) for n in (1, 9, 3, 3, 2, 30)]
    costs = [1, 9, 3, 3, 2, 30]
    blocks = cut(prompts, costs, block_tokens=10)
    assert sorted(p.text for b in blocks for p in b.requests) == sorted(p.text for p in prompts)
    assert [block.tokens for block in blocks] == [30, 9, 9]


def test_blocks_do_not_depend_on_the_order_of_the_prompts() -> None:
    """So that the same work is rounded the same."""
    prompts = [Prompt(f"text {n % 7} {n}", ("a",)) for n in range(40)]
    costs = [len(p.text) for p in prompts]
    turned = cut(prompts[::-1], costs[::-1], 50)
    assert cut(prompts, costs, 50) == turned


def test_merging_keeps_the_first_order() -> None:
    merged = ScoringKind().merge(
        [Prompt("b", ("y",)), Prompt("a", ("x",)), Prompt("b", ("x", "y"))]
    )
    assert merged == [Prompt("b", ("y", "x")), Prompt("a", ("x",))]


class Recording(FakeModel):
    def __init__(self, stop: int) -> None:
        super().__init__(by_length)
        self.blocks: list[tuple[Any, ...]] = []
        self._stop = stop

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        if len(self.blocks) == self._stop:
            raise KeyboardInterrupt
        self.blocks.append(tuple(requests))
        return super().answer(requests)


SCORED = [Prompt(f"text {n} " + "w " * (n % 9), ("a", "b")) for n in range(60)]
RANKED = [
    RankingPrompt(f"text {n % 40} " + "w " * (n % 40 % 9), WORDS if n < 40 else FEW, ("b",))
    for n in range(60)
]


@pytest.mark.parametrize("prompts", [SCORED, RANKED], ids=["scores", "rankings"])
def test_a_run_that_goes_on_asks_the_very_blocks_that_were_recorded(
    prompts: list[Any], tmp_path: Path
) -> None:
    """Also when other prompts reached the store in the meantime."""
    whole = Recording(-1)
    Engine(whole, Store(tmp_path / "whole"), 20).ask(prompts)

    store, path = Store(tmp_path / "parts"), tmp_path / "blocks.parquet"
    stopped = Recording(3)
    engine = Engine(stopped, store, 20)
    plan = engine.plan(prompts, path)
    plan.record(path)
    with pytest.raises(KeyboardInterrupt):
        engine.ask(prompts, plan)
    Engine(FakeModel(by_length), store, 20).ask(prompts[5:6])

    resumed = Recording(-1)
    engine = Engine(resumed, store, 20)
    found = engine.ask(prompts, engine.plan(prompts, path))
    assert found == FakeModel(by_length).answer(prompts)
    assert stopped.blocks + resumed.blocks == whole.blocks


def test_blocks_of_other_prompts_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "blocks.parquet"
    first = Engine(model_of(), Store(tmp_path / "store"))
    first.plan([Prompt("x", ("a",))], path).record(path)
    plan = first.plan([Prompt("y", ("a",))], path)
    assert [block.requests for block in plan.blocks] == [(Prompt("y", ("a",)),)]


def test_what_a_lost_store_held_is_asked_again(tmp_path: Path) -> None:
    """Also where the record of blocks was made when the store still held it."""
    path = tmp_path / "blocks.parquet"
    prompts = [Prompt("x", ("a",)), Prompt("y", ("a",))]
    kept = Store(tmp_path / "kept")
    Engine(model_of(), kept).ask(prompts[:1])
    Engine(model_of(), kept).plan(prompts, path).record(path)
    model = model_of()
    engine = Engine(model, Store(tmp_path / "new"))
    scores = engine.ask(prompts, engine.plan(prompts, path))
    assert [score["a"].logprob for score in scores] == [by_length(p, "a") for p in prompts]
    assert sorted(prompt.text for prompt in model.asked) == ["x", "y"]


def test_why_a_score_is_missing_is_kept(tmp_path: Path) -> None:
    prompt, model = Prompt("x", ("a", "b")), FakeModel({"x": {"a": None, "b": -1.0}})
    scores = [Engine(model, Store(tmp_path)).ask([prompt]) for _ in range(2)]
    assert model.asked == [prompt]
    assert scores[0] == scores[1]
    assert [one.logprob for one in scores[1][0].answers] == [None, -1.0]
    assert missing_by_reason(scores[1]) == {UNKNOWN: 1}


def test_a_model_that_answers_fewer_requests_is_named(tmp_path: Path) -> None:
    model = model_of()
    model.answer = lambda requests: FakeModel(by_length).answer(requests)[1:]  # type: ignore[method-assign]
    with pytest.raises(ScoringError, match="fake returned 1 answer to 2 requests"):
        Engine(model, Store(tmp_path)).ask([Prompt("a", ("b",)), Prompt("c", ("d",))])
