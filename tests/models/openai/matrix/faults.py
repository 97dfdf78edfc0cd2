"""The faults of servers that were seen in practice, each with a report of it."""

import copy
import hashlib
import json
import math
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tests.models.openai import naming
from tests.models.openai.matrix.honest import Server, honest
from tests.models.openai.matrix.language import language, tokenizer
from tests.models.openai.matrix.positions import (
    Entry,
    Position,
    Positions,
    changed,
    entries,
    tops,
    values,
)
from tests.models.openai.model import TEMPLATE, Answer, Model
from tests.models.openai.serving import Asked, Respond, Sent

Road = Literal[
    "echo",
    "echo+tokenizer",
    "next+tokenizer",
    "ollama+tokenizer",
    "vllm's named+tokenizer",
    "sglang's named+tokenizer",
    "chat",
    "votes",
    "decisions",
]
"""How a server is used: completions that echo, without and with a tokenizer; next tokens alone, as
completions or as Ollama generates them; named tokens; first tokens in the chat; sampled replies;
decisions between options."""

NAMED: tuple[Road, ...] = ("vllm's named+tokenizer", "sglang's named+tokenizer")
ROADS: tuple[Road, ...] = (
    *("echo", "echo+tokenizer", "next+tokenizer", "ollama+tokenizer"),
    *NAMED,
    *("chat", "votes", "decisions"),
)
ECHO: tuple[Road, ...] = ("echo", "echo+tokenizer")
NEXT: tuple[Road, ...] = ("next+tokenizer", "ollama+tokenizer")
COMPLETIONS: tuple[Road, ...] = (*ECHO, *NEXT, *NAMED)
SCORED: tuple[Road, ...] = (*COMPLETIONS, "chat")
WRITTEN: tuple[Road, ...] = (*SCORED, "votes")
VOTES: tuple[Road, ...] = ("votes",)
DECISIONS: tuple[Road, ...] = ("decisions",)
TRANSPORT: tuple[Road, ...] = ("echo+tokenizer", *NAMED, "chat", "votes", "decisions")
"""How an answer travels is the same for all completions."""

Start = Literal["first", "midway"]
"""When it begins: with the first request, or 60 requests after the preflight."""

STARTS: tuple[Start, ...] = ("first", "midway")

TEMPLATED = "a chat's template may add to a text as its model wants it"
MODEL = "it is as if another model were served, which answers all prompts alike"
UNKNOWN = "without a tokenizer nobody knows whether it is the model's own way"
SAME = "each text is always answered by the same model, so that none is answered in two ways"
SHAPED = "the values are a distribution, of the model at another temperature"
CHANCE = "few requests are concerned; it is seen where one of the texts asked again is among them"

PATIENCE = 2.0
"""Seconds that an answer is waited for in the matrix."""


@dataclass(frozen=True)
class Hidden:
    """Where a fault cannot be seen from outside, whatever a client asks, and why."""

    why: str
    roads: tuple[Road, ...] = ROADS
    starts: tuple[Start, ...] = ("first",)


@dataclass(frozen=True)
class Fault:
    """One way in which servers go wrong, and the issue of a project in which it was reported."""

    name: str
    issue: str
    make: Callable[[], Respond]
    roads: tuple[Road, ...] = ROADS
    starts: tuple[Start, ...] = STARTS
    hidden: Hidden | None = None

    def hides(self, road: Road, start: Start) -> bool:
        hidden = self.hidden
        return hidden is not None and road in hidden.roads and start in hidden.starts


def on_text(change: Callable[[str], str], *, recounted: bool = False) -> Callable[[], Respond]:
    """The server changes each text before it reads it, and may count the text as it was."""

    def respond(asked: Asked, server: Server) -> Answer:
        if naming.is_named(asked.body):
            return _on_prompts(change, asked, server, recounted=recounted)
        answer = server.answer(asked.each(change))
        if recounted:
            honest = server.answer(asked.body)["usage"]
            answer["usage"] |= {name: n for name, n in honest.items() if name.endswith("_tokens")}
        return answer

    return lambda: respond


def _on_prompts(
    change: Callable[[str], str], asked: Asked, server: Server, *, recounted: bool
) -> Answer:
    """Change each of several prompts, which are shown as they were where they are counted so."""
    prompts = naming.prompts_of(asked.body)
    texts = [one if isinstance(one, str) else _decoded(one) for one in prompts]
    changed = [change(text) or text for text in texts]
    if isinstance(prompts[0], str):
        return server.answer(naming.with_prompts(asked.body, changed))
    answer = server.answer(naming.with_prompts(asked.body, list(map(_ids, changed))))
    if recounted:
        answer["usage"]["prompt_tokens"] = sum(map(len, prompts))
        for choice, ids in zip(answer.get("choices", []), prompts, strict=False):
            choice["prompt_token_ids"] = ids
    return answer


def on_body(**fields: object) -> Callable[[], Respond]:
    return lambda: lambda asked, server: server.answer({**asked.body, **fields})


def on_answer(change: Callable[[Answer], Answer | Sent]) -> Callable[[], Respond]:
    return lambda: lambda asked, server: change(server.answer(asked.body))


def some(change: Callable[[Answer], Any], every: int) -> Callable[[], Respond]:
    def respond(asked: Asked, server: Server) -> Any:  # noqa: ANN401 - an answer, or what is sent
        answer = server.answer(asked.body)
        return change(answer) if asked.number % every == every - 1 else answer

    return lambda: respond


# Texts


def _ids(text: str) -> list[int]:
    return list(tokenizer().encode(text).ids)


def _decoded(ids: list[int]) -> str:
    return str(tokenizer().decode(ids, skip_special_tokens=False))


def _last(most: int) -> Callable[[str], str]:
    return lambda text: _decoded(_ids(text)[-most:])


def _middle_out(text: str) -> str:
    ids = _ids(text)
    return text if len(ids) <= 32 else _decoded([*ids[:16], *ids[-16:]])


TEXTS = [
    Fault(
        "trims trailing white space, counts as it was",
        "lm-sys/FastChat#3259",
        on_text(str.rstrip, recounted=True),
    ),
    Fault("trims leading white space", "lm-sys/FastChat#3259", on_text(str.lstrip)),
    Fault(
        "keeps the last 40 tokens, counts all",
        "ollama/ollama#3839",
        on_text(_last(40), recounted=True),
    ),
    Fault("cuts the middle out", "ollama/ollama#17427", on_text(_middle_out)),
    Fault(
        "applies a chat's template (twice, in the chat)",
        "ollama/ollama#5544",
        on_text("<|user|>\n{}\n<|assistant|>\n".format),
        hidden=Hidden(TEMPLATED, ("chat", "votes", "decisions")),
    ),
    Fault(
        "puts a BOS before texts",
        "ggml-org/llama.cpp#7107",
        on_text(lambda text: "<|endoftext|>" + text),
        COMPLETIONS,
        hidden=Hidden(UNKNOWN, ("echo",)),
    ),
]

# Caches, balancers and gateways


def _cached(key: Callable[[Asked], Hashable]) -> Callable[[], Respond]:
    """Answers what has the same key as what was asked before in the same way, as a cache does."""

    def make() -> Respond:
        known: dict[Hashable, Answer] = {}

        def respond(asked: Asked, server: Server) -> Answer:
            name = key(asked)
            if name not in known:
                known[name] = server.answer(asked.body)
            return copy.deepcopy(known[name])

        return respond

    return make


def _rest(asked: Asked) -> str:
    """The request without its text and its seed: what else a cache tells apart."""
    body = {name: value for name, value in asked.about("").items() if name != "seed"}
    return json.dumps(body, sort_keys=True)


def _swaps() -> Respond:
    """Two requests that are under way at once get each other's answer."""
    waiting: list[tuple[Answer, list[Answer], threading.Event]] = []
    lock = threading.Lock()

    def respond(asked: Asked, server: Server) -> Answer:
        own = server.answer(asked.body)
        with lock:
            if waiting:
                theirs, box, found = waiting.pop()
                box.append(own)
                found.set()
                return theirs
            mine: list[Answer] = []
            place = (own, mine, threading.Event())
            waiting.append(place)
        place[2].wait(0.02)
        with lock:
            if place in waiting:
                waiting.remove(place)
        return mine[0] if mine else own

    return respond


def _previous() -> Respond:
    before: dict[str, Answer] = {}
    lock = threading.Lock()

    def respond(asked: Asked, server: Server) -> Answer:
        own, kind = server.answer(asked.body), _rest(asked)
        with lock:
            answer, before[kind] = before.get(kind, own), own
        return answer

    return respond


def _other(which: Callable[[Asked], bool], **more: object) -> Callable[[], Respond]:
    """Another model answers some requests; its name may give it away."""

    def respond(asked: Asked, server: Server) -> Answer:
        if not which(asked):
            return server.answer(asked.body)
        return {**server.other.answer(asked.body), **more}

    return lambda: respond


def _crowded() -> Respond:
    def respond(asked: Asked, server: Server) -> Answer:
        with server.lock:
            several = server.under_way > 1
        return (server.other if several else server).answer(asked.body)

    return respond


def _is_odd(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


_SWAPPED = "BerriAI/litellm#25503"

MODELS = [
    Fault(
        "cache by the text in lower case",
        "BerriAI/litellm#12234",
        _cached(lambda asked: (asked.text.lower(), _rest(asked))),
    ),
    Fault(
        "cache by the text without blanks",
        "zilliztech/GPTCache#651",
        _cached(lambda asked: ("".join(asked.text.split()), _rest(asked))),
    ),
    Fault(
        "cache by the text, whatever is asked of it",
        "BerriAI/litellm#894",
        _cached(lambda asked: asked.text),
    ),
    Fault("requests under way at once get each other's answers", "vllm-project/vllm#9910", _swaps),
    Fault("answers the previous request", "sgl-project/sglang#4593", _previous),
    Fault("other weights", _SWAPPED, _other(lambda _: True), starts=("midway",)),
    Fault(
        "other weights, by their name",
        _SWAPPED,
        _other(lambda _: True, model="toy-2"),
        hidden=Hidden(MODEL),
    ),
    Fault(
        "two replicas with other weights in turn",
        _SWAPPED,
        _other(lambda asked: asked.number % 2 == 1),
    ),
    Fault(
        "two replicas with other weights, by the text",
        _SWAPPED,
        _other(lambda asked: _is_odd(asked.text)),
        hidden=Hidden(SAME),
    ),
    Fault(
        "other weights where requests come at once",
        _SWAPPED,
        _crowded,
        hidden=Hidden(CHANCE, starts=STARTS),
    ),
]

# Log-probabilities


def _each(change: Callable[[float], Any]) -> Callable[[], Respond]:
    return on_answer(lambda answer: values(answer, change))


def _noisy(size: float, *, crowded: bool = False) -> Callable[[], Respond]:
    """Noise on each value, or one for all values where requests are under way at the same time."""

    def make() -> Respond:
        random = np.random.default_rng(7)

        def respond(asked: Asked, server: Server) -> Answer:
            answer = server.answer(asked.body)
            with server.lock:
                own = np.random.default_rng(int(random.integers(2**32)))
                several, draw = server.under_way > 1, float(random.normal(0, size))
            if crowded:
                return values(answer, lambda value: value + draw) if several else answer
            return values(answer, lambda value: value + float(own.normal(0, size)))

        return respond

    return make


def _heated(temperature: float, *, echoes: bool = True) -> Callable[[], Respond]:
    def make() -> Respond:
        model: list[Model] = []

        def respond(asked: Asked, server: Server) -> Answer:
            model[:] = model or [honest(server.form, heat=temperature)]
            spared = bool(asked.body.get("echo")) and not echoes
            return (server if spared else model[0]).answer(asked.body)

        return respond

    return make


def _renormalised(top: tuple[Entry, ...]) -> tuple[Entry, ...]:
    by = -math.log(sum(math.exp(one.value) for one in top))
    return tuple(replace(one, value=one.value + by) for one in top)


def _nucleus(top: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The tokens within 90 % of the mass alone, renormalised."""
    kept: list[Entry] = []
    for one in top:
        if sum(math.exp(each.value) for each in kept) >= 0.9:
            break
        kept.append(one)
    return _renormalised(tuple(kept))


def _nothing(answer: Answer) -> Answer:
    return entries(answer, lambda one: replace(one, value=None))


def _without_logprobs(answer: Answer) -> Answer:
    choices = [{**choice, "logprobs": None} for choice in answer.get("choices", [])]
    return {**answer, "choices": choices} | dict.fromkeys({"token_logprobs"} & set(answer))


_TOP_K = "vllm-project/vllm#9453"

VALUES = [
    Fault("noise of 0.05 nats", "vllm-project/vllm#7779", _noisy(0.05), SCORED),
    Fault("noise of 0.3 nats", "vllm-project/vllm#51187", _noisy(0.3), SCORED),
    Fault(
        "noise of 0.3 nats where requests come at once",
        "vllm-project/vllm#11778",
        _noisy(0.3, crowded=True),
        SCORED,
        hidden=Hidden(CHANCE, starts=STARTS),
    ),
    Fault("probabilities", "ggml-org/llama.cpp#10783", _each(math.exp), SCORED),
    Fault("logits, not normalised", "ml-explore/mlx-examples#806", _each(lambda v: v + 9), SCORED),
    Fault("all zero", "ggml-org/llama.cpp#27972", _each(lambda _: 0.0), SCORED),
    Fault(
        "top-k renormalised", _TOP_K, on_answer(lambda answer: tops(answer, _renormalised)), SCORED
    ),
    Fault("top_p of 0.9 applied", _TOP_K, on_answer(lambda answer: tops(answer, _nucleus)), SCORED),
    Fault("temperature of 0.7 in the values", _TOP_K, _heated(0.7), SCORED, hidden=Hidden(SHAPED)),
    Fault("temperature of 0.7 in next tokens' values", _TOP_K, _heated(0.7, echoes=False), ECHO),
    Fault("NaN", "vllm-project/vllm#48585", _each(lambda _: math.nan), SCORED),
    Fault("nulls at one request in five", "huggingface/trl#6693", some(_nothing, 5), SCORED),
    Fault(
        "-9999 at one request in five",
        "NVIDIA-NeMo/RL#2962",
        some(lambda answer: values(answer, lambda _: -9999.0), 5),
        SCORED,
    ),
    Fault(
        "no log-probabilities at one request in five",
        "ggml-org/llama.cpp#11346",
        some(_without_logprobs, 5),
        SCORED,
    ),
]

# Tokens and echoes


def _texts(change: Callable[[str], str]) -> Callable[[], Respond]:
    """Writes each token's text otherwise, unless tokens are named by their ids."""

    def one(entry: Entry) -> Entry:
        by_id = entry.token.startswith("token_id:")
        return entry if by_id else replace(entry, token=change(entry.token))

    return on_answer(
        lambda answer: changed(answer, lambda places: [place.each(one) for place in places])
    )


def _on_echoes(change: Callable[[Positions], Positions]) -> Callable[[], Respond]:
    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.answer(asked.body)
        return changed(answer, change) if asked.body.get("echo") else answer

    return lambda: respond


def _shifted(most: int) -> Callable[[Positions], Positions]:
    def change(positions: Positions) -> Positions:
        before = [None, *(place.own.value for place in positions[:-1])]
        shifted = [
            Position(replace(place.own, value=value), place.top)
            for place, value in zip(positions, before, strict=True)
        ]
        return [*positions[:most], *shifted[most:]]

    return change


def _broadcast(positions: Positions) -> Positions:
    value = positions[-1].own.value
    return [Position(replace(place.own, value=value), place.top) for place in positions]


def _stale() -> Respond:
    """The first 16 tokens have the values of the echo before, which a buffer still contains."""
    before: list[Position] = []

    def change(positions: Positions) -> Positions:
        stale = [
            replace(place.own, value=old.own.value)
            for place, old in zip(positions, before, strict=False)
        ]
        before[:] = positions[:16]
        return [*(Position(own, ()) for own in stale), *positions[len(stale) :]]

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.answer(asked.body)
        if not asked.body.get("echo"):
            return answer
        with server.lock:
            return changed(answer, change)

    return respond


def _first_unsaid(positions: Positions) -> Positions:
    """Nothing is said of the first 16 tokens, as they were in a cache of prefixes."""
    first = [replace(place, own=replace(place.own, value=None), top=()) for place in positions[:16]]
    return [*first, *positions[16:]]


def _with_bos(positions: Positions) -> Positions:
    """An echo with a BOS that was not there when the text was read."""
    return [Position(Entry("<|endoftext|>", None), ()), *positions]


def _characters(asked: Asked, server: Server) -> Answer:
    """Another tokenizer: one token for each byte."""
    answer = server.answer(asked.body)
    count = len(asked.text.encode()) + (TEMPLATE if asked.is_chat else 0)
    answer["usage"] = {**answer.get("usage", {}), "prompt_tokens": count}
    if asked.body.get("echo"):
        found = [language().following((number,))[number] for number in range(256)]
        places = [Position(Entry(one, float(found[ord(one) % 256])), ()) for one in asked.text]
        return changed(answer, lambda _: places)
    return entries(answer, lambda one: replace(one, token=str(one.token)[:1] or "x", number=None))


TOKENS = [
    Fault("token texts stripped", "ggml-org/llama.cpp#11728", _texts(str.strip), SCORED),
    Fault(
        "token texts as the tokenizer has them inside",
        "oobabooga/textgen#5339",
        _texts(lambda text: text.replace(" ", "Ġ")),
        SCORED,
    ),
    Fault("echo shifted by one", "abetlen/llama-cpp-python#1983", _on_echoes(_shifted(0)), ECHO),
    Fault(
        "echo shifted behind 40 tokens", "vllm-project/vllm#3251", _on_echoes(_shifted(40)), ECHO
    ),
    Fault("echo with one value", "vllm-project/vllm#5334", _on_echoes(_broadcast), ECHO),
    Fault("echo of another request", "vllm-project/vllm#42019", _stale, ECHO),
    Fault(
        "echo that says nothing of 16 tokens",
        "vllm-project/vllm#8268",
        _on_echoes(_first_unsaid),
        ECHO,
    ),
    Fault(
        "echo of the generated token alone",
        "ggml-org/llama.cpp#27174",
        _on_echoes(lambda p: p[-1:]),
        ECHO,
    ),
    Fault(
        "echo with a BOS that is not counted",
        "abetlen/llama-cpp-python#1501",
        _on_echoes(_with_bos),
        ECHO,
    ),
    Fault(
        "another tokenizer",
        "EleutherAI/lm-evaluation-harness#2402",
        lambda: _characters,
        COMPLETIONS,
        hidden=Hidden(MODEL, ("echo",)),
    ),
]

# Answers that are none, and how they travel

_OTHER = "I cannot help with that."
_ERROR = Sent(json.dumps({"error": {"message": "out of memory", "code": 500}}).encode())


def _ended(reason: str, *, share: int = 1) -> Callable[[], Respond]:
    """Another text is answered in place of a filtered one, with a reason that says so."""

    def respond(asked: Asked, server: Server) -> Answer:
        if hashlib.sha256(asked.text.encode()).digest()[0] % share:
            return server.answer(asked.body)
        answer = server.answer(asked.about(_OTHER))
        choices = [{**choice, "finish_reason": reason} for choice in answer.get("choices", [])]
        return {**answer, "choices": choices}

    return lambda: respond


def _without(key: str) -> Callable[[Answer], Answer]:
    return lambda answer: {name: value for name, value in answer.items() if name != key}


def _counting_one(answer: Answer) -> Answer:
    return {**answer, "usage": {**answer.get("usage", {}), "prompt_tokens": 1}}


def _with_error(asked: Asked, server: Server) -> Answer | Sent:
    wrong = hashlib.sha256(asked.text.encode()).digest()[0] % 4 == 0
    return _ERROR if wrong else server.answer(asked.body)


def _sent(**more: Any) -> Callable[[Answer], Sent]:  # noqa: ANN401 - fields of Sent
    return lambda answer: Sent(json.dumps(answer).encode(), **more)


_FILTER, _GATEWAY = "microsoft/semantic-kernel#5240", "nodetool-ai/nodetool#5755"

ANSWERS = [
    Fault("filtered at one text in four", _FILTER, _ended("content_filter", share=4), WRITTEN),
    Fault("ended by an error", _GATEWAY, _ended("error"), SCORED),
    Fault("usage missing", "openshift-psap/llm-load-test#47", on_answer(_without("usage"))),
    Fault(
        "usage of what was not in a cache alone",
        "Portkey-AI/gateway#1210",
        on_answer(_counting_one),
        SCORED,
    ),
    Fault("200 with an error at one text in four", _GATEWAY, lambda: _with_error),
    Fault(
        "choices are null",
        "maximhq/bifrost#5963",
        on_answer(lambda answer: {**answer, "choices": None, "answers": None}),
    ),
    Fault(
        "one request in 40 takes too long",
        "vllm-project/vllm#6009",
        some(_sent(delay=PATIENCE * 1.3), 40),
        TRANSPORT,
    ),
    Fault(
        "one connection in five is reset",
        "vllm-project/vllm#2060",
        some(_sent(ends="reset"), 5),
        TRANSPORT,
    ),
]

# Sampled replies


def _content(change: Callable[[str], object]) -> Callable[[], Respond]:
    def one(choice: Answer) -> Answer:
        message = choice["message"]
        return {**choice, "message": {**message, "content": change(message["content"])}}

    return on_answer(
        lambda answer: {**answer, "choices": [one(choice) for choice in answer["choices"]]}
    )


def _copied(answer: Answer) -> Answer:
    first = answer["choices"][0]
    copies = [{**first, "index": at} for at in range(len(answer["choices"]))]
    return {**answer, "choices": copies}


def _unseeded(asked: Asked, server: Server) -> Answer:
    return server.answer({**asked.body, "seed": 10**6 + asked.number})


_HEAT, _THOUGHT = "livekit/agents#7178", "rocketride-org/rocketride-server#1440"

REPLIES = [
    Fault("the same replies to a text each time", "BerriAI/litellm#894", on_body(seed=1), VOTES),
    Fault("copies of one reply", "vllm-project/vllm#10852", on_answer(_copied), VOTES),
    Fault("a temperature of 0", _HEAT, on_body(temperature=0), VOTES),
    Fault("a temperature of 0.7", _HEAT, on_body(temperature=0.7), VOTES),
    Fault("a temperature of 2", _HEAT, on_body(temperature=2.0), VOTES),
    Fault("seeds ignored", "vllm-project/vllm#21310", lambda: _unseeded, VOTES),
    Fault("n ignored", "abetlen/llama-cpp-python#1906", on_body(n=1), VOTES),
    Fault(
        "replies as lists of parts",
        "spring-projects/spring-ai#5019",
        _content(lambda text: [{"type": "text", "text": text}]),
        VOTES,
    ),
    Fault(
        "replies that begin with a thought",
        _THOUGHT,
        _content(lambda text: f"<think>Hm</think>\n\n{text}"),
        VOTES,
    ),
    Fault(
        "replies with a thought that does not end",
        _THOUGHT,
        _content(lambda text: f"<think>{text}"),
        VOTES,
    ),
]

FAULTS = (*TEXTS, *MODELS, *VALUES, *TOKENS, *ANSWERS, *REPLIES)

HARMLESS = (
    "usage missing",
    "one request in 40 takes too long",
    "one connection in five is reset",
    "seeds ignored",
    "n ignored",
)
"""What real servers and networks do, and what no score depends on."""
