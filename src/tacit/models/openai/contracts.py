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
            listed = given.probabilities if one.positive is None else []
            values = {each.value: each.probability for each in listed}
            if len(values) < len(listed):
                raise ReplyError("it gives several probabilities of the same option")
            alike = NamedJudged(type=given.type, noul=given.probability, probabilities=values)
            found.append(_decided(one, alike))
        return found


class _NamedContract(Contract):
    """A contract whose answers have the names of the questions."""

    reply = NamedJudgements

    def read(self, answer: NamedJudgements, asked: Asked) -> list[Decided]:
        if answer.answers.keys() != asked.keys():
            raise ReplyError(
                f"it has {len(answer.answers)} answers to {len(asked)} questions, or answers with "
                "the names of other questions"
            )
        masses = {name: one.label_mass for name, one in answer.diagnostics.items()}
        return [
            _decided(one, answer.answers[name], masses.get(name)) for name, one in asked.items()
        ]


class SGLang(_NamedContract):
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


class SystemOne(_NamedContract):
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


def _decided(asked: Decision, given: NamedJudged, mass: float | None = None) -> Decided:
    """Check the probabilities of a decision's options."""
    if given.type == REFUSAL:
        return Decided.from_probabilities(asked, None)
    mass = given.label_mass if mass is None else mass
    found = given.probabilities if asked.positive is None else _of_statement(asked, given)
    names = options_of(asked)
    if found.keys() != set(names):
        raise ReplyError("it gives probabilities of other options than those of the question")
    for value in (*found.values(), *([] if mass is None else [mass])):
        if not 0 <= value <= 1 + _ROUNDED:
            raise ReplyError(f"it gives a probability of {value:.4g}")
    total = sum(found.values())
    if abs(total - 1) > _ROUNDED * len(names):
        raise ReplyError(f"the probabilities of a question's options sum to {total:.4g}")
    values = {one: min(1.0, found[one.strip()]) for one in asked.options}
    return Decided.from_probabilities(asked, values, mass)


def _of_statement(asked: Decision, given: NamedJudged) -> dict[str, float]:
    """Return the probabilities of the options true and false, or yes and no."""
    values = given.probabilities
    if not values:
        if given.noul is None:
            raise ReplyError("it gives no probability that a statement is true")
        values = {_YES: given.noul, _NO: 1 - given.noul}
    if values.keys() != {_YES, _NO}:
        raise ReplyError("it gives no probabilities of yes and no")
    return {
        option.strip(): values[_YES if option == asked.positive else _NO]
        for option in asked.options
    }
