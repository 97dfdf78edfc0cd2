"""Look up the bundled demo models, and the back-ends that other packages provide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tacit.errors import ModelError
from tacit.models.base import LanguageModel

if TYPE_CHECKING:
    from tacit.models.options import LoadOptions

    Backend: TypeAlias = Callable[[str, LoadOptions], LanguageModel]


GROUP = "tacit.models"
"""The entry-point group for back-ends.

The name of an entry point is a scheme (``mlx`` in ``mlx:phi-3``), and its value is a function that
loads a model.
"""


LOGS = {
    "inspect": "a log of inspect_ai",
    "lm-eval": "samples that lm-evaluation-harness has logged",
}
"""The schemes of Tacit's own back-ends, which read logs, with what they read."""


def backend_of(name: str) -> Backend | None:
    """Return the back-end for a name such as ``mlx:phi-3``; None if the name has no scheme."""
    scheme, colon, _ = name.partition(":")
    if not colon:
        return None
    if scheme not in _registered():
        known = ", ".join(schemes()) or "none"
        raise ModelError(
            f"{name}: no back-end is installed for models named {scheme}:… (installed: {known}); a "
            "server's address begins with http:// or https://"
        )
    found: Backend = _registered()[scheme].load()
    return found


def schemes() -> tuple[str, ...]:
    """Return the schemes of the back-ends, Tacit's own among them, sorted."""
    return tuple(sorted(_registered()))


@cache
def _registered() -> Mapping[str, metadata.EntryPoint]:
    loader = "tacit.models.logged:load_{}"
    own = [metadata.EntryPoint(one, loader.format(one.replace("-", "_")), GROUP) for one in LOGS]
    return {one.name: one for one in (*metadata.entry_points(group=GROUP), *own)}


DEMO = "demo"
"""The name of the causal demo model.

A user's folder with the name ``demo`` must be specified as ``./demo``.
"""

DEMO_MASKED = "demo-masked"
"""The name of the masked demo model."""

_FOLDERS = {DEMO: "causal", DEMO_MASKED: "masked"}

DEMOS = tuple(_FOLDERS)


def folder_of(name: str) -> Path:
    """Return a demo model's folder, which contains the config, fp16 weights and tokenizer."""
    return Path(str(resources.files("tacit") / "data" / "demo" / "models" / _FOLDERS[name]))
