"""Every way in which Tacit computes a score gives what other programs give."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tacit.requests import Prompt, Scores
from tests.real.conftest import loaded, plain

pytestmark = pytest.mark.filterwarnings("ignore")

TOLERANCE = 1e-4
"""What every path of Tacit promises, in nats."""

OF_PEERS = 1e-3
"""The harness rounds more: Gemma's log-probabilities differ by 1.3e-4 from those in 64 bits."""

_PARTS = (("tree", "trunk", "roots"), ("egg", "shell", "yolk"), ("car", "engine", "hood"))
_RELATIONS = ("part of", "inside", "above", "next to")
PROMPTS = [
    *[
        Prompt(
            f"Judge whether this statement is true or false: In a {thing}, {one} is {relation} "
            f"the {other}.",
            ("True", "False"),
            "\n",  # not in the text, where the harness would score it
        )
        for thing, one, other in _PARTS
        for relation in _RELATIONS
    ],
    *[
        Prompt(f"Question: Is {one} a {kind}? Answer:", ("Yes", "No", "Incorrect", "Positive"))
        for one in ("dog", "rose", "violin")
        for kind in ("animal", "musical instrument", "flower that people give to each other")
    ],
    Prompt(
        "Where would you find a bookcase? The answer is",
        ("library", "furniture store", "in the living room of a house", "an unbelievably tall oak"),
    ),
]


def values(scores: Sequence[Scores]) -> list[float]:
    found = [answer.logprob for one in scores for answer in one.answers]
    assert None not in found
    return [value for value in found if value is not None]


def close(found: Sequence[float], expected: Sequence[float], most: float = TOLERANCE) -> None:
    """Asserts that all values are equal within the tolerance."""
    pairs = zip(found, expected, strict=True)
    assert max(abs(one - other) for one, other in pairs) <= most


def test_packed_padded_and_alone_are_equal(folder: Path) -> None:
    """The model takes the fast path, which gives what one sequence per pass gives."""
    packed = loaded(folder)
    padded = loaded(folder, packing=False)
    assert packed.description["packs"]
    assert padded.description["batch_tokens"] > 1
    expected = [
        plain(folder).score(prompt, answer)[0] for prompt in PROMPTS for answer in prompt.answers
    ]
    for model in (packed, padded):
        close(values(model.answer(PROMPTS)), expected)
    some = PROMPTS[::6]
    alone = [score for prompt in some for score in packed.answer([prompt])]
    close(values(alone), values(padded.answer(some)))


def test_lm_evaluation_harness(folder: Path) -> None:
    """HFLM.loglikelihood, in batches."""
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=str(folder), device="cpu", dtype="float32", batch_size=8)
    requests = [
        Instance("loglikelihood", {}, (prompt.text, prompt.separator + answer), number)
        for number, prompt in enumerate(PROMPTS)
        for answer in prompt.answers
    ]
    found = harness.loglikelihood(requests, disable_tqdm=True)
    close(values(loaded(folder).answer(PROMPTS)), [value for value, _ in found], OF_PEERS)


def test_minicons(folder: Path) -> None:
    """IncrementalLMScorer.conditional_score, in batches."""
    scorers: Any = pytest.importorskip("minicons.scorer", reason="minicons is not installed")
    scorer = scorers.IncrementalLMScorer(str(folder), "cpu")
    found: list[float] = []
    for prompt in PROMPTS:
        found += scorer.conditional_score(
            [prompt.text] * len(prompt.answers),
            list(prompt.answers),
            separator=prompt.separator,
            reduction=lambda tokens: tokens.sum(0).item(),
        )
    close(values(loaded(folder).answer(PROMPTS)), found, OF_PEERS)


def test_a_gguf_file_equals_its_dequantised_folder(folder: Path) -> None:
    """To the last bit."""
    pytest.importorskip("gguf", reason="gguf is not installed")
    file = folder.with_suffix(".gguf")
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    model = load_model(str(file), LoadOptions(device="cpu"))
    assert model.description["gguf"]["dequantised"]
    assert values(model.answer(PROMPTS)) == values(loaded(folder).answer(PROMPTS))


def test_next_tokens(folder: Path) -> None:
    """The likeliest after one prompt, by one pass of transformers."""
    model: Any = loaded(folder)
    other = plain(folder)
    text = PROMPTS[-1].text
    logprobs = other._logits(other.tokenizer(text)["input_ids"])[-1]
    expected = logprobs.exp().topk(8).values.tolist()
    found = [p for _, p in model.next_tokens([PROMPTS[-1]], 8)]
    assert found == pytest.approx(expected, abs=1e-5)
