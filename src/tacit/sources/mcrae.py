"""The features and categories of McRae et al. (2005), in the terms of the CSLB norms.

A feature is written ``a_musical_instrument``, ``has_keys``, ``made_of_metal``, ``used_for_music``,
``beh_-_eats`` (what an animal does) or ``inbeh_-_produces_music`` (what a thing does); underscores
are its spaces.
"""

from __future__ import annotations

import re

_BEHAVIOUR = re.compile(r"(?:in)?beh - ")
_NOUN = re.compile(r"an? ")
# The labels of the brain-region taxonomy (BR_Label), as the CSLB norms would class them.
_CATEGORIES = {
    "function": "functional",
    "smell": "other perceptual",
    "sound": "other perceptual",
    "tactile": "other perceptual",
    "taste": "other perceptual",
}


def feature_text(feature: str) -> str:
    """A feature as the CSLB norms would write it; one that is written so already stays.

    ``a_tool`` is "is a tool", ``beh_-_eats_grass`` "does eat grass", ``has_keys`` "has keys".
    """
    text = " ".join(feature.replace("_", " ").split())
    if _NOUN.match(text):
        return f"is {text}"
    behaviour = _BEHAVIOUR.match(text)
    return _done(text[behaviour.end() :]) if behaviour else text


def category_of(label: str) -> str:
    """A category as the CSLB norms name it: ``visual perceptual`` of ``visual-motion``."""
    if label.startswith("visual"):
        return "visual perceptual"
    return _CATEGORIES.get(label, label)


def is_written_so(features: list[str]) -> bool:
    """Whether features of any table are written in this way: underscores for spaces throughout."""
    plain = re.compile(r"(?:an?|has|is|made_of|used_for|(?:in)?beh_-)_")
    return not any(" " in feature for feature in features) and any(map(plain.match, features))


def _done(text: str) -> str:
    """What is done, its verb in the base form after ``does``; "cannot fly" and "is fast" stay."""
    from lemminflect import getAllLemmas, getInflection

    verb, space, rest = text.partition(" ")
    if verb in {"is", "has", "does"}:
        return text
    for base in getAllLemmas(verb).get("VERB", ()):
        if verb in getInflection(base, "VBZ"):
            return f"does {base}{space}{rest}"
    return text
