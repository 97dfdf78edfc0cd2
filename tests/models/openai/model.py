"""A model for the tests' server: it completes texts well, or has one given peculiarity."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests.models.openai import naming
from tests.models.openai.deciding import Deciding, decide
from tests.models.openai.speaking import Refusal, Speech, speak

Answer = dict[str, Any]

TEMPLATE = 5
"""How many tokens the model's chat template adds to a text."""


class Language(Protocol):
    """What is served: a tokenizer and a distribution over the next token."""

    tokenizer: Tokenizer

    def following(self, ids: tuple[int, ...]) -> NDArray[np.float64]: ...


@dataclass
class Toy:
    """A language in which the next token depends on every token before it, and on ``weights``."""

    tokenizer: Tokenizer
    weights: int = 0
    heat: float = 1.0
    rare: NDArray[np.bool_] = field(init=False, repr=False)
    known: dict[tuple[int, ...], NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        size = self.tokenizer.get_vocab_size()
        texts = [self.tokenizer.decode([i], skip_special_tokens=False) for i in range(size)]
        self.rare = np.array(["\ufffd" in text for text in texts])

    def following(self, ids: tuple[int, ...]) -> NDArray[np.float64]:
        if ids not in self.known:
            seed = hashlib.sha256(repr((self.weights, ids)).encode()).digest()
            # Parts of characters are rare, as they are in what people write.
            logits = np.random.default_rng(list(seed[:8])).normal(0, 3, len(self.rare))
            self.known[ids] = normalised((logits - 30 * self.rare) / self.heat)
        return self.known[ids]

    def logprob(self, ids: tuple[int, ...], begin: int) -> float:
        return sum(float(self.following(ids[:at])[ids[at]]) for at in range(begin, len(ids)))


def normalised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values - float(np.logaddexp.reduce(values))


def spelled(tokenizer: Tokenizer, number: int) -> str:
    token = str(tokenizer.id_to_token(number))
    if token[0] == "▁":
        return token.replace("▁", " ")
    return str(tokenizer.decode([number], skip_special_tokens=False))


@dataclass
class Manners:
    """How the server behaves; it is a good one unless stated otherwise."""

    top: int | None = None  # the most log-probabilities that it returns
    most: int = 1000  # it refuses requests for more than so many, as vLLM and OpenAI do
    # Whether echoed log-probabilities are right, those of the following token, or missing.
    echo: Literal["right", "shifted", "text only", "none"] = "right"
    # What it does when no token is requested; endless is to its window's end.
    zero: Literal["right", "refused", "endless"] = "right"
    by_id: bool = False  # whether it writes tokens by id when asked to
    form: Literal["completions", "content", "none"] = "completions"
    spaced: bool = True  # whether it writes the space before a word
    noise: float = 0.0  # nats by which its values differ from one time to the next
    lists: int = 200  # the status of its list of models
    key: str | None = None
    silent: int = 0  # how many times it first returns nothing after each prompt
    counts: bool = True  # whether it counts the tokens of a prompt
    window: int = 400
    ollama: bool = False
    speech: Speech = field(default_factory=Speech)
    deciding: Deciding = field(default_factory=Deciding)
    names: Literal["vllm", "sglang"] | None = None  # whose route to name tokens it has, if any


@dataclass
class Model:
    """A language with manners; both may be changed at any time."""

    language: Language
    manners: Manners = field(default_factory=Manners)
    times: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: Mapping[str, Any]) -> Answer:
        name = json.dumps(body, sort_keys=True)
        with self.lock:
            self.times[name] += 1
            time = self.times[name]
        if "questions" in body:
            return decide(self.language, self.manners.deciding, body, self.manners.window)
        if naming.is_named(body):
            return naming.answer(self, body, time)
        if "messages" not in body:
            return self._completed(body, time)
        answer = speak(self.manners.speech, body, time + zlib.crc32(name.encode()))
        ids = self.language.tokenizer.encode(body["messages"][-1]["content"]).ids
        answer["usage"]["prompt_tokens"] = len(ids) + TEMPLATE
        return {"model": "toy", **answer}

    def _completed(self, body: Mapping[str, Any], time: int) -> Answer:
        manners, language = self.manners, self.language
        prompt = tuple(language.tokenizer.encode(body["prompt"]).ids)
        self._check(body, prompt)
        wanted, top = body["max_tokens"], body.get("logprobs")
        if wanted == 0 and manners.zero == "endless":
            wanted = manners.window - len(prompt)
        random = np.random.default_rng([*body["prompt"].encode(), time])
        ids = prompt
        for _ in range(wanted):
            shares = np.exp(language.following(ids))
            ids = (*ids, int(random.choice(len(shares), p=shares)))
        echoes = bool(body.get("echo")) and manners.echo in {"right", "shifted"}
        entries: list[_Entry] = []
        for at in range(0 if echoes else len(prompt), len(ids)):
            # llama-cpp-python returns the distribution after the token itself.
            after = at + 1 if echoes and manners.echo == "shifted" else at
            values = language.following(ids[:after]) if at > 0 else None
            if values is not None and manners.noise:
                values = normalised(values + random.normal(0, manners.noise, len(values)))
            entries.append((ids[at], values))
        if time <= manners.silent and not body.get("echo"):
            entries = []
        gives = top is not None and manners.form != "none"
        choice = {
            "index": 0,
            "text": body["prompt"] if body.get("echo") else "",
            "logprobs": self._logprobs(entries, top or 0, self._writer(body)) if gives else None,
        }
        usage = {"usage": {"prompt_tokens": len(prompt)}} if manners.counts else {}
        return {"choices": [choice], "model": "toy", **usage}

    def _check(self, body: Mapping[str, Any], prompt: tuple[int, ...]) -> None:
        if (body.get("logprobs") or 0) > self.manners.most:
            raise Refusal(f"logprobs is at most {self.manners.most}")
        if not prompt:
            raise Refusal("the prompt is empty")
        if body["max_tokens"] == 0 and (self.manners.zero == "refused" or not body.get("echo")):
            raise Refusal("max_tokens must be at least 1")

    def _writer(self, body: Mapping[str, Any]) -> Callable[[int], str]:
        if self.manners.by_id and body.get("return_tokens_as_token_ids"):
            return lambda number: f"token_id:{number}"

        def write(number: int) -> str:
            text = spelled(self.language.tokenizer, number)
            return text if self.manners.spaced else text.lstrip(" ")

        return write

    def _logprobs(self, entries: list[_Entry], asked: int, write: Callable[[int], str]) -> Answer:
        """Write tokens with their log-probabilities, and the most probable ones there."""
        most = asked if self.manners.top is None else min(asked, self.manners.top)
        tops = [
            {} if values is None else {int(n): float(values[n]) for n in np.argsort(-values)[:most]}
            for _, values in entries
        ]
        own = [None if values is None else float(values[number]) for number, values in entries]
        if self.manners.form == "content":

            def entry(number: int, value: float | None) -> Answer:
                return {"id": number, "token": write(number), "logprob": value}

            content = [
                {**entry(number, value), "top_logprobs": [entry(*one) for one in top.items()]}
                for (number, _), value, top in zip(entries, own, tops, strict=True)
            ]
            return {"content": content}
        listed: list[dict[str, float | None] | None] = []
        for (number, values), value, top in zip(entries, own, tops, strict=True):
            # Of tokens that are written alike, the less probable one overwrites the other.
            written: dict[str, float | None] = {write(one): top[one] for one in top}
            all_of = {**written, write(number): value} if most else {}
            listed.append(None if values is None else all_of)
        return {
            "tokens": [write(number) for number, _ in entries],
            "token_logprobs": own,
            "top_logprobs": listed,
        }


_Entry = tuple[int, "NDArray[np.float64] | None"]
"""A token, and the distribution at its position."""
