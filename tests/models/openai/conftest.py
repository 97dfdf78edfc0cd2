"""A toy language with a tokenizer's file, and servers of it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from tacit.models.openai.completions import ServerModel
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import Backoff, ServerOptions
from tests.models import tiny
from tests.models.openai.model import Language, Manners, Toy
from tests.models.openai.serving import Serving, serving


class Serve(Protocol):
    def __call__(self, language: Language | None = None, **manners: object) -> Serving: ...


@pytest.fixture(scope="session")
def toy() -> Toy:
    return Toy(tiny.gpt2_like().backend_tokenizer)


@pytest.fixture(scope="session")
def tokenizer_file(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("toy") / "tokenizer.json"
    toy.tokenizer.save(str(path))
    return path


@pytest.fixture
def serve(toy: Toy) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(language: Language | None = None, **manners: object) -> Serving:
            behaves = Manners(**manners)  # type: ignore[arg-type] # names of its own fields
            return stack.enter_context(serving(language or toy, behaves))

        yield start


M = TypeVar("M")


def load_as(of: type[M], server: Serving, kept: Path | None = None, **options: Any) -> M:  # noqa: ANN401 - fields
    """The model of a server, which is asked again at once where it fails."""
    given = {"backoff": Backoff(first=0.0, most=0.0), "timeout": 20.0, **options}
    model = load_server(server.address, ServerOptions(**given), kept)
    assert isinstance(model, of)
    return model


def load(server: Serving, tokenizer: Path | None = None, **options: Any) -> ServerModel:  # noqa: ANN401 - fields
    return load_as(ServerModel, server, tokenizer=tokenizer, **options)
