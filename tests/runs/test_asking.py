"""What a run says before it asks a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.probes.base import Requests
from tacit.requests import Prompt
from tacit.runs.asking import _warn_of_repeated, answers_to
from tacit.runs.reporter import Quiet, resumable

if TYPE_CHECKING:
    from pathlib import Path


class Chatty(FakeModel):
    """A model whose tokenizer has a chat template."""

    def __init__(self, chat: dict[str, str] | None) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.chat = chat

    @property
    def description(self) -> dict[str, Any]:
        """See ``LanguageModel``."""
        return {**super().description, "has_chat_template": True, "chat": self.chat}


@pytest.mark.parametrize("chat", [None, {"template": "a"}])
def test_an_unused_chat_template_is_named(
    chat: dict[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line with the option that uses it, and only where it is unused."""
    notes: list[str] = []
    reporter, engine = Quiet(), Engine(Chatty(chat), Store(tmp_path))
    monkeypatch.setattr(reporter, "note", notes.append)
    asked = [Prompt("Is it?", ("Yes",))]
    answers_to(asked, engine, engine.plan(asked), reporter)
    assert ["--chat" in note for note in notes] == [True] * (chat is None)


def test_who_interrupts_is_told_what_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Before the first question and after the last answer, too."""
    with pytest.raises(KeyboardInterrupt), resumable(Quiet(), "all answers are stored"):
        raise KeyboardInterrupt
    (message,) = caplog.messages
    assert message.startswith("interrupted; all answers are stored; run the same command again")


@pytest.mark.parametrize("repeats", [False, True])
def test_prompts_of_different_keys_that_are_the_same_are_counted(
    repeats: bool,  # noqa: FBT001 - a parameter of the test
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one line with an example, unless the probe means it; other answers are another prompt."""
    prompts = [Prompt("A?", ("Yes",)), Prompt("B?", ("Yes",)), Prompt("A?", ("Yes",))]
    prompts.append(Prompt("A?", ("No",)))
    group = Requests(pl.DataFrame({"word": list("abcd")}), prompts, repeats)
    _warn_of_repeated({"pairs": group}, Quiet())
    said = ["2 of 4 prompts (pairs) are the same text as another" in one for one in caplog.messages]
    assert said == [True] * (not repeats)
    assert repeats or "'A?'" in caplog.text
