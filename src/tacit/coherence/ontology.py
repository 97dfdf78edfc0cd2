"""Ontologies: relations between items, with the wording and the constraints of each relation.

Tacit ships the ontologies ``parts``, ``time``, ``space`` and ``taxonomy``, which are loaded by
name. A user can write an ontology as a YAML file in the format of the shipped ontologies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tacit.coherence.closure import Rules, consequences
from tacit.coherence.relation import Filled, Relation
from tacit.documents import problem_in, read_as, similar
from tacit.errors import RequestError
from tacit.strings import shown

SHIPPED = Path(__file__).parent.parent / "data" / "ontologies"
PAPERS = ("symmetric", "asymmetric", "inverse", "transitive")
"""The types of constraints of Gu et al. (2023)."""
KINDS = (*PAPERS, "implies", "excludes", "functional", "inverse_functional")
"""The types of constraints."""

# For each property, that of the inverse relation.
_OF_INVERSE = {name: name for name in ("symmetric", "asymmetric", "transitive", "irreflexive")} | {
    "functional": "inverse_functional",
    "inverse_functional": "functional",
}


@dataclass(frozen=True)
class Ontology:
    """An ontology: a mapping from names to relations, in the order of the ontology file.

    Args:
        name: The ontology's name.
        relations: The relations by name. An asymmetric relation is made irreflexive.

    Raises:
        RequestError: If the relations are not a mapping from names to relations, a relation refers
            to an unknown relation, or relations contradict each other.

    Examples:
        >>> from tacit import Ontology, Relation
        >>> Ontology.load("parts").relations["above"].inverse
        'below'
        >>> older = Relation(
        ...     "older than",
        ...     "{subject} is older than {object}",
        ...     "{subject} are older than {object}",
        ...     asymmetric=True,
        ...     transitive=True,
        ... )
        >>> Ontology("family", {"older than": older}).relations["older than"].irreflexive
        True
    """

    name: str
    relations: Mapping[str, Relation]

    def __post_init__(self) -> None:
        if not isinstance(self.relations, Mapping):
            raise RequestError(
                f"relations of the ontology {self.name} is {shown(self.relations)}; expected a "
                "mapping from names to relations"
            )
        for name, relation in self.relations.items():
            if not isinstance(relation, Relation) or relation.name != name:
                raise RequestError(
                    f"the ontology {self.name} maps {name!r} to {shown(relation)}; expected a "
                    "Relation with this name"
                )
        relations = {
            # x r x is its own reverse, so it is never true if the relation is asymmetric.
            name: replace(relation, irreflexive=relation.irreflexive or relation.asymmetric)
            for name, relation in self.relations.items()
        }
        object.__setattr__(self, "relations", relations)
        for check in (_check_names, _check_properties, _check_possible):
            for relation in relations.values():
                check(relation, relations)

    @classmethod
    def load(cls, name_or_path: str | Path) -> Ontology:
        """Read a shipped ontology by name, or a user's ontology from a file.

        A name that contains a file suffix (such as ``.yaml``) or a folder is treated as the path of
        a file.

        Raises:
            DataError: If the file is missing or malformed. If the content of the file is malformed,
                the error message contains the line number.
            RequestError: If no shipped ontology has the given name.
        """
        path = ontology_file(name_or_path)
        if path is not None:
            return read_ontology(path)
        if str(name_or_path) not in shipped_ontologies():
            raise RequestError(
                f"there is no ontology {str(name_or_path)!r}; expected one of "
                f"{', '.join(shipped_ontologies())}, or the path of a YAML file"
            )
        return read_ontology(SHIPPED / f"{name_or_path}.yaml")

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Ontology:
        """Return the ontology with the content of an ontology file, as ``to_json`` returns it."""
        try:
            read = _OntologyFile.model_validate(content)
        except ValidationError as error:
            raise RequestError(
                f"the relations are invalid: {problem_in(error, _OntologyFile)}"
            ) from None
        return cls(read.name, read.relations)

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file of this ontology."""
        relations = {
            name: {key: value for key, value in asdict(one).items() if value and key != "name"}
            for name, one in self.relations.items()
        }
        return {"name": self.name, "relations": relations}

    @cached_property
    def rules(self) -> Rules:
        """The constraints, with each relation given by its index."""
        return _rules(self.relations)

    @property
    def kinds(self) -> list[str]:
        """The types of constraints of Gu et al. (2023), and the others that the ontology has."""
        declared = [asdict(relation) for relation in self.relations.values()]
        return [kind for kind in KINDS if kind in PAPERS or any(one[kind] for one in declared)]

    @property
    def symmetric(self) -> tuple[str, ...]:
        """The names of the symmetric relations."""
        return tuple(name for name, relation in self.relations.items() if relation.symmetric)

    @cached_property
    def fingerprint(self) -> str:
        """The hexadecimal SHA-256 hash of the ontology's name and of all its relations in order."""
        content = [self.name, [asdict(relation) for relation in self.relations.values()]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def ontology_file(name_or_path: str | Path) -> Path | None:
    """Return the path of a user's ontology; None for the name of a shipped ontology."""
    path = Path(name_or_path)
    own = isinstance(name_or_path, Path) or path.suffix or len(path.parts) > 1
    return path if own else None


def shipped_ontologies() -> list[str]:
    """Return the names of the ontologies that Tacit ships, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


class _OntologyFile(BaseModel):
    """The content of an ontology file."""

    model_config = ConfigDict(extra="forbid")

    name: Filled
    source: Any = None
    relations: Annotated[dict[Filled, Relation], Field(min_length=1)]

    @field_validator("relations", mode="before")
    @classmethod
    def _named(cls, relations: object) -> object:
        """Copy each relation's key in the file to the field ``name`` of the relation."""
        if not isinstance(relations, dict):
            return relations
        for name, relation in relations.items():
            if isinstance(relation, dict) and "name" in relation:
                raise ValueError(
                    f"has the unknown key name in {name}; a relation is named by its key"
                )
        return {
            name: {**relation, "name": name} if isinstance(relation, dict) else relation
            for name, relation in relations.items()
        }


def read_ontology(path: Path) -> Ontology:
    """Read an ontology file and check that its relations do not contradict each other."""
    document = read_as(_OntologyFile, path)
    try:
        return Ontology(document.content.name, document.content.relations)
    except _ConflictError as error:
        raise document.error(error.problem, "relations", *error.location) from None


class _ConflictError(RequestError):
    """A relation contradicts itself or another relation of its ontology."""

    def __init__(self, relation: Relation, key: str, problem: str) -> None:
        super().__init__(f"relation {relation.name}: {key}: {problem}")
        self.problem, self.location = problem, (relation.name, key)


def _check_names(relation: Relation, relations: Mapping[str, Relation]) -> None:
    """Check that a relation refers only to other relations of the ontology."""
    inverse = (relation.inverse,) if relation.inverse else ()
    lists = {"inverse": inverse, "implies": relation.implies, "excludes": relation.excludes}
    for key, others in lists.items():
        for other in others:
            if other not in relations:
                raise _ConflictError(
                    relation,
                    key,
                    f"{other} is not a relation; expected one of {', '.join(relations)}"
                    f"{similar(other, list(relations))}",
                )
            if other == relation.name:
                raise _ConflictError(
                    relation, key, f"{other} refers to itself; expected another relation"
                )


def _check_properties(relation: Relation, relations: Mapping[str, Relation]) -> None:
    """Check that a relation's properties contradict neither each other nor other relations."""
    name = relation.name
    if relation.symmetric and relation.asymmetric:
        raise _ConflictError(
            relation, "asymmetric", f"{name} is both symmetric and asymmetric; remove one"
        )
    for other in relation.implies:
        if other in relation.excludes or name in relations[other].excludes:
            raise _ConflictError(
                relation, "implies", f"{name} implies {other} and also excludes it; remove one"
            )
    if relation.inverse is not None:
        _check_inverse(relation, relations[relation.inverse])


def _check_inverse(relation: Relation, inverse: Relation) -> None:
    name = relation.name
    if inverse.inverse != name:
        problem = f"the inverse of {name} is {inverse.name}, but the inverse of {inverse.name} is "
        problem += (
            f"not given; it must be {name}"
            if inverse.inverse is None
            else f"{inverse.inverse}; a relation has only one inverse. If {name} and "
            f"{inverse.inverse} are kinds of a more general relation, make the general "
            f"relation the inverse of {inverse.name}, and let both relations imply it"
        )
        raise _ConflictError(relation, "inverse", problem)
    if relation.symmetric:
        raise _ConflictError(
            relation, "inverse", f"{name} is symmetric, so it is its own inverse; remove inverse"
        )
    mine, other = asdict(relation), asdict(inverse)
    for flag, needed in _OF_INVERSE.items():
        if mine[flag] and not other[needed]:
            raise _ConflictError(
                relation,
                flag,
                f"{name} is {flag}, so its inverse {inverse.name} must be {needed}",
            )


def _check_possible(relation: Relation, relations: Mapping[str, Relation]) -> None:
    """Check that a relation can hold between two different items."""
    names = list(relations)
    implied, excluded = consequences(_rules(relations), 2)
    both = [names[s] for r, s, _ in {*implied} & {*excluded} if names[r] == relation.name]
    if not both:
        return
    # Among several conflicting relations, an implied one is closest to the mistake.
    other = min(both, key=lambda name: (name not in relation.implies, name))
    why = f"x {relation.name} y makes {other} both true and false for x and y"
    if relation.symmetric and relations[other].asymmetric:
        why = f"{relation.name} is symmetric and implies {other}, which is asymmetric"
    raise _ConflictError(
        relation,
        "implies",
        f"{relation.name} can never be true: {why}; change {relation.name} or {other}",
    )


def _rules(relations: Mapping[str, Relation]) -> Rules:
    number = {name: position for position, name in enumerate(relations)}
    declared = tuple(relations.values())
    inverses = [(number[r.name], number[r.inverse], True) for r in declared if r.inverse]
    return Rules(
        declared,
        (*inverses, *((number[r.name], number[s], False) for r in declared for s in r.implies)),
        tuple((number[r.name], number[s], False) for r in declared for s in r.excludes),
    )
