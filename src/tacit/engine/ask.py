"""The local engine: from prompts to scores, asking a model only what the store does not hold."""

from __future__ import annotations

import math
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engine.plan import (
    BlockOf,
    PlanOf,
    cut,
    cut_neighbours,
    digest_of,
    in_parts,
    recorded,
    too_long,
)
from tacit.engine.ranked import Known
from tacit.engine.rechecks import rechecking
from tacit.engine.requests import Ranked, Scoring, prompt_key
from tacit.engine.store import Store, to_scores
from tacit.errors import ModelError, ScoringError, StoreError, TooLongError
from tacit.models.base import RanksVocabulary, SharesPrefixes, StreamsScores
from tacit.prompts import FOR_NOW, TOO_LONG, LogProbs, Prompt
from tacit.rankings import Ranking, RankingPrompt

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence
    from pathlib import Path, PurePosixPath

    from tacit.engine.crew import Crew
    from tacit.engine.plan import Block, Plan, RankingBlock, RankingPlan
    from tacit.engine.requests import Held, Kind, Request
    from tacit.models.base import LanguageModel

BLOCK_TOKENS = 16384
PERIOD = 30.0
"""Seconds after which a streamed answer is stored: a run that is killed loses no older one."""

_HAIR = 1e-3

Gathered = TypeVar("Gathered")


@dataclass(frozen=True)
class Engine:
    """Asks one model, and keeps what it answers.

    A model that streams scores is asked all prompts of a plan without a pause, and what it answers
    is stored every ``PERIOD`` seconds; any other computes whole blocks.

    Args:
        model: The model.
        store: Where scores are kept.
        block_tokens: About how many tokens are computed between two writes to the store.
        crew: Who carries out the blocks; None is this process.
        strict: Whether a prompt that is longer than the model's window is an error. Otherwise it
            is skipped, and all its answers are missing.
    """

    model: LanguageModel
    store: Store
    block_tokens: int = BLOCK_TOKENS
    crew: Crew | None = None
    strict: bool = False

    @property
    def description(self) -> dict[str, Any]:
        """What a manifest says of who computes: the kind, and in how many threads where known."""
        if self.crew:
            return dict(self.crew.description)
        torch = sys.modules.get("torch")
        return {"kind": "local", "threads": torch.get_num_threads() if torch else None}

    def ask(
        self,
        prompts: Sequence[Prompt],
        plan: Plan | None = None,
        progress: Callable[[Block], None] | None = None,
    ) -> list[LogProbs]:
        """The scores of all prompts, in their order; what the store lacks is asked and stored.

        Args:
            prompts: What to ask.
            plan: What ``plan`` made of the same prompts; made now when it is not given.
            progress: Called with each block that was stored, or each part of what is streamed.

        Raises:
            PromptError: The model cannot score a prompt; nothing was asked then.
            ScoringError: The model failed; what was scored before is in the store.
            StoreError: The store cannot be read or written.
        """
        plan = plan or self.plan(prompts)
        self._ask(plan, progress)
        return gathered(
            lambda: self._gather(prompts, plan.skipped),
            again=lambda: self._ask(self.plan(prompts), None),
        )

    def plan(self, prompts: Sequence[Prompt], path: Path | None = None) -> Plan:
        """Cuts what the store does not hold into blocks, and checks that all can be scored.

        Prompts that are longer than the model's window are in the plan's ``skipped``, and in no
        block.

        Args:
            prompts: What will be asked.
            path: Where ``Plan.record`` records the blocks. Those that stand there already, of the
                same prompts and model, are taken again, less the ones that the store holds.

        Raises:
            PromptError: The model cannot score a prompt, or the engine is strict and a prompt is
                too long.
        """
        known = (self._held(), self._cut)
        return self._plan(Scoring(), prompts, path, known, self.model.tokens)

    def rank(
        self,
        prompts: Sequence[RankingPrompt],
        plan: RankingPlan | None = None,
        progress: Callable[[RankingBlock], None] | None = None,
    ) -> list[Ranking]:
        """The rankings of all prompts, in their order; what the store lacks is asked and stored.

        A target that the store lacks has its text computed again, and no other.

        Args:
            prompts: What to rank.
            plan: What ``plan_rankings`` made of the same prompts; made now when it is not given.
            progress: Called with each block that was stored.

        Raises:
            ModelError: The model ranks no vocabularies.
            PromptError: The model cannot rank a prompt; nothing was asked then.
            ScoringError: The model failed; what was ranked before is in the store.
            StoreError: The store cannot be read or written.
        """
        plan = plan or self.plan_rankings(prompts)
        self._ask(plan, progress)
        return gathered(
            lambda: self._gather_rankings(prompts, plan.skipped),
            again=lambda: self._ask(self.plan_rankings(prompts), None),
        )

    def plan_rankings(
        self, prompts: Sequence[RankingPrompt], path: Path | None = None
    ) -> RankingPlan:
        """As ``plan``, for prompts that rank vocabularies; they are recorded in their own file.

        Raises:
            ModelError: The model ranks no vocabularies.
            PromptError: As ``plan``.
        """
        held = Known(self.store.read_rankings(self.model.fingerprint)).held()
        known = (held, self._cut_rankings)
        return self._plan(Ranked.of(prompts), prompts, path, known, self.ranker.ranking_tokens)

    @property
    def ranker(self) -> RanksVocabulary:
        """The model as one that ranks vocabularies.

        Raises:
            ModelError: It ranks none.
        """
        if isinstance(self.model, RanksVocabulary):
            return self.model
        raise ModelError(
            f"{self.model.name} ranks no vocabulary, only answers that it is given: use a local "
            "model, or give a list of answers"
        )

    def _plan(
        self,
        kind: Kind[Request],
        prompts: Sequence[Request],
        path: Path | None,
        known: tuple[set[Held], Callable[[Sequence[Request]], list[BlockOf[Request]]]],
        costs: Callable[[Sequence[Request]], list[int]],
    ) -> PlanOf[Request]:
        """The plan, given what is held and how what is lacking is cut into blocks."""
        digest = digest_of(self.model.fingerprint, kind.merge(prompts), kind)
        streams = self.crew is None and isinstance(self.model, StreamsScores)
        whole = not (streams and isinstance(kind, Scoring))
        before = (recorded(path, digest, kind) if path and whole else None) or ()

        def planned(some: Sequence[Request], skipped: Mapping[Request, str]) -> PlanOf[Request]:
            held, cut_lacking = known
            merged = kind.merge(some)
            lacking = [rest for prompt in merged if (rest := kind.less(prompt, held))]
            todo = [b for b in before if any(kind.less(prompt, held) for prompt in b.prompts)]
            taken = {key for block in todo for prompt in block.prompts for key in kind.keys(prompt)}
            todo += cut_lacking([rest for one in lacking if (rest := kind.less(one, taken))])
            stored = len(merged) - len(lacking)
            return PlanOf(kind, tuple(todo), len(merged), stored, digest, skipped, whole)

        try:
            return planned(prompts, {})
        except TooLongError:
            if self.strict:
                raise
        # Each prompt by itself, so that whether it is skipped does not depend on the others.
        rests = {one: rest for one in prompts if (rest := kind.less(one, known[0]))}
        found = too_long(costs, list(dict.fromkeys(rests.values())))
        skipped = {one: found[rest] for one, rest in rests.items() if rest in found}
        return planned([one for one in prompts if one not in skipped], skipped)

    def _cut(self, prompts: Sequence[Prompt]) -> list[Block]:
        costs = self.model.tokens
        if isinstance(self.model, SharesPrefixes) and self.model.shares_prefixes:
            return cut_neighbours(prompts, costs, self.block_tokens)
        return cut(prompts, in_parts(costs, prompts), self.block_tokens)

    def _cut_rankings(self, prompts: Sequence[RankingPrompt]) -> list[RankingBlock]:
        return cut(prompts, in_parts(self.ranker.ranking_tokens, prompts), self.block_tokens)

    def keep(self, prompts: Sequence[Prompt | RankingPrompt]) -> PurePosixPath:
        """Asks prompts of one kind together, and stores what is answered.

        Returns:
            The segment, as seen from the store's root.

        Raises:
            ScoringError: The model failed, or gave what is no log-probability.
            StoreError: The store cannot be written.
        """
        about = self.model.description
        ranked = [prompt for prompt in prompts if isinstance(prompt, RankingPrompt)]
        if ranked:
            return self.store.append_rankings(about, ranked, self._rank(ranked))
        scored = [prompt for prompt in prompts if isinstance(prompt, Prompt)]
        return self.store.append(about, scored, self._score(scored))

    def _ask(
        self, plan: PlanOf[Request], progress: Callable[[BlockOf[Request]], None] | None
    ) -> None:
        asking = closing((self.crew or self).carry_out(plan))
        with rechecking(self.model, self.store) as published, asking as done:
            for block in done:
                published()
                if progress:
                    progress(block)

    def carry_out(self, plan: PlanOf[Request]) -> Generator[BlockOf[Request]]:
        """Asks the blocks of a plan in this process; gives each as it is stored.

        Of a model that streams scores, it gives what was stored together instead.

        Raises:
            ScoringError: The model failed.
            StoreError: The store cannot be written.
        """
        model = self.model
        if isinstance(model, StreamsScores) and not plan.whole:
            yield from self._stream(model, plan)
            return
        for block in plan.blocks:
            self.keep(block.prompts)
            yield block

    def _stream(self, model: StreamsScores, plan: PlanOf[Request]) -> Generator[BlockOf[Request]]:
        """Asks all prompts of a plan without a pause; gives what was stored together."""
        asked = [prompt for block in plan.blocks for prompt in block.prompts]
        costs = [cost for block in plan.blocks for cost in block.shares]
        prompts = [prompt for prompt in asked if isinstance(prompt, Prompt)]
        with closing(model.stream(prompts, PERIOD)) as parts:
            for part in parts:
                some = [prompts[index] for index, _ in part]
                scores = self._checked(some, [score for _, score in part])
                self.store.append(model.description, some, scores)
                tokens = sum(costs[index] for index, _ in part)
                yield BlockOf(tuple(asked[index] for index, _ in part), tokens)

    def _score(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        return self._checked(prompts, self.model.score(prompts))

    def _checked(self, prompts: Sequence[Prompt], scores: list[LogProbs]) -> list[LogProbs]:
        """The scores of prompts, if they are of their answers, and log-probabilities."""
        for prompt, score in zip(prompts, scores, strict=True):
            if tuple(one.answer for one in score.answers) != prompt.answers:
                raise ScoringError(
                    f"{self.model.name} scored other answers than {prompt.shown} has"
                )
            for one in score.answers:
                self._check(one.logprob, f"{one.answer!r} to {prompt.shown}")
        return scores

    def _rank(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        rankings = self.ranker.rank(prompts)
        for prompt, ranking in zip(prompts, rankings, strict=True):
            shown = prompt.asking(prompt.vocabulary.words[:1]).shown
            if tuple(one.target for one in ranking.targets) != prompt.targets:
                raise ScoringError(f"{self.model.name} ranked other targets than {shown} has")
            values = [one.logprob for one in ranking.targets] + [value for _, value in ranking.top]
            for value in values:
                self._check(value, f"a candidate of {shown}")
        return rankings

    def _check(self, value: float | None, what: str) -> None:
        """Refuses what a model gave as a log-probability and is none."""
        # A sum of rounded logarithms may lie a hair above 0.
        if value is not None and not -math.inf < value < _HAIR:
            raise ScoringError(
                f"{self.model.name} gave {what} the value {value}, which is no log-probability"
            )

    def _held(self) -> set[Held]:
        """What need not be asked; what has no score only for now does."""
        rows = self.store.read(self.model.fingerprint)
        kept = rows.select("text", "separator", "answer", "reason").iter_rows()
        return {
            (text, separator, answer)
            for text, separator, answer, reason in kept
            if reason not in FOR_NOW
        }

    def _gather(self, prompts: Sequence[Prompt], skipped: Collection[Prompt]) -> list[LogProbs]:
        rows = self.store.read(self.model.fingerprint).iter_rows(named=True)
        known = {(row["text"], row["separator"], row["answer"]): row for row in rows}
        return [
            LogProbs.without(prompt, TOO_LONG)
            if prompt in skipped
            else to_scores(
                [known[prompt.text, prompt.separator, answer] for answer in prompt.answers]
            )
            for prompt in prompts
        ]

    def _gather_rankings(
        self, prompts: Sequence[RankingPrompt], skipped: Collection[RankingPrompt]
    ) -> list[Ranking]:
        known = Known(self.store.read_rankings(self.model.fingerprint))
        return [
            Ranking.without(prompt, TOO_LONG)
            if prompt in skipped
            else known.ranking(prompt_key(prompt), prompt.targets)
            for prompt in prompts
        ]


def gathered(gather: Callable[[], Gathered], again: Callable[[], None]) -> Gathered:
    """What the store holds; what was damaged since the plan was made is asked again, once.

    Args:
        gather: Reads it; raises KeyError where something is lacking.
        again: Asks what is lacking.

    Raises:
        StoreError: It is lacking all the same.
    """
    try:
        return gather()
    except KeyError:  # a segment was set aside
        again()
    try:
        return gather()
    except KeyError as error:
        raise StoreError(
            "the store no longer holds what was just written to it: look after its disk, and give "
            "the same command again"
        ) from error
