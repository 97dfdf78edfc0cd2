"""The interface of every model back-end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from tacit.requests import Vocabulary

WHOLE = "log-probabilities of whole answers"
FIRST = "log-probabilities of first tokens"
IN_CHAT = ", in chat"
"""The parts of a description's ``elicitation``: how the scores were elicited."""


class LanguageModel(Protocol):
    """The interface of a model back-end, which answers requests of one or several kinds.

    Examples:
        >>> from tacit import FakeModel, LanguageModel, Prompt
        >>> model: LanguageModel = FakeModel({})
        >>> Prompt in model.supports
        True
    """

    @property
    def name(self) -> str:
        """The name by which the user refers to the model."""
        ...

    @property
    def fingerprint(self) -> str:
        """A hexadecimal digest of everything except the request that affects an answer."""
        ...

    @property
    def description(self) -> Mapping[str, Any]:
        """The model's entry in a manifest: plain values that JSON can represent."""
        ...

    @property
    def supports(self) -> frozenset[type]:
        """The request classes that the model answers, such as ``Prompt``."""
        ...

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """Return the number of tokens of each request, without running the model.

        The numbers assume that all requests are answered together. Their sum is the number of
        tokens that ``answer`` computes for the same requests, without padding.

        Raises:
            TooLongError: A request is longer than the model's window. An engine skips this request
                and sends the others.
            PromptError: This model cannot answer a request, or too many candidates of a ranking
                are not a single token in their position.
            RequestError: The model does not support a request.
        """
        ...

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return the answers in the order of the requests, such as ``Scores`` for a ``Prompt``.

        A ranking leaves out candidates that the model cannot write, and counts them.

        Raises:
            PromptError: As ``cost``.
            RequestError: As ``cost``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class SharesPrefixes(LanguageModel, Protocol):
    """A model that may compute a common prefix of several prompts once, at a lower total cost."""

    @property
    def shares_prefixes(self) -> bool:
        """Whether the model shares prefixes. If so, send prompts sorted by their texts."""
        ...


@runtime_checkable
class Prepares(LanguageModel, Protocol):
    """A model that can prepare requests on the host while it computes others."""

    def prepare(self, requests: Sequence[Any]) -> Callable[[], list[Any]]:
        """Do all the work that needs no model computation. Any thread may call this method.

        Returns:
            A function that computes the answers; see ``answer``.

        Raises:
            PromptError: As ``cost``.
        """
        ...


@runtime_checkable
class Streams(LanguageModel, Protocol):
    """A model that answers each request separately, so that answers are stored as they arrive."""

    def stream(self, requests: Sequence[Any], seconds: float) -> Generator[list[tuple[Any, Any]]]:
        """Yield requests with their answers as the answers arrive.

        A request with several parts, such as samples, may be split into several requests that
        each cover some of the parts.

        Args:
            requests: The requests to answer.
            seconds: How long to collect answers before they are yielded.

        Raises:
            PromptError: As ``cost``.
            ScoringError: The model failed.
        """
        ...


@runtime_checkable
class SamplesReplies(LanguageModel, Protocol):
    """A model without log-probabilities, whose beliefs are shares of sampled replies."""

    @property
    def samples(self) -> int:
        """The number of replies sampled per prompt."""
        ...


@runtime_checkable
class HasWords(Protocol):
    """A model that can list the words it ranks."""

    def whole_words(self) -> Vocabulary:
        """Return the words that are a single token between white space, case-sensitive.

        Raises:
            ModelError: The model has no such words.
        """
        ...


@runtime_checkable
class Rechecks(Protocol):
    """A model that may change during a run, as a model behind a server may."""

    def recheck(self) -> None:
        """Check that the model still answers as it did when it was loaded.

        Raises:
            ScoringError: The model's answers have changed.
        """
        ...


def by_kind(
    requests: Sequence[Any], methods: Mapping[type, Callable[[Sequence[Any]], list[Any]]]
) -> list[Any]:
    """Dispatch requests to one method per class, and return the results in the requests' order.

    Args:
        requests: Requests of one or several classes.
        methods: The method for each class; it takes all requests of this class at once.

    Raises:
        RequestError: No method takes a request's class.
    """
    numbers: dict[type, list[int]] = {}
    for number, request in enumerate(requests):
        numbers.setdefault(type(request), []).append(number)
    found: list[Any] = [None] * len(requests)
    for kind, of in numbers.items():
        if kind not in methods:
            known = ", ".join(one.__name__ for one in methods)
            raise RequestError(f"this model cannot answer a {kind.__name__}; it answers {known}")
        for number, one in zip(of, methods[kind]([requests[at] for at in of]), strict=True):
            found[number] = one
    return found
