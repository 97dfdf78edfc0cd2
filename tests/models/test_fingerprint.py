import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tacit.models.huggingface.checkpoint import weight_files
from tacit.models.huggingface.fingerprint import FileHashes, Identity
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tests.models import tiny
from tests.models.conftest import FolderOf, Loaded


@pytest.fixture
def copy(folder_of: FolderOf, tmp_path: Path) -> Path:
    return shutil.copytree(folder_of("bert"), tmp_path / "model")


def edit(folder: Path, file: str, change: Callable[[Any], None]) -> None:
    path = folder / file
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def one_float(folder: Path) -> None:
    """Changes the last bit of one weight; the file's size stays."""
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-4] ^= 1
    path.write_bytes(content)


def swap_pieces(content: dict[str, Any]) -> None:
    vocabulary = content["model"]["vocab"]
    vocabulary["##s"], vocabulary["##house"] = vocabulary["##house"], vocabulary["##s"]


CHANGES: dict[str, Callable[[Path], None]] = {
    "one bit of a weight": one_float,
    "two pieces": lambda folder: edit(folder, "tokenizer.json", swap_pieces),
    "special token": lambda folder: edit(
        folder, "tokenizer_config.json", lambda content: content.update({"unk_token": "[PAD]"})
    ),
    "activation": lambda folder: edit(
        folder, "config.json", lambda content: content.update({"hidden_act": "relu"})
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_changes_it(case: str, copy: Path, loaded: Loaded) -> None:
    CHANGES[case](copy)
    assert load_model(str(copy)).fingerprint != loaded("bert").fingerprint


def test_an_option_changes_it(folder_of: FolderOf, loaded: Loaded) -> None:
    for options in (LoadOptions(dtype="bfloat16"), LoadOptions(masked_mode="one-at-a-time")):
        changed = load_model(str(folder_of("bert")), options)
        assert changed.fingerprint != loaded("bert").fingerprint


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_the_scorers_version_changes_it(
    name: str, folder_of: FolderOf, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = loaded(name).fingerprint
    monkeypatch.setattr(f"tacit.models.huggingface.{tiny.MODELS[name].kind}.SCORER", "another-2")
    assert load_model(str(folder_of(name))).fingerprint != before


def test_what_does_not_change_it(copy: Path, loaded: Loaded) -> None:
    """The batch size, the folder's place and the default data type by its name."""
    options = LoadOptions(batch_tokens=7, dtype="float32")
    assert load_model(str(copy), options).fingerprint == loaded("bert").fingerprint


@pytest.mark.slow
def test_another_process_finds_the_same(folder_of: FolderOf, loaded: Loaded) -> None:
    names = ("gpt2", "bert", "t5")
    code = (
        "import sys; from tacit.models.loading import load_model\n"
        "print(*[load_model(name).fingerprint for name in sys.argv[1:]])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *(str(folder_of(name)) for name in names)],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [loaded(name).fingerprint for name in names]


def test_every_field_counts() -> None:
    base = Identity({"a": "1"}, "c", "t", "r", "float32", "s", "v")
    assert base.fingerprint == replace(base).fingerprint
    prints = {base.fingerprint}
    for field in fields(Identity):
        changed: Any = {"a": "2"} if field.name == "weights" else "other"
        prints.add(replace(base, **{field.name: changed}).fingerprint)
    prints.add(replace(base, revision=None).fingerprint)
    assert len(prints) == len(fields(Identity)) + 2


# Hashes of files


def test_hashes_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the same size and time is not read again, in this run or the next."""
    file, memory = tmp_path / "weights.bin", tmp_path / "new" / "hashes.json"
    file.write_bytes(b"weights")
    hashes = FileHashes(memory)
    digest = hashes.sha256(file)
    hashes.save()
    monkeypatch.setattr("tacit.models.huggingface.fingerprint.hashlib.file_digest", None)
    assert hashes.sha256(file) == FileHashes(memory).sha256(file) == digest
    assert digest == hashlib.sha256(b"weights").hexdigest()


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    """Also one of the same size and time, as archives and copies that keep or set times make it."""
    file, memory = tmp_path / "weights.bin", tmp_path / "hashes.json"
    for content, time in ((b"weights", 0), (b"weighty", 0), (b"weighed", 1), (b"more weights", 1)):
        (tmp_path / "new").write_bytes(content)
        os.utime(tmp_path / "new", ns=(10**18, 10**18 + time))
        (tmp_path / "new").replace(file)
        hashes = FileHashes(memory)
        assert hashes.sha256(file) == hashlib.sha256(content).hexdigest()
        hashes.save()


def test_what_another_machine_hashed_is_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shared store, its file of that path may be another."""
    file, memory = tmp_path / "weights.bin", tmp_path / "hashes.json"
    file.write_bytes(b"weights")
    hashes = FileHashes(memory)
    hashes.sha256(file)
    hashes.save()
    monkeypatch.setattr("tacit.models.huggingface.fingerprint.platform.node", lambda: "another")
    known = memory.read_text().replace(hashlib.sha256(b"weights").hexdigest(), "0" * 64)
    memory.write_text(known)
    assert FileHashes(memory).sha256(file) == hashlib.sha256(b"weights").hexdigest()


def test_the_weights_are_the_files_that_transformers_reads(tmp_path: Path) -> None:
    """Shards are those of the index; what else lies there counts for nothing."""
    shards = ["model-1.safetensors", "model-2.safetensors"]
    for name in (*shards, "model.fp16.safetensors", "pytorch_model.bin"):
        (tmp_path / name).write_text(name)
    for pickled, expected in ((False, []), (True, ["pytorch_model.bin"])):
        assert [file.name for file in weight_files(tmp_path, pickled=pickled)] == expected
    index = {"weight_map": {"a": shards[1], "b": shards[0], "c": shards[1]}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for pickled in (False, True):
        found = weight_files(tmp_path, pickled=pickled)
        assert [file.name for file in found] == shards
