"""Query a server's chat model by sampling several replies to each prompt."""

from __future__ import annotations

import hashlib
import itertools
import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError, ScoringError
from tacit.models.base import IN_CHAT
from tacit.models.openai.answer_parsing import ANSWER_TOKENS
from tacit.models.openai.canaries import recognised
from tacit.models.openai.chat_preflight import ReplyWatch, same_replies
from tacit.models.openai.client import RefusalError
from tacit.requests import Samples, SamplingPrompt

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from tacit.models.openai.chat_preflight import Sampler
    from tacit.models.openai.options import ServerOptions, Thinking
    from tacit.requests import Sample

SCORER = "server-votes-1"

TOGETHER = 16
"""The maximum number of replies per request."""


class SampledModel:
    """A chat model that runs on a server and answers with sampled replies."""

    def __init__(self, sampler: Sampler, options: ServerOptions, kept: Path | None = None) -> None:
        if options.samples is None:
            raise ModelError(
                "a sampled model requires the number of samples (ServerOptions.samples)"
            )
        self._sampler, self._talk = sampler, sampler.talk
        self._concurrency, self._seed = options.concurrency, options.seed
        self.samples = options.samples
        self.name = f"{self._talk.model} at {self._talk.client.address}"
        self._identity = {
            "address": self._talk.client.address,
            "served_model": self._talk.model,
            "temperature": 1.0,
            "uncut": dict(self._talk.uncut),
            "answer_tokens": ANSWER_TOKENS,
            "thinking": self._talk.thinking,
            "begun": sampler.begun,
            "seed": options.seed,
            "scorer": SCORER,
        }
        now = list(sampler.canaries)
        self.fingerprint, self._canaries = recognised(
            self._identity, now, kept, lambda known: same_replies(known, now)
        )

        self._watch = ReplyWatch(sampler, options.concurrency)

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind, fingerprint and settings, and the deficiencies of its server."""
        temperature = self._sampler.temperature
        return {
            "name": self.name,
            "kind": "server",
            "fingerprint": self.fingerprint,
            "identity": self._identity,
            "elicitation": elicitation_method(self.samples, self._talk.thinking),
            "samples": self.samples,
            "several_at_once": self._sampler.several,
            "preflight": f"{self._talk.passed}: its replies are random samples",
            "refused": list(self._sampler.refused),
            "temperature_seen": temperature and temperature.to_json(),
            "concurrency": self._concurrency,
            "canaries": self._canaries,
        }

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
        client, look = self._talk.client, self._watch.recheck

        def drawn(piece: SamplingPrompt) -> tuple[SamplingPrompt, Samples]:
            return piece, Samples(tuple(self._drawn(piece)))

        with closing(client.stream(drawn, asked, self._concurrency, seconds, look)) as parts:
            for part in parts:
                yield [replied for _, replied in part]

    def recheck(self, answered: Sequence[Any], *, last: bool) -> None:  # noqa: ARG002 - see Rechecks
        """See ``Rechecks.recheck``; replies are not compared, because all samples differ."""
        self._watch.recheck_fully()

    def _pieces(self, prompt: SamplingPrompt) -> list[SamplingPrompt]:
        """Split a request for many replies into parts that need one server request each."""
        step = TOGETHER if self._sampler.several else 1
        numbers = prompt.numbers
        return [
            SamplingPrompt(prompt.text, numbers[at : at + step])
            for at in range(0, len(numbers), step)
        ]

    def _drawn(self, piece: SamplingPrompt) -> list[Sample]:
        """Sample replies; replies missing from the server's response are requested one by one."""
        text, numbers = piece.text, piece.numbers
        try:
            said = self._talk.replies(text, self._seed_of(text, numbers[0]), len(numbers))
            said = said[: len(numbers)]
            for number in numbers[len(said) :]:
                said += self._talk.replies(text, self._seed_of(text, number))[:1]
        except RefusalError as error:
            raise ScoringError(f"no reply to {text[:80]!r}: {error}") from error
        if len(said) < len(numbers):
            raise ScoringError(f"{self.name} returned no reply to {text[:80]!r}")
        meant = self._talk.thinking not in {None, 0}
        return [one.sample(begun=self._sampler.begun, meant=meant) for one in said]

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
