"""Proxies of the environment: never to this machine, and named where one is used."""

from __future__ import annotations

import logging
import socket

import pytest

from tacit.errors import MissingPackage, ModelError, NetworkError, ScoringError
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.proxies import is_this_machine, proxy_for
from tests.models.openai.raw import raw

PASSWORD = "hush-hush/hush"  # noqa: S105 - made up
KEY = "sk-a-secret-key"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
ANSWER = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{"model": "m"}'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One without proxies."""
    for name in (*NAMES, "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def client(address: str) -> Client:
    """A client that asks once."""
    return Client(address, ServerOptions(timeout=10.0, backoff=Backoff(attempts=1)), KEY)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "LocalHost", "127.1"])
def test_no_proxy_leads_to_this_machine(
    monkeypatch: pytest.MonkeyPatch, variable: str, host: str
) -> None:
    """Prompts and keys stay on it, whatever the environment names."""
    seen: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))

    with raw(proxy, reads=False) as other, raw(lambda one: one.sendall(ANSWER)) as address:
        monkeypatch.setenv(variable, other.removesuffix("/v1"))
        asked = client(address.replace("127.0.0.1", host))
        assert asked.complete({"prompt": "a"}) == {"model": "m"}
    assert seen == []


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *((one, True) for one in ("localhost.", "a.localhost", "127.0.0.1", "127.9.8.7", "::1")),
        *((one, True) for one in ("0.0.0.0", "::", "::ffff:127.0.0.1", "127.1", "2130706433")),  # noqa: S104
        *((one, False) for one in ("localhost.com", "10.0.0.1", "::2", "host", "128.0.0.1", "")),
        *((one, False) for one in ("mylocalhost", "::ffff:10.0.0.1", "127.0.0.1.com", "ö")),
    ],
)
def test_this_machine(host: str, *, here: bool) -> None:
    """By its usual name or any of its numbers, without a look-up."""
    assert is_this_machine(host) is here


def test_a_proxy_is_used_elsewhere_and_named_once_without_its_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is shown its login, which no message shows."""
    seen: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))
        connection.sendall(ANSWER)

    with raw(proxy, reads=False) as address:
        port = address.removesuffix("/v1").rpartition(":")[2]
        login = f"me:{PASSWORD.replace('/', '%2F')}"
        monkeypatch.setenv("HTTP_PROXY", f"http://{login}@127.0.0.1:{port}")
        for _ in range(2):
            assert client("http://one.test/v1").complete({"prompt": "a"}) == {"model": "m"}
    assert [one.partition(b" HTTP")[0] for one in seen] == [
        b"POST http://one.test/v1/completions"
    ] * 2
    assert b"Proxy-Authorization: Basic bWU6aHVzaC1odXNoL2h1c2g=" in seen[0]
    (said,) = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert said == (
        f"http://one.test/v1 is reached through the proxy http://127.0.0.1:{port}, which is "
        "set in the environment; to connect directly, set NO_PROXY=one.test"
    )
    assert "hush" not in caplog.text


@pytest.mark.parametrize(
    "said",
    [PASSWORD, "Basic bWU6aHVzaC1odXNoL2h1c2g=", KEY],
)
def test_what_a_proxy_repeats_is_redacted(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """In its status line and in its text."""

    def proxy(connection: socket.socket) -> None:
        text = said.encode()
        head = b"HTTP/1.1 407 %s\r\nContent-Length: %d\r\n\r\n" % (text, len(text))
        connection.sendall(head + text)

    with raw(proxy) as address:
        proxied = address.removesuffix("/v1").replace("//", f"//me:{PASSWORD.replace('/', '%2f')}@")
        monkeypatch.setenv("ALL_PROXY", proxied)
        for scheme in ("http", "https"):
            with pytest.raises(ScoringError, match=r"\[key\]") as failed:
                client(f"{scheme}://two.test/v1").complete({"prompt": "a"})
            assert said not in str(failed.value)
            assert "HVzaC1odXNoL2h1c2" not in str(failed.value)


def test_no_proxy_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, by domain, and for all."""
    monkeypatch.setenv("ALL_PROXY", "http://proxy.test:3128")
    found = proxy_for("http://a.test:8000/v1")
    assert found is not None
    assert found.shown == "http://proxy.test:3128"
    for named in ("a.test", ".test", "x.org, a.test", "*"):
        monkeypatch.setenv("NO_PROXY", named)
        assert proxy_for("http://a.test:8000/v1") is None


@pytest.mark.parametrize(
    "named",
    [
        *(f"https://me:{PASSWORD}@host", f"ftp://me:{PASSWORD}@h", f"http://me:{PASSWORD}@:1"),
        *(f"me:{PASSWORD}@host:port", f"http://[me:{PASSWORD}@h", f"http://me:{PASSWORD}@h:99999"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """The message repeats nothing of it."""
    monkeypatch.setenv("HTTPS_PROXY", named)
    with pytest.raises(ModelError, match="expected http://HOST:PORT or socks5:") as refused:
        client("https://a.test/v1")
    assert "hush" not in str(refused.value)


def test_what_socks_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked."""
    monkeypatch.setattr("tacit.models.openai.network.find_spec", lambda _: None)
    monkeypatch.setenv("ALL_PROXY", "socks5://host:1080")
    with pytest.raises(MissingPackage, match="socksio"):
        client("http://a.test/v1")


def test_a_proxy_that_is_not_there_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server that is not there is none."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{port}")
    with pytest.raises(NetworkError, match=r"http://three\.test/v1: no server responds"):
        client("http://three.test/v1").models()
