import hashlib
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.errors import ModelError, RequestError
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import FolderOf, Loaded

PROMPTS = [Prompt("In a tree, the trunk is", ("above", "a bird"))]


@pytest.fixture
def copy(folder_of: FolderOf, tmp_path: Path) -> Path:
    return shutil.copytree(folder_of("gpt2"), tmp_path / "model")


def without(*patterns: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        for pattern in patterns:
            for file in folder.glob(pattern):
                file.unlink()

    return spoil


def with_file(name: str, content: bytes) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return spoil


def half_the_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def with_setting(**settings: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **settings}))

    return spoil


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
SPOILT = {
    "no weights": (without("*.safetensors"), "contains no weights"),
    "no config": (without("config.json"), "contains no config.json"),
    "no tokenizer": (without("tokenizer*"), "no tokenizer"),
    "half a tokenizer": (with_file("tokenizer.json", b'{"version":'), "its tokenizer"),
    "broken config": (with_file("config.json", b"{"), "its config cannot be loaded"),
    "LFS pointer": (with_file("model.safetensors", LFS), "its weights cannot be loaded"),
    "half a weight file": (half_the_weights, "its weights cannot be loaded"),
    "one layer more": (with_setting(n_layer=3), "weights lack 12 tensors of a causal model"),
    "another width": (with_setting(n_embd=48), "another shape than in its config.json"),
    "quantised": (
        with_setting(quantization_config={"quant_method": "gptq", "bits": 4}),
        r"weights \(quantised: gptq\) cannot be loaded",
    ),
}


@pytest.mark.parametrize("case", SPOILT)
def test_a_spoilt_folder(case: str, copy: Path) -> None:
    spoil, message = SPOILT[case]
    spoil(copy)
    with pytest.raises(ModelError, match=message) as caught:
        load_model(str(copy))
    assert str(copy) in str(caught.value)
    assert "\n" not in str(caught.value)


FOLDERS = ("./nowhere", "/no/such/folder", "~nobody-here/model", "a/b/c")
NAMES = ("nobody/nothing-at-all", "x" * 300, "a b")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, "there is no such model folder") for name in (*FOLDERS, "no.GGUF")),
        *((name, f"^{name}: there is no folder of this name, .* HF_HUB_OFFLINE") for name in NAMES),
        ("demo-maskd", r"no folder of this name \(did you mean demo-masked\?\)"),
        (__file__, "this is a file; expected a GGUF file"),
    ],
)
def test_a_model_that_is_not_there(name: str, message: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ModelError, match=message):
        load_model(name)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (LoadOptions(dtype="int3"), "dtype is 'int3'; it must be one of auto, float32"),  # type: ignore[arg-type] # wrong
        (LoadOptions(device="abacus"), "the device 'abacus' cannot be used here"),
        (LoadOptions(device="meta"), "the device 'meta' cannot be used here"),
        (LoadOptions(batch_tokens=0), "batch_tokens is 0; it must be at least 1"),
    ],
)
def test_options_that_cannot_be(options: LoadOptions, message: str, folder_of: FolderOf) -> None:
    with pytest.raises(RequestError, match=message):
        load_model(str(folder_of("gpt2")), options)


def saved(folder: Path, name: str, tokenizer: str, model_class: str) -> Path:
    import transformers

    config = tiny.MODELS[name].model(tiny.tokenizer_of(name)).config
    getattr(transformers, model_class)(config).save_pretrained(folder)
    tiny.tokenizer_of(tokenizer).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "model_class", "message"),
    [
        ("bert", "BertModel", "weights lack .* tensors of a masked model .*cls.predictions"),
        ("bert", "BertForSequenceClassification", "was not trained to predict text"),
        ("electra", "ElectraForPreTraining", "weights lack .* tensors of a masked model"),
        ("gpt2", "GPT2ForSequenceClassification", "was not trained to predict text"),
        ("t5", "T5EncoderModel", "does not predict text"),
        ("llama", "LlamaModel", "weights lack 1 tensor of a causal model .*lm_head"),
    ],
)
def test_weights_of_another_head(name: str, model_class: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(str(saved(tmp_path, name, name, model_class)))


def test_a_body_whose_head_is_its_embedding(tmp_path: Path, folder_of: FolderOf) -> None:
    """A GPT-2 saved without its head, as the hub's is, is whole: the head is the embedding."""
    import transformers

    transformers.GPT2Model.from_pretrained(folder_of("gpt2")).save_pretrained(tmp_path)
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path)
    values = [
        [one.logprob for one in load_model(str(folder)).answer(PROMPTS)[0].answers]
        for folder in (tmp_path, folder_of("gpt2"))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_a_tokenizer_without_offsets(tmp_path: Path) -> None:
    import transformers

    tiny.make("t5").save_pretrained(tmp_path)
    transformers.ByT5Tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="ByT5Tokenizer does not report character offsets"):
        load_model(str(tmp_path))


def test_a_tokenizer_of_another_model(copy: Path) -> None:
    """A tokenizer with more tokens than the model has embeddings is found out when it matters."""
    from tacit.errors import PromptError

    tokenizer = tiny.gpt2_like()
    tokenizer.add_tokens(["trunk"])
    tokenizer.save_pretrained(copy)
    model = load_model(str(copy))
    with pytest.raises(PromptError, match="its tokenizer belongs to another model"):
        model.answer([Prompt("the trunk is", ("a",))])


def test_kinds_by_the_config(loaded: Loaded) -> None:
    for name, one in tiny.MODELS.items():
        description = loaded(name).description
        assert description["kind"] == one.kind
        assert description["window"] == one.window
        assert description["device"] == "cpu"
        assert description["dtype"] == "float32"
        json.dumps(description)


# A hub's cache


@pytest.fixture
def hub(tmp_path: Path, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache as huggingface_hub lays it out, with two revisions that share their weights."""
    import huggingface_hub.constants

    root = tmp_path / "hub"
    repository = root / "models--org--tiny-gpt2"
    for number, branch in ((1, "main"), (2, "second")):
        commit = str(number) * 40
        (repository / "refs").mkdir(parents=True, exist_ok=True)
        (repository / "refs" / branch).write_text(commit)
        for file in folder_of("gpt2").iterdir():
            content = file.read_bytes()
            large = file.suffix == ".safetensors"
            digest = hashlib.sha256(content) if large else hashlib.sha1(content)  # noqa: S324 - as git
            blob = repository / "blobs" / digest.hexdigest()
            blob.parent.mkdir(exist_ok=True)
            blob.write_bytes(content)
            link = repository / "snapshots" / commit / file.name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(blob)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(root))
    return root


def test_a_cached_name_loads_offline(hub: Path, folder_of: FolderOf) -> None:
    model = load_model("org/tiny-gpt2")
    folder = load_model(str(folder_of("gpt2")))
    assert hub.is_dir()
    assert model.name == "org/tiny-gpt2"
    assert model.description["revision"] == "1" * 40
    assert model.description["weights"] == folder.description["weights"]
    ours, theirs = (one.answer(PROMPTS)[0].answers for one in (model, folder))
    assert [one.logprob for one in ours] == [one.logprob for one in theirs]


def test_a_blob_is_known_by_its_name(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("hashed a file")

    monkeypatch.setattr("tacit.models.huggingface.fingerprint.hashlib.file_digest", never)
    weights = load_model("org/tiny-gpt2").description["weights"]
    (blob,) = (file for file in hub.rglob("blobs/*") if len(file.name) == 64)
    assert weights == {"model.safetensors": blob.name}


def test_revisions_are_told_apart(hub: Path) -> None:
    prints = {
        revision: load_model("org/tiny-gpt2", LoadOptions(revision=revision)).fingerprint
        for revision in ("main", "second", "1" * 40, None)
    }
    assert hub.is_dir()
    assert prints["main"] == prints["1" * 40] == prints[None]
    assert prints["main"] != prints["second"]


def test_a_revision_that_is_not_there(hub: Path) -> None:
    assert hub.is_dir()
    with pytest.raises(ModelError, match=r"cache does not contain this model \(revision third\)"):
        load_model("org/tiny-gpt2", LoadOptions(revision="third"))


def test_a_cached_name_without_weights(hub: Path) -> None:
    for link in hub.rglob("snapshots/*/*.safetensors"):
        link.unlink()
    with pytest.raises(ModelError, match="its weights cannot be loaded"):
        load_model("org/tiny-gpt2")
