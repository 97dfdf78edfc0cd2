"""Faults of the values of named tokens alone; next tokens and echoes are right."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.models.openai import naming
from tests.models.openai.matrix import faults
from tests.models.openai.matrix.faults import NAMED, Fault, Road
from tests.models.openai.matrix.honest import Server, honest
from tests.models.openai.matrix.positions import Entry, tops, values
from tests.models.openai.model import Answer
from tests.models.openai.serving import Asked, Respond

VLLM: tuple[Road, ...] = NAMED[:1]
SGLANG: tuple[Road, ...] = NAMED[1:]

Entries = tuple[Entry, ...]


def _is_about_named(asked: Asked) -> bool:
    return "items" in asked.body or "logprob_token_ids" in asked.body


def _only_named(make: Callable[[], Respond]) -> Callable[[], Respond]:
    """Requests that name tokens are answered so, and all others rightly."""

    def made() -> Respond:
        respond = make()
        return lambda asked, server: (
            respond(asked, server) if _is_about_named(asked) else server.answer(asked.body)
        )

    return made


def _of_named(respond: Respond) -> Callable[[], Respond]:
    return _only_named(lambda: respond)


def _changed(change: Callable[[Answer], Answer]) -> Callable[[], Respond]:
    return _of_named(lambda asked, server: change(server.answer(asked.body)))


def _on_tops(change: Callable[[Entries], Entries]) -> Callable[[], Respond]:
    return _changed(lambda answer: tops(answer, change))


def _asked_with(**fields: Any) -> Callable[[], Respond]:  # noqa: ANN401 - fields of a request
    return _of_named(lambda asked, server: server.answer({**asked.body, **fields}))


def _heated() -> Respond:
    """Temperature is applied before log-probabilities are computed."""
    models: dict[float, Any] = {}

    def respond(asked: Asked, server: Server) -> Answer:
        heat = float(asked.body["temperature"])
        models.setdefault(heat, honest(server.form, heat=heat))
        return dict(models[heat].answer(asked.body))

    return respond


def _least(top: Entries) -> list[float]:
    """The value that the twentieth of the most probable tokens has, if there are so many."""
    return sorted((one.value for one in top if one.value is not None), reverse=True)[19:20]


def _unlisted_lost(top: Entries) -> Entries:
    (least,) = _least(top) or [-1e9]
    return tuple(one for one in top if one.value is not None and one.value >= least)


def _unlisted_never(top: Entries) -> Entries:
    (least,) = _least(top) or [-1e9]
    return tuple(one if one.value >= least else replace(one, value=-9999.0) for one in top)


def _unlisted_alike(top: Entries) -> Entries:
    (least,) = _least(top) or [-1e9]
    return tuple(replace(one, value=max(one.value, least)) for one in top)


def _rotated(top: Entries) -> Entries:
    """Each token has the value of the one named before it."""
    return tuple(
        replace(one, value=other.value)
        for one, other in zip(top, (*top[-1:], *top[:-1]), strict=True)
    )


def _in_order_of_value(top: Entries) -> Entries:
    ordered = sorted(top, key=lambda one: -one.value)
    return tuple(replace(one, value=other.value) for one, other in zip(top, ordered, strict=True))


def _reversed(answer: Answer) -> Answer:
    if "token_logprobs" in answer:
        return {**answer, "token_logprobs": answer["token_logprobs"][::-1]}
    choices = [{**choice, "index": at} for at, choice in enumerate(answer.get("choices", [])[::-1])]
    return {**answer, "choices": choices}


def _prompts(change: Callable[[list[int]], list[int]]) -> Callable[[], Respond]:
    """Prompts are changed, but counted and shown as they were sent."""

    def respond(asked: Asked, server: Server) -> Answer:
        sent: Any = naming.prompts_of(asked.body)
        answer = server.answer(naming.with_prompts(asked.body, [change(one) for one in sent]))
        answer["usage"]["prompt_tokens"] = sum(map(len, sent))
        for choice, ids in zip(answer.get("choices", []), sent, strict=False):
            choice["prompt_token_ids"] = ids
        return answer

    return _of_named(respond)


def _cut(asked: Asked, server: Server) -> Answer:
    """Prompts that are too long are cut off, and counted as they are read."""
    sent: Any = naming.prompts_of(asked.body)
    most = server.manners.window - 8
    return server.answer(naming.with_prompts(asked.body, [one[:most] for one in sent]))


def _of_previous() -> Respond:
    """The values of the request before, of which a buffer still contains some."""
    before: list[Answer] = []

    def respond(asked: Asked, server: Server) -> Answer:
        own = server.answer(asked.body)
        with server.lock:
            answer, before[:] = (before or [own])[0], [own]
        return {**answer, "usage": own["usage"]}

    return respond


_VLLM, _IDS = "vllm-project/vllm#43463", "vllm-project/vllm#44319"
_TOP_K, _LISTED = "vllm-project/vllm#9453", "vllm-project/vllm#16546"

FAULTS = (
    Fault("named: temperature applied", "standardcompletions/rfcs#11", _only_named(_heated), NAMED),
    Fault("named: temperature of 0.7", _TOP_K, _only_named(faults._heated(0.7)), NAMED),
    Fault("named: only the likeliest 20 come back", _VLLM, _on_tops(_unlisted_lost), NAMED),
    Fault("named: -9999 below 20", _LISTED, _on_tops(_unlisted_never), NAMED),
    Fault("named: one value below 20", _LISTED, _on_tops(_unlisted_alike), NAMED),
    Fault("named: by their texts", _IDS, _asked_with(return_tokens_as_token_ids=False), VLLM),
    Fault("named: the first 64 alone", _VLLM, _on_tops(lambda top: top[:65]), NAMED),
    Fault("named: values of other tokens", _VLLM, _on_tops(_rotated), NAMED),
    Fault("named: in the order of values", _IDS, _on_tops(_in_order_of_value), NAMED),
    Fault(
        "named: logits",
        "ml-explore/mlx-examples#806",
        _changed(lambda answer: values(answer, lambda value: value + 9)),
        NAMED,
    ),
    Fault("named: renormalised among themselves", _TOP_K, _on_tops(faults._renormalised), NAMED),
    Fault("named: prompts in reverse order", "sgl-project/sglang#4593", _changed(_reversed), NAMED),
    Fault("named: the request before", "vllm-project/vllm#42019", _only_named(_of_previous), NAMED),
    Fault(
        "named: the last 40 tokens, counts all",
        "ollama/ollama#3839",
        _prompts(lambda ids: ids[-40:]),
        NAMED,
    ),
    Fault(
        "named: a BOS that is not counted",
        "abetlen/llama-cpp-python#1501",
        _prompts(lambda ids: [0, *ids]),
        NAMED,
    ),
    Fault("named: too long prompts are cut", "mmcdermott/MEDS_EIC_AR#172", _of_named(_cut), NAMED),
)
"""Ways in which the values of named tokens may be wrong although those of next tokens are right."""
