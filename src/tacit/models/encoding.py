"""From prompts to the inputs of a causal model; each prompt is tokenized once, not twice.

A plan tokenizes all prompts to know what they cost, and scoring needs the same tokens again.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import PromptError
from tacit.models.boundary import Filled, Tokens, locate, tokenize
from tacit.models.packing import shared_length
from tacit.models.splitting import locate_split, splits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import PreTrainedTokenizerBase

    from tacit.models.boundary import Specials
    from tacit.models.candidates import Written
    from tacit.requests import Prompt

REMEMBERED = 32 * 2**20
"""The most numbers of 4 bytes that are kept of prompts that were not scored yet."""


class Encoder:
    """Writes prompts' answers as the whole inputs that a causal model is given.

    Args:
        name: The model's, for messages.
        tokenizer: A ``bare`` tokenizer.
        specials: What the tokenizer's configuration puts around a text.
        filled: Writes a prompt's answers in their place; ``fill`` where None.
    """

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase,
        specials: Specials,
        filled: Callable[[Prompt], list[Filled]] | None = None,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._before = specials.before
        self._fill = filled or fill
        self._locate = locate_split if splits(tokenizer) else locate

    def encode(self, prompts: Sequence[Prompt]) -> list[list[Tokens]]:
        """Each answer's whole input, special tokens in front, cut behind the answer.

        Raises:
            PromptError: The tokenizer drops an answer, text follows a blank, or an answer cannot
                begin the text.
        """
        return [
            [one or self._refuse(self._fill(prompt)[at]) for at, one in enumerate(written)]
            for prompt, written in zip(prompts, self.write(prompts), strict=True)
        ]

    def write(self, prompts: Sequence[Prompt]) -> list[Written]:
        """As ``encode``; None for an answer that the tokenizer drops."""
        filled = [one for prompt in prompts for one in self._fill(prompt)]
        pairs = zip(self._locate(self._tokenizer, filled), filled, strict=True)
        begun = iter([tokens and self._begun(tokens, one) for tokens, one in pairs])
        return [[next(begun) for _ in prompt.answers] for prompt in prompts]

    def _refuse(self, dropped: Filled) -> Tokens:
        """Has ``tokenize`` say what is wrong with an answer that is dropped."""
        return tokenize(self._tokenizer, [dropped])[0]

    def _begun(self, answer: Tokens, filled: Filled) -> Tokens:
        """Puts the special tokens in front: those of the tokenizer's config, and never twice.

        Where it has none, an empty text, and an answer that begins the string, needs something to
        follow: BOS, else EOS.
        """
        before = self._before
        if not before:
            is_empty = not filled.string[: filled.text_end].strip()
            before = (self._first(),) if is_empty or answer.begin == 0 else ()
        elif answer.begin >= len(before) and answer.ids[: len(before)] == before:
            before = ()
        shift = len(before)
        ids = before + answer.ids[: answer.end]
        return Tokens(ids, answer.begin + shift, answer.end + shift, answer.spanned)

    def _first(self) -> int:
        for token in (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id):
            if isinstance(token, int):
                return token
        raise PromptError(
            f"{self._name} has neither BOS nor EOS, so that an answer cannot begin the text"
        )


def fill(prompt: Prompt) -> list[Filled]:
    """Each answer behind the text and the separator; a blank may only stand at the end.

    The white space before a blank is its separator.

    Raises:
        PromptError: Text follows the blank, which a causal model cannot see.
    """
    around = prompt.around
    if around is None:
        before, text_end = prompt.text + prompt.separator, len(prompt.text)
    elif not around[1]:
        before, text_end = around[0], len(around[0].rstrip())
    else:
        raise PromptError(
            f"{prompt.shown} goes on after its blank, which a causal model cannot see: put the "
            "blank last, or use a masked model"
        )
    begin = len(before)
    return [Filled(before + a, begin, begin + len(a), text_end) for a in prompt.answers]


@dataclass
class Remembered:
    """The inputs of prompts that were encoded and not scored yet, in little memory.

    Args:
        most: How many numbers of 4 bytes may be kept; what comes then is not.
    """

    most: int = REMEMBERED
    _kept: dict[Prompt, array[int]] = field(default_factory=dict)
    _size: int = 0

    def keep(self, prompt: Prompt, answers: Sequence[Tokens]) -> None:
        """Keeps a prompt's inputs, where there is room."""
        if self._size >= self.most or prompt in self._kept:
            return
        self._kept[prompt] = packed = _packed(answers)
        self._size += len(packed)

    def get(self, prompt: Prompt) -> list[Tokens] | None:
        """A prompt's inputs; None where they are not kept."""
        packed = self._kept.get(prompt)
        return None if packed is None else _unpacked(packed)

    def forget(self, prompts: Sequence[Prompt]) -> None:
        """Makes room."""
        for prompt in prompts:
            self._size -= len(self._kept.pop(prompt, ()))


def _packed(answers: Sequence[Tokens]) -> array[int]:
    """For each answer: what it has in common with the one before, its lengths, and the rest."""
    numbers = array("i")
    before: tuple[int, ...] = ()
    for answer in answers:
        shared = shared_length(before, answer.ids)
        rest = answer.ids[shared:]
        numbers.extend((shared, len(rest), answer.begin, answer.end, answer.spanned, *rest))
        before = answer.ids
    return numbers


def _unpacked(numbers: array[int]) -> list[Tokens]:
    answers: list[Tokens] = []
    before: tuple[int, ...] = ()
    at = 0
    while at < len(numbers):
        shared, rest, begin, end, spanned = numbers[at : at + 5]
        at += 5
        before = (*before[:shared], *numbers[at : at + rest])
        answers.append(Tokens(before, begin, end, bool(spanned)))
        at += rest
    return answers
