"""Tiny models of every kind, saved once per session; nothing is asked of a network."""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import pytest

from tests.models.passes import Local

FolderOf = Callable[[str], Path]
Loaded = Callable[..., Local]


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    """No progress bars, and one thread: more take longer over models this small."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> FolderOf:
    """The folder of a tiny model, by its name in ``tests.models.tiny``; made at its first use."""
    from tests.models import tiny

    root = tmp_path_factory.mktemp("models")

    @cache
    def made(name: str) -> Path:
        return tiny.save(name, root / name)

    return made


@pytest.fixture(scope="session")
def loaded(folder_of: FolderOf) -> Loaded:
    """A tiny model, loaded as a user loads it; the same one each time."""
    from tests.models import tiny

    @cache
    def load(name: str, batch_tokens: int = 100_000, **options: str | bool) -> Local:
        return tiny.load(folder_of(name), batch_tokens=batch_tokens, **options)

    return load


Change = Callable[[dict[str, Any]], object]
Changed = Callable[..., None]


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Changed:
    """Has a model's class change what it is given, or what it gives."""
    import transformers

    from tests.models import tiny

    def change(
        name: str,
        before: Change = lambda _: None,
        after: Callable[[Any, dict[str, Any]], object] = lambda *_: None,
    ) -> None:
        model_class = getattr(transformers, tiny.ALL[name].name)
        forward = model_class.forward

        def changing(self: object, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - forward's own
            before(named)
            output = forward(self, *given, **named)
            after(output, named)
            return output

        monkeypatch.setattr(model_class, "forward", wraps(forward)(changing))

    return change
