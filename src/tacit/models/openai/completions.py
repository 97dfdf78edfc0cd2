"""A model behind a server, as one that scores prompts."""

from __future__ import annotations

import itertools
import math
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import ScoringError, TooLongError
from tacit.models.base import WHOLE
from tacit.models.huggingface.encoding import fill
from tacit.models.openai.canaries import fingerprint_of
from tacit.models.openai.client import Client
from tacit.models.openai.echo import align
from tacit.models.openai.measurement import Reading
from tacit.models.openai.monitoring import Watch, echo_of
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.preflight import preflight
from tacit.models.openai.questions import Questions
from tacit.models.openai.served_models import chosen
from tacit.models.openai.token_lists import likeliest
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.requests import AnswerScore, Prompt, Scores

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from tacit.models.openai.monitoring import Watched
    from tacit.models.openai.preflight import Abilities
    from tacit.models.openai.token_lists import Token

SCORER = "server-2"

_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Served:
    """A model that a server serves, tried.

    Args:
        name: What the server calls it.
        window: The longest prompt in tokens; None where the server does not say.
        abilities: What the server does right.
        tokenizer: The model's; None to go by the tokens that the server returns.
    """

    name: str
    window: int | None
    abilities: Abilities
    tokenizer: TokenizerFile | None


def load_server(
    address: str, options: ServerOptions | None = None, kept: Path | None = None
) -> ServerModel:
    """Tries a server, and gives its model as one that scores.

    Args:
        address: For example ``http://localhost:8000/v1``.
        options: What it calls the model, its tokenizer, how many prompts are under way at once.
        kept: The store, by which a server is known again; None to know none.

    Raises:
        ModelError: No server is there, or it cannot be scored with; the message says why.
        MissingPackage: The extra ``server`` is not installed.
        ScoringError: The server failed each time.
    """
    options = options or ServerOptions()
    place = check_address(address, options)
    tokenizer = TokenizerFile(options.tokenizer) if options.tokenizer else None
    client = Client(place, options, key_from_environment())
    about = chosen(client, options.served_model)
    abilities = preflight(Questions(client, about["id"]), tokenizer, options.concurrency)
    window = about.get("max_model_len")
    served = Served(about["id"], window if isinstance(window, int) else None, abilities, tokenizer)
    return ServerModel(served, options.concurrency, kept)


class ServerModel:
    """Scores answers as continuations of their text, as a server has them.

    Args:
        served: The model, tried.
        concurrency: How many prompts are under way at once.
        kept: The store, by which the server is known again.
    """

    def __init__(self, served: Served, concurrency: int, kept: Path | None = None) -> None:
        self._served = served
        self._concurrency = concurrency
        self._address = served.abilities.questions.client.address
        self._identity = self._identified()
        self.name = f"{served.name} at {self._address}"
        self.fingerprint, self._canaries = fingerprint_of(
            self._identity, served.abilities.seen, kept
        )
        self._watch = Watch(
            served.abilities.watched,
            self._ask_again,
            self.name,
            served.abilities.telling,
            served.abilities.questions.habits,
        )

    @property
    def description(self) -> dict[str, Any]:
        """Name, kind, fingerprint and what it covers, and what the server does not do right."""
        abilities = self._served.abilities
        return {
            "name": self.name,
            "kind": "server",
            "fingerprint": self.fingerprint,
            "identity": self._identity,
            "obtained": WHOLE,
            "window": self._served.window,
            "refused": list(abilities.refused),
            "concurrency": self._concurrency,
            "canaries": self._canaries,
        }

    @property
    def supports(self) -> frozenset[type]:
        """See ``LanguageModel.supports``: prompts to score."""
        return frozenset({Prompt})

    def cost(self, requests: Sequence[Prompt]) -> list[int]:
        """See ``LanguageModel.cost``; without a tokenizer, one for every four bytes."""
        return [
            sum(self._cost(filled.string, prompt) for filled in fill(prompt)) for prompt in requests
        ]

    def answer(self, requests: Sequence[Prompt]) -> list[Scores]:
        """See ``LanguageModel.answer``; some prompts are under way at the same time.

        Raises:
            ScoringError: Also where the server no longer answers as when it was tried.
        """
        parts = self._under_way(requests, math.inf)
        found = dict(itertools.chain.from_iterable(parts))
        return [found[index] for index in range(len(requests))]

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        """See ``Streams.stream``; some prompts are under way at the same time.

        Raises:
            ScoringError: As ``answer``.
        """
        with closing(self._under_way(requests, seconds)) as parts:
            for part in parts:
                yield [(requests[index], scores) for index, scores in part]

    def _under_way(
        self, prompts: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[int, Scores]]]:
        """Scores as they come, each with its prompt's index."""
        client, look = self._served.abilities.questions.client, self._watch.look
        return client.stream(self._score, prompts, self._concurrency, seconds, look)

    def recheck(self) -> None:
        """See ``Rechecks``."""
        self._watch.look_well()

    def _ask_again(self, some: Sequence[Watched]) -> list[Token | None]:
        """What the server says now of what it is watched by."""
        abilities, tokenizer = self._served.abilities, self._served.tokenizer

        def ask(watched: Watched) -> Token | None:
            if watched.asked == "next":
                first = abilities.questions.next_token(watched.text).first
                return first and likeliest(first, abilities.top)
            echoed = abilities.questions.echoed(watched.text)
            echo = align(echoed, watched.text, tokenizer, abilities.before)
            return None if echo is None else echo_of(echo)

        return abilities.questions.client.at_once(ask, some, self._concurrency)

    def _score(self, prompt: Prompt) -> Scores:
        """The scores of one prompt's answers."""
        reading = Reading(self._served.abilities, self._served.tokenizer)
        try:
            read = reading.read(fill(prompt))
        except ScoringError as error:
            raise type(error)(f"{prompt.shown} could not be scored: {error}") from error
        return Scores(
            tuple(
                AnswerScore(answer, one.logprob, one.tokens, one.spanned, one.missing)
                for answer, one in zip(prompt.answers, read, strict=True)
            )
        )

    def _cost(self, text: str, prompt: Prompt) -> int:
        """The tokens of a text.

        Raises:
            TooLongError: There are more than the model takes.
        """
        tokenizer, window = self._served.tokenizer, self._served.window
        if tokenizer is None:
            return 1 + len(text.encode()) // _BYTES_PER_TOKEN
        cost = len(tokenizer.cut(text).tokens) + (self._served.abilities.before or 0)
        # One token of the window is what the server generates.
        if window is not None and cost + 1 > window:
            raise TooLongError(
                f"{prompt.shown} is {cost} tokens long with its answer; {self.name} takes "
                f"{window - 1} at most: shorten it, or choose a model with a longer window"
            )
        return cost

    def _identified(self) -> dict[str, Any]:
        """What scores depend on, as far as it can be seen."""
        abilities, tokenizer = self._served.abilities, self._served.tokenizer
        return {
            "address": self._address,
            "served_model": self._served.name,
            "tokenizer": tokenizer and tokenizer.digest,
            "next_tokens": abilities.top,
            "echo": abilities.questions.way if abilities.echo else None,
            "special_tokens_before": abilities.before,
            "scorer": SCORER,
        }
