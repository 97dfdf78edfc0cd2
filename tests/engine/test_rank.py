import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ScoringError
from tacit.models.fake import FakeModel
from tacit.requests import Prompt, Ranking, RankingPrompt, Standing, Vocabulary

WORDS = Vocabulary(("bear", "cat", "seal", "a cat", "Bear"))
FEW = Vocabulary(("bear", "seal"))


def by_letters(prompt: Prompt, word: str) -> float | None:
    return None if word == "seal" else -len(prompt.text) / 8 - sum(map(ord, word)) % 7 - 1 / 3


def asked(text: str, *targets: str, **options: Any) -> RankingPrompt:  # noqa: ANN401 - its fields
    return RankingPrompt(text, options.pop("vocabulary", WORDS), targets, **options)


def test_rankings_come_back_in_the_order_of_the_prompts(tmp_path: Path) -> None:
    """Duplicates and all, to the last bit, with each prompt's own targets in their order."""
    prompts = [
        asked("a longer one", "cat", "bear"),
        asked("one", "bear"),
        asked("one", "cat", "bear", "seal"),
        asked("one", "bear", vocabulary=FEW),
        asked("one", "bear"),
        asked("one", top=2),
    ]
    rankings = Engine(FakeModel(by_letters), Store(tmp_path)).ask(prompts)
    assert rankings == FakeModel(by_letters).answer(prompts)
    assert rankings[2]["seal"] == Standing("seal", None, None, 1)
    assert [len(ranking.top) for ranking in rankings] == [4, 4, 4, 1, 4, 2]


def test_a_text_and_vocabulary_are_asked_once(tmp_path: Path) -> None:
    """With the targets of all that ask; another vocabulary is asked beside it, in one block."""
    model = FakeModel(by_letters)
    prompts = [
        asked("x", "bear"),
        asked("y y y", "cat"),
        asked("x", "cat", vocabulary=Vocabulary(["cat"])),
        asked("x", "cat", "bear"),
    ]
    engine = Engine(model, Store(tmp_path), block_tokens=1)
    blocks = engine.plan(prompts).blocks
    assert [[p.text for p in block.requests] for block in blocks] == [["x", "x"], ["y y y"]]
    engine.ask(prompts)
    assert [p.targets for p in model.ranked if p.vocabulary == WORDS and p.text == "x"] == [
        ("bear", "cat")
    ]


@pytest.mark.parametrize(
    ("prompt", "new"),
    [
        (asked("x", "seal"), []),
        (asked("x"), []),
        (asked("x", "bear", "cat"), [asked("x", "cat")]),
        *(
            (other, [other])
            for other in (
                asked("x.", "bear"),
                asked("x", "bear", separator="\n"),
                asked("x", "bear", top=3),
                asked("x", "bear", vocabulary=FEW),
            )
        ),
    ],
)
def test_only_what_is_new_is_asked(
    tmp_path: Path, prompt: RankingPrompt, new: list[RankingPrompt]
) -> None:
    Engine(FakeModel(by_letters), Store(tmp_path)).ask([asked("x", "bear", "seal"), asked("y")])
    model = FakeModel(by_letters)
    found = Engine(model, Store(tmp_path)).ask([prompt, asked("y")])
    assert found == FakeModel(by_letters).answer([prompt, asked("y")])
    assert model.ranked == new


def test_a_stored_run_is_read_without_a_model(tmp_path: Path) -> None:
    model = FakeModel(by_letters)
    (ours,) = Engine(model, Store(tmp_path)).ask([asked("x", "bear", "seal", top=2)])
    shared, *targets = Store(tmp_path).read(model.fingerprint, RankingPrompt).to_dicts()
    (vocabulary,) = (tmp_path / "vocabularies").iterdir()
    assert vocabulary.name == f"{shared['vocabulary'][:32]}.json"
    assert json.loads(vocabulary.read_text(encoding="utf-8")) == list(WORDS.words)
    assert [(one["target"], one["rank"], one["logprob"], one["tokens"]) for one in targets] == [
        astuple(one) for one in ours.targets
    ]
    assert [(one["word"], one["logprob"]) for one in shared["top"]] == list(ours.top)
    assert (shared["normaliser"], shared["k"]) == (ours.normaliser, 2)
    assert (shared["several"], shared["missing"]) == (0, 1)


class Confused(FakeModel):
    def answer(self, requests: Sequence[Any]) -> list[Any]:
        return [Ranking((), -1.0, ()) for _ in requests]


def test_rankings_of_other_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match="targets other than"):
        Engine(Confused(by_letters), Store(tmp_path / "s")).ask([asked("x", "bear")])
    assert not (tmp_path / "s").exists()
