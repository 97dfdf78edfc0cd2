from __future__ import annotations

import json
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.store import Store
from tacit.errors import ModelError, RequestError, TacitError
from tacit.models.huggingface.checkpoint import kind_of
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.models.loading import load_model
from tacit.models.openai.identity import canaries_of, recognised, same_answers
from tacit.models.openai.tokens import Token
from tacit.models.options import LoadOptions
from tacit.probes.assumptions.published import published_table
from tacit.report.writing import report
from tacit.requests import Ranking, RankingPrompt, Vocabulary
from tacit.runs.comparison import warnings_of_elicitation
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_run, read_runs
from tacit.runs.run import Runs
from tests.fuzzing.shapes import Reshaped, reshaped
from tests.fuzzing.test_files import fuzzed, no_hang, slowly_fuzzed
from tests.models import tiny
from tests.models.test_adapters import adapter
from tests.report.conftest import assumptions_run, consistency_run, parts_run

MODEL = {"fingerprint": "f" * 64, "name": "made up"}
IDENTITY = {"address": "http://h/v1", "served_model": "m"}
NEXTS = {"a b": Token(" c", 1, -1.0, (Token(" c", 1, -1.0), Token(" d", 2, -2.0)))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each probe."""
    root = tmp_path_factory.mktemp("finished")
    return {
        "parts": parts_run(root / "parts"),
        "consistency": consistency_run(root / "consistency"),
        "assumptions": assumptions_run(root / "assumptions"),
    }


@pytest.mark.parametrize("probe", ["parts", "consistency", "assumptions"])
def test_a_run_of_another_shape_is_told_of_or_refused(
    finished: dict[str, Path], tmp_path: Path, probe: str
) -> None:
    """By the report, beside the paper's tables, and by the same command made again."""
    whole = finished[probe]

    @slowly_fuzzed
    @given(reshaped(), st.sampled_from(["manifest.json", "run.yaml"]))
    def check(how: Reshaped, name: str) -> None:
        spoilt = shutil.copytree(whole, tmp_path / "spoilt", dirs_exist_ok=True)
        valid = yaml.safe_load((whole / name).read_text(encoding="utf-8"))  # JSON is YAML, too
        (spoilt / name).write_text(json.dumps(how.of(valid)), encoding="utf-8")
        with no_hang(), suppress(TacitError):
            runs = read_runs([spoilt])
            list(warnings_of_elicitation(Runs(runs)))
            report(runs)
        with no_hang(), suppress(TacitError):
            run = read_run(spoilt, "assumptions")
            published_table(run.tables, None, run.summary)
            assert all(run.notes)
        with no_hang(), suppress(TacitError):
            RunFolder(spoilt, {"probe": probe}).begin({"model": {}, "data": {}})

    check()


@pytest.mark.parametrize("manifest", ["[]", "null", '"x"', "5", '{"model": null}', '{"model": []}'])
def test_a_manifest_that_tells_of_no_model_is_refused(
    finished: dict[str, Path], tmp_path: Path, manifest: str
) -> None:
    """When the same command is given again; the message names the file, and what to do."""
    spoilt = shutil.copytree(finished["parts"], tmp_path / "spoilt")
    request = yaml.safe_load((spoilt / "run.yaml").read_text(encoding="utf-8"))
    (spoilt / "manifest.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(RequestError, match=r"manifest\.json: is damaged: .* choose another folder"):
        RunFolder(spoilt, request).begin({"model": {}, "data": {}})


@pytest.mark.parametrize(
    "canaries",
    [
        *(["x"], 5, [[]], "xx", {"a": 1}, [{"text": "a b"}], [{"text": ["a"], "reply": 1}]),
        [{"text": "a", "token": None, "id": None, "logprob": 10**400}],
    ],
)
def test_canaries_of_another_shape_are_those_of_no_model(canaries: Any) -> None:  # noqa: ANN401
    """They are not compared."""
    assert not same_answers(canaries, NEXTS, {"a": -3})


@pytest.mark.parametrize("architectures", [[5], [None], [["GPT2LMHeadModel"]], 5])
def test_architectures_that_are_no_names_are_refused(architectures: Any) -> None:  # noqa: ANN401
    """The message names the line of the config."""
    config = SimpleNamespace(architectures=architectures, is_encoder_decoder=False)
    with pytest.raises(ModelError, match="expected a list of names such as"):
        kind_of("m", cast("Any", config))


def test_a_tokenizer_that_takes_no_text_is_refused(tmp_path: Path) -> None:
    """Its settings are read without a look at them."""
    folder = tiny.save("gpt2", tmp_path / "model")
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**settings, "model_max_length": []}), encoding="utf-8")
    with pytest.raises(ModelError, match="its tokenizer cannot tokenize text"):
        load_model(str(folder), LoadOptions(packing=False))


def test_a_server_is_known_again_or_not_whatever_the_store_says_of_it(tmp_path: Path) -> None:
    """It is only asked anew where its description is of another shape."""
    file = tmp_path / "scores" / ("f" * 32) / "model.json"
    file.parent.mkdir(parents=True)
    about = {"kind": "server", "identity": IDENTITY}

    def fake_scores(store: Path | None) -> tuple[str, list[dict[str, Any]]]:
        same = partial(same_answers, nexts=NEXTS, echoes={"a": -3})
        return recognised(IDENTITY, canaries_of(NEXTS, {"a": -3}), store, same)

    fingerprint, canaries = fake_scores(None)
    valid = {**about, "fingerprint": "e" * 64, "canaries": canaries}
    file.write_text(json.dumps(valid), encoding="utf-8")
    assert fake_scores(tmp_path) == ("e" * 64, canaries)

    @fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        changed = how.of(valid)
        file.write_text(json.dumps(changed), encoding="utf-8")
        with no_hang():
            found, _ = fake_scores(tmp_path)
        own = changed.get("fingerprint") if isinstance(changed, dict) else None
        assert found in {fingerprint, str(own)}

    check()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("gpt2", "config.json"),
        ("gpt2", "tokenizer_config.json"),
        ("bert", "config.json"),
        ("t5", "config.json"),
    ],
)
def test_a_model_whose_settings_have_another_shape_is_loaded_or_refused(
    tmp_path: Path, name: str, file: str
) -> None:
    """Whatever the libraries below raise."""
    folder = tiny.save(name, tmp_path / "model")
    valid = json.loads((folder / file).read_text(encoding="utf-8"))

    @slowly_fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        (folder / file).write_text(json.dumps(how.of(valid)), encoding="utf-8")
        with no_hang(), suppress(TacitError):
            load_model(str(folder), LoadOptions(packing=False))

    check()


def test_an_index_of_another_shape_is_used_or_refused(tmp_path: Path) -> None:
    """Of weights in several files."""
    folder = tmp_path / "model"
    tiny.save("gpt2", folder)
    (folder / "model.safetensors").unlink()
    tiny.make("gpt2").save_pretrained(folder, max_shard_size="40kB")
    index = folder / "model.safetensors.index.json"
    valid = json.loads(index.read_text(encoding="utf-8"))
    load_model(str(folder), LoadOptions(packing=False))

    @slowly_fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        index.write_text(json.dumps(how.of(valid)), encoding="utf-8")
        with no_hang(), suppress(TacitError):
            load_model(str(folder), LoadOptions(packing=False))

    check()


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # of peft
def test_an_adapter_whose_settings_have_another_shape_is_loaded_or_refused(tmp_path: Path) -> None:
    """Whatever peft raises."""
    base = tiny.save("llama", tmp_path / "base")
    folder = adapter(base, tmp_path / "adapter")
    file = folder / "adapter_config.json"
    valid = json.loads(file.read_text(encoding="utf-8"))

    @slowly_fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        file.write_text(json.dumps(how.of(valid)), encoding="utf-8")
        with no_hang(), suppress(TacitError):
            load_model(str(base), LoadOptions(packing=False, adapter=folder))

    check()


@fuzzed
@given(how=reshaped())
def test_a_vocabulary_of_another_shape_is_no_vocabulary(
    how: Reshaped, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is written anew when it is ranked again."""
    root = tmp_path_factory.mktemp("store")
    words = Vocabulary(["bear", "seal"])
    ranking = [Ranking((), -1.0, (("bear", -1.0),))]
    Store(root).append(MODEL, [RankingPrompt("x", words)], ranking)
    (file,) = (root / "vocabularies").iterdir()
    file.write_text(json.dumps(how.of(list(words.words))), encoding="utf-8")
    with no_hang():
        Store(root).append(MODEL, [RankingPrompt("x", words)], ranking)
    assert json.loads(file.read_text(encoding="utf-8")) == list(words.words)
    shutil.rmtree(root)


def test_remembered_hashes_of_another_shape_are_made_anew(tmp_path: Path) -> None:
    """What they are of is hashed again."""
    weights, file = tmp_path / "weights", tmp_path / "hashes.json"
    weights.write_bytes(b"abc")
    hashes = FileHashes(file)
    digest = hashes.sha256(weights)
    hashes.save()
    valid = json.loads(file.read_text(encoding="utf-8"))

    @fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        file.write_text(json.dumps(how.of(valid)), encoding="utf-8")
        with no_hang():
            found = FileHashes(file)
            assert isinstance(found.sha256(weights), str)
            found.save()

    check()
    assert len(digest) == 64
