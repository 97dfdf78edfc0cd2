"""Number and article: how a statement about a thing reads.

``paper`` follows the authors' program: a subject that ends in s is plural, and ``an`` stands before
a, e, i, o and u. ``grammar`` gets it right, by rule and by a list of exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tacit.english import Nouns, begins_with_vowel
from tacit.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.coherence.ontology import Relation

Number = Literal["paper", "grammar"]


@dataclass(frozen=True)
class Wording:
    """How nouns are put: by the paper's rule, or by grammar.

    Args:
        number: The preset.
        nouns: The exceptions, for ``grammar``.
    """

    number: Number = "paper"
    nouns: Nouns = field(default_factory=Nouns)

    @classmethod
    def of(cls, number: str, own: Path | None = None) -> Wording:
        """The wording of a preset, with one's own exceptions.

        Raises:
            RequestError: The preset is unknown, or exceptions come with the paper's rule.
            DataError: The exceptions cannot be read.
        """
        if number == "paper":
            if own is not None:
                raise RequestError("exceptions are for --number grammar; the paper's rule has none")
            return cls()
        if number == "grammar":
            return cls("grammar", Nouns.load(own))
        raise RequestError(f"the number preset {number!r} is none of paper, grammar")

    def is_plural(self, noun: str) -> bool:
        """Whether the verb behind a subject is plural."""
        return noun.endswith("s") if self.number == "paper" else self.nouns.is_plural(noun)

    def with_article(self, noun: str) -> str:
        """The noun behind its indefinite article; by grammar, a plural has none."""
        if self.number == "paper":
            return f"{'an' if begins_with_vowel(noun) else 'a'} {noun}"
        return noun if self.is_plural(noun) else f"{self.nouns.article(noun)} {noun}"

    def statement(self, subject: str, relation: Relation, obj: str) -> str:
        """The statement in words, its verb in the subject's number."""
        wording = relation.plural if self.is_plural(subject) else relation.singular
        return wording.format(subject=subject, object=obj)


AS_IN_THE_PAPER = Wording()
