"""Files that are whole and hold another shape: any JSON in place of any value."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from hypothesis import strategies as st

from tests.fuzzing.mutations import Spoilt, spoilt

__all__ = ["GONE", "Damage", "Reshaped", "changed", "reshaped", "spoilt"]

GONE = object()
"""Stands for a value that is taken away."""

Path: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True)
class Reshaped:
    """Where a document is changed, as a fraction of its places, and the replacement."""

    changes: tuple[tuple[float, Any], ...]

    def of(self, document: Any) -> Any:  # noqa: ANN401 - JSON
        for place, value in self.changes:
            paths = list(_paths(document))
            document = _put(document, paths[int(place * len(paths))], value)
        return document


Damage: TypeAlias = Spoilt | Reshaped


def changed(content: bytes, how: Damage) -> bytes:
    """What a file becomes; one of another shape is written as JSON, which is YAML, too."""
    if isinstance(how, Spoilt):
        return how.of(content)
    return json.dumps(how.of(yaml.safe_load(content))).encode()


def reshaped(values: st.SearchStrategy[Any] | None = None, most: int = 2) -> st.SearchStrategy[Any]:
    """One change or more; numbers are small, as a model may be made as large as they say."""
    place = st.floats(0, 1, exclude_max=True)
    change = st.tuples(place, _json() if values is None else values)
    return st.lists(change, min_size=1, max_size=most).map(lambda some: Reshaped(tuple(some)))


def _json() -> st.SearchStrategy[Any]:
    plain = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 300),
        st.floats(-1e9, 1e9),
        st.sampled_from(["", "x", "../x", "\x00", "0" * 64]),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ax"), inner, max_size=2)
        ),
        max_leaves=3,
    )


def _paths(document: Any, path: Path = ()) -> Iterator[Path]:  # noqa: ANN401 - JSON
    """The document itself, and every value in it."""
    yield path
    inner: Any = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for key, value in inner:
        yield from _paths(value, (*path, key))


def _put(document: Any, path: Path, value: Any) -> Any:  # noqa: ANN401 - JSON
    if not path:
        return None if value is GONE else value
    changed = copy.deepcopy(document)
    at = changed
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed
