"""The decisions of the server for tests, worded not at all: a text, a separator and its answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tests.models.openai.speaking import Refusal

Form = Literal["openai", "sglang", "systemone"]

Values = list[float]


class Question(NamedTuple):
    """A question of any form; of a statement, the first option is the positive one."""

    name: str
    text: str
    options: tuple[str, ...]
    is_statement: bool


@dataclass
class Deciding:
    """How the server decides; without a form, it has no decisions."""

    form: Form | None = None
    most: int = 400  # the most questions of a request
    options: int = 255  # the most options of a question
    separator: str = "\n"
    # What is offered as answers to a statement; the positive one first.
    words: tuple[str, str] = ("True", "False")
    # Changes the probabilities of a question, given its number among all questions.
    changes: Callable[[Values, int, Sequence[Question]], Values] = lambda values, _, __: values
    refuses: Callable[[str], bool] = lambda _: False
    mass: float = 0.75  # the probability of all options' labels


def questions_of(form: Form, body: Mapping[str, Any], words: tuple[str, str]) -> list[Question]:
    """Read a request in one of the forms; refuse another form's, as the servers do."""
    _, named, *_ = _FIELDS[form]
    try:
        _only(body, *(_SGLANG if form == "sglang" else ("model", _INPUT[form], "questions")))
        asked = body["questions"] if named else body["questions"].items()
        pairs = [(one[named], one) for one in asked] if named else asked
        return [_question(form, name, one, words) for name, one in pairs]
    except (KeyError, TypeError, AttributeError) as error:
        raise Refusal(f"malformed request: {error!r}") from error


_FIELDS: dict[Form, tuple[str, str | None, str, str, str | None]] = {
    "openai": ("predicate", "name", "instructions", "choices", "value"),
    "sglang": ("yes_no", "id", "question", "options", "name"),
    "systemone": ("noul", None, "instructions", "criteria", None),
}
"""The type of a statement; what a question's name, text and options are called, and an option."""

_INPUT = {"openai": "input", "systemone": "state"}
_SGLANG = ("model", "input", "questions", "prompt_format_version", "return_prompt_token_ids")


def _only(body: Mapping[str, Any], *names: str) -> None:
    if unknown := set(body) - set(names):
        raise Refusal(f"unknown fields: {sorted(unknown)}")


def _question(form: Form, name: str, one: Mapping[str, Any], words: tuple[str, str]) -> Question:
    statement, named, text, options, option = _FIELDS[form]
    is_statement = one["type"] == statement
    _only(one, "type", text, *([named] if named else []), *[options] * (not is_statement))
    given = () if is_statement else one[options]
    values = tuple(each[option] if option else each for each in given)
    return Question(name, one[text], words if is_statement else values, is_statement)


def decide(
    language: Any,  # noqa: ANN401 - a Language
    how: Deciding,
    body: Mapping[str, Any],
    window: int,
) -> dict[str, Any]:
    assert how.form
    asked = questions_of(how.form, body, how.words)
    if len(asked) > how.most:
        raise Refusal(f"at most {how.most} questions")
    if max(len(one.options) for one in asked) > how.options:
        raise Refusal(f"at most {how.options} options")
    sizes = [len(language.tokenizer.encode(one.text).ids) for one in asked]
    if max(sizes) > window:
        raise Refusal(f"a question has {max(sizes)} tokens, and the window has {window}")
    found: list[Values | None] = []
    for number, one in enumerate(asked):
        values = _probabilities(language, one.text + how.separator, one.options)
        refused = how.refuses(one.text)
        found.append(None if refused else how.changes(values, number, asked))
    answer = _FORMS[how.form](asked, found, how.mass)
    tokens = sum(sizes)
    count = "prompt_tokens" if how.form == "sglang" else "input_tokens"
    if how.form == "sglang" and body.get("return_prompt_token_ids"):
        for each, one in zip(answer["answers"].values(), asked, strict=True):
            each["prompt_token_ids"] = language.tokenizer.encode(one.text).ids
    return {"model": "toy", "usage": {count: tokens}, **answer}


def _probabilities(language: Any, text: str, options: Sequence[str]) -> Values:  # noqa: ANN401 - a Language
    """Return the softmax over options of the log-probabilities of the tokens behind a text."""
    before = tuple(language.tokenizer.encode(text).ids)
    values = []
    for option in options:
        ids = tuple(language.tokenizer.encode(text + option).ids)
        begin = len(before)
        while ids[:begin] != before[:begin]:
            begin -= 1
        following = (float(language.following(ids[:at])[ids[at]]) for at in range(begin, len(ids)))
        values.append(sum(following))
    shares = np.exp(np.array(values) - np.logaddexp.reduce(values))
    return [float(share) for share in shares]


def _in_openai(asked: Sequence[Question], found: Sequence[Values | None], mass: float) -> Any:  # noqa: ANN401 - JSON
    def answer(one: Question, values: Values | None) -> dict[str, Any]:
        if values is None:
            return {"type": "refusal", "name": one.name}
        if one.is_statement:
            return {"type": "predicate", "name": one.name, "probability": values[0]}
        pairs = zip(one.options, values, strict=True)
        return {
            "type": "choice",
            "name": one.name,
            "choice": one.options[int(np.argmax(values))],
            "probabilities": [{"value": option, "probability": p} for option, p in pairs],
            "confidence": max(values) * mass,
        }

    return {"answers": [answer(*each) for each in zip(asked, found, strict=True)]}


def _in_sglang(asked: Sequence[Question], found: Sequence[Values | None], mass: float) -> Any:  # noqa: ANN401 - JSON
    def answer(one: Question, values: Values | None) -> dict[str, Any]:
        if values is None:
            return {"type": "refusal"}
        names = ("yes", "no") if one.is_statement else one.options
        kind = "yes_no" if one.is_statement else "choice"
        return {
            "type": kind,
            "probabilities": dict(zip(names, values, strict=True)),
            "label_mass": mass,
        }

    answers = {one.name: answer(one, values) for one, values in zip(asked, found, strict=True)}
    return {"object": "decisions", "prompt_format_version": 1, "answers": answers}


def _in_systemone(asked: Sequence[Question], found: Sequence[Values | None], mass: float) -> Any:  # noqa: ANN401 - JSON
    def answer(one: Question, values: Values | None) -> dict[str, Any]:
        if values is None:
            return {"type": "refusal"}
        if one.is_statement:
            return {"type": "noul", "noul": values[0], "confidence": max(values) * mass}
        by_option = dict(zip(one.options, values, strict=True))
        return {"type": "choice", "probabilities": by_option, "confidence": max(values) * mass}

    answers = {one.name: answer(one, values) for one, values in zip(asked, found, strict=True)}
    diagnostics = {one.name: {"label_mass": mass, "argmax_is_label": True} for one in asked}
    return {"object": "structured_decision", "answers": answers, "diagnostics": diagnostics}


_FORMS = {"openai": _in_openai, "sglang": _in_sglang, "systemone": _in_systemone}
