"""Pages of the documentation that are generated are what their scripts write; ``make docs``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
PAGES = (
    *("cli_page", "data_page", "glossary_page", "ontologies_page", "python_page"),
    "tables_page",
)


def script(name: str) -> Any:  # noqa: ANN401 - a module
    """A script, loaded."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_the_script_writes(name: str) -> None:
    """From the registry of sources, the declared tables, the options, and the public names."""
    module = script(name)
    assert module.PAGE.read_text(encoding="utf-8") == module.page()


def test_names_are_split_into_words(tmp_path: Path) -> None:
    """A name of the glossary's left column is found in snake and camel case, a test's is not."""
    module = script("check_words")
    path = tmp_path / "plain.py"
    path.write_text("class OldWays: ...\ndef _held_open(): ...\ndef test_worlds(): ...\n")
    words = set(module.INSTEAD)
    found = [name for _, name in module.names_in(path) if module.words_of(name) & words]
    assert found == ["OldWays", "_held_open"]
    page = tmp_path / "page.md"
    page.write_text("Rules broken:\nother columns are passed over.\n", encoding="utf-8")
    assert module.phrases_in(page) == [(1, "rules broken"), (2, "passed over")]
    assert module.problems() == []
