"""Ollama, asked in its own API: in the one under ``/v1``, it drops log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.errors import TacitError
from tacit.models.openai.client import Client, RefusalError
from tacit.models.openai.server import CompletionsServer

GENERATE, VERSION = "/api/generate", "/api/version"


@dataclass
class OllamaServer(CompletionsServer):
    """A model of Ollama, which completes texts without a template and truncates none."""

    through: ClassVar[str] = " by Ollama's own API"

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        if more.get("echo"):
            raise RefusalError("Ollama does not score the tokens of a prompt")
        sampling = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "repeat_penalty": 1.0}
        return {
            "model": self.model,
            "prompt": text,
            "raw": True,
            "stream": False,
            "truncate": False,
            "shift": False,
            "logprobs": True,
            "top_logprobs": more["logprobs"],
            "options": {**sampling, "num_predict": more["max_tokens"]},
        }

    def _send(
        self, body: Mapping[str, Any], timeout: float | None, attempts: int | None
    ) -> Mapping[str, Any]:
        reply = self.client.post(GENERATE, body, timeout, attempts)
        choice = {
            "finish_reason": reply.get("done_reason"),
            "logprobs": {"content": reply.get("logprobs") or []},
        }
        usage = {"prompt_tokens": reply.get("prompt_eval_count")}
        return {"choices": [choice], "usage": usage, "model": reply.get("model")}


def is_ollama(client: Client) -> bool:
    """Return whether a server is Ollama, by its own API beside the one under ``/v1``."""
    try:
        version = client.get(VERSION).get("version")
    except TacitError:
        return False
    return isinstance(version, str) and client.has(GENERATE)
