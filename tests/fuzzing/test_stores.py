"""Files of the store that are damaged or of another shape."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.store import Damaged, Store, decode, encode, next_name
from tacit.models.openai.client import Client
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.identity import recognised
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.tokenizer import Cut, Echoed
from tacit.models.openai.tokens import Token
from tacit.requests import AnswerScore, Prompt, Scores
from tests.engine.test_store import MODEL
from tests.fuzzing.mutations import Spoilt, spoilt
from tests.fuzzing.shapes import Reshaped, reshaped
from tests.fuzzing.test_files import fuzzed, no_hang

PROMPTS = [Prompt(f"text {n}", ("a", "b")) for n in range(4)]
SCORES = [Scores((AnswerScore("a", -1.0, 1), AnswerScore("b", None, 0))) for _ in PROMPTS]
FRAME = pl.DataFrame({"text": ["x", "y"], "logprob": [-1.0, None]})
IDENTITY = {"address": "http://h/v1", "served_model": "m"}
NEXTS = {"a b": Token(" c", 1, -1.0, (Token(" c", 1, -1.0), Token(" d", 2, -2.0)))}


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


WRONG_CANARIES: list[Any] = [
    *(["x"], 5, [[]], "xx", {"a": 1}, [{"text": "a b"}], [{"text": ["a"], "reply": 1}]),
    [{"text": "a", "token": None, "id": None, "logprob": 10**400}],
]


def test_a_server_is_known_again_or_not_whatever_the_store_says_of_it(tmp_path: Path) -> None:
    """It is only asked anew where its description is of another shape."""
    file = tmp_path / "scores" / ("f" * 32) / "model.json"
    file.parent.mkdir(parents=True)
    about = {"kind": "server", "identity": IDENTITY}

    echoes = {"a": Echoed(0, Cut(("a",), ((0, 1),)), (-3.0,))}
    client = Client("http://h/v1", ServerOptions())
    server = CompletionsServer(client, "m", nexts=NEXTS, echoes=echoes)
    fingerprint, canaries = recognised(IDENTITY, server, None)
    valid = {**about, "fingerprint": "e" * 64, "canaries": canaries}
    file.write_text(json.dumps(valid), encoding="utf-8")
    assert recognised(IDENTITY, server, tmp_path) == ("e" * 64, canaries)
    for wrong in WRONG_CANARIES:
        file.write_text(json.dumps({**valid, "canaries": wrong}), encoding="utf-8")
        assert recognised(IDENTITY, server, tmp_path)[0] == fingerprint

    @fuzzed
    @given(reshaped())
    def check(how: Reshaped) -> None:
        changed = how.of(valid)
        file.write_text(json.dumps(changed), encoding="utf-8")
        with no_hang():
            found, _ = recognised(IDENTITY, server, tmp_path)
        own = changed.get("fingerprint") if isinstance(changed, dict) else None
        assert found in {fingerprint, str(own)}

    check()
