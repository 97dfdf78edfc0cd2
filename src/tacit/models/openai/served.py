"""What models behind servers have in common."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from tacit.errors import ScoringError
from tacit.models.openai.checks import Check, preflight
from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import Watch, recognised
from tacit.models.openai.server import Server
from tacit.models.openai.streaming import Stream, at_once
from tacit.models.openai.tokens import LARGEST
from tacit.requests import Prompt, Scores
from tacit.requests.scoring import FOR_NOW

BYTES_PER_TOKEN = 4
"""A guess, for costs, where no tokenizer is known."""

S = TypeVar("S", bound=Server)


class ServedModel(ABC, Generic[S]):
    """A model behind a server that has passed its preflight."""

    checks: ClassVar[tuple[Check, ...]]
    hint: ClassVar[str] = ""
    """What to do instead if the server fails its preflight."""
    supports: frozenset[type]

    def __init__(self, server: S, store: Path | None = None) -> None:
        self.name, self._server = server.name, server
        self._notes = preflight(server, self.checks, self.hint)
        address = {"address": server.client.address, "served_model": server.model}
        self._identity = {**address, **self._settings()}
        self.fingerprint, self._canaries = recognised(self._identity, server, store)
        self._watch = Watch(server)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def traffic(self) -> Counter[str]:
        """The numbers of requests so far, and of the tokens that the server counted."""
        return self._server.client.traffic

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return what affects an answer, besides the model and the request."""

    @abstractmethod
    def _described(self) -> tuple[str, str, dict[str, Any]]:
        """Return the elicitation method, what passed the preflight, and more of the description."""

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind, fingerprint and settings, and its server's deficiencies."""
        elicitation, passed, more = self._described()
        return {
            "name": self.name,
            "kind": "server",
            "fingerprint": self.fingerprint,
            "identity": dict(self._identity),
            "elicitation": elicitation,
            "preflight": f"{self.name} passed the preflight: {passed}",
            "refused": list(self._notes),
            "concurrency": self._server.concurrency,
            "canaries": self._canaries,
            **more,
        }

    def stream(self, requests: Sequence[Any], seconds: float) -> Generator[list[tuple[Any, Any]]]:
        """See ``Streams.stream``; requests are sent to the server concurrently."""
        answers = Stream(
            lambda batch: list(zip(batch, self._answers(batch), strict=True)),
            self._batches(requests),
            self._server.concurrency,
            seconds,
            self._watch.recheck,
        )
        with closing(answers.parts()) as parts:
            for part in parts:
                yield [answered for _, batch in part for answered in batch]

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        found = dict(itertools.chain.from_iterable(self.stream(requests, math.inf)))
        return [found[request] for request in requests]

    def _batches(self, requests: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """Divide requests, or parts of them, into those that are answered and stored together."""
        return ([request] for request in requests)

    @abstractmethod
    def _answers(self, batch: Sequence[Any]) -> list[Any]:
        """Ask the server; return the answer to each element of a batch."""


class ScoringServer(ServedModel[S]):
    """A model that runs on a server and scores prompts."""

    supports = frozenset({Prompt})

    def recheck(self, answered: Sequence[tuple[Prompt, Scores]], *, last: bool) -> str | None:
        self._watch.recheck_now(last=last)
        changes = at_once(self._changes, answered, self._server.concurrency)
        return self._watch.differing(changes)

    def _answers(self, batch: Sequence[Prompt]) -> list[Scores]:
        return [self._named(request)[0] for request in batch]

    def _named(self, prompt: Prompt, *, longer: bool = False) -> tuple[Scores, float]:
        try:
            return self._score(prompt, longer=longer)
        except ScoringError as error:
            raise type(error)(f"{prompt.shown} could not be scored: {error}") from error

    @abstractmethod
    def _score(self, prompt: Prompt, *, longer: bool = False) -> tuple[Scores, float]:
        """Return the scores of a prompt's answers, and the lowest log-probability listed."""

    def _changes(self, answered: tuple[Prompt, Scores]) -> tuple[str, list[float]]:
        """Ask a prompt again; return its text, and its answers' differences in nats."""
        prompt, then = answered
        try:
            now, least = self._named(prompt, longer=True)
        except RefusalError:  # one more token does not fit in the server's window
            return prompt.text, []
        changes = []
        for one, other in zip(then.answers, now.answers, strict=True):
            before, after = one.logprob, other.logprob
            if before is not None and after is not None:
                changes.append(abs(before - after) / math.sqrt(max(1, one.tokens)))
                continue
            known = after if before is None else before
            if known is not None and known > least + LARGEST and other.missing not in FOR_NOW:
                changes.append(math.inf)
        return prompt.text, changes
