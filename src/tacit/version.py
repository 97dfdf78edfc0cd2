"""Which Tacit this is: its version, and in a checkout of its repository the commit."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from tacit.errors import DISTRIBUTION

__version__ = "0.1.0"


@cache
def version() -> str:
    """The version, such as 0.2.0; in a checkout with its commit, such as 0.2.0+gabc1234.dirty."""
    return __version__ + _commit_of(Path(__file__).resolve().parents[2])


def _commit_of(root: Path) -> str:
    """The commit of a checkout of Tacit, as a version has it; empty where there is none."""
    # What is installed lies in an environment, which may lie in a repository of the user's.
    if not (root / ".git").exists() or not _is_ours(root):
        return ""
    # Within git's own hooks these name the repository of the hook.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        told = subprocess.run(  # noqa: S603 - of this repository
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
    return f"+g{told.replace('-', '.')}" if told else ""


def _is_ours(root: Path) -> bool:
    """Whether a folder is the root of Tacit's sources, from which this very package is imported."""
    try:
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    source = root / "src" / "tacit" / "version.py"
    return f'name = "{DISTRIBUTION}"' in project and source == Path(__file__).resolve()
