"""A server that changes while it is asked, and what becomes of its answers."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tacit.engine.ask import Engine
from tacit.engine.rechecks import Rechecking
from tacit.engine.store import Store
from tacit.errors import ScoringError, UnreliableError
from tacit.models.fake import FakeModel
from tacit.models.openai.client import Client
from tacit.models.openai.identity import EVERY, Watch
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.server import Server
from tacit.models.openai.tokens import Token, differences
from tacit.requests import UNSAID, AnswerScore, Prompt, Scores
from tests.models.openai.conftest import Serve, load


class Changing(FakeModel):
    def __init__(self, passes: int) -> None:
        super().__init__({})
        self.passes = passes

    def recheck(self, answered: Sequence[object], *, last: bool) -> str | None:  # noqa: ARG002
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
    def recheck(self, answered: Sequence[object], *, last: bool) -> str | None:  # noqa: ARG002
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
    prompt = Prompt("Number 1 has", ("a", "claws"))
    nothing = Scores(tuple(AnswerScore(a, None, 1, missing=UNSAID) for a in prompt.answers))
    store = Store(tmp_path)
    store.append(model.description, [prompt], [nothing])
    assert Engine(model, store).plan([prompt]).prompts == 1
    (found,) = Engine(model, store).ask([prompt])
    assert found == model.answer([prompt])[0]
    assert store.read(model.fingerprint).height == len(prompt.answers)
    assert Engine(model, store).plan([prompt]).prompts == 0


class Echoing(Server):
    asked: ClassVar[list[str]] = []

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def next_token(self, text: str, *, longer: bool = False) -> Token:  # noqa: ARG002
        self.asked.append(text)
        return self.nexts[text]


def test_a_few_texts_are_asked_again_once_a_minute() -> None:
    """The next ones in turn; before a minute is over, none."""
    nexts = {text: listed(0, [0, 1], [-0.5, -1.5]) for text in "cba"}
    client = Client("http://127.0.0.1:9/v1", ServerOptions())
    server = Echoing(client, "toy", requested=2, top=2, nexts=nexts)
    now = [0.0]
    watch = Watch(server, clock=lambda: now[0])
    for now[0] in (1.0, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY):
        watch.recheck()
    assert server.asked == ["a", "b", "c", "a"]


def listed(own: int, best: list[int], values: list[float]) -> Token:
    top = [Token(f"t{one}", one, value) for one, value in zip(best, values, strict=True)]
    return Token(f"t{own}", own, None, tuple(top))


def test_a_token_that_another_one_hides_is_not_missing() -> None:
    """Servers list one of several tokens that they write alike, and the drawn one in any case."""
    then = listed(0, [0, 1, 2, 3, 4], [-1.0, -2.0, -3.0, -3.5, -4.0])
    fewer = Token("t9", 9, None, (*then.top[:3], Token("", None, -0.5), Token("t9", 9, -9.0)))
    assert differences(then.top, fewer) == [0, 0, 0]
    gone = Token("t1", 1, None, (*then.top[1:], Token("t8", 8, -5.0)))
    assert [math.isnan(each) for each in differences(then.top, gone)] == [
        True,
        False,
        False,
        False,
        False,
    ]
