"""British and American spellings of one word, from ``data/templates/spellings.yaml``."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping


def spellings(word: str) -> tuple[str, ...]:
    """A word as it stands and, where there is one, in the other spelling: ``grey``, ``gray``.

    Plurals in s and the pieces between hyphens follow the listed pairs; a capital or another case
    is looked up in lower case and answered in it, with a first capital where the word has one.
    """
    pieces = word.split("-")
    other = "-".join(_other(piece) or piece for piece in pieces)
    return (word,) if other == word else (word, other)


def american(word: str) -> str:
    """A word's American spelling, by which two spellings of one response are told to be one."""
    return "-".join(_american(piece) for piece in word.split("-"))


@cache
def _pairs() -> Mapping[str, str]:
    """British to American, plurals included."""
    path = resources.files("tacit") / "data" / "templates" / "spellings.yaml"
    pairs: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {f"{one}s": f"{other}s" for one, other in pairs.items()} | pairs


@cache
def _either_way() -> Mapping[str, str]:
    return {other: one for one, other in _pairs().items()} | dict(_pairs())


def _other(piece: str) -> str | None:
    other = _either_way().get(piece.lower())
    return other and (other.capitalize() if piece[:1].isupper() else other)


def _american(piece: str) -> str:
    found = _pairs().get(piece.lower())
    return piece if found is None else found.capitalize() if piece[:1].isupper() else found
