"""Checkpoints that are overwritten while they are in use, in the ways in which people do it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

WEIGHTS = "model.safetensors"


def other_weights(folder: Path, target: Path) -> Path:
    """A copy of a model's folder with other weights, of the same sizes to the byte."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    weights = load_file(target / WEIGHTS)
    changed = {name: (-tensor).contiguous() for name, tensor in weights.items()}
    (target / WEIGHTS).unlink()
    save_file(changed, target / WEIGHTS, {"format": "pt"})
    assert (target / WEIGHTS).stat().st_size == (folder / WEIGHTS).stat().st_size
    return target


def overwrite_in_file(new: Path, old: Path) -> None:
    """As ``cp new old``: the same inode."""
    shutil.copyfile(new, old)


def with_former_time(new: Path, old: Path) -> None:
    """As ``cp -p new old`` where both were unpacked from one archive."""
    found = old.stat()
    shutil.copyfile(new, old)
    os.utime(old, ns=(found.st_atime_ns, found.st_mtime_ns))


def renamed(new: Path, old: Path) -> None:
    """As ``mv new old``: another inode."""
    shutil.copyfile(new, old.with_name("new"))
    old.with_name("new").replace(old)


def removed(_: Path, old: Path) -> None:
    old.unlink()


WAYS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "in place": (overwrite_in_file, "was changed"),
    "with its former time": (with_former_time, "was changed"),
    "renamed": (renamed, "was changed"),
    "removed": (removed, "was deleted"),
}
