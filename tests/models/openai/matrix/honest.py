"""Honest answers, in the forms of vLLM's and llama.cpp's completions and of OpenAI's chat."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tests.models.openai.matrix.language import language, opinions, reply, tokenizer
from tests.models.openai.serving import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Answer = dict[str, Any]
Form = Literal["vllm", "llama.cpp"]

MOST = {"vllm": 20, "llama.cpp": 100, "chat": 20}
"""Asked for more log-probabilities than so many, each refuses."""

TEMPLATE = 5
"""Tokens that the chat's template has beside a text."""


class Refused(Exception):  # noqa: N818 - what the server says
    """The server will not do it."""


@dataclass
class Honest:
    """A model behind a server.

    Args:
        form: How it completes: with an echo, as vLLM does, or without, as llama.cpp's server.
        weights: Of the model.
        heat: The temperature that its log-probabilities are given at.
    """

    form: Form = "vllm"
    weights: int = 0
    heat: float = 1.0
    asked: Counter[str] = field(default_factory=Counter)

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """The answer to a request.

        Raises:
            Refused: It asks for more than the server gives.
        """
        return self._chat(body) if "messages" in body else self._complete(body)

    def _draw(self, *key: object) -> int:
        """A number of its own for each time that the same is asked."""
        name = repr((self.weights, *key))
        self.asked[name] += 1
        return int.from_bytes(hashlib.sha256(f"{name} {self.asked[name]}".encode()).digest()[:8])

    # Completions

    def _complete(self, body: Mapping[str, Any]) -> Answer:
        text, most = body["prompt"], body.get("logprobs")
        if (most or 0) > MOST[self.form]:
            raise Refused(f"logprobs must be at most {MOST[self.form]}")
        prompt = tuple(tokenizer().encode(text).ids)
        if not prompt:
            raise Refused("the prompt is empty")
        random = np.random.default_rng(self._draw(text))
        ids = prompt
        for _ in range(body["max_tokens"]):
            values = self._next(ids)
            ids = (*ids, int(random.choice(len(values), p=np.exp(values))))
        echoes = self.form == "vllm" and bool(body.get("echo"))
        begin = 0 if echoes else len(prompt)
        if self.form == "vllm" and not echoes and len(ids) == len(prompt):
            raise Refused("max_tokens must be at least 1")
        by_id = self.form == "vllm" and bool(body.get("return_tokens_as_token_ids"))
        given = None if most is None else self._logprobs(ids, begin, most, by_id=by_id)
        choice = {
            "index": 0,
            "text": "".join(spelled(tokenizer(), one) for one in ids[begin:]),
            "logprobs": given,
            "finish_reason": "length",
        }
        return {"object": "text_completion", **_frame([choice], len(prompt), len(ids) - begin)}

    def _next(self, ids: tuple[int, ...]) -> NDArray[np.float64]:
        values = language(self.weights).following(ids) / self.heat
        return values if self.heat == 1 else values - float(np.logaddexp.reduce(values))

    def _logprobs(self, ids: tuple[int, ...], begin: int, most: int, *, by_id: bool) -> Answer:
        own = language(self.weights)
        places = range(begin, len(ids))
        tops = [own.likeliest(ids[:at], most) if at else [] for at in places]
        values = [self._next(ids[:at]) if at else None for at in places]
        if self.form == "llama.cpp":
            return {
                "content": [
                    {
                        **_object(ids[at], value),
                        "top_logprobs": [_object(one, value) for one in top],
                    }
                    for at, value, top in zip(places, values, tops, strict=True)
                ]
            }
        listed: list[Answer | None] = []
        for at, value, top in zip(places, values, tops, strict=True):
            if value is None:
                listed.append(None)
                continue
            shown = {_written(one, by_id=by_id): one for one in (*top, ids[at])}
            listed.append({text: float(value[one]) for text, one in shown.items()})
        return {
            "text_offset": list(range(len(ids) - begin)),
            "tokens": [_written(one, by_id=by_id) for one in ids[begin:]],
            "token_logprobs": [
                None if value is None else float(value[ids[at]])
                for at, value in zip(places, values, strict=True)
            ],
            "top_logprobs": listed,
        }

    # The chat

    def _chat(self, body: Mapping[str, Any]) -> Answer:
        text = body["messages"][-1]["content"]
        if body.get("top_logprobs", 0) > MOST["chat"]:
            raise Refused(f"top_logprobs must be at most {MOST['chat']}")
        seed = body.get("seed")
        draw = self._draw("chat", text) if seed is None else self._seeded(text, seed)
        random = np.random.default_rng(draw)
        choices = [self._choice(body, text, random, at) for at in range(body.get("n", 1))]
        counted = len(tokenizer().encode(text).ids) + TEMPLATE
        said = sum(len(choice["message"]["content"].split()) for choice in choices)
        return {"object": "chat.completion", **_frame(choices, counted, said)}

    def _seeded(self, text: str, seed: int) -> int:
        name = f"{self.weights} {seed} {text}"
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])

    def _opinions(self, text: str) -> Mapping[str, float]:
        shares = opinions(text, self.weights)
        if self.heat == 1:
            return shares
        hot = {word: share ** (1 / self.heat) for word, share in shares.items()}
        return {word: share / sum(hot.values()) for word, share in hot.items()}

    def _choice(
        self, body: Mapping[str, Any], text: str, random: np.random.Generator, at: int
    ) -> Answer:
        shares = self._opinions(text)
        words, values = list(shares), np.array(list(shares.values()))
        temperature = body.get("temperature", 1.0)
        heated = values ** (1 / temperature) if temperature else (values == values.max()) * 1.0
        word = words[int(random.choice(len(words), p=heated / heated.sum()))]
        whole = reply(text, word, int(random.integers(10**6)) if temperature else 0)
        most = body.get("max_tokens") or body.get("max_completion_tokens") or 100
        said = word if most == 1 else whole
        choice = {
            "index": at,
            "message": {"role": "assistant", "content": said},
            "finish_reason": "stop" if said == whole else "length",
        }
        if body.get("logprobs"):
            top = list(shares.items())[: body.get("top_logprobs", 0)]
            first = {**_word(word, shares[word]), "top_logprobs": [_word(*one) for one in top]}
            rest = {**_word(said[len(word) :], 1.0), "top_logprobs": []}
            choice["logprobs"] = {"content": [first, rest] if said != word else [first]}
        return choice


def _frame(choices: list[Answer], prompt: int, completion: int) -> Answer:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {
        "id": "cmpl-1",
        "created": 1_700_000_000,
        "model": "toy",
        "system_fingerprint": "fp_0",
        "choices": choices,
        "usage": {**usage, "total_tokens": prompt + completion},
    }


def _written(number: int, *, by_id: bool) -> str:
    return f"token_id:{number}" if by_id else spelled(tokenizer(), number)


def _object(number: int, values: Any) -> Answer:  # noqa: ANN401 - an array, or nothing
    value = None if values is None else float(values[number])
    return {"id": number, "token": spelled(tokenizer(), number), "logprob": value}


def _word(word: str, share: float) -> Answer:
    return {"token": word, "logprob": math.log(share), "bytes": list(word.encode())}
