"""Folders of models in which something is damaged or of another shape."""

import json
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ModelError, TacitError
from tacit.models.huggingface.checkpoint import kind_of
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tests.fuzzing.shapes import Damage, changed, reshaped, spoilt
from tests.fuzzing.test_files import no_hang, slowly_fuzzed
from tests.models import tiny
from tests.models.test_adapters import adapter

INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("gpt2", "config.json"),
        ("gpt2", "tokenizer.json"),
        ("gpt2", "tokenizer_config.json"),
        ("gpt2", "model.safetensors"),
        ("gpt2", INDEX),
        ("t5", "config.json"),
    ],
)
def test_a_damaged_model_is_loaded_or_refused(tmp_path: Path, name: str, file: str) -> None:
    folder = tiny.save(name, tmp_path / "model")
    if file == INDEX:
        (folder / "model.safetensors").unlink()
        tiny.make("gpt2").save_pretrained(folder, max_shard_size="40kB")
    loads_or_refuses(folder / file, str(folder), LoadOptions(packing=False))


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # of peft
def test_a_damaged_adapter_is_loaded_or_refused(tmp_path: Path) -> None:
    base = tiny.save("llama", tmp_path / "base")
    folder = adapter(base, tmp_path / "adapter")
    options = LoadOptions(packing=False, adapter=folder)
    loads_or_refuses(folder / "adapter_config.json", str(base), options)


def loads_or_refuses(file: Path, model: str, options: LoadOptions) -> None:
    load_model(model, options)
    valid = file.read_bytes()

    @slowly_fuzzed
    @given(spoilt() if file.suffix == ".safetensors" else st.one_of(spoilt(), reshaped()))
    def check(how: Damage) -> None:
        file.write_bytes(changed(valid, how))
        with no_hang(), suppress(TacitError):
            load_model(model, options)

    check()


@pytest.mark.parametrize("architectures", [[5], [None], [["GPT2LMHeadModel"]], 5])
def test_architectures_that_are_no_names_are_refused(architectures: Any) -> None:  # noqa: ANN401
    config = SimpleNamespace(architectures=architectures, is_encoder_decoder=False)
    with pytest.raises(ModelError, match="expected a list of names such as"):
        kind_of("m", cast("Any", config))


def test_a_tokenizer_that_takes_no_text_is_refused(tmp_path: Path) -> None:
    folder = tiny.save("gpt2", tmp_path / "model")
    file = folder / "tokenizer_config.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**about, "model_max_length": []}), encoding="utf-8")
    with pytest.raises(ModelError, match="its tokenizer cannot tokenize text"):
        load_model(str(folder), LoadOptions(packing=False))
