"""Singular and plural of the words of norms, by lists, by the lexicon, else by rule."""

from __future__ import annotations

from functools import cache

from tacit.english import Nouns, head
from tacit.probes.assumptions.wording import bare


@cache
def shipped_nouns() -> Nouns:
    """The exceptions that come with Tacit, read once."""
    return Nouns.load()


@cache
def is_plural(concept: str) -> bool:
    """Whether a concept is plural: by ``nouns.yaml``, else by the lexicon, else by its s."""
    from lemminflect import getAllLemmas, getInflection

    nouns, words = shipped_nouns(), bare(concept)
    last = head(words)
    if last in nouns.plural or last in nouns.singular:
        return last in nouns.plural
    singulars = getAllLemmas(last).get("NOUN", ())
    if singulars and last not in singulars:
        return True
    only = not singulars or tuple(getInflection(last, "NNS")) == (last,)
    return only and nouns.is_plural(words)


@cache
def singular(word: str) -> str | None:
    """The singular of a word; the word itself if it is no plural, None of a plural without one.

    "Handle" of "handles"; None of "scissors".
    """
    from lemminflect import getAllLemmas, getAllLemmasOOV

    if not is_plural(word):
        return word
    lemmas = getAllLemmas(word).get("NOUN", ()) or getAllLemmasOOV(word, "NOUN").get("NOUN", ())
    return None if word in lemmas else next(iter(lemmas), None)
