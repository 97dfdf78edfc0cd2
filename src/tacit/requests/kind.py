"""Kinds of requests: how they are merged, grouped into blocks and keyed, and what is stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    import polars as pl

R = TypeVar("R")
A = TypeVar("A")

Key = tuple[str | int | None, ...]
"""The key under which the answer to one part of a request is stored."""

_HAIR = 1e-3
"""Tolerance in nats for log-probabilities slightly above 0, which rounding can cause."""


@dataclass(frozen=True, slots=True)
class Block:
    """Requests of one class whose answers are computed together.

    ``inputs`` is what a model encoded when it cut the block; it stays in this process.
    """

    requests: tuple[Any, ...]
    tokens: int
    inputs: Any = field(default=None, compare=False, repr=False)

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

    @abstractmethod
    def key(self, request: R) -> Key:
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
    def answer(self, request: R, values: Mapping[Key, Any]) -> A:
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

    def final(self, values: Mapping[Key, Any]) -> Collection[Key]:
        """Return the keys of stored values that are never requested again."""
        return values.keys()

    def keys(self, request: R) -> list[Key]:
        """Return one key per part of a request; the last element of a key identifies the part."""
        key = self.key(request)
        return [(*key, part) for part in getattr(request, self.parts)]

    def merge(self, requests: Iterable[R]) -> list[R]:
        """Combine requests that differ only in their parts, in the order of first occurrence."""
        same: dict[Key, tuple[R, dict[Any, None]]] = {}
        for request in requests:
            _, parts = same.setdefault(self.key(request), (request, {}))
            parts.update(dict.fromkeys(getattr(request, self.parts)))
        return [self._with(first, tuple(parts)) for first, parts in same.values()]

    def without(self, request: R, cached: Collection[Key]) -> R | None:
        """Return the request without its cached parts, or None if all parts are cached."""
        if not cached:
            return request
        key = self.key(request)
        parts = getattr(request, self.parts)
        lacking = tuple(part for part in parts if (*key, part) not in cached)
        return self._with(request, lacking) if lacking else None

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

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return for each part of each request the row that was stored first."""
        return rows.unique(subset=self.keyed, keep="first", maintain_order=True)

    def cached(self, rows: pl.DataFrame) -> dict[Key, Any]:
        """Return the values of stored rows by their keys."""
        columns, n = [column.to_list() for column in rows], len(self.keyed)
        keys = zip(*columns[:n], strict=True)
        return dict(zip(keys, map(self.value, *columns[n - 1 :]), strict=True))

    def _with(self, request: R, parts: tuple[Any, ...]) -> R:
        if parts == getattr(request, self.parts):
            return request
        return replace(request, **{self.parts: parts})  # type: ignore[type-var] # a dataclass


def improper(value: float | None) -> bool:
    """Whether a value is neither missing nor a log-probability in nats."""
    return value is not None and not -float("inf") < value < _HAIR


def wrong(value: float | None, what: str) -> str:
    """Return the error message about an improper value."""
    return f"returned {value} for {what}, which is not a log-probability"
