# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""From lessons to rows of token ids, as the scorers would meet them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from demo_lessons import Lesson
from transformers import PreTrainedTokenizerFast

from tacit.models.huggingface.alignment import Filled, Tokens, tokenize
from tacit.requests import Prompt

BEGIN, PAD, END, UNKNOWN, MASK = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids, at which places which token is told, and the kind of lesson."""

    ids: list[int]
    labels: list[tuple[int, int]]
    kind: str


def rows_of(
    lessons: Sequence[Lesson], tokenizer: PreTrainedTokenizerFast, kind: str, random: Random
) -> list[Row]:
    """Lessons as the scorers would meet them, by their own rule of what is the answer."""
    found = tokenize(tokenizer, [_filled(lesson, kind) for lesson in lessons])
    pairs = zip(found, lessons, strict=True)
    return [
        _causal(one, of.kind) if kind == "causal" else _masked(one, of.kind, random)
        for one, of in pairs
    ]


def _filled(lesson: Lesson, kind: str) -> Filled:
    around = Prompt(lesson.text, (lesson.answer,), lesson.separator).around
    before, after = around or (lesson.text + lesson.separator, "." if kind == "masked" else "")
    end = len(before) + len(lesson.answer)
    return Filled(before + lesson.answer + after, len(before), end, len(before.rstrip()))


def _causal(tokens: Tokens, kind: str) -> Row:
    labels = [(at - 1, tokens.ids[at]) for at in range(max(tokens.begin, 1), tokens.end)]
    return Row(list(tokens.ids[: tokens.end - 1]), labels, kind)


def _masked(tokens: Tokens, kind: str, random: Random) -> Row:
    """The answer from some token on is masked; that token is to be told."""
    first = random.randrange(tokens.begin, tokens.end)
    masks = [SPECIAL.index(MASK)] * (tokens.end - first)
    ids = [*tokens.ids[:first], *masks, *tokens.ids[tokens.end :]]
    return Row([0, *ids, 2], [(first + 1, tokens.ids[first])], kind)


def padded(rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask, both of shape (rows, longest)."""
    longest = max(len(row.ids) for row in rows)
    pad = SPECIAL.index(PAD)
    ids = [row.ids + [pad] * (longest - len(row.ids)) for row in rows]
    mask = [[1] * len(row.ids) + [0] * (longest - len(row.ids)) for row in rows]
    return torch.tensor(ids), torch.tensor(mask)


def body(model: Any) -> Any:  # noqa: ANN401 - a model of either class
    """The model without its head."""
    return model.transformer if hasattr(model, "transformer") else model.roberta
