"""Check whether a server returns prompt log-probabilities (echo) and whether they are correct."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import RefusalError
from tacit.models.openai.token_lists import ENOUGH, TYPICAL, agree, identifies_token
from tacit.models.openai.tokenizer import MOST_BEFORE, Cut, cut_by_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tacit.models.openai.questions import Questions
    from tacit.models.openai.token_lists import Token
    from tacit.models.openai.tokenizer import TokenizerFile

_SHORT = 10.0
"""Default timeout in seconds of the first echo request, which asks for zero generated tokens.

The timeout is short because some servers that are asked for zero tokens generate tokens until their
memory is full. If a server does not respond within the short timeout, Tacit repeats the echo
request with one generated token and the full timeout.
"""

_TRIES = 2
_CANDIDATES = 6
_COMPARED = 2
_DRAWS = 4


@dataclass(frozen=True)
class Echo:
    """The result of testing whether a server returns prompt log-probabilities (echo)."""

    questions: Questions
    right: bool = False
    cuts: bool = False
    before: int | None = None
    refused: tuple[str, ...] = ()
    texts: dict[str, Aligned] = field(default_factory=dict)
    odd: bool = False

    @property
    def sums(self) -> dict[str, float]:
        """The summed log-probability of each text's tokens, in nats."""
        return {
            text: sum(one for one in echo.logprobs if one is not None)
            for text, echo in self.texts.items()
        }


@dataclass(frozen=True)
class Aligned:
    """The tokens of a text in a server's echo."""

    text: str
    before: int
    cut: Cut
    logprobs: tuple[float | None, ...]


@dataclass(frozen=True)
class _Pair:
    """A token's log-probabilities in nats, as a generated and as an echoed token."""

    text: str
    more: str
    following: float
    echoed: float
    drift: tuple[float, ...]

    @property
    def apart(self) -> float:
        return abs(self.following - self.echoed)


def align(
    tokens: Sequence[Token],
    text: str,
    tokenizer: TokenizerFile | None,
    before: int | None = None,
) -> Aligned | None:
    """Find the tokens of a text in the list of tokens that a server returned."""
    if tokenizer is None:
        found = cut_by_texts(tokens, text)
    else:
        cut = tokenizer.cut(text)
        starts = range(MOST_BEFORE + 1) if before is None else [before]
        fitting = (at for at in starts if _is_written(cut, tokens[at:], tokenizer))
        at = next(fitting, None)
        found = None if at is None else (at, cut)
    if found is None or before not in {None, found[0]}:
        return None
    at, cut = found
    return Aligned(text, at, cut, tuple(one.logprob for one in tokens[at : at + len(cut.tokens)]))


def find_echo(
    questions: Questions,
    tokenizer: TokenizerFile | None,
    nexts: Mapping[str, Token],
    *,
    spaced: bool,
    long: Collection[str] = (),
) -> Echo:
    """Test variants of the echo request; return the first variant with a correct echo."""
    refused: list[str] = []
    cutting: Echo | None = None
    odd = False
    for asked in (
        questions.but(way="echo", least=0),
        questions.but(way="echo", least=1),
        questions.but(way="prompt_logprobs"),
    ):
        if cutting and asked.way == cutting.questions.way:
            continue  # generating a token would not correct the log-probabilities
        tried = _try(asked, tokenizer, nexts, spaced=spaced, long=long)
        if tried.right:
            return tried
        cutting = cutting or (tried if tried.cuts else None)
        refused += tried.refused
        odd = odd or tried.odd
    # Variants that fail for the same reason are reported once.
    said = tuple(dict.fromkeys(refused))
    if cutting:
        return Echo(cutting.questions, cuts=True, before=cutting.before, refused=said)
    return Echo(questions, refused=said, odd=odd)


def _try(
    asked: Questions,
    tokenizer: TokenizerFile | None,
    nexts: Mapping[str, Token],
    *,
    spaced: bool,
    long: Collection[str],
) -> Echo:
    """Test one variant of echo requests."""
    first, *others = nexts
    empty = asked.way == "echo" and asked.least == 0
    try:
        short = asked.client.limit or _SHORT
        tokens = asked.echoed(first, short if empty else None, _TRIES)
        found = _aligned(asked, tokens, first, tokenizer)
        if found is None:
            return _unaligned(asked, tokens)
        if empty and len(tokens) > _end(found):
            return Echo(asked)  # it generates despite the limit of 0: use the variant with 1
        echoes = {first: found}
        for text in others:
            again = _again(asked, text, tokenizer, found.before, is_long=text in long)
            if again is not None:
                echoes[text] = again
            elif text not in long:
                return Echo(
                    asked,
                    refused=(f"the tokens that it returns do not spell {text!r} ({asked.way})",),
                )
        wrong = _compare(asked, tokenizer, echoes, nexts, spaced=spaced)
    except ScoringError as error:
        return Echo(asked, refused=(f"it returns no echo ({asked.way}: {error})",))
    if wrong:
        return Echo(asked, cuts=True, before=found.before, refused=(wrong,))
    return Echo(asked, right=True, cuts=True, before=found.before, texts=echoes)


def _unaligned(asked: Questions, tokens: Sequence[Token]) -> Echo:
    """Return an ``Echo`` that explains why the returned tokens do not match the prompt."""
    if len(tokens) <= MOST_BEFORE + 1:
        return Echo(asked, refused=(f"it returns no tokens of the prompt ({asked.way})",))
    said = f"the tokens of its echo differ from the prompt's ({asked.way})"
    return Echo(asked, refused=(said,), odd=True)


def _again(
    asked: Questions, text: str, tokenizer: TokenizerFile | None, before: int, *, is_long: bool
) -> Aligned | None:
    """Return a text's echoed tokens; None if the echo is wrong or the text is too long."""
    try:
        echoed = asked.echoed(text)
    except RefusalError:
        if is_long:
            return None  # too long together with the generated token
        raise
    found = align(echoed, text, tokenizer, before)
    if found is None and is_long:
        raise ModelError(
            f"{asked.model} at {asked.client.address} cannot be used: it echoes short texts "
            f"correctly, but for a text of {len(text.split())} words it returns other tokens "
            f"({asked.way}), so it does not read prompts whole"
        )
    return found


def _end(found: Aligned) -> int:
    return found.before + len(found.cut.tokens)


def _aligned(
    asked: Questions, tokens: Sequence[Token], text: str, tokenizer: TokenizerFile | None
) -> Aligned | None:
    """Return the text's tokens in an echo; None if the echo does not contain the text."""
    found = align(tokens, text, tokenizer)
    theirs = cut_by_texts(tokens, text) if found is None and tokenizer is not None else None
    if theirs and tokenizer:
        raise ModelError(
            f"{asked.model} at {asked.client.address} tokenizes {text!r} as "
            f"{len(theirs[1].tokens)} tokens ({_listed(theirs[1].tokens)}), but {tokenizer.path} "
            f"gives other tokens ({len(tokenizer.cut(text).tokens)}): use the tokenizer of the "
            "served model"
        )
    return found


def _listed(tokens: Sequence[int | str]) -> str:
    return ", ".join(repr(one) for one in tokens)


def _is_written(cut: Cut, tokens: Sequence[Token], tokenizer: TokenizerFile) -> bool:
    """Return whether a server's list of tokens begins with the tokens of a text."""
    if len(tokens) < len(cut.tokens):
        return False
    pairs = zip(cut.tokens, tokens, strict=False)
    return all(isinstance(own, int) and tokenizer.is_written(own, one) for own, one in pairs)


def _candidates(
    token: Token, tokenizer: TokenizerFile | None, *, spaced: bool
) -> list[tuple[str, float]]:
    """Return texts and log-probabilities (nats) of possible next tokens, likeliest first."""
    given = {one.text or one.number: one for one in (token, *token.top)}.values()
    known = [(one, one.logprob) for one in given if one.logprob is not None]
    ranked = sorted(known, key=lambda pair: -pair[1])
    behind = [(_behind(one, tokenizer, spaced=spaced), logprob) for one, logprob in ranked]
    return [(more, logprob) for more, logprob in behind if more][:_CANDIDATES]


def _behind(token: Token, tokenizer: TokenizerFile | None, *, spaced: bool) -> str | None:
    """Return the characters that a token appends to the prompt; None if unknown."""
    if tokenizer is None:
        return token.text if identifies_token(token.text) else None
    number = token.number
    if number is None and token.text is not None:
        number = tokenizer.numbered(token.text, spaced=spaced)
    spelled = "" if number is None else tokenizer.spelled(number)
    return spelled if identifies_token(spelled) else None


def _compare(
    asked: Questions,
    tokenizer: TokenizerFile | None,
    echoes: Mapping[str, Aligned],
    nexts: Mapping[str, Token],
    *,
    spaced: bool,
) -> str | None:
    """Return a description of errors in echoed log-probabilities; None if all are correct."""
    pairs: list[_Pair] = []
    for text, echo in echoes.items():
        found = _pairs(asked, tokenizer, echo, _candidates(nexts[text], tokenizer, spaced=spaced))
        for _ in range(_DRAWS):
            if found:
                break  # another draw may be a token that stays separate after the text
            drawn = asked.next_token(text).tokens[:1]
            more = _candidates(drawn[0], tokenizer, spaced=spaced) if drawn else []
            found = _pairs(asked, tokenizer, echo, more)
        pairs += found
    texts = len({pair.text for pair in pairs})
    if texts < ENOUGH:
        return (
            f"its echo could be compared with its next tokens on only {several(texts, 'text')}; "
            f"{ENOUGH} are required"
        )
    if not agree([pair.apart for pair in pairs]):
        return _worst_example(pairs, asked)
    if not agree([one for pair in pairs for one in pair.drift]):
        return (
            f"its echo is incorrect ({asked.way}): the same token has another log-probability in "
            "the echo of a longer text"
        )
    return None


def _pairs(
    asked: Questions,
    tokenizer: TokenizerFile | None,
    echo: Aligned,
    candidates: Sequence[tuple[str, float]],
) -> list[_Pair]:
    """Return each token's log-probability as a generated token and as an echoed token."""
    pairs: list[_Pair] = []
    for more, following in candidates:
        try:
            tokens = asked.echoed(echo.text + more)
        except RefusalError:
            continue  # the text is too long
        whole = align(tokens, echo.text + more, tokenizer, echo.before)
        if whole is None or whole.cut.tokens[:-1] != echo.cut.tokens:
            continue  # both together have other tokens
        drift = tuple(map(_apart, whole.logprobs[:-1], echo.logprobs))
        echoed = whole.logprobs[-1]
        value = math.nan if echoed is None else echoed
        pairs.append(_Pair(echo.text, more, following, value, drift))
        if len(pairs) == _COMPARED:
            break
    return pairs


def _apart(one: float | None, other: float | None) -> float:
    """Return the absolute difference of two log-probabilities; NaN if exactly one is None."""
    if one is None or other is None:
        return 0.0 if one is other else math.nan
    return abs(one - other)


def _worst_example(pairs: Sequence[_Pair], asked: Questions) -> str:
    """Return a message about an incorrect echo, with one token as an example."""
    worst = max(pairs, key=lambda pair: math.inf if math.isnan(pair.apart) else pair.apart)
    wrong = sum(not pair.apart <= TYPICAL for pair in pairs)
    more = asked.client.hide(worst.more)
    return (
        f"its echo is incorrect ({asked.way}): after {worst.text!r}, the token {more!r} has "
        f"{worst.following:.3f} nats as the next token and {worst.echoed:.3f} nats in the echo; "
        f"{wrong} of {len(pairs)} such tokens differ by more than {TYPICAL:g} nats"
    )
