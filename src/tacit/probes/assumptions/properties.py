"""The properties of norms that a prompt can state, and why others cannot (METHODS section 3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.probes.assumptions import alternatives
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.wording import names, predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.probes.assumptions.corrections import Correction
    from tacit.sources.norms import Norms, Property

RARE = "named by too few people"
UNWORDED = "no wording"
LONG = "too long"
NAMING = "names its concept"
SAME = "worded as another"

UNGRAMMATICAL = "alternative ungrammatical"
NO_VERB = "alternative without a wording"
FROM_FEATURE = (UNGRAMMATICAL, NO_VERB)
"""Why a feature is stated, and not its first alternative."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Which properties are passed over before all else; by default, as in the paper, none.

    Args:
        people: The least production frequency. The CSLB norms themselves begin at 2.
        words: The most words of a wording; None for any number.

    Raises:
        RequestError: There could be no property.
    """

    people: int = 0
    words: int | None = None

    def __post_init__(self) -> None:
        if self.people < 0 or (self.words is not None and self.words < 1):
            raise RequestError(
                f"at least {self.people} people and at most {self.words} words: the first must be "
                "0 or more, the second 1 or more"
            )


@dataclass(frozen=True, slots=True)
class Worded:
    """A property that a prompt can state.

    Args:
        property: As people named it.
        text: The predicate: "has fur".
        corrected: Whether the text is a person's own correction.
        from_feature: Why the feature is stated and not its first alternative: ``UNGRAMMATICAL``
            or ``NO_VERB``; None where it is not, or there is no alternative.
    """

    property: Property
    text: str
    corrected: bool = False
    from_feature: str | None = None


@dataclass(frozen=True, slots=True)
class WordedNorms:
    """The properties that prompts can state, and the count of the others.

    Args:
        norms: The norms.
        properties: By concept, in the order of the file; a concept of which none is left has none.
        dropped: The number of properties passed over, by reason, in the order of the tests.
        corrected: How many wordings were corrected.
        from_feature: How many of them state the feature and not its first alternative, by reason.
        unmatched: Corrections that met no property.
    """

    norms: Norms
    properties: Mapping[str, tuple[Worded, ...]]
    dropped: Mapping[str, int]
    corrected: int
    from_feature: Mapping[str, int]
    unmatched: tuple[Correction, ...]

    @property
    def usable(self) -> int:
        """How many properties are left."""
        return sum(map(len, self.properties.values()))


def word_properties(
    norms: Norms, corrections: Sequence[Correction] = (), limits: Limits | None = None
) -> WordedNorms:
    """Words every property of norms.

    A property is worded as its correction says; else by its first alternative; else, where that is
    missing, ungrammatical or has no wording, by its feature. Of properties of one concept that are
    worded alike, the most frequent stays (the first of equal ones).
    """
    limits = limits or Limits()
    known = Corrections(norms, corrections)
    dropped = Counter(dict.fromkeys((RARE, UNWORDED, LONG, NAMING, SAME), 0))
    left: dict[str, tuple[Worded, ...]] = {}
    for concept, properties in norms.by_concept().items():
        made = [_worded(one, known, limits) for one in properties]
        worded = [one for one in made if isinstance(one, Worded)]
        dropped.update(one for one in made if isinstance(one, str))
        left[concept] = _distinct(worded)
        dropped[SAME] += len(worded) - len(left[concept])
    usable = [one for some in left.values() for one in some]
    corrected = sum(one.corrected for one in usable)
    counts = Counter(one.from_feature for one in usable)
    from_feature = {reason: counts[reason] for reason in FROM_FEATURE}
    return WordedNorms(norms, left, dict(dropped), corrected, from_feature, known.unmatched)


def _worded(one: Property, corrections: Corrections, limits: Limits) -> Worded | str:
    """A property with its wording, or the first reason why it cannot be used."""
    if one.frequency < limits.people:
        return RARE
    own = corrections.wording(one)
    said, reason = (own, None) if own else _said(one)
    if said is None:
        return UNWORDED
    if limits.words is not None and len(said.split()) > limits.words:
        return LONG
    return NAMING if names(said, one.concept) else Worded(one, said, own is not None, reason)


def _said(one: Property) -> tuple[str | None, str | None]:
    """The predicate of a property, and why its first alternative is not stated."""
    if not one.alternatives:
        return predicate(one.feature), None
    said = alternatives.worded(one.alternatives[0], one.feature)
    if said is None:
        return predicate(one.feature), NO_VERB
    better = alternatives.corrected(said, one.feature)
    return (said, None) if better is None else (better, UNGRAMMATICAL)


def _distinct(worded: Iterable[Worded]) -> tuple[Worded, ...]:
    """Each wording once, in the order of the file: the most frequent of equal ones, else first."""
    best: dict[str, Worded] = {}
    ordered = list(worded)
    for made in ordered:
        rival = best.setdefault(made.text.lower(), made)
        if made.property.frequency > rival.property.frequency:
            best[made.text.lower()] = made
    kept = {id(made) for made in best.values()}
    return tuple(made for made in ordered if id(made) in kept)
