"""Create prompts about the parts of things, and compute beliefs from answer scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

import polars as pl
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    model_validator,
)

from tacit.documents import check_placeholders, read_as
from tacit.english import Nouns, begins_with_vowel
from tacit.errors import RequestError
from tacit.findings.declared import shipped
from tacit.requests import Prompt

if TYPE_CHECKING:
    from tacit.coherence.relation import Relation


Number = Literal["paper", "grammar"]


@dataclass(frozen=True)
class Wording:
    """The rules for plural nouns and articles, either of Gu et al. (2023) or of English."""

    number: Number = "paper"
    nouns: Nouns = field(default_factory=Nouns)

    @classmethod
    def of(cls, number: Number, own: Path | None = None) -> Wording:
        """Return a preset's rules for plurals and articles, with the user's exceptions to them."""
        if number == "paper":
            if own is not None:
                raise RequestError(
                    "--nouns requires --number grammar; the paper's rule takes no exceptions"
                )
            return cls()
        return cls(number, Nouns.load(own))

    def is_plural(self, noun: str) -> bool:
        """Check whether a noun takes a plural verb."""
        return noun.endswith("s") if self.number == "paper" else self.nouns.is_plural(noun)

    def with_article(self, noun: str) -> str:
        """Return a noun with its indefinite article; with ``grammar``, plurals have no article."""
        if self.number == "paper":
            return f"{'an' if begins_with_vowel(noun) else 'a'} {noun}"
        return noun if self.is_plural(noun) else f"{self.nouns.article(noun)} {noun}"

    def statement(self, subject: str, relation: Relation, obj: str) -> str:
        """Return the statement in words, with a verb that agrees with the subject."""
        wording = relation.plural if self.is_plural(subject) else relation.singular
        return wording.format(subject=subject, object=obj)


AS_IN_THE_PAPER = Wording()


def _with_placeholders(text: str) -> str:
    return check_placeholders(text, ["a_thing"], ["statement"], once=False)


def _each_once(answers: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(answers)) < len(answers):
        raise ValueError("lists an answer twice, so that it would count twice")
    return answers


_Answer = Annotated[str, Field(min_length=1)]
_Side = Annotated[tuple[_Answer, ...], Field(min_length=1), AfterValidator(_each_once)]


class Template(BaseModel):
    """The prompt template for a statement; ``parts.yaml`` describes each field."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Annotated[str, AfterValidator(_with_placeholders)]
    separator: str = " "
    positive: _Side
    negative: _Side
    any_case: StrictBool = False
    lacking: Literal["missing", "zero"] = "missing"
    filled: Annotated[float | None, Strict(), Field(ge=0, le=1)] = None

    @model_validator(mode="after")
    def _means_one_thing(self) -> Self:
        if set(self.true) & set(self.false):
            raise ValueError("lists an answer as both positive and negative")
        return self

    @classmethod
    def load(cls, name: str = "plain") -> Template:
        """Return the preset prompt template with the given name."""
        return cls.model_validate(shipped("templates", "parts")[name])

    @classmethod
    def read(cls, path: Path) -> Template:
        """Read a user's prompt template from a YAML file with the same fields as a preset."""
        return read_as(cls, path).content

    @cached_property
    def true(self) -> tuple[str, ...]:
        """The answers that mean true, in all spellings."""
        return self._spellings(self.positive)

    @cached_property
    def false(self) -> tuple[str, ...]:
        """The answers that mean false, in all spellings."""
        return self._spellings(self.negative)

    def _spellings(self, answers: tuple[str, ...]) -> tuple[str, ...]:
        if not self.any_case:
            return answers
        return tuple(dict.fromkeys(f for a in answers for f in (a, a.capitalize(), a.upper())))

    def prompt(self, a_thing: str, statement: str) -> Prompt:
        """Return the prompt that asks whether a statement about a thing is true."""
        text = self.text.format(a_thing=a_thing, statement=statement)
        return Prompt(text, self.true + self.false, self.separator)


QUESTION = ("thing", "subject", "relation", "object")


def questions(statements: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct questions (thing, subject, relation, object); keep their order."""
    return statements.select(QUESTION).unique(maintain_order=True)
