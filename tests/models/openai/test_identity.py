"""By what a server's model is known, where it is, and what key it is shown."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError
from tacit.models.loading import load_model
from tacit.models.openai.client import Client
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import (
    Backoff,
    ServerOptions,
    check_address,
    is_address,
    key_from_environment,
)
from tacit.requests import Prompt
from tests.models.openai.conftest import Serve, load
from tests.models.openai.model import Toy
from tests.models.openai.speaking import Speech, opinions

PROMPT = Prompt("A bear has", ("claws",))


ROADS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "echo": ({}, {}),
    "echo alone": ({"top": 0}, {}),
    "next tokens": ({"echo": "none"}, {}),
    "first tokens": ({}, {"api": "chat"}),
    "greedy replies": ({"speech": Speech(logprobs=False)}, {"api": "chat", "samples": 3}),
}
"""What a server is recognised by: its manners, and the options with which it is loaded."""


@pytest.mark.parametrize("road", ROADS)
def test_a_model_is_recognised_by_its_answers(
    serve: Serve, toy: Toy, tokenizer_file: Path, tmp_path: Path, road: str
) -> None:
    """Apart from rounding; other weights at the address are another model, until they are back."""
    manners, options = ROADS[road]
    server = serve(None, **manners)
    chat = server.manners.speech = replace(server.manners.speech)

    def fingerprint() -> str:
        tokenizer = None if "api" in options else tokenizer_file
        given = ServerOptions(tokenizer=tokenizer, backoff=Backoff(first=0.0), **options)
        model = load_server(server.address, given, tmp_path)
        Engine(model, Store(tmp_path)).ask([PROMPT])
        asked = len(server.requests)
        Engine(model, Store(tmp_path)).ask([PROMPT])
        assert len(server.requests) == asked, "the cached scores are used"
        return model.fingerprint

    first = fingerprint()
    server.manners.noise = chat.noise = 0.001
    assert fingerprint() == first
    server.manners.noise = chat.noise = 0.0
    server.language = Toy(toy.tokenizer, weights=1)
    server.manners.speech = replace(chat, replies=lambda text: opinions(f"{text}!"))
    other = fingerprint()
    assert other != first
    assert fingerprint() == other
    server.language, server.manners.speech = toy, chat
    assert fingerprint() == first


def test_a_store_at_an_address_recognises_a_noisy_server(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what this machine caches of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = Store(f"memory://{tmp_path.name}")
    server = serve(noise=0.003)
    model = load_model(server.address, hashes=store.hashes)
    Engine(model, store).ask([PROMPT])
    again = load_model(server.address, hashes=Store(str(store.root)).hashes)
    assert again.fingerprint == model.fingerprint


def test_without_a_store_nothing_is_written(serve: Serve, tmp_path: Path) -> None:
    load(serve())
    load(serve(), kept=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_first_variable_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty one stands for no key."""
    for variable in ("TACIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    assert key_from_environment() is None
    monkeypatch.setenv("OPENAI_API_KEY", "two\n")
    assert key_from_environment() == "two"
    monkeypatch.setenv("TACIT_API_KEY", "one")
    assert key_from_environment() == "one"
    monkeypatch.setenv("TACIT_API_KEY", "")
    assert key_from_environment() is None
    monkeypatch.setenv("TACIT_API_KEY", "käy\nn")
    with pytest.raises(ModelError, match="TACIT_API_KEY contains a character") as said:
        key_from_environment()
    assert "käy" not in str(said.value)


def test_addresses() -> None:
    assert check_address("http://host:8000/v1/") == "http://host:8000/v1"
    assert check_address("https://host/v1/completions") == "https://host/v1"
    assert is_address("HTTP://host")
    assert not is_address("http-model")


HOSTLESS = (
    *("http:///v1", "http://host:port/v1", "http://host:0/v1", "http://[/v1"),
    *("http://host\x00/v1", "http://ho\nst/v1", "http://a..b/v1"),
)
SECRET = (
    *("http://me:secret@host/v1", "http://host/v1?key=secret", "http://host/v1#secret"),
    *(" http://me:secret@host/v1", "HTTPS://me:secret@host/v1", "ftp://me:secret@host/v1"),
    *("http://me:se/cret@host/v1", "http://me:secret@host:99999/v1", "http://[me:secret@host"),
)
ENDLESS = f"http://host/{'a' * 70_000}"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        *((one, r"has no host.*http://localhost:8000/v1") for one in HOSTLESS),
        *((one, r"address.*http://localhost:8000/v1") for one in ("http://[::1]x/v1", ENDLESS)),
        *((one, "the key in the variable TACIT_API_KEY") for one in SECRET),
    ],
)
def test_what_is_no_address_is_refused(address: str, message: str) -> None:
    """By an error of ours that shows one that would do, and neither a key nor all of a long one."""
    with pytest.raises(ModelError, match=message) as refused:
        Client(check_address(address), ServerOptions())
    assert "cret" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_no_torch_is_needed(serve: Serve, tokenizer_file: Path) -> None:
    server = serve()
    program = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from pathlib import Path\n"
        "from tacit.models.openai.options import ServerOptions\n"
        "from tacit.models.openai.loading import load_server\n"
        "from tacit.requests import Prompt\n"
        f"options = ServerOptions(tokenizer=Path({str(tokenizer_file)!r}))\n"
        f"model = load_server({server.address!r}, options)\n"
        "print(model.answer([Prompt('A bear has', ('claws',))])[0].answers[0].logprob)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    (scored,) = load(server, tokenizer_file).answer([PROMPT])
    assert float(ran.stdout) == scored.answers[0].logprob
