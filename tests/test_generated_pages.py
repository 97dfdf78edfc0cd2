"""Pages of the documentation that are generated are what their scripts write; ``make docs``."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


def script(name: str) -> Any:  # noqa: ANN401 - a module
    """A script, loaded."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["data_page", "tables_page"])
def test_the_page_is_what_the_script_writes(name: str) -> None:
    """From the registry of sources, and from the tables that probes declare."""
    module = script(name)
    assert module.PAGE.read_text(encoding="utf-8") == module.page()
