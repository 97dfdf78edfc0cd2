"""Causal language models: GPT-2, OPT, GPT-NeoX, Llama and others of AutoModelForCausalLM.

Prompts are packed into long rows (packs), in which the common prefix of several prompts is computed
only once. If several packed rows share a long prefix, the prefix is computed once, cached, and
reused for each row. When a model is loaded, a check measures whether packing changes
log-probabilities. If packing changes log-probabilities, a warning is logged, and each prompt is
computed separately.

For a prompt that is not packed, one forward pass over the prompt's text scores all answers that
consist of one token. If several multi-token answers of an unpacked prompt share a prefix, the
prefix is computed only once: its keys and values are cached, and the computation of each answer
continues from the cache. If the use of cached keys and values would change log-probabilities, the
model processes the text of an unpacked prompt again for each multi-token answer.
"""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ModelError
from tacit.models.huggingface.alignment import Tokens, bare
from tacit.models.huggingface.batching import in_batches
from tacit.models.huggingface.branching import score_trees, tree_cost
from tacit.models.huggingface.encoding import Encoder, Inputs, Remembered, fill
from tacit.models.huggingface.local import Written
from tacit.models.huggingface.logprobs import Found, Read, Row, Tally, on_device, padded, read_off
from tacit.models.huggingface.packed_passes import Packer
from tacit.models.huggingface.packing import Pack, added_tokens, packs_of
from tacit.models.huggingface.prefix_tree import Tree, prefix_lengths, ragged, tree_of
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.self_check import Check, Packing
from tacit.requests import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from numpy.typing import NDArray
    from transformers import PreTrainedConfig

    from tacit.models.huggingface import vocabulary
    from tacit.models.huggingface.alignment import Filled
    from tacit.models.huggingface.local import Checkpoint
    from tacit.models.huggingface.prefix_tree import Ints, Rows
    from tacit.models.huggingface.vocabulary import Frame
    from tacit.requests import Scores

SCORER = "causal-2"

PACK_TOKENS = 1024
"""Maximum tokens per pack (prompts in one row); in some models, longer packs are slow."""

_LEAST_PACK = 32

_LOCAL = (
    "sliding_window",
    "sliding_window_size",
    "window_size",
    "attention_chunk_size",
    "attention_window_size",
    "local_attention",
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Prepared:
    """The model's inputs for several prompts.

    Args:
        prompts: The prompts.
        inputs: The token sequence of each answer, stored in arrays.
        packs: Pairs of a cached prefix (token ids) and a list of packs. A pack is one row that
            contains the tokens of several prompts after the cached prefix.
        trees: The prefix trees of the prompts that are not packed.
    """

    prompts: Sequence[Prompt]
    inputs: Inputs
    packs: Sequence[tuple[tuple[int, ...], Sequence[Pack]]]
    trees: Sequence[Tree]


class CausalModel(RankingModel):
    """A model that scores answers, and ranks words, as continuations of a text.

    Args:
        checkpoint: The loaded model.
        batch_tokens: Maximum number of tokens in a forward pass, including padding.
        packing: Whether to compute several prompts in one row (a pack), provided that packing does
            not change log-probabilities.
    """

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
        self._remembered = Remembered()
        self._check_padding(self._score_rows, self._made_up())
        self._check_sight()
        self._pass_options = {"use_cache": False}
        self._check_narrowing()
        self._difference = self._sharing_difference()
        self._packer = Packer(checkpoint.model, self._body, self._pad, self._budget)
        self._packing = self._measured_packing() if packing else Packing(0, refused="turned off")
        if not self._shares and not self.shares_prefixes:
            log.warning(
                "%s: each prompt is recomputed for every answer of several tokens, because reusing "
                "the computed prompt %s",
                self.name,
                "fails"
                if self._difference is None
                else f"changes log-probabilities by {self._difference:.2g} nats",
            )

    @property
    def description(self) -> dict[str, Any]:
        """The model's description for a manifest, with details of prefix sharing and packing.

        The entry ``packs`` is true if several prompts are packed into one row. ``not_packed`` is
        the reason why prompts are not packed, or None if prompts are packed. ``sharing_difference``
        is the largest change in a log-probability that is caused by prefix sharing, in nats.
        ``packing_difference`` is the largest change in a log-probability that is caused by packing,
        in nats.
        """
        return {
            **super().description,
            "shares_text": self._shares,
            "sharing_difference": self._difference,
            "packs": self.shares_prefixes,
            "packing_difference": self._packing.difference,
            "not_packed": self._packing.refused,
        }

    @property
    def shares_prefixes(self) -> bool:
        """Whether prompts are packed; see ``SharesPrefixes``."""
        return self._packing.refused is None

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return the number of tokens per prompt; tokens that prompts share are counted once."""
        inputs = self._encode(prompts)
        packed, rest = self._divided(inputs)
        costs = np.zeros(len(inputs), np.int64)
        for number, tree in rest.items():
            costs[number] = tree.tokens if self._branches_off(tree) else tree.row_tokens
        prompt = inputs.prompt
        for begin, rows in packed:
            # A row that several prompts read counts for any one of them.
            owner = np.zeros(len(rows), np.int64)
            owner[rows.reads.row] = prompt[rows.reads.answer]
            costs[owner[0]] += len(begin)
            np.add.at(costs, owner, added_tokens(rows.behind(len(begin)), self._pack_tokens))
        return costs.tolist()

    def prepare(self, requests: Sequence[Any]) -> Callable[[], list[Any]]:
        """Encode and pack prompts. See ``Prepares.prepare``.

        If any request is a ranking, ``prepare`` computes nothing in advance.
        """
        if all(isinstance(one, Prompt) for one in requests):
            return partial(self._computed, self._prepared(requests))
        return partial(self.answer, requests)

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        return self._computed(self._prepared(prompts))

    def _prepared(self, prompts: Sequence[Prompt]) -> _Prepared:
        inputs = self._encode(prompts)
        self._remembered.forget(prompts)
        packed, rest = self._divided(inputs)
        packs = [
            (begin, packs_of(rows.behind(len(begin)), self._pack_tokens)) for begin, rows in packed
        ]
        return _Prepared(prompts, inputs, packs, list(rest.values()))

    def _computed(self, work: _Prepared) -> list[Scores]:
        tally = self._tally(work.trees, shared=self._shares)
        for begin, packs in work.packs:
            self._packer.score(packs, tally, begin)
        totals = tally.totals(len(work.inputs.begin)).tolist()
        return self._scored(work.prompts, self._written_as(work.inputs), totals)

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
    def _shares(self) -> bool:
        return self._difference is not None and self._difference <= self._tolerance

    @property
    def _pack_tokens(self) -> int:
        """The maximum length of a pack in tokens, which is reduced when memory runs out."""
        return min(self._packing.length, self._budget.tokens)

    def _divided(
        self, inputs: Inputs
    ) -> tuple[list[tuple[tuple[int, ...], Rows]], dict[int, Tree]]:
        """Divide the prompts into prompts to pack and prompts to compute separately.

        The first part of the result contains the token sequences to pack, grouped by their cached
        prefix. The second part of the result contains the prefix tree of each prompt that is not
        packed.

        A prompt is not packed if the prompt and one of its answers together have more tokens than
        the maximum pack length or the attention window. A prompt is not packed if its uncached part
        is longer than the longest token sequence with which packing was checked when the model was
        loaded.
        """
        longest = np.maximum.reduceat(inputs.lengths - 1, inputs.answers[:-1])
        near = (longest <= self._packing.length) & self._fit_attention(longest)
        rows = inputs.rows(np.flatnonzero(near)).ordered()
        kept = self._prefixes(rows)
        deep = np.flatnonzero(rows.lengths - kept > self._packing.depth)
        if deep.size:
            prompt, reads = inputs.prompt, rows.reads
            near[prompt[reads.answer[np.isin(reads.row, deep)]]] = False
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
        return parts, {at: tree_of(int(inputs.answers[at]), inputs.of(at)) for at in rest}

    def _prefixes(self, rows: Rows) -> Ints:
        """Return the length of the prefix to cache for each row; 0 if caching changes results."""
        kept = prefix_lengths(rows, self._packing.length)
        if kept.any() and self._keeping.refused is not None:
            return np.zeros_like(kept)
        return kept

    def _branches_off(self, tree: Tree) -> bool:
        """Return whether a prefix tree's common prefix can be computed once for all rows.

        The rows of a prefix tree are the inputs for the candidate answers of one prompt.
        """
        return self._shares and tree.branches and self._fits_attention(tree)

    def _fits_attention(self, tree: Tree) -> bool:
        return bool(self._fit_attention(np.array([_longest(tree)]))[0])

    def _fit_attention(self, lengths: Ints) -> NDArray[np.bool_]:
        """Return, for each row length, whether the row is within the attention limits.

        A row must be shorter than the local attention window, and not longer than the length above
        which LongRoPE changes the positions of a whole batch.
        """
        near = np.ones(len(lengths), bool)
        if self._local is not None:
            near &= lengths < self._local
        if self._budget.apart is not None:
            near &= lengths <= self._budget.apart
        return near

    def _encode(self, prompts: Sequence[Prompt]) -> Inputs:
        """Return and cache the tokens of each prompt with each answer. See ``Encoder.encode``."""
        remembered = self._remembered
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in remembered]
        if not new:
            return remembered.take(prompts)
        inputs = self._encoder.encode(new)
        self._all_fit_in(new, inputs)
        remembered.keep(new, inputs)
        if len(new) == len(prompts):
            return inputs
        known = [prompt for prompt in dict.fromkeys(prompts) if prompt in remembered]
        added = [] if new[0] in remembered else [inputs]
        order = {one: at for at, one in enumerate([*known, *(new if added else ())])}
        joined = Inputs.joined([remembered.take(known), *added])
        return joined.take(np.array([order[prompt] for prompt in prompts], np.int64))

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

    def _tally(self, trees: Sequence[Tree], *, shared: bool) -> Tally:
        branching = [
            tree for tree in trees if shared and tree.branches and self._fits_attention(tree)
        ]
        apart = {id(tree) for tree in branching}
        tally = self._tally_rows([row for t in trees if id(t) not in apart for row in t.rows])
        in_batches(
            [tree_cost(tree) for tree in branching],
            self._budget,
            lambda batch: tally.add(self._score_trees([branching[i] for i in batch])),
        )
        return tally

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
        ids, mask = padded([row.ids for row in rows], self._pad, self._device)
        needed = sorted({read.position for row in rows for read in row.reads})
        column = {position: number for number, position in enumerate(needed)}
        logits = self._forward(ids, mask, needed, use_cache=False).logits
        return read_off(logits, [[(column[r.position], r) for r in row.reads] for row in rows])

    def _score_trees(self, trees: Sequence[Tree]) -> Found:
        return score_trees(trees, self._forward, self._pad, self._device, self._budget)

    def _forward(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        needed: Sequence[int],
        positions: torch.Tensor | None = None,
        **rest: object,
    ) -> Any:  # noqa: ANN401 - each architecture has an output class
        """Run the model, and return the logits at the positions ``needed``, in this order."""
        import torch

        keep = on_device(needed, self._device)
        if positions is not None and self._places:
            rest["position_ids"] = positions
        if self._selects:
            rest["logits_to_keep"] = keep
        with torch.inference_mode():
            output = self._model(input_ids=ids, attention_mask=mask, **rest)
            if not self._selects:
                output.logits = output.logits[:, keep]
        return output

    def _check_sight(self) -> None:
        """Raise if predictions depend on later tokens, as in BERT without ``is_decoder``.

        Raises:
            ModelError: If a log-probability depends on a later token.
        """
        begin = tuple(range(1, 4))
        rows = [Row((*begin, last), [Read(1, begin[2], last - 1)]) for last in (1, 2)]
        one, other = self._tally_rows(rows).totals(2)
        if abs(one - other) > self._tolerance:
            raise ModelError(
                f"{self.name}: its log-probabilities depend on later tokens, so it is not a causal "
                "model (an encoder without is_decoder in its config?)"
            )

    def _measured_packing(self) -> Packing:
        """Measure whether packing changes log-probabilities; log a warning if it does."""
        length = min(PACK_TOKENS, self._budget.tokens)
        if length < _LEAST_PACK:
            return Packing(0, refused=f"a forward pass takes only {length} tokens")
        packing = Packing(0, refused="the model takes no position_ids")
        if self._places:
            packing = self._check(length).packing()
        if packing.refused:
            log.warning(
                "%s: each prompt is computed separately, which is slow, because packing does not "
                "work with this model: %s",
                self.name,
                packing.refused,
            )
        return packing

    @cached_property
    def _keeping(self) -> Packing:
        """Whether packs of prompts can continue from a cached prefix, checked on first use."""
        keeping = self._check(self._packing.length).keeping()
        if keeping.refused:
            log.warning(
                "%s: a long prefix that prompts share is recomputed for every pack, which is slow, "
                "because caching it does not work with this model: %s",
                self.name,
                keeping.refused,
            )
        return keeping

    def _check(self, length: int) -> Check:
        limits = (self._checkpoint.window, self._local and self._local - 1, self._budget.apart)
        deepest = min((limit for limit in limits if limit), default=length)
        return Check(
            self._packer, self._tally_rows, self._vocabulary, length, deepest, self._tolerance
        )

    def _sharing_difference(self) -> float | None:
        """Return how much (nats) a reused cache changes log-probabilities; None on failure.

        The change that a reused prefix cache causes is measured on two artificial texts of
        different lengths. Each text has four answers of one to three tokens, and two of the four
        answers share their first token.
        """
        longest = min(self._checkpoint.window or 22, self._local or 22, 22) - 3
        spread = [1 + (i * 7919) % (self._vocabulary - 1) for i in range(40)]
        answers = [
            [
                Tokens((*text, *answer), len(text), len(text) + len(answer), spanned=False)
                for answer in (
                    spread[30:31],
                    spread[31:34],
                    [spread[31], spread[35]],
                    spread[36:38],
                )
            ]
            for text in (spread[: 1 + longest // 3], spread[6 : 6 + longest])
        ]
        trees = [tree_of(4 * text, of) for text, of in enumerate(answers)]
        plain = self._tally(trees, shared=False)
        try:
            shared = self._tally(trees, shared=True)
        except Exception as error:  # noqa: BLE001 - any failure turns sharing off, and is logged
            log.info("%s cannot continue from a cached text: %s", self.name, error)
            return None
        return float(np.abs(plain.totals(8) - shared.totals(8)).max())


def _longest(tree: Tree) -> int:
    return max(len(row.ids) for row in tree.rows)


def _local_window(config: PreTrainedConfig) -> int | None:
    """Return the smallest local attention window in tokens; None if attention is not local."""
    sizes = [getattr(config.get_text_config(), name, None) for name in _LOCAL]
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=None)
