"""Honest answers, in the forms of vLLM's and llama.cpp's completions and of OpenAI's chat."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.models.openai.matrix.language import language, replies, tokenizer
from tests.models.openai.serving import Manners, answered
from tests.models.openai.speaking import Speech, speak

Answer = dict[str, Any]
Form = Literal["vllm", "llama.cpp"]

TEMPLATE = 5
"""Tokens that the chat's template has beside a text."""


@dataclass
class Honest:
    """A model behind a server.

    Args:
        form: How it completes: with an echo, as vLLM does, or without, as llama.cpp's server.
        weights: Of the model.
        heat: The temperature that its log-probabilities are given at.
        noise: Nats by which its log-probabilities differ each time, as with other batches.
    """

    form: Form = "vllm"
    weights: int = 0
    heat: float = 1.0
    noise: float = 0.0
    times: Counter[str] = field(default_factory=Counter)

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """The answer to a request; it raises if the request asks for more than the server gives."""
        name = json.dumps(body, sort_keys=True)
        self.times[name] += 1
        if "messages" in body:
            speech = Speech(lambda text: replies(text, self.weights, self.heat), noise=self.noise)
            answer = speak(speech, dict(body), self.times[name] + zlib.crc32(name.encode()))
            ids = tokenizer().encode(body["messages"][-1]["content"]).ids
            answer["usage"]["prompt_tokens"] = len(ids) + TEMPLATE
            return {"model": "toy", **answer}
        manners = Manners(most=20, by_id=True, zero="refused", noise=self.noise)
        if self.form == "llama.cpp":
            manners = Manners(most=100, echo="none", form="content", noise=self.noise)
        return answered(language(self.weights, self.heat), manners, dict(body), self.times[name])
