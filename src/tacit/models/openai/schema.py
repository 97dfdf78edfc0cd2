"""Pydantic models of a server's answers, and checks for impossible values.

An error about a malformed answer contains the location and the type of the problem, but no value
from the answer, because a value may be the API key.
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
"""A log-probability of at most this value means probability 0.

Servers report the log-probability of an impossible token as -9999 or less.
"""

_MOST_DIGITS = 18  # an id has 64 bits
_HALF = re.compile("[\ud800-\udfff]")
_KINDS = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
_EXPECTED = {
    "dict_type": "an object",
    "float_type": "a number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
}


def whole(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """Replace lone surrogates in a text, because files cannot store them."""
    return _HALF.sub("\ufffd", value) if isinstance(value, str) else value


def _finite(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """Convert an int to a float, and return any other value unchanged."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        raise ValueError("is too large for a floating-point number") from None


def _logprob(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    number = _finite(value)
    return None if isinstance(number, float) and number <= NEVER else number


def count(value: object) -> int | None:
    """Return the value if it is an integer, such as a token count; otherwise, return None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_id(digits: str) -> int | None:
    """Convert a text of digits to a token id; return None for any other text."""
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
    """The number of reasoning tokens that a server reports for a reply."""

    reasoning_tokens: Count = None


class Usage(BaseModel):
    """The token counts in a server's answer."""

    prompt_tokens: Count = None
    completion_tokens_details: Annotated[Details, BeforeValidator(_only_object)] = Details()


class TopToken(BaseModel):
    """A token with its log-probability in nats, and its id if the server returns ids."""

    token: Text
    id: Count = None
    logprob: Logprob


class ListedToken(TopToken):
    """A token, and the most probable tokens at its position."""

    top_logprobs: Annotated[list[TopToken], BeforeValidator(_or_none)] = []


class TokenObjects(BaseModel):
    """Log-probabilities in the format of chat completions, with one object per token."""

    content: list[ListedToken]


class TokenColumns(BaseModel):
    """Log-probabilities in the format of completions, as parallel lists of tokens and values."""

    tokens: Annotated[list[Text], BeforeValidator(_or_none)] = []
    token_logprobs: Annotated[list[Logprob], BeforeValidator(_or_none)] = []
    top_logprobs: Annotated[list[Top], BeforeValidator(_or_none)] = []

    @model_validator(mode="after")
    def _are_of_one_length(self) -> TokenColumns:
        for column in (self.token_logprobs, self.top_logprobs):
            if column and len(column) != len(self.tokens):
                raise ValueError("tokens, token_logprobs and top_logprobs differ in length")
        return self


def _layout(logprobs: object) -> str:
    listed = isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list)
    return "objects" if listed else "columns"


class PromptToken(BaseModel):
    """A token of a prompt, in vLLM's format."""

    logprob: Logprob
    decoded_token: Text | None = None


def _one_by_id(entry: dict[str, PromptToken]) -> dict[str, PromptToken]:
    # With prompt_logprobs = 0, an entry contains only the prompt's own token.
    if len(entry) != 1 or written_id(*entry) is None:
        raise ValueError("is not one token id with its log-probability")
    return entry


PromptEntry = Annotated[dict[str, PromptToken], AfterValidator(_one_by_id)]


class Choice(BaseModel):
    """One of the results (``choices``) in a server's answer."""

    index: Number | None = None
    finish_reason: Annotated[str | None, BeforeValidator(_only_text)] = None


class Completion(Choice):
    """A completion or a chat reply, together with its log-probabilities."""

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
    """The message that a model returns in a chat."""

    content: OptionalText = ""
    reasoning_content: OptionalText = ""
    reasoning: OptionalText = ""


class Replied(Choice):
    """One chat reply."""

    message: Message


ChoiceT = TypeVar("ChoiceT", bound=Choice)


class Answer(BaseModel, Generic[ChoiceT]):
    """A server's answer to a completions or chat request."""

    choices: Annotated[list[ChoiceT], Field(min_length=1)]
    usage: Annotated[Usage, BeforeValidator(_or_nothing)] = Usage()
    model: Annotated[str | None, BeforeValidator(_only_text)] = None

    def ordered(self, most: int = 1) -> list[ChoiceT]:
        """Return the choices, sorted by index."""
        found = self.choices
        if len(found) > most:
            raise ReplyError(f"there are {len(found)} choices, but only {most} requested")
        if all(one.index is None for one in found):
            return found
        numbered = {one.index or 0: one for one in found}
        if len(numbered) < len(found) or not set(numbered) <= set(range(most)):
            raise ReplyError("the indexes of the choices do not match the request")
        return [numbered[index] for index in sorted(numbered)]


def validated(
    answer: Mapping[str, Any], model: type[Answer[ChoiceT]], expected: str
) -> Answer[ChoiceT]:
    """Parse and validate a server's answer."""
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ReplyError(
            f"the server's response is not {expected}: {_problem(first)}; does the address point "
            "to the OpenAI-compatible API, with /v1?"
        ) from None


def _problem(error: ErrorDetails) -> str:
    """Describe a validation error and its location, without values from the server."""
    where = ""
    for part in error["loc"]:
        if isinstance(part, int):
            where += f"[{part}]"
        elif part in _FIELDS:
            where += f".{part}"
    where = where.lstrip(".") or "the response"
    kind = error["type"]
    if kind == "missing":
        return f"{where} is missing"
    if kind == "too_short":
        return f"{where} is empty"
    if kind == "value_error":
        return f"{where}: {error['ctx']['error']}"
    value = error["input"]
    given = _KINDS.get(type(value), "a boolean" if isinstance(value, bool) else "null")
    if kind in _EXPECTED:
        return f"{where} is {given}; expected {_EXPECTED[kind]}"
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
"""The largest valid sum of token probabilities at a position, allowing for rounding."""

_ABOVE_ZERO = 1e-3
_EXACTLY_ONE = 1e-6
_FEWEST_ALIKE = 3
_FEWEST_OF_OWN = 4
# The assumed noise in nats until the preflight measures it.
UNKNOWN_NOISE = 0.05


class ReplyError(ScoringError):
    """A server's reply has the wrong format or contains impossible values."""


class WrongRepliesError(UnreliableError):
    """A server's reply was wrong, and the reply to the repeated request was wrong, too."""


def twice(ask: Callable[[], Result], where: str) -> Result:
    """Call a function that returns a reply, and call it once more if the reply is wrong."""
    try:
        return ask()
    except ReplyError:
        pass
    try:
        return ask()
    except ReplyError as error:
        raise WrongRepliesError(
            f"{where}: the server's reply is invalid, twice in a row: {error}"
        ) from error


def check_logprobs(tokens: Sequence[Token], noise: float = UNKNOWN_NOISE) -> None:
    """Reject log-probabilities that no language model can produce."""
    for token in tokens:
        top = [one.logprob for one in token.top if one.logprob is not None]
        for value in top if token.logprob is None else (token.logprob, *top):
            if not value <= _ABOVE_ZERO:
                raise ReplyError(f"it returns a log-probability of {value:.4g}, which is above 0")
        if len(top) >= _FEWEST_ALIKE and len(set(top)) == 1:
            raise ReplyError(f"all its {len(top)} log-probabilities are {top[0]:.4g}")
        summed = mass(token)
        if summed > MOST_MASS * math.exp(noise):
            raise ReplyError(
                f"the probabilities of its {len(top)} most probable tokens sum to {summed:.4g}; "
                "are its values natural logarithms?"
            )
    own = [token.logprob for token in tokens if token.logprob is not None]
    if len(own) >= _FEWEST_OF_OWN and not any(own):
        raise ReplyError("all its log-probabilities are 0")


def mass(token: Token) -> float:
    """Return the sum of the probabilities of the tokens that are listed at a position."""
    return sum(math.exp(one.logprob) for one in token.top if one.logprob is not None)


def are_rescaled(tokens: Sequence[Token]) -> bool:
    """Return whether the listed probabilities sum to exactly 1 at every position."""
    several = [token for token in tokens if len(token.top) > 1]
    return bool(several) and all(abs(mass(token) - 1) < _EXACTLY_ONE for token in several)
