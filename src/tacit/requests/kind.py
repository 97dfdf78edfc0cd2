"""The protocol of a kind of request: how requests are merged, sent, stored and looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

R = TypeVar("R")
A = TypeVar("A")
R_contra = TypeVar("R_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)

Key = tuple[str | int | None, ...]
"""The key under which one part of a request is stored."""

_HAIR = 1e-3
"""Tolerance in nats, because a sum of rounded log-probabilities may slightly exceed 0."""


class Cached(Protocol[R_contra, A_co]):
    """A model's cached answers, as read from the score store."""

    @property
    def keys(self) -> Collection[Key]:
        """The keys of the request parts that are cached."""
        ...

    def answer(self, request: R_contra) -> A_co:
        """Return the cached answer to a request.

        Raises:
            KeyError: If a part of the request is not cached.
        """
        ...


class Kind(Protocol[R, A]):
    """Defines how the engine merges, sends and stores one kind of request.

    A request has parts that are stored separately: candidate answers, targets of a ranking, or
    sampled replies. Requests that differ only in their parts are merged into one request.

    ``folder`` is the folder of the score store in which the answers are stored. ``unsupported`` is
    the error message for a model that does not support this kind of request. The caller puts the
    model's name before the message ``unsupported``.
    """

    folder: str
    unsupported: str

    def merge(self, requests: Iterable[R]) -> list[R]:
        """Merge requests that differ only in their parts; keep the order of first occurrence."""
        ...

    def keys(self, request: R) -> list[Key]:
        """Return one key per part of a request; the last element of a key identifies the part."""
        ...

    def without(self, request: R, cached: Collection[Key]) -> R | None:
        """Return the request without its cached parts, or None if all parts are cached."""
        ...

    def text(self, request: R) -> tuple[str, ...]:
        """Return the text that the model reads; answers to equal texts are computed together."""
        ...

    def shared(self, requests: Iterable[R]) -> Mapping[str, Any]:
        """Return the objects, such as vocabularies, to which encoded requests refer by name."""
        ...

    def row(self, request: R) -> dict[str, Any]:
        """Return the request as a dictionary that can be converted to JSON."""
        ...

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> R:
        """Return the request that the method ``row`` converted to the given row."""
        ...

    def check(self, request: R, answer: A) -> str | None:
        """Return None if the answer is valid, or else an error message without the model's name."""
        ...

    def missing(self, request: R, reason: str) -> A:
        """Return the answer to a skipped request; all its scores are missing for ``reason``."""
        ...

    def schema(self) -> Mapping[str, Any]:
        """Return the columns of stored answers and the polars type of each column."""
        ...

    def frame(self, requests: Sequence[R], answers: Sequence[A]) -> pl.DataFrame:
        """Return the answers as rows with the columns of ``schema``."""
        ...

    def files(self, requests: Iterable[R]) -> Mapping[str, bytes]:
        """Return the content of each file to which stored rows refer, by file name."""
        ...

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Drop superseded rows; ``rows`` are in the order in which they were stored."""
        ...

    def cached(self, rows: pl.DataFrame) -> Cached[R, A]:
        """Convert stored rows to an object that looks up the answer to a request."""
        ...


def improper(value: float | None, what: str) -> str | None:
    """Return None if a value is a valid log-probability, or else an error message.

    The caller puts the model's name before the error message.

    Args:
        value: A value in nats. None stands for a missing value and is valid.
        what: Description of the value in the error message.
    """
    if value is None or -float("inf") < value < _HAIR:
        return None
    return f"returned {value} for {what}, which is not a log-probability"
