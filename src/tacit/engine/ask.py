"""The local engine: from prompts to scores, asking a model only what the store does not hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engine.plan import Plan, cut, digest_of, less, merge, recorded
from tacit.engine.store import Store, to_scores
from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tacit.engine.plan import Block, Held
    from tacit.models.base import LanguageModel
    from tacit.prompts import LogProbs, Prompt

BLOCK_TOKENS = 16384
_HAIR = 1e-3


@dataclass(frozen=True)
class Engine:
    """Asks one model, and keeps what it answers.

    Args:
        model: The model.
        store: Where scores are kept.
        block_tokens: About how many tokens are computed between two writes to the store.
    """

    model: LanguageModel
    store: Store
    block_tokens: int = BLOCK_TOKENS

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
            progress: Called with each block that was stored.

        Raises:
            PromptError: The model cannot score a prompt; nothing was asked then.
            ScoringError: The model failed; what was scored before is in the store.
            StoreError: The store cannot be read or written.
        """
        plan = plan or self.plan(prompts)
        for block in plan.blocks:
            self.store.append(self.model.description, block.prompts, self._score(block))
            if progress:
                progress(block)
        return self._gather(prompts)

    def plan(self, prompts: Sequence[Prompt], path: Path | None = None) -> Plan:
        """Cuts what the store does not hold into blocks, and checks that all can be scored.

        Args:
            prompts: What will be asked.
            path: Where ``Plan.record`` records the blocks. Those that stand there already, of the
                same prompts and model, are taken again, less the ones that the store holds.

        Raises:
            PromptError: The model cannot score a prompt.
        """
        merged = merge(prompts)
        digest = digest_of(self.model.fingerprint, merged)
        held = self._held()
        lacking = [rest for prompt in merged if (rest := less(prompt, held))]
        before = recorded(path, digest) if path else None
        todo = [block for block in before or () if not block.is_held(held)]
        planned = {(p.text, p.separator, a) for b in todo for p in b.prompts for a in p.answers}
        more = [rest for prompt in lacking if (rest := less(prompt, planned))]
        todo += cut(more, self._costs(more), self.block_tokens)
        return Plan(tuple(todo), len(merged), len(merged) - len(lacking), digest)

    def _costs(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens per prompt, worked out in parts so that memory stays small."""
        step = 4096
        return [
            cost
            for at in range(0, len(prompts), step)
            for cost in self.model.tokens(prompts[at : at + step])
        ]

    def _score(self, block: Block) -> list[LogProbs]:
        scores = self.model.score(block.prompts)
        for prompt, score in zip(block.prompts, scores, strict=True):
            if tuple(one.answer for one in score.answers) != prompt.answers:
                raise ScoringError(
                    f"{self.model.name} scored other answers than {prompt.shown} has"
                )
            for one in score.answers:
                # A sum of rounded logarithms may lie a hair above 0.
                if one.logprob is not None and not -math.inf < one.logprob < _HAIR:
                    raise ScoringError(
                        f"{self.model.name} gave {one.answer!r} to {prompt.shown} the value "
                        f"{one.logprob}, which is no log-probability"
                    )
        return scores

    def _held(self) -> set[Held]:
        frame = self.store.read(self.model.fingerprint)
        return set(frame.select("text", "separator", "answer").iter_rows())

    def _gather(self, prompts: Sequence[Prompt]) -> list[LogProbs]:
        rows = self.store.read(self.model.fingerprint).iter_rows(named=True)
        known = {(row["text"], row["separator"], row["answer"]): row for row in rows}
        return [
            to_scores([known[prompt.text, prompt.separator, answer] for answer in prompt.answers])
            for prompt in prompts
        ]
