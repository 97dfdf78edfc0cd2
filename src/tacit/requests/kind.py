"""The protocol of a kind of request: how the engine merges, keys, sends and stores requests."""

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
"""The store's key of one part of a request."""

_HAIR = 1e-3
"""Tolerance in nats: a sum of rounded logarithms may slightly exceed 0."""


class Cached(Protocol[R_contra, A_co]):
    """A model's cached answers, as read from the store."""

    @property
    def keys(self) -> Collection[Key]:
        """The keys of the request parts that are cached."""
        ...

    def answer(self, request: R_contra) -> A_co:
        """Return the cached answer to a request.

        Raises:
            KeyError: A part of the request is not cached.
        """
        ...


class Kind(Protocol[R, A]):
    """The handling of one kind of request.

    A request has parts that are stored separately: the answers of a prompt, the targets of a
    ranking, the replies of a sample. Requests that differ only in their parts are merged into one.

    ``folder`` is the store's folder for the answers. ``unsupported`` is an error message, to follow
    a model's name, for models that do not support this kind of request.
    """

    folder: str
    unsupported: str

    def merge(self, requests: Iterable[R]) -> list[R]:
        """Merge requests that differ only in their parts, in order of first occurrence."""
        ...

    def keys(self, request: R) -> list[Key]:
        """Return the key of each part: its last element names the part, the rest the request."""
        ...

    def without(self, request: R, cached: Collection[Key]) -> R | None:
        """Return the request without its cached parts, or None if all parts are cached."""
        ...

    def text(self, request: R) -> tuple[str, ...]:
        """Return the text that the model reads; requests with the same text share a block."""
        ...

    def shared(self, requests: Iterable[R]) -> Mapping[str, Any]:
        """Return the objects that many rows refer to by name, so that they are sent only once."""
        ...

    def row(self, request: R) -> dict[str, Any]:
        """Return the request as plain values, ready for JSON."""
        ...

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> R:
        """Return the request that a row encodes."""
        ...

    def check(self, request: R, answer: A) -> str | None:
        """Return an error message, to follow the model's name, or None if the answer is valid."""
        ...

    def missing(self, request: R, reason: str) -> A:
        """Return the answer to a request that was not sent, with the reason."""
        ...

    def schema(self) -> Mapping[str, Any]:
        """Return the columns of stored answers, with their polars types."""
        ...

    def frame(self, requests: Sequence[R], answers: Sequence[A]) -> pl.DataFrame:
        """Return the answers as rows with the columns of ``schema``."""
        ...

    def files(self, requests: Iterable[R]) -> Mapping[str, bytes]:
        """Return the store's files that the rows refer to, as contents by file name."""
        ...

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Drop superseded rows; ``rows`` are all stored rows, in the order of storage."""
        ...

    def cached(self, rows: pl.DataFrame) -> Cached[R, A]:
        """Return the answers in the rows, ready for look-up."""
        ...


def improper(value: float | None, what: str) -> str | None:
    """Return an error message if a value is not a log-probability, else None.

    The message follows a model's name.

    Args:
        value: In nats; None is a missing value, which is valid.
        what: Description of the value, for the message.
    """
    if value is None or -float("inf") < value < _HAIR:
        return None
    return f"returned {value} for {what}, which is not a log-probability"
