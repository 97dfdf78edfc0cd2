"""An ontology: relations, how each is worded, and what holds of it.

A shipped ontology is known by its name (``parts``, ``time``, ``space``, ``taxonomy``); a user's
own is a YAML file of the same form.
"""

from __future__ import annotations

import hashlib
import json
import string
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tacit.coherence.enrich import clashes
from tacit.errors import DataError, RequestError
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


# The file

_TRUTH = "tag:yaml.org,2002:bool"
_TEXT = "tag:yaml.org,2002:str"
_FLAGS = ("symmetric", "asymmetric", "transitive", "irreflexive")
_LISTS = ("implies", "excludes")
_WORDINGS = ("singular", "plural", "question_singular", "question_plural")
_KEYS = tuple(field.name for field in fields(Relation) if field.name != "name")
_FILE_KEYS = ("name", "source", "relations")


def read_ontology(path: Path) -> Ontology:
    """Reads an ontology and checks that its relations agree with one another.

    Raises:
        DataError: The file is missing, is no YAML, or a relation is malformed or contradicts
            another; the message names the line.
    """
    try:
        with path.open(encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.SafeLoader)
    except FileNotFoundError as error:
        raise DataError("there is no such file; expected an ontology in YAML", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"is not YAML: {error.problem}", path, line) from error
    except (RecursionError, yaml.YAMLError) as error:
        raise DataError(f"is not YAML: {error}", path) from error
    return _Reader(path).ontology(root)


class _Reader:
    """Turns YAML nodes into relations and remembers the line of each thing it read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[tuple[str, str], int] = {}

    def ontology(self, root: yaml.Node | None) -> Ontology:
        if root is None:
            raise DataError("is empty; expected name and relations", self.path)
        top = self._mapping(root, "the file", _FILE_KEYS)
        for key in ("name", "relations"):
            if key not in top:
                raise DataError(f"has no {key}", self.path)
        named = self._mapping(top["relations"], "relations", None)
        if not named:
            self._refuse(top["relations"], "relations is empty; expected at least one relation")
        relations = {name: self._relation(name, node) for name, node in named.items()}
        for relation in relations.values():
            self._check(relation, relations)
        for relation in relations.values():
            self._check_possible(relation, relations)
        return Ontology(self._text(top["name"], "name"), relations)

    def _relation(self, name: str, node: yaml.Node) -> Relation:
        values: dict[str, Any] = {}
        for key, value in self._mapping(node, name, _KEYS).items():
            self.lines[name, key] = _line(value)
            if key in _FLAGS:
                values[key] = self._truth(value, f"{name}: {key}")
            elif key in _LISTS:
                values[key] = self._names(value, f"{name}: {key}")
            else:
                values[key] = self._text(value, f"{name}: {key}")
            if key in _WORDINGS:
                self._check_wording(value, f"{name}: {key}", values[key])
        self.lines[name, ""] = _line(node)
        for key in ("singular", "plural"):
            if key not in values:
                self._refuse(node, f"{name} has no wording {key}")
        # x r x would be its own reverse, so an asymmetric relation cannot hold of it.
        values["irreflexive"] = values.get("irreflexive", False) or values.get("asymmetric", False)
        return Relation(name, **values)

    def _check(self, relation: Relation, relations: Mapping[str, Relation]) -> None:
        name = relation.name
        for key in ("inverse", *_LISTS):
            value = getattr(relation, key)
            for other in (value,) if isinstance(value, str) else value or ():
                if other not in relations:
                    self._conflict(
                        name, key, f"{other} is no relation; expected one of {', '.join(relations)}"
                    )
                if other == name:
                    self._conflict(name, key, f"{name} names itself; name another relation")
        if relation.symmetric and relation.asymmetric:
            self._conflict(
                name, "asymmetric", f"{name} is symmetric and asymmetric; it can only be one"
            )
        both = [other for other in relation.implies if other in relation.excludes]
        both += [other for other in relation.implies if name in relations[other].excludes]
        if both:
            self._conflict(name, "implies", f"{name} implies and excludes {both[0]}")
        if relation.inverse is not None:
            self._check_inverse(relation, relations[relation.inverse])

    def _check_possible(self, relation: Relation, relations: Mapping[str, Relation]) -> None:
        """Refuse a relation that can never be true of two different items."""
        both = {other for _, other, _ in clashes(("x", relation.name, "y"), relations)}
        if not both:
            return
        # Of several relations that clash, an implied one is nearest to the mistake.
        other = min(both, key=lambda name: (name not in relation.implies, name))
        why = f"x {relation.name} y makes {other} both true and false of x and y"
        if relation.symmetric and relations[other].asymmetric:
            why = f"{relation.name} is symmetric and implies {other}, which is asymmetric"
        self._conflict(
            relation.name, "implies", f"{relation.name} can never be true: {why}; change one"
        )

    def _check_inverse(self, relation: Relation, inverse: Relation) -> None:
        name = relation.name
        if inverse.inverse != name:
            self._conflict(
                name,
                "inverse",
                f"the inverse of {name} is {inverse.name}, but the inverse of {inverse.name} is "
                f"{inverse.inverse or 'not given'}; it must be {name}",
            )
        if relation.symmetric:
            self._conflict(
                name, "inverse", f"{name} is symmetric, so it is its own inverse; leave inverse out"
            )
        for flag in _FLAGS:
            if getattr(relation, flag) and not getattr(inverse, flag):
                self._conflict(
                    name,
                    flag,
                    f"{name} is {flag} and its inverse {inverse.name} is not; "
                    "a relation and its inverse have the same properties",
                )

    def _conflict(self, name: str, key: str, problem: str) -> None:
        raise DataError(problem, self.path, self.lines.get((name, key), self.lines[name, ""]))

    def _refuse(self, node: yaml.Node, problem: str) -> None:
        raise DataError(problem, self.path, _line(node))

    def _mapping(
        self, node: yaml.Node, what: str, allowed: tuple[str, ...] | None
    ) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise DataError(f"{what} must be a mapping", self.path, _line(node))
        found: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = self._text(key_node, f"a key of {what}")
            if allowed is not None and key not in allowed:
                self._refuse(
                    key_node, f"{what} has the unknown key {key}; expected {', '.join(allowed)}"
                )
            if key in found:
                self._refuse(key_node, f"{what} has {key} twice")
            found[key] = value
        return found

    def _text(self, node: yaml.Node, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != _TEXT or not node.value.strip():
            raise DataError(f"{what} must be text (in quotes, if need be)", self.path, _line(node))
        return str(node.value)

    def _truth(self, node: yaml.Node, what: str) -> bool:
        if not isinstance(node, yaml.ScalarNode) or node.tag != _TRUTH:
            raise DataError(f"{what} must be true or false", self.path, _line(node))
        return str(node.value).lower() in {"true", "yes", "on"}

    def _names(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode):
            raise DataError(f"{what} must be a list of relations", self.path, _line(node))
        return tuple(self._text(item, what) for item in node.value)

    def _check_wording(self, node: yaml.Node, what: str, wording: str) -> None:
        try:
            blanks = sorted(blank for _, blank, _, _ in string.Formatter().parse(wording) if blank)
        except ValueError:
            blanks = []
        if blanks != ["object", "subject"]:
            self._refuse(node, f"{what} needs {{subject}} and {{object}} once each: {wording!r}")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
