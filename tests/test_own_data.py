"""The pages on one's own data run as they stand."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.sources.drawings import demo_drawings
from tests.test_tutorials import HOW_TO, shell

__all__ = ["shell"]

SAVED = re.compile(
    r"[Ss]ave\s+the\s+following\s+\w+\s+as\s+`([^`]+)`.*?\n\n```\w+\n(.*?)```|```sh\n(.*?)```",
    re.DOTALL,
)
OWN_DATA = ("own-drawings", "own-norms", "own-questions", "own-templates", "suites")


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_DATA)
def test_a_page_on_own_data_runs(name: str, shell: Callable[[str], None], tmp_path: Path) -> None:
    """Its files are saved and its commands run, in their order, in an empty folder."""
    page = (HOW_TO / f"{name}.md").read_text(encoding="utf-8")
    (tmp_path / "everyday-things").symlink_to(demo_drawings())
    commands = 0
    for path, content, block in SAVED.findall(page):
        if path:
            (tmp_path / path).write_text(content, encoding="utf-8")
            continue
        commands += 1
        shell(block)
    assert commands
