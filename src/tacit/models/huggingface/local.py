"""The base class of local models, and limits such as a model's maximum input length."""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from tacit.errors import PromptError, TooLongError
from tacit.models.base import IN_CHAT, WHOLE
from tacit.models.huggingface.alignment import Specials, Tokens, bare
from tacit.models.huggingface.chat_template import Chat
from tacit.models.huggingface.fingerprint import Identity, LoadedFiles
from tacit.models.huggingface.packing import Bools, Ints, Rows
from tacit.models.huggingface.passes import (
    Budget,
    Floats,
    Passes,
    TokenLogprobs,
    in_batches,
    totals,
)
from tacit.models.huggingface.self_check import DEPTH, TEXT, Checks, Comparison
from tacit.requests import UNKNOWN, AnswerScore, Prompt, Scores

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def in_one_operation(model: torch.nn.Module) -> None:
    """Replace a model's modules for tanh-approximated GELU with fused ones, in place."""
    import torch
    from transformers.activations import FastGELUActivation, NewGELUActivation

    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, NewGELUActivation | FastGELUActivation):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


LARGE = 256 * 2**20
"""Size in bytes above which a memory block is returned to the system when it is freed."""

POOLED = 512 * 2**20
"""Maximum number of bytes of freed memory that the process retains."""

_TOLD = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
# The numbers are those of glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed() -> bool:
    """Configure this process to retain freed memory; return True on success."""
    tell = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if tell is None or any(name in os.environ for name in _TOLD):
        return False
    return bool(tell(_MMAP_THRESHOLD, LARGE) and tell(_TRIM_THRESHOLD, POOLED))


_INEXACT = 0.5
"""The error in nats of a model's own number format from which a warning is given."""

log = logging.getLogger(__name__)


Score: TypeAlias = Callable[[Sequence[Sequence[int]]], Floats]


@dataclass(frozen=True, slots=True)
class Input:
    """A token sequence that the model reads to score an answer."""

    role: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    scored: range


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model and its tokenizer, with metadata."""

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    identity: Identity
    settings: dict[str, Any]
    files: LoadedFiles
    chat: Chat | None = None
    checks: Checks = field(default_factory=Checks)


class LocalModel:
    """The base class of models that run in this process."""

    kind: str

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int, **options: object) -> None:
        model = checkpoint.model
        self._model = model
        self._tokenizer = checkpoint.tokenizer
        self._bare = bare(checkpoint.tokenizer)
        self._checkpoint = checkpoint
        self._chat = checkpoint.chat
        self._specials = Specials.of(checkpoint.tokenizer)
        self._unknown = _unknown_of(checkpoint.tokenizer)
        self._window = _window_of(model)
        self._vocabulary = len(cast("torch.Tensor", model.get_input_embeddings().weight))
        self._checks = checkpoint.checks
        # Any id works for padding, because padding is masked.
        pad = self._tokenizer.pad_token_id
        self._passes = Passes(
            model,
            pad if isinstance(pad, int) and pad < self._vocabulary else 0,
            Budget(batch_tokens, long_positions(model)),
            model.get_output_embeddings(),
            options,
        )
        in_one_operation(model)
        self.name = checkpoint.name
        self.fingerprint = checkpoint.identity.fingerprint

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def _settle(self) -> None:
        """Choose how to compute, by the check at load; called when the model is complete."""
        if not (self._checks.errors or self._checks.refused):
            self._check_at_load()
        if self._checks.own > _INEXACT:
            log.warning(
                "%s: its log-probabilities depend on rounding, by %.2g nats in %s; use --dtype "
                "float32, or interpret small differences with caution",
                self.name,
                self._checks.own,
                self._checkpoint.identity.dtype,
            )
        if not self._checks.accepts("padded"):
            self._passes.budget, self._passes.head = Budget(1), None
            self._warn("sequences are computed one at a time, which is slow", "padded")

    def _check_at_load(self) -> None:
        """Measure the errors of the ways to compute; see ``Comparison``."""
        raise NotImplementedError

    @staticmethod
    def _scorer(answers: int, run: Callable[[Sequence[int]], Sequence[TokenLogprobs]]) -> Score:
        """Return a function that scores batches of some inputs, each in one pass by ``run``."""

        def score(batches: Sequence[Sequence[int]]) -> Floats:
            found = in_batches([1] * len(batches), Budget(1), lambda at: run(batches[at[0]]))
            return totals(list(chain.from_iterable(found)), answers)

        return score

    def _row_scorer(self, rows: Rows, answers: int) -> Score:
        """Return a function that scores batches of some rows."""
        return self._scorer(answers, lambda batch: [self._passes.batch(rows.take(np.array(batch)))])

    def _compared(self, inputs: int, score: Score) -> Comparison:
        """Score inputs alone, with logits at every position."""

        def alone(batches: Sequence[Sequence[int]]) -> Floats:
            with self._passes.at_every_position():
                return score(batches)

        return Comparison(self._checks, self._model, inputs, alone)

    @property
    def _stream(self) -> list[int]:
        """The tokens of the text from which the inputs of the checks are cut."""
        ids = self._bare(TEXT, add_special_tokens=False, verbose=False)["input_ids"]
        return [one for one in ids if one < self._vocabulary] or list(range(1, self._vocabulary))

    def _sample(self) -> list[tuple[int, ...]]:
        """Return a short and a long input for the check."""
        before, after = self._specials.before, self._specials.after
        longest = min(self._window or DEPTH, DEPTH) - len(before) - len(after)
        stream = self._stream
        both = stream[: 1 + longest // 4], stream[-max(1, longest) :]
        return [(*before, *ids, *after) for ids in both]

    @property
    def description(self) -> dict[str, Any]:
        """The model's description for a manifest: name, fingerprint, batch size and so on."""
        identity, checks = self._checkpoint.identity, self._checks
        alone = None if checks.against is None else checks.own
        return {
            "name": self.name,
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "weights": dict(identity.weights),
            "revision": identity.revision,
            "dtype": identity.dtype,
            "special_tokens": identity.specials,
            "scorer": identity.scorer,
            "elicitation": WHOLE + (IN_CHAT if self._chat else ""),
            "chat": self._chat and self._chat.description,
            "has_chat_template": bool(self._tokenizer.chat_template),
            "window": self._window,
            "batch_tokens": self._passes.budget.tokens,
            "errors": {"against": checks.against, "alone": alone, **checks.errors},
            **self._checkpoint.settings,
        }

    def inputs(self, prompt: Prompt, answer: str) -> list[Input]:
        """Return the token sequences that the model reads to score an answer."""
        one = Prompt(prompt.text, (answer,), prompt.separator)
        return [
            Input(role, tuple(self._tokenizer.convert_ids_to_tokens(list(ids))), ids, scored)
            for role, ids, scored in self._sequences(one)
        ]

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        """Return each input's name (such as "encoder"), token ids and answer positions."""
        raise NotImplementedError

    def _warn(self, consequence: str, way: str) -> None:
        reason = self._checks.refused.get(way, "it is not possible")
        log.warning("%s: %s (%s: %s)", self.name, consequence, way, reason)

    def _fits(self, prompt: Prompt, ids: Sequence[int]) -> None:
        """Raise if the model cannot process an input."""
        if self._window is not None and len(ids) > self._window:
            raise TooLongError(
                f"{prompt.shown} has {len(ids)} tokens with its answer, but the context window of "
                f"{self.name} is {self._window} tokens: shorten the prompt, or use a model with a "
                "longer window"
            )
        if max(ids) >= self._vocabulary:
            raise PromptError(
                f"{prompt.shown} contains the token id {max(ids)}, but {self.name} has only "
                f"{self._vocabulary} embeddings: its tokenizer belongs to another model"
            )

    def _scores_of(
        self,
        prompts: Sequence[Prompt],
        encoded: Sequence[Sequence[Tokens]],
        found: Sequence[TokenLogprobs],
    ) -> list[Scores]:
        """Return the scores of all prompts' answers, from their tokens and log-probabilities."""
        every = [tokens for row in encoded for tokens in row]
        written = [(one.end - one.begin, one.spanned, self._is_writable(one)) for one in every]
        tokens, *flags = np.array(written, np.int64).reshape(-1, 3).T
        spanned, writable = (flag.astype(bool) for flag in flags)
        return self._scored(prompts, tokens, spanned, writable, totals(found, len(every)))

    def _scored(
        self,
        prompts: Sequence[Prompt],
        tokens: Ints,
        spanned: Bools,
        writable: Bools,
        logprobs: Floats,
    ) -> list[Scores]:
        """Put scores together, from what is known of each answer in turn."""
        self._checkpoint.files.check()
        answers = chain.from_iterable(map(attrgetter("answers"), prompts))
        known, missing = logprobs.astype(object), np.full(len(logprobs), None, object)
        known[~writable], missing[~writable] = None, UNKNOWN
        rows = zip(answers, known, tokens.tolist(), spanned.tolist(), missing, strict=True)
        every = starmap(AnswerScore, rows)
        return [Scores(tuple(islice(every, len(prompt.answers)))) for prompt in prompts]

    def _is_writable(self, tokens: Tokens) -> bool:
        """Return whether an answer can be encoded without the tokenizer's unknown token."""
        return self._unknown not in tokens.ids[tokens.begin : tokens.end]


def _unknown_of(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Return the unknown token's id, or None if the tokenizer can encode every text."""
    unknown = tokenizer.unk_token_id
    # GPT-2 and similar tokenizers name EOS as the unknown token, and can write every byte.
    known = not isinstance(unknown, int) or unknown == tokenizer.eos_token_id
    return None if known else unknown


def _window_of(model: PreTrainedModel) -> int | None:
    """Return the maximum input length of a model in tokens; None if there is no limit."""
    limits = []
    declared = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if isinstance(declared, int) and declared > 0 and not _is_relative(model):
        limits.append(declared)
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            # RoBERTa and similar models number positions from after the padding index.
            limits.append(int(module.weight.shape[0]) - padding - 1)
    return min(limits, default=None)


def long_positions(model: PreTrainedModel) -> int | None:
    """Return the input length above which LongRoPE changes the positions of a whole batch."""
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    # Models with different layers have parameters for each kind of layer.
    kinds = [rope, *(one for one in rope.values() if isinstance(one, dict))]
    for kind in kinds:
        if kind.get("rope_type") == "longrope":
            length = kind.get("original_max_position_embeddings")
            return length or getattr(config, "original_max_position_embeddings", None)
    return None


def _is_relative(model: PreTrainedModel) -> bool:
    """Return whether positions are relative, as in T5, so that input length is not limited."""
    return hasattr(model.config, "relative_attention_num_buckets")
