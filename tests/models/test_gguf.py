"""A GGUF file is loaded like the folder that it was made from."""

import shutil
from pathlib import Path

import pytest

from tacit.errors import MissingPackage, ModelError
from tacit.models.huggingface import gguf
from tacit.models.loading import load_model, words_of
from tacit.models.options import LoadOptions
from tests.models import tiny
from tests.models.conftest import FolderOf
from tests.models.test_loading import PROMPTS

gguf_package = pytest.importorskip("gguf", reason="gguf is not installed")


@pytest.fixture(scope="module")
def file(folder_of: FolderOf, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model in 32 bits, beside a tokenizer of another model."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tests.peers.gguf_file import write_gguf

    folder = tmp_path_factory.mktemp("gguf")
    model = AutoModelForCausalLM.from_pretrained(folder_of("qwen2"))
    write_gguf(model, AutoTokenizer.from_pretrained(folder_of("qwen2")), folder / "tiny.gguf")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder_of("bert") / name, folder)
    return folder / "tiny.gguf"


def test_it_scores_as_the_folder(file: Path, folder_of: FolderOf) -> None:
    here, there = tiny.load(file), tiny.load(folder_of("qwen2"))
    pairs = zip(here.answer(PROMPTS), there.answer(PROMPTS), strict=True)
    for own, other in pairs:
        for one, two in zip(own.answers, other.answers, strict=True):
            assert one.logprob == pytest.approx(two.logprob, abs=1e-6)
            assert one.tokens == two.tokens
    assert here.description["parameters"] == there.description["parameters"]
    assert words_of(str(file)) == ("causal", here.whole_words())


def test_its_description_and_fingerprint_name_the_file(file: Path, tmp_path: Path) -> None:
    model = load_model(str(file))
    told = model.description
    assert told["gguf"] == {"file": "tiny.gguf", "quantisation": None, "dequantised": True}
    assert told["quantised"] is None
    assert list(told["weights"]) == ["tiny.gguf"]
    changed = tmp_path / "tiny.gguf"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    changed.write_bytes(content)
    assert load_model(str(changed)).fingerprint != model.fingerprint


def test_a_chat_needs_a_template_in_the_file(file: Path) -> None:
    with pytest.raises(ModelError, match="chat template"):
        load_model(str(file), LoadOptions(chat=True))


@pytest.mark.parametrize("package", ["gguf", "accelerate"])
def test_a_missing_package_is_named(
    package: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(MissingPackage, match=rf"^{package} is .*pip install 'tacit-lm\[gguf\]'$"):
        load_model(str(file))


@pytest.mark.parametrize("content", [b"", b"no GGUF", b"GGUF\x03\x00\x00\x00"])
def test_a_damaged_file(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.gguf: its config cannot be loaded"):
        load_model(str(tmp_path / "model.gguf"))
