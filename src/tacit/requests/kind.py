"""What the engine needs to know of a kind of request: how it is merged, keyed, sent and stored."""

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
"""What the store knows one part of a request by."""

_HAIR = 1e-3
"""In nats: a sum of rounded logarithms may lie a hair above 0."""


class Cached(Protocol[R_contra, A_co]):
    """A model's answers, as the store holds them."""

    @property
    def keys(self) -> Collection[Key]:
        """The parts of requests that need not be asked again."""
        ...

    def answer(self, request: R_contra) -> A_co:
        """The answer to a request.

        Raises:
            KeyError: A part of it is not there.
        """
        ...


class Kind(Protocol[R, A]):
    """How requests of one kind are handled.

    A request has parts that are stored by themselves: a prompt's answers, a ranking's targets, the
    replies of a sample. Requests that differ in their parts alone are merged into one.

    ``folder`` is where the store keeps the answers. ``unsupported`` says, behind a model's name,
    that it does not answer such requests.
    """

    folder: str
    unsupported: str

    def merge(self, requests: Iterable[R]) -> list[R]:
        """The distinct requests, in their first order; those that differ in parts alone are one."""
        ...

    def keys(self, request: R) -> list[Key]:
        """The key of each part: its last element names the part, those before it the request."""
        ...

    def without(self, request: R, cached: Collection[Key]) -> R | None:
        """The request without the parts that are cached; None when all are."""
        ...

    def text(self, request: R) -> tuple[str, ...]:
        """The text that a model reads: requests that share it belong in one block."""
        ...

    def shared(self, requests: Iterable[R]) -> Mapping[str, Any]:
        """What many rows refer to by name, to be sent once."""
        ...

    def row(self, request: R) -> dict[str, Any]:
        """The request as plain values, ready for JSON."""
        ...

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> R:
        """The request that a row stands for."""
        ...

    def check(self, request: R, answer: A) -> str | None:
        """Why an answer cannot be the request's, to follow the model's name; None if it can."""
        ...

    def missing(self, request: R, reason: str) -> A:
        """The answer to a request that was not asked, and why."""
        ...

    def schema(self) -> Mapping[str, Any]:
        """The columns of stored answers and their polars types."""
        ...

    def frame(self, requests: Sequence[R], answers: Sequence[A]) -> pl.DataFrame:
        """Answers as rows of that schema."""
        ...

    def files(self, requests: Iterable[R]) -> Mapping[str, bytes]:
        """Files of the store to which the rows refer, by their names."""
        ...

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows that count, of all that were stored, in the order in which they were."""
        ...

    def cached(self, rows: pl.DataFrame) -> Cached[R, A]:
        """The answers that rows hold."""
        ...


def improper(value: float | None, what: str) -> str | None:
    """Why a value is no log-probability, to follow a model's name; None if it may be one.

    Args:
        value: In nats; None is a missing one, which is proper.
        what: What it is the value of.
    """
    if value is None or -float("inf") < value < _HAIR:
        return None
    return f"gave {what} the value {value}, which is no log-probability"
