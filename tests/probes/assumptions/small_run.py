"""Runs of the assumptions probe on norms of sixteen concepts, with models read off a hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tacit.findings.findings import Findings
from tacit.models.fake import FakeModel
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.probe import Assumptions
from tacit.probes.base import ModelWords
from tacit.requests import Prompt
from tacit.sources.norms import Norms, Property
from tests.golden.models import share
from tests.probes.assumptions.made_up import measured

CONCEPTS = (
    *("bear", "ladder", "tiger", "piano", "seal", "rocket", "spoon", "banjo"),
    *("camel", "duck", "fridge", "glove", "hammer", "lemon", "rabbit", "wolf"),
)
# Three of four say each of a concept; the model cannot write "cubs".
RESPONSES = {
    "is": {"big": 20, "brown": 12, "dangerous": 4, "old": 3},
    "is a": {"predator": 25, "mammal": 9, "tool": 5, "pet": 2},
    "has": {"fur": 27, "claws": 15, "teeth": 11, "paws": 7, "cubs": 7},
    "has a": {"tail": 8, "nose": 5, "face": 3, "neck": 2},
    "made of": {"metal": 25, "wood": 20, "plastic": 4, "aluminium": 2},
}
CATEGORIES = {
    **dict.fromkeys(("has", "has a"), "visual perceptual"),
    **dict.fromkeys(("is", "made of"), "functional"),
    "is a": "taxonomic",
}
WORDS = sorted({*CONCEPTS, *(word for words in RESPONSES.values() for word in words)} - {"cubs"})
WORDS += ["child", "constitution", "history", "human", "leader", "person"]


def _properties() -> Iterator[Property]:
    for at, concept in enumerate(CONCEPTS):
        near = f"is found near a {CONCEPTS[at - 1]}"
        yield Property(concept, near, 40, "encyclopaedic")
        for relation, words in RESPONSES.items():
            for i, (word, usual) in enumerate(words.items()):
                if (at + i) % 4 != 3:
                    frequency = usual + at * len(word) % 5
                    feature = f"{relation} {word}"
                    yield Property(concept, feature, frequency, CATEGORIES[relation])


def noise(prompt: Prompt, answer: str, seed: int = 0) -> float:
    """A log-probability that depends on nothing but a hash."""
    return -8 * share(seed, prompt.text, answer) - 0.5


@cache
def small_run(
    seed: int = 0,
    wording: Literal["sentence", "blank-last"] | None = None,
    says: Callable[..., float] = noise,
    **options: Any,  # noqa: ANN401 - options of the probe
) -> Findings:
    """What a masked model shows, or a causal one asked in a wording."""
    properties = tuple(_properties())
    norms = Norms(Path("norms.dat"), properties)
    asked = {"orders": "all", **({"wording": wording} if wording else {}), **options}
    probe = Assumptions(norms, AssumptionsOptions(norms.path, **asked))
    model = FakeModel(lambda *of: says(*of, seed=seed), words=WORDS)
    kind = ModelWords("causal" if wording else "masked", model.whole_words())
    return measured(probe.for_models({"fake": kind})["fake"], model)
