"""The local engine for models that are known by their replies: from prompts to votes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engine import ask, voted
from tacit.engine.ask import gathered
from tacit.engine.rechecks import rechecking
from tacit.errors import ScoringError
from tacit.models.chat_samples import Draws, votes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.engine.store import Store
    from tacit.models.chat_samples import Sample, SamplesReplies
    from tacit.prompts import Prompt, Votes


@dataclass(frozen=True, slots=True)
class Drawn:
    """Replies that were stored together.

    Args:
        ended: How many texts now have all their replies.
        tokens: How many replies they are, as a measure of the work.
    """

    ended: int
    tokens: int


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """Which replies are still to be asked for.

    Args:
        draws: In the order in which they are asked for; each text once.
        distinct: How many distinct texts there were, stored ones included.
        stored: For how many of these the store held all replies.
    """

    draws: tuple[Draws, ...]
    distinct: int
    stored: int

    @property
    def prompts(self) -> int:
        """How many texts lack replies."""
        return len(self.draws)

    @property
    def tokens(self) -> int:
        """How many replies are lacking."""
        return sum(len(each.numbers) for each in self.draws)


@dataclass(frozen=True)
class VotingEngine:
    """Asks one model for replies, keeps them, and reads votes off them.

    Replies are asked for without a pause, and stored every ``ask.PERIOD`` seconds.

    Args:
        model: The model.
        store: Where replies are kept.
    """

    model: SamplesReplies
    store: Store

    def plan(self, prompts: Sequence[Prompt]) -> DrawPlan:
        """Which replies the store does not hold.

        A prompt has the same replies whatever its answers and its separator are.
        """
        texts = dict.fromkeys(prompt.text for prompt in prompts)
        held = voted.known(self.store.read_samples(self.model.fingerprint))
        missing = {
            text: tuple(n for n in range(self.model.samples) if (text, n) not in held)
            for text in texts
        }
        lacking = [Draws(text, numbers) for text, numbers in missing.items() if numbers]
        return DrawPlan(tuple(lacking), len(texts), len(texts) - len(lacking))

    def ask(
        self,
        prompts: Sequence[Prompt],
        plan: DrawPlan | None = None,
        progress: Callable[[Drawn], None] | None = None,
    ) -> list[Votes]:
        """The votes of all prompts, in their order; replies that the store lacks are asked for.

        Args:
            prompts: What to ask.
            plan: What ``plan`` made of the same prompts; made now when it is not given.
            progress: Called with what was stored together.

        Raises:
            ScoringError: The model failed; what was replied before is in the store.
            StoreError: The store cannot be read or written.
        """
        self._ask(plan or self.plan(prompts), progress)
        return gathered(
            lambda: self._gather(prompts), again=lambda: self._ask(self.plan(prompts), None)
        )

    def _ask(self, plan: DrawPlan, progress: Callable[[Drawn], None] | None) -> None:
        left = {draws.text: len(draws.numbers) for draws in plan.draws}
        asking = closing(self.model.stream(plan.draws, ask.PERIOD))
        with rechecking(self.model, self.store) as published, asking as parts:
            for part in parts:
                self._keep([draws for draws, _ in part], [samples for _, samples in part])
                published()
                if progress:
                    progress(_drawn([draws for draws, _ in part], left))

    def _keep(self, draws: Sequence[Draws], samples: Sequence[Sequence[Sample]]) -> None:
        """Stores replies.

        Raises:
            ScoringError: They are not as many as were asked for.
            StoreError: They cannot be written.
        """
        if [len(some) for some in samples] != [len(one.numbers) for one in draws]:
            raise ScoringError(f"{self.model.name} gave another number of replies than asked")
        self.store.append_samples(self.model.description, draws, samples)

    def _gather(self, prompts: Sequence[Prompt]) -> list[Votes]:
        known = voted.known(self.store.read_samples(self.model.fingerprint))
        numbers = range(self.model.samples)
        return [
            votes_of([known[prompt.text, number] for number in numbers], prompt.answers)
            for prompt in prompts
        ]


def _drawn(some: Sequence[Draws], left: dict[str, int]) -> Drawn:
    """What was stored, given how many replies each text was lacking; that is brought up to date."""
    ended = replies = 0
    for draws in some:
        left[draws.text] -= len(draws.numbers)
        ended += not left[draws.text]
        replies += len(draws.numbers)
    return Drawn(ended, replies)
