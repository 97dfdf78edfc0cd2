"""The name that pip installs: ``tacit`` on the package index is another project's."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import tacit
from tacit.errors import DISTRIBUTION, MissingPackage

_ROOT = Path(__file__).parent.parent
_INSTALLED = re.compile(r"pip install '([^'\[.]+)\[")


def test_messages_name_the_distribution_that_the_project_builds() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert DISTRIBUTION == project["name"] == "tacit-lm"
    assert "pip install 'tacit-lm[ray]'" in str(MissingPackage("ray", "ray"))


def test_documentation_installs_the_distribution() -> None:
    pages = [_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))]
    named = [name for page in pages for name in _INSTALLED.findall(page.read_text("utf-8"))]
    assert named
    assert set(named) == {DISTRIBUTION}


def test_the_installed_distribution_tells_its_version() -> None:
    """What a knowledge base and Ray's workers record is the version of this package."""
    assert version(DISTRIBUTION) == tacit.__version__
