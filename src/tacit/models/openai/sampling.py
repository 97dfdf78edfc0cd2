"""Query a server's chat model by sampling several replies to each prompt."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from tacit.errors import ScoringError
from tacit.models.base import IN_CHAT
from tacit.models.openai.chat_checks import VOTES, VotesServer, same_replies
from tacit.models.openai.checks import preflight
from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import Canary, canaries_of, recognised, same_answers
from tacit.models.openai.options import Thinking
from tacit.models.openai.served import ServedModel
from tacit.models.openai.watch import VotesWatch, Watch
from tacit.requests import Sample, Samples, SamplingPrompt
from tacit.requests.answer_parsing import ANSWER_TOKENS

SCORER = "server-votes-2"

TOGETHER = 16
"""The maximum number of replies per request."""


class SampledModel(ServedModel[VotesServer]):
    """A chat model that runs on a server and answers with sampled replies."""

    def __init__(
        self, server: VotesServer, samples: int, seed: int = 0, store: Path | None = None
    ) -> None:
        notes = preflight(server, VOTES)
        self.samples, self._seed = samples, seed
        identity = {
            "address": server.client.address,
            "served_model": server.model,
            "temperature": 1.0,
            "uncut": dict(server.uncut),
            "answer_tokens": ANSWER_TOKENS,
            "thinking": server.thinking,
            "begun": server.begun,
            "seed": seed,
            "scorer": SCORER,
        }
        super().__init__(server, identity, _recognised(server, identity, store), notes)

    def _watched(self, server: VotesServer) -> Watch:
        return VotesWatch(server)

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind, fingerprint and settings, and the deficiencies of its server."""
        server = self._server
        return self.described(
            elicitation_method(self.samples, server.thinking),
            "its replies are random samples",
            samples=self.samples,
            several_at_once=server.several,
            temperature_seen=server.temperature and server.temperature.to_json(),
        )

    @property
    def supports(self) -> frozenset[type]:
        """See ``LanguageModel.supports``; the only supported class is ``SamplingPrompt``."""
        return frozenset({SamplingPrompt})

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        """See ``LanguageModel.cost``; the cost of a request is its number of replies."""
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        """See ``LanguageModel.answer``; requests to the server are sent concurrently."""
        found = itertools.chain.from_iterable(self.stream(requests, math.inf))
        known = {
            (some.text, number): sample
            for some, samples in found
            for number, sample in zip(some.numbers, samples.replies, strict=True)
        }
        return [Samples(tuple(known[one.text, n] for n in one.numbers)) for one in requests]

    def stream(
        self, requests: Sequence[SamplingPrompt], seconds: float
    ) -> Generator[list[tuple[SamplingPrompt, Samples]]]:
        """See ``Streams.stream``; requests to the server are sent concurrently."""
        asked = (piece for each in requests for piece in self._pieces(each))
        client, server = self._server.client, self._server

        def drawn(piece: SamplingPrompt) -> tuple[SamplingPrompt, Samples]:
            return piece, Samples(tuple(self._drawn(piece)))

        check = self._watch.recheck
        with closing(client.stream(drawn, asked, server.concurrency, seconds, check)) as parts:
            for part in parts:
                yield [replied for _, replied in part]

    def recheck(self, answered: Sequence[Any], *, last: bool) -> None:  # noqa: ARG002 - see Rechecks
        """See ``Rechecks.recheck``; replies are not compared, because all samples differ."""
        self._watch.recheck_now(last=True)

    def _pieces(self, prompt: SamplingPrompt) -> list[SamplingPrompt]:
        """Split a request for many replies into parts that need one server request each."""
        step = TOGETHER if self._server.several else 1
        numbers = prompt.numbers
        return [
            SamplingPrompt(prompt.text, numbers[at : at + step])
            for at in range(0, len(numbers), step)
        ]

    def _drawn(self, piece: SamplingPrompt) -> list[Sample]:
        """Sample replies; replies missing from the server's response are requested one by one."""
        server, text, numbers = self._server, piece.text, piece.numbers
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
        return [one.sample(begun=server.begun, meant=meant) for one in replies]

    def _seed_of(self, text: str, number: int) -> int:
        """Return a 31-bit seed, computed from the base seed, a text and a reply's number."""
        content = f"{self._seed} {number} {text}".encode()
        return int.from_bytes(hashlib.sha256(content).digest()[:4]) >> 1


def _recognised(
    server: VotesServer, identity: Mapping[str, Any], store: Path | None
) -> tuple[str, list[Canary]]:
    """Recognise the model by its first tokens or, without them, by replies at temperature 0."""
    if server.nexts:
        same = partial(same_answers, nexts=server.nexts, echoes={})
        return recognised(identity, canaries_of(server.nexts, {}), store, same)
    replies = server.greedy_replies
    canaries = [{"text": text, "reply": reply} for text, reply in replies.items()]

    def same_as(stored: Sequence[Canary]) -> bool:
        then = {str(one.get("text")): str(one.get("reply")) for one in stored}
        return same_replies(then, replies)

    return recognised(identity, canaries, store, same_as)


def elicitation_method(samples: int, thinking: Thinking = None) -> str:
    """Return the name of the elicitation method."""
    votes = f"votes of {samples} samples{IN_CHAT}"
    if not thinking:
        return votes
    most = "" if thinking == "all" else f" of at most {thinking} tokens"
    return f"{votes}, after thoughts{most}"
