"""A model's family and number of parameters, as specified by the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from tacit.errors import RequestError
from tacit.strings import last_part

Given: TypeAlias = Mapping[str, object] | Sequence[str] | None

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def parameters_in(text: str) -> int:
    """Convert a parameter count such as ``350M``, ``1.3B`` or ``124439808`` to an integer."""
    found = _NUMBER.fullmatch(text.strip())
    number = Decimal(found[1]) * _UNITS[found[2].upper()] if found else Decimal(0)
    if number < 1 or number != int(number):
        raise RequestError(
            f"{text!r} is not a number of parameters; expected a number such as 350M, 1.3B or "
            "124439808"
        )
    return int(number)


def described(
    models: Sequence[str], families: Given, parameters: Given
) -> dict[str, dict[str, str | int]]:
    """Return each model's family and number of parameters, as the user specified them."""
    found: dict[str, dict[str, str | int]] = {model: {} for model in models}
    for model, family in _by_model("family", families, models):
        found[model]["family"] = family
    for model, number in _by_model("parameters", parameters, models):
        found[model]["parameters"] = parameters_in(number)
    return found


def _by_model(option: str, given: Given, models: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield, for each entry such as ``NAME=FAMILY``, the name of the model and the value."""
    seen: set[str] = set()
    for name, value in _entries(option, given):
        model = _named(option, name, models)
        if model in seen:
            raise RequestError(f"--{option} is given twice for {model}: give it once")
        seen.add(model)
        yield model, value


def _entries(option: str, given: Given) -> Iterator[tuple[str, str]]:
    pairs = (
        [(name, str(value)) for name, value in given.items()]
        if isinstance(given, Mapping)
        # A server's address may contain an equals sign; a family or a number does not.
        else [(one.rpartition("=")[0], one.rpartition("=")[2]) for one in given or ()]
    )
    for name, value in pairs:
        if not name.strip() or not value.strip():
            raise RequestError(
                f"--{option} has an entry without a model's name or without a value; expected "
                f"NAME={'350M' if option == 'parameters' else 'FAMILY'}"
            )
        yield name.strip(), value.strip()


def _named(option: str, name: str, models: Sequence[str]) -> str:
    """Find a model by its full name or, if none matches, by the last part of its path."""
    found = [model for model in models if name == model]
    found = found or [model for model in models if name == last_part(model)]
    if len(found) == 1:
        return found[0]
    problem = "several models are" if found else "no model is"
    raise RequestError(
        f"--{option} names {name!r}, but {problem} named so; expected one of {', '.join(models)}"
    )
