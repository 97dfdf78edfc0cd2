"""Choose the proxy for a server from the environment; a local server needs no proxy."""

from __future__ import annotations

import ipaddress
import logging
import socket
from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from tacit.errors import ModelError

log = logging.getLogger(__name__)

_PORTS = {"http": 80, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True)
class Proxy:
    """A proxy through which a server is reached."""

    scheme: str
    host: str
    port: int
    login: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The login, as it is and as it is sent; empty if there is none."""
        if self.login is None:
            return ()
        return (*self.login, b64encode(":".join(self.login).encode()).decode())

    @property
    def shown(self) -> str:
        """The proxy's address without user name and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def proxy_for(address: str) -> Proxy | None:
    """Return the proxy for a server, and log the proxy's address once."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    proxies = getproxies()
    named = proxies.get(parts.scheme.lower()) or proxies.get("all")
    if not named or is_this_machine(host) or proxy_bypass(parts.netloc):
        return None
    proxy = _read(named, parts.scheme.lower())
    _warn(address, proxy.shown, host)
    return proxy


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine, for example ``localhost`` or ``::1``."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        try:
            number = ipaddress.ip_address(socket.inet_aton(name))  # short forms such as 127.1
        except (OSError, UnicodeError):
            return False
    mapped = getattr(number, "ipv4_mapped", None) or number
    return bool(mapped.is_loopback or mapped.is_unspecified)


@cache
def _warn(address: str, proxy: str, host: str) -> None:
    log.warning(
        "%s is reached through the proxy %s, which is set in the environment; to connect directly, "
        "set NO_PROXY=%s",
        *(address, proxy, host),
    )


def _read(named: str, scheme: str) -> Proxy:
    wrong = ModelError(
        f"the proxy in the environment ({scheme.upper()}_PROXY or ALL_PROXY) is invalid: expected "
        "http://HOST:PORT or socks5://HOST:PORT"
    )
    try:
        parts = urlsplit(named if "://" in named else f"http://{named}")
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise wrong from None
    if not parts.hostname or parts.scheme not in _PORTS:
        raise wrong
    login = None
    if parts.username or parts.password:
        login = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(parts.scheme, parts.hostname, port, login)
