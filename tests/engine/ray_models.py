"""A made-up model for workers of a Ray cluster, which writes down what it was asked, and where."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import ModelError, ScoringError, TooLongError
from tacit.models.fake import FakeModel
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.requests import Prompt


def by_letters(prompt: Prompt, word: str) -> float:
    return -len(prompt.text) / 8 - len(prompt.separator) / 16 - sum(map(ord, word)) % 7 - 1 / 3


@dataclass(frozen=True)
class Telling:
    """Loads a model that writes a line for each prompt it scores: node, process and text."""

    log: Path
    seconds: float = 0.0
    name: str = "telling"
    window: int = 1_000

    def __call__(self, _: FileHashes) -> FakeModel:
        if self.name == "missing":
            raise ModelError("missing: there is no such model folder")
        return _Telling(self)

    def reports(self) -> list[tuple[str, int, str]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        parts = (line.split(" ", 2) for line in lines)
        return [(node, int(process), text) for node, process, text in parts]

    def texts(self) -> list[str]:
        return [text for _, _, text in self.reports()]


class _Telling(FakeModel):
    def __init__(self, how: Telling) -> None:
        super().__init__(by_letters, how.name)
        self._how = how

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """As of a fake model; refuses texts beyond its window."""
        for prompt in requests:
            if len(prompt.text.split()) > self._how.window:
                raise TooLongError(f"{prompt.shown} is too long")
        return super().cost(requests)

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """The scores; some texts are beyond the model, its process, or the machine."""
        import ray

        place = f"{ray.get_runtime_context().get_node_id()} {os.getpid()}"
        scored = [one for one in requests if isinstance(one, Prompt)]
        lines = "".join(f"{place} {prompt.text}\n" for prompt in scored)
        with self._how.log.open("a", encoding="utf-8") as file:
            file.write(lines)
        time.sleep(self._how.seconds)
        texts = {prompt.text for prompt in scored}
        if "unscorable" in texts:
            raise ScoringError("the model failed")
        if "flaky" in texts:
            raise OSError("the cable is loose")
        if "deadly" in texts:
            os._exit(1)
        return super().answer(requests)
