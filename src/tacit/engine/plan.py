"""What is still to be asked, cut into blocks once and recorded.

A run that was killed computes the very same blocks again, so that not even rounding can differ.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tacit.errors import StoreError, TooLongError
from tacit.files import publish
from tacit.requests import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from tacit.requests import Key, Kind, Request


R = TypeVar("R")

_STEP = 4096
"""The most requests whose tokens are counted at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Requests of one kind that are asked together and stored together.

    Args:
        requests: The requests.
        tokens: What they cost, in tokens.
    """

    requests: tuple[Any, ...]
    tokens: int

    @property
    def kind(self) -> Kind[Any, Any]:
        """Of what kind they are."""
        return KINDS[type(self.requests[0])]

    @property
    def whole(self) -> Part:
        """All of it, once it is stored."""
        return Part(self.requests, self.tokens, len(self.requests))

    @property
    def shares(self) -> list[int]:
        """Its tokens, shared out evenly among the requests."""
        several = len(self.requests)
        ends = [self.tokens * at // several for at in range(several + 1)]
        return [end - begin for begin, end in pairwise(ends)]


@dataclass(frozen=True, slots=True)
class Part:
    """What of a plan was stored together.

    Args:
        requests: What was answered: whole requests, or some of their parts.
        tokens: What that cost, in tokens.
        ended: How many requests now have all their answers.
    """

    requests: tuple[Any, ...]
    tokens: int
    ended: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is still to be asked.

    Args:
        asked: What the model is asked so that all can be answered, in the order of the requests.
        merged: The distinct requests of these.
        blocks: What the store lacks, in the order in which it is asked.
        distinct: How many distinct requests there are, stored ones included, skipped ones not.
        stored: How many of the distinct requests the store held whole.
        digest: Of the model and all its requests; recorded blocks are known by it.
        skipped: The requests that are longer than the model's window, with the error's message.
        whole: Whether each block is asked as a whole, so that answers may depend on it.
    """

    asked: Sequence[Request]
    merged: Sequence[Request]
    blocks: tuple[Block, ...]
    distinct: int
    stored: int
    digest: str
    skipped: Mapping[Request, str] = field(default_factory=dict)
    whole: bool = True

    @property
    def prompts(self) -> int:
        """How many requests are to be asked."""
        return sum(len(block.requests) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """How many tokens they cost."""
        return sum(block.tokens for block in self.blocks)

    def shared(self) -> Mapping[type, Mapping[str, Any]]:
        """What rows of the requests refer to by name, by the requests' class."""
        by_class: dict[type, list[Any]] = {}
        for block in self.blocks:
            by_class.setdefault(type(block.requests[0]), []).extend(block.requests)
        return {of: KINDS[of].shared(requests) for of, requests in by_class.items()}

    def record(self, path: Path) -> None:
        """Records whole blocks, behind those of the same requests and model that stand there."""
        if not self.whole:
            return
        before = recorded(path, self.digest, self.merged) or []
        known = set(before)
        more = [block for block in self.blocks if block not in known]
        if more:
            _write(path, self, [*before, *more])


def cut(requests: Sequence[Any], costs: Sequence[int], block_tokens: int) -> list[Block]:
    """Blocks of texts of like length, the longest first; equal ones in order of their text.

    Requests of one text stand in one block, where a model computes the text once.
    """
    texts: dict[tuple[str, ...], list[int]] = {}
    for i, request in enumerate(requests):
        texts.setdefault(KINDS[type(request)].text(request), []).append(i)
    groups = sorted((-sum(costs[i] for i in of), text, of) for text, of in texts.items())
    blocks: list[Block] = []
    current: list[int] = []
    tokens = 0
    for negative, _, of in groups:
        if current and tokens - negative > block_tokens:
            blocks.append(Block(tuple(requests[j] for j in current), tokens))
            current, tokens = [], 0
        current += of
        tokens -= negative
    if current:
        blocks.append(Block(tuple(requests[j] for j in current), tokens))
    return blocks


def cut_neighbours(
    requests: Sequence[R], cost: Callable[[Sequence[R]], list[int]], block_tokens: int
) -> list[Block]:
    """Blocks of texts that begin alike, in the order of the texts, for a model that shares that.

    Args:
        requests: Distinct requests.
        cost: Tokens per request when all that it is given are asked together.
        block_tokens: About how many tokens a block has.
    """
    ordered = sorted(requests, key=lambda one: KINDS[type(one)].text(one))
    blocks: list[list[R]] = []
    tokens = 0
    for request, own in zip(ordered, in_parts(cost, ordered), strict=True):
        if not blocks or tokens + own > block_tokens:
            blocks.append([])
            tokens = 0
        blocks[-1].append(request)
        tokens += own
    # Counted anew: a block shares nothing with the one before it.
    return [Block(tuple(of), sum(cost(of))) for of in blocks]


def in_parts(cost: Callable[[Sequence[R]], list[int]], requests: Sequence[R]) -> list[int]:
    """Tokens per request, worked out in parts so that memory stays small."""
    parts = (requests[at : at + _STEP] for at in range(0, len(requests), _STEP))
    return [tokens for part in parts for tokens in cost(part)]


def too_long(cost: Callable[[Sequence[R]], list[int]], requests: Sequence[R]) -> dict[R, str]:
    """Find the requests that are longer than the model's window, by halving what is refused.

    Args:
        cost: A model's tokens per request; raises ``TooLongError`` if any request is too long.
        requests: Distinct requests.

    Returns:
        The error's message by request.
    """
    found: dict[R, str] = {}
    parts = [requests[at : at + _STEP] for at in range(0, len(requests), _STEP)]
    while parts:
        part = parts.pop()
        try:
            cost(part)
        except TooLongError as error:
            if len(part) == 1:
                found[part[0]] = str(error)
                continue
            half = len(part) // 2
            parts += [part[:half], part[half:]]
    return found


def digest_of(fingerprint: str, merged: Iterable[Request]) -> str:
    """A digest of a model and of all that is asked of it, by which recorded blocks are known."""
    digest = hashlib.sha256(fingerprint.encode())
    for request in merged:
        kind = KINDS[type(request)]
        line = json.dumps([kind.folder, *kind.row(request).values()])
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def recorded(path: Path, digest: str, merged: Sequence[Request]) -> list[Block] | None:
    """The blocks recorded under a digest; None where there are none.

    Args:
        path: The record.
        digest: As ``digest_of`` the merged requests.
        merged: The distinct requests; the record names them by their index.

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
        return _blocks(table, merged)
    except (pa.ArrowException, LookupError, OSError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: the recorded blocks are damaged ({error}); remove it") from error


def group_of(request: Request) -> Key:
    """The key of a request whatever its parts: the beginning of each part's key."""
    return KINDS[type(request)].keys(request)[0][:-1]


def _blocks(table: Any, merged: Sequence[Request]) -> list[Block]:  # noqa: ANN401 - an Arrow table
    requests: dict[int, list[Any]] = {}
    tokens = {}
    columns = [table.column(name).to_pylist() for name in ("block", "tokens", "request", "parts")]
    for block, cost, index, parts in zip(*columns, strict=True):
        if not 0 <= index < len(merged):
            raise ValueError(f"there is no request {index}")
        requests.setdefault(block, []).append(_with_parts(merged[index], parts))
        tokens[block] = int(cost)
    return [Block(tuple(of), tokens[number]) for number, of in requests.items()]


def _with_parts(request: Any, parts: Sequence[int] | None) -> Any:  # noqa: ANN401 - any request
    """A request with some of its parts, by their indices among its keys; None for all."""
    if parts is None:
        return request
    kind = KINDS[type(request)]
    keys = kind.keys(request)
    found = kind.without(request, set(keys) - {keys[part] for part in parts})
    if found is None:
        raise ValueError("it names no part of a request")
    return found


def _write(path: Path, plan: Plan, blocks: Sequence[Block]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    indices = {(type(one), group_of(one)): index for index, one in enumerate(plan.merged)}
    columns: dict[str, list[Any]] = {"block": [], "tokens": [], "request": [], "parts": []}
    for number, block in enumerate(blocks):
        for request in block.requests:
            index = indices[type(request), group_of(request)]
            columns["block"].append(number)
            columns["tokens"].append(block.tokens)
            columns["request"].append(index)
            columns["parts"].append(_parts(request, plan.merged[index]))
    schema = pa.schema(
        {
            "block": pa.int64(),
            "tokens": pa.int64(),
            "request": pa.int64(),
            "parts": pa.list_(pa.int64()),
        },
        metadata={"digest": plan.digest},
    )
    table = pa.table(columns, schema=schema)

    def write(file: Path) -> None:
        with file.open("wb") as content:  # of a path, Arrow takes none that is not UTF-8
            pq.write_table(table, content, compression="zstd")

    publish(path, write)


def _parts(request: Request, whole: Request) -> list[int] | None:
    """Which of a merged request's parts a request has; None for all."""
    if request == whole:
        return None
    kind = KINDS[type(request)]
    indices = {key: index for index, key in enumerate(kind.keys(whole))}
    return [indices[key] for key in kind.keys(request)]


class Executor(Protocol):
    """Asks blocks of one model and writes what it answers to the engine's store."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What a manifest says of them: plain values, ready for JSON."""
        ...

    @property
    def size(self) -> int:
        """How many blocks are under way at once."""
        ...

    def execute(self, plan: Plan) -> Generator[Part]:
        """Has all blocks asked; gives each as soon as it is stored, in whatever order that is.

        When it is closed, the others are asked no longer.

        Raises:
            ScoringError: The model failed, or no worker is left.
            StoreError: The store cannot be written.
        """
        ...
