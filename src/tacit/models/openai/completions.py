"""Score answers with the log-probabilities that a completions server returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import ScoringError, TooLongError
from tacit.models.base import WHOLE
from tacit.models.huggingface.alignment import Tokens, answer_tokens
from tacit.models.huggingface.encoding import fill
from tacit.models.openai.canaries import fingerprint_of
from tacit.models.openai.client import Client, RefusalError
from tacit.models.openai.echo import Aligned, align
from tacit.models.openai.loading import chosen
from tacit.models.openai.monitoring import ScoringServer, Watch, echo_of
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.preflight import preflight
from tacit.models.openai.questions import Questions
from tacit.models.openai.text_pairs import least_listed
from tacit.models.openai.token_lists import find, likeliest
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.requests import OUTSIDE, UNKNOWN, UNSAID, AnswerScore, Prompt, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.models.huggingface.alignment import Filled
    from tacit.models.openai.monitoring import Watched
    from tacit.models.openai.preflight import Abilities
    from tacit.models.openai.token_lists import Token
    from tacit.models.openai.tokenizer import Cut


LATER = "one of its later tokens is not among the most probable tokens that the server returns"
RECUT = "cannot be separated from its text: the server tokenizes the text alone differently"
UNSPELT = "its tokens are unknown: the tokens that the server returns do not spell the prompt"
ALIKE = "the server spells another token in the same way"
NOTHING = "nothing precedes it, and the server adds no special token"


@dataclass(frozen=True, slots=True)
class Measured:
    """The log-probability of one answer, or the reason why it is unavailable."""

    logprob: float | None
    tokens: int = 0
    spanned: bool = False
    missing: str | None = None


@dataclass
class Reading:
    """Scores the answers of one prompt without sending any request twice."""

    abilities: Abilities
    tokenizer: TokenizerFile | None
    _nexts: dict[str, Token | None] = field(default_factory=dict)
    _echoes: dict[str, Aligned | None] = field(default_factory=dict)

    def read(self, answers: Sequence[Filled]) -> list[Measured]:
        """Return the log-probability of each answer, in the order of ``answers``."""
        if answers and not self.abilities.before and _is_empty(answers[0]):
            # A local model would start with BOS or EOS.
            return [Measured(None, missing=NOTHING) for _ in answers]
        if not self._by_next(answers):
            way = self._echoed if self.abilities.echo else self._following
            return [way(filled) for filled in answers]
        read = [self._following(filled) for filled in answers]
        if not self.abilities.echo:
            return read
        # Use the verified echo for answers that the next tokens leave without a score.
        return [
            one if one.missing in {None, UNKNOWN} else self._echoed(filled)
            for one, filled in zip(read, answers, strict=True)
        ]

    def _by_next(self, answers: Sequence[Filled]) -> bool:
        """Return whether every answer is known to be a single token."""
        if not self.abilities.top or self.tokenizer is None:
            return False
        cuts = [self._tokens(filled) for filled in answers]
        return all(cut is not None and cut[0].end - cut[0].begin == 1 for cut in cuts)

    def _tokens(self, filled: Filled) -> tuple[Tokens, Cut] | None:
        """Return the answer's tokens, and the tokens of the whole prompt with the answer."""
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
        """Score an answer as part of a prompt whose log-probabilities the server returns."""
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
        """Score an answer token by token, each as the continuation of the preceding text."""
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
        """Return a token's log-probability after a text, or the reason why it is unavailable."""
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
        """Return whether a text has the same tokens alone and at the start of a longer text."""
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
        """Return the next token after a text; None if the server returns no token."""
        if text not in self._nexts:
            self._nexts[text] = self._ask_next(text)
        return self._nexts[text]

    def _ask_next(self, text: str) -> Token | None:
        try:
            first = self.questions.next_token(text).first
        except RefusalError:
            if text:
                raise
            return None  # many servers refuse an empty prompt
        return first and likeliest(first, self.abilities.top)

    def _echo(self, text: str) -> Aligned | None:
        """Return a text's tokens in the server's echo; None if text and echo do not match."""
        if text not in self._echoes:
            echoed = self.questions.echoed(text)
            before = self.abilities.before
            self._echoes[text] = align(echoed, text, self.tokenizer, before)
        return self._echoes[text]

    @property
    def least(self) -> float:
        """The lowest log-probability that the server lists for a next token."""
        return max((least_listed(one) for one in self._nexts.values() if one), default=-math.inf)

    @property
    def questions(self) -> Questions:
        """The object that sends the requests to the server."""
        return self.abilities.questions


def _is_empty(filled: Filled) -> bool:
    return not filled.string[: filled.text_end].strip()


def _measured(tokens: Tokens, logprob: float | None, missing: str | None = None) -> Measured:
    return Measured(logprob, tokens.end - tokens.begin, tokens.spanned, missing)


SCORER = "server-2"

_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Served:
    """A model on a server, with the result of its preflight."""

    name: str
    window: int | None
    abilities: Abilities
    tokenizer: TokenizerFile | None


def load_server(
    address: str, options: ServerOptions | None = None, kept: Path | None = None
) -> ServerModel:
    """Run a server's preflight and return the model that the server runs."""
    options = options or ServerOptions()
    place = check_address(address, options)
    tokenizer = TokenizerFile(options.tokenizer) if options.tokenizer else None
    client = Client(place, options, key_from_environment())
    about = chosen(client, options.served_model)
    abilities = preflight(Questions(client, about["id"]), tokenizer, options.concurrency)
    window = about.get("max_model_len")
    served = Served(about["id"], window if isinstance(window, int) else None, abilities, tokenizer)
    return ServerModel(served, options.concurrency, kept)


class ServerModel(ScoringServer):
    """A model that scores answers as continuations of a prompt, on a completions server."""

    def __init__(self, served: Served, concurrency: int, kept: Path | None = None) -> None:
        self._served = served
        self._address = served.abilities.questions.client.address
        self._identity = self._identified()
        self.name = f"{served.name} at {self._address}"
        self.fingerprint, self._canaries = fingerprint_of(
            self._identity, served.abilities.seen, kept
        )
        watch = Watch(
            served.abilities.watched,
            self._ask_again,
            self.name,
            served.abilities.telling,
            served.abilities.questions.habits,
        )
        super().__init__(served.abilities.questions.client, watch, concurrency)

    @property
    def description(self) -> dict[str, Any]:
        """The model's name, kind, fingerprint and settings, and its server's deficiencies."""
        abilities = self._served.abilities
        return {
            "name": self.name,
            "kind": "server",
            "fingerprint": self.fingerprint,
            "identity": self._identity,
            "elicitation": WHOLE,
            "window": self._served.window,
            "preflight": abilities.passed,
            "refused": list(abilities.refused),
            "concurrency": self._concurrency,
            "canaries": self._canaries,
        }

    def cost(self, requests: Sequence[Prompt]) -> list[int]:
        """See ``LanguageModel.cost``; without a tokenizer, four bytes count as about one token."""
        return [
            sum(self._cost(filled.string, prompt) for filled in fill(prompt)) for prompt in requests
        ]

    def _ask_again(self, some: Sequence[Watched]) -> list[Token | None]:
        """Repeat requests of the preflight, and return the server's current answers."""
        abilities, tokenizer = self._served.abilities, self._served.tokenizer

        def ask(watched: Watched) -> Token | None:
            if watched.asked == "next":
                first = abilities.questions.next_token(watched.text).first
                return first and likeliest(first, abilities.top)
            echoed = abilities.questions.echoed(watched.text)
            echo = align(echoed, watched.text, tokenizer, abilities.before)
            return None if echo is None else echo_of(echo)

        return abilities.questions.client.at_once(ask, some, self._concurrency)

    def _score(self, prompt: Prompt, more: int = 0) -> tuple[Scores, float]:
        """See ``ScoringServer``."""
        abilities = self._served.abilities
        asked = replace(abilities, questions=abilities.questions.but(more=more))
        reading = Reading(asked, self._served.tokenizer)
        try:
            read = reading.read(fill(prompt))
        except ScoringError as error:
            raise type(error)(f"{prompt.shown} could not be scored: {error}") from error
        scores = Scores(
            tuple(
                AnswerScore(answer, one.logprob, one.tokens, one.spanned, one.missing)
                for answer, one in zip(prompt.answers, read, strict=True)
            )
        )
        return scores, reading.least

    def _cost(self, text: str, prompt: Prompt) -> int:
        """Return the number of tokens of a prompt with its answer."""
        tokenizer, window = self._served.tokenizer, self._served.window
        if tokenizer is None:
            return 1 + len(text.encode()) // _BYTES_PER_TOKEN
        cost = len(tokenizer.cut(text).tokens) + (self._served.abilities.before or 0)
        # One token of the window is for the token that the server generates.
        if window is not None and cost + 1 > window:
            raise TooLongError(
                f"{prompt.shown} has {cost} tokens with its answer, but {self.name} accepts at "
                f"most {window - 1}: shorten the prompt, or use a model with a longer window"
            )
        return cost

    def _identified(self) -> dict[str, Any]:
        """Return the known settings of the server that affect the scores."""
        abilities, tokenizer = self._served.abilities, self._served.tokenizer
        return {
            "address": self._address,
            "served_model": self._served.name,
            "tokenizer": tokenizer and tokenizer.digest,
            "next_tokens": abilities.top,
            "echo": abilities.questions.way if abilities.echo else None,
            "special_tokens_before": abilities.before,
            "scorer": SCORER,
        }
