from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.coherence.ontology import Ontology
from tacit.documents import check_placeholders, read_yaml
from tacit.errors import DataError
from tacit.probes.consistency.template import load_templates
from tacit.probes.parts.questions import Template


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("plural: [scissors]\nan: [hour]\nplural: [tongs]\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 3: .* the key 'plural' occurs twice"):
        read_yaml(path)


def test_other_keys_and_aliases_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("a: &a {x: 1}\nb: {x: 2}\nc: *a\n", encoding="utf-8")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 2}, "c": {"x": 1}}


TEMPLATES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "parts template": (
        Template.read,
        "text: '{a_thing} {statement}'\npositive: [a]\nnegative: [b]\n",
        "statement",
    ),
    "consistency templates": (load_templates, "relations:\n  IsA:\n    text: '{c1} {c2}'\n", "c2"),
    "ontology": (
        Ontology.load,
        (
            "name: own\nrelations:\n  r:\n    singular: '{subject} {object}'\n"
            "    plural: '{subject} {object}'\n"
        ),
        "object",
    ),
}
MALFORMED = {
    "so": "lacks the placeholder {NAME}",
    "{{NAME}}": "lacks the placeholder {NAME}",
    "{NAME} {other}": "unknown placeholder {other}",
    "{NAME.text}": "unknown placeholder {NAME.text}",
    "{NAME!r}": "unknown placeholder {NAME!r}",
    "{ NAME }": "unknown placeholder { NAME }",
    "{NAME": "a brace that belongs to no placeholder",
    "{NAME} }": "a brace that belongs to no placeholder",
}


@pytest.mark.parametrize(("written", "problem"), MALFORMED.items())
@pytest.mark.parametrize(("read", "good", "name"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_placeholder_that_does_not_fit_is_refused_by_its_name(
    read: Callable[[Path], object],
    good: str,
    name: str,
    written: str,
    problem: str,
    tmp_path: Path,
) -> None:
    """In every kind of template, with the file and what was expected."""
    path = tmp_path / "own.yaml"
    path.write_text(good, encoding="utf-8")
    read(path)
    path.write_text(good.replace(f"{{{name}}}", written.replace("NAME", name), 1), encoding="utf-8")
    with pytest.raises(DataError) as told:
        read(path)
    assert problem.replace("NAME", name) in str(told.value)
    assert told.value.path == path


def test_an_escaped_brace_is_a_brace() -> None:
    assert check_placeholders("{{x}} {a}", ["a"]).format(a=1) == "{x} 1"
