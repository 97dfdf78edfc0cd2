"""The documentation site builds without a warning: no broken link, every page in the navigation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_the_repositorys_own_pages_lead_somewhere(name: str) -> None:
    """Each to a file that is there; addresses are not followed."""
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    """With its notebook executed, in a folder of its own; a broken link or anchor fails."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"),
            *("--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(tmp_path / "site")),
        ],
        cwd=tmp_path,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "TACIT_STORE": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    notebook = (tmp_path / "site" / "tutorials" / "first-hour.html").read_text(encoding="utf-8")
    assert "constraint" in notebook
    assert not list(ROOT.glob("*.kb"))
