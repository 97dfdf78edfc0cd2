"""A server that changes while it is asked, and what becomes of its answers."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tacit.engine.ask import Engine
from tacit.engine.rechecks import Rechecking
from tacit.engine.store import Store
from tacit.errors import ModelError, ScoringError, UnreliableError
from tacit.models.fake import FakeModel
from tacit.models.openai import vote_checks
from tacit.models.openai.monitoring import EVERY, Watch, Watched
from tacit.models.openai.server_habits import Habits, notes_on
from tacit.models.openai.text_pairs import apart
from tacit.models.openai.token_lists import Token
from tacit.requests import UNSAID, AnswerScore, Prompt, Scores
from tests.models.openai.conftest import load
from tests.models.openai.serving import Toy
from tests.models.openai.speaking import Speech, opinions
from tests.models.openai.test_chat import sampled, speaking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.models.openai.conftest import Serve

PROMPTS = [Prompt(f"Number {number} has", ("a", "claws")) for number in range(60)]


def test_weights_that_are_swapped_midway_leave_nothing_in_the_store(
    serve: Serve, toy: Toy, tokenizer_file: Path, tmp_path: Path
) -> None:
    """The run ends; under the first fingerprint there is nothing of the second model."""
    server = serve()
    model = load(server, tokenizer_file, kept=tmp_path)
    true = {prompt.text: model.answer([prompt])[0] for prompt in PROMPTS}
    other = Toy(toy.tokenizer, weights=1)

    def swap(_: object) -> None:
        server.language = other

    store = Store(tmp_path)
    with pytest.raises(UnreliableError, match="no longer answers as in the preflight"):
        Engine(model, store, block_tokens=200).ask(PROMPTS, progress=swap)
    rows = store.read(model.fingerprint).to_dicts()
    assert all(row["logprob"] == true[row["text"]][row["answer"]].logprob for row in rows)
    server.language = toy
    again = load(server, tokenizer_file, kept=tmp_path)
    assert again.fingerprint == model.fingerprint
    scores = Engine(again, Store(tmp_path), block_tokens=200).ask(PROMPTS)
    assert scores == [true[prompt.text] for prompt in PROMPTS]


class Changing(FakeModel):
    """A model whose check fails from a given one on."""

    def __init__(self, passes: int) -> None:
        super().__init__({})
        self.passes = passes

    def recheck(self, answered: Sequence[object], *, last: bool) -> str | None:  # noqa: ARG002
        """Counts down."""
        self.passes -= 1
        if self.passes < 0:
            raise UnreliableError("it changed")
        return None


def test_what_was_stored_since_the_last_check_is_withdrawn(tmp_path: Path) -> None:
    """Checked after ten minutes, not after one; what passed stays, also when it is withdrawn."""
    store, clock = Store(tmp_path), iter([0.0, 60.0, 700.0, 700.0, 800.0])
    model = Changing(1)
    rechecks = Rechecking(model, store, 9, clock=lambda: next(clock, 800.0))
    for answer in ("first", "second", "third"):
        scores = Scores((AnswerScore(answer, -1.0, 1),))
        store.append(model.description, [Prompt("text", (answer,))], [scores])
        rechecks.stored(1)
    with pytest.raises(UnreliableError):
        rechecks.check(last=True)
    rechecks.withdraw()
    kept = Store(tmp_path).read(model.fingerprint)["answer"].to_list()
    assert sorted(kept) == ["first", "second"]


class Unreachable(Changing):
    """A model that cannot be checked."""

    def recheck(self, answered: Sequence[object], *, last: bool) -> str | None:  # noqa: ARG002
        """Fails."""
        raise ScoringError("no connection")


def test_a_check_that_fails_ends_no_run_before_its_end(tmp_path: Path) -> None:
    """The answers stay, without the mark that they passed."""
    store, clock = Store(tmp_path), iter([0.0])
    model = Unreachable(0)
    rechecks = Rechecking(model, store, 9, clock=lambda: next(clock, 700.0))
    scores = Scores((AnswerScore("first", -1.0, 1),))
    store.append(model.description, [Prompt("text", ("first",))], [scores])
    rechecks.stored(1)
    with pytest.raises(ScoringError):
        rechecks.check(last=True)
    _, rows = store.unchecked(model.fingerprint, Prompt)
    assert rows.height == 1


def test_what_was_unsaid_is_asked_again_by_the_next_run(
    serve: Serve, tokenizer_file: Path, tmp_path: Path
) -> None:
    """Missing in the first; of the first and the second answer in the store the second counts."""
    server = serve()
    model = load(server, tokenizer_file, kept=tmp_path)
    (prompt,) = PROMPTS[:1]
    nothing = Scores(tuple(AnswerScore(a, None, 1, missing=UNSAID) for a in prompt.answers))
    store = Store(tmp_path)
    store.append(model.description, [prompt], [nothing])
    assert Engine(model, store).plan([prompt]).prompts == 1
    (found,) = Engine(model, store).ask([prompt])
    assert found == model.answer([prompt])[0]
    assert store.read(model.fingerprint).height == len(prompt.answers)
    assert Engine(model, store).plan([prompt]).prompts == 0


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_temperature_of_draws_is_estimated(temperature: float) -> None:
    """Its 95 % CI holds the true one, in 100 samples at least 88 times and not always."""
    random = np.random.default_rng(0)
    held = off = 0
    for _ in range(100):
        drawn = []
        for _ in range(3):
            logits = random.normal(0, 2, 20)
            values = logits - np.logaddexp.reduce(logits) - 0.1  # some mass is not listed
            shares = np.exp(values / temperature)
            counts = random.multinomial(16, shares / shares.sum())
            drawn.append((list(values), [int(one) for one in counts]))
        made = vote_checks.estimate(drawn)
        assert made is not None
        assert made.low <= made.value <= made.high
        held += made.low <= temperature <= made.high
        off += made.chance < 0.01
    assert 88 <= held <= 99
    assert off <= 5 if temperature == 1 else off >= 80


def test_few_draws_tell_no_temperature() -> None:
    """Nine of them."""
    assert vote_checks.estimate([([-1.0, -2.0], [9, 0])]) is None


def test_votes_at_another_temperature_are_told(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """By first tokens beside their log-probabilities; an honest server is told of nothing."""

    def sharp(text: str) -> dict[str, float]:
        powers = {reply: share**4 for reply, share in opinions(text).items()}
        return {reply: share / sum(powers.values()) for reply, share in powers.items()}

    honest = sampled(speaking(serve)).description
    assert "temperature" not in " ".join(honest["refused"])
    assert honest["temperature_seen"]["low"] <= 1 <= honest["temperature_seen"]["high"]
    server = serve(speech=Speech(drawn=sharp))
    about = sampled(server).description
    assert about["temperature_seen"]["high"] < 1
    assert any("instead of 1" in message for message in caplog.messages)


@pytest.mark.slow
def test_a_server_that_mixes_up_requests_is_refused(serve: Serve, tokenizer_file: Path) -> None:
    """With the advice to ask one at a time, which then works."""
    server = serve(crosses=True)
    with pytest.raises(ModelError, match="use --concurrency 1"):
        load(server, tokenizer_file, concurrency=8)
    assert load(server, tokenizer_file, concurrency=1)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("white space at the end", str.rstrip),
        ("capital letters", str.lower),
        ("the first word of a text", lambda text: text[-90:]),
        ("a word near the end of a text", lambda text: text[:300]),
        ("two spaces", lambda text: text.replace("  ", " ")),
    ],
)
def test_texts_that_are_not_read_as_sent_are_found(
    serve: Serve, tokenizer_file: Path, name: str, change: object
) -> None:
    """From the beginning: refused, with what it does not see."""
    with pytest.raises(ModelError, match=f"texts that differ in .*{name}"):
        load(serve(echo="none", reads=change, counts=False), tokenizer_file)


def test_draws_that_contradict_the_values_are_told() -> None:
    """Values in base 2 or beside other tokens, and rounded ones; right ones are not."""
    random = np.random.default_rng(1)
    right: list[Token] = []
    halved: list[Token] = []
    turned: list[Token] = []
    rounded: list[Token] = []
    for _ in range(40):
        logits = random.normal(0, 3, 300)
        values = logits - np.logaddexp.reduce(logits)
        own = int(random.choice(300, p=np.exp(values)))
        best = [int(one) for one in np.argsort(-values)[:20]]
        for made, change in (
            (right, lambda v: v),
            (halved, lambda v: v * 2.5),
            (rounded, lambda v: np.round(v, 1)),
        ):
            made.append(listed(own, best, [float(change(values[one])) for one in best]))
        turned.append(listed(own, best, [float(values[one]) for one in best[::-1]]))
    assert notes_on(right) == []
    assert "not natural logarithms" in " ".join(notes_on(halved))
    assert "may belong to other tokens" in " ".join(notes_on(turned))
    assert "rounded, by up to 0.05 nats" in " ".join(notes_on(rounded))


def listed(own: int, best: list[int], values: list[float]) -> Token:
    """A drawn token with the most probable ones, and itself where it is not among them."""
    top = [Token(f"t{one}", one, value) for one, value in zip(best, values, strict=True)]
    if own not in best:
        top.append(Token(f"t{own}", own, min(values) - 3))
    return Token(f"t{own}", own, None, tuple(top))


def answered(now: list[Token | None], _: Sequence[Watched]) -> list[Token | None]:
    """The same whatever is asked."""
    return now


def test_an_echo_and_what_comes_next_behind_one_text_are_both_watched() -> None:
    """Where either changes, the other alone does not pass for both."""
    said = listed(0, [0, 1, 2], [-0.5, -1.5, -3.0])
    other = listed(0, [0, 1, 2], [-1.5, -0.5, -3.0])
    watched = [Watched("next", "text", said), Watched("echo", "text", said)]
    cases: tuple[tuple[list[Token | None], str | None], ...] = (
        ([said, said], None),
        ([other, said], "log-probabilities after 'text' differ by up to 1 nats"),
        ([said, other], "the echo of 'text' has other log-probabilities"),
        ([said, None], "the echo of 'text'"),
    )
    for now, message in cases:
        watch = Watch(watched, partial(answered, now), "toy", 2, Habits())
        if message is None:
            watch.recheck_now(last=True)
            continue
        with pytest.raises(UnreliableError, match=message):
            watch.recheck_now(last=True)


def test_a_few_texts_are_asked_again_once_a_minute() -> None:
    """The next ones in turn; before a minute is over, none."""
    said = listed(0, [0, 1], [-0.5, -1.5])
    asked: list[list[str]] = []
    now = [0.0]

    def ask(some: Sequence[Watched]) -> list[Token | None]:
        asked.append([each.text for each in some])
        return [each.said for each in some]

    watched = [Watched("next", text, said) for text in "abc"]
    watch = Watch(watched, ask, "toy", 3, Habits(), clock=lambda: now[0])
    for now[0] in (1.0, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY):
        watch.recheck()
    assert asked == [["a", "b"], ["c", "a"]]


def test_a_token_that_another_one_hides_is_not_missing() -> None:
    """Servers list one of several tokens that they write alike, and the drawn one in any case."""
    then = listed(0, [0, 1, 2, 3, 4], [-1.0, -2.0, -3.0, -3.5, -4.0])
    fewer = Token("t9", 9, None, (*then.top[:3], Token("", None, -0.5), Token("t9", 9, -9.0)))
    assert apart(then, fewer) == [0, 0, 0]
    gone = Token("t1", 1, None, (*then.top[1:], Token("t8", 8, -5.0)))
    assert [math.isnan(each) for each in apart(then, gone)] == [True, False, False, False, False]
