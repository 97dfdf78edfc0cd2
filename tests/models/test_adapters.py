"""Checkpoints as people have them: adapters, quantised weights, several devices."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from tacit.errors import ModelError
from tacit.models.huggingface import adapters
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import FolderOf

# peft asks transformers by a name that will be another one.
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")

PROMPTS = [
    Prompt("A bear has fur, is big, and has", ("claws", "the egg yolk", "roots")),
    Prompt("A bear has fur, is big, and is", ("bird", "true")),
]


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Has a package be not installed."""
    monkeypatch.setattr(adapters, "find_spec", lambda name: None if name == package else object())


def adapter(base: Path, folder: Path, kind: str = "lora") -> Path:
    """Saves an adapter with random weights for a saved model."""
    peft = pytest.importorskip("peft")
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    if kind == "lora":
        config = peft.LoraConfig(
            r=4, target_modules=["q_proj", "down_proj"], init_lora_weights=False
        )
    else:
        config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    peft.get_peft_model(model, config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("packing", [True, False])
def test_an_adapter_changes_the_scores_as_peft_does(
    *, packing: bool, folder_of: FolderOf, tmp_path: Path
) -> None:
    """Against peft's own model with the adapter merged into its weights, one text at a time."""
    peft = pytest.importorskip("peft")
    import torch
    import transformers

    base = folder_of("llama")
    folder = adapter(base, tmp_path / "adapter")
    ours = tiny.load(base, adapter=folder, packing=packing)
    assert ours.description["packs"] == packing
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    merged = peft.PeftModel.from_pretrained(plain, folder).merge_and_unload().eval()
    without = tiny.load(base).answer(PROMPTS)
    for prompt, scores, bare in zip(PROMPTS, ours.answer(PROMPTS), without, strict=True):
        for one in scores.answers:
            (shown,) = ours.inputs(prompt, one.answer)
            with torch.inference_mode():
                logits = merged(input_ids=torch.tensor([list(shown.ids)])).logits[0]
            values = logits.double().log_softmax(-1)
            expected = sum(float(values[at - 1, shown.ids[at]]) for at in shown.scored)
            assert one.logprob == pytest.approx(expected, abs=1e-4)
            assert abs((one.logprob or 0) - (bare[one.answer].logprob or 0)) > 0.01


def test_an_adapter_is_part_of_the_fingerprint(folder_of: FolderOf, tmp_path: Path) -> None:
    """Another adapter is another model; the manifest names it with its hashes."""
    base, folder = folder_of("llama"), adapter(folder_of("llama"), tmp_path / "a")
    plain, ours = tiny.load(base), tiny.load(base, adapter=folder)
    other = shutil.copytree(folder, tmp_path / "b")
    config = json.loads((other / "adapter_config.json").read_text())
    config["lora_alpha"] = 2 * config["lora_alpha"]
    (other / "adapter_config.json").write_text(json.dumps(config))
    fingerprints = {plain.fingerprint, ours.fingerprint, tiny.load(base, adapter=other).fingerprint}
    assert len(fingerprints) == 3
    assert ours.description["adapter"] == str(folder)
    assert "adapter/adapter_model.safetensors" in ours.description["weights"]


def test_an_adapter_of_another_model_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    """Its layers are not there."""
    folder = adapter(folder_of("llama"), tmp_path / "adapter")
    with pytest.raises(ModelError, match="cannot be loaded"):
        tiny.load(folder_of("gpt2"), adapter=folder)


def test_an_adapter_that_lacks_parts_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    """They would be made up."""
    from safetensors.torch import load_file, save_file

    folder = adapter(folder_of("llama"), tmp_path / "adapter")
    weights = load_file(folder / "adapter_model.safetensors")
    save_file(dict(list(weights.items())[:-1]), folder / "adapter_model.safetensors")
    with pytest.raises(ModelError, match="lacks weights"):
        tiny.load(folder_of("llama"), adapter=folder)


def test_an_adapter_that_adds_tokens_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    """It is not in the model's layers."""
    folder = adapter(folder_of("llama"), tmp_path / "adapter", kind="prompt")
    with pytest.raises(ModelError, match="adds virtual tokens before the text"):
        tiny.load(folder_of("llama"), adapter=folder)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), "no adapter_config.json"),
        (("adapter_config.json",), "no weights"),
        (("adapter_config.json", "adapter_model.bin"), "are a pickle"),
    ],
)
def test_a_folder_that_is_no_adapter_is_refused(
    folder_of: FolderOf, tmp_path: Path, files: tuple[str, ...], message: str
) -> None:
    """Before anything is loaded."""
    for file in files:
        (tmp_path / file).write_text('{"peft_type": "LORA"}')
    with pytest.raises(ModelError, match=message):
        tiny.load(folder_of("llama"), adapter=tmp_path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"peft_type": "XLORA", "adapters": {"0": "elsewhere"}}', "of type 'XLORA' are not"),
        ('{"peft_type": ["LORA"]}', "are not supported"),
        ("{}", "of type None are not supported"),
        (
            '{"peft_type": "LORA", "megatron_config": {}, "megatron_core": "megatron.x"}',
            "makes peft import 'megatron.x'",
        ),
        ("[]", "is not a JSON object"),
        ("{", "cannot be read"),
    ],
)
def test_an_adapter_that_brings_more_than_its_weights_is_refused(
    folder_of: FolderOf, tmp_path: Path, config: str, message: str
) -> None:
    """Further files or modules would be read, of which the fingerprint tells nothing."""
    (tmp_path / "adapter_config.json").write_text(config)
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match=message):
        tiny.load(folder_of("llama"), adapter=tmp_path)


def test_peft_that_is_missing_is_told(
    folder_of: FolderOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to install."""
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    hide(monkeypatch, "peft")
    with pytest.raises(ModelError, match="pip install peft"):
        tiny.load(folder_of("llama"), adapter=tmp_path)


def test_a_model_that_accelerate_places_gives_the_same(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine of one device, all of it lies there."""
    pytest.importorskip("accelerate")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # a GPU would round otherwise
    base = folder_of("llama")
    placed = tiny.load(base, device_map="auto")
    assert placed.answer(PROMPTS) == tiny.load(base).answer(PROMPTS)
    assert placed.fingerprint == tiny.load(base).fingerprint
    assert placed.description["device_map"] == "auto"


def test_accelerate_that_is_missing_is_told(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to install."""
    hide(monkeypatch, "accelerate")
    with pytest.raises(ModelError, match="--device-map needs accelerate"):
        tiny.load(folder_of("llama"), device_map="auto")


def test_quantised_weights_name_the_package_that_is_missing(
    folder_of: FolderOf, tmp_path: Path
) -> None:
    """As transformers says it, with how they are quantised."""
    pytest.importorskip("accelerate")
    if find_spec("optimum"):
        pytest.skip("optimum is installed, so that transformers asks for something else")
    folder = shutil.copytree(folder_of("llama"), tmp_path / "quantised")
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        ModelError, match=r"weights \(quantised: gptq\) cannot be loaded: .*optimum"
    ):
        tiny.load(folder)
