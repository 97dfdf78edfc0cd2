"""What is still to be asked, cut into blocks once and recorded.

A run that was killed computes the very same blocks again, so that not even rounding can differ.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic

from tacit.engine.requests import Request
from tacit.errors import PromptError, StoreError, TooLongError
from tacit.prompts import Prompt
from tacit.publishing import publish
from tacit.rankings import RankingPrompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from tacit.engine.requests import Kind

_STEP = 4096
"""The most prompts whose tokens are counted at once."""


@dataclass(frozen=True, slots=True)
class BlockOf(Generic[Request]):
    """Prompts that are asked together and stored together.

    Args:
        prompts: The prompts.
        tokens: What they cost, in tokens.
    """

    prompts: tuple[Request, ...]
    tokens: int

    @property
    def ended(self) -> int:
        """How many prompts are answered with it."""
        return len(self.prompts)

    @property
    def shares(self) -> list[int]:
        """Its tokens, shared out evenly among the prompts."""
        ends = [self.tokens * at // self.ended for at in range(self.ended + 1)]
        return [end - begin for begin, end in pairwise(ends)]


@dataclass(frozen=True, slots=True)
class PlanOf(Generic[Request]):
    """What is still to be asked.

    Args:
        kind: Of what kind the prompts are.
        blocks: In the order in which they are asked.
        distinct: How many distinct prompts there were, stored ones included, skipped ones not.
        stored: How many of these the store held whole.
        digest: Of the model and all its prompts; recorded blocks are known by it.
        skipped: The prompts that are longer than the model's window, with the error's message.
        whole: Whether each block is asked as a whole, so that answers may depend on it.
    """

    kind: Kind[Request]
    blocks: tuple[BlockOf[Request], ...]
    distinct: int
    stored: int
    digest: str
    skipped: Mapping[Request, str] = field(default_factory=dict)
    whole: bool = True

    @property
    def prompts(self) -> int:
        """How many prompts are to be asked."""
        return sum(len(block.prompts) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """How many tokens they cost."""
        return sum(block.tokens for block in self.blocks)

    def record(self, path: Path) -> None:
        """Records whole blocks, behind those of the same prompts and model that stand there."""
        if not self.whole:
            return
        before = recorded(path, self.digest, self.kind) or []
        known = set(before)
        more = [block for block in self.blocks if block not in known]
        if more:
            _write(path, self, [*before, *more])


Block = BlockOf[Prompt]
Plan = PlanOf[Prompt]
RankingBlock = BlockOf[RankingPrompt]
RankingPlan = PlanOf[RankingPrompt]


def cut(
    prompts: Sequence[Request], costs: Sequence[int], block_tokens: int
) -> list[BlockOf[Request]]:
    """Blocks of texts of like length, the longest first; equal ones in order of their text.

    Prompts of one text and separator stand in one block, where a model computes the text once.
    """
    texts: dict[tuple[str, str], list[int]] = {}
    for i, prompt in enumerate(prompts):
        texts.setdefault((prompt.text, prompt.separator), []).append(i)
    groups = sorted((-sum(costs[i] for i in of), *text, of) for text, of in texts.items())
    blocks: list[BlockOf[Request]] = []
    current: list[int] = []
    tokens = 0
    for negative, *_, of in groups:
        if current and tokens - negative > block_tokens:
            blocks.append(BlockOf(tuple(prompts[j] for j in current), tokens))
            current, tokens = [], 0
        current += of
        tokens -= negative
    if current:
        blocks.append(BlockOf(tuple(prompts[j] for j in current), tokens))
    return blocks


def cut_neighbours(
    prompts: Sequence[Request],
    costs: Callable[[Sequence[Request]], list[int]],
    block_tokens: int,
) -> list[BlockOf[Request]]:
    """Blocks of texts that begin alike, in the order of the texts, for a model that shares that.

    Args:
        prompts: Distinct prompts.
        costs: Tokens per prompt when all that it is given are asked together.
        block_tokens: About how many tokens a block has.
    """
    ordered = sorted(prompts, key=lambda prompt: (prompt.text, prompt.separator))
    blocks: list[list[Request]] = []
    tokens = 0
    for prompt, cost in zip(ordered, in_parts(costs, ordered), strict=True):
        if not blocks or tokens + cost > block_tokens:
            blocks.append([])
            tokens = 0
        blocks[-1].append(prompt)
        tokens += cost
    # Counted anew: a block shares nothing with the one before it.
    return [BlockOf(tuple(of), sum(costs(of))) for of in blocks]


def in_parts(
    costs: Callable[[Sequence[Request]], list[int]], prompts: Sequence[Request]
) -> list[int]:
    """Tokens per prompt, worked out in parts so that memory stays small."""
    parts = (prompts[at : at + _STEP] for at in range(0, len(prompts), _STEP))
    return [cost for part in parts for cost in costs(part)]


def too_long(
    costs: Callable[[Sequence[Request]], list[int]], prompts: Sequence[Request]
) -> dict[Request, str]:
    """Find the prompts that are longer than the model's window, by halving what is refused.

    Args:
        costs: A model's tokens per prompt; raises ``TooLongError`` if any prompt is too long.
        prompts: Distinct prompts.

    Returns:
        The error's message by prompt.
    """
    found: dict[Request, str] = {}
    parts = [prompts[at : at + _STEP] for at in range(0, len(prompts), _STEP)]
    while parts:
        part = parts.pop()
        try:
            costs(part)
        except TooLongError as error:
            if len(part) == 1:
                found[part[0]] = str(error)
                continue
            half = len(part) // 2
            parts += [part[:half], part[half:]]
    return found


def digest_of(fingerprint: str, merged: Iterable[Request], kind: Kind[Request]) -> str:
    """A digest of a model and of all that is asked of it, by which recorded blocks are known."""
    digest = hashlib.sha256(fingerprint.encode())
    for prompt in merged:
        line = json.dumps(list(kind.row(prompt).values()))
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def recorded(path: Path, digest: str, kind: Kind[Request]) -> list[BlockOf[Request]] | None:
    """The blocks recorded under a digest; None where there are none.

    Raises:
        StoreError: The record is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            table = pq.read_table(file)
        if (table.schema.metadata or {}).get(b"digest") != digest.encode():
            return None
        return _blocks(table.to_pylist(), kind)
    except (
        pa.ArrowException,
        LookupError,
        OSError,
        PromptError,
        TypeError,
        ValueError,
    ) as error:
        raise StoreError(f"{path}: the recorded blocks are damaged ({error}); remove it") from error


def _blocks(rows: Iterable[Mapping[str, Any]], kind: Kind[Request]) -> list[BlockOf[Request]]:
    prompts: dict[int, list[Request]] = {}
    tokens = {}
    for row in rows:
        prompts.setdefault(row["block"], []).append(kind.prompt(row))
        tokens[row["block"]] = int(row["tokens"])
    return [BlockOf(tuple(of), tokens[number]) for number, of in prompts.items()]


def _write(path: Path, plan: PlanOf[Request], blocks: Sequence[BlockOf[Request]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {"block": number, "tokens": block.tokens, **plan.kind.row(prompt)}
        for number, block in enumerate(blocks)
        for prompt in block.prompts
    ]
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"digest": plan.digest})

    def write(file: Path) -> None:
        with file.open("wb") as content:  # of a path, Arrow takes none that is not UTF-8
            pq.write_table(table, content, compression="zstd")

    publish(path, write)
