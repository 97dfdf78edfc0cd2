"""The protocols that model back-ends implement."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.requests import Prompt, Vocabulary
    from tacit.requests.kind import Block

WHOLE = "log-probabilities of whole answers"
FIRST = "log-probabilities of first tokens"
DECIDED = "probabilities of options"
IN_CHAT = ", in chat"
"""Suffix of the elicitation method's name if the model is prompted in a chat."""


@runtime_checkable
class LanguageModel(Protocol):
    """The interface of a model back-end that answers requests of one or more kinds.

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
        """A hexadecimal digest of everything that affects an answer, except the request."""
        ...

    @property
    def description(self) -> Mapping[str, Any]:
        """The model's description for a run's manifest, with values that JSON can represent."""
        ...

    @property
    def supports(self) -> frozenset[type]:
        """The request classes that the model answers, such as ``Prompt``."""
        ...

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """Return the number of tokens to process for each request, without running the model.

        The sum of the returned numbers is the number of tokens that the model processes when
        ``answer`` is called with the same ``requests``. Padding is not counted.

        Raises:
            TooLongError: If a request is longer than the model's context window. The engine skips
                requests that are too long and sends the other requests to the model.
            PromptError: If the model cannot answer a request, or if too many candidates of a
                ranking request consist of several tokens in the context of the prompt.
            RequestError: If the model does not support the class of a request.
        """
        ...

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return one answer per request, in order; the answer to a ``Prompt`` is ``Scores``.

        A ranking omits candidates that the model cannot generate, and reports the number of omitted
        candidates.

        Raises:
            PromptError: If the model cannot answer a request, or too many candidates of a ranking
                consist of several tokens.
            RequestError: If the model does not support the class of a request.
            ScoringError: If the model failed.
        """
        ...


@runtime_checkable
class CutsBlocks(Protocol):
    """A model that encodes prompts once, when they are planned, and computes shared prefixes once.

    Examples:
        >>> import tacit
        >>> from tacit.models.base import CutsBlocks
        >>> model = tacit.load_model("demo")
        >>> isinstance(model, CutsBlocks)
        True
    """

    def blocks(self, requests: Sequence[Any], tokens: int) -> list[Block] | None:
        """Cut requests of one class into blocks, or return None if the engine is to do so.

        Args:
            requests: The requests, none of which occurs twice.
            tokens: The approximate number of tokens in each block.

        Raises:
            TooLongError: If a request is longer than the model's context window.
            PromptError: If the model cannot answer a request.
        """
        ...

    def prepare(self, block: Block) -> Callable[[], list[Any]]:
        """Prepare a block without using the model's device; may be called from any thread.

        Returns:
            A function that runs the model and returns the answers, as ``answer`` does.

        Raises:
            PromptError: If the model cannot answer a request.
        """
        ...


@runtime_checkable
class Streams(Protocol):
    """A model whose answers arrive one by one, so that each can be stored immediately."""

    def stream(self, requests: Sequence[Any], seconds: float) -> Generator[list[tuple[Any, Any]]]:
        """Yield lists of pairs (request, answer), as the answers arrive.

        A request for several samples may be split into several requests, each of which covers some
        of the samples.

        Args:
            requests: The requests to answer.
            seconds: Time in seconds for which answers are collected before they are yielded
                together.

        Raises:
            PromptError: If the model cannot answer a request.
            ScoringError: If the model failed.
        """
        ...


@runtime_checkable
class SamplesReplies(Protocol):
    """A model without log-probabilities; a belief is a vote share of sampled replies."""

    @property
    def samples(self) -> int:
        """The number of replies sampled per prompt."""
        ...


@runtime_checkable
class Decides(Protocol):
    """A model that decides between options, several decisions per request to a server."""

    def calls(self, requests: int) -> int:
        """Return the number of requests to the server in which so many decisions are made."""
        ...

    def dependence(self, requests: Sequence[Any]) -> dict[str, Any]:
        """Return how much decisions depend on one another and on the order of their options."""
        ...


@runtime_checkable
class HasWords(Protocol):
    """A model that can list the words that it is able to rank."""

    def whole_words(self) -> Vocabulary:
        """Return the words (case-sensitive) that are a single token after a space.

        Raises:
            ModelError: If no word is a single token after a space.
        """
        ...


@runtime_checkable
class PredictsTokens(Protocol):
    """A model that can list the tokens that it would write after a prompt."""

    def next_tokens(self, prompts: Sequence[Prompt], most: int) -> list[tuple[str, float]]:
        """Return the likeliest tokens after the prompts, and their mean probabilities.

        A masked model's tokens are those that fill the blank.

        Args:
            prompts: The prompts; their answers tell where the model reads, and are not scored.
            most: The number of tokens to return, the likeliest first.
        """
        ...


@runtime_checkable
class Rechecks(Protocol):
    """A model that may change during a run, such as a model on a server."""

    def recheck(self, answered: Sequence[tuple[Any, Any]], *, last: bool) -> str | None:
        """Check that the model still answers as it did when it was loaded, and as it did since.

        Args:
            answered: Prompts that the model answered during the run, and their answers. The model
                answers the prompts again. Empty if answers are not reproducible.
            last: Whether the run ends, so that the check is as thorough as possible.

        Returns:
            How the answers in ``answered`` differ from the model's new answers by more than
            rounding; None if they do not.

        Raises:
            UnreliableError: If the model no longer answers as it did when it was loaded.
            ScoringError: If the model failed.
        """
        ...


def by_kind(
    requests: Sequence[Any], methods: Mapping[type, Callable[[Sequence[Any]], list[Any]]]
) -> list[Any]:
    """Call one method per class of requests; return all results in the order of the requests."""
    found: list[Any] = []
    for kind, some in groupby(requests, type):
        if kind not in methods:
            known = ", ".join(one.__name__ for one in methods)
            raise RequestError(f"this model cannot answer a {kind.__name__}; it answers {known}")
        found += methods[kind](list(some))
    return found
