"""Query a server's chat model by sampling several replies to each prompt."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tacit.errors import ScoringError
from tacit.models.base import IN_CHAT
from tacit.models.openai.chat import VotesServer
from tacit.models.openai.chat_checks import VOTES
from tacit.models.openai.client import Client, RefusalError
from tacit.models.openai.options import ServerOptions, Thinking
from tacit.models.openai.roads import VOTES as VOTES_ROAD
from tacit.models.openai.served import ServedModel
from tacit.models.openai.watch import check_replies
from tacit.requests import Samples, SamplingPrompt
from tacit.requests.answer_parsing import ANSWER_TOKENS

SCORER = "server-votes-2"

TOGETHER = 16
"""The maximum number of replies per request."""


class SampledModel(ServedModel[VotesServer]):
    """A chat model that runs on a server and answers with sampled replies."""

    checks = VOTES
    supports = frozenset({SamplingPrompt})

    def __init__(
        self, server: VotesServer, store: Path | None = None, samples: int = 1, seed: int = 0
    ) -> None:
        self.samples, self._seed = samples, seed
        super().__init__(server, store)

    def _settings(self) -> dict[str, Any]:
        server = self._server
        return {
            "temperature": 1.0,
            "uncut": dict(server.uncut),
            "answer_tokens": ANSWER_TOKENS,
            "thinking": server.thinking,
            "begun": server.begun,
            "seed": self._seed,
            "scorer": SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        server = self._server
        return (
            elicitation_method(self.samples, server.thinking),
            "its replies are random samples",
            {
                "roads": [VOTES_ROAD.name],
                "samples": self.samples,
                "several_at_once": server.several,
                "temperature_seen": server.temperature and server.temperature.to_json(),
            },
        )

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        """See ``LanguageModel.cost``; the cost of a request is its number of replies."""
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        """See ``LanguageModel.answer``."""
        known = {
            (piece.text, number): sample
            for piece, samples in itertools.chain.from_iterable(self.stream(requests, math.inf))
            for number, sample in zip(piece.numbers, samples.replies, strict=True)
        }
        return [Samples(tuple(known[one.text, n] for n in one.numbers)) for one in requests]

    def recheck(self, answered: Sequence[Any], *, last: bool) -> None:  # noqa: ARG002 - see Rechecks
        """See ``Rechecks.recheck``; replies are not compared, because all samples differ."""
        self._watch.recheck_now(last=True)
        check_replies(self._server)

    def _batches(self, requests: Sequence[SamplingPrompt]) -> Iterator[Sequence[SamplingPrompt]]:
        step = TOGETHER if self._server.several else 1
        for one in requests:
            for at in range(0, len(one.numbers), step):
                yield [SamplingPrompt(one.text, one.numbers[at : at + step])]

    def _answers(self, batch: Sequence[SamplingPrompt]) -> list[Samples]:
        return [self._sampled(request) for request in batch]

    def _sampled(self, request: SamplingPrompt) -> Samples:
        """Sample replies; replies missing from the server's response are requested one by one."""
        server, text, numbers = self._server, request.text, request.numbers
        ask = partial(server.replies, text, room=server.room)
        try:
            replies = ask(self._seed_of(text, numbers[0]), n=len(numbers))[: len(numbers)]
            for number in numbers[len(replies) :]:
                replies += ask(self._seed_of(text, number))[:1]
        except RefusalError as error:
            raise ScoringError(f"no reply to {text[:80]!r}: {error}") from error
        if len(replies) < len(numbers):
            raise ScoringError(f"{self.name} returned no reply to {text[:80]!r}")
        meant = server.thinking not in {None, 0}
        return Samples(tuple(one.sample(begun=server.begun, meant=meant) for one in replies))

    def _seed_of(self, text: str, number: int) -> int:
        """Return a 31-bit seed, computed from the base seed, a text and a reply's number."""
        content = f"{self._seed} {number} {text}".encode()
        return int.from_bytes(hashlib.sha256(content).digest()[:4]) >> 1


def elicitation_method(samples: int, thinking: Thinking = None) -> str:
    """Return the name of the elicitation method."""
    votes = f"votes of {samples} samples{IN_CHAT}"
    if not thinking:
        return votes
    most = "" if thinking == "all" else f" of at most {thinking} tokens"
    return f"{votes}, after thoughts{most}"


def load(
    client: Client, about: Mapping[str, Any], options: ServerOptions, store: Path | None
) -> SampledModel:
    """See ``tacit.models.openai.completions.load``."""
    name, thinking = about["id"], options.thinking
    server = VotesServer(client, name, options.concurrency, thinking=thinking)
    return SampledModel(server, store, options.samples or 1, options.seed)
