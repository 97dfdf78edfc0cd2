"""A relation between two items, with its wording and its constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, StrictBool

from tacit.documents import check_placeholders
from tacit.strings import convert_strings


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _worded(text: str) -> str:
    return check_placeholders(text, ["subject"], ["object"])


Filled = Annotated[str, AfterValidator(_filled)]
Statement = Annotated[str, AfterValidator(_worded)]


@dataclass(frozen=True)
class Relation:
    """A relation between two items, with its wording and its constraints.

    Args:
        name: The name of the relation in tables of beliefs.
        singular: The wording of a statement with a singular subject; contains ``{subject}`` and
            ``{object}``. If it is empty, the name of the relation stands between them.
        plural: The wording of a statement with a plural subject; contains ``{subject}`` and
            ``{object}``. If it is empty, it is that with a singular subject.
        question_singular: The wording of a question with a singular subject, or None.
        question_plural: The wording of a question with a plural subject, or None.
        category: The category under which the relation's statements are counted, or None.
        symmetric: Whether, for this relation r, the statements x r y and y r x always have the same
            truth value.
        asymmetric: Whether, for this relation r, the statements x r y and y r x are never both
            true.
        transitive: Whether, for this relation r and three different items x, y and z, the
            statements x r y and y r z imply x r z.
        irreflexive: Whether, for this relation r, a statement x r x is never true. Every asymmetric
            relation is irreflexive.
        functional: Whether, for this relation r and three different items x, y and z, the
            statements x r y and x r z are never both true: each subject has at most one object.
        inverse_functional: Whether, for this relation r and three different items x, y and z, the
            statements x r z and y r z are never both true: each object has at most one subject.
        inverse: The name of the relation s that is the inverse of this relation r, or None. If s is
            the inverse of r, the statement y s x is true if and only if x r y is true.
        implies: The names of the relations that this relation implies. If this relation r implies
            s, the statement x r y implies x s y.
        excludes: The names of the relations that this relation excludes. If this relation r
            excludes s, the statements x r y and x s y are never both true.

    Raises:
        RequestError: If ``implies`` or ``excludes`` is a single string; a list or tuple of names is
            required.

    Examples:
        >>> from tacit import Relation
        >>> above = Relation("above", "{subject} is above {object}", "{subject} are above {object}")
        >>> above.singular.format(subject="trunk", object="roots")
        'trunk is above roots'
        >>> Relation("lives in", functional=True).singular
        '{subject} lives in {object}'
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    singular: Statement = ""
    plural: Statement = ""
    question_singular: Statement | None = None
    question_plural: Statement | None = None
    category: Filled | None = None
    symmetric: StrictBool = False
    asymmetric: StrictBool = False
    transitive: StrictBool = False
    irreflexive: StrictBool = False
    functional: StrictBool = False
    inverse_functional: StrictBool = False
    inverse: Filled | None = None
    implies: tuple[Filled, ...] = ()
    excludes: tuple[Filled, ...] = ()

    def __post_init__(self) -> None:
        convert_strings(self, "implies", "excludes")
        name = self.name.replace("{", "{{").replace("}", "}}")
        object.__setattr__(self, "singular", self.singular or f"{{subject}} {name} {{object}}")
        object.__setattr__(self, "plural", self.plural or self.singular)
