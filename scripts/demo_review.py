# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""What a model still answers wrong, to be drawn more often than the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import torch
from demo_lessons import Lesson, Lessons
from demo_rows import body, padded, rows_of
from transformers import PreTrainedTokenizerFast

_TOGETHER = 512


class Review:
    """Remembers which lessons a model answered wrong, and how often.

    Args:
        lessons: What it learns from.
        kind: ``causal`` or ``masked``.
        tokenizer: The model's.
    """

    def __init__(self, lessons: Lessons, kind: str, tokenizer: PreTrainedTokenizerFast) -> None:
        self._lessons = lessons
        self._kind = kind
        self._tokenizer = tokenizer
        self._wrong: Counter[Lesson] = Counter()

    def review(self, model: Any, random: Random) -> Counter[str]:  # noqa: ANN401 - a model of either class
        """Asks all that the probes judge; returns how many of each kind were answered wrong."""
        asked = self._lessons.judged(random)
        asked.sort(key=lambda lesson: len(lesson.text))
        found = [
            lesson
            for begin in range(0, len(asked), _TOGETHER)
            for lesson in self._wrong_of(model, asked[begin : begin + _TOGETHER], random)
        ]
        self._wrong.update(found)
        return Counter(lesson.kind for lesson in found)

    def draw(self, random: Random, count: int) -> list[Lesson]:
        """So many of those that were answered wrong, the more often the more often they were."""
        if not self._wrong:
            return []
        return random.choices(list(self._wrong), list(self._wrong.values()), k=count)

    @torch.no_grad()
    def _wrong_of(self, model: Any, lessons: Sequence[Lesson], random: Random) -> list[Lesson]:  # noqa: ANN401 - a model of either class
        """Yes and no, True and False are one token each."""
        rows = rows_of(lessons, self._tokenizer, self._kind, random)
        ids, mask = padded(rows)
        places, labels = torch.tensor([row.labels[0] for row in rows]).T
        hidden = body(model)(input_ids=ids, attention_mask=mask).last_hidden_state
        told = model.lm_head(hidden[torch.arange(len(rows)), places]).argmax(-1)
        return [lesson for lesson, hit in zip(lessons, told == labels, strict=True) if not hit]
