"""The local engine for models that are known by their replies: from prompts to votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engine import voted
from tacit.engine.ask import gathered
from tacit.engine.rechecks import rechecking
from tacit.errors import ScoringError
from tacit.models.chat_samples import Draws, votes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.engine.pace import Pace
    from tacit.engine.store import Store
    from tacit.models.chat_samples import SamplesReplies
    from tacit.prompts import Prompt, Votes

BLOCK_DRAWS = 128
"""So many replies, about, are paid for between two writes to the store."""


@dataclass(frozen=True, slots=True)
class DrawBlock:
    """Replies that are asked for together and stored together.

    Args:
        prompts: Which replies to which texts.
        tokens: How many replies they are, as a measure of the work.
        ended: How many texts have all replies of the block with it.
    """

    prompts: tuple[Draws, ...]
    tokens: int
    ended: int


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """Which replies are still to be asked for.

    Args:
        blocks: In the order in which they are asked for.
        distinct: How many distinct texts there were, stored ones included.
        stored: For how many of these the store held all replies.
    """

    blocks: tuple[DrawBlock, ...]
    distinct: int
    stored: int

    @property
    def prompts(self) -> int:
        """How many texts lack replies; one that two blocks share counts in each."""
        return sum(block.ended for block in self.blocks)

    @property
    def tokens(self) -> int:
        """How many replies are lacking."""
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True)
class VotingEngine:
    """Asks one model for replies, keeps them, and reads votes off them.

    Args:
        model: The model.
        store: Where replies are kept.
        pace: In what parts a block is stored; None is as a whole.
        together: How many replies to a text one request asks for at most, which no part parts.
    """

    model: SamplesReplies
    store: Store
    pace: Pace | None = None
    together: int = 1

    def plan(self, prompts: Sequence[Prompt]) -> DrawPlan:
        """Which replies the store does not hold, in blocks.

        A prompt has the same replies whatever its answers and its separator are.
        """
        texts = dict.fromkeys(prompt.text for prompt in prompts)
        held = voted.known(self.store.read_samples(self.model.fingerprint))
        missing = {
            text: tuple(n for n in range(self.model.samples) if (text, n) not in held)
            for text in texts
        }
        lacking = [Draws(text, numbers) for text, numbers in missing.items() if numbers]
        return DrawPlan(tuple(_blocks(lacking)), len(texts), len(texts) - len(lacking))

    def ask(
        self,
        prompts: Sequence[Prompt],
        plan: DrawPlan | None = None,
        progress: Callable[[DrawBlock], None] | None = None,
    ) -> list[Votes]:
        """The votes of all prompts, in their order; replies that the store lacks are asked for.

        Args:
            prompts: What to ask.
            plan: What ``plan`` made of the same prompts; made now when it is not given.
            progress: Called with each block, or part of one, that was stored.

        Raises:
            ScoringError: The model failed; what was replied before is in the store.
            StoreError: The store cannot be read or written.
        """
        self._ask(plan or self.plan(prompts), progress)
        return gathered(
            lambda: self._gather(prompts), again=lambda: self._ask(self.plan(prompts), None)
        )

    def _ask(self, plan: DrawPlan, progress: Callable[[DrawBlock], None] | None) -> None:
        parts = (part for block in plan.blocks for part in self._parts(block))
        with rechecking(self.model, self.store) as published:
            for part in parts:
                samples = self.model.sample(part.prompts)
                if [len(some) for some in samples] != [len(one.numbers) for one in part.prompts]:
                    raise ScoringError(
                        f"{self.model.name} gave another number of replies than asked"
                    )
                self.store.append_samples(self.model.description, part.prompts, samples)
                published()
                if progress:
                    progress(part)

    def _parts(self, block: DrawBlock) -> Iterator[DrawBlock]:
        """What is stored at once of a block: so many requests."""
        if self.pace is None:
            yield block
            return
        last = {draws.text: draws.numbers[-1] for draws in block.prompts}
        for some in self.pace.parts(_requests(block.prompts, self.together)):
            ended = sum(draws.numbers[-1] == last[draws.text] for draws in some)
            yield DrawBlock(tuple(some), sum(len(draws.numbers) for draws in some), ended)

    def _gather(self, prompts: Sequence[Prompt]) -> list[Votes]:
        known = voted.known(self.store.read_samples(self.model.fingerprint))
        numbers = range(self.model.samples)
        return [
            votes_of([known[prompt.text, number] for number in numbers], prompt.answers)
            for prompt in prompts
        ]


def _requests(several: Sequence[Draws], together: int) -> list[Draws]:
    """What is asked for in a request each."""
    return [
        Draws(draws.text, draws.numbers[at : at + together])
        for draws in several
        for at in range(0, len(draws.numbers), together)
    ]


def _blocks(lacking: Sequence[Draws]) -> Iterator[DrawBlock]:
    """Blocks of about as many replies; a text that takes more of them alone is split."""
    block: list[Draws] = []
    size = 0
    for draws in lacking:
        for at in range(0, len(draws.numbers), BLOCK_DRAWS):
            part = Draws(draws.text, draws.numbers[at : at + BLOCK_DRAWS])
            if block and size + len(part.numbers) > BLOCK_DRAWS:
                yield DrawBlock(tuple(block), size, len(block))
                block, size = [], 0
            block.append(part)
            size += len(part.numbers)
    if block:
        yield DrawBlock(tuple(block), size, len(block))
