# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""From lessons to a model: the tokenizer, the two architectures, the loop, the folder."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import torch
from demo_lessons import LATER, SHARES
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from tacit.models.boundary import Filled, Tokens, bare, tokenize
from tacit.prompts import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from demo_lessons import Lesson, Lessons

BEGIN, PAD, END, UNKNOWN, MASK = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
WINDOW = 128
SEED = 2023
_WARM_UP = 0.03
_COOL_DOWN = 0.4
# The usual 0.02 is meant for wider models; from there these learn little for hundreds of steps.
_SPREAD = 0.06
_SAID = 100


@dataclass(frozen=True)
class Size:
    """How large a model is and how it is trained.

    Args:
        stages: How many steps each stage has; each begins with a high learning rate.
        batch: Lessons in a step.
        width: Of the hidden states.
        layers: How many.
        rates: The highest learning rate of each kind; it rises at first, and falls to the end.
        vocabulary: At most so many tokens.
    """

    stages: tuple[int, ...]
    batch: int = 128
    width: int = 144
    layers: int = 3
    rates: Mapping[str, float] = field(default_factory=lambda: {"causal": 2.5e-3, "masked": 1.5e-3})
    vocabulary: int = 4096


def make_tokenizer(texts: Iterable[str], kind: str, most: int) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of these texts; a masked model's puts a text between <s> and </s>."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=most,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    if kind == "masked":
        ends = [(token, SPECIAL.index(token)) for token in (BEGIN, END)]
        bpe.post_processor = processors.TemplateProcessing(
            single=f"{BEGIN} $A {END}", special_tokens=ends
        )
    names = {"bos_token": BEGIN, "eos_token": END, "pad_token": PAD, "unk_token": UNKNOWN}
    more = {"mask_token": MASK} if kind == "masked" else {}
    return PreTrainedTokenizerFast(tokenizer_object=bpe, model_max_length=WINDOW, **names, **more)


def make_model(kind: str, vocabulary: int, size: Size) -> Any:  # noqa: ANN401 - a model of either class
    """A model of random weights."""
    heads = max(1, size.width // 48)
    if kind == "causal":
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=vocabulary,
                n_positions=WINDOW,
                n_embd=size.width,
                n_layer=size.layers,
                n_head=heads,
                initializer_range=_SPREAD,
                activation_function="relu",
                attn_implementation="eager",
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
                bos_token_id=0,
                eos_token_id=2,
            )
        )
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=vocabulary,
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=heads,
            initializer_range=_SPREAD,
            intermediate_size=4 * size.width,
            hidden_act="relu",
            attn_implementation="eager",
            max_position_embeddings=WINDOW + 2,
            type_vocab_size=1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
        )
    )


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


@dataclass(frozen=True)
class Course:
    """All that a model is trained with.

    Args:
        lessons: What it learns from.
        kind: ``causal`` or ``masked``.
        size: How large, how long.
        say: Is told how it goes.
    """

    lessons: Lessons
    kind: str
    size: Size
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
        for stage in range(len(self.size.stages)):
            if stage:
                random = Random(SEED + stage)  # noqa: S311 - nothing secret
                model.half().float()
            self.stage(stage, model, tokenizer, random)
        return model.eval(), tokenizer

    def stage(
        self,
        stage: int,
        model: Any,  # noqa: ANN401 - a model of either class
        tokenizer: PreTrainedTokenizerFast,
        random: Random,
    ) -> None:
        """Trains for as many steps as a stage has."""
        steps, plain = self.size.stages[stage], bare(tokenizer)
        optimizer = torch.optim.AdamW(
            model.parameters(), lr=self.size.rates[self.kind], weight_decay=0.01
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _rate(at / steps))
        shares = LATER if stage else SHARES
        began, total = time.monotonic(), 0.0
        right, told = Counter[str](), Counter[str]()
        model.train()
        for step in range(1, steps + 1):
            lessons = self.lessons.draw(random, self.size.batch, shares)
            rows = rows_of(lessons, plain, self.kind, random)
            total += _step(model, rows, right)
            told.update(row.kind for row in rows for _ in row.labels)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            if step % _SAID == 0:
                known = ", ".join(
                    f"{name} {right[name] / max(1, told[name]):.1%}" for name in shares
                )
                spent = time.monotonic() - began
                self.say(f"step {step}: {total / _SAID:.3f} nats; right: {known}; {spent:.0f} s")
                total, right, told = 0.0, Counter(), Counter()


def _rate(done: float) -> float:
    return min(1.0, done / _WARM_UP, (1.01 - done) / _COOL_DOWN)


def _step(model: Any, rows: Sequence[Row], right: Counter[str]) -> float:  # noqa: ANN401 - a model of either class
    """Gradients of the mean loss over the rows; returns the loss, and counts what is told right."""
    count = sum(len(row.labels) for row in rows)
    total = 0.0
    for part in _alike(rows):
        longest = max(len(row.ids) for row in part)
        ids = torch.tensor([row.ids + [1] * (longest - len(row.ids)) for row in part])
        mask = torch.tensor([[1] * len(r.ids) + [0] * (longest - len(r.ids)) for r in part])
        told = [(n, *label) for n, row in enumerate(part) for label in row.labels]
        lines, columns, labels = torch.tensor(told).T
        with torch.autocast("cpu", torch.bfloat16):
            hidden = _body(model)(input_ids=ids, attention_mask=mask).last_hidden_state
            logits = model.lm_head(hidden[lines, columns]).float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum") / count
        loss.backward()
        total += float(loss.detach())
        hits = (logits.argmax(-1) == labels).tolist()
        right.update(part[n].kind for (n, *_), hit in zip(told, hits, strict=True) if hit)
    return total


def _alike(rows: Sequence[Row], parts: int = 3) -> Iterator[list[Row]]:
    """Rows in parts of like length, so that little is padding."""
    ordered = sorted(rows, key=lambda row: len(row.ids))
    step = -(-len(ordered) // parts)
    for begin in range(0, len(ordered), step):
        yield ordered[begin : begin + step]


def _body(model: Any) -> Any:  # noqa: ANN401 - a model of either class
    return model.transformer if hasattr(model, "transformer") else model.roberta


def save(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:  # noqa: ANN401 - a model of either class
    """Writes the model's folder, its weights as fp16."""
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
