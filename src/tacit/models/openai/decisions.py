"""Ask a server that decides between options, and reports the probability of each."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import PromptError, TooLongError
from tacit.models.base import DECIDED
from tacit.models.openai.contracts import INPUT
from tacit.models.openai.decision_server import CHECKS, DecisionsServer, changes, digest
from tacit.models.openai.served import BYTES_PER_TOKEN, ServedModel
from tacit.models.openai.streaming import at_once
from tacit.requests import Decided, Decision
from tacit.requests.deciding import distance

SCORER = "server-decisions-1"

SAMPLE = 16
"""The number of decisions that are asked again alone."""

_AROUND = 32
"""Approximate number of tokens that a server adds to a question."""


class DecidingModel(ServedModel[DecisionsServer]):
    checks = CHECKS
    supports = frozenset({Decision})

    def __init__(
        self, server: DecisionsServer, road: str, store: Path | None = None, seed: int = 0
    ) -> None:
        self._road, self._seed = road, seed
        super().__init__(server, store)

    def _settings(self) -> dict[str, Any]:
        server = self._server
        return {
            "contract": server.contract.name,
            "input": INPUT,
            "prompt_format_version": server.version,
            "prompt": digest(server.prompt_ids) if server.prompt_ids else None,
            "scorer": SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        server = self._server
        name, questions = server.contract.name, server.questions
        about = {
            "questions_per_request": questions,
            "options_per_question": server.options,
            "batches": {"seed": self._seed, "order": "by hash of seed and question"},
            "label_mass": statistics.median(server.masses) if server.masses else None,
            "prompt_token_ids": list(server.prompt_ids) or None,
        }
        passed = f"probabilities of options ({name}, {questions:,} questions per request)"
        return f"{DECIDED} ({name})", passed, {"roads": [self._road], "decisions": about}

    def cost(self, requests: Sequence[Decision]) -> list[int]:
        """See ``LanguageModel.cost``; four bytes of a question count as about one token."""
        return [self._cost(one) for one in requests]

    def calls(self, requests: int) -> int:
        return math.ceil(requests / self._server.questions)

    def recheck(self, answered: Sequence[tuple[Decision, Decided]], *, last: bool) -> str | None:
        """See ``Rechecks.recheck``; the decisions of a batch are asked again together."""
        self._watch.recheck_now(last=last)
        groups = itertools.groupby(answered, key=lambda each: each[1].batch)
        found = at_once(self._changes, [list(of) for _, of in groups], self._server.concurrency)
        return self._watch.differing([each for of in found for each in of])

    def dependence(self, requests: Sequence[Decision]) -> dict[str, Any]:
        """Return how much decisions depend on how they are asked: absolute changes of probability.

        A whole batch is asked together, and in another order; a sample is asked alone, and with its
        options reversed. Of each decision, the largest change of an option's probability counts.
        """
        server, drawn = self._server, random.Random(self._seed)  # noqa: S311 - no secret
        asked = list(requests)[: max(SAMPLE, server.questions)]
        batch = asked[: server.questions] if server.questions > 1 else []
        order = drawn.sample(range(len(batch)), len(batch))
        together = server.decide(batch) if batch else []
        other = server.decide([batch[at] for at in order], again=True) if batch else []
        moved = dict(zip(order, other, strict=True))
        some = sorted(drawn.sample(range(len(asked)), min(SAMPLE, len(asked))))
        single = at_once(lambda at: server.decide([asked[at]])[0], some, server.concurrency)
        alone = dict(zip(some, single, strict=True))
        choices = [at for at in some if asked[at].positive is None]
        turned = at_once(
            lambda at: server.decide([Decision(asked[at].text, asked[at].options[::-1])])[0],
            choices,
            server.concurrency,
        )
        return {
            "questions": len(some),
            "alone": _moved((together[at], alone[at]) for at in some if at < len(batch)),
            "order": _moved((together[at], moved[at]) for at in some if at < len(batch)),
            "options": _moved((alone[at], one) for at, one in zip(choices, turned, strict=True)),
        }

    def _cost(self, asked: Decision) -> int:
        server = self._server
        if len(asked.options) > server.options:
            raise PromptError(
                f"{asked.shown} has {len(asked.options)} answers, but {self.name} decides between "
                f"at most {server.options} options"
            )
        words = len(asked.text.split())
        if server.window is not None and words > server.window:
            raise TooLongError(
                f"{asked.shown} has {words} words, but {self.name} reads at most {server.window} "
                "tokens: shorten the prompt, or use a model with a longer window"
            )
        content = "".join((asked.text, *asked.options)).encode()
        return _AROUND + len(content) // BYTES_PER_TOKEN

    def _batches(self, requests: Sequence[Decision]) -> Iterator[Sequence[Decision]]:
        """Divide decisions by the order of their hashes, so that a batch is a random sample."""
        by_hash = sorted(requests, key=lambda one: digest([self._seed, one.text, one.options]))
        step = self._server.questions
        return (by_hash[at : at + step] for at in range(0, len(by_hash), step))

    def _answers(self, batch: Sequence[Decision]) -> list[Decided]:
        return self._server.decide(batch)

    def _changes(self, batch: Sequence[tuple[Decision, Decided]]) -> list[tuple[str, list[float]]]:
        now = self._server.decide([one for one, _ in batch], again=True)
        return [
            (one.text, list(changes(then, after)))
            for (one, then), after in zip(batch, now, strict=True)
        ]


def _moved(pairs: Iterable[tuple[Decided, Decided]]) -> dict[str, Any] | None:
    """Return the mean and the largest change of probability; None if nothing was compared."""
    found = [
        distance(one.probabilities, other.probabilities)
        for one, other in pairs
        if one.probabilities and other.probabilities
    ]
    if not found:
        return None
    return {"mean": statistics.fmean(found), "largest": max(found), "questions": len(found)}
