"""What every model offers, whatever its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from tacit.requests import Vocabulary

WHOLE = "log-probabilities of whole answers"
FIRST = "log-probabilities of first tokens"
IN_CHAT = ", in chat"
"""How scores were elicited, as a description says it under ``elicitation``."""


class LanguageModel(Protocol):
    """What a model back-end provides: it answers requests of one or several kinds.

    Examples:
        >>> from tacit import FakeModel, LanguageModel, Prompt
        >>> model: LanguageModel = FakeModel({})
        >>> Prompt in model.supports
        True
    """

    @property
    def name(self) -> str:
        """The name that the user knows the model by."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hexadecimal digest of everything that an answer depends on but the request."""
        ...

    @property
    def description(self) -> Mapping[str, Any]:
        """What a manifest says of the model: plain values, ready for JSON."""
        ...

    @property
    def supports(self) -> frozenset[type]:
        """The classes of requests that it answers, such as ``Prompt``."""
        ...

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """The number of tokens that each request costs when all are asked together; asks nothing.

        Their sum is what ``answer`` computes of the same requests, padding left out.

        Raises:
            TooLongError: A request is longer than the model's window. An engine skips it and asks
                the others.
            PromptError: This model cannot answer a request; of rankings also where too many
                candidates are no single token in their place.
            RequestError: The model does not support a request.
        """
        ...

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """The answers, in the order of the requests: ``Scores`` of a ``Prompt``, and so on.

        A candidate that the model cannot write is missing from its answer, and counted.

        Raises:
            PromptError: As ``cost``.
            RequestError: As ``cost``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class SharesPrefixes(LanguageModel, Protocol):
    """May compute what prompts begin with alike once, so that neighbours cost less together."""

    @property
    def shares_prefixes(self) -> bool:
        """Whether it does: prompts are then best asked in the order of their texts."""
        ...


@runtime_checkable
class Prepares(LanguageModel, Protocol):
    """Can prepare requests on the host while it computes others."""

    def prepare(self, requests: Sequence[Any]) -> Callable[[], list[Any]]:
        """Does all that needs no computation of the model's, in whatever thread.

        Returns:
            What computes the answers; see ``answer``.

        Raises:
            PromptError: As ``cost``.
        """
        ...


@runtime_checkable
class Streams(LanguageModel, Protocol):
    """Answers each request by itself, so that answers can be stored while others are awaited."""

    def stream(self, requests: Sequence[Any], seconds: float) -> Generator[list[tuple[Any, Any]]]:
        """Yields requests with their answers, as these come.

        A request of several parts, such as samples, may come in several requests for some of them.

        Args:
            requests: What to ask.
            seconds: How long answers are collected before they are yielded.

        Raises:
            PromptError: As ``cost``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class SamplesReplies(LanguageModel, Protocol):
    """Gives no log-probabilities, so that beliefs are read off how often it replies what."""

    @property
    def samples(self) -> int:
        """How many replies to each prompt are sampled."""
        ...


@runtime_checkable
class HasWords(Protocol):
    """Knows which words it can rank."""

    def whole_words(self) -> Vocabulary:
        """The words that are one token between white space, case-sensitive.

        Raises:
            ModelError: There are none.
        """
        ...


@runtime_checkable
class Rechecks(Protocol):
    """May change while a run goes on, as a model behind a server does."""

    def recheck(self) -> None:
        """Makes sure that the model still answers as it did when it was loaded.

        Raises:
            ScoringError: It does not.
        """
        ...


def by_kind(
    requests: Sequence[Any], methods: Mapping[type, Callable[[Sequence[Any]], list[Any]]]
) -> list[Any]:
    """Has requests of each kind handled together; what comes of them, in their order.

    Args:
        requests: Of one kind or several.
        methods: What handles requests of a class.

    Raises:
        RequestError: Nothing handles a request.
    """
    numbers: dict[type, list[int]] = {}
    for number, request in enumerate(requests):
        numbers.setdefault(type(request), []).append(number)
    found: list[Any] = [None] * len(requests)
    for kind, of in numbers.items():
        if kind not in methods:
            known = ", ".join(one.__name__ for one in methods)
            raise RequestError(f"a {kind.__name__} cannot be answered here; expected {known}")
        for number, one in zip(of, methods[kind]([requests[at] for at in of]), strict=True):
            found[number] = one
    return found
