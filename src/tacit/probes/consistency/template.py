"""The templates of section 3.2 and Tables 1 and 2, and the relations of a file of one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tacit.documents import read_yaml
from tacit.errors import DataError, RequestError
from tacit.requests import BLANK
from tacit.strings import convert_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FIELDS = ("text", "singular", "plural")
_AS_PRINTED = re.compile(r"\{(c[12])\}")
_WORDED = re.compile(r"\{(?:a_|plural_|doing_|to_)?(c[12])\}")


@dataclass(frozen=True)
class RelationTemplate:
    """How a relation is asked about; ``consistency.yaml`` describes each field.

    Args:
        text: As the paper prints it, with ``{c1}`` and ``{c2}``.
        singular: In grammar, for a singular subject; None where ``text`` needs no repair.
        plural: In grammar, for a plural one; None with ``singular``.
    """

    text: str
    singular: str | None = None
    plural: str | None = None


@dataclass(frozen=True)
class Templates:
    """All that a question is made of (Tables 1 and 2).

    Args:
        relations: By ConceptNet's name.
        meta_prompts: In the order of Table 1, with ``{question}``, ``{label_a}``, ``{label_b}``.
        pairs: The positive and the negative word of each.
        versions: How many of the meta-prompts each version of the paper has.
        asks_for_truth: The meta-prompts, from 1, that no choice can answer.
        verify: Whether a choice is the answer, with ``{choice}`` and ``{question}``.
    """

    relations: Mapping[str, RelationTemplate]
    meta_prompts: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    versions: Mapping[str, int]
    asks_for_truth: frozenset[int]
    verify: str

    def __post_init__(self) -> None:
        convert_strings(self, "meta_prompts")

    def relation(self, name: str) -> RelationTemplate:
        """The template of a relation.

        Raises:
            RequestError: There is none.
        """
        if name not in self.relations:
            raise RequestError(
                f"there is no template for the relation {name!r}; there is one for "
                f"{', '.join(self.relations)}; add yours in a file of templates"
            )
        return self.relations[name]

    def of_version(self, version: str) -> tuple[str, ...]:
        """The meta-prompts of a version of the paper.

        Raises:
            RequestError: There is no such version.
        """
        if version not in self.versions:
            raise RequestError(f"the version {version!r} is none of {', '.join(self.versions)}")
        return self.meta_prompts[: self.versions[version]]


def load_templates(own: Path | None = None) -> Templates:
    """The templates that come with Tacit, and the relations of a file of one's own.

    Args:
        own: A YAML file with ``relations``, each with the fields of ``consistency.yaml``. It adds
            relations; one that it shares with the built-in ones is asked as the file says.

    Raises:
        DataError: The file is missing or no YAML, or a relation has an unknown field, lacks
            ``text`` or one of the two numbers, or does not name each concept once.
    """
    templates = _built_in()
    return (
        templates
        if own is None
        else replace(templates, relations={**templates.relations, **_read(own)})
    )


@cache
def _built_in() -> Templates:
    path = resources.files("tacit") / "data" / "templates" / "consistency.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Templates(
        _relations(content["relations"], Path("consistency.yaml")),
        tuple(content["meta_prompts"]),
        tuple((positive, negative) for positive, negative in content["pairs"]),
        content["versions"],
        frozenset(content["asks_for_truth"]),
        content["verify"],
    )


def _read(path: Path) -> dict[str, RelationTemplate]:
    content = read_yaml(path)
    if not isinstance(content, dict) or set(content) != {"relations"}:
        raise DataError("expected the key relations, and no other", path)
    return _relations(content["relations"], path)


def _relations(content: Any, path: Path) -> dict[str, RelationTemplate]:  # noqa: ANN401 - whatever YAML holds
    if not isinstance(content, dict) or not content:
        raise DataError("relations: expected the relations by name, each with its text", path)
    for name, entry in content.items():
        problem = next(_problems(name, entry), None)
        if problem is not None:
            raise DataError(f"the relation {name}: {problem}", path)
    return {name: RelationTemplate(**entry) for name, entry in content.items()}


def _problems(name: object, entry: Any) -> Iterator[str]:  # noqa: ANN401 - whatever YAML holds
    """What is wrong with a relation, the first thing first."""
    if not isinstance(name, str) or not name.strip():
        yield "its name must be a string; quote it"
    if not isinstance(entry, dict) or not set(entry) <= set(_FIELDS):
        yield f"expected a mapping with the fields {', '.join(_FIELDS)}"
        return
    if "text" not in entry:
        yield "text is missing"
    if ("singular" in entry) != ("plural" in entry):
        yield "give singular and plural, or neither"
    for key, text in entry.items():
        yield from _problems_of_text(key, text)


def _problems_of_text(key: str, text: object) -> Iterator[str]:
    if not isinstance(text, str):
        yield f"{key} must be a string; quote it"
        return
    place = _AS_PRINTED if key == "text" else _WORDED
    if sorted(place.findall(text)) != ["c1", "c2"] or set(place.sub("", text)) & {"{", "}"}:
        how = "{c1} and {c2}" if key == "text" else "{c1}, {a_c1}, … and {c2}, {a_c2}, …"
        yield f"{key} must hold each concept once ({how}), and no other braces"
    if BLANK in text:
        yield f"{key} holds {BLANK}, which would be the prompt's blank"
