from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.documents import read_yaml
from tacit.english import Nouns
from tacit.errors import DataError
from tacit.probes.assumptions.corrections import read_corrections
from tacit.probes.consistency.template import load_templates
from tacit.probes.parts.questions import Template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READERS: dict[str, tuple[Callable[[Path], object], str, int, str]] = {
    "nouns": (Nouns.load, "plural: [scissors]\nan: [hour]\nplural: [tongs]\n", 3, "plural"),
    "corrections": (
        read_corrections,
        "- feature: eats\n  wording: eats food\n  feature: drinks\n",
        3,
        "feature",
    ),
    "parts template": (
        Template.read,
        '{"text": "{statement} {a_thing}",\n "separator": " ",\n "separator": ""}',
        3,
        "separator",
    ),
    "consistency templates": (
        load_templates,
        "relations:\n  IsA:\n    text: '{c1} {c2}'\n  IsA:\n    text: '{c2} {c1}'\n",
        4,
        "IsA",
    ),
}


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, name: str) -> None:
    """In YAML and in JSON, which is YAML, with its line: nobody knows which was meant."""
    read, content, line, key = READERS[name]
    path = tmp_path / "file.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert f"the key {key!r} occurs twice" in str(refused.value)


def test_other_keys_and_aliases_are_read(tmp_path: Path) -> None:
    """A key may stand once in each mapping."""
    path = tmp_path / "file.yaml"
    path.write_text("a: &a {x: 1}\nb: {x: 2}\nc: *a\n", encoding="utf-8")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 2}, "c": {"x": 1}}
