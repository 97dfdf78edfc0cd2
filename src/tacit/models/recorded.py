"""Record what loading a local model found, so that it need not be found again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from tacit.errors import ModelError
from tacit.models.base import CutsBlocks, LanguageModel, PredictsTokens
from tacit.models.huggingface.fingerprint import FileHashes, Stamp
from tacit.models.huggingface.self_check import FAILS, Checks
from tacit.models.huggingface.source import cached, local_source
from tacit.models.openai.options import ServerOptions
from tacit.models.options import LoadOptions
from tacit.requests import KINDS, Prompt
from tacit.requests.kind import Block
from tacit.version import version

_PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "torchao",
    "bitsandbytes",
    "accelerate",
    "gguf",
)
_GPUS = "/proc/driver/nvidia/gpus"
_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass
class Record:
    """The record of one model with one set of options."""

    hashes: FileHashes
    path: Path | None = None
    content: dict[str, Any] = field(default_factory=dict)
    model: Callable[[], LanguageModel | None] = lambda: None

    @classmethod
    def of(cls, name: str, options: LoadOptions, hashes: FileHashes) -> Record:
        files = None if options.trust_remote_code else _files_of(name, options)
        if hashes.path is None or files is None:
            return cls(hashes)
        path = hashes.path.parent / "models" / f"{_key(files, options)}.json"
        with suppress(OSError, ValueError, RecursionError):
            content = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(content, dict) and content.keys() == {"model", "supports", "checks"}:
                return cls(hashes, path, content)
        return cls(hashes, path)

    @property
    def checks(self) -> Checks:
        """The recorded checks, or new ones, which record themselves."""
        known = {one.name for one in fields(Checks)}
        found = {k: v for k, v in self.content.get("checks", {}).items() if k in known}
        if any(reason.startswith(FAILS) for reason in found.get("refused", {}).values()):
            found = {}
        return Checks(**found, save=self.save)

    def save(self, checks: Checks, model: LanguageModel | None = None) -> None:
        """Write the checks, and the description of the loaded model."""
        names = (one.name for one in fields(checks) if one.name != "save")
        self.content["checks"] = {name: getattr(checks, name) for name in names}
        if model is not None:
            self.model = weakref.ref(model)
        model = self.model()
        if model is not None:
            self.content["model"] = dict(model.description)
            self.content["supports"] = [kind.__name__ for kind in KINDS if kind in model.supports]
        if self.path is not None and "model" in self.content:
            self.hashes.beside[self.path] = json.dumps(self.content, indent=1)


def _files_of(name: str, options: LoadOptions) -> Path | None:
    """Return the model's file or folder, unless its content may change on the hub."""
    if here := local_source(name):
        return (here.gguf or here.folder).resolve()
    fixed = options.revision and _COMMIT.fullmatch(options.revision)
    if not fixed and os.environ.get("HF_HUB_OFFLINE", "").upper() not in {"1", "ON", "YES", "TRUE"}:
        return None
    source = cached(name, options.revision)
    return None if source is None else source.folder


def _key(origin: Path, options: LoadOptions) -> str:
    files = [file for part in (origin, options.adapter) if part for file in _files(Path(part))]
    stamps = [[str(file), stamp] for file in files if (stamp := Stamp.of(file))]
    parts = [
        stamps,
        repr(replace(options, server=ServerOptions())),
        [version(), *map(_version, _PACKAGES)],
        [platform.node(), platform.machine()],
        [sorted(map(_text, Path(_GPUS).glob("*/information"))), Path("/dev/nvidiactl").exists()],
        os.environ.get("CUDA_VISIBLE_DEVICES"),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _files(path: Path) -> Iterator[Path]:
    yield from sorted(path.iterdir()) if path.is_dir() else [path]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


class RecordedModel:
    """A local model that is loaded when it is first asked; see ``LanguageModel``."""

    def __init__(self, name: str, record: Record, load: Callable[[], LanguageModel]) -> None:
        self.name, self._record, self._load = name, record, load
        self._told: Mapping[str, Any] = {**record.content["model"], "name": name}
        self.fingerprint = str(self._told["fingerprint"])
        supported = record.content["supports"]
        self.supports = frozenset(kind for kind in KINDS if kind.__name__ in supported)

    @cached_property
    def model(self) -> LanguageModel:
        found = self._load()
        if found.fingerprint != self.fingerprint:
            if self._record.path is not None:
                self._record.path.unlink(missing_ok=True)
            raise ModelError(
                f"{self.name}: its fingerprint differs from the recorded one although its files "
                "look unchanged; the record was removed: run the same command again"
            )
        return found

    @property
    def description(self) -> Mapping[str, Any]:
        return self.model.description if "model" in self.__dict__ else self._told

    def cost(self, requests: Sequence[Any]) -> list[int]:
        return self.model.cost(requests) if requests else []

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        return self.model.answer(requests) if requests else []

    def next_tokens(self, prompts: Sequence[Prompt], most: int) -> list[tuple[str, float]]:
        return cast("PredictsTokens", self.model).next_tokens(prompts, most)

    def blocks(self, requests: Sequence[Any], tokens: int) -> list[Block] | None:
        model = self.model
        return model.blocks(requests, tokens) if isinstance(model, CutsBlocks) else None

    def prepare(self, block: Block) -> Callable[[], list[Any]]:
        model = self.model
        if isinstance(model, CutsBlocks):
            return model.prepare(block)
        return partial(model.answer, block.requests)
