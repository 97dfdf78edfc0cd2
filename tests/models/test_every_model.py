"""What every model promises, whatever answers behind it: one row each."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError
from tacit.models.fake import FakeModel
from tacit.models.loading import LoadOptions, load_model
from tacit.models.openai.options import ServerOptions
from tacit.requests import (
    KINDS,
    Prompt,
    Ranking,
    RankingPrompt,
    Samples,
    SamplingPrompt,
    Scores,
    Vocabulary,
)
from tests.models import tiny
from tests.models.openai.serving import Manners, Toy, serving
from tests.models.openai.speaking import Speech
from tests.other_packages import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tacit.models.base import LanguageModel
    from tests.models.conftest import FolderOf

WORDS = Vocabulary(["bear", "bird", "tree"])
REQUESTS: dict[type, list[Any]] = {
    Prompt: [
        Prompt("Is a bear a bird?", ("True", "False")),
        Prompt("Is it?", ("False", "True"), "\n"),
        Prompt("Is a tree a bird, or is it a bear?", ("True",)),
    ],
    RankingPrompt: [
        RankingPrompt("It is a", WORDS, ("bird", "tree")),
        RankingPrompt("It has fur, and is a", WORDS, ("bear",), top=2),
    ],
    SamplingPrompt: [SamplingPrompt("Is it?", (0, 1, 2)), SamplingPrompt("Is a bird?", (4, 1))],
}
ANSWERS = {Prompt: Scores, RankingPrompt: Ranking, SamplingPrompt: Samples}


def _fake(*_: object) -> LanguageModel:
    return FakeModel(lambda prompt, answer: -float(len(prompt.text) + len(answer)) / 7)


def _letters(*_: object) -> LanguageModel:
    return load_model("letters:any")


def _local(kind: str) -> Callable[..., LanguageModel]:
    def load(folder_of: FolderOf, _: ExitStack) -> LanguageModel:
        return tiny.load(folder_of(kind))

    return load


def _served(**given: Any) -> Callable[..., LanguageModel]:  # noqa: ANN401 - options of a server
    def load(_: FolderOf, stack: ExitStack) -> LanguageModel:
        manners = Manners(speech=Speech())
        server = stack.enter_context(serving(Toy(tiny.gpt2_like().backend_tokenizer), manners))
        return load_model(server.address, LoadOptions(server=ServerOptions(**given)))

    return load


MODELS: dict[str, Callable[..., LanguageModel]] = {
    "fake": _fake,
    "causal": _local("gpt2"),
    "masked": _local("bert"),
    "seq2seq": _local("t5"),
    "completions": _served(),
    "first tokens": _served(api="chat"),
    "sampled": _served(api="chat", samples=3),
    "of another package": _letters,
}


@pytest.fixture(scope="module")
def _installed() -> Iterator[None]:
    """The other package is on the path, as if it were installed."""
    with installed():
        yield


@pytest.fixture(scope="module", params=MODELS)
def model(
    request: pytest.FixtureRequest,
    folder_of: FolderOf,
    _installed: None,
) -> Iterator[LanguageModel]:
    """Each of them, loaded as a user loads it."""
    with ExitStack() as stack:
        yield MODELS[request.param](folder_of, stack)


def supported(model: LanguageModel) -> list[Any]:
    """Requests of each kind that a model supports, the kinds by turns."""
    rows: list[Sequence[Any]] = [REQUESTS[kind] for kind in REQUESTS if kind in model.supports]
    longest = max(map(len, rows))
    return [row[at] for at in range(longest) for row in rows if at < len(row)]


def test_it_names_itself(model: LanguageModel) -> None:
    """With a hexadecimal fingerprint, and a description that JSON can hold."""
    assert model.name
    assert re.fullmatch("[0-9a-f]{32,}", model.fingerprint)
    description = json.loads(json.dumps(dict(model.description)))
    assert (description["name"], description["fingerprint"]) == (model.name, model.fingerprint)


def test_it_answers_what_it_supports_in_the_order_of_the_requests(model: LanguageModel) -> None:
    """Kinds by turns, each with an answer that can be the request's own."""
    asked = supported(model)
    assert model.supports <= set(KINDS)
    found = model.answer(asked)
    assert [type(one) for one in found] == [ANSWERS[type(one)] for one in asked]
    assert [KINDS[type(a)].check(a, b) for a, b in zip(asked, found, strict=True)] == [None] * len(
        asked
    )
    assert model.answer([]) == []


def test_every_request_costs_something_and_no_cost_asks(model: LanguageModel) -> None:
    """One number for each, the same when it is worked out again."""
    asked = supported(model)
    costs = model.cost(asked)
    assert len(costs) == len(asked)
    assert sum(costs) > 0
    assert model.cost(asked) == costs
    assert model.cost([]) == []


def test_the_engine_asks_it_once(model: LanguageModel, tmp_path: Path) -> None:
    """What is in the store is what it answered; equal requests are one."""
    asked = supported(model)
    engine = Engine(model, Store(tmp_path))
    plan = engine.plan([*asked, *asked])
    assert plan.distinct == len(asked)
    found = engine.ask([*asked, *asked], plan)
    assert found[: len(asked)] == found[len(asked) :]
    again = engine.plan(asked)
    assert (again.prompts, again.stored) == (0, len(asked))
    assert engine.ask(asked) == found[: len(asked)]


def test_what_it_does_not_support_is_refused_before_any_cost(
    model: LanguageModel, tmp_path: Path
) -> None:
    """By its name; a prompt put to a model of replies alone is sampled instead."""
    for kind in set(REQUESTS) - model.supports:
        if kind is Prompt and SamplingPrompt in model.supports:
            votes = Engine(model, Store(tmp_path / "votes")).ask(REQUESTS[Prompt])
            assert [each.parsed + each.unparsed for each in votes] == [3, 3, 3]
            continue
        with pytest.raises(ModelError, match=re.escape(model.name)):
            Engine(model, Store(tmp_path / "store")).plan(REQUESTS[kind])
        assert not (tmp_path / "store").exists()
