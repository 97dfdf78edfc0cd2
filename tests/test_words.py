"""The check of names and phrases that ``make check`` runs finds what it forbids."""

import runpy
from pathlib import Path

CHECK = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "check_words.py"))


def test_names_are_split_into_words(tmp_path: Path) -> None:
    """A name of the glossary's left column is found in snake and camel case, a test's is not."""
    path = tmp_path / "plain.py"
    path.write_text("class OldWays: ...\ndef _held_open(): ...\ndef test_worlds(): ...\n")
    words = set(CHECK["INSTEAD"])
    found = [name for _, name in CHECK["names_in"](path) if CHECK["words_of"](name) & words]
    assert found == ["OldWays", "_held_open"]


def test_variables_of_functions_are_found(tmp_path: Path) -> None:
    """Parameters and what is assigned, but no field of a class and no attribute."""
    path = tmp_path / "plain.py"
    path.write_text("class A:\n    told: int\ndef f(said):\n    several = said.told\n")
    assert CHECK["variables_in"](path) == [(3, "said"), (4, "several")]


def test_phrases_are_found_with_their_line(tmp_path: Path) -> None:
    """Whatever their case."""
    page = tmp_path / "page.md"
    page.write_text("Rules broken:\nother columns are passed over.\n", encoding="utf-8")
    assert CHECK["phrases_in"](page) == [(1, "rules broken"), (2, "passed over")]
