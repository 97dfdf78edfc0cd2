"""The documentation site builds without a warning: no broken link, every page in the navigation."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOOK = runpy.run_path(str(ROOT / "scripts" / "site_pages.py"))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_the_repositorys_own_pages_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing


def test_pages_with_the_marker_are_those_that_are_generated() -> None:
    pages = (ROOT / "docs").rglob("*.md")
    marked = {
        path.relative_to(ROOT / "docs").as_posix()
        for path in pages
        if HOOK["MARKER"] in path.read_text(encoding="utf-8")
    }
    assert marked == set(HOOK["PAGES"])


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("reference/cli.md", "## tacit run consistency"),
        ("reference/python.md", "### tacit.load_run"),
        ("reference/tables.md", "### violation"),
        ("reference/glossary.md", "**Background score**"),
        ("reference/ontologies.md", "## taxonomy"),
        ("how-to/get-the-data.md", "### conceptnet"),
    ],
)
def test_a_page_is_generated(page: str, heading: str) -> None:
    """From the commands, the public names, the declared tables, the glossary and the registry."""
    assert heading in "\n".join(HOOK["PAGES"][page]()).splitlines()


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    """A broken link or anchor fails; the notebooks are run by tests of their own."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"),
            *("--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(tmp_path / "site")),
        ],
        cwd=tmp_path,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "EXECUTE_NOTEBOOKS": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "site" / "tutorials" / "first-hour.html").is_file()
    tables = (tmp_path / "site" / "reference" / "tables.html").read_text(encoding="utf-8")
    assert "share_true" in tables
