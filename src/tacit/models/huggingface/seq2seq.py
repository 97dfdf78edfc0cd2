"""Sequence-to-sequence models: T5, Flan-T5, T0, Macaw, BART and similar models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, cast

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.alignment import (
    ControlTokens,
    Filled,
    Tokens,
    check_text,
    enclosed,
    locate,
    tokenize,
)
from tacit.models.huggingface.batching import how_many, in_batches
from tacit.models.huggingface.local import Checkpoint
from tacit.models.huggingface.logprobs import Found, Row, Tally, on_device, padded, read_off
from tacit.models.huggingface.prefix_tree import rows_of
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.vocabulary import Frame, Written
from tacit.requests import Prompt, Scores

if TYPE_CHECKING:
    import torch


SCORER = "seq2seq-2"

SENTINEL = "<extra_id_0>"


@dataclass(frozen=True, slots=True)
class Pair:
    """The encoder's input, and the decoder's inputs (rows) for a prompt's answers."""

    text: tuple[int, ...]
    rows: tuple[Row, ...]

    @property
    def cost(self) -> int:
        """The number of tokens that the encoder and the decoder process."""
        return len(self.text) + sum(len(row.ids) + len(self.text) for row in self.rows)


class Seq2SeqModel(RankingModel):
    """A sequence-to-sequence model, which scores answers and ranks words as decoder output."""

    kind = "seq2seq"

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int) -> None:
        super().__init__(checkpoint, batch_tokens)
        start = checkpoint.model.config.decoder_start_token_id
        if not isinstance(start, int):
            raise ModelError(f"{self.name}: its config has no decoder_start_token_id")
        # The special tokens that the tokenizer puts before a text also precede the answer in the
        # decoder's input (BART's <s>); T5 has none.
        self._start = (start, *self._specials.before)
        sentinel = checkpoint.tokenizer.convert_tokens_to_ids(SENTINEL)
        known = isinstance(sentinel, int) and sentinel != checkpoint.tokenizer.unk_token_id
        self._sentinel = cast("int", sentinel) if known else None
        if not self._checks.done:
            short, long = self._sample()
            pairs = [Pair(short.ids, (long,)), Pair(long.ids, (short,))]
            self._measure_padding(self._score_pairs, pairs, len(short.reads) + len(long.reads))
            self._checks.finish()
        self._use_padding()

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return each prompt's cost: the number of tokens in its text and its decoder inputs."""
        pairs = self._pairs(self._texts(prompts), self._answers(prompts))
        return [len(pair.text) + sum(len(row.ids) for row in pair.rows) for pair in pairs]

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        answers = self._answers(prompts)
        pairs = _by_text(self._pairs(self._texts(prompts), answers))
        tally = Tally()
        in_batches(
            [pair.cost for pair in pairs],
            self._budget,
            lambda batch: tally.add(self._score_pairs([pairs[i] for i in batch])),
        )
        return self._scores_of(prompts, answers, tally)

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        (text,) = self._texts([prompt])
        ((answer,),) = self._answers([prompt])
        return [
            ("encoder", text, range(0)),
            ("decoder", answer.ids, range(answer.begin, answer.end)),
        ]

    def _texts(self, prompts: Sequence[Prompt]) -> list[tuple[int, ...]]:
        encoded = self._encoder_ids(prompts) if prompts else []
        for prompt, ids in zip(prompts, encoded, strict=True):
            if not ids:
                raise PromptError(f"{prompt.shown} has no tokens for the encoder")
            self._fits(prompt, ids)
        return [tuple(ids) for ids in encoded]

    def _encoder_ids(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Return the encoder's input for each prompt, without duplicate special tokens."""
        if self._chat is None:
            texts = [self._marked(prompt) for prompt in prompts]
            encoded = list(self._tokenizer(texts, verbose=False)["input_ids"])
            control = ControlTokens.of(self._tokenizer)
            for at, prompt in enumerate(prompts):
                if control.find(prompt.text):
                    encoded[at] = self._as_text(prompt)
            return encoded
        texts = [self._chat.render(prompt.text) for prompt in prompts]
        encoded = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        return [list(enclosed(ids, self._specials)) for ids in encoded]

    def _as_text(self, prompt: Prompt) -> list[int]:
        """Return the encoder's input, with special tokens in the text encoded as plain text."""
        if prompt.around is not None:
            raise PromptError(
                f"{prompt.shown} contains {ControlTokens.of(self._tokenizer).find(prompt.text)!r}, "
                "which would be read as a special token, as is the one that marks the blank: "
                "remove it, or rewrite the text so that the answer follows it"
            )
        check_text(self._bare, prompt.text)
        ids = self._bare(prompt.text, add_special_tokens=False, verbose=False)["input_ids"]
        return [*self._specials.before, *ids, *self._specials.after]

    def _marked(self, prompt: Prompt) -> str:
        """Return the text with its blank replaced by the sentinel."""
        around = prompt.around
        if around is None:
            return prompt.text
        if self._sentinel is None:
            raise PromptError(
                f"{prompt.shown} has a blank, but {self.name} has no sentinel token to mark it: "
                "rewrite the text so that the answer follows it"
            )
        return around[0] + SENTINEL + around[1]

    def _answers(self, prompts: Sequence[Prompt]) -> list[list[Tokens]]:
        """Return each answer's decoder input: start tokens, any sentinel, and the answer."""
        every = [self._without_end(answer) for prompt in prompts for answer in prompt.answers]
        tokens = iter(tokenize(self._bare, [_whole(answer) for answer in every]))
        encoded = []
        for prompt in prompts:
            start = self._start_of(prompt)
            answers = [
                self._with_end(_after(start, next(tokens)), answer) for answer in prompt.answers
            ]
            for answer in answers:
                self._fits(prompt, answer.ids)
            encoded.append(answers)
        return encoded

    def _without_end(self, answer: str) -> str:
        """Return an answer without the end token that a user may have appended."""
        end = str(self._tokenizer.eos_token or "")
        return answer.removesuffix(end) or answer

    def _with_end(self, tokens: Tokens, answer: str) -> Tokens:
        """Return an answer's tokens, followed by the end token if the answer includes it."""
        if self._without_end(answer) == answer:
            return tokens
        ids = (*tokens.ids, int(self._tokenizer.eos_token_id))
        return replace(tokens, ids=ids, end=tokens.end + 1)

    def _start_of(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the tokens that precede an answer in the decoder's input."""
        if prompt.around is not None and self._sentinel is not None and self._chat is None:
            return (*self._start, self._sentinel)
        return self._start

    def _first_filled(self, prompt: Prompt) -> Filled:
        return _whole(prompt.answers[0])

    def _written(self, prompts: Sequence[Prompt]) -> list[Written]:
        found = iter(locate(self._bare, [_whole(a) for p in prompts for a in p.answers]))
        written = []
        for prompt in prompts:
            start = self._start_of(prompt)
            tokens = [next(found) for _ in prompt.answers]
            written.append([one and _after(start, one) for one in tokens])
            self._all_fit(prompt, written[-1])
        return list(written)

    def _positions_of(self, prompts: Sequence[tuple[Prompt, Frame]]) -> list[ReadPosition]:
        texts = self._texts([prompt for prompt, _ in prompts])
        return [
            ReadPosition(text, len(before) - 1, before)
            for text, (_, (before, _after)) in zip(texts, prompts, strict=True)
        ]

    def _logits(self, places: Sequence[ReadPosition]) -> torch.Tensor:
        import torch

        ids, mask = padded([spot.ids for spot in places], self._pad, self._device)
        start, own = padded([spot.start for spot in places], self._pad, self._device)
        rows = torch.arange(len(places), device=self._device)
        last = on_device([spot.position for spot in places], self._device)
        with torch.inference_mode():
            logits: torch.Tensor = self._model(
                input_ids=ids,
                attention_mask=mask,
                decoder_input_ids=start,
                decoder_attention_mask=own,
                use_cache=False,
            ).logits
        return logits[rows, last].float()

    def _pairs(
        self, texts: Sequence[tuple[int, ...]], answers: Sequence[Sequence[Tokens]]
    ) -> list[Pair]:
        firsts = accumulate(map(len, answers), initial=0)
        return [
            Pair(text, rows_of(first, of))
            for text, of, first in zip(texts, answers, firsts, strict=False)
        ]

    def _score_pairs(self, pairs: Sequence[Pair]) -> Found:
        """Run the encoder once on all texts, and the decoder in passes within the token budget."""
        import torch

        ids, mask = padded([pair.text for pair in pairs], self._pad, self._device)
        with torch.inference_mode():
            encoder = self._model.get_encoder()
            states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        rows = [(number, row) for number, pair in enumerate(pairs) for row in pair.rows]
        size = how_many(ids.shape[1] + max(len(row.ids) for _, row in rows), self._budget)
        found: Found = []
        for at in range(0, len(rows), size):
            chunk = rows[at : at + size]
            which = on_device([number for number, _ in chunk], self._device)
            found += self._decode([row for _, row in chunk], states[which], mask[which])
        return found

    def _decode(self, rows: Sequence[Row], states: torch.Tensor, mask: torch.Tensor) -> Found:
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        ids, own = padded([row.ids for row in rows], self._pad, self._device)
        with torch.inference_mode():
            logits = self._model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=mask,
                decoder_input_ids=ids,
                decoder_attention_mask=own,
                use_cache=False,
            ).logits
        return read_off(logits, [[(read.position, read) for read in row.reads] for row in rows])


def _by_text(pairs: Sequence[Pair]) -> list[Pair]:
    """Merge ``Pair`` objects with the same encoder input, to process each input once."""
    rows: dict[tuple[int, ...], tuple[Row, ...]] = {}
    for pair in pairs:
        rows[pair.text] = (*rows.get(pair.text, ()), *pair.rows)
    return [Pair(text, of) for text, of in rows.items()]


def _whole(answer: str) -> Filled:
    return Filled(answer, 0, len(answer), 0)


def _after(start: Sequence[int], answer: Tokens) -> Tokens:
    shift = len(start)
    return Tokens((*start, *answer.ids), shift, shift + len(answer.ids), spanned=False)
