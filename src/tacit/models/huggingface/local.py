"""What the three kinds of local model share: a loaded checkpoint, its names, its limits."""

from __future__ import annotations

import ctypes
import logging
import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tacit.errors import PromptError, TooLongError
from tacit.models.base import IN_CHAT, WHOLE
from tacit.models.huggingface.alignment import Specials, bare
from tacit.models.huggingface.batching import Budget
from tacit.models.huggingface.self_check import (
    made_up,
    padding_difference,
    sizes_of_logits,
    tolerance,
)
from tacit.requests import UNKNOWN, AnswerScore, Prompt, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from tacit.models.huggingface.alignment import Tokens
    from tacit.models.huggingface.chat_template import Chat
    from tacit.models.huggingface.fingerprint import Identity, LoadedFiles
    from tacit.models.huggingface.logprobs import Found, Row, Tally


def in_one_operation(model: torch.nn.Module) -> None:
    """Has a model compute the tanh form of GELU in one operation, in place.

    transformers' modules for ``gelu_new`` and ``gelu_fast`` go over the widest numbers of a layer
    up to eight times: 8 % of GPT-2's time on a processor. Values differ by rounding.
    """
    import torch
    from transformers.activations import FastGELUActivation, NewGELUActivation

    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, NewGELUActivation | FastGELUActivation):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


LARGE = 256 * 2**20
"""Bytes: what is larger is given back as soon as it is freed."""

POOLED = 512 * 2**20
"""So many bytes are kept at most; what is free beyond them is given back."""

_TOLD = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
# As malloc.h of glibc numbers them.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed() -> bool:
    """Has this process keep freed memory; whether it does.

    Only glibc can be told, and where the environment tells it something of its own, that holds.
    """
    tell = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if tell is None or any(name in os.environ for name in _TOLD):
        return False
    return bool(tell(_MMAP_THRESHOLD, LARGE) and tell(_TRIM_THRESHOLD, POOLED))


T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Input:
    """One sequence that goes through the model, as a person would look at it.

    Args:
        role: What the sequence is: ``input``, ``encoder`` or ``decoder``.
        tokens: The tokens as the tokenizer spells them.
        ids: Their ids.
        scored: The positions of the answer's tokens; empty where none stands in the sequence.
    """

    role: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    scored: range


@dataclass(frozen=True)
class Checkpoint:
    """A model and its tokenizer, loaded, and what is known of them.

    Args:
        name: As the user gave it.
        model: In evaluation mode, on its device.
        tokenizer: A fast tokenizer.
        window: The longest input in tokens, special tokens included; None for no limit.
        identity: What its scores depend on.
        settings: What else a manifest says: device, architecture, …
        files: What it was loaded from.
        chat: How prompts are put as a chat; None to put them as plain text.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    window: int | None
    identity: Identity
    settings: dict[str, Any]
    files: LoadedFiles
    chat: Chat | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """How answers are written, one after the other.

    Args:
        tokens: How many tokens of each are scored.
        spanned: Whether these also cover characters of the text.
        known: Whether the tokenizer could write all of it.
    """

    tokens: Sequence[int]
    spanned: Sequence[bool]
    known: Sequence[bool]


class LocalModel:
    """A model in this process; the kinds add ``tokens`` and ``score``.

    Args:
        checkpoint: The loaded model.
        batch_tokens: Tokens in one forward pass, padding included.
    """

    kind: str

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int) -> None:
        self._model = checkpoint.model
        self._tokenizer = checkpoint.tokenizer
        self._bare = bare(checkpoint.tokenizer)
        self._checkpoint = checkpoint
        self._chat = checkpoint.chat
        self._specials = Specials.of(checkpoint.tokenizer)
        self._unknown = _unknown_of(checkpoint.tokenizer)
        self._vocabulary = len(cast("torch.Tensor", checkpoint.model.get_input_embeddings().weight))
        self._budget = Budget(batch_tokens, long_positions(checkpoint.model))
        self._tolerance = tolerance(checkpoint.model)
        in_one_operation(checkpoint.model)
        self.name = checkpoint.name
        self.fingerprint = checkpoint.identity.fingerprint

    @property
    def description(self) -> dict[str, Any]:
        """Name, kind, fingerprint and all that it covers, device, and the batch size in use."""
        identity = self._checkpoint.identity
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
            "window": self._checkpoint.window,
            "batch_tokens": self._budget.tokens,
            **self._checkpoint.settings,
        }

    def inputs(self, prompt: Prompt, answer: str) -> list[Input]:
        """The sequences through which an answer is scored, tokens and ids.

        Raises:
            PromptError: The prompt cannot be scored by this model.
        """
        one = Prompt(prompt.text, (answer,), prompt.separator)
        return [
            Input(role, tuple(self._tokenizer.convert_ids_to_tokens(list(ids))), ids, scored)
            for role, ids, scored in self._sequences(one)
        ]

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        """The role, ids and answer's positions of each sequence of a prompt's one answer."""
        raise NotImplementedError

    def _made_up(self) -> tuple[Row, Row]:
        """Two rows of unequal length to measure the model with."""
        return made_up(self._vocabulary, min(self._checkpoint.window or 22, 22))

    def _check_padding(self, score: Callable[[Sequence[T]], Found], rows: Sequence[T]) -> None:
        """Has a model that padding disturbs compute one row at a time from now on, and says so.

        What rounding may change is measured by the way, for this check and those behind it.
        """
        with sizes_of_logits(self._model) as sizes:
            difference = padding_difference(score, rows)
        self._tolerance = tolerance(self._model, max(sizes))
        if not difference <= self._tolerance:
            self._budget = Budget(1)
            log.warning(
                "%s: every row is computed alone, which is slow: beside a longer one it gives "
                "other log-probabilities (difference: %.2g nats)",
                self.name,
                difference,
            )

    @property
    def _device(self) -> torch.device:
        return self._model.device

    @property
    def _pad(self) -> int:
        """Any token serves as padding: what stands there is masked, and never read."""
        pad = self._tokenizer.pad_token_id
        return pad if isinstance(pad, int) and pad < self._vocabulary else 0

    def _fits(self, prompt: Prompt, ids: Sequence[int]) -> None:
        """Refuses what the model cannot take, before anything is asked.

        Raises:
            TooLongError: The input is longer than the window.
            PromptError: The model has no embedding for a token.
        """
        window = self._checkpoint.window
        if window is not None and len(ids) > window:
            raise TooLongError(
                f"{prompt.shown} is {len(ids)} tokens long with its answer; {self.name} takes "
                f"{window} at most: shorten it, or choose a model with a longer window"
            )
        if max(ids) >= self._vocabulary:
            raise PromptError(
                f"{prompt.shown} needs the token {max(ids)}; {self.name} has embeddings for "
                f"{self._vocabulary}: its tokenizer belongs to another model"
            )

    def _scores_of(
        self, prompts: Sequence[Prompt], encoded: Sequence[Sequence[Tokens]], tally: Tally
    ) -> list[Scores]:
        """The scores of all prompts' answers, given each one's tokens and what was read."""
        every = [tokens for row in encoded for tokens in row]
        return self._scored(
            prompts,
            Written(
                [tokens.end - tokens.begin for tokens in every],
                [tokens.spanned for tokens in every],
                [self._is_writable(tokens) for tokens in every],
            ),
            tally.totals(len(every)).tolist(),
        )

    def _scored(
        self, prompts: Sequence[Prompt], written: Written, totals: Sequence[float]
    ) -> list[Scores]:
        """The scores of all prompts' answers, given how they are written and their sums (nats).

        Raises:
            ScoringError: The model's files have changed since it was loaded.
        """
        self._checkpoint.files.check()
        known = zip(totals, written.known, strict=True)
        each = map(
            AnswerScore,
            [answer for prompt in prompts for answer in prompt.answers],
            [total if is_known else None for total, is_known in known],
            written.tokens,
            written.spanned,
            [None if is_known else UNKNOWN for is_known in written.known],
        )
        return [Scores(tuple(islice(each, len(prompt.answers)))) for prompt in prompts]

    def _is_writable(self, tokens: Tokens) -> bool:
        """Whether an answer is free of the unknown token, whose score would not be its own."""
        return self._unknown not in tokens.ids[tokens.begin : tokens.end]


def _unknown_of(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The token of what a tokenizer cannot write; None where it writes everything."""
    unknown = tokenizer.unk_token_id
    # GPT-2 and its kin name EOS so, and know every byte.
    known = not isinstance(unknown, int) or unknown == tokenizer.eos_token_id
    return None if known else unknown


def window_of(model: PreTrainedModel) -> int | None:
    """The longest input that a model takes, in tokens; None where positions know no end."""
    limits = []
    declared = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if isinstance(declared, int) and declared > 0 and not _is_relative(model):
        limits.append(declared)
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            # RoBERTa and its kin count positions from behind the padding's.
            limits.append(int(module.weight.shape[0]) - padding - 1)
    return min(limits, default=None)


def long_positions(model: PreTrainedModel) -> int | None:
    """Beyond how many tokens one row changes the positions of all in its pass (LongRoPE).

    None where it never does.
    """
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    # Models whose layers differ have parameters for each kind of layer.
    kinds = [rope, *(one for one in rope.values() if isinstance(one, dict))]
    for kind in kinds:
        if kind.get("rope_type") == "longrope":
            length = kind.get("original_max_position_embeddings")
            return length or getattr(config, "original_max_position_embeddings", None)
    return None


def _is_relative(model: PreTrainedModel) -> bool:
    """T5 and its kin learn distances, not positions, and take any length."""
    return hasattr(model.config, "relative_attention_num_buckets")
