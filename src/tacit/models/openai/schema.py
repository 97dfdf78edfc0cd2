"""Pydantic models of a server's answers.

An error about a malformed answer contains the location and the type of the problem, but no value
from the answer, because a value may be the API key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, Strict, ValidationError
from pydantic_core import ErrorDetails

from tacit.errors import ScoringError, UnreliableError

NEVER = -9000.0
"""Servers report the log-probability of an impossible token as -9999 or less."""

_MOST_DIGITS = 18  # an id has 64 bits
_HALF = re.compile("[\ud800-\udfff]")


def whole(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """Replace lone surrogates in a text, because files cannot store them."""
    return _HALF.sub("\ufffd", value) if isinstance(value, str) else value


def _float(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        raise ValueError("is too large for a floating-point number") from None


def _logprob(value: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    number = _float(value)
    return None if isinstance(number, float) and number <= NEVER else number


def count(value: object) -> int | None:
    """Return the value if it is an integer, such as a token count; otherwise, return None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_id(digits: str) -> int | None:
    """Convert a text of digits to a token id; return None for any other text."""
    is_one = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_one else None


def _or(nothing: object) -> BeforeValidator:
    return BeforeValidator(lambda value: value or nothing)


def _only(kind: type, other: object) -> BeforeValidator:
    return BeforeValidator(lambda value: value if isinstance(value, kind) else other)


def _named(*names: str) -> Any:  # noqa: ANN401 - of pydantic
    return Field(validation_alias=AliasChoices(*names))


Text = Annotated[str, Strict(), BeforeValidator(whole)]
OptionalText = Annotated[str, Strict(), BeforeValidator(whole), _or("")]
Number = Annotated[float, Strict(), BeforeValidator(_float)]
Count = Annotated[int | None, BeforeValidator(count)]
Logprob = Annotated[float | None, Strict(), BeforeValidator(_logprob)]


class CompletionDetails(BaseModel):
    reasoning_tokens: Count = None


class Usage(BaseModel):
    prompt_tokens: Annotated[Count, _named("prompt_tokens", "input_tokens")] = None
    completion_tokens_details: Annotated[CompletionDetails, _only(dict, {})] = CompletionDetails()


class TopToken(BaseModel):
    token: Text
    id: Count = None
    logprob: Logprob


class ListedToken(TopToken):
    top_logprobs: Annotated[list[TopToken], _or([])] = []


def _as_objects(logprobs: Any) -> Any:  # noqa: ANN401 - whatever a server sends
    """Convert parallel lists, the format of completions, to one object per token, as in chats."""
    if not isinstance(logprobs, dict) or isinstance(logprobs.get("content"), list):
        return logprobs
    columns = [logprobs.get(name) or [] for name in ("tokens", "token_logprobs", "top_logprobs")]
    if not all(isinstance(column, list) for column in columns):
        raise ValueError("tokens, token_logprobs and top_logprobs must be lists")
    tokens, values, tops = columns
    values, tops = values or [None] * len(tokens), tops or [{}] * len(tokens)
    if not len(tokens) == len(values) == len(tops):
        raise ValueError("tokens, token_logprobs and top_logprobs differ in length")
    if not all(isinstance(top or {}, dict) for top in tops):
        raise ValueError("top_logprobs must contain objects")
    return {
        "content": [
            {
                "token": token,
                "logprob": value,
                "top_logprobs": [{"token": one, "logprob": top[one]} for one in top or {}],
            }
            for token, value, top in zip(tokens, values, tops, strict=True)
        ]
    }


class Logprobs(BaseModel):
    content: list[ListedToken]


class Choice(BaseModel):
    index: Number | None = None
    finish_reason: Annotated[str | None, _only(str, None)] = None


class Completion(Choice):
    logprobs: Annotated[Logprobs | None, BeforeValidator(_as_objects)] = None
    prompt_token_ids: Annotated[tuple[int, ...] | None, _only(list, None)] = None


class Message(BaseModel):
    content: OptionalText = ""
    reasoning_content: OptionalText = ""
    reasoning: OptionalText = ""


class Replied(Choice):
    message: Message


class Reply(BaseModel):
    """A server's answer to a request of any kind."""

    usage: Annotated[Usage, _or({})] = Usage()
    model: Annotated[str | None, _only(str, None)] = None

    @property
    def finish_reasons(self) -> list[str]:
        """The reasons for which the server stopped to write, if it says so."""
        return []


class ScoredItems(Reply):
    """SGLang's log-probabilities of the tokens that were named for each item."""

    token_logprobs: list[list[Logprob]]


class Tokenized(Reply):
    tokens: list[tuple[int, ...]]


ChoiceT = TypeVar("ChoiceT", bound=Choice)


class Answer(Reply, Generic[ChoiceT]):
    """A server's answer to a completions or chat request."""

    choices: Annotated[list[ChoiceT], Field(min_length=1)]

    @property
    def finish_reasons(self) -> list[str]:
        return [one.finish_reason for one in self.choices if one.finish_reason]

    def ordered(self, most: int = 1) -> list[ChoiceT]:
        """Return the choices, sorted by index."""
        if len(self.choices) > most:
            raise ReplyError(f"there are {len(self.choices)} choices, but only {most} requested")
        if all(one.index is None for one in self.choices):
            return self.choices
        numbered = {one.index or 0: one for one in self.choices}
        if len(numbered) < len(self.choices) or not set(numbered) <= set(range(most)):
            raise ReplyError("the indexes of the choices do not match the request")
        return [numbered[index] for index in sorted(numbered)]


class OptionProbability(BaseModel):
    value: Text
    probability: Number


class Judged(BaseModel):
    """The answer to a question in OpenAI's decisions."""

    type: Text
    name: OptionalText = ""
    probability: Number | None = None
    probabilities: Annotated[list[OptionProbability], _or([])] = []


class Judgements(Reply):
    """A server's answer to OpenAI's decisions, in the order of the questions."""

    answers: list[Judged]


class NamedJudged(BaseModel):
    """The answer to a question in the decisions of SGLang and of System One."""

    type: Text
    noul: Number | None = None
    probabilities: Annotated[dict[Text, Number], _or({})] = {}
    label_mass: Annotated[Number | None, _named("label_mass", "x_label_mass")] = None
    prompt_token_ids: Annotated[list[int], _or([])] = []


class Diagnostics(BaseModel):
    """What vLLM adds to an answer of System One."""

    label_mass: Number | None = None


class NamedJudgements(Reply):
    """A server's answer to the decisions of SGLang or of System One, by the questions' ids."""

    answers: dict[Text, NamedJudged]
    diagnostics: Annotated[dict[Text, Diagnostics], _or({})] = {}
    prompt_format_version: Count = None


ReplyT = TypeVar("ReplyT", bound=Reply)


def validated(answer: Mapping[str, Any], model: type[ReplyT]) -> ReplyT:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ReplyError(
            f"the server's response is not {_KINDS.get(model, 'a completion')}: "
            f"{_problem(first)}; does the address point to the OpenAI-compatible API, with /v1?"
        ) from None


def _problem(error: ErrorDetails) -> str:
    """Describe a validation error and its location, without values or keys from the server."""
    parts = [
        f"[{part}]" if isinstance(part, int) else f".{part}"
        for part in error["loc"]
        if isinstance(part, int) or part in _FIELDS
    ]
    where = "".join(parts).lstrip(".") or "the response"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"


_KINDS: Mapping[type[Reply], str] = dict.fromkeys((Judgements, NamedJudgements), "a decision")
_READ = (
    *(Answer, Completion, Replied, Message, Logprobs, ListedToken),
    *(ScoredItems, Tokenized),
    *(Judgements, Judged, OptionProbability, NamedJudgements, NamedJudged, Diagnostics),
)
_FIELDS = frozenset(
    name for model in (*_READ, Usage, CompletionDetails) for name in model.model_fields
)


class ReplyError(ScoringError):
    """A server's reply has the wrong format or contains impossible values."""


class WrongRepliesError(UnreliableError):
    """A server's reply was wrong, and the reply to the repeated request was wrong, too."""
