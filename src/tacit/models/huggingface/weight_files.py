"""Which files a model's weights are read from, as transformers chooses them.

What is checked, what is hashed and what is loaded are the same files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.huggingface.hub import loading_error, where_from
from tacit.models.huggingface.trust import HOW_TO_PICKLE, Trust

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import PreTrainedConfig

_SAFE, _PICKLE = "model.safetensors", "pytorch_model.bin"


def weight_files(folder: Path, trust: Trust) -> tuple[Path, ...]:
    """The files of a folder that the weights are read from; none where there are no weights.

    Raises:
        ModelError: An index of shards cannot be read, or names files that are no shards of it.
    """
    for plain in (_SAFE, _PICKLE) if trust.pickle else (_SAFE,):
        if (folder / plain).is_file():
            return (folder / plain,)
        index = folder / f"{plain}.index.json"
        if index.is_file():
            return tuple(folder / name for name in _shards(index, Path(plain).suffix))
    return ()


def check_weights(name: str, folder: Path, trust: Trust) -> None:
    """Refuses a folder without weights, and one whose weights are a pickle that is not allowed.

    Raises:
        ModelError: There are none, or they are a pickle, or the folder holds an adapter as well.
    """
    # transformers would put it into the model where peft is installed, and not elsewhere.
    if (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"{name}: an adapter (adapter_config.json) lies beside the model's own files: move it "
            "into a folder of its own, and give that as --adapter to use it"
        )
    if weight_files(folder, trust):
        return
    pickles = weight_files(folder, Trust(pickle=True))
    if not pickles:
        raise ModelError(f"{name}: the folder holds no weights ({_SAFE} or {_PICKLE})")
    raise ModelError(f"{name}: its weights ({pickles[0].name}) are a pickle; {HOW_TO_PICKLE}")


def check_choice(name: str, config: PreTrainedConfig, files: tuple[Path, ...]) -> None:
    """Refuses a config that has transformers read other weights than the folder's own.

    Raises:
        ModelError: It does.
    """
    for chosen in _all_of("transformers_weights", config.to_dict()):
        if [chosen] != [file.name for file in files]:
            raise ModelError(
                f"{name}: its config.json has the weights read from {chosen!r} "
                "(transformers_weights), which is not where models have them: take that line out"
            )


def fetch_weights(name: str, folder: Path, revision: str | None, trust: Trust) -> None:
    """Fetches from the hub what tells which files the weights are, and checks it.

    Args:
        name: The model's name on the hub.
        folder: Its snapshot in the hub's cache.
        revision: The revision that was asked for.
        trust: What its files may do.

    Raises:
        ModelError: As ``check_weights``.
        NetworkError: The hub cannot be reached.
    """
    from transformers.utils.hub import cached_file

    plain = (_SAFE, _PICKLE) if trust.pickle else (_SAFE,)
    wanted = (file for each in plain for file in (each, f"{each}.index.json"))
    for file in ("adapter_config.json", *wanted):
        try:
            cached_file(
                name,
                file,
                **where_from(name, revision),
                _raise_exceptions_for_missing_entries=False,
            )
        except OSError as error:
            raise loading_error(name, "its weights cannot be loaded", error) from error
        if weight_files(folder, trust):
            break
    try:
        check_weights(name, folder, trust)
    except ModelError as error:
        raise ModelError(f"{error} (its weights cannot be loaded)") from error


def _shards(index: Path, suffix: str) -> list[str]:
    """The names of the files beside an index that hold the weights."""
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        strange = [n for n in names if Path(n).name != n or Path(n).suffix != suffix]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{index}: cannot be read as an index of weights: {error}") from error
    if strange or not names:
        raise ModelError(
            f"{index}: names {strange[0]!r} as a file of weights, which is none beside it with the "
            f"ending {suffix}"
            if strange
            else f"{index}: names no files of weights"
        )
    return names


def _all_of(key: str, settings: Any) -> Iterator[Any]:  # noqa: ANN401 - what JSON holds
    """What settings say under a key, those within others among them."""
    if not isinstance(settings, dict):
        return
    for each, value in settings.items():
        if each == key and value is not None:
            yield value
        yield from _all_of(key, value)
