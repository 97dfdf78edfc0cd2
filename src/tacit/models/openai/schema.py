"""What servers answer: completions and replies as pydantic models, and what no reply can be.

An answer that does not match is described by the location and the type of what is wrong. No value
of it is repeated, as it may be the key that the server was sent.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    Strict,
    Tag,
    ValidationError,
    model_validator,
)

from tacit.errors import ScoringError, UnreliableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_core import ErrorDetails

    from tacit.models.openai.token_lists import Token

NEVER = -9000.0
"""Servers write -9999 or less for a probability of nothing, which JSON has no number for."""

_MOST_DIGITS = 18  # an id is a number of 64 bits
_HALF = re.compile("[\ud800-\udfff]")
_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
_EXPECTED = {
    "dict_type": "an object",
    "float_type": "a number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
}


def whole(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """A text with a mark in place of half a character, which no file can hold."""
    return _HALF.sub("\ufffd", value) if isinstance(value, str) else value


def _finite(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """A number that fits a float."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        raise ValueError("is larger than any number that there is") from None


def _logprob(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    number = _finite(value)
    return None if isinstance(number, float) and number <= NEVER else number


def count(value: object) -> int | None:
    """A number of tokens, or a token's id; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_id(digits: str) -> int | None:
    """A token's id that is written in a text; None for any other text."""
    is_one = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_one else None


def _or_empty(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    return value or ""


def _or_none(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    return value or []


def _or_nothing(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    return value or {}


def _only_text(value: Any) -> str | None:  # noqa: ANN401 - whatever a server sends
    return value if isinstance(value, str) else None


def _only_object(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    return value if isinstance(value, dict) else {}


Text = Annotated[str, Strict(), BeforeValidator(whole)]
OptionalText = Annotated[str, Strict(), BeforeValidator(whole), BeforeValidator(_or_empty)]
Number = Annotated[float, Strict(), BeforeValidator(_finite)]
Count = Annotated[int | None, BeforeValidator(count)]
Logprob = Annotated[float | None, Strict(), BeforeValidator(_logprob)]
Top = Annotated[dict[Text, Logprob], BeforeValidator(_or_nothing)]


class Details(BaseModel):
    """How many tokens of a reply were reasoning."""

    reasoning_tokens: Count = None


class Usage(BaseModel):
    """How many tokens a server counted."""

    prompt_tokens: Count = None
    completion_tokens_details: Annotated[Details, BeforeValidator(_only_object)] = Details()


class TopToken(BaseModel):
    """A token with its id, where the server gives it, and its log-probability in nats."""

    token: Text
    id: Count = None
    logprob: Logprob


class ListedToken(TopToken):
    """A token, and the most probable ones in its place."""

    top_logprobs: Annotated[list[TopToken], BeforeValidator(_or_none)] = []


class TokenObjects(BaseModel):
    """Log-probabilities as chats have them: an object per token."""

    content: list[ListedToken]


class TokenColumns(BaseModel):
    """Log-probabilities as completions have them: a list of tokens, and lists beside it."""

    tokens: Annotated[list[Text], BeforeValidator(_or_none)] = []
    token_logprobs: Annotated[list[Logprob], BeforeValidator(_or_none)] = []
    top_logprobs: Annotated[list[Top], BeforeValidator(_or_none)] = []

    @model_validator(mode="after")
    def _are_of_one_length(self) -> TokenColumns:
        for column in (self.token_logprobs, self.top_logprobs):
            if column and len(column) != len(self.tokens):
                raise ValueError("tokens, token_logprobs and top_logprobs are not of one length")
        return self


def _layout(logprobs: object) -> str:
    listed = isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list)
    return "objects" if listed else "columns"


class PromptToken(BaseModel):
    """A token of a prompt, as vLLM gives it."""

    logprob: Logprob
    decoded_token: Text | None = None


def _one_by_id(entry: dict[str, PromptToken]) -> dict[str, PromptToken]:
    # Asked for no others beside it, a token's entry holds itself alone.
    if len(entry) != 1 or written_id(*entry) is None:
        raise ValueError("is not one token's log-probability, by the token's id")
    return entry


PromptEntry = Annotated[dict[str, PromptToken], AfterValidator(_one_by_id)]


class Choice(BaseModel):
    """One of the results of a request."""

    index: Number | None = None
    finish_reason: Annotated[str | None, BeforeValidator(_only_text)] = None


class Completion(Choice):
    """A text that goes on from a prompt, or one reply with its log-probabilities."""

    text: OptionalText = ""
    logprobs: (
        Annotated[
            Annotated[TokenObjects, Tag("objects")] | Annotated[TokenColumns, Tag("columns")],
            Discriminator(_layout),
        ]
        | None
    ) = None
    prompt_logprobs: list[PromptEntry | None] | None = None


class Message(BaseModel):
    """What a model replies in a chat."""

    content: OptionalText = ""
    reasoning_content: OptionalText = ""
    reasoning: OptionalText = ""


class Replied(Choice):
    """One reply of a chat."""

    message: Message


ChoiceT = TypeVar("ChoiceT", bound=Choice)


class Answer(BaseModel, Generic[ChoiceT]):
    """What a server answers to a request for a completion or a reply."""

    choices: Annotated[list[ChoiceT], Field(min_length=1)]
    usage: Annotated[Usage, BeforeValidator(_or_nothing)] = Usage()
    model: Annotated[str | None, BeforeValidator(_only_text)] = None

    def ordered(self, most: int = 1) -> list[ChoiceT]:
        """The choices in the order of their index.

        Args:
            most: How many were asked for.

        Raises:
            ReplyError: There are more, or they are numbered otherwise.
        """
        found = self.choices
        if len(found) > most:
            raise ReplyError(f"there are {len(found)} choices, and {most} asked for")
        if all(one.index is None for one in found):
            return found
        numbered = {one.index or 0: one for one in found}
        if len(numbered) < len(found) or not set(numbered) <= set(range(most)):
            raise ReplyError("choices do not have the indexes of what was asked for")
        return [numbered[index] for index in sorted(numbered)]


def validated(
    answer: Mapping[str, Any], model: type[Answer[ChoiceT]], expected: str
) -> Answer[ChoiceT]:
    """A server's answer as a model.

    Args:
        answer: What the server sent.
        model: What it should be.
        expected: What messages call that.

    Raises:
        ReplyError: It is something else.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ReplyError(
            f"the server's answer is not {expected}: {_problem(first)}; is the address that of "
            "its OpenAI-compatible interface, with /v1?"
        ) from None


def _problem(error: ErrorDetails) -> str:
    """What is wrong and where, without a value or a key that the server chose."""
    where = ""
    for part in error["loc"]:
        if isinstance(part, int):
            where += f"[{part}]"
        elif part in _FIELDS:
            where += f".{part}"
    where = where.lstrip(".") or "the answer"
    kind = error["type"]
    if kind == "missing":
        return f"{where} is missing"
    if kind == "too_short":
        return f"{where} is empty"
    if kind == "value_error":
        return f"{where}: {error['ctx']['error']}"
    value = error["input"]
    given = _KINDS.get(type(value), "true or false" if isinstance(value, bool) else "nothing")
    if kind in _EXPECTED:
        return f"{where} is {given}, and {_EXPECTED[kind]} was expected"
    return f"{where}: {error['msg'].lower()}"


_FIELDS = frozenset(
    name
    for model in (
        Answer,
        Completion,
        Replied,
        Message,
        TokenObjects,
        TokenColumns,
        ListedToken,
        PromptToken,
        Usage,
        Details,
    )
    for name in model.model_fields
)


Result = TypeVar("Result")

MOST_MASS = 1.001
"""The probabilities of different tokens in one place sum to this at most, rounding included."""

_ABOVE_ZERO = 1e-3
_EXACTLY_ONE = 1e-6
_FEWEST_ALIKE = 3
_FEWEST_OF_OWN = 4
# So much is allowed for until it was measured.
UNKNOWN_NOISE = 0.05


class ReplyError(ScoringError):
    """A server's reply is not of the right form, or cannot be right."""


class WrongRepliesError(UnreliableError):
    """A server's replies to the same request cannot be right, twice in turn."""


def twice(ask: Callable[[], Result], where: str) -> Result:
    """What is asked for, once more where the reply cannot be right.

    Raises:
        WrongRepliesError: The second reply cannot be right either.
        ScoringError: The server failed.
    """
    try:
        return ask()
    except ReplyError:
        pass
    try:
        return ask()
    except ReplyError as error:
        raise WrongRepliesError(
            f"{where}: the server's reply cannot be right, twice in turn: {error}"
        ) from error


def check_logprobs(tokens: Sequence[Token], noise: float = UNKNOWN_NOISE) -> None:
    """Refuses log-probabilities that no model gives.

    Args:
        tokens: What a server returned.
        noise: Nats by which its log-probabilities are known to differ from time to time.

    Raises:
        ReplyError: One is above 0 or no number, those of one place have probabilities that sum to
            more than 1, or all are the same.
    """
    for token in tokens:
        top = [one.logprob for one in token.top if one.logprob is not None]
        for value in top if token.logprob is None else (token.logprob, *top):
            if not value <= _ABOVE_ZERO:
                raise ReplyError(f"it gives a log-probability of {value:.4g}, which is above 0")
        if len(top) >= _FEWEST_ALIKE and len(set(top)) == 1:
            raise ReplyError(f"all its {len(top)} log-probabilities are {top[0]:.4g}")
        summed = mass(token)
        if summed > MOST_MASS * math.exp(noise):
            raise ReplyError(
                f"its {len(top)} most probable tokens have probabilities that sum to "
                f"{summed:.4g}; are its values natural logarithms?"
            )
    own = [token.logprob for token in tokens if token.logprob is not None]
    if len(own) >= _FEWEST_OF_OWN and not any(own):
        raise ReplyError("all its log-probabilities are 0")


def mass(token: Token) -> float:
    """The summed probability of the most probable tokens in a token's place."""
    return sum(math.exp(one.logprob) for one in token.top if one.logprob is not None)


def are_rescaled(tokens: Sequence[Token]) -> bool:
    """Whether the most probable tokens always sum to exactly 1, as if there were no others.

    A server that cuts off unlikely tokens and scales up the others before it reports them does so.
    """
    several = [token for token in tokens if len(token.top) > 1]
    return bool(several) and all(abs(mass(token) - 1) < _EXACTLY_ONE for token in several)
