"""How one answer's log-probability is read off a server, by next tokens or by an echo.

The boundary rule is that of every model: the whole string is tokenized, and the tokens that cover
the separator and the answer are scored. A token is read off as the next one only where the text
before it, by itself, is cut into the very tokens that stand before it in the whole string.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.models.huggingface.alignment import Tokens, answer_tokens
from tacit.models.openai.client import RefusalError
from tacit.models.openai.echo import Aligned, align
from tacit.models.openai.token_lists import find, likeliest
from tacit.requests import OUTSIDE, UNKNOWN, UNSAID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.huggingface.alignment import Filled
    from tacit.models.openai.preflight import Abilities
    from tacit.models.openai.questions import Questions
    from tacit.models.openai.token_lists import Token
    from tacit.models.openai.tokenizer import Cut, TokenizerFile

LATER = "one of its later tokens is not among the most probable ones that the server returns"
RECUT = "not to be told from its text: the server cuts the text otherwise by itself"
UNSPELT = "its tokens are not to be told: those that the server returns do not spell the prompt"
ALIKE = "the server writes another token alike"
NOTHING = "nothing stands before it, and the server puts no special token there"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was read of one answer.

    Args:
        logprob: In nats; None where it could not be had.
        tokens: How many it took; 0 where unknown.
        spanned: Whether its first token also covers characters of the text.
        missing: Why there is no log-probability.
    """

    logprob: float | None
    tokens: int = 0
    spanned: bool = False
    missing: str | None = None


@dataclass
class Reading:
    """Reads the answers of one prompt, and asks the same only once.

    Args:
        abilities: What the server does right.
        tokenizer: The model's; None to go by the tokens that the server returns.
    """

    abilities: Abilities
    tokenizer: TokenizerFile | None
    _nexts: dict[str, Token | None] = field(default_factory=dict)
    _echoes: dict[str, Aligned | None] = field(default_factory=dict)

    def read(self, answers: Sequence[Filled]) -> list[Measured]:
        """One measurement per answer of the prompt, in their order.

        Raises:
            ScoringError: The server failed, or refuses a prompt.
        """
        if answers and not self.abilities.before and _is_empty(answers[0]):
            # A model in this process would begin with BOS or EOS.
            return [Measured(None, missing=NOTHING) for _ in answers]
        if not self._by_next(answers):
            way = self._echoed if self.abilities.echo else self._following
            return [way(filled) for filled in answers]
        read = [self._following(filled) for filled in answers]
        if not self.abilities.echo:
            return read
        # What the next tokens leave open, an echo that was found right tells.
        return [
            one if one.missing in {None, UNKNOWN} else self._echoed(filled)
            for one, filled in zip(read, answers, strict=True)
        ]

    def _by_next(self, answers: Sequence[Filled]) -> bool:
        """Whether all answers are one token, so that one request reads them all."""
        if not self.abilities.top or self.tokenizer is None:
            return False
        cuts = [self._tokens(filled) for filled in answers]
        return all(cut is not None and cut[0].end - cut[0].begin == 1 for cut in cuts)

    def _tokens(self, filled: Filled) -> tuple[Tokens, Cut] | None:
        """The answer's tokens among those of the whole string; None where that is not known."""
        if self.tokenizer is not None:
            cut = self.tokenizer.cut(filled.string)
        else:
            echo = self._echo(filled.string)
            if echo is None:
                return None
            cut = echo.cut
        tokens = answer_tokens(range(len(cut.tokens)), cut.offsets, filled)
        return None if tokens is None else (tokens, cut)

    def _echoed(self, filled: Filled) -> Measured:
        """Reads the answer's tokens off an echo of the whole string."""
        found, echo = self._tokens(filled), self._echo(filled.string)
        if found is None or echo is None:
            return Measured(None, missing=UNSPELT)
        tokens, cut = found
        if self._is_unknown(tokens, cut):
            return _measured(tokens, None, UNKNOWN)
        values = [one for one in echo.logprobs[tokens.begin : tokens.end] if one is not None]
        if len(values) < tokens.end - tokens.begin:
            return _measured(tokens, None, UNSAID)
        return _measured(tokens, sum(values))

    def _following(self, filled: Filled) -> Measured:
        """Reads each of the answer's tokens off what comes next behind those before it."""
        found = self._tokens(filled)
        if found is None:
            return Measured(None, missing=UNSPELT)
        tokens, cut = found
        if self._is_unknown(tokens, cut):
            return _measured(tokens, None, UNKNOWN)
        total = 0.0
        for at in range(tokens.begin, tokens.end):
            text = filled.string[: cut.offsets[at][0]]
            if not self._is_cut_alike(text, cut.tokens[:at]):
                return _measured(tokens, None, RECUT)
            value = self._value(text, cut.tokens[at])
            if isinstance(value, str):
                later = value == OUTSIDE and at > tokens.begin
                return _measured(tokens, None, LATER if later else value)
            total += value
        return _measured(tokens, total)

    def _value(self, text: str, token: int | str) -> float | str:
        """A token's log-probability behind a text, or why there is none."""
        following = self._next(text)
        if following is None:
            return UNSAID
        written, number = (token, None) if isinstance(token, str) else (None, token)
        if number is not None and self.tokenizer is not None:
            written = self.tokenizer.key(number, spaced=self.abilities.spaced)
            if written is None and not any(one.number is not None for one in following.top):
                return ALIKE
        one = find(following.top, written, number)
        if one is None:
            return OUTSIDE
        return UNSAID if one.logprob is None else one.logprob

    def _is_cut_alike(self, text: str, before: Sequence[int | str]) -> bool:
        """Whether a text by itself is cut into the tokens that it has within the whole string."""
        if not text:
            return not before
        if self.tokenizer is not None:
            return self.tokenizer.cut(text).tokens == tuple(before)
        echo = self._echo(text)
        return echo is not None and echo.cut.tokens == tuple(before)

    def _is_unknown(self, tokens: Tokens, cut: Cut) -> bool:
        unknown = self.tokenizer and self.tokenizer.unknown
        return unknown is not None and unknown in cut.tokens[tokens.begin : tokens.end]

    def _next(self, text: str) -> Token | None:
        """What comes next; None where the server says nothing, as of what stands before nothing."""
        if text not in self._nexts:
            self._nexts[text] = self._ask_next(text)
        return self._nexts[text]

    def _ask_next(self, text: str) -> Token | None:
        try:
            first = self.questions.next_token(text).first
        except RefusalError:
            if text:
                raise
            return None  # many refuse an empty prompt
        return first and likeliest(first, self.abilities.top)

    def _echo(self, text: str) -> Aligned | None:
        """The text's tokens as the server echoes them; None where they are not the text's."""
        if text not in self._echoes:
            echoed = self.questions.echoed(text)
            before = self.abilities.before
            self._echoes[text] = align(echoed, text, self.tokenizer, before)
        return self._echoes[text]

    @property
    def questions(self) -> Questions:
        """How the server is asked."""
        return self.abilities.questions


def _is_empty(filled: Filled) -> bool:
    return not filled.string[: filled.text_end].strip()


def _measured(tokens: Tokens, logprob: float | None, missing: str | None = None) -> Measured:
    return Measured(logprob, tokens.end - tokens.begin, tokens.spanned, missing)
