"""Sequence-to-sequence models: T5, Flan-T5, T0, Macaw, BART and similar models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

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
from tacit.models.huggingface.local import Checkpoint
from tacit.models.huggingface.packing import Ints, Rows, Tree
from tacit.models.huggingface.passes import TokenLogprobs, how_many, in_batches
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.vocabulary import Frame, Written
from tacit.requests import Prompt, Scores

if TYPE_CHECKING:
    import torch


SCORER = "seq2seq-2"

SENTINEL = "<extra_id_0>"


class Work(NamedTuple):
    """The encoder's distinct inputs, the decoder's (rows), and the text of each row."""

    texts: Sequence[tuple[int, ...]]
    rows: Rows
    text: Ints

    @classmethod
    def of(cls, texts: Sequence[tuple[int, ...]], answers: Sequence[Sequence[Tokens]]) -> Work:
        """Merge the inputs of the answers to each text where one is a prefix of another."""
        numbers: dict[tuple[int, ...], int] = {}
        inputs: list[tuple[int, ...]] = []
        reads: list[tuple[int, int, int, int]] = []
        for text, of in zip(texts, answers, strict=True):
            # With its number in front, the inputs of one text are no prefix of another's.
            number = numbers.setdefault(text, len(numbers))
            for answer in of:
                at = len(inputs)
                inputs.append((number, *answer.ids[:-1]))
                reads += [(at, i, answer.ids[i], at) for i in range(answer.begin, answer.end)]
        rows = Tree.of(Rows.of(inputs, reads)).rows
        first = rows.starts[:-1]
        own = rows.reads._replace(position=rows.reads.position - 1)
        bare = Rows(np.delete(rows.ids, first), rows.lengths - 1, own)
        return cls(list(numbers), bare, rows.ids[first])

    @property
    def costs(self) -> Ints:
        """The number of tokens that the encoder and the decoder process for each text."""
        encoded = np.array([len(text) for text in self.texts], np.int64)
        decoded = np.zeros_like(encoded)
        np.add.at(decoded, self.text, self.rows.lengths + encoded[self.text])
        return encoded + decoded


class Seq2SeqModel(RankingModel):
    """A sequence-to-sequence model, which scores answers and ranks words as decoder output."""

    kind = "seq2seq"

    def __init__(self, checkpoint: Checkpoint, batch_tokens: int) -> None:
        super().__init__(checkpoint, batch_tokens, use_cache=False)
        start = checkpoint.model.config.decoder_start_token_id
        if not isinstance(start, int):
            raise ModelError(f"{self.name}: its config has no decoder_start_token_id")
        # The special tokens that the tokenizer puts before a text also precede the answer in the
        # decoder's input (BART's <s>); T5 has none.
        self._start = (start, *self._specials.before)
        sentinel = checkpoint.tokenizer.convert_tokens_to_ids(SENTINEL)
        known = isinstance(sentinel, int) and sentinel != checkpoint.tokenizer.unk_token_id
        self._sentinel = cast("int", sentinel) if known else None
        self._settle()

    def _check_at_load(self) -> None:
        short, long = self._sample()
        answers = [
            [Tokens(ids[: at + 1], at, at + 1, spanned=False) for at in range(1, len(ids))[::3]]
            for ids in (long, short)
        ]
        work = Work.of([short, long], answers)
        score = self._scorer(sum(map(len, answers)), partial(self._batch, work))
        self._compared(2, score).measure("padded", lambda: score([[0, 1]]))

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return each prompt's cost: the number of tokens in its text and its decoder inputs."""
        answers = self._answers(prompts)
        return [
            len(text) + len(Work.of([text], [own]).rows.ids)
            for text, own in zip(self._texts(prompts), answers, strict=True)
        ]

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        answers = self._answers(prompts)
        work = Work.of(self._texts(prompts), answers)
        found = in_batches(work.costs, self._passes.budget, partial(self._batch, work))
        return self._scores_of(prompts, answers, list(chain.from_iterable(found)))

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
            spelled = ControlTokens.of(self._tokenizer).spelled
            for at, prompt in enumerate(prompts):
                if found := spelled.search(prompt.text):
                    encoded[at] = self._as_text(prompt, found[0])
            return encoded
        texts = [self._chat.render(prompt.text) for prompt in prompts]
        encoded = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        return [list(enclosed(ids, self._specials)) for ids in encoded]

    def _as_text(self, prompt: Prompt, special: str) -> list[int]:
        """Return the encoder's input, with special tokens in the text encoded as plain text."""
        if prompt.around is not None:
            raise PromptError(
                f"{prompt.shown} contains {special!r}, which would be read as a special token, as "
                "is the one that marks the blank: remove it, or rewrite the text so that the "
                "answer follows it"
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
        return tokens._replace(ids=ids, end=tokens.end + 1)

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
        ids, mask = self._passes.as_table(Rows.of([spot.ids for spot in places]))
        start, own = self._passes.as_table(Rows.of([spot.start for spot in places]))
        given = {
            "input_ids": ids,
            "attention_mask": mask,
            "decoder_input_ids": start,
            "decoder_attention_mask": own,
        }
        last = np.array([spot.position for spot in places])
        return self._passes.logits(given, np.arange(len(places)), last).float()

    def _batch(self, work: Work, batch: Sequence[int]) -> list[TokenLogprobs]:
        """Run the encoder once on all texts, and the decoder in passes within the token budget."""
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        passes = self._passes
        ids, mask = passes.as_table(Rows.of([work.texts[number] for number in batch]))
        with torch.inference_mode():
            encoder = self._model.get_encoder()
            states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        column = np.full(len(work.texts), -1)
        column[list(batch)] = np.arange(len(batch))
        numbers = np.flatnonzero(column[work.text] >= 0)
        longest = int(work.rows.lengths[numbers].max())
        size = how_many(ids.shape[1] + longest, passes.budget)
        found = []
        for at in range(0, len(numbers), size):
            own = work.rows.take(numbers[at : at + size])
            which = passes.on_device(column[work.text[numbers[at : at + size]]])
            decoder, decoder_mask = passes.as_table(own)
            given = {
                "encoder_outputs": BaseModelOutput(last_hidden_state=states[which]),
                "attention_mask": mask[which],
                "decoder_input_ids": decoder,
                "decoder_attention_mask": decoder_mask,
            }
            found.append(passes.score(given, own.reads))
        return found


def _whole(answer: str) -> Filled:
    return Filled(answer, 0, len(answer), 0)


def _after(start: Sequence[int], answer: Tokens) -> Tokens:
    shift = len(start)
    return Tokens((*start, *answer.ids), shift, shift + len(answer.ids), spanned=False)
