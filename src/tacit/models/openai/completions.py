"""Score answers with the log-probabilities that a completions server returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tacit.errors import ModelError, RequestError, TooLongError
from tacit.models.base import WHOLE, by_kind
from tacit.models.huggingface.alignment import Filled, Tokens, answer_tokens
from tacit.models.huggingface.encoding import fill
from tacit.models.openai import checks
from tacit.models.openai.checks import Finding
from tacit.models.openai.client import RefusalError
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.echo import adds_the_usual_tokens, echoes_correctly
from tacit.models.openai.named import NamedTokens, Rankings, total, wanted_of
from tacit.models.openai.named_checks import names_tokens
from tacit.models.openai.named_routes import Ids, Values
from tacit.models.openai.roads import ECHO, NAMED, NEXT_TOKENS, ROADS
from tacit.models.openai.served import BYTES_PER_TOKEN, ScoringServer
from tacit.models.openai.tokenizer import Cut, Echoed
from tacit.models.openai.tokens import Token, find, least_listed, likeliest
from tacit.requests import (
    OUTSIDE,
    UNKNOWN,
    UNSAID,
    AnswerScore,
    Prompt,
    Ranking,
    RankingKind,
    RankingPrompt,
    Scores,
    Vocabulary,
)

LATER = "one of its later tokens is not among the most probable tokens that the server returns"
RECUT = "cannot be separated from its text: the server tokenizes the text alone differently"
UNSPELT = "its tokens are unknown: the tokens that the server returns do not spell the prompt"
ALIKE = "the server spells another token in the same way"
NOTHING = "nothing precedes it, and the server adds no special token"


def offers_a_road(server: CompletionsServer) -> Iterator[Finding]:
    """The user may have forced one."""
    if not server.roads:
        needs = "; ".join(road.needs for road in ROADS if road.name == server.only)
        yield Finding(f"--elicitation {server.only} needs {needs}", fatal=True)


CHECKS = (
    checks.returns_logprobs,
    checks.names_its_model,
    checks.keeps_requests_apart,
    checks.repeats_its_answers,
    checks.reads_whole_prompts,
    names_tokens,
    checks.fits_the_tokenizer,
    echoes_correctly,
    adds_the_usual_tokens,
    offers_a_road,
)
"""The checks before answers are scored as continuations of a prompt."""

SCORER = "server-2"

TOGETHER = 16
"""The maximum number of prompts whose tokens are named in one request."""


@dataclass
class Reading:
    """Scores the answers of one prompt without sending any request twice."""

    server: CompletionsServer
    longer: bool = False
    _nexts: dict[str, Token | None] = field(default_factory=dict)
    _echoes: dict[str, Echoed | None] = field(default_factory=dict)

    def read(self, answers: Sequence[Filled]) -> list[AnswerScore]:
        if answers and not self.server.before and _is_empty(answers[0]):
            # A local model would start with BOS or EOS.
            return [_scored(filled, None, None, NOTHING) for filled in answers]
        if self.server.named:
            return _named(self.server.named, answers, longer=self.longer)
        has_echo = ECHO.name in self.server.roads
        if has_echo and not self._by_next(answers):
            return [self._echoed(filled) for filled in answers]
        read = [self._following(filled) for filled in answers]
        if not has_echo:
            return read
        # Use the verified echo for answers that the next tokens leave without a score.
        return [
            one if one.missing in {None, UNKNOWN} else self._echoed(filled)
            for one, filled in zip(read, answers, strict=True)
        ]

    def _by_next(self, answers: Sequence[Filled]) -> bool:
        """Return whether every answer is known to be a single token."""
        if NEXT_TOKENS.name not in self.server.roads or self.server.tokenizer is None:
            return False
        cuts = [self._tokens(filled) for filled in answers]
        return all(cut is not None and cut[0].end - cut[0].begin == 1 for cut in cuts)

    def _tokens(self, filled: Filled) -> tuple[Tokens, Cut] | None:
        cut = self._cut(filled.string)
        tokens = cut and answer_tokens(range(len(cut.tokens)), cut.offsets, filled)
        return (tokens, cut) if tokens and cut else None

    def _cut(self, text: str) -> Cut | None:
        if self.server.tokenizer is not None:
            return self.server.tokenizer.cut(text)
        echo = self._echo(text)
        return None if echo is None else echo.cut

    def _echoed(self, filled: Filled) -> AnswerScore:
        """Score an answer as part of a prompt whose log-probabilities the server returns."""
        found, echo = self._tokens(filled), self._echo(filled.string)
        if found is None or echo is None:
            return _scored(filled, None, None, UNSPELT)
        tokens, cut = found
        if self._is_unknown(tokens, cut):
            return _scored(filled, tokens, None, UNKNOWN)
        values = [one for one in echo.logprobs[tokens.begin : tokens.end] if one is not None]
        if len(values) < tokens.end - tokens.begin:
            return _scored(filled, tokens, None, UNSAID)
        return _scored(filled, tokens, sum(values))

    def _following(self, filled: Filled) -> AnswerScore:
        """Score an answer token by token, each as the continuation of the preceding text."""
        found = self._tokens(filled)
        if found is None:
            return _scored(filled, None, None, UNSPELT)
        tokens, cut = found
        if self._is_unknown(tokens, cut):
            return _scored(filled, tokens, None, UNKNOWN)
        total = 0.0
        for at in range(tokens.begin, tokens.end):
            text = filled.string[: cut.offsets[at][0]]
            alone = self._cut(text) if text else None
            if (alone.tokens if alone else ()) != tuple(cut.tokens[:at]):
                return _scored(filled, tokens, None, RECUT)
            value = self._value(text, cut.tokens[at])
            if isinstance(value, str):
                later = value == OUTSIDE and at > tokens.begin
                return _scored(filled, tokens, None, LATER if later else value)
            total += value
        return _scored(filled, tokens, total)

    def _value(self, text: str, token: int | str) -> float | str:
        """Return a token's log-probability after a text, or the reason why it is unavailable."""
        following = self._next(text)
        if following is None:
            return UNSAID
        written, number = (token, None) if isinstance(token, str) else (None, token)
        if number is not None and self.server.tokenizer is not None:
            written = self.server.tokenizer.key(number, spaced=self.server.spaced)
            if written is None and not any(one.number is not None for one in following.top):
                return ALIKE
        one = find(following.top, written, number)
        if one is None:
            return OUTSIDE
        return UNSAID if one.logprob is None else one.logprob

    def _is_unknown(self, tokens: Tokens, cut: Cut) -> bool:
        unknown = self.server.tokenizer and self.server.tokenizer.unknown
        return unknown is not None and unknown in cut.tokens[tokens.begin : tokens.end]

    def _next(self, text: str) -> Token | None:
        """Return the next token after a text; None if the server returns no token."""
        if text not in self._nexts:
            try:
                first = self.server.next_token(text, longer=self.longer)
            except RefusalError:
                if text:
                    raise
                first = None  # many servers refuse an empty prompt
            self._nexts[text] = first and likeliest(first, self.server.top)
        return self._nexts[text]

    def _echo(self, text: str) -> Echoed | None:
        """Return a text's tokens in the server's echo; None if text and echo do not match."""
        if text not in self._echoes:
            self._echoes[text] = self.server.aligned(text, longer=self.longer)
        return self._echoes[text]

    @property
    def least(self) -> float:
        return max((least_listed(one) for one in self._nexts.values() if one), default=-math.inf)


def _named(
    named: NamedTokens, answers: Sequence[Filled], *, longer: bool = False
) -> list[AnswerScore]:
    """Score each token of answers to one or more prompts by its id, behind the ids before it."""
    cuts = named.cut(answers)
    found = named.ask(named.requests(wanted_of(cuts)), longer=longer)
    return [_total(named, *pair, found) for pair in zip(answers, cuts, strict=True)]


def _total(
    named: NamedTokens, filled: Filled, tokens: Tokens | None, found: Mapping[Ids, Values]
) -> AnswerScore:
    if not named.start and _is_empty(filled):
        return _scored(filled, None, None, NOTHING)
    if tokens is None:
        return _scored(filled, None, None, UNSPELT)
    if named.tokenizer.unknown in tokens.ids[tokens.begin : tokens.end]:
        return _scored(filled, tokens, None, UNKNOWN)
    if tokens.begin == 0:
        return _scored(filled, tokens, None, NOTHING)
    value = total(tokens, found)
    return _scored(filled, tokens, value, UNSAID if value is None else None)


def _is_empty(filled: Filled) -> bool:
    return not filled.string[: filled.text_end].strip()


def _scored(
    filled: Filled, tokens: Tokens | None, logprob: float | None, missing: str | None = None
) -> AnswerScore:
    answer = filled.string[filled.begin : filled.end]
    if tokens is None:
        return AnswerScore(answer, None, 0, missing=missing)
    return AnswerScore(answer, logprob, tokens.end - tokens.begin, tokens.spanned, missing)


class ServerModel(ScoringServer[CompletionsServer]):
    """A model that scores answers as continuations of a prompt, on a completions server."""

    checks = CHECKS

    def __init__(self, server: CompletionsServer, store: Path | None = None) -> None:
        super().__init__(server, store)
        self._rankings = Rankings(server.named) if server.named else None
        self.supports = NAMED.answers if self._rankings else frozenset({Prompt})

    def _settings(self) -> dict[str, Any]:
        server = self._server
        return {
            "tokenizer": server.tokenizer and server.tokenizer.digest,
            "named_tokens": server.named and server.named.route.name,
            "next_tokens": server.top if NEXT_TOKENS.name in server.roads else 0,
            "echo": ECHO.name in server.roads,
            "special_tokens_before": server.before,
            "scorer": SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        server = self._server
        route = server.named.route.name if server.named else None
        known = {
            NAMED.name: f"log-probabilities of named tokens ({route})",
            NEXT_TOKENS.name: f"log-probabilities of next tokens ({server.listed})",
            ECHO.name: "log-probabilities of a prompt's own tokens (echo)",
        }
        passed = " and ".join(what for road, what in known.items() if road in server.roads)
        lacks = "" if server.named or server.echoes else ", no usable echo"
        return (
            WHOLE,
            passed + server.through + lacks,
            {"window": server.window, "roads": list(server.roads)},
        )

    def whole_words(self) -> Vocabulary:
        if self._server.tokenizer is None:
            raise ModelError(f"{self.name}: its words are unknown: pass --tokenizer PATH")
        return self._server.tokenizer.whole_words()

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """See ``LanguageModel.cost``; without a tokenizer, four bytes count as about one token."""
        return by_kind(requests, {Prompt: self._scoring_cost, RankingPrompt: self._ranking_cost})

    def _scoring_cost(self, prompts: Sequence[Prompt]) -> list[int]:
        costs = []
        for prompt in prompts:
            filled = fill(prompt)
            costs.append(sum(self._cost(one.string, prompt) for one in filled))
            if named := self._server.named:
                costs[-1] = named.cost(wanted_of(named.cut(filled)))
        return costs

    def _ranking_cost(self, prompts: Sequence[RankingPrompt]) -> list[int]:
        named, rankings = self._server.named, self._rankings
        if named is None or rankings is None:
            raise RequestError(f"{self.name} {RankingKind.unsupported}")
        wanted = [one.wanted for one in rankings.asked(prompts)]
        for prompt, befores in zip(prompts, wanted, strict=True):
            longest = max(map(len, befores), default=0)
            self._fits(longest, prompt.asking(prompt.vocabulary.words[:1]))
        return [named.cost(one) for one in wanted]

    def _batches(self, requests: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """Sort and combine prompts, if a server may keep what it computed of the same beginning."""
        if not self._server.named:
            return super()._batches(requests)
        step = TOGETHER if all(isinstance(one, Prompt) for one in requests) else 1
        in_order = sorted(requests, key=lambda one: str(one.text))
        return (in_order[at : at + step] for at in range(0, len(in_order), step))

    def _answers(self, batch: Sequence[Any]) -> list[Any]:
        return by_kind(batch, {Prompt: self._together, RankingPrompt: self._ranked})

    def _together(self, prompts: Sequence[Prompt]) -> list[Scores]:
        """Score prompts with the same requests, or each alone if the server refuses that."""
        named, filled = self._server.named, [fill(prompt) for prompt in prompts]
        if named is None or len(prompts) == 1:
            return super()._answers(prompts)
        try:
            scores = iter(_named(named, [one for answers in filled for one in answers]))
        except RefusalError:
            return super()._answers(prompts)
        return [Scores(tuple(islice(scores, len(answers)))) for answers in filled]

    def _ranked(self, prompts: Sequence[RankingPrompt]) -> list[Ranking]:
        return [self._rankings.rank(prompt) for prompt in prompts] if self._rankings else []

    def _score(self, prompt: Prompt, *, longer: bool = False) -> tuple[Scores, float]:
        reading = Reading(self._server, longer)
        return Scores(tuple(reading.read(fill(prompt)))), reading.least

    def _cost(self, text: str, prompt: Prompt) -> int:
        tokenizer = self._server.tokenizer
        if tokenizer is None:
            return 1 + len(text.encode()) // BYTES_PER_TOKEN
        cost = len(tokenizer.cut(text).tokens) + (self._server.before or 0)
        self._fits(cost, prompt)
        return cost

    def _fits(self, cost: int, prompt: Prompt) -> None:
        # One token of the window is for the token that the server generates.
        window = self._server.window
        if window is not None and cost + 1 > window:
            raise TooLongError(
                f"{prompt.shown} has {cost} tokens with its answer, but {self.name} accepts at "
                f"most {window - 1}: shorten the prompt, or use a model with a longer window"
            )
