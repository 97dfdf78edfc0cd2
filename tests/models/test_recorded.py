"""A recorded model is loaded only for new answers; a change of the model invalidates its record."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.models import loading
from tacit.models.huggingface.self_check import FAILS, Checks
from tacit.models.options import LoadOptions
from tacit.models.recorded import Record, RecordedModel
from tacit.requests import Prompt
from tests.models.conftest import FolderOf
from tests.models.overwriting import other_weights

PROMPTS = [Prompt("A bear has", ("fur", "wings")), Prompt("A tree has", ("roots", "fur"))]


@pytest.fixture
def folder(folder_of: FolderOf, tmp_path: Path) -> Path:
    shutil.copytree(folder_of("llama"), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    load, seen = loading.load_model, list[str]()

    def watched(name: str, *given: Any) -> Any:  # noqa: ANN401 - load_model's own
        seen.append(name)
        return load(name, *given)

    monkeypatch.setattr(loading, "load_model", watched)
    return seen


def engine(folder: Path, **options: Any) -> Engine:  # noqa: ANN401 - LoadOptions' fields
    return EngineOptions().start(
        str(folder), LoadOptions(**options), Store(folder.parent / "store")
    )


def test_a_model_is_loaded_only_for_new_answers(folder: Path, loads: list[str]) -> None:
    """What is cached needs the record alone; the answers and descriptions are the same."""
    first = engine(folder)
    found = first.ask(PROMPTS)
    assert len(loads) == 1
    second = engine(folder)
    assert isinstance(second.model, RecordedModel)
    assert second.ask(PROMPTS) == found
    assert dict(second.model.description) == dict(first.model.description)
    assert (second.model.supports, second.model.fingerprint) == (
        first.model.supports,
        first.model.fingerprint,
    )
    assert len(loads) == 1
    (new,) = second.ask([Prompt("A bird has", ("wings",))])
    assert new == first.model.answer([Prompt("A bird has", ("wings",))])[0]
    assert len(loads) == 2


@pytest.mark.parametrize("change", ["weights", "option", "touched"])
def test_a_change_loads_the_model(change: str, folder: Path, loads: list[str]) -> None:
    """Other weights and options are another model; files whose times changed are looked at."""
    before = engine(folder)
    before.ask(PROMPTS)
    options: dict[str, Any] = {}
    if change == "weights":
        other = other_weights(folder, folder.parent / "other")
        shutil.copy(other / "model.safetensors", folder / "model.safetensors")
    elif change == "option":
        options = {"packing": False}
    else:
        os.utime(folder / "config.json", (1, 1))
    after = engine(folder, **options)
    assert len(loads) == 2
    same = change != "weights"
    assert (after.model.fingerprint == before.model.fingerprint) is same


def test_a_damaged_record_is_made_again(folder: Path, loads: list[str]) -> None:
    engine(folder).ask(PROMPTS)
    (record,) = (folder.parent / "store" / "models").iterdir()
    whole = record.read_text(encoding="utf-8")
    record.write_text(whole[:-40], encoding="utf-8")
    again = engine(folder)
    assert not isinstance(again.model, RecordedModel)
    assert len(loads) == 2
    again.ask(PROMPTS)
    assert record.read_text(encoding="utf-8") == whole


def test_a_failure_is_not_recorded_for_good(folder: Path) -> None:
    """It may be the memory's; a way that is inexact stays refused, and the description says so."""
    model = engine(folder).model
    checks = model._checks  # type: ignore[attr-defined]
    hashes = Store(folder.parent / "store").hashes
    record = Record.of(str(folder), LoadOptions(), hashes)
    for reason, kept in (("its log-probabilities are 3 nats off", True), (f"{FAILS}x", False)):
        checks.refused["packed"] = reason
        record.save(checks, model)
        hashes.save()
        known = Record.of(str(folder), LoadOptions(), hashes).checks
        assert known == (checks if kept else Checks())
