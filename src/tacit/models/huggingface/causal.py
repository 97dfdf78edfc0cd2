"""Causal language models: GPT-2, OPT, GPT-NeoX, Llama and others of AutoModelForCausalLM.

Prompts are encoded once and divided into blocks; the inputs of a block are divided into prefix
trees, which are packed, and rows; passes return the log-probabilities of each answer's tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from operator import attrgetter, gt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.errors import ModelError, ScoringError
from tacit.models.huggingface.alignment import Filled, Tokens, bare, tokenize
from tacit.models.huggingface.encoding import Encoder, Inputs, beginning, fill
from tacit.models.huggingface.local import Checkpoint
from tacit.models.huggingface.packing import (
    Bools,
    Ints,
    Pack,
    Rows,
    Tree,
    cut_neighbours,
)
from tacit.models.huggingface.passes import Floats, totals
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.self_check import (
    ALONE,
    DEPTH,
    Comparison,
    failed,
    made_up,
    read_often,
)
from tacit.models.huggingface.vocabulary import Frame
from tacit.requests import Prompt, Scores
from tacit.requests.kind import Block

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

SCORER = "causal-2"

PACK_TOKENS = 1024
"""Maximum tokens per pack (prompts in one row); in some models, longer packs are slow."""

_LEAST_PACK = 32

_CHECK, _LONGEST_CHECK = 72, 320
"""The usual and the greatest length in tokens of a pack for the check at load."""

_KEPT = 32 * 2**20
"""The most tokens of inputs that a plan keeps; those of a longer plan are encoded again."""

_STEP = 4096
"""The number of prompts whose tokens are counted in one call, which limits memory."""

_PACKED, _CACHED = "packed", "cached prefix"
_WITHOUT = {
    _PACKED: "each prompt is computed separately, which is slow",
    _CACHED: "a long prefix that prompts share is recomputed for every pack, which is slow",
}

_LOCAL = (
    "sliding_window",
    "sliding_window_size",
    "window_size",
    "attention_chunk_size",
    "attention_window_size",
    "local_attention",
)


class Work(NamedTuple):
    """Inputs to compute: a tree for each pack, and those to pad.

    ``costs`` is the number of tokens per prompt, where tokens that prompts share are counted once.
    The other fields belong to the answers: the number of tokens, whether the answer is spanned,
    and whether the tokenizer knows all its tokens.
    """

    trees: Sequence[Tree]
    rest: Rows
    costs: Ints
    tokens: Ints
    spanned: Bools
    writable: Bools


class CausalModel(RankingModel):
    """A model that scores answers, and ranks words, as continuations of a text."""

    kind = "causal"

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int, *, packing: bool = True) -> None:
        super().__init__(checkpoint, batch_tokens, use_cache=False)
        # The output of a template has special tokens; the user's text in it has none.
        chat = self._chat
        self._reader = bare(checkpoint.tokenizer, reads_specials=True) if chat else self._bare
        self._begin = chat.begin if chat else beginning
        self._encoder = Encoder(self.name, self._reader, self._specials, self._begin)
        self._wants_packs = packing
        self._local = _local_window(checkpoint.model.config)
        limits = (self._local and self._local - 1), self._passes.budget.apart
        self._longest = min([PACK_TOKENS, *filter(None, limits)])
        self._settle()
        if packing and not self.shares_prefixes:
            self._warn(_WITHOUT[_PACKED], _PACKED)

    @property
    def description(self) -> dict[str, Any]:
        """The model's description for a manifest, with details of packing."""
        refused = self._checks.refused.get(_PACKED) if self._wants_packs else "turned off"
        return {**super().description, "packs": self.shares_prefixes, "not_packed": refused}

    @property
    def shares_prefixes(self) -> bool:
        """Whether prompts are packed."""
        return self._wants_packs and _PACKED not in self._checks.refused

    def blocks(self, requests: Sequence[Any], tokens: int) -> list[Block] | None:
        """Encode prompts, and cut them into blocks of similar ones. See ``CutsBlocks.blocks``."""
        if not self.shares_prefixes or not isinstance(requests[0], Prompt):
            return None
        prompts = sorted(requests, key=attrgetter("text", "separator"))
        inputs = self._encode(prompts)
        starts = [*range(0, len(prompts), _STEP), len(prompts)]
        costs = np.concatenate([self._work(inputs, *part).costs for part in pairwise(starts)])
        first = np.searchsorted(inputs.prompt, np.arange(len(prompts)))
        longest = np.maximum.reduceat(np.diff(inputs.starts), first)
        blocks = []
        for begin, end in cut_neighbours(costs, longest, tokens):
            # Counted again, because a block shares no prefix with the one before.
            work = self._work(inputs, begin, end)
            kept = work if len(inputs.ids) <= _KEPT else None
            blocks.append(Block(tuple(prompts[begin:end]), int(work.costs.sum()), kept))
        return blocks

    def prepare(self, block: Block) -> Callable[[], list[Any]]:
        """Pack a block's prompts. See ``CutsBlocks.prepare``."""
        prompts, work = block.requests, block.prepared
        if not isinstance(prompts[0], Prompt):
            return partial(self.answer, prompts)
        if work is None:
            work = self._work(self._encode(prompts), 0, len(prompts))
        return partial(self._compute, prompts, work, list(map(Pack.of, work.trees)))

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        costs: list[int] = self._work(self._encode(prompts), 0, len(prompts)).costs.tolist()
        return costs

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return self.prepare(Block(tuple(prompts), 0))() if prompts else []

    def _compute(
        self, prompts: Sequence[Prompt], work: Work, packs: Sequence[Pack]
    ) -> list[Scores]:
        """Compute the scores; if a way to compute is refused by now, in another way."""
        checks, passes, ways = self._checks, self._passes, set(map(_path_of, packs))
        if ways & checks.refused.keys():
            return self._score(prompts)
        new = [pack for pack in packs if any(map(gt, self._sizes(pack), checks.packed))]
        found = passes.score_padded(work.rest) if len(work.rest) else []
        try:
            for prefix, own in groupby(packs, attrgetter("tree.prefix")):
                found += passes.score_packed(
                    list(own), passes.keys_and_values(prefix) if prefix else None
                )
            logprobs = totals(found, len(work.tokens))
            for size in range(len(checks.packed) if new else 0):
                self._confirm(max(new, key=lambda pack: pack.sizes[size]), logprobs)
        except ScoringError as error:
            if not new:
                raise
            way = _CACHED if _CACHED in map(_path_of, new) else _PACKED
            checks.refused[way] = failed(error)
        if new:
            checks.save(checks)
        refused = ways & checks.refused.keys()
        for way in refused:
            self._warn(_WITHOUT[way], way)
        if refused:
            return self._score(prompts)
        return self._scored(prompts, work.tokens, work.spanned, work.writable, logprobs)

    def _confirm(self, pack: Pack, logprobs: Floats) -> None:
        """Compare some inputs of a pack larger than those checked with the same inputs alone."""
        checks, rows, way = self._checks, pack.tree.rows, _path_of(pack)
        if way in checks.refused or not any(map(gt, self._sizes(pack), checks.packed)):
            return
        some = {int(rows.lengths.argmax()), int(pack.spans.argmax()), len(rows) - 1}
        few = rows.take(np.array(sorted(some)))
        own = np.unique(few.reads.answer)
        score = self._row_scorer(few, len(logprobs))
        comparison = Comparison(checks, self._model, len(few), score)
        if comparison.measure(way, lambda: logprobs[own], own):
            checks.packed = list(map(max, self._sizes(pack), checks.packed))

    def _sizes(self, pack: Pack) -> list[int]:
        """Return the sizes of a pack as it is computed: in parts, if memory has run out."""
        sizes: list[int] = np.minimum(pack.sizes, self._passes.budget.tokens).tolist()
        return sizes

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        (answer,) = self._encode([prompt]).of(0)
        assert answer  # noqa: S101 - or it would have been refused
        return [("input", answer.ids, range(answer.begin, answer.end))]

    def _work(self, inputs: Inputs, begin: int, end: int) -> Work:
        """Divide the inputs of consecutive prompts into those to pack, and distinct ones to pad."""
        own = slice(*np.searchsorted(inputs.prompt, (begin, end)).tolist())
        rows, prompt = inputs.rows(own), inputs.prompt[own] - begin
        # With a limit of 0, all inputs are computed in padded batches.
        limit = min(self._longest, self._passes.budget.tokens) if self.shares_prefixes else 0
        is_near = rows.lengths <= limit
        near = Tree.of(rows.take(np.flatnonzero(is_near)))
        rest = Tree.of(rows.take(np.flatnonzero(~is_near))).rows
        whole = [near] if _CACHED in self._checks.refused else near.by_prefix(PACK_TOKENS)
        length = min(PACK_TOKENS, self._passes.budget.tokens)
        trees = [pack for tree in whole for pack in tree.cut(length)]
        costs = np.zeros(end - begin, np.int64)
        for one in [Tree(rest, np.zeros_like(rest.lengths)), *trees]:
            # A row that several prompts read counts for any one of them.
            owner = np.zeros(len(one.rows), np.int64)
            owner[one.rows.reads.row] = prompt[one.rows.reads.answer]
            np.add.at(costs, owner, one.rows.lengths - one.shared)
        writable = np.ones(len(rows), bool)
        writable[rows.reads.answer[rows.reads.token == self._unknown]] = False
        return Work(trees, rest, costs, inputs.tokens[own], inputs.spanned[own], writable)

    def _encode(self, prompts: Sequence[Prompt]) -> Inputs:
        inputs = self._encoder.encode(prompts)
        for number in inputs.prompt[inputs.tokens == 0][:1].tolist():
            tokenize(self._reader, fill(prompts[number], self._begin))  # raises with the reason
        wrong = np.maximum.reduceat(inputs.ids, inputs.starts[:-1]) >= self._vocabulary
        if self._window is not None:
            wrong |= np.diff(inputs.starts) > self._window
        for number in inputs.prompt[wrong][:1].tolist():
            self._all_fit(prompts[number], inputs.of(number))
        return inputs

    def _first_filled(self, prompt: Prompt) -> Filled:
        return fill(prompt, self._begin)[0]

    def _written(self, prompts: Sequence[Prompt]) -> list[Sequence[Tokens | None]]:
        inputs = self._encoder.encode(prompts)
        written = [inputs.of(number) for number in range(len(prompts))]
        for prompt, answers in zip(prompts, written, strict=True):
            self._all_fit(prompt, answers)
        return list(written)

    def _positions_of(self, prompts: Sequence[tuple[Prompt, Frame]]) -> list[ReadPosition]:
        return [ReadPosition(before, len(before) - 1) for _, (before, _after) in prompts]

    @property
    def _check_length(self) -> int:
        """The length in tokens of a pack for the check at load."""
        length = (self._local or 0) + 64
        length = length if length <= _LONGEST_CHECK else _CHECK
        return min(length, PACK_TOKENS, self._passes.budget.tokens)

    def _check_at_load(self) -> None:
        depth = min(self._longest, self._window or DEPTH, DEPTH)
        made = made_up(self._stream, self._specials.before, depth, self._check_length)
        begun = made[2][: max(1, depth // 2)]
        rows = read_often([*made[:ALONE], begun, *made[ALONE:]], ALONE + 1)
        of = [np.flatnonzero(rows.reads.row == number) for number in range(ALONE + 1)]
        score = self._row_scorer(rows, len(rows.reads.row))
        comparison = self._compared(ALONE, score)
        both, same = np.concatenate([of[1], of[ALONE]]), of[2][: len(of[ALONE])]
        if comparison.measure(
            "padded", lambda: score([[1, ALONE]])[both], np.concatenate([of[1], same])
        ):
            self._check_packs(comparison, rows, of[:ALONE])
            return
        off = float(np.abs(score([[ALONE]])[of[ALONE]] - comparison.exact[same]).max())
        if not off <= self._checks.limit:
            raise ModelError(
                f"{self.name}: its log-probabilities depend on later tokens, by {off:.2g} nats, so "
                "it is not a causal model (an encoder without is_decoder in its config?)"
            )
        self._checks.refused[_PACKED] = "its inputs cannot be computed in one batch"

    def _check_packs(self, comparison: Comparison, rows: Rows, of: Sequence[Ints]) -> None:
        """Measure the error of a batch of two packs, one of all rows and one of two of them."""
        refused, length = self._checks.refused, self._check_length
        if not self._wants_packs:
            return
        if "position_ids" not in inspect.signature(self._model.forward).parameters:
            refused[_PACKED] = "the model takes no position_ids"
            return
        if length < _LEAST_PACK:
            refused[_PACKED] = f"a forward pass takes only {length} tokens"
        if _PACKED in refused:
            return
        answers = len(rows.reads.row)
        two = rows.take(np.arange(2))
        two = replace(two, reads=two.reads._replace(answer=two.reads.answer + answers))
        trees = [Tree.of(some).cut(2 * max(length, DEPTH)) for some in (rows, two)]
        long, short = (list(map(Pack.of, some)) for some in trees)
        self._checks.packed = np.max([pack.sizes for pack in long], axis=0).tolist()
        every = np.concatenate([*of, of[0], of[1]])
        own = np.concatenate([*of, of[0] + answers, of[1] + answers])
        comparison.measure(
            _PACKED,
            lambda: totals(self._passes.score_packed(long + short), 2 * answers)[own],
            every,
        )


def _path_of(pack: Pack) -> str:
    return _CACHED if pack.tree.prefix else _PACKED


def _local_window(config: PreTrainedConfig) -> int | None:
    """Return the smallest local attention window in tokens; None if attention is not local."""
    sizes = [getattr(config.get_text_config(), name, None) for name in _LOCAL]
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=None)
