"""Cut requests into blocks, and record the blocks of a plan in a file.

A resumed run divides the requests into the same blocks as the interrupted run, so its results are
identical to those of an uninterrupted run, even in rounding.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.errors import StoreError, TooLongError
from tacit.files import publish_bytes
from tacit.requests import KINDS, Key, Request
from tacit.requests.kind import Block

if TYPE_CHECKING:
    import polars as pl

R = TypeVar("R")

_STEP = 4096
"""Maximum number of requests whose tokens are counted in one call."""

_COLUMNS = ("block", "tokens", "request", "parts")


def cut(requests: Sequence[Any], costs: Sequence[int], block_tokens: int) -> list[Block]:
    """Split requests into blocks; texts with the most tokens come first."""
    texts: dict[Key, list[int]] = {}
    for i, request in enumerate(requests):
        texts.setdefault(KINDS[type(request)].key(request)[:2], []).append(i)
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


def in_parts(cost: Callable[[Sequence[R]], list[int]], requests: Sequence[R]) -> list[int]:
    """Return the number of tokens of each request; count in batches, to limit memory use."""
    parts = (requests[at : at + _STEP] for at in range(0, len(requests), _STEP))
    return [tokens for part in parts for tokens in cost(part)]


def too_long(cost: Callable[[Sequence[R]], list[int]], requests: Sequence[R]) -> dict[R, str]:
    """Find the requests that exceed the context window, by repeatedly halving batches."""
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
    """Return a hash of a model's fingerprint and of requests, which identifies a recorded plan."""
    asked = [
        (kind.folder, *kind.key(request), getattr(request, kind.parts))
        for request in merged
        for kind in (KINDS[type(request)],)
    ]
    return hashlib.sha256(json.dumps([fingerprint, asked]).encode()).hexdigest()


def recorded(path: Path, digest: str, merged: Sequence[Request]) -> list[Block]:
    """Read a plan's recorded blocks of requests."""
    import polars as pl

    if not path.is_file():
        return []
    try:
        with path.open("rb") as file:  # polars would expand * and [1] in a path
            if pl.read_parquet_metadata(file).get("digest") != digest:
                return []
            file.seek(0)
            return _blocks(pl.read_parquet(file), merged)
    # polars may panic on a malformed file, and a panic is not a subclass of Exception.
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        LookupError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        raise StoreError(
            f"{path}: the recorded blocks are damaged ({error}); remove this file"
        ) from error


def _blocks(table: pl.DataFrame, merged: Sequence[Request]) -> list[Block]:
    requests: dict[int, list[Any]] = {}
    tokens = {}
    for block, cost, index, parts in table.select(_COLUMNS).iter_rows():
        if not 0 <= index < len(merged):
            raise ValueError(f"request {index} does not exist")
        requests.setdefault(block, []).append(_with_parts(merged[index], parts))
        tokens[block] = int(cost)
    return [Block(tuple(of), tokens[number]) for number, of in requests.items()]


def _with_parts(request: Any, parts: Sequence[int] | None) -> Any:  # noqa: ANN401 - any request
    """Return a request with only the parts at the given indices; None stands for all parts."""
    if parts is None:
        return request
    kind = KINDS[type(request)]
    whole = kind.parts_of(request)
    if not parts:
        raise ValueError("a request has none of the recorded parts")
    return kind.with_parts(request, [whole[part] for part in parts])


def record(path: Path, digest: str, merged: Sequence[Request], more: Sequence[Block]) -> None:
    """Write a plan's blocks of requests to a file, after those that it contains."""
    import polars as pl

    before = recorded(path, digest, merged)
    blocks = list(dict.fromkeys([*before, *more]))
    if blocks == before:
        return
    indices = {(type(one), KINDS[type(one)].key(one)): index for index, one in enumerate(merged)}
    rows = [
        (number, block.tokens, index, _parts(request, merged[index]))
        for number, block in enumerate(blocks)
        for request in block.requests
        for index in (indices[block.of, KINDS[block.of].key(request)],)
    ]
    types = (pl.Int64, pl.Int64, pl.Int64, pl.List(pl.Int64))
    content = io.BytesIO()
    table = pl.DataFrame(rows, dict(zip(_COLUMNS, types, strict=True)), orient="row")
    table.write_parquet(content, metadata={"digest": digest})
    publish_bytes(path, content.getvalue())


def _parts(request: Request, whole: Request) -> list[int] | None:
    """Return the index in ``whole`` of each part of ``request`` (such as an answer)."""
    if request == whole:
        return None
    kind = KINDS[type(request)]
    indices = {part: index for index, part in enumerate(kind.parts_of(whole))}
    return [indices[part] for part in kind.parts_of(request)]
