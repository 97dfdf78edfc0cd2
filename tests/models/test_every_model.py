"""What every model promises, whatever answers behind it: one row each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.base import LanguageModel
from tacit.models.fake import FakeModel
from tacit.models.loading import load_model
from tacit.models.openai.options import ServerOptions
from tacit.models.options import LoadOptions
from tacit.requests import Prompt, SamplingPrompt
from tacit.testing import check_model
from tests.models import tiny
from tests.models.conftest import FolderOf
from tests.models.openai.model import Toy
from tests.models.openai.serving import serving
from tests.other_packages import installed


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
        server = stack.enter_context(serving(Toy(tiny.gpt2_like().backend_tokenizer)))
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
    with installed():
        yield


@pytest.fixture(scope="module", params=MODELS)
def model(
    request: pytest.FixtureRequest, folder_of: FolderOf, _installed: None
) -> Iterator[LanguageModel]:
    with ExitStack() as stack:
        yield MODELS[request.param](folder_of, stack)


def test_every_model_keeps_to_the_contract(model: LanguageModel, tmp_path: Path) -> None:
    check_model(model)
    if SamplingPrompt in model.supports and Prompt not in model.supports:
        asked = [Prompt("Is it?", ("False", "True"))]
        (votes,) = Engine(model, Store(tmp_path)).ask(asked)
        assert votes.parsed + votes.unparsed == 3
