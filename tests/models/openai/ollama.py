"""Ollama's own API, in terms of the completions that the server for tests gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.models.openai.serving import Sent

GENERATE, VERSION = "/api/generate", "/api/version"


def as_completion(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request for a completion; its prompt shows whether it has a template."""
    options = body["options"]
    return {
        "model": body["model"],
        "prompt": body["prompt"] if body.get("raw") else f"USER: {body['prompt']} ASSISTANT:",
        "max_tokens": options["num_predict"],
        "logprobs": body["top_logprobs"] if body.get("logprobs") else None,
        "temperature": options.get("temperature", 0.8),
    }


def as_generated(sent: Sent) -> Sent:
    """Return an answer in Ollama's form, if it is one at all."""
    try:
        answer = json.loads(sent.content)
        (choice,) = answer["choices"]
    except (KeyError, TypeError, ValueError):
        return sent
    logprobs = choice.get("logprobs")
    generated = {
        "model": answer.get("model"),
        "response": choice.get("text"),
        "done": True,
        "done_reason": choice.get("finish_reason", "length"),
        "logprobs": logprobs.get("content", logprobs) if isinstance(logprobs, dict) else logprobs,
        "prompt_eval_count": (answer.get("usage") or {}).get("prompt_tokens"),
    }
    return replace(sent, content=json.dumps(generated).encode())


def without_logprobs(sent: Sent) -> Sent:
    """Return a completion as Ollama gives it under ``/v1``."""
    answer = json.loads(sent.content)
    for choice in answer.get("choices", ()):  # an error has none
        choice.pop("logprobs", None)
    return replace(sent, content=json.dumps(answer).encode())
