"""The files of a model change while it is in use."""

import os
import shutil
from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ScoringError
from tacit.models.huggingface.checkpoint import load_weights
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tacit.requests.kind import Part
from tests.models import tiny
from tests.models.conftest import FolderOf
from tests.models.overwriting import WAYS, WEIGHTS, other_weights, overwrite_in_file

PROMPTS = [Prompt(f"In a tree, {n} trunks are", ("above", "a bird")) for n in range(60)]
WORDS = Vocabulary(("bird", "claws", "egg"))


@pytest.fixture
def folders(request: pytest.FixtureRequest, folder_of: FolderOf, tmp_path: Path) -> list[Path]:
    name = getattr(request, "param", "gpt2")
    first = shutil.copytree(folder_of(name), tmp_path / "model")
    return [first, other_weights(first, tmp_path / "other")]


@pytest.mark.parametrize("way", WAYS)
def test_no_score_of_other_weights_is_stored(way: str, folders: list[Path], tmp_path: Path) -> None:
    """The run ends with what happened to which file; run anew, the model is another one."""
    folder, other = folders
    overwrite, happened = WAYS[way]
    expected = {
        (prompt.text, one.answer): one.logprob
        for prompt, scores in zip(PROMPTS, tiny.load(folder).answer(PROMPTS), strict=True)
        for one in scores.answers
    }
    model, store = tiny.load(folder), Store(tmp_path / "store")
    done = 0

    def stored(block: Part) -> None:
        nonlocal done
        done += len(block.requests)
        if done == len(block.requests):
            overwrite(other / WEIGHTS, folder / WEIGHTS)

    with pytest.raises(ScoringError, match=f"{WEIGHTS} {happened} while the model was in use"):
        Engine(model, store, block_tokens=40, seconds=0).ask(PROMPTS, progress=stored)
    assert 0 < done < len(PROMPTS)
    rows = list(store.read(model.fingerprint).iter_rows(named=True))
    # The block behind those that were told was computed before the file was overwritten.
    assert done * 2 <= len(rows) < len(PROMPTS) * 2
    for row in rows:
        assert row["logprob"] == pytest.approx(expected[row["text"], row["answer"]], abs=1e-4)
    if way != "removed":
        again = tiny.load(folder)
        assert again.fingerprint != model.fingerprint
        assert again.fingerprint == tiny.load(other).fingerprint


@pytest.mark.parametrize("folders", ["gpt2", "bert", "t5"], indirect=True)
def test_no_answer_of_other_weights_is_given(folders: list[Path]) -> None:
    """By no kind of model: neither scores nor ranks."""
    folder, other = folders
    model = tiny.load(folder)
    asked = (PROMPTS[:1], [RankingPrompt("A bear has", WORDS)])
    assert all(model.answer(each) for each in asked)
    overwrite_in_file(other / WEIGHTS, folder / WEIGHTS)
    for each in asked:
        with pytest.raises(ScoringError, match="was changed"):
            model.answer(each)


def test_a_file_with_other_properties_and_the_same_content_is_the_same(folders: list[Path]) -> None:
    """A link to it, other rights, or a copy with its times in its place."""
    folder, _ = folders
    model, weights = tiny.load(folder), folder / WEIGHTS
    before = model.answer(PROMPTS)
    os.link(weights, folder / "link")
    weights.chmod(0o600)
    assert model.answer(PROMPTS) == before
    shutil.copy2(weights, folder / "copy")
    (folder / "copy").replace(weights)
    assert model.answer(PROMPTS) == before


def test_a_file_that_changes_while_it_is_loaded_is_no_model(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fingerprint would be that of other weights than those that compute."""
    folder, other = folders

    def overwritten(*arguments: object) -> object:
        model = load_weights(*arguments)  # type: ignore[arg-type]
        overwrite_in_file(other / WEIGHTS, folder / WEIGHTS)
        return model

    monkeypatch.setattr("tacit.models.loading.load_weights", overwritten)
    with pytest.raises(ScoringError, match="was changed"):
        tiny.load(folder)
