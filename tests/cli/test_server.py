"""Models behind a server, from the command line."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tacit.requests import OUTSIDE
from tests.cli.conftest import Tacit
from tests.models import tiny
from tests.models.openai.serving import Manners, Serving, Toy, serving

PROMPTS = [
    {"text": "A bear has fur, is big, and has", "answers": ["claws", "the egg yolk"]},
    {"text": "True or false?", "answers": ["True", "False"], "separator": "\n"},
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """A server of a toy language, and no key."""
    for variable in ("TACIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with serving(Toy(tiny.gpt2_like().backend_tokenizer), Manners()) as state:
        yield state


@pytest.fixture
def prompts(workplace: Path) -> Path:
    """A file of prompts."""
    path = workplace / "prompts.jsonl"
    path.write_text("".join(f"{json.dumps(prompt)}\n" for prompt in PROMPTS))
    return path


def test_prompts_are_scored_and_the_second_time_taken_from_the_store(
    tacit: Tacit, server: Serving, prompts: Path
) -> None:
    """The server is tried at each start, and then asked for what is not stored."""
    options = ("--model", server.address, "--served-model", "toy", "--concurrency", 2, "--json")
    ran = [tacit("score", prompts, *options, "--out", f"{n}.jsonl") for n in "ab"]
    assert [one.code for one in ran] == [0, 0], ran[0].err
    told = [json.loads(one.out) for one in ran]
    assert [one["asked"] for one in told] == [2, 0]
    assert told[0]["fingerprint"] == told[1]["fingerprint"]
    assert told[0]["model"] == f"toy at {server.address}"
    assert told[0]["missing"] == 0
    a, b = (prompts.with_name(f"{n}.jsonl").read_bytes() for n in "ab")
    assert a == b


def test_answers_without_a_score_are_told_with_the_reason(
    tacit: Tacit, server: Serving, prompts: Path
) -> None:
    """Counted, null in the file, and why on standard error; from the store as well."""
    server.manners = Manners(echo="none", top=1)
    tokenizer = prompts.with_name("tokenizer.json")
    server.language.tokenizer.save(str(tokenizer))
    for asked in (2, 0):
        ran = tacit(
            *("score", prompts, "--model", server.address, "--tokenizer", tokenizer),
            *("--out", "scores.jsonl", "--json"),
        )
        assert ran.code == 0, ran.err
        passed = "passed the preflight: log-probabilities of next tokens (the most probable)"
        assert f"{passed}, no usable echo" in ran.err
        told = json.loads(ran.out)
        assert (told["asked"], told["missing"]) == (asked, sum(told["missing_by_reason"].values()))
        assert told["missing_by_reason"][OUTSIDE] >= 3
        for reason, count in told["missing_by_reason"].items():
            assert f"{count:,} answers have no score: {reason}" in ran.err


def test_a_server_that_cannot_be_scored_with_is_refused_and_nothing_is_written(
    tacit: Tacit, server: Serving, prompts: Path, workplace: Path
) -> None:
    """Exit code 2, one line."""
    server.manners = Manners(echo="shifted", top=0)
    ran = tacit("score", prompts, "--model", server.address, "--out", "scores.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "cannot be used" in ran.err
    assert "its echo is incorrect" in ran.err
    assert [path.name for path in workplace.iterdir()] == ["prompts.jsonl"]


VERBS = {
    "score": ("score", "none.jsonl", "--out", "s.jsonl"),
    "score by Ray": ("score", "none.jsonl", "--out", "s.jsonl", "--engine", "ray"),
    "score, threads": ("score", "none.jsonl", "--out", "s.jsonl", "--threads", 2),
    "score in a chat": ("score", "none.jsonl", "--out", "s.jsonl", "--api", "chat", "--dry-run"),
    "parts": ("run", "parts", "--drawings", "none", "--out", "a"),
    "parts, twice": ("run", "parts", "--drawings", "none", "--out", "a", "--model", "demo"),
    "parts, threads": ("run", "parts", "--drawings", "none", "--out", "a", "--threads", 2),
    "consistency": ("run", "consistency", "--questions", "q", "--kb", "k", "--out", "a"),
    "assumptions": ("run", "assumptions", "--norms", "none", "--out", "a"),
    "parrot": ("reproduce", "parrot", "--drawings", "none"),
    "prompts of parts": ("show", "prompts", "parts", "--drawings", "none"),
    "prompts of consistency": ("show", "prompts", "consistency", "--questions", "q", "--kb", "k"),
    "prompts of assumptions": ("show", "prompts", "assumptions", "--norms", "none"),
}
"""Each verb that takes --model, and what it may say of a model before it asks it."""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "address",
    [
        "http://me:secret@127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1?api_key=secret",
        "http://127.0.0.1:9/v1#secret",
        "http://me:se/cret@127.0.0.1:9/v1",
        "http://me:secret@127.0.0.1:99999/v1",
        "http://[me:secret@127.0.0.1/v1",
        " http://me:secret@127.0.0.1:9/v1",
        "HTTPS://me:secret@127.0.0.1:9/v1",
        "ftp://me:secret@127.0.0.1:9/v1",
    ],
)
def test_an_address_with_a_key_in_it_is_refused_without_being_shown(
    tacit: Tacit, workplace: Path, verb: str, address: str
) -> None:
    """By every verb, before it names the model, or reads, writes or asks anything."""
    ran = tacit(*VERBS[verb], "--model", address)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "variable TACIT_API_KEY" in ran.err
    assert "cret" not in ran.err + ran.out
    assert not list(workplace.iterdir())


def test_a_run_of_parts_asks_a_server(tacit: Tacit, server: Serving, workplace: Path) -> None:
    """Its manifest says how the server was asked; its request what it was asked for."""
    drawings = workplace / "annotations-0.tsv"
    drawings.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", server.address),
        *("--served-model", "toy", "--out", "run"),
    )
    assert ran.code == 0, ran.err
    manifest = json.loads((workplace / "run" / "manifest.json").read_text())
    assert manifest["model"]["kind"] == "server"
    assert manifest["model"]["identity"]["served_model"] == "toy"
    (told,) = (line for line in ran.err.splitlines() if "preflight" in line)
    assert told == f"tacit: {manifest['model']['preflight']}"
    assert f"toy at {server.address} passed the preflight: log-probabilities of next t" in told
    assert told.endswith(" most probable) and log-probabilities of a prompt's own tokens (echo)")
    assert "served_model: toy" in (workplace / "run" / "run.yaml").read_text()


def test_why_answers_of_a_run_are_missing_stays_with_it(
    tacit: Tacit, server: Serving, workplace: Path
) -> None:
    """In the manifest and the report, also where all was in the store already."""
    server.manners = Manners(echo="none", top=1)
    server.language.tokenizer.save(str(workplace / "tokenizer.json"))
    drawings = workplace / "annotations-0.tsv"
    drawings.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    told = []
    for name in "ab":
        ran = tacit(
            *("run", "parts", "--drawings", drawings, "--model", server.address),
            *("--tokenizer", workplace / "tokenizer.json", "--out", name),
        )
        assert ran.code == 0, ran.err
        manifest = json.loads((workplace / name / "manifest.json").read_text())
        told.append(manifest["summary"]["unscored"])
        for reason, count in told[-1].items():
            assert f"{count:,} answers have no score: {reason}" in ran.err
    assert told[0] == told[1]
    assert sum(told[0].values()) > 0
    assert tacit("report", "b", "--out", "b.html").code == 0
    for reason, count in told[1].items():
        assert f"{count:,} answers have no score: {reason}." in (workplace / "b.html").read_text()


def test_a_whole_vocabulary_is_not_asked_of_a_server(tacit: Tacit, workplace: Path) -> None:
    """Said at once, before anything is read."""
    ran = tacit(
        *("run", "assumptions", "--norms", workplace / "none.csv", "--model", "http://h/v1"),
        *("--out", "run"),
    )
    assert ran.code == 2
    assert "a server returns only the most probable tokens" in ran.err


class Elsewhere(BaseHTTPRequestHandler):
    """A server that has nothing at the requested path."""

    def do_GET(self) -> None:
        """Not found."""
        self.send_error(404)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.mark.parametrize("named", [(), ("--served-model", "toy")])
def test_an_address_without_the_path_of_the_api_is_corrected(
    tacit: Tacit, prompts: Path, named: tuple[str, ...]
) -> None:
    """The message asks for the address with /v1; one that has it gets no such hint."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        bare = f"http://127.0.0.1:{listening.server_port}"
        ran = {
            address: tacit("score", prompts, "--model", address, *named, "--out", "scores.jsonl")
            for address in (bare, f"{bare}/v1")
        }
        listening.shutdown()
    assert [one.code for one in ran.values()] == [ran[bare].code] * 2 != [0, 0]
    assert f"is the address {bare}/v1?" in ran[bare].err
    assert "is the address" not in ran[f"{bare}/v1"].err


@pytest.mark.parametrize("package", ["httpx2", "tenacity"])
def test_a_missing_package_of_the_extra_is_named(
    tacit: Tacit, prompts: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Without any one package of the extra, the message says how to install it."""
    monkeypatch.setitem(sys.modules, package, None)
    ran = tacit("score", prompts, "--model", "http://127.0.0.1:9/v1", "--out", "a.jsonl")
    assert ran.code == 2
    assert f"{package} is not installed" in ran.err
    assert "pip install 'tacit-lm[server]'" in ran.err
