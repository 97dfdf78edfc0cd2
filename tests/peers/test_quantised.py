"""Checkpoints that torchao 0.18.0 quantised to 8 bits, on a processor."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import stdev

import pytest

from tacit.models.huggingface.self_check import FLOOR
from tests.models import plain, tiny
from tests.models.passes import Local
from tests.models.prompts import ALIKE as ASKED
from tests.models.prompts import encodes

Folders = Callable[[str, str], Path]
Values = dict[tuple[str, str], float]

quantization = pytest.importorskip("torchao.quantization", reason="torchao is not installed")

# What it imports, and how, is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore")

PLAIN = ""
INT8 = "Int8WeightOnlyConfig"
FLOAT8 = "Float8WeightOnlyConfig"
ACTIVATIONS = "Int8DynamicActivationInt8WeightConfig"


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The folder of a tiny model that was quantised in one way; made at its first use."""
    from transformers import TorchAoConfig

    root = tmp_path_factory.mktemp("models")

    @cache
    def made(name: str, how: str) -> Path:
        folder = root / f"{name}-{how}"
        if how == PLAIN:
            return tiny.save(name, folder)
        config = TorchAoConfig(getattr(quantization, how)())
        read = plain.load(name, made(name, PLAIN), quantization_config=config)
        read.model.save_pretrained(folder)
        read.tokenizer.save_pretrained(folder)
        return folder

    return made


def scored(model: Local) -> Values:
    """The log-probability of every answer behind every text, in nats."""
    return {
        (prompt.text, one.answer): one.logprob
        for prompt, score in zip(ASKED, model.answer(ASKED), strict=True)
        for one in score.answers
        if one.logprob is not None
    }


def expected(name: str, folder: Path, attention: str = "eager") -> Values:
    """The same by the independent computation, on what transformers alone loads."""
    reference = plain.load(name, folder, attention=attention)
    return {
        (prompt.text, answer): reference.score(prompt, answer)[0]
        for prompt in ASKED
        for answer in prompt.answers
        if encodes(name, answer)
    }


def apart(one: Values, other: Values) -> float:
    assert one.keys() == other.keys()
    return max(abs(one[asked] - other[asked]) for asked in one)


@pytest.mark.parametrize(
    ("name", "how"),
    [("llama", INT8), ("gemma3", INT8), ("bert", INT8), ("t5", INT8), ("llama", FLOAT8)],
)
def test_quantised_weights_score_as_transformers_alone_has_them(
    name: str, how: str, folder_of: Folders
) -> None:
    """Packed and by rows, far within what is left to rounding; and the manifest tells of it."""
    folder = folder_of(name, how)
    reference = expected(name, folder)
    for packing in (True, False):
        model = tiny.load(folder, packing=packing)
        assert model.description["quantised"] == "torchao"
        assert model.description.get("packs") is (packing if model.kind == "causal" else None)
        assert apart(scored(model), reference) < FLOOR


@pytest.mark.parametrize("name", ["llama", "gemma3", "bert", "t5"])
def test_8_bits_are_near_to_what_they_were_made_of(name: str, folder_of: Folders) -> None:
    """Within a nat, where answers are tens of nats apart; and it is another model."""
    ours, base = (tiny.load(folder_of(name, how)) for how in (INT8, PLAIN))
    assert ours.fingerprint != base.fingerprint
    assert base.description["quantised"] is None
    before = scored(base)
    assert stdev(before.values()) > 10
    assert 0.01 < apart(scored(ours), before) < 1


@pytest.mark.parametrize("packing", [True, False])
def test_activations_that_are_rounded_are_within_the_limit(
    *, packing: bool, folder_of: Folders
) -> None:
    """Each token is rounded by itself, so that the last bits of a pass may change a whole step."""
    folder = folder_of("gemma3", ACTIVATIONS)
    model = tiny.load(folder, packing=packing)
    assert model.description["packs"] is packing
    off = apart(scored(model), expected("gemma3", folder, "sdpa"))
    assert off <= model._checks.limit
