"""The policy of a gate: the limit of each measure, in a YAML file or as a mapping."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, model_validator

from tacit.documents import problem_in, read_as, similar
from tacit.errors import RequestError

_Points = Annotated[float | None, Field(strict=True, ge=0, le=200, allow_inf_nan=False)]


class Limit(BaseModel):
    """The largest tolerable change of a measure, or share of answers that flip.

    ``rises_by`` and ``falls_by`` are in percentage points, ``above`` in per cent of the answers.
    With ``margin``, only the flips whose log-odds change by more are counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rises_by: _Points = None
    falls_by: _Points = None
    above: _Points = None
    margin: _Points = None
    confidence: Annotated[float, Field(strict=True, ge=0.8, lt=1)] = 0.95

    @model_validator(mode="after")
    def _is_one_limit(self) -> Self:
        changes = self.rises_by is not None or self.falls_by is not None
        if changes == (self.above is not None):
            raise ValueError(
                "must have either a limit for a measure (rises_by, falls_by or both) or one for "
                "flipped answers (above)"
            )
        if changes and self.margin is not None:
            raise ValueError("has a margin, which only flipped answers (above) have")
        return self

    def __str__(self) -> str:
        if self.above is not None:
            return f"above {self.above:g}\N{NO-BREAK SPACE}%"
        ways = {"rises": self.rises_by, "falls": self.falls_by}
        if self.rises_by == self.falls_by:
            return f"rises or falls by {self.rises_by:g}"
        return ", ".join(f"{way} by {by:g}" for way, by in ways.items() if by is not None)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest tolerable change, as shares."""
        most = self.rises_by if self.above is None else self.above
        lowest = -math.inf if self.falls_by is None else -self.falls_by / 100
        return lowest, math.inf if most is None else most / 100


class Policy(RootModel[Annotated[dict[str, Limit], Field(min_length=1)]]):
    """The limits by the names of the measures."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def of(cls, given: Policy | Mapping[str, Any] | str | Path) -> Policy:
        """Read a policy from a YAML file, or make it of a mapping."""
        if isinstance(given, Policy):
            return given
        if isinstance(given, str | Path):
            return read_as(cls, Path(given)).content
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise RequestError(f"the policy: {problem_in(error, cls)}") from None


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a measure's name, as in ``metrics.json``."""
    return tuple(re.findall(r"[0-9a-z]+", name.lower()))


def find(key: str, named: Mapping[str, Sequence[str]], metrics: Sequence[str]) -> str:
    """Return the measure that a key of a policy names, of measures with all their names.

    A key that is no name, nor one in ``metrics.json``, may be some words of the name of one
    measure.
    """
    words = words_of(key)
    exact = [one for one, names in named.items() if any(words in _spellings(n) for n in names)]
    if len(exact) == 1:
        return exact[0]
    known = f"the measures are {', '.join(named)}"
    if any(words in _spellings(name) for name in metrics):
        raise RequestError(f"the policy: {key} is not compared between runs; {known}")
    matching = [
        one for one, names in named.items() if any({*words} <= {*words_of(name)} for name in names)
    ]
    if len(matching) > 1:
        raise RequestError(f"the policy: {key} may be {' or '.join(matching)}; write one of these")
    if not matching:
        near = similar(key, [name for names in named.values() for name in names])
        raise RequestError(f"the policy: these runs have no measure {key}{near}; {known}")
    return matching[0]


def _spellings(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a name with and without the probe."""
    return words_of(name), words_of(name.partition("/")[2])
