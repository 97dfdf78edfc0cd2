"""What a run says before it asks a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.probes.base import Requests
from tacit.requests import Prompt
from tacit.runs.asking import _warn_of_repeated, answers_to
from tacit.runs.reporter import Reporter, resumable


class Chatty(FakeModel):
    def __init__(self, chat: dict[str, str] | None) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.chat = chat

    @property
    def description(self) -> dict[str, Any]:
        return {**super().description, "has_chat_template": True, "chat": self.chat}


@pytest.mark.parametrize("chat", [None, {"template": "a"}])
def test_an_unused_chat_template_is_named(
    chat: dict[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line with the option that uses it, and only where it is unused."""
    notes: list[str] = []
    reporter, engine = Reporter(), Engine(Chatty(chat), Store(tmp_path))
    monkeypatch.setattr(reporter, "note", notes.append)
    asked = [Prompt("Is it?", ("Yes",))]
    answers_to(asked, engine, engine.plan(asked), reporter)
    assert ["--chat" in note for note in notes] == [True] * (chat is None)


PROMPTS = [Prompt(f"Is it {at}?", ("Yes", "No")) for at in range(1200)]


class Interrupted(FakeModel):
    blocks = 0

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        self.blocks += 1
        if self.blocks == 3:
            raise KeyboardInterrupt
        return super().answer(requests)


class Streaming(Interrupted):
    """A model whose stream is interrupted behind its second part."""

    def stream(self, requests: Sequence[Any], seconds: float) -> Iterator[list[tuple[Any, Any]]]:
        del seconds
        for at in range(0, len(requests), 100):
            part = requests[at : at + 100]
            yield list(zip(part, self.answer(part), strict=True))


def counted(engine: Engine, asked: Sequence[Prompt], reporter: Reporter) -> tuple[int, int]:
    """Return the number of stored answers and of all answers from the message of an interrupt."""
    with pytest.raises(KeyboardInterrupt, match="run the same command again") as interrupted:
        answers_to(asked, engine, engine.plan(asked), reporter)
    stored, _, total, *_ = str(interrupted.value).replace(",", "").split()
    return int(stored), int(total)


@pytest.mark.parametrize("kind", [Interrupted, Streaming])
@pytest.mark.parametrize("seconds", [0, 60])
def test_who_interrupts_is_told_how_many_answers_are_stored(
    kind: type[Interrupted], seconds: float, tmp_path: Path
) -> None:
    """Also what was stored before, or while it ended: as many as the next run reuses."""
    store = Store(tmp_path)

    def engine(kind: type[FakeModel]) -> Engine:
        return Engine(kind(lambda _, __: -1.0), store, block_tokens=64, seconds=seconds)

    engine(FakeModel).ask([*PROMPTS[:10], Prompt(PROMPTS[10].text, ("Yes",))])
    stored, total = counted(engine(kind), PROMPTS, Reporter())
    assert total == len(PROMPTS)
    assert stored == engine(kind).plan(PROMPTS).stored > 10


def test_the_innermost_says_what_is_kept() -> None:
    """Before the first question and after the last answer, too."""
    with (
        pytest.raises(KeyboardInterrupt, match=r"^all answers are stored; run the same command"),
        resumable(),
        resumable("all answers are stored"),
    ):
        raise KeyboardInterrupt


@pytest.mark.parametrize("repeats", [False, True])
def test_prompts_of_different_keys_that_are_the_same_are_counted(
    repeats: bool,  # noqa: FBT001 - a parameter of the test
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one line with an example, unless the probe means it; other answers are another prompt."""
    prompts = [Prompt("A?", ("Yes",)), Prompt("B?", ("Yes",)), Prompt("A?", ("Yes",))]
    prompts.append(Prompt("A?", ("No",)))
    group = Requests(pl.DataFrame({"word": list("abcd")}), prompts, repeats)
    _warn_of_repeated({"pairs": group}, Reporter())
    said = ["2 of 4 prompts (pairs) are the same text as another" in one for one in caplog.messages]
    assert said == [True] * (not repeats)
    assert repeats or "'A?'" in caplog.text
