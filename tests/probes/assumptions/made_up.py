"""Made-up standings, and runs on norms of sixteen concepts with models read off a hash."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
import pytest

from tacit.findings.findings import Findings
from tacit.models.fake import FakeModel
from tacit.probes.assumptions import TABLES
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.probe import Assumptions, AssumptionsProbe
from tacit.probes.base import ModelWords
from tacit.requests import Prompt, RankingPrompt, Vocabulary, rank
from tacit.sources.norms import Norms, Property, read_norms
from tests.golden.models import share
from tests.in_order import answers_of

RETRIEVAL = TABLES["retrieval"].schema
ELICITATION = TABLES["elicitation"].schema
ELICITATION_TOP = TABLES["elicitation_top"].schema


DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
BUCHANAN = DATA / "norms" / "buchanan-features.tsv"
needs_buchanan = pytest.mark.skipif(not BUCHANAN.is_file(), reason="the real norms are not here")


def norms_of(folder: Path, *rows: str) -> Norms:
    path, columns = folder / "norms.dat", ("concept", "feature", "pf", "feature alternatives")
    lines = ("\t".join((*columns, "participant list")), *rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_norms(path)


def options(norms: Norms, **changed: Any) -> AssumptionsOptions:  # noqa: ANN401 - options
    return AssumptionsOptions(norms.path, **changed)


def measured(probe: AssumptionsProbe, model: FakeModel) -> Findings:
    return probe.measure(answers_of(probe, model))


def candidates(
    wordings: Iterable[str] = ("sentence",), digest: str | None = "words"
) -> dict[str, dict[str, str | None]]:
    """The digests of a run that ranks the same words everywhere."""
    relations = ("is", "is a", "has", "has a", "made of")
    sets = {"retrieval": wordings, "vocabulary": relations, "sensible": relations}
    return {part: dict.fromkeys(of, digest) for part, of in sets.items()}


def _logprobs(row: Mapping[str, Any]) -> Mapping[str, Any]:
    rank = row.get("rank")
    return {} if rank is None else {"logprob": -float(rank), "renormalised": -rank / 2}


def retrieval(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """One row each, of a bear's one property where nothing else is said; a rank has its logprob."""
    usual = {
        "wording": "sentence",
        "order": "top-decreasing",
        "category": None,
        "concept": "bear",
        "n": 1,
        "tokens": 1,
        "candidates": 100,
        "whole_sentence": False,
    }
    return pl.DataFrame([{**usual, **_logprobs(row), **row} for row in rows], schema=RETRIEVAL)


def elicitation(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """One row each, of what a bear has where nothing else is said; spelt as people did."""
    usual = {
        "relation": "has",
        "preface": True,
        "over": "vocabulary",
        "concept": "bear",
        "candidates": 100,
    }
    spelt = ({"spelling": row.get("word", "fur"), "word": "fur", **row} for row in rows)
    made = [{**usual, **_logprobs(row), **row} for row in spelt]
    return pl.DataFrame(made, schema=ELICITATION)


def top(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """One row each, of the best words for what a bear has where nothing else is said."""
    usual = {"relation": "has", "preface": True, "over": "vocabulary", "concept": "bear"}
    return pl.DataFrame([{**usual, **row} for row in rows], schema=ELICITATION_TOP)


class MadePrompt(NamedTuple):
    """A prompt's log-probabilities, and which words are people's."""

    values: Mapping[str, float]
    responses: Sequence[Sequence[str]]
    frequencies: Sequence[int]

    @property
    def best(self) -> list[str | None]:
        """The better spelling of each response; None where none is a candidate."""
        return [
            max(spelt, key=lambda word: np.nan_to_num(self.values[word], nan=-np.inf))
            if (spelt := [word for word in response if word in self.values])
            else None
            for response in self.responses
        ]

    @property
    def rivals(self) -> dict[str, float]:
        best = self.best
        worse = {word for response in self.responses for word in response} - set(best)
        return {word: value for word, value in self.values.items() if word not in worse}


def ranked(prompts: Mapping[str, MadePrompt], **others: object) -> pl.DataFrame:
    """The standings of prompts' responses by the ranking that models are measured with."""
    rows = []
    for concept, prompt in prompts.items():
        rivals = prompt.rivals
        vocabulary = Vocabulary(rivals)
        targets = tuple(word for word in prompt.best if word is not None)
        values = np.array([rivals[word] for word in vocabulary.words], float)
        found = rank(RankingPrompt("", vocabulary, targets), values, np.ones(len(values), int))
        for response, frequency, spelling in zip(
            prompt.responses, prompt.frequencies, prompt.best, strict=True
        ):
            row = {"concept": concept, "word": response[0], "frequency": frequency, **others}
            if spelling is not None:
                stands = found[spelling]
                row |= {"rank": stands.rank, "logprob": stands.logprob}
            left = len(rivals) - found.missing
            rows.append({**row, "spelling": spelling, "candidates": left})
    return elicitation(*rows)


def random_prompt(seed: int, levels: int, spellings: int = 1) -> MadePrompt:
    """2 to 400 candidates with few or many levels of log-probability, some missing."""
    random = np.random.default_rng(seed)
    n = int(random.choice([2, 6, 40, 400]))
    words = [f"w{at}" for at in range(n)]
    values = -(random.integers(1, levels + 1, n) / levels) * 9
    values[random.random(n) < 0.1] = np.nan
    left = [f"absent{at}" for at in range(2)] + words
    random.shuffle(left)
    responses = []
    for _ in range(int(random.integers(1, 12))):
        size = int(random.integers(1, spellings + 1))
        if len(left) >= size:
            responses.append([left.pop() for _ in range(size)])
    frequencies = random.integers(1, 6, len(responses)).tolist()
    return MadePrompt(dict(zip(words, values.tolist(), strict=True)), responses, frequencies)


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


def small_run(
    seed: int = 0,
    wording: Literal["sentence", "blank-last"] | None = None,
    says: Callable[..., float] = noise,
    **options: Any,  # noqa: ANN401 - options of the probe
) -> Findings:
    """What a masked model shows, or a causal one asked in a wording; each is made once."""
    return _small_run(seed, wording, says, *options.items())


@cache
def _small_run(
    seed: int, wording: str | None, says: Callable[..., float], *options: tuple[str, Any]
) -> Findings:
    properties = tuple(_properties())
    norms = Norms(Path("norms.dat"), properties)
    asked = {**({"wording": wording} if wording else {}), **dict(options)}
    probe = Assumptions(norms, AssumptionsOptions(norms.path, **asked))
    model = FakeModel(lambda *of: says(*of, seed=seed), words=WORDS)
    kind = ModelWords("causal" if wording else "masked", model.whole_words())
    return measured(probe.for_models({"fake": kind})["fake"], model)
