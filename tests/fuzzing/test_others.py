from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import httpx2
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.segments import Damaged, decode, encode, next_name
from tacit.engine.store import Store
from tacit.errors import ScoringError, TacitError
from tacit.models.loading import load_model
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.schema import Answer, Completion, validated
from tacit.models.openai.tokens import read_tokens
from tacit.models.options import LoadOptions
from tacit.probes.assumptions.published import published_table
from tacit.report.writing import report
from tacit.requests import AnswerScore, Prompt, Scores
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_run, read_runs
from tests.fuzzing.mutations import Spoilt, spoilt
from tests.fuzzing.test_files import fuzzed, no_hang, slowly_fuzzed
from tests.models import tiny
from tests.report.conftest import assumptions_run, consistency_run, parts_run

MODEL = {"fingerprint": "f" * 64, "name": "made up"}
PROMPTS = [Prompt(f"text {n}", ("a", "b")) for n in range(4)]
SCORES = [Scores((AnswerScore("a", -1.0, 1), AnswerScore("b", None, 0))) for _ in PROMPTS]
FRAME = pl.DataFrame({"text": ["x", "y"], "logprob": [-1.0, None]})
ANSWER = {
    "choices": [
        {
            "index": 0,
            "text": " a",
            "logprobs": {
                "tokens": [" a", "token_id:7"],
                "token_logprobs": [None, -1.5],
                "top_logprobs": [None, {" a": -1.5, " b": -9999.0}],
            },
        }
    ],
    "usage": {"prompt_tokens": 3},
}
CHAT = {
    "choices": [
        {"logprobs": {"content": [{"token": "a", "id": 3, "logprob": -1, "top_logprobs": []}]}}
    ]
}


@fuzzed
@given(how=spoilt(), earlier=st.booleans())
def test_a_spoilt_segment_is_damaged_or_whole(how: Spoilt, *, earlier: bool) -> None:
    """With its checksum in its name, whatever was changed is noticed."""
    valid = encode(FRAME, "f" * 64)
    name = "00000001-0123abcd.parquet" if earlier else next_name([], valid)
    content = how.of(valid)
    with no_hang():
        try:
            frame = decode(name, content, "f" * 64, FRAME.schema)
        except Damaged:
            return
    assert earlier or content == valid
    assert frame.schema == FRAME.schema


@fuzzed
@given(how=spoilt(), which=st.sampled_from(["parquet", "model.json", "hashes.json"]))
def test_a_spoilt_store_is_read_as_far_as_it_is_whole(
    how: Spoilt, which: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its segments are whole or set aside, and more can be stored."""
    root = tmp_path_factory.mktemp("store")
    Store(root).append(MODEL, PROMPTS, SCORES)
    (root / "hashes.json").write_text("{}", encoding="utf-8")
    file = next(path for path in root.rglob(f"*{which}"))
    valid = file.read_bytes()
    file.write_bytes(how.of(valid))
    changed = file.read_bytes() != valid
    with no_hang():
        store = Store(root)
        left = store.read(MODEL["fingerprint"]).height
        assert left == (0 if which == "parquet" and changed else 8)
        store.append(MODEL, PROMPTS, SCORES)
        assert store.read(MODEL["fingerprint"]).height == 8
    shutil.rmtree(root)


@fuzzed
@given(spoilt(), st.sampled_from([ANSWER, CHAT]))
def test_a_spoilt_reply_of_a_server_is_read_or_refused(how: Spoilt, answer: object) -> None:
    """Over HTTP, where it is asked again, as over and over."""
    content = how.of(json.dumps(answer).encode())
    options = ServerOptions(backoff=Backoff(first=0.0, most=0.0))
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=content))
    client = Client("http://127.0.0.1:1/v1", options, transport=transport)
    with no_hang(), suppress(ScoringError):
        read_tokens(validated(client.complete({}), Answer[Completion], "a completion"))
    with no_hang(), suppress(TacitError):
        client.models()


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
def test_a_spoilt_run_is_told_of_or_refused(
    finished: dict[str, Path], tmp_path: Path, probe: str
) -> None:
    """By the report, by comparisons, and by the same command made again."""
    whole = finished[probe]
    names = sorted(
        str(file.relative_to(whole))
        for file in whole.rglob("*")
        if file.suffix != ".html" and file.is_file()
    )

    @slowly_fuzzed
    @given(spoilt(), st.sampled_from(["run.yaml", "manifest.json", *names]))
    def check(how: Spoilt, name: str) -> None:
        spoil = shutil.copytree(whole, tmp_path / "spoilt", dirs_exist_ok=True)
        (spoil / name).write_bytes(how.of((whole / name).read_bytes()))
        with no_hang(), suppress(TacitError):
            if name.endswith((".yaml", ".json")):
                report(read_runs([spoil]))
            else:
                assert read_runs([spoil])[0].questions.height
        with no_hang(), suppress(TacitError):
            run = read_run(spoil, "assumptions")
            published_table(run.tables, None, run.summary)
        with no_hang(), suppress(TacitError):
            RunFolder(spoil, {"probe": probe}).begin({"model": {}, "data": {}})

    check()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_spoilt_model_is_loaded_or_refused(
    tmp_path_factory: pytest.TempPathFactory, file: str
) -> None:
    """Whatever the libraries below raise."""
    folder = tiny.save("gpt2", tmp_path_factory.mktemp("model") / "model")
    valid = (folder / file).read_bytes()

    @slowly_fuzzed
    @given(spoilt())
    def check(how: Spoilt) -> None:
        (folder / file).write_bytes(how.of(valid))
        with no_hang(), suppress(TacitError):
            load_model(str(folder), LoadOptions(packing=False))

    check()
