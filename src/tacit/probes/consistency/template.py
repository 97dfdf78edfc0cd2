"""The templates of Sahu et al. (2022, section 3.2, Tables 1 and 2) and of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from tacit.documents import check_placeholders, read_as
from tacit.findings.declared import shipped
from tacit.requests import BLANK
from tacit.strings import comparable

_CONCEPTS = ("c1", "c2")
_WORDED = ("", "a_", "plural_", "doing_", "to_")


def _checked(text: str, *, forms: tuple[str, ...] = ("",)) -> str:
    check_placeholders(text, *([f"{form}{concept}" for form in forms] for concept in _CONCEPTS))
    if BLANK in text:
        raise ValueError(f"contains {BLANK}, which marks the blank of a prompt")
    return text


Printed = Annotated[str, AfterValidator(_checked)]
Worded = Annotated[str, AfterValidator(partial(_checked, forms=_WORDED))]


@dataclass(frozen=True)
class RelationTemplate:
    """The templates for questions and statements about the facts of one relation."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    text: Printed
    singular: Worded | None = None
    plural: Worded | None = None
    statement: Worded | None = None
    plural_statement: Worded | None = None

    def __post_init__(self) -> None:
        if (self.singular is None) != (self.plural is None):
            raise ValueError("requires both singular and plural, or neither")
        if self.statement is None and self.plural_statement is not None:
            raise ValueError("requires statement if it has plural_statement")


@dataclass(frozen=True)
class Templates:
    """All templates of questions and prompts, and the word lists of the grammatical wording."""

    relations: Mapping[str, RelationTemplate]
    meta_prompts: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    versions: Mapping[str, int]
    asks_for_truth: frozenset[int]
    verify: str
    words: Mapping[str, frozenset[str]]

    def of_version(self, version: str) -> tuple[str, ...]:
        """Return the meta-prompts (prompt templates) in a version of Sahu et al. (2022)."""
        return self.meta_prompts[: self.versions[version]]


def load_templates(own: Path | None = None) -> Templates:
    """Return Tacit's templates, combined with relation templates that the user defines."""
    templates = _shipped()
    if own is None:
        return templates
    given = read_as(_TemplatesFile, own).content.relations
    relations = {comparable(name): template for name, template in given.items()}
    return replace(templates, relations={**templates.relations, **relations})


@cache
def _shipped() -> Templates:
    return TypeAdapter(Templates).validate_python(shipped("templates", "consistency"))


class _TemplatesFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    relations: Annotated[dict[str, RelationTemplate], Field(min_length=1)]
