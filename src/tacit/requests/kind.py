"""Kinds of requests: how they are merged, grouped into blocks and keyed, and what is stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    import polars as pl

R = TypeVar("R")
A = TypeVar("A")

Key = tuple[str | int | None, ...]
"""What identifies a request, apart from its parts."""

StoredValues = Mapping[Key, Mapping[Any, Any]]
"""Stored values, by the key of a request and by its part."""

_HAIR = 1e-3
"""Tolerance in nats for log-probabilities slightly above 0, which rounding can cause."""


@dataclass(frozen=True, slots=True)
class Block:
    """Requests of one class whose answers are computed together.

    ``prepared`` is what a model encoded when it cut the block; it stays in this process.
    """

    requests: tuple[Any, ...]
    tokens: int
    prepared: Any = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Block], tuple[tuple[Any, ...], int]]:
        return Block, (self.requests, self.tokens)

    @property
    def of(self) -> type:
        """The class of the requests."""
        return type(self.requests[0])


@dataclass(frozen=True, slots=True)
class Part:
    """A group of requests whose answers were stored together."""

    requests: tuple[Any, ...]
    tokens: int
    ended: int


class Kind(ABC, Generic[R, A]):
    """How requests of one class are merged and keyed, and how their answers are stored.

    A request has parts that are stored one by one: candidate answers, targets of a ranking, or
    sampled replies. Requests that differ only in their parts are merged. A stored row has the
    request's key, the part, and the values of the part's answer.
    """

    folder: ClassVar[str]
    """The folder of the score store that contains the answers."""

    unsupported: ClassVar[str]
    """What follows the model's name in the error message for a model without this kind."""

    parts: ClassVar[str]
    """The name of the request's field with the parts."""

    keyed: ClassVar[tuple[str, ...]]
    """The first columns of a stored row: those of the request's key, and last the part."""

    for_now: ClassVar[frozenset[str]] = frozenset()
    """Values of the column ``reason`` in rows that are requested again."""

    @abstractmethod
    def key(self, request: R, /) -> Key:
        """Return what identifies a request, apart from its parts."""

    @abstractmethod
    def schema(self) -> Mapping[str, Any]:
        """Return the stored columns and their polars types: the key's, the part's, the values'."""

    @abstractmethod
    def rows(self, request: R, answer: A) -> Iterable[tuple[Any, ...]]:
        """Return for each part a row without the request's key."""

    @abstractmethod
    def value(self, *row: Any) -> Any:  # noqa: ANN401 - each kind stores its own
        """Return what a row that ``rows`` returned stands for."""

    @abstractmethod
    def answer(self, request: R, stored: StoredValues) -> A:
        """Return the answer to a request; raise ``KeyError`` if a part's value is missing."""

    @abstractmethod
    def check(self, request: R, answer: A) -> str | None:
        """Return None for a valid answer, or else an error message without the model's name."""

    @abstractmethod
    def missing(self, request: R, reason: str) -> A:
        """Return an answer without scores for a request that was skipped because of ``reason``."""

    def files(self, requests: Iterable[R]) -> Mapping[str, bytes]:  # noqa: ARG002 - most have none
        """Return the files to which stored rows refer: names and contents."""
        return {}

    def both_readings(self, request: R) -> tuple[str, str] | None:  # noqa: ARG002 - some have none
        """Return a text that doubles white space around an answer, and as it may be meant."""
        return None

    def parts_of(self, request: R) -> tuple[Any, ...]:
        """Return the parts of a request, and None for what they share if that is stored too."""
        parts: tuple[Any, ...] = getattr(request, self.parts)
        return parts

    def with_parts(self, request: R, parts: Iterable[Any]) -> R:
        """Return a request with other parts."""
        own = tuple(parts)
        if own == getattr(request, self.parts):
            return request
        return replace(request, **{self.parts: own})  # type: ignore[type-var] # a dataclass

    def merge(self, requests: Iterable[R]) -> list[R]:
        """Combine requests that differ only in their parts, in the order of first occurrence."""
        firsts: dict[Key, R] = {}
        parts: dict[Key, dict[Any, None]] = defaultdict(dict)
        for request in requests:
            key = self.key(request)
            firsts.setdefault(key, request)
            parts[key].update(dict.fromkeys(getattr(request, self.parts)))
        return list(map(self.with_parts, firsts.values(), parts.values()))

    def lacking(self, requests: Sequence[R], stored: Mapping[Key, Collection[Any]]) -> list[R]:
        """Return requests without their stored parts; leave out those that are stored whole."""
        if not stored:
            return list(requests)
        rests = []
        for request in requests:
            known = stored.get(self.key(request), ())
            if parts := [part for part in self.parts_of(request) if part not in known]:
                rests.append(self.with_parts(request, parts))
        return rests

    def frame(self, requests: Sequence[R], answers: Sequence[A]) -> pl.DataFrame:
        """Return answers as rows with the columns of ``schema``."""
        import polars as pl

        rows = (
            (*self.key(request), *row)
            for request, answer in zip(requests, answers, strict=True)
            for row in self.rows(request, answer)
        )
        schema = self.schema()
        return pl.DataFrame(dict(zip(schema, zip(*rows, strict=True), strict=False)), dict(schema))

    def by_key(self, rows: pl.DataFrame) -> StoredValues:
        """Return the values of rows, of which each part has at most one."""
        columns, n = list(rows.to_dict(as_series=False).values()), len(self.keyed) - 1
        keys, values = zip(*columns[:n], strict=True), map(self.value, *columns[n:])
        found: dict[Key, dict[Any, Any]] = defaultdict(dict)
        for key, part, value in zip(keys, columns[n], values, strict=True):
            found[key][part] = value
        return dict(found)


def improper(value: float | None) -> bool:
    """Whether a value is neither missing nor a log-probability in nats."""
    return value is not None and not -float("inf") < value < _HAIR


def wrong(value: float | None, what: str) -> str:
    """Return the error message about an improper value."""
    return f"returned {value} for {what}, which is not a log-probability"
