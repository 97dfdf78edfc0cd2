"""No secret is in anything that a run writes or prints, though the server repeats it everywhere."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.cli.conftest import Ran, Tacit
from tests.models import tiny
from tests.models.openai.model import Manners, Toy
from tests.models.openai.serving import Sent, Serving, serving

KEY = "sk-Ab/cd+EF~?>0987654321"
PROXY = "pr0xy/9d3f+77aa51cc02"
S3 = "wJalr/XUtnF+EMI7MDENGbPxRfiCYEXAM"
PACKED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def holds(content: bytes, secret: str) -> bool:
    """Whether the middle of a secret is in some bytes."""
    return secret[6:-6] in content.decode(errors="replace")


def unpacked(path: Path) -> Iterator[bytes]:
    """A file's bytes, and what is compressed in them."""
    content = path.read_bytes()
    yield path.name.encode()
    yield content
    if path.suffix == ".parquet":
        rows = json.dumps(pl.read_parquet(path).to_dicts(), default=str, ensure_ascii=False)
        yield rows.replace("\\\\", "\\").encode()
        yield repr(pl.read_parquet_metadata(path)).encode()
    if path.suffix == ".html":
        for found in PACKED.findall(content):
            packed = base64.b64decode(found + b"=" * (-len(found) % 4))
            yield gzip.decompress(packed) if packed.startswith(b"\x1f\x8b") else packed


def written(folder: Path, ran: list[Ran]) -> list[bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = [content for path in files for content in unpacked(path)]
    return [*found, *(text.encode() for one in ran for text in (one.out, one.err))]


def poisoned(answer: Any, said: str) -> Any:  # noqa: ANN401 - JSON
    """An answer in which the secret stands wherever that keeps it an answer."""
    if not isinstance(answer, dict):
        return answer
    answer = {**answer, "id": said, said: said, "error": answer.get("error") and said}
    if "data" in answer:
        answer["data"] = [*answer["data"], {"id": said}]
    for choice in answer.get("choices", []):
        message, logprobs = choice.get("message"), choice.get("logprobs") or {}
        if message:
            message["content"] = f"{message['content']} {said}"
        for top in logprobs.get("top_logprobs") or []:
            if top:
                top[said] = -60.0
        for one in logprobs.get("content") or []:
            one["top_logprobs"].append({"token": said, "logprob": -60.0})
    return answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, workplace: Path) -> Iterator[Serving]:
    """A hostile server, of whose key all but it are to know nothing; and other secrets."""
    monkeypatch.setenv("TACIT_API_KEY", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", S3)
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://me:{PROXY.replace('/', '%2F')}@127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(workplace / "cache"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    manners = Manners(key=KEY)
    with serving(Toy(tiny.gpt2_like().backend_tokenizer), manners) as state:
        state.finish = hostile
        yield state


def hostile(sent: Sent) -> Sent:
    content = json.dumps(poisoned(json.loads(sent.content), KEY)).encode()
    return replace(sent, content=content, headers={"X-Key": KEY, "Set-Cookie": f"key={KEY}"})


@pytest.fixture
def drawings(workplace: Path) -> Path:
    (workplace / "annotations-0.tsv").write_text("me\tpeach\t---\tstone\tinside\tflesh\n")
    return workplace


ASKED: dict[str, tuple[object, ...]] = {
    "completions": (),
    "first tokens": ("--api", "chat", "--yes"),
    "votes": ("--api", "chat", "--samples", 3, "--yes"),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.slow
def test_a_hostile_server_places_the_key_nowhere(
    tacit: Tacit, server: Serving, drawings: Path, asked: str
) -> None:
    """In no folder, store, cache, report or message, of a run that ends well or one that fails."""
    common: tuple[object, ...] = ("run", "parts", "--drawings", "annotations-0.tsv", *ASKED[asked])
    common += ("--model", server.address, "--served-model", "toy")
    ran = [tacit(*common, "--out", "good"), tacit("report", "good", "--out", "report.html")]
    assert [one.code for one in ran] == [0, 0], ran[0].err
    if asked == "votes":
        stored = [pl.read_parquet(path) for path in drawings.glob(".tacit/votes/*/*.parquet")]
        assert "[key]" in json.dumps([one.to_dicts() for one in stored], default=str)
    server.manners.key = "another"
    ran.append(tacit(*common, "--out", "refused"))
    ran.append(tacit(*common, "--store", f"s3://AKIA0123:{S3}@bucket/a", "--out", "stored"))
    assert [one.code for one in ran[2:]] == [2, 2], ran[2].err
    for content in written(drawings, ran):
        for secret in (KEY, PROXY, S3):
            assert not holds(content, secret), content[:2000]


def test_what_a_failing_server_says_is_shown_without_the_key(
    tacit: Tacit, server: Serving, drawings: Path
) -> None:
    server.manners.speech.logprobs = False
    server.manners.speech.most = 0
    common = ("run", "parts", "--drawings", "annotations-0.tsv", "--model", server.address)
    chat = ("--served-model", "toy", "--api", "chat", "--yes")
    ran = [tacit(*common, *more, "--out", "a") for more in ((), chat)]
    assert [one.code for one in ran] == [2, 2]
    assert all("[key]" in one.err for one in ran), [one.err for one in ran]
    for content in written(drawings, ran):
        assert not holds(content, KEY), content[:2000]


def test_a_secret_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(KEY)
    pl.DataFrame({"a": [["x", KEY]]}).write_parquet(tmp_path / "b.parquet", compression="zstd")
    packed = base64.b64encode(gzip.compress(f"say {KEY}".encode())).decode()
    (tmp_path / "c.html").write_text(f"<script>{packed}</script>")
    for path in tmp_path.iterdir():
        assert any(holds(content, KEY) for content in unpacked(path)), path
