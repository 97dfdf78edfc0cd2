"""The likeliest next tokens of a run are computed once, before its answers, and then stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.requests import Prompt
from tacit.runs.notes import PROMPTS, TOKENS, next_tokens

ASKED = [Prompt(f"Is it {number}?", ("Yes", "No")) for number in range(100)]


class Writing(FakeModel):
    """A model that writes the same tokens after everything."""

    def __init__(self) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.given: list[Sequence[Prompt]] = []

    def next_tokens(self, prompts: Sequence[Prompt], most: int) -> list[tuple[str, float]]:
        self.given.append(prompts)
        return [(f" {number}", 0.1) for number in range(most)]


def found(model: FakeModel, store: Store, requests: Sequence[Any] = ASKED) -> dict[str, Any] | None:
    engine = Engine(model, store)
    return next_tokens(engine, engine.plan(requests))


def test_they_are_computed_once_over_a_sample_of_texts(tmp_path: Path) -> None:
    """The sample depends on the requests alone, and a second run reads the stored value."""
    model, store = Writing(), Store(tmp_path)
    told = found(model, store)
    assert told is not None
    assert (told["prompts"], len(told["tokens"])) == (PROMPTS, TOKENS)
    assert len({one.text for one in model.given[0]}) == PROMPTS
    Engine(model, store).ask(ASKED)
    assert found(model, Store(tmp_path)) == told
    other = Writing()
    found(other, Store(tmp_path / "other"))
    assert len(model.given) == 1
    assert other.given == model.given


def test_cached_answers_without_tokens_need_no_model(tmp_path: Path) -> None:
    """Then the tokens are missing, as they are for a model that predicts none."""
    model, store = Writing(), Store(tmp_path)
    Engine(model, store).ask(ASKED)
    assert found(model, store) is None
    assert not model.given
    assert found(FakeModel({}), Store(tmp_path / "other")) is None


def test_a_damaged_value_is_computed_again(tmp_path: Path) -> None:
    """A changed byte makes it missing, and the next computation restores it."""
    model, store = Writing(), Store(tmp_path)
    told = found(model, store)
    (file,) = tmp_path.glob("notes/*/*-*.json")
    file.write_bytes(file.read_bytes().replace(b"0.1", b"0.2", 1))
    assert found(model, store) == told
    assert len(model.given) == 2
    assert found(model, store) == told
    assert len(model.given) == 2
