"""``Kind``: how requests of one class are merged and keyed, and how their answers are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    import polars as pl

R = TypeVar("R")
A = TypeVar("A")

Key = tuple[str | int | None, ...]
"""The key under which the answer to one part of a request is stored."""

_HAIR = 1e-3
"""Tolerance in nats for log-probabilities slightly above 0, which rounding can cause."""


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

    part: ClassVar[str]
    """The column with the part, which follows those of the key."""

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
        same: dict[Key, list[R]] = {}
        for request in requests:
            same.setdefault(self.key(request), []).append(request)
        return [self._merged(some) for some in same.values()]

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
        return rows.unique(subset=self._key_columns(), keep="first", maintain_order=True)

    def cached(self, rows: pl.DataFrame) -> dict[Key, Any]:
        """Return the values of stored rows by their keys."""
        names = list(self.schema())
        n = len(self._key_columns())
        keys = zip(*(rows[name].to_list() for name in names[:n]), strict=True)
        values = map(self.value, *(rows[name].to_list() for name in names[n - 1 :]))
        return dict(zip(keys, values, strict=True))

    def _merged(self, same: Sequence[R]) -> R:
        parts = [part for one in same for part in getattr(one, self.parts)]
        distinct = dict.fromkeys(parts)
        if len(same) == 1 and len(distinct) == len(parts):
            return same[0]
        return self._with(same[0], tuple(distinct))

    def _with(self, request: R, parts: tuple[Any, ...]) -> R:
        if parts == getattr(request, self.parts):
            return request
        return replace(request, **{self.parts: parts})  # type: ignore[type-var] # a dataclass

    def _key_columns(self) -> list[str]:
        """Return the columns of the key and of the part; all later columns are values."""
        names = list(self.schema())
        return names[: names.index(self.part) + 1]


def improper(value: float | None, what: str) -> str | None:
    """Return None for a valid or missing log-probability in nats, or else an error message."""
    if value is None or -float("inf") < value < _HAIR:
        return None
    return f"returned {value} for {what}, which is not a log-probability"
