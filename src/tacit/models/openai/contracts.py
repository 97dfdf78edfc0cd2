"""The contracts of decisions: how servers are asked to decide, and how their answers are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from tacit.models.openai.schema import (
    Judgements,
    NamedJudged,
    NamedJudgements,
    Reply,
    ReplyError,
)
from tacit.requests import Decided, Decision

INPUT = "Answer from general knowledge."
"""What questions are about, which all contracts require; a prompt's text is a question."""

REFUSAL = "refusal"

_ROUNDED = 1e-3
"""By how much rounding may change the sum of probabilities, for each option."""

_YES, _NO = "yes", "no"

Asked = Mapping[str, Decision]
"""The decisions of a request, by the names that they have in it."""


class Contract(ABC):
    """A form of requests and answers, as several servers have it."""

    name: ClassVar[str]
    path: ClassVar[str]
    reply: ClassVar[type[Reply]]
    questions: ClassVar[tuple[int, ...]]
    """Numbers of questions per request, tried in order until a server accepts one."""

    @abstractmethod
    def fields(self, asked: Asked, version: int | None) -> dict[str, Any]:
        """Return the fields of a request; ``version`` is that of the wording that is expected."""

    @abstractmethod
    def read(self, answer: Any, asked: Asked) -> list[Decided]:  # noqa: ANN401 - a ``reply``
        """Return the answers in the order of the decisions."""


class OpenAI(Contract):
    """OpenAI's decisions, which vLLM serves as well."""

    name = "OpenAI's decisions"
    path = "/decisions"
    reply = Judgements
    questions = (400, 200, 64, 16, 4, 1)

    def fields(self, asked: Asked, version: int | None) -> dict[str, Any]:  # noqa: ARG002 - see Contract
        def question(name: str, one: Decision) -> dict[str, Any]:
            if one.positive is not None:
                return {"type": "predicate", "name": name, "instructions": one.text}
            choices = [{"value": option} for option in options_of(one)]
            return {"type": "choice", "name": name, "instructions": one.text, "choices": choices}

        return {"input": INPUT, "questions": [question(*each) for each in asked.items()]}

    def read(self, answer: Judgements, asked: Asked) -> list[Decided]:
        if len(answer.answers) != len(asked):
            raise ReplyError(f"it has {len(answer.answers)} answers to {len(asked)} questions")
        found = []
        for (name, one), given in zip(asked.items(), answer.answers, strict=True):
            if given.name not in {"", name}:
                raise ReplyError("its answers have the names of other questions")
            if given.type == REFUSAL:
                found.append(Decided.from_probabilities(one, None))
            elif one.positive is not None:
                found.append(_by_truth(one, given.probability))
            else:
                values = {each.value: each.probability for each in given.probabilities}
                if len(values) < len(given.probabilities):
                    raise ReplyError("it gives several probabilities of the same option")
                found.append(_by_option(one, values))
        return found


class _Named(Contract):
    """A contract whose answers have the names of the questions."""

    reply = NamedJudgements

    def read(self, answer: NamedJudgements, asked: Asked) -> list[Decided]:
        if answer.answers.keys() != asked.keys():
            raise ReplyError(
                f"it has {len(answer.answers)} answers to {len(asked)} questions, or answers with "
                "the names of other questions"
            )
        masses = {name: one.label_mass for name, one in answer.diagnostics.items()}
        return [_named(one, answer.answers[name], masses.get(name)) for name, one in asked.items()]


class SGLang(_Named):
    """SGLang's decisions, which share the address of OpenAI's and nothing else."""

    name = "SGLang's decisions"
    path = "/decisions"
    questions = (400, 64, 16, 4, 1)

    def fields(self, asked: Asked, version: int | None) -> dict[str, Any]:
        def question(name: str, one: Decision) -> dict[str, Any]:
            if one.positive is not None:
                return {"id": name, "type": "yes_no", "question": one.text}
            options = [{"name": option} for option in options_of(one)]
            return {"id": name, "type": "choice", "question": one.text, "options": options}

        pinned = {} if version is None else {"prompt_format_version": version}
        questions = [question(*each) for each in asked.items()]
        ids = {"return_prompt_token_ids": True} if len(asked) == 1 else {}
        return {"input": INPUT, "questions": questions, **pinned, **ids}


class SystemOne(_Named):
    """The decisions of TypeSafe's System One, which vLLM, llama.cpp and SGLang serve."""

    name = "System One"
    path = "/systemone"
    questions = (64, 16, 4, 1)

    def fields(self, asked: Asked, version: int | None) -> dict[str, Any]:  # noqa: ARG002 - see Contract
        def question(one: Decision) -> dict[str, Any]:
            if one.positive is not None:
                return {"type": "noul", "instructions": one.text}
            criteria = dict.fromkeys(options_of(one))
            return {"type": "choice", "instructions": one.text, "criteria": criteria}

        return {"state": INPUT, "questions": {name: question(one) for name, one in asked.items()}}


def options_of(asked: Decision) -> list[str]:
    """Return the options of a decision as they are sent."""
    return [one.strip() for one in asked.options]


def _named(asked: Decision, given: NamedJudged, mass: float | None) -> Decided:
    mass = given.label_mass if mass is None else mass
    if given.type == REFUSAL:
        return Decided.from_probabilities(asked, None)
    if asked.positive is None:
        return _by_option(asked, given.probabilities, mass)
    if not given.probabilities:
        return _by_truth(asked, given.noul, mass)
    if given.probabilities.keys() != {_YES, _NO}:
        raise ReplyError("it gives no probabilities of yes and no")
    by_option = {
        option.strip(): given.probabilities[_YES if option == asked.positive else _NO]
        for option in asked.options
    }
    return _by_option(asked, by_option, mass)


def _by_truth(asked: Decision, p: float | None, mass: float | None = None) -> Decided:
    """Return the answer to a question between true and false, or yes and no."""
    if p is None:
        raise ReplyError("it gives no probability that a statement is true")
    by_option = {
        option.strip(): p if option == asked.positive else 1 - p for option in asked.options
    }
    return _by_option(asked, by_option, mass)


def _by_option(asked: Decision, given: Mapping[str, float], mass: float | None = None) -> Decided:
    names = options_of(asked)
    if given.keys() != set(names):
        raise ReplyError("it gives probabilities of other options than those of the question")
    for value in (*given.values(), *([] if mass is None else [mass])):
        if not 0 <= value <= 1 + _ROUNDED:
            raise ReplyError(f"it gives a probability of {value:.4g}")
    total = sum(given.values())
    if abs(total - 1) > _ROUNDED * len(names):
        raise ReplyError(f"the probabilities of a question's options sum to {total:.4g}")
    values = {one: min(1.0, given[one.strip()]) for one in asked.options}
    return Decided.from_probabilities(asked, values, mass)
