"""GGUF files: one file with the config, the tokenizer and the quantised weights of a model."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tacit.errors import MissingPackage

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SUFFIX = ".gguf"


def check_packages() -> None:
    """Raise if a package that transformers needs to read a GGUF file is missing."""
    for package in ("gguf", "accelerate"):
        if find_spec(package) is None:
            raise MissingPackage(package, "gguf")


def folder_of(file: Path) -> Path:
    """Return a folder with a link to the file and nothing else."""
    return Path(_linked(file.resolve()).name)


@cache
def _linked(file: Path) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="tacit-gguf-")
    Path(folder.name, file.name).symlink_to(file)
    return folder


def dequantising() -> dict[str, Any]:
    """Return the argument that makes transformers dequantise; old versions always do."""
    import transformers

    config = getattr(transformers, "GgufConfig", None)
    return {} if config is None else {"quantization_config": config(dequantize=True)}


def as_plain(model: PreTrainedModel) -> None:
    """Remove the mark of a quantised model, because the weights are dequantised."""
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None:
        quantizer.remove_quantization_config(model)


def description(file: Path) -> dict[str, Any]:
    """Return the file's name and its kind of quantisation, such as Q4_K_M, for a manifest."""
    return {"file": file.name, "quantisation": _quantisation(file), "dequantised": True}


def _quantisation(file: Path) -> str | None:
    """Return the file's kind of quantisation; None if it is unknown."""
    from gguf import LlamaFileType

    try:  # the reader of the package gguf needs seconds for a large vocabulary
        from transformers.integrations.gguf import (  # type: ignore[attr-defined]
            read_gguf_metadata,
        )

        metadata, _ = read_gguf_metadata(str(file))
        return LlamaFileType(metadata["general.file_type"]).name.removeprefix("MOSTLY_")
    except (ImportError, LookupError, ValueError):
        return None
