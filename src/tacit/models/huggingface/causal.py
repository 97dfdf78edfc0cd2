"""Causal language models: GPT-2, OPT, GPT-NeoX, Llama and others of AutoModelForCausalLM."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError, ScoringError
from tacit.models.huggingface import vocabulary
from tacit.models.huggingface.alignment import Filled, bare
from tacit.models.huggingface.batching import in_batches
from tacit.models.huggingface.encoding import Encoder, Inputs, fill
from tacit.models.huggingface.local import Checkpoint, Written
from tacit.models.huggingface.logprobs import (
    Found,
    Read,
    Row,
    Tally,
    compared,
    is_plain,
    on_device,
    padded,
    read_off,
)
from tacit.models.huggingface.packed_passes import Packer
from tacit.models.huggingface.packing import Pack, added_tokens, cut_neighbours, packs_of
from tacit.models.huggingface.prefix_tree import Ints, Rows, prefix_lengths, ragged, rows_of
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.self_check import (
    DEPTH,
    FAILS,
    Reference,
    answers_of,
    cut,
    renumbered,
)
from tacit.models.huggingface.vocabulary import Frame
from tacit.requests import Prompt, Scores
from tacit.requests.block import Block

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

    from tacit.models.huggingface.self_check import Floats

SCORER = "causal-2"

PACK_TOKENS = 1024
"""Maximum tokens per pack (prompts in one row); in some models, longer packs are slow."""

_LEAST_PACK = 32

_KEPT = 32 * 2**20
"""The most tokens of inputs that a plan keeps; those of a longer plan are encoded again."""

_WITHOUT = {
    "packed": "each prompt is computed separately, which is slow",
    "cached prefix": "a long prefix that prompts share is recomputed for every pack, which is slow",
}

_CHECK, _LONGEST_CHECK = 72, 320
"""The usual and the greatest length in tokens of a pack for the checks at load time."""

_LOCAL = (
    "sliding_window",
    "sliding_window_size",
    "window_size",
    "attention_chunk_size",
    "attention_window_size",
    "local_attention",
)


@dataclass(frozen=True)
class _Prepared:
    """The model's inputs for several prompts: packed ones, and ``rows`` that are not packed."""

    prompts: Sequence[Prompt]
    inputs: Inputs
    packs: Sequence[tuple[tuple[int, ...], Sequence[Pack]]]
    rows: Sequence[Row]


class CausalModel(RankingModel):
    """A model that scores answers, and ranks words, as continuations of a text."""

    kind = "causal"

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int, *, packing: bool = True) -> None:
        super().__init__(checkpoint, batch_tokens)
        takes = inspect.signature(checkpoint.model.forward).parameters
        self._selects = "logits_to_keep" in takes
        self._places = "position_ids" in takes
        self._local = _local_window(checkpoint.model.config)
        # The output of a template has special tokens; the user's text in it has none.
        reader = bare(checkpoint.tokenizer, reads_specials=True) if self._chat else self._bare
        self._encoder = Encoder(self.name, reader, self._specials, self._fill)
        self._pass_options = {"use_cache": False}
        self._wants_packs = packing
        checks = self._checks
        if checks.done:
            self._use_padding()
        else:
            rows, reference = self._measure_padding_of_rows()
            self._use_padding()
            if not self._measure_packing(rows, reference):
                self._measure_head(rows[:2], reference)
            checks.finish()
        self._warn_of_head()
        self._packer = self._packer_of(splits=checks.accepts("split"))
        if packing and not self.shares_prefixes:
            self._warn(_WITHOUT["packed"], "packed")

    @property
    def description(self) -> dict[str, Any]:
        """The model's description for a manifest, with details of prefix sharing and packing."""
        refused = self._checks.refused.get("packed", "it was not checked")
        return {
            **super().description,
            "packs": self.shares_prefixes,
            "not_packed": None
            if self.shares_prefixes
            else refused
            if self._wants_packs
            else "turned off",
        }

    @property
    def shares_prefixes(self) -> bool:
        """Whether prompts are packed."""
        return self._wants_packs and self._checks.accepts("packed")

    def blocks(self, requests: Sequence[Any], tokens: int) -> list[Block] | None:
        """Encode prompts, and cut them into blocks of similar ones. See ``CutsBlocks.blocks``."""
        if not self.shares_prefixes or not isinstance(requests[0], Prompt):
            return None
        prompts = sorted(requests, key=lambda one: (one.text, one.separator))
        inputs = self._encode(prompts)
        keeps = len(inputs.ids) <= _KEPT

        def costs(some: Ints) -> Ints:
            return self._costs(inputs.take(some))

        return [
            Block(
                tuple(prompts[at] for at in some.tolist()),
                int(costs(some).sum()),  # a block shares no prefix with the one before
                inputs.take(some) if keeps else None,
            )
            for some in cut_neighbours(len(prompts), costs, tokens)
        ]

    def prepare(self, block: Block) -> Callable[[], list[Any]]:
        """Pack a block's prompts. See ``CutsBlocks.prepare``."""
        if isinstance(block.requests[0], Prompt):
            inputs: Inputs = block.inputs or self._encode(block.requests)
            return partial(self._computed, self._packed(block.requests, inputs))
        return partial(self.answer, block.requests)

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        costs: list[int] = self._costs(self._encode(prompts)).tolist()
        return costs

    def _costs(self, inputs: Inputs) -> Ints:
        """Return the number of tokens per prompt; tokens that prompts share are counted once."""
        packed, rest = self._divided(inputs)
        costs = np.zeros(len(inputs), np.int64)
        for number, own in rest.items():
            costs[number] = sum(len(row.ids) for row in own)
        prompt = inputs.prompt
        for begin, rows in packed:
            # A row that several prompts read counts for any one of them.
            owner = np.zeros(len(rows), np.int64)
            owner[rows.reads.row] = prompt[rows.reads.answer]
            costs[owner[0]] += len(begin)
            np.add.at(costs, owner, added_tokens(rows.behind(len(begin)), self._pack_tokens))
        return costs

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return self._computed(self._packed(prompts, self._encode(prompts)))

    def _packed(self, prompts: Sequence[Prompt], inputs: Inputs) -> _Prepared:
        packed, rest = self._divided(inputs)
        packs = [
            (begin, packs_of(rows.behind(len(begin)), self._pack_tokens)) for begin, rows in packed
        ]
        return _Prepared(prompts, inputs, packs, [row for own in rest.values() for row in own])

    def _computed(self, work: _Prepared) -> list[Scores]:
        if any(self._fast_path(begin) in self._checks.refused for begin, _ in work.packs):
            work = self._packed(work.prompts, work.inputs)  # it was refused in the meantime
        new = [
            (begin, pack)
            for begin, packs in work.packs
            for pack in {max(packs, key=partial(_size, begin, at)) for at in range(4)}
            if not self._is_checked(begin, pack)
        ]
        tally = self._tally_rows(work.rows)
        try:
            for begin, packs in work.packs:
                self._packer.score(packs, tally, begin)
            totals = tally.totals(len(work.inputs.begin))
            for begin, pack in new:
                self._check_pack(begin, pack, totals)
        except ScoringError as error:
            if not new:
                raise
            way = "cached prefix" if any(begin for begin, _ in new) else "packed"
            self._refuse(way, f"{FAILS}{error}")
        if any(self._fast_path(begin) in self._checks.refused for begin, _ in new):
            return self._computed(self._packed(work.prompts, work.inputs))
        return self._scored(work.prompts, self._written_as(work.inputs), totals.tolist())

    def _is_checked(self, begin: tuple[int, ...], pack: Pack) -> bool:
        """Return whether a pack as long, with inputs and a cached prefix as long, was checked."""
        sizes = zip(_sizes(begin, pack), self._checks.packed, strict=True)
        return all(size <= checked for size, checked in sizes)

    def _check_pack(self, begin: tuple[int, ...], pack: Pack, totals: Floats) -> None:
        """Compare a few inputs of a pack with the same inputs alone."""
        some = {int(pack.rows.lengths.argmax()), int(pack.spans.argmax()), len(pack.rows) - 1}
        rows = [self._alone(begin, pack.rows, number) for number in sorted(some)]
        answers, tokens = sorted(set(answers_of(rows))), self._budget.tokens
        refused = self._checks.confirms(
            totals[answers],
            lambda: self._tally_rows(rows).totals(len(totals))[answers],
            self._model,
        )
        self._budget.tokens = tokens  # the wider format takes more memory
        if refused is not None:
            self._refuse(self._fast_path(begin), refused)
            return
        sizes = zip(_sizes(begin, pack), self._checks.packed, strict=True)
        self._checks.packed = [max(pair) for pair in sizes]
        self._checks.finish()

    @staticmethod
    def _fast_path(begin: tuple[int, ...]) -> str:
        return "cached prefix" if begin else "packed"

    def _refuse(self, way: str, reason: str) -> None:
        self._checks.refused[way] = reason
        self._warn(_WITHOUT[way], way)
        self._checks.finish()

    def _alone(self, begin: tuple[int, ...], rows: Rows, number: int) -> Row:
        """Return one input of a pack, with its cached prefix and the tokens to score."""
        own = rows.reads.of_rows(np.array([number]), len(rows))
        columns = (own.position + len(begin), own.token, own.answer)
        reads = zip(*(column.tolist() for column in columns), strict=True)
        return Row(begin + rows.row(number), [Read(*read) for read in reads])

    def _written_as(self, inputs: Inputs) -> Written:
        """Return properties of each answer's tokenization, such as the number of tokens."""
        scored = inputs.lengths - inputs.begin
        known = np.ones(len(scored), bool)
        if self._unknown is not None:
            tokens = inputs.ids[ragged(inputs.starts[:-1] + inputs.begin, scored)]
            lacking = np.repeat(np.arange(len(scored)), scored)[tokens == self._unknown]
            known[lacking] = False
        return Written(scored.tolist(), inputs.spanned.tolist(), known.tolist())

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        (answer,) = self._encode([prompt]).of(0)
        return [("input", answer.ids, range(answer.begin, answer.end))]

    @property
    def _pack_tokens(self) -> int:
        """The maximum length of a pack in tokens, which is reduced when memory runs out."""
        return min(PACK_TOKENS, self._budget.tokens)

    def _divided(
        self, inputs: Inputs
    ) -> tuple[list[tuple[tuple[int, ...], Rows]], dict[int, tuple[Row, ...]]]:
        """Divide the prompts into prompts to pack and prompts to compute separately."""
        longest = np.maximum.reduceat(inputs.lengths - 1, inputs.answers[:-1])
        near = (longest <= self._pack_tokens) & self._fit_attention(longest)
        near &= self.shares_prefixes
        rows = inputs.rows(np.flatnonzero(near)).ordered()
        kept = self._prefixes(rows)
        packed: dict[tuple[int, ...], list[int]] = {}
        for number in np.flatnonzero(kept).tolist():
            packed.setdefault(rows.row(number)[: kept[number]], []).append(number)
        parts = [(begin, rows.take(np.array(of))) for begin, of in packed.items()]
        if len(packed) == 0:
            parts = [((), rows)] if len(rows) else []
        elif (kept == 0).any():
            parts.append(((), rows.take(np.flatnonzero(kept == 0))))
        rest = np.flatnonzero(~near).tolist()
        return parts, {at: rows_of(int(inputs.answers[at]), inputs.of(at)) for at in rest}

    def _prefixes(self, rows: Rows) -> Ints:
        """Return the length of the prefix to cache for each row; 0 if caching changes results."""
        kept = prefix_lengths(rows, PACK_TOKENS)
        return np.zeros_like(kept) if "cached prefix" in self._checks.refused else kept

    def _fit_attention(self, lengths: Ints) -> NDArray[np.bool_]:
        """Return, for each row length, whether the row is within the attention limits."""
        near = np.ones(len(lengths), bool)
        if self._local is not None:
            near &= lengths < self._local
        if self._budget.apart is not None:
            near &= lengths <= self._budget.apart
        return near

    def _encode(self, prompts: Sequence[Prompt]) -> Inputs:
        inputs = self._encoder.encode(prompts)
        self._all_fit_in(prompts, inputs)
        return inputs

    def _all_fit_in(self, prompts: Sequence[Prompt], inputs: Inputs) -> None:
        """Raise if the model cannot process one of the prompts' inputs; see ``_fits``."""
        window = self._checkpoint.window
        wrong = inputs.lengths > (inputs.lengths if window is None else window)
        wrong |= np.maximum.reduceat(inputs.ids, inputs.starts[:-1]) >= self._vocabulary
        for prompt in inputs.prompt[wrong][:1].tolist():
            for answer in inputs.of(prompt):
                self._fits(prompts[prompt], answer.ids)

    def _first_filled(self, prompt: Prompt) -> Filled:
        return self._fill(prompt)[0]

    def _fill(self, prompt: Prompt) -> list[Filled]:
        return fill(prompt) if self._chat is None else self._chat.fill(prompt)

    def _written(self, prompts: Sequence[Prompt]) -> list[vocabulary.Written]:
        written = self._encoder.write(prompts)
        for prompt, answers in zip(prompts, written, strict=True):
            self._all_fit(prompt, answers)
        return written

    def _positions_of(self, prompts: Sequence[tuple[Prompt, Frame]]) -> list[ReadPosition]:
        return [ReadPosition(before, len(before) - 1) for _, (before, _after) in prompts]

    def _tally_rows(self, rows: Sequence[Row]) -> Tally:
        """Score every row from its first token; no computed prefix is reused."""
        tally = Tally()
        in_batches(
            [len(row.ids) for row in rows],
            self._budget,
            lambda batch: tally.add(self._score_rows([rows[i] for i in batch])),
        )
        return tally

    def _score_rows(self, rows: Sequence[Row]) -> Found:
        """Score complete rows in one pass; the rows are padded on the right."""
        import torch

        ids, mask = padded([row.ids for row in rows], self._pad, self._device)
        needed = sorted({read.position for row in rows for read in row.reads})
        column = {position: number for number, position in enumerate(needed)}
        keep = on_device(needed, self._device)
        chosen = {"logits_to_keep": keep} if self._selects else {}
        with torch.inference_mode():
            output = self._model(input_ids=ids, attention_mask=mask, use_cache=False, **chosen)
        logits = output.logits if self._selects else output.logits[:, keep]
        return read_off(logits, [[(column[r.position], r) for r in row.reads] for row in rows])

    def _measure_padding_of_rows(self) -> tuple[list[Row], Reference]:
        """Measure the error that padding makes."""
        local = self._local or 0
        limits = (self._checkpoint.window, local and local - 1, self._budget.apart, DEPTH)
        depth = min(limit for limit in limits if limit)
        rows = cut(self._stream, self._specials.before, self._check_length, depth)
        few = rows[:3]
        reference = Reference(
            self._checks,
            self._model,
            self._budget,
            lambda: self._plainly(few),  # the inputs have one length, so there is no padding
            lambda: np.concatenate([self._plainly([row]) for row in few]),
        )
        short = max(1, depth // 3)
        begun = Row(few[1].ids[:short], few[1].reads[: max(1, short // 3)])
        both = [few[0], begun]
        with compared(self._model, self._head) as equal:
            accepted = self._checks.measure(
                "padded", reference, answers_of(both), lambda: _totals(both, self._score_rows)
            )
        if not (is_plain(self._head) and equal and all(equal)):
            self._checks.refused["split"] = "the logits are not the output of a matrix"
        if not accepted:
            exact = reference.exact[answers_of([begun])]
            off = float(np.abs(self._plainly([begun]) - exact).max())
            if not off <= self._checks.limit:
                raise ModelError(
                    f"{self.name}: its log-probabilities depend on later tokens, by {off:.2g} "
                    "nats, so it is not a causal model (an encoder without is_decoder in its "
                    "config?)"
                )
        return rows, reference

    def _measure_packing(self, rows: Sequence[Row], reference: Reference) -> bool:
        """Measure the error of packing, and of computing logits at some positions only."""
        checks, length = self._checks, min(self._check_length, self._budget.tokens)
        if not self._wants_packs:
            return False
        if not self._places:
            checks.refused["packed"] = "the model takes no position_ids"
            return False
        if length < _LEAST_PACK:
            checks.refused["packed"] = f"a forward pass takes only {length} tokens"
            return False
        every = renumbered([*rows, *rows[:2]])
        (long,) = packs_of(Rows.of(every[: len(rows)]).ordered(), 2 * self._check_length)
        (short,) = packs_of(Rows.of(every[len(rows) :]).ordered(), 2 * self._check_length)
        checks.packed = list(_sizes((), long))
        known = range(len(reference.alone))
        own = [*known, *answers_of(every[len(rows) :])]

        def packed(*, splits: bool) -> Floats:
            tally = Tally()
            self._packer_of(splits=splits).score([long, short], tally)
            return tally.totals(len(answers_of(every)))[own]

        answers = [*known, *answers_of(rows[:2])]
        for way in ("packed",) if "split" in checks.refused else ("split", "packed"):
            if checks.measure(way, reference, answers, partial(packed, splits=way == "split")):
                if way == "split":
                    checks.errors["packed"] = checks.errors[way]
                    self._measure_head(rows[:1], reference)
                else:
                    checks.errors["head"] = checks.errors[way]
                return True
        return False

    def _packer_of(self, *, splits: bool) -> Packer:
        return Packer(self._model, self._head, self._pad, self._budget, splits=splits)

    @property
    def _check_length(self) -> int:
        """The length in tokens of a pack for the checks."""
        length = (self._local or 0) + 64
        return length if length <= _LONGEST_CHECK else _CHECK

    def _plainly(self, rows: Sequence[Row]) -> Floats:
        return _totals(rows, self._tally_rows)


def _totals(rows: Sequence[Row], score: Callable[[Sequence[Row]], Tally | Found]) -> Floats:
    """Return the log-probability of each scored token of the rows, in order."""
    found = score(renumbered(rows))
    tally = found if isinstance(found, Tally) else Tally(found)
    return tally.totals(len(answers_of(rows)))


def _sizes(begin: tuple[int, ...], pack: Pack) -> tuple[int, ...]:
    """Return the sizes of a pack; see ``Checks.packed``."""
    longest = len(begin) + int(pack.rows.lengths.max())
    return len(pack), longest, len(begin), int(pack.spans.max())


def _size(begin: tuple[int, ...], at: int, pack: Pack) -> int:
    return _sizes(begin, pack)[at]


def _local_window(config: PreTrainedConfig) -> int | None:
    """Return the smallest local attention window in tokens; None if attention is not local."""
    sizes = [getattr(config.get_text_config(), name, None) for name in _LOCAL]
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=None)
