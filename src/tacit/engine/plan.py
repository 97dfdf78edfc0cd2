"""What is still to be asked, cut into blocks once and recorded.

A run that was killed computes the very same blocks again, so that not even rounding can differ.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import StoreError
from tacit.prompts import Prompt
from tacit.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

Held = tuple[str, str, str]
"""What the store is keyed by: text, separator, answer."""


@dataclass(frozen=True, slots=True)
class Block:
    """Prompts that are asked together and stored together.

    Args:
        prompts: The prompts.
        tokens: What they cost, in tokens.
    """

    prompts: tuple[Prompt, ...]
    tokens: int

    def is_held(self, held: Collection[Held]) -> bool:
        """Whether every answer of every prompt is stored."""
        return all(less(prompt, held) is None for prompt in self.prompts)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is still to be asked.

    Args:
        blocks: In the order in which they are asked.
        distinct: How many distinct prompts there were, stored ones included.
        stored: How many of these the store held whole.
        digest: Of the model and all its prompts; recorded blocks are known by it.
    """

    blocks: tuple[Block, ...]
    distinct: int
    stored: int
    digest: str

    @property
    def prompts(self) -> int:
        """How many prompts are to be asked."""
        return sum(len(block.prompts) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """How many tokens they cost."""
        return sum(block.tokens for block in self.blocks)

    def record(self, path: Path) -> None:
        """Records the blocks, behind those of the same prompts and model that stand there."""
        before = recorded(path, self.digest) or []
        known = set(before)
        more = [block for block in self.blocks if block not in known]
        if more:
            _write(path, self.digest, [*before, *more])


def merge(prompts: Iterable[Prompt]) -> list[Prompt]:
    """The distinct prompts; those of one text and separator are one, with all their answers."""
    answers: dict[tuple[str, str], dict[str, None]] = {}
    for prompt in prompts:
        answers.setdefault((prompt.text, prompt.separator), {}).update(
            dict.fromkeys(prompt.answers)
        )
    return [Prompt(text, tuple(of), separator) for (text, separator), of in answers.items()]


def less(prompt: Prompt, held: Collection[Held]) -> Prompt | None:
    """The prompt without the answers that are stored; None when all are."""
    lacking = tuple(a for a in prompt.answers if (prompt.text, prompt.separator, a) not in held)
    return Prompt(prompt.text, lacking, prompt.separator) if lacking else None


def cut(prompts: Sequence[Prompt], costs: Sequence[int], block_tokens: int) -> list[Block]:
    """Blocks of prompts of like length, the longest first; equal ones in order of their text."""
    order = sorted(
        range(len(prompts)), key=lambda i: (-costs[i], prompts[i].text, prompts[i].separator)
    )
    blocks: list[Block] = []
    current: list[int] = []
    tokens = 0
    for i in order:
        if current and tokens + costs[i] > block_tokens:
            blocks.append(Block(tuple(prompts[j] for j in current), tokens))
            current, tokens = [], 0
        current.append(i)
        tokens += costs[i]
    if current:
        blocks.append(Block(tuple(prompts[j] for j in current), tokens))
    return blocks


def digest_of(fingerprint: str, merged: Iterable[Prompt]) -> str:
    """A digest of a model and of all that is asked of it, by which recorded blocks are known."""
    digest = hashlib.sha256(fingerprint.encode())
    for prompt in merged:
        line = json.dumps([prompt.text, prompt.separator, prompt.answers])
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def recorded(path: Path, digest: str) -> list[Block] | None:
    """The blocks recorded under a digest; None where there are none.

    Raises:
        StoreError: The record is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        table = pq.read_table(path)
        if (table.schema.metadata or {}).get(b"digest") != digest.encode():
            return None
        rows = table.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{path}: the recorded blocks are damaged ({error}); remove it") from error
    prompts: dict[int, list[Prompt]] = {}
    tokens = {}
    for row in rows:
        prompt = Prompt(row["text"], tuple(row["answers"]), row["separator"])
        prompts.setdefault(row["block"], []).append(prompt)
        tokens[row["block"]] = row["tokens"]
    return [Block(tuple(of), tokens[number]) for number, of in prompts.items()]


def _write(path: Path, digest: str, blocks: Sequence[Block]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "block": number,
            "tokens": block.tokens,
            "text": prompt.text,
            "separator": prompt.separator,
            "answers": list(prompt.answers),
        }
        for number, block in enumerate(blocks)
        for prompt in block.prompts
    ]
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"digest": digest})
    publish(path, lambda file: pq.write_table(table, file, compression="zstd"))
