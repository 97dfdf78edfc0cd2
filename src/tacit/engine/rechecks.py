"""Recheck a server's answers before they count, since a server can be wrong for a while."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, Protocol

import polars as pl

from tacit.engine.store import Store
from tacit.english import several
from tacit.errors import ScoringError, UnreliableError
from tacit.models.base import Decides, LanguageModel, Rechecks
from tacit.requests import FOR_NOW, KINDS, Decided, Decision, Prompt, RankingPrompt, Scores
from tacit.requests.kind import Part

log = logging.getLogger(__name__)

LEAST = 1250
"""The least number of requests between two rechecks, unless ``SECONDS`` have passed."""

AGAIN, RATE = 8, 125
"""At least 8 prompts are asked again, and one in 125: 8 find a fault of a third with 96 %."""

SECONDS = 600.0


class Checkable(LanguageModel, Rechecks, Protocol):
    """A model that may change during a run."""


class Rechecking:
    """Rechecks the answers to a plan's requests while they are stored."""

    def __init__(
        self,
        model: Checkable,
        store: Store,
        left: int,
        *,
        again: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model, self._store, self._left = model, store, left
        self._again, self._clock = again, clock
        self._new, self._checked = 0, clock()
        self.sound = True
        # Of a server that decides, whole batches are asked again.
        batch = left // model.calls(left) if left and isinstance(model, Decides) else 1
        self._least = max(LEAST, RATE * batch)

    def rechecked(self, parts: Generator[Part]) -> Generator[Part]:
        """Yield what is stored, and recheck it; what fails a check is set aside.

        Raises:
            UnreliableError: If the model no longer answers as it did when it was loaded.
        """
        try:
            with closing(parts):
                for part in parts:
                    self.stored(part.ended)
                    yield part
            self.check(last=True)
        except UnreliableError:
            self.withdraw()
            raise

    def stored(self, requests: int) -> None:
        """Count stored answers, and recheck them if they are many."""
        self._new, self._left = self._new + requests, self._left - requests
        many = self._new >= self._least and self._left >= self._least
        if self._left and (many or self._clock() - self._checked >= SECONDS):
            try:
                self.check(last=False)
            except UnreliableError:
                raise
            except ScoringError:
                pass  # if the server fails, then so does the run
            self._new, self._checked = 0, self._clock()

    def check(self, *, last: bool) -> None:
        """Recheck the answers that were stored and not rechecked."""
        model = self._model
        for of in model.supports:
            names, rows = self._store.unchecked(model.fingerprint, of)
            if not names:
                continue
            why = model.recheck(_CHOSEN[of](rows) if of in _CHOSEN else [], last=last)
            if why is None:
                self._store.mark_checked(names)
                continue
            self._store.withdraw(names)
            self.sound = False
            kept = self._store.read(model.fingerprint, of).height
            why = (
                f"{model.name}: {why}. It answered wrongly for a while, or several servers behind "
                f"its address answer differently. {several(rows.height, 'answer')} that arrived "
                "since the last successful check were set aside"
            )
            if self._again:
                raise UnreliableError(
                    f"{why} for the second time; {several(kept, 'checked answer')} are kept. Run "
                    "the same command again when the server answers reliably"
                )
            log.warning("%s, and those that this run needs are asked again", why)

    def withdraw(self) -> None:
        """Set aside the answers that were not rechecked."""
        for of in self._model.supports:
            self._store.withdraw(self._store.unchecked(self._model.fingerprint, of)[0])


def chosen(rows: pl.DataFrame) -> list[tuple[Prompt, Scores]]:
    """Choose prompts by a hash, so that the choice is reproducible but follows no order."""
    kind = KINDS[Prompt]
    lasting = rows.filter(pl.col("reason").is_in(sorted(FOR_NOW)).not_().fill_null(value=True))
    texts = lasting.group_by("text", "separator", maintain_order=True).agg("answer")
    prompts = [Prompt(text, answers, separator) for text, separator, answers in texts.iter_rows()]
    prompts.sort(key=lambda one: _hash(f"{one.separator} {one.text}"))
    cached = kind.by_key(rows)
    some = prompts[: max(AGAIN, len(prompts) // RATE)]
    return [(one, kind.answer(one, cached)) for one in some]


def chosen_rankings(rows: pl.DataFrame) -> list[tuple[Prompt, Scores]]:
    """Choose prompts whose best candidates and targets are scored again as answers."""
    of, best = ("text", "separator"), pl.col("top")
    top = (
        rows.select(*of, "top")
        .explode("top")
        .select(*of, answer=best.struct.field("word"), logprob=best.struct.field("logprob"))
    )
    targets = rows.select(*of, pl.col("target").alias("answer"), "logprob")
    known = pl.concat([targets, top]).drop_nulls().unique((*of, "answer"), maintain_order=True)
    types = KINDS[Prompt].schema()
    more = {"tokens": 1, "spanned": False, "reason": None}
    return chosen(known.with_columns(pl.lit(more[n], types[n]).alias(n) for n in more))


def chosen_batches(rows: pl.DataFrame) -> list[tuple[Decision, Decided]]:
    """Choose batches by their hashes; the decisions of a batch are asked again together."""
    kind = KINDS[Decision]
    texts = rows.group_by("batch", "position", "text", maintain_order=True).agg("option")
    sizes = texts.group_by("batch").len().sort("batch")
    enough = max(AGAIN, texts.height // RATE)
    some = sizes.filter(pl.col("len").cum_sum() - pl.col("len") < enough)["batch"]
    again = texts.filter(pl.col("batch").is_in(some.to_list())).sort("batch", "position")
    decisions = [Decision(text, tuple(options)) for *_, text, options in again.iter_rows()]
    cached = kind.by_key(rows)
    return [(one, kind.answer(one, cached)) for one in decisions]


_CHOSEN: Mapping[type, Callable[[pl.DataFrame], list[tuple[Any, Any]]]] = {
    Prompt: chosen,
    RankingPrompt: chosen_rankings,
    Decision: chosen_batches,
}


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
