"""The version of Tacit; in a Git checkout, the version includes the commit."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from tacit.errors import DISTRIBUTION

__version__ = "0.1.0"


@cache
def version() -> str:
    """Return Tacit's version, such as 0.2.0, or 0.2.0+gabc1234.dirty in a Git checkout."""
    return __version__ + _commit_of(Path(__file__).resolve().parents[2])


def _commit_of(root: Path) -> str:
    """Return the commit of a Git checkout as a version suffix; empty outside a checkout."""
    # An installed Tacit may lie in an environment within a repository of the user's.
    if not (root / ".git").exists() or not _is_ours(root):
        return ""
    # Within a git hook, these variables select the hook's repository.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        described = subprocess.run(  # noqa: S603 - a fixed command
            ("git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"),  # noqa: S607
            env={**clean, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.strip()
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return f"+g{described.replace('-', '.')}" if described else ""


def _is_ours(root: Path) -> bool:
    """Return whether a folder is the root of the source tree that contains this module."""
    try:
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    source = root / "src" / "tacit" / "version.py"
    return f'name = "{DISTRIBUTION}"' in project and source == Path(__file__).resolve()
