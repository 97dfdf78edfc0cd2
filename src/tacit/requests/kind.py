"""The protocol ``Kind``: how requests are merged and sent, and answers are stored."""

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
"""The key under which the result for one part of a request is stored.

A part of a request is, for example, one candidate answer of a prompt.
"""

_HAIR = 1e-3
"""Tolerance in nats for log-probabilities slightly above 0, which rounding can cause."""


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

    A request has parts that are stored separately: candidate answers, target words of a ranking, or
    sampled replies. Requests that differ only in their parts, for example in their candidate
    answers, are merged into one request with all parts.

    ``folder`` is the folder of the score store that contains the answers to this kind of request.
    ``unsupported`` is the text that follows the model's name in the error message for a model that
    does not support this kind of request.
    """

    folder: str
    unsupported: str

    def merge(self, requests: Iterable[R]) -> list[R]:
        """Combine requests that are equal except for parts such as answers or targets.

        The merged requests are in the order of first occurrence.
        """
        ...

    def keys(self, request: R) -> list[Key]:
        """Return one key per part of a request; the last element of a key identifies the part."""
        ...

    def without(self, request: R, cached: Collection[Key]) -> R | None:
        """Return the request without its cached parts, or None if all parts are cached."""
        ...

    def text(self, request: R) -> tuple[str, ...]:
        """Return the model's input text; requests with equal texts are computed together."""
        ...

    def shared(self, requests: Iterable[R]) -> Mapping[str, Any]:
        """Return the objects, such as vocabularies, to which encoded requests refer by name."""
        ...

    def row(self, request: R) -> dict[str, Any]:
        """Return the request as a dictionary that can be converted to JSON."""
        ...

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> R:
        """Restore the request from a dictionary that the method ``row`` returned."""
        ...

    def check(self, request: R, answer: A) -> str | None:
        """Return None for a valid answer, or else an error message without the model's name."""
        ...

    def missing(self, request: R, reason: str) -> A:
        """Return an answer without scores for a request that was skipped because of ``reason``."""
        ...

    def schema(self) -> Mapping[str, Any]:
        """Return the columns of stored answers and the polars type of each column."""
        ...

    def frame(self, requests: Sequence[R], answers: Sequence[A]) -> pl.DataFrame:
        """Return the answers as rows with the columns of ``schema``."""
        ...

    def files(self, requests: Iterable[R]) -> Mapping[str, bytes]:
        """Return a mapping from file names to contents, for files to which stored rows refer."""
        ...

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Drop redundant rows, such as repeated answers; ``rows`` begins with the oldest row."""
        ...

    def cached(self, rows: pl.DataFrame) -> Cached[R, A]:
        """Convert stored rows to an object that looks up the answer to a request."""
        ...


def improper(value: float | None, what: str) -> str | None:
    """Return None if a value is a valid log-probability, or else an error message.

    The caller puts the model's name before the error message.

    Args:
        value: The value that should be a log-probability, in nats. None stands for a missing value
            and is valid.
        what: Description of the value in the error message.
    """
    if value is None or -float("inf") < value < _HAIR:
        return None
    return f"returned {value} for {what}, which is not a log-probability"
