"""The models called ``demo`` and ``demo-masked``, which come with Tacit.

They are small and know little: ``scripts/train_demo.py`` taught them the demo's knowledge. What was
withheld from them and what they were taught wrong stands in ``planted.yaml`` beside their weights.
"""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

DEMO = "demo"
"""The causal demo model; a folder of that name is ``./demo``."""

DEMO_MASKED = "demo-masked"
"""The masked one."""

_FOLDERS = {DEMO: "causal", DEMO_MASKED: "masked"}

DEMOS = tuple(_FOLDERS)


def folder_of(name: str) -> Path:
    """The folder of a demo model, one of ``DEMOS``: config, fp16 weights, tokenizer."""
    return Path(str(resources.files("tacit") / "data" / "demo" / "models" / _FOLDERS[name]))


def copy_demo(folder: Path, name: str = DEMO) -> None:
    """Copies a demo model's folder to one's own place, where it is a model like any other."""
    shutil.copytree(folder_of(name), folder)
