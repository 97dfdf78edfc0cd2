"""Masked language models: BERT, RoBERTa, ALBERT, ELECTRA's generator and others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from tacit.errors import ModelError
from tacit.models.huggingface.alignment import Filled, Tokens, locate, tokenize
from tacit.models.huggingface.local import Checkpoint
from tacit.models.huggingface.packing import Rows
from tacit.models.huggingface.ranking import RankingModel, ReadPosition
from tacit.models.huggingface.self_check import read_often
from tacit.models.huggingface.vocabulary import Frame, Written
from tacit.requests import Prompt, Scores

SCORER = "masked-3"

MaskedMode = Literal["left-to-right", "one-at-a-time"]


class MaskedModel(RankingModel):
    """A masked model, which scores answers and ranks words as fillers of a blank."""

    kind = "masked"

    def __init__(
        self, checkpoint: Checkpoint, batch_tokens: int, mode: MaskedMode = "left-to-right"
    ) -> None:
        super().__init__(checkpoint, batch_tokens, in_order=mode == "left-to-right")
        mask = self._tokenizer.mask_token_id
        if not isinstance(mask, int):
            raise ModelError(f"{self.name}: its tokenizer has no mask token")
        self._mask = mask
        self._mode = mode
        self._settle()

    def _check_at_load(self) -> None:
        rows = read_often(self._sample(), 2)
        score = self._row_scorer(rows, len(rows.reads.row))
        self._compared(len(rows), score).measure("padded", lambda: score([range(len(rows))]))

    @property
    def description(self) -> dict[str, Any]:
        """The model's description for a manifest, with the scoring mode of multi-token answers."""
        return {**super().description, "masked_mode": self._mode}

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        """Return, for each prompt, the number of tokens in its distinct masked inputs."""
        encoded = self._encode(prompts)
        return [len(self._rows(answers).ids) for answers in encoded]

    def _score(self, prompts: Sequence[Prompt]) -> list[Scores]:
        encoded = self._encode(prompts)
        rows = self._rows([answer for answers in encoded for answer in answers])
        return self._scores_of(prompts, encoded, self._passes.score_padded(rows))

    def _sequences(self, prompt: Prompt) -> list[tuple[str, tuple[int, ...], range]]:
        ((answer,),) = self._encode([prompt])
        return [("input", ids, range(at, at + 1)) for at, ids in self._maskings(answer)]

    def _encode(self, prompts: Sequence[Prompt]) -> list[list[Tokens]]:
        filled = [_fill(prompt, answer) for prompt in prompts for answer in prompt.answers]
        tokens = iter(tokenize(self._bare, filled))
        encoded = [[self._enclosed(next(tokens)) for _ in prompt.answers] for prompt in prompts]
        for prompt, answers in zip(prompts, encoded, strict=True):
            for answer in answers:
                self._fits(prompt, answer.ids)
        return encoded

    def _enclosed(self, answer: Tokens) -> Tokens:
        before, after = self._specials.before, self._specials.after
        return Tokens(
            (*before, *answer.ids, *after),
            answer.begin + len(before),
            answer.end + len(before),
            answer.spanned,
        )

    def _rows(self, answers: Sequence[Tokens]) -> Rows:
        """Return the distinct masked inputs, with the tokens to score in each input."""
        rows: dict[tuple[int, ...], int] = {}
        reads = [
            (rows.setdefault(ids, len(rows)), at, answer.ids[at], number)
            for number, answer in enumerate(answers)
            for at, ids in self._maskings(answer)
        ]
        return Rows.of(list(rows), reads)

    def _maskings(self, answer: Tokens) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield each answer token's position, and the input in which the token is masked."""
        for at in range(answer.begin, answer.end):
            end = answer.end if self._mode == "left-to-right" else at + 1
            masks = (self._mask,) * (end - at)
            yield at, (*answer.ids[:at], *masks, *answer.ids[end:])

    def _first_filled(self, prompt: Prompt) -> Filled:
        return _fill(prompt, prompt.answers[0])

    def _written(self, prompts: Sequence[Prompt]) -> list[Written]:
        filled = [_fill(prompt, answer) for prompt in prompts for answer in prompt.answers]
        found = iter([tokens and self._enclosed(tokens) for tokens in locate(self._bare, filled)])
        written = [[next(found) for _ in prompt.answers] for prompt in prompts]
        for prompt, answers in zip(prompts, written, strict=True):
            self._all_fit(prompt, answers)
        return list(written)

    def _positions_of(self, prompts: Sequence[tuple[Prompt, Frame]]) -> list[ReadPosition]:
        return [
            ReadPosition((*before, self._mask, *after), len(before))
            for _, (before, after) in prompts
        ]


def _fill(prompt: Prompt, answer: str) -> Filled:
    around = prompt.around
    before, after = around or (prompt.text + prompt.separator, ".")
    text_end = len(before.rstrip()) if around else len(prompt.text)
    begin, end = len(before), len(before) + len(answer)
    return Filled(before + answer + after, begin, end, text_end)
