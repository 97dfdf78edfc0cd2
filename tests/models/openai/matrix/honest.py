"""An honest server, in the formats of vLLM's and llama.cpp's completions and of OpenAI's chat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from tests.models.openai.deciding import Deciding
from tests.models.openai.matrix.language import language, replies
from tests.models.openai.model import Manners, Model
from tests.models.openai.serving import Serving
from tests.models.openai.speaking import Speech

Form = Literal["vllm", "llama.cpp", "ollama", "vllm that names", "sglang"]
"""Whether its completions have an echo, as those of vLLM and SGLang, or none, as the others.

Two forms return the log-probabilities of named tokens, each by its own route.
"""


BATCH = 4
"""Questions per request: so few that faults begin between two of them."""


def honest(form: Form, weights: int = 0, heat: float = 1.0, noise: float = 0.0) -> Model:
    speech = Speech(lambda text: replies(text, weights, heat), noise=noise)
    more: dict[str, Any] = {
        "speech": speech,
        "noise": noise,
        "window": 2048,
        "deciding": Deciding("openai", most=BATCH),
    }
    if form == "llama.cpp":
        return Model(language(weights, heat), Manners(echo="none", form="content", **more))
    if form == "ollama":
        manners = Manners(echo="none", form="content", most=20, ollama=True, **more)
        return Model(language(weights, heat), manners)
    if form == "sglang":
        return Model(language(weights, heat), Manners(names="sglang", zero="refused", **more))
    more["names"] = "vllm" if form == "vllm that names" else None
    return Model(language(weights, heat), Manners(most=20, by_id=True, zero="refused", **more))


@dataclass
class Server(Serving):
    """An honest server until its fault begins."""

    form: Form = "vllm"

    @classmethod
    def of(cls, form: Form = "vllm", *, noise: float = 0.0, **more: Any) -> Server:  # noqa: ANN401 - its own fields
        model = honest(form, noise=noise)
        return cls(model.language, model.manners, form=form, **more)

    @cached_property
    def other(self) -> Model:
        return honest(self.form, weights=1)
