"""Models that a Python program passes as objects instead of by name."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError
from tacit.models.base import LanguageModel

if TYPE_CHECKING:
    from tacit.models.options import LoadOptions

EXPECTED = (
    "a model's name, a tacit.LanguageModel, or a pair of a transformers model and its tokenizer"
)


def is_object(given: object) -> bool:
    """Return whether a model is given as an object rather than by name."""
    return isinstance(given, LanguageModel) or _is_pair(given) or hasattr(given, "save_pretrained")


def model_of(given: Any, options: LoadOptions) -> LanguageModel:  # noqa: ANN401 - any object
    """Return the model of an object that a program passes.

    A transformers model is saved in a temporary folder and loaded as any other model, so that its
    fingerprint is that of its weights and its cached answers are found again. The folder is removed
    with the model.
    """
    if isinstance(given, LanguageModel):
        _check(given)
        return given
    if not _is_pair(given):
        raise RequestError(
            f"model is an object of type {type(given).__name__} without its tokenizer; expected "
            f"{EXPECTED}: model=(model, tokenizer)"
        )
    from tacit.models.huggingface.checkpoint import without_progress_bar

    model, tokenizer = given
    folder = Path(tempfile.mkdtemp(prefix="tacit-model-"))
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    try:
        with without_progress_bar():
            model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        loaded = _load(folder, options, _name_of(model))
    except BaseException:
        remove()
        raise
    weakref.finalize(loaded, remove)
    return loaded


def _load(folder: Path, options: LoadOptions, name: str) -> LanguageModel:
    """Load a saved model; of one with an adapter, only the adapter is saved."""
    from tacit.models.loading import load_model

    adapter = folder / "adapter_config.json"
    if not adapter.is_file():
        return load_model(str(folder), options, called=name)
    base = json.loads(adapter.read_text(encoding="utf-8"))["base_model_name_or_path"]
    if not base:
        raise RequestError(
            f"the adapter of {name} does not name its base model, which is needed to load it "
            "(base_model_name_or_path in its config): merge the adapter into the model"
        )
    return load_model(base, replace(options, adapter=folder), called=name)


def _is_pair(given: object) -> bool:
    return (
        isinstance(given, tuple)
        and len(given) == 2  # noqa: PLR2004 - a model and its tokenizer
        and all(hasattr(one, "save_pretrained") for one in given)
    )


def _name_of(model: Any) -> str:  # noqa: ANN401 - a transformers model
    path = str(getattr(model, "name_or_path", ""))
    return path or type(model).__name__


def _check(model: LanguageModel) -> None:
    about = model.description
    for name, value in (("name", model.name), ("fingerprint", model.fingerprint)):
        if about.get(name) != value:
            raise RequestError(
                f"the model {model.name!r} has the {name} {value!r}, but its description has "
                f"{about.get(name)!r}; both must be the same"
            )
