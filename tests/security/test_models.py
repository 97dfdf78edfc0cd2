import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tacit.errors import ModelError
from tacit.models.huggingface.chat_template import Chat
from tacit.models.loading import load_model, words_of
from tacit.models.options import LoadOptions
from tacit.requests import Prompt
from tests.models import tiny

PROMPTS = [Prompt("In a tree, the trunk is", ("above", "a bird"))]


class Hostile:
    """What a pickle of it does when it is read."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.target),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.save("gpt2", tmp_path / "model")


def pickled(folder: Path, content: object) -> None:
    """Puts a pickle in the place of a folder's safetensors."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(content))


def test_the_hostile_pickle_is_hostile(tmp_path: Path) -> None:
    """Read the way pickles are read, it makes the folder; else the tests below prove nothing."""
    pickle.loads(pickle.dumps(Hostile(tmp_path / "made")))  # noqa: S301
    assert (tmp_path / "made").is_dir()


@pytest.mark.parametrize("allowed", [False, True])
def test_a_hostile_pickle_writes_nothing(folder: Path, tmp_path: Path, *, allowed: bool) -> None:
    """Unasked it is not opened; asked for, only tensors are taken from it."""
    pickled(folder, {"weight": Hostile(tmp_path / "made")})
    with pytest.raises(ModelError):
        load_model(str(folder), LoadOptions(allow_pickle=allowed))
    assert not (tmp_path / "made").exists()


def test_weights_in_a_pickle_are_refused_unless_asked_for(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    before = load_model(str(folder)).answer(PROMPTS)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pytorch_model.bin\) are a pickle.*--allow-pickle"):
        load_model(str(folder))
    assert load_model(str(folder), LoadOptions(allow_pickle=True)).answer(PROMPTS) == before


def test_safetensors_are_taken_where_both_are_there(folder: Path, tmp_path: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Hostile(tmp_path / "made")))
    for allowed in (False, True):
        assert load_model(str(folder), LoadOptions(allow_pickle=allowed)).answer(PROMPTS)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("shard", ["weights.bin", "../x.safetensors", 3, None], ids=str)
def test_an_index_that_names_no_shards_is_refused(
    folder: Path, tmp_path: Path, shard: object
) -> None:
    (folder / "model.safetensors").rename(folder / "z.safetensors")
    (folder / "weights.bin").write_bytes(pickle.dumps(Hostile(tmp_path / "made")))
    index = {"metadata": {}, "weight_map": {"transformer.wte.weight": shard} if shard else {}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for allowed in (False, True):
        with pytest.raises(ModelError, match=r"index.json"):
            load_model(str(folder), LoadOptions(allow_pickle=allowed))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("nested", [False, True])
def test_a_config_cannot_have_other_weights_read(folder: Path, *, nested: bool) -> None:
    """They would be in no fingerprint."""
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    chosen: dict[str, object] = {"transformers_weights": "other.safetensors"}
    config |= {"text_config": chosen} if nested else chosen
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelError, match=r"sets transformers_weights to 'other.safetensors'"):
        load_model(str(folder))


def test_an_adapter_beside_the_model_is_refused(folder: Path) -> None:
    """With peft it would be loaded too, and stand in no fingerprint."""
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=r"pass that folder as --adapter"):
        load_model(str(folder))


PROGRAM = """
from pathlib import Path
from transformers import GPT2Config, GPT2LMHeadModel

Path({target!r}).mkdir()

class OwnConfig(GPT2Config):
    model_type = "own"

class OwnLMHeadModel(GPT2LMHeadModel):
    config_class = OwnConfig
"""


def with_a_program(folder: Path, target: Path) -> None:
    """Makes the model one of its own kind, whose program makes a folder when it is run."""
    (folder / "own.py").write_text(PROGRAM.format(target=str(target)), encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {
        "model_type": "own",
        "architectures": ["OwnLMHeadModel"],
        "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnLMHeadModel"},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def test_a_model_s_own_program_is_not_run(folder: Path, tmp_path: Path) -> None:
    """Nobody is asked either: the flag alone says yes."""
    with_a_program(folder, tmp_path / "made")
    for load in (load_model, words_of):
        with pytest.raises(ModelError, match=r"it contains code.*--trust-remote-code"):
            load(str(folder))
    assert not (tmp_path / "made").exists()


def test_a_model_s_own_program_is_run_when_asked_for_and_is_part_of_the_fingerprint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = load_model(str(folder))
    expected = plain.answer(PROMPTS)
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    with_a_program(folder, tmp_path / "made")
    trusted = load_model(str(folder), LoadOptions(trust_remote_code=True))
    assert (tmp_path / "made").is_dir()
    assert trusted.answer(PROMPTS) == expected
    with (folder / "own.py").open("a", encoding="utf-8") as program:
        program.write("# a change\n")
    (tmp_path / "made").rmdir()
    again = load_model(str(folder), LoadOptions(trust_remote_code=True))
    assert len({plain.fingerprint, trusted.fingerprint, again.fingerprint}) == 3


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
def test_a_kernel_from_the_hub_is_not_run(folder: Path, key: str) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config[key] = "kernels-community/flash-attn2"
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"code from the hub .'kernels-community/flash-attn2'.*not run"
    ):
        load_model(str(folder))


KERNELS = """
from pathlib import Path

class Anything:
    def __init__(self, *_, **__): pass
    def __call__(self, one): return one

def get_kernel(*_, **__):
    Path({target!r}).mkdir()
    raise FileNotFoundError

def __getattr__(name): return Anything
"""
LOADING = """
import sys
from tacit.errors import ModelError
from tacit.models.loading import load_model, words_of
from tacit.models.options import LoadOptions

options = LoadOptions(trust_remote_code="trusted" in sys.argv)
try:
    words_of(sys.argv[1], options)
    load_model(sys.argv[1], options)
except ModelError as error:
    print(error)
"""


def with_kernels(site: Path, target: Path) -> None:
    """Installs a stand-in for the package of kernels, which makes a folder to fetch one."""
    (site / "kernels").mkdir(parents=True)
    (site / "kernels" / "__init__.py").write_text(KERNELS.format(target=str(target)))
    (site / "kernels-0.18.2.dist-info").mkdir()
    (site / "kernels-0.18.2.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kernels\nVersion: 0.18.2\n"
    )


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.slow
def test_no_kernel_is_fetched_though_its_package_is_installed(
    folder: Path, tmp_path: Path, *, trusted: bool
) -> None:
    """A config may name one of transformers' own attentions, which then comes from the hub."""
    with_kernels(tmp_path / "site", tmp_path / "fetched")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["attn_implementation"] = "flash_attention_2"
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", LOADING, str(folder), *["trusted"] * trusted],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(folder) in ran.stdout
    assert (tmp_path / "fetched").exists() == trusted


def test_a_process_that_has_kernels_already_loads_no_model_with_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They cannot be taken from transformers any more."""
    monkeypatch.setitem(sys.modules, "kernels", ModuleType("kernels"))
    with pytest.raises(
        ModelError, match=r"the package kernels is already imported.*--trust-remote-code"
    ):
        load_model(str(folder))
    assert load_model(str(folder), LoadOptions(trust_remote_code=True))


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.mkdir(messages[0]['content']) }}",
        "{% for n in range(10 ** 9) %}x{% endfor %}",
        "{% include '/etc/passwd' %}",
        "{{ raise_exception('') }}",
        "{% if",
    ],
)
def test_a_hostile_chat_template_is_refused(template: str, tmp_path: Path) -> None:
    """Templates are rendered in a sandbox, and what they raise is ours."""
    tokenizer = tiny.gpt2_like()
    tokenizer.chat_template = template
    with pytest.raises(ModelError, match="template"):
        Chat.of("hostile", tokenizer).render(str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()


def test_a_model_s_name_cannot_leave_the_hub_s_cache(tmp_path: Path) -> None:
    """A name with ``..`` is a folder that is not there, or no name on a hub."""
    for name in ("../../etc", "a/../../b", "..\\..\\b", "a\0b", "a\nb"):
        with pytest.raises(ModelError):
            load_model(name)
    assert not list(tmp_path.iterdir())
