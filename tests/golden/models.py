"""Models whose scores and replies are read off a hash: alike on every machine."""

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tacit.models.fake import FakeModel
from tacit.models.options import LoadOptions
from tacit.requests import Prompt, Sample, Samples, SamplingPrompt, Vocabulary
from tacit.sources.demo import NORMS

SAMPLES = 5
REPLIES = ("True", "False", "Yes", "No", "True", "False", "Yes", "No", "Yes")
SERVER = "http://golden.example/v1"


def share(*parts: object) -> float:
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def words() -> list[str]:
    text = NORMS.read_text(encoding="utf-8")
    return sorted({word for word in text.split() if word.isalpha() and word.islower()})


def scored(name: str) -> FakeModel:
    """A model by its name; one answer in fifty has no score."""

    def score(prompt: Prompt, answer: str) -> float | None:
        drawn = share(name, prompt.text, prompt.separator, answer)
        if len(prompt.answers) < 10 and drawn < 0.02:
            return None
        return -round(8 * drawn, 6) - 0.125

    return FakeModel(score, name, words())


@dataclass
class Replies:
    """A model that is known by its replies; one in ten cannot be read."""

    name: str = SERVER
    samples: int = SAMPLES
    fingerprint: str = "5" * 64

    @property
    def description(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": "fake",
            "fingerprint": self.fingerprint,
            "elicitation": "votes of 5 samples, in chat",
            "several_at_once": True,
        }

    @property
    def supports(self) -> frozenset[type]:
        return frozenset({SamplingPrompt})

    def cost(self, requests: Sequence[SamplingPrompt]) -> list[int]:
        return [len(one.numbers) for one in requests]

    def answer(self, requests: Sequence[SamplingPrompt]) -> list[Samples]:
        """Replies that begin with one of the words that prompts have as answers."""
        return [Samples(tuple(self._reply(one.text, n) for n in one.numbers)) for one in requests]

    def stream(
        self,
        requests: Sequence[SamplingPrompt],
        seconds: float,  # noqa: ARG002 - all come at once
    ) -> Generator[list[tuple[SamplingPrompt, Samples]]]:
        yield list(zip(requests, self.answer(requests), strict=True))

    def _reply(self, text: str, number: int) -> Sample:
        drawn = share(self.name, text, number)
        said = [*REPLIES, "Hm, well"]
        return Sample(said[int(drawn * len(said))])


def install(patch: pytest.MonkeyPatch) -> None:
    """Puts these models in place of those that names such as ``golden-a`` would load."""
    from tacit.models import loading

    def load(name: str, *_: object, **__: object) -> FakeModel | Replies:
        return Replies() if name == SERVER else scored(name)

    def vocabulary(name: str, _: LoadOptions | None = None) -> tuple[str, Vocabulary]:
        kind = "masked" if name.endswith("masked") else "causal"
        return kind, scored(name).whole_words()

    patch.setattr(loading, "load_model", load)
    patch.setattr(loading, "words_of", vocabulary)
    patch.setattr(loading, "check_name", lambda *_: None)
    patch.setattr(loading, "find", lambda *_: None)
