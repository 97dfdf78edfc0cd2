"""Proxies of the environment: never to this machine."""

import socket
import sys

import pytest

from tacit.errors import MissingPackage, ModelError, NetworkError
from tacit.models.openai.client import Client
from tacit.models.openai.options import Backoff, ServerOptions, is_this_machine
from tests.models.openai.raw import raw

PASSWORD = "hush-hush/hush"  # noqa: S105 - made up
ANSWER = b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{"model": "m"}'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def client(address: str) -> Client:
    return Client(address, ServerOptions(timeout=60.0, backoff=Backoff(attempts=1)))


@pytest.mark.parametrize("host", ["127.0.0.1", "LocalHost", "127.1"])
def test_no_proxy_leads_to_this_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    seen: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))

    with raw(proxy, reads=False) as other, raw(lambda one: one.sendall(ANSWER)) as address:
        for variable in ("HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(variable, other.removesuffix("/v1"))
        asked = client(address.replace("127.0.0.1", host))
        assert asked.complete({"prompt": "a"}) == {"model": "m"}
    assert seen == []


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *((one, True) for one in ("localhost.", "a.localhost", "127.9.8.7", "::1", "2130706433")),
        *((one, True) for one in ("0.0.0.0", "::", "::ffff:127.0.0.1")),  # noqa: S104
        *((one, False) for one in ("localhost.com", "10.0.0.1", "::2", "mylocalhost", "ö", "")),
        *((one, False) for one in ("::ffff:10.0.0.1", "127.0.0.1.com")),
    ],
)
def test_this_machine(host: str, *, here: bool) -> None:
    assert is_this_machine(host) is here


def test_a_proxy_is_used_elsewhere_with_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))
        connection.sendall(ANSWER)

    with raw(proxy, reads=False) as address:
        port = address.removesuffix("/v1").rpartition(":")[2]
        login = f"me:{PASSWORD.replace('/', '%2F')}"
        monkeypatch.setenv("HTTP_PROXY", f"http://{login}@127.0.0.1:{port}")
        assert client("http://one.test/v1").complete({"prompt": "a"}) == {"model": "m"}
    assert seen[0].startswith(b"POST http://one.test/v1/completions")
    assert b"Proxy-Authorization: Basic bWU6aHVzaC1odXNoL2h1c2g=" in seen[0]


@pytest.mark.parametrize("named", [f"ftp://me:{PASSWORD}@h", f"http://me:{PASSWORD}@h:99999"])
def test_a_proxy_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", named)
    with pytest.raises(ModelError, match="expected http://HOST:PORT or socks5:") as refused:
        client("https://a.test/v1")
    assert "hush" not in str(refused.value)


def test_what_socks_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://host:1080")
    with pytest.raises(MissingPackage, match="socksio"):
        client("http://a.test/v1")


def test_a_proxy_that_is_not_there_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server that is not there is none; the message does not show its login."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("ALL_PROXY", f"http://me:hush@127.0.0.1:{port}")
    with pytest.raises(NetworkError, match=r"http://three\.test/v1: no server responds") as failed:
        client("http://three.test/v1").models()
    assert "hush" not in str(failed.value)
