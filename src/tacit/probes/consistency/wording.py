"""Turn facts into background questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from tacit.english import Nouns, before_preposition, head, inflected, lemmas
from tacit.errors import RequestError
from tacit.probes.consistency.template import RelationTemplate, load_templates

Wording: TypeAlias = Callable[[RelationTemplate, str, str], str]
"""Words a fact as a question, with a capital first letter and without a question mark."""

# Minimum frequency of a gerund (on Zipf's scale; about once in three million words): "barking" and
# "growling" pass, "pillowing" and "paining" do not.
_CURRENT = 2.5
_PLURAL_PRONOUNS = frozenset({"i", "you", "we", "they"})


def printed(template: RelationTemplate, first: str, second: str) -> str:
    """Word a fact as Sahu et al. (2022) do, without corrections of grammatical errors."""
    return ended(template.text.format(c1=_spaced(first), c2=_spaced(second)))


@dataclass(frozen=True)
class Grammatical:
    """The wording of Sahu et al. (2022) with corrected articles, plurals and verb forms."""

    nouns: Nouns
    words: Mapping[str, frozenset[str]]

    def question(self, template: RelationTemplate, first: str, second: str) -> str:
        first, second = _spaced(first), _spaced(second)
        if template.singular is None or template.plural is None:
            return printed(template, first, second)
        text = template.plural if self.is_plural(first) else template.singular
        return ended(self._filled(text, first, second))

    def statement(self, template: RelationTemplate, first: str, second: str) -> str:
        """Return a fact as a statement with a capital first letter and without a full stop."""
        if template.statement is None:
            raise RequestError("a relation without a statement cannot be in a context")
        first, second = _spaced(first), _spaced(second)
        plural = template.plural_statement if self.is_plural(first) else None
        return ended(self._filled(plural or template.statement, first, second), ".")

    def _filled(self, text: str, first: str, second: str) -> str:
        return text.format(**self._wordings("c1", first), **self._wordings("c2", second))

    def is_plural(self, concept: str) -> bool:
        first = _first(concept)
        if first in self.words["determiners"]:
            return first in _PLURAL_PRONOUNS
        if self._is_verb(concept):
            return False
        return self._is_many(concept) or self._is_plural_noun(concept)

    def _wordings(self, name: str, concept: str) -> dict[str, str]:
        return {
            name: self._agreeing(concept),
            f"a_{name}": self.noun(concept),
            f"plural_{name}": self.plural(concept),
            f"doing_{name}": self.doing(concept),
            f"to_{name}": f"to {concept}" if self._is_verb(concept) else self.noun(concept),
        }

    def noun(self, concept: str) -> str:
        """Return a verb as a gerund, and a noun with an article if the noun requires an article."""
        if self._is_verb(concept):
            return _gerund(concept)
        if self._is_determined(concept) or self._is_plural_noun(concept) or self._is_mass(concept):
            return self._agreeing(concept)
        return f"{self.nouns.article(concept)} {concept}"

    def plural(self, concept: str) -> str:
        if self._is_verb(concept) or self._is_determined(concept) or self._is_mass(concept):
            return self.noun(concept)
        return concept if self._is_plural_noun(concept) else _pluralised(concept)

    def doing(self, concept: str) -> str:
        """Return a gerund if the concept can be a verb, else the concept, pluralised if needed."""
        return _gerund(concept) if self._is_verb(concept, eager=True) else self._agreeing(concept)

    def _agreeing(self, concept: str) -> str:
        """Pluralise the noun of a concept like ``two eye``; return other concepts unchanged."""
        singular = not self._is_plural_noun(concept)
        return _pluralised(concept) if singular and self._is_many(concept) else concept

    def _is_determined(self, concept: str) -> bool:
        first = _first(concept)
        return first in self.words["determiners"] or first == "1" or self._is_many(concept)

    def _is_many(self, concept: str) -> bool:
        first = _first(concept)
        return first in self.words["many"] or (first.replace(",", "").isdigit() and first != "1")

    def _is_plural_noun(self, concept: str) -> bool:
        last = head(concept)
        if last in self.nouns.plural or last in self.nouns.singular or " and " in concept:
            return self.nouns.is_plural(concept)
        singulars = lemmas(last).get("NOUN", ())
        if last not in singulars:
            return bool(singulars)
        return _plurals(last) == (last,) and self.nouns.is_plural(concept)

    def _is_mass(self, concept: str) -> bool:
        last = head(concept)
        if last in self.words["mass"] or last in self.words["count"]:
            return last in self.words["mass"]
        kinds, plurals = lemmas(last), _plurals(last)
        activity = last.endswith("ing") and "VERB" in kinds and last in plurals
        return "NOUN" not in kinds or plurals == (last,) or activity

    def _is_verb(self, concept: str, *, eager: bool = False) -> bool:
        first, *rest = concept.split(" ")
        kinds = lemmas(first)
        if first not in kinds.get("VERB", ()) or not inflected(first, "VBG"):
            return False  # "may" is a verb without a gerund
        if not {"NOUN", "ADJ"} & set(kinds):
            return True
        if rest and (first in self.words["verbs"] or rest[0] in self.words["determiners"]):
            return True
        return eager and _is_current(_gerund(first))


def wording(preset: Literal["paper", "grammatical"]) -> Wording:
    return printed if preset == "paper" else grammatical().question


def grammatical() -> Grammatical:
    return Grammatical(Nouns.load(), load_templates().words)


def _spaced(concept: str) -> str:
    return concept.replace("_", " ")


def _first(concept: str) -> str:
    return concept.partition(" ")[0]


def ended(text: str, mark: str = "?") -> str:
    """Remove ``mark`` from the end of a text, and capitalise the first letter of the text."""
    bare = text.rstrip().removesuffix(mark).rstrip()
    return bare[:1].upper() + bare[1:]


def _gerund(phrase: str) -> str:
    first, space, rest = phrase.partition(" ")
    return inflected(first, "VBG")[0] + space + rest


def _pluralised(phrase: str) -> str:
    before = before_preposition(phrase)
    last = before.split(" ")[-1]
    plural = next((one for one in _plurals(last) if one != last), last)
    return before.removesuffix(last) + plural + phrase[len(before) :]


@cache
def _is_current(word: str) -> bool:
    from wordfreq import zipf_frequency

    return zipf_frequency(word, "en") >= _CURRENT


def _plurals(noun: str) -> tuple[str, ...]:
    """Return the plurals of a noun, with the most common plural first."""
    return inflected(noun, "NNS")
