"""The user's trust in a model's files; by default, Tacit runs no code from the files.

Unpickling a file can run arbitrary code, and a model's repository can contain Python programs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.files import file_hash

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

_REMOTE = "transformers_modules"
_KERNELS = "kernels"


def keep_kernels_away(*, trusted: bool) -> None:
    """Hide the package ``kernels`` from transformers, unless remote code is allowed."""
    if trusted:
        return
    if sys.modules.get(_KERNELS) is not None:
        raise ModelError(
            f"the package {_KERNELS} is already imported in this process and could run code from "
            "the hub: load models in a process without it, or pass --trust-remote-code if you "
            "trust the authors of that code"
        )
    sys.modules[_KERNELS] = None  # type: ignore[assignment] # None marks a missing module


def check_kernels(name: str, config: PreTrainedConfig, *, trusted: bool) -> None:
    """Raise if a config makes transformers compute attention with code from the hub."""
    attention = getattr(config, "_attn_implementation", None)
    if not trusted and "/" in str(attention):
        raise ModelError(
            f"{name}: its config.json selects code from the hub ({attention!r}) to compute "
            "attention, and such code is not run by default: remove attn_implementation from the "
            "config, or pass --trust-remote-code if you trust its authors"
        )
    for part in config.sub_configs:
        inner: Any = getattr(config, part, None)
        if hasattr(inner, "sub_configs"):
            check_kernels(name, inner, trusted=trusted)


HOW_TO_PICKLE = (
    "loading a pickle can run any code that its author put into it: use a model with safetensors, "
    "or pass --allow-pickle if you trust the author"
)
HOW_TO_TRUST = (
    "it contains code (auto_map in its config), which is not run by default: use a model without "
    "such code, or pass --trust-remote-code if you trust its authors"
)


def code_hashes(parts: Iterable[object]) -> dict[str, str]:
    """Return the SHA-256 of each Python file of a model, because its code affects scores."""
    found: dict[str, str] = {}
    for part in parts:
        if not type(part).__module__.startswith(_REMOTE):
            continue
        for file in sorted(Path(inspect.getfile(type(part))).parent.glob("*.py")):
            found[f"{file.parent.name}/{file.name}"] = file_hash(file)
    return found
