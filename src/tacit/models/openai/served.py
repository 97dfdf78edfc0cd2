"""What models behind servers have in common."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, Generic, TypeVar

from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import Canary
from tacit.models.openai.server import Server
from tacit.models.openai.tokens import LARGEST
from tacit.models.openai.watch import Watch
from tacit.requests import Prompt, Scores
from tacit.requests.scoring import FOR_NOW

S = TypeVar("S", bound="Server")


class ServedModel(Generic[S]):
    """A model behind a server that has passed its preflight."""

    def __init__(
        self,
        server: S,
        identity: Mapping[str, Any],
        recognised: tuple[str, list[Canary]],
        notes: Sequence[str],
    ) -> None:
        self.name = server.name
        self.fingerprint, self._canaries = recognised
        self._server, self._identity, self._notes = server, identity, notes
        self._watch = self._watched(server)

    def _watched(self, server: S) -> Watch:
        return Watch(server)

    def described(self, elicitation: str, passed: str, **more: object) -> dict[str, Any]:
        """Return the model's name, kind, fingerprint, settings and preflight."""
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


class ScoringServer(ServedModel[S], ABC):
    """A model that runs on a server and scores prompts."""

    @property
    def supports(self) -> frozenset[type]:
        """See ``LanguageModel.supports``; the only supported class is ``Prompt``."""
        return frozenset({Prompt})

    def answer(self, requests: Sequence[Prompt]) -> list[Scores]:
        """See ``LanguageModel.answer``; several prompts are scored concurrently."""
        found = dict(itertools.chain.from_iterable(self._in_flight(requests, math.inf)))
        return [found[index] for index in range(len(requests))]

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        """See ``Streams.stream``; several prompts are scored concurrently."""
        with closing(self._in_flight(requests, seconds)) as parts:
            for part in parts:
                yield [(requests[index], scores) for index, scores in part]

    def recheck(self, answered: Sequence[tuple[Prompt, Scores]], *, last: bool) -> str | None:
        """See ``Rechecks.recheck``."""
        self._watch.recheck_now(last=last)
        server = self._server
        return self._watch.differing(
            server.client.at_once(self._changes, answered, server.concurrency)
        )

    @abstractmethod
    def _score(self, prompt: Prompt, *, longer: bool = False) -> tuple[Scores, float]:
        """Return the scores of a prompt's answers, and the lowest log-probability listed."""

    def _changes(self, answered: tuple[Prompt, Scores]) -> tuple[str, list[float]]:
        """Ask a prompt again; return its text, and its answers' differences in nats."""
        prompt, then = answered
        try:
            now, least = self._score(prompt, longer=True)
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

    def _in_flight(
        self, prompts: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[int, Scores]]]:
        """Yield batches of scores as they arrive, each score with the index of its prompt."""
        server = self._server
        return server.client.stream(
            lambda prompt: self._score(prompt)[0],
            prompts,
            server.concurrency,
            seconds,
            self._watch.recheck,
        )
