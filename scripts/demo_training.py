# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""The loop that teaches a demo model, in stages."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from demo_lessons import Lessons
from demo_models import Size, make_model, make_tokenizer
from demo_review import Review
from demo_rows import Row, body, padded, rows_of
from transformers import PreTrainedTokenizerFast

from tacit.models.huggingface.alignment import bare

SEED = 2023
_WARM_UP = 0.03
_COOL_DOWN = 0.4
_MUON = 1.5e-3  # the highest learning rate of the layers
_DECAY = 0.01
_SAID = 100


@dataclass(frozen=True)
class Stage:
    """A part of the training; each begins with a high learning rate, which falls to its end.

    Args:
        steps: How many.
        shares: How often each kind of lesson is drawn.
        again: The share of a step's lessons that the model answered wrong when asked.
        every: So many steps after one review of what it answers wrong comes the next.
        rate: The learning rate at its highest, as a share of the other stages'.
    """

    steps: int
    shares: Mapping[str, float]
    again: float = 0.0
    every: int = 100
    rate: float = 1.0


@dataclass(frozen=True)
class Course:
    """All that a model is trained with.

    Args:
        lessons: What it learns from.
        kind: ``causal`` or ``masked``.
        size: How large it is.
        stages: One after the other.
        say: Is told how it goes.
    """

    lessons: Lessons
    kind: str
    size: Size
    stages: Sequence[Stage]
    say: Callable[[str], None]

    def train(self, words: Iterable[str]) -> tuple[Any, PreTrainedTokenizerFast]:
        """Trains a model; the same on the same machine each time.

        Between two stages its weights are rounded as they are when they are saved.

        Args:
            words: What the tokenizer is to have a token for, withheld concepts among them.
        """
        torch.manual_seed(SEED)
        random = Random(SEED)  # noqa: S311 - nothing secret
        corpus = self.lessons.corpus(random, 20_000)
        texts = [*corpus, *(f"a {word}" for word in words for _ in range(30))]
        tokenizer = make_tokenizer(texts, self.kind, self.size.vocabulary)
        model = make_model(self.kind, len(tokenizer), self.size)
        weights = sum(each.numel() for each in model.parameters())
        self.say(f"{self.kind}: {weights:,} weights, {len(tokenizer)} tokens")
        for number, stage in enumerate(self.stages):
            self.teach(stage, model, tokenizer, Random(SEED + number))  # noqa: S311 - nothing secret
            model.half().float()
        return model.eval(), tokenizer

    def teach(
        self,
        stage: Stage,
        model: Any,  # noqa: ANN401 - a model of either class
        tokenizer: PreTrainedTokenizerFast,
        random: Random,
    ) -> None:
        """Trains for as many steps as a stage has."""
        plain = bare(tokenizer)
        review = Review(self.lessons, self.kind, plain)
        optimizers = _optimizers(model, self.size.rates[self.kind], stage.rate)
        schedules = [
            torch.optim.lr_scheduler.LambdaLR(each, lambda at: _rate(at / stage.steps))
            for each in optimizers
        ]
        began, score = time.monotonic(), Score()
        for step in range(1, stage.steps + 1):
            if stage.again and step % stage.every == 1:
                self.say(f"{self.kind}: answered wrong: {dict(review.review(model, random))}")
            again = review.draw(random, round(stage.again * self.size.batch))
            fresh = self.lessons.draw(random, self.size.batch - len(again), stage.shares)
            _step(model, rows_of([*again, *fresh], plain, self.kind, random), score)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for each in (*optimizers, *schedules):
                each.step()
            model.zero_grad()
            if step % _SAID == 0:
                spent = time.monotonic() - began
                self.say(f"{self.kind}: step {step} of {stage.steps}: {score}; {spent:.0f} s")
                score = Score()
        if stage.again:
            self.say(f"{self.kind}: answered wrong: {dict(review.review(model, random))}")


@dataclass
class Score:
    """What is told right, by kind of lesson, and the loss."""

    nats: float = 0.0
    told: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        shares = ", ".join(f"{n} {self.right[n] / self.told[n]:.1%}" for n in sorted(self.told))
        return f"{self.nats / self.told.total():.3f} nats; right: {shares}"


def _optimizers(model: Any, rate: float, share: float) -> list[torch.optim.Optimizer]:  # noqa: ANN401 - a model of either class
    """Muon for the layers, which learn in far fewer steps with it, AdamW for the rest."""
    words = len(model.get_input_embeddings().weight)
    matrices = [each for each in body(model).parameters() if each.ndim == 2]  # noqa: PLR2004
    layers = [each for each in matrices if max(each.shape) < words]
    inside = {id(each) for each in layers}
    rest = [each for each in model.parameters() if id(each) not in inside]
    return [
        torch.optim.Muon(
            layers, lr=share * _MUON, weight_decay=_DECAY, adjust_lr_fn="match_rms_adamw"
        ),
        torch.optim.AdamW(rest, lr=share * rate, weight_decay=_DECAY, betas=(0.9, 0.98)),
    ]


def _rate(done: float) -> float:
    return min(1.0, done / _WARM_UP, (1.01 - done) / _COOL_DOWN)


def _step(model: Any, rows: Sequence[Row], score: Score) -> None:  # noqa: ANN401 - a model of either class
    """Gradients of the mean loss over the rows."""
    count = sum(len(row.labels) for row in rows)
    for part in _alike(rows):
        ids, mask = padded(part)
        told = [(n, *label) for n, row in enumerate(part) for label in row.labels]
        lines, columns, labels = torch.tensor(told).T
        with torch.autocast("cpu", torch.bfloat16):
            hidden = body(model)(input_ids=ids, attention_mask=mask).last_hidden_state
            logits = model.lm_head(hidden[lines, columns]).float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        (loss / count).backward()
        score.nats += float(loss.detach())
        kinds = [part[n].kind for n, *_ in told]
        score.told.update(kinds)
        hits = (logits.argmax(-1) == labels).tolist()
        score.right.update(kind for kind, hit in zip(kinds, hits, strict=True) if hit)


def _alike(rows: Sequence[Row], parts: int = 3) -> Iterator[list[Row]]:
    """Rows in parts of like length, so that little is padding."""
    ordered = sorted(rows, key=lambda row: len(row.ids))
    step = -(-len(ordered) // parts)
    for begin in range(0, len(ordered), step):
        yield ordered[begin : begin + step]
