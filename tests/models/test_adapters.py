"""Checkpoints as people have them: adapters, quantised weights, several devices."""

import json
import shutil
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

WEIGHTS = "adapter_model.safetensors"
LORA = '{"peft_type": "LORA"}'
MEGATRON = '{"peft_type": "LORA", "megatron_config": {}, "megatron_core": "megatron.x"}'
PROMPTS = [
    Prompt("A bear has fur, is big, and has", ("claws", "the egg yolk", "roots")),
    Prompt("A bear has fur, is big, and is", ("bird", "true")),
]


def adapter(base: Path, folder: Path, kind: str = "lora") -> Path:
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


def test_an_adapter_changes_the_scores_as_peft_does(folder_of: FolderOf, tmp_path: Path) -> None:
    """Against peft's own model with the adapter merged into its weights, one text at a time."""
    peft = pytest.importorskip("peft")
    import torch
    import transformers

    base = folder_of("llama")
    folder = adapter(base, tmp_path / "adapter")
    ours = tiny.load(base, adapter=folder)
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
    base, folder = folder_of("llama"), adapter(folder_of("llama"), tmp_path / "a")
    plain, ours = tiny.load(base), tiny.load(base, adapter=folder)
    other = shutil.copytree(folder, tmp_path / "b")
    config = json.loads((other / "adapter_config.json").read_text())
    config["lora_alpha"] = 2 * config["lora_alpha"]
    (other / "adapter_config.json").write_text(json.dumps(config))
    fingerprints = {plain.fingerprint, ours.fingerprint, tiny.load(base, adapter=other).fingerprint}
    assert len(fingerprints) == 3
    assert ours.description["adapter"] == str(folder)
    assert f"adapter/{WEIGHTS}" in ours.description["weights"]


def test_an_adapter_of_another_model_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    folder = adapter(folder_of("llama"), tmp_path / "adapter")
    with pytest.raises(ModelError, match="cannot be loaded"):
        tiny.load(folder_of("gpt2"), adapter=folder)


def test_an_adapter_that_lacks_parts_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = adapter(folder_of("llama"), tmp_path / "adapter")
    weights = load_file(folder / WEIGHTS)
    save_file(dict(list(weights.items())[:-1]), folder / WEIGHTS)
    with pytest.raises(ModelError, match="lacks weights"):
        tiny.load(folder_of("llama"), adapter=folder)


def test_an_adapter_that_adds_tokens_is_refused(folder_of: FolderOf, tmp_path: Path) -> None:
    folder = adapter(folder_of("llama"), tmp_path / "adapter", kind="prompt")
    with pytest.raises(ModelError, match="adds virtual tokens before the text"):
        tiny.load(folder_of("llama"), adapter=folder)


def write(folder: Path, config: str | None, weights: str) -> None:
    if config is not None:
        (folder / "adapter_config.json").write_text(config)
    if weights:
        (folder / weights).write_bytes(b"")


@pytest.mark.parametrize(
    ("config", "weights", "message"),
    [
        (None, "", "no adapter_config.json"),
        (LORA, "", "no weights"),
        (LORA, "adapter_model.bin", "are a pickle"),
        # Further files or modules would be read, of which the fingerprint tells nothing.
        ('{"peft_type": "XLORA", "adapters": {"0": "x"}}', WEIGHTS, "of type 'XLORA' are not"),
        ('{"peft_type": ["LORA"]}', WEIGHTS, "are not supported"),
        (MEGATRON, WEIGHTS, "makes peft import 'megatron.x'"),
        ("{", WEIGHTS, "cannot be read"),
    ],
)
def test_a_folder_that_is_no_adapter_is_refused(
    folder_of: FolderOf, tmp_path: Path, config: str | None, weights: str, message: str
) -> None:
    write(tmp_path, config, weights)
    with pytest.raises(ModelError, match=message):
        tiny.load(folder_of("llama"), adapter=tmp_path)


@pytest.mark.parametrize(
    ("package", "message"),
    [("peft", "pip install peft"), ("accelerate", "--device-map needs accelerate")],
)
def test_a_package_that_is_missing_is_named(
    package: str, message: str, folder_of: FolderOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, LORA, WEIGHTS)
    monkeypatch.setattr(adapters, "find_spec", lambda name: None if name == package else object())
    options = {"adapter": tmp_path} if package == "peft" else {"device_map": "auto"}
    with pytest.raises(ModelError, match=message):
        tiny.load(folder_of("llama"), **options)


def test_a_model_that_accelerate_places_gives_the_same(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("accelerate")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # a GPU would round otherwise
    base = folder_of("llama")
    placed = tiny.load(base, device_map="auto")
    assert placed.answer(PROMPTS) == tiny.load(base).answer(PROMPTS)
    assert placed.fingerprint == tiny.load(base).fingerprint
    assert placed.description["device_map"] == "auto"
