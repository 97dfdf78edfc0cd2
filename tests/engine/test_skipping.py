"""Prompts that are longer than the model's window are skipped; the others are asked as ever."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.blocks import too_long
from tacit.engine.store import Store
from tacit.errors import PromptError, TooLongError
from tacit.models.fake import FakeModel
from tacit.requests import TOO_LONG, Prompt, RankingPrompt, Vocabulary, missing_by_reason
from tests.engine.ray_models import by_letters

WINDOW = 10
WORDS = Vocabulary(("bear", "cat", "seal"))
LONG = ("w " * 20).strip()


class Short(FakeModel):
    """A model whose window is so many words of a text with an answer."""

    def __init__(self, window: int = WINDOW) -> None:
        super().__init__(by_letters, "short")
        self._window = window

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """The words of each request; refuses the first one that is too long."""
        answers = [one.answers if isinstance(one, Prompt) else ("word",) for one in requests]
        return [
            self._length(one.text, max(of, key=lambda answer: len(answer.split())))
            for one, of in zip(requests, answers, strict=True)
        ]

    def _length(self, text: str, answer: str) -> int:
        if "forbidden" in text:
            raise PromptError("a prompt that no model can score")
        length = len(f"{text} {answer}".split())
        if length > self._window:
            raise TooLongError(f"{text[:4]!r} is {length} words long, and {self._window} fit")
        return length


MIXED = [
    Prompt(LONG if n % 7 == 3 else f"text {n}" + " w" * (n % 5), ("a", "bc")) for n in range(60)
]


def test_a_long_prompt_has_no_scores_and_the_others_are_as_ever(tmp_path: Path) -> None:
    """All its answers are missing with the reason; each other score is that of a run without it."""
    engine = Engine(Short(), Store(tmp_path / "mixed"))
    scores = engine.ask(MIXED)
    fitting = [prompt for prompt in MIXED if prompt.text != LONG]
    alone = iter(Engine(Short(), Store(tmp_path / "alone")).ask(fitting))
    for prompt, score in zip(MIXED, scores, strict=True):
        if prompt.text == LONG:
            assert [one.logprob for one in score.answers] == [None, None]
            assert {one.missing for one in score.answers} == {TOO_LONG}
        else:
            assert score == next(alone)
    assert missing_by_reason(scores) == {TOO_LONG: 2 * len(range(3, 60, 7))}


@pytest.mark.parametrize(
    ("more", "strict", "message"),
    [
        ([Prompt("forbidden", ("a",))], False, "no model can score"),
        ([], True, f"{LONG[:4]!r} is 21 words long"),
    ],
)
def test_a_run_is_refused_before_anything_is_asked(
    tmp_path: Path, more: list[Prompt], message: str, *, strict: bool
) -> None:
    """Only the length is a reason to skip, and none with strict."""
    model = Short()
    with pytest.raises(PromptError, match=message):
        Engine(model, Store(tmp_path / "store"), strict=strict).ask([*MIXED, *more])
    assert not model.asked
    assert not (tmp_path / "store").exists()


def test_the_plan_says_which_prompts_it_skips_and_how_long_they_are(tmp_path: Path) -> None:
    plan = Engine(Short(), Store(tmp_path)).plan(MIXED)
    assert plan.skipped == {Prompt(LONG, ("a", "bc")): f"{LONG[:4]!r} is 21 words long, and 10 fit"}
    texts = {prompt.text for block in plan.blocks for prompt in block.requests}
    assert texts == {prompt.text for prompt in MIXED} - {LONG}
    assert (plan.distinct, plan.stored, plan.prompts) == (len(texts), 0, len(texts))


def test_a_plan_with_skipped_prompts_has_the_blocks_of_one_without_them(tmp_path: Path) -> None:
    """And its record is found again by the same prompts."""
    engine = Engine(Short(), Store(tmp_path / "store"), block_tokens=30)
    fitting = [prompt for prompt in MIXED if prompt.text != LONG]
    plan = engine.plan(MIXED)
    assert plan.blocks == engine.plan(fitting).blocks
    plan.record(tmp_path / "blocks")
    assert engine.plan(MIXED, tmp_path / "blocks").blocks == plan.blocks


def test_nothing_of_a_skipped_prompt_is_stored(tmp_path: Path) -> None:
    """The same model with a longer window asks it, and finds the rest in the store."""
    Engine(Short(), Store(tmp_path)).ask(MIXED)
    longer = Short(window=100)
    scores = Engine(longer, Store(tmp_path)).ask(MIXED)
    assert longer.asked == [Prompt(LONG, ("a", "bc"))]
    assert not missing_by_reason(scores)


def test_whether_a_prompt_is_skipped_does_not_depend_on_the_others(tmp_path: Path) -> None:
    """A prompt of the same text with shorter answers is scored."""
    text = ("w " * (WINDOW - 1)).strip()
    short, long = Prompt(text, ("a",)), Prompt(text, ("a", "two words"))
    for prompts in ([short, long], [long, short]):
        store = Store(tmp_path / prompts[0].answers[-1])
        scores = dict(zip(prompts, Engine(Short(), store).ask(prompts), strict=True))
        assert scores[short]["a"].logprob == by_letters(short, "a")
        assert scores[long]["a"].logprob is None
        assert scores[long]["two words"].missing == TOO_LONG


def test_a_ranking_of_a_long_text_has_no_ranks(tmp_path: Path) -> None:
    prompts = [RankingPrompt(text, WORDS, ("cat",)) for text in ("It is a", LONG, "See the")]
    first, long, last = Engine(Short(), Store(tmp_path / "a")).ask(prompts)
    assert [first, last] == Engine(Short(), Store(tmp_path / "b")).ask([prompts[0], prompts[2]])
    assert (long["cat"].rank, long["cat"].logprob, long.normaliser, long.top) == (
        None,
        None,
        None,
        (),
    )
    assert (long.missing, long.unranked, first.unranked) == (len(WORDS), TOO_LONG, None)
    with pytest.raises(TooLongError):
        Engine(Short(), Store(tmp_path / "c"), strict=True).ask(prompts)


@pytest.mark.parametrize("where", [(), (0,), (9_999,), (4_095, 4_096), tuple(range(0, 10_000, 7))])
def test_halving_finds_exactly_the_long_ones(where: tuple[int, ...]) -> None:
    long = set(where)
    prompts = [Prompt(f"{LONG if n in long else ''}{n}", ("a",)) for n in range(10_000)]
    assert set(too_long(Short().cost, prompts)) == {prompts[n] for n in where}
