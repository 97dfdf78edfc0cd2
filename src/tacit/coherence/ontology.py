"""An ontology: relations, how each is worded, and what holds of it.

A shipped ontology is known by its name (``parts``, ``time``, ``space``, ``taxonomy``); a user's
own is a YAML file of the same form.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.strings import convert_strings

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIPPED = Path(__file__).parent.parent / "data" / "ontologies"


@dataclass(frozen=True)
class Relation:
    """One relation: its wording, and the constraints that hold of it.

    Args:
        name: The name that beliefs use.
        singular: The statement for a singular subject, with ``{subject}`` and ``{object}``.
        plural: The statement for a plural subject.
        question_singular: The same as a question, or None.
        question_plural: The same as a question, or None.
        category: A heading to count it under, or None.
        symmetric: x r y and y r x have the same truth value.
        asymmetric: x r y and y r x are never both true.
        transitive: x r y and y r z make x r z true, for three different items.
        irreflexive: x r x is never true; every asymmetric relation is irreflexive.
        inverse: The relation s with x r y exactly when y s x, or None.
        implies: Relations that x r y makes true of x and y.
        excludes: Relations that are never true of x and y together with this one.

    Raises:
        RequestError: ``implies`` or ``excludes`` is one string.
    """

    name: str
    singular: str
    plural: str
    question_singular: str | None = None
    question_plural: str | None = None
    category: str | None = None
    symmetric: bool = False
    asymmetric: bool = False
    transitive: bool = False
    irreflexive: bool = False
    inverse: str | None = None
    implies: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        convert_strings(self, "implies", "excludes")


@dataclass(frozen=True)
class Ontology:
    """Relations by name, in the order of their file.

    Args:
        name: The ontology's name.
        relations: The relations by name.
    """

    name: str
    relations: Mapping[str, Relation]

    @classmethod
    def load(cls, name_or_path: str | Path) -> Ontology:
        """Reads a shipped ontology by its name, or a user's own by its path.

        Anything with a suffix or a folder in it is a path.

        Raises:
            DataError: The file is missing or malformed; the message names its line.
            RequestError: No shipped ontology has this name.
        """
        from tacit.coherence.ontology_file import read_ontology

        path = Path(name_or_path)
        if isinstance(name_or_path, Path) or path.suffix or len(path.parts) > 1:
            return read_ontology(path)
        if str(name_or_path) not in shipped_ontologies():
            raise RequestError(
                f"no ontology is called {name_or_path}; expected one of "
                f"{', '.join(shipped_ontologies())}, or the path of a YAML file"
            )
        return read_ontology(SHIPPED / f"{name_or_path}.yaml")

    @property
    def symmetric(self) -> tuple[str, ...]:
        """The names of the symmetric relations."""
        return tuple(name for name, relation in self.relations.items() if relation.symmetric)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of the name and of all relations in their order."""
        content = [self.name, [asdict(relation) for relation in self.relations.values()]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def shipped_ontologies() -> list[str]:
    """The names of the ontologies that come with Tacit, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))
