"""The address of a server, the options for querying it, and the API key."""

from __future__ import annotations

import ipaddress
import math
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from tacit.addresses import holds_secret
from tacit.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from tenacity import RetryCallState

KEYS = ("TACIT_API_KEY", "OPENAI_API_KEY")
"""Environment variables for the API key.

Tacit uses the first of the variables in ``KEYS`` that is set, even if its value is empty.
"""

HOSTS = "TACIT_API_KEY_HOSTS"
"""Environment variable with the hosts, separated by commas, that get the key from any file."""

SHORT, LONG = 120.0, 600.0
"""Default timeouts in seconds: ``SHORT``, or ``LONG`` if the model is asked to reason."""

Api = Literal["completions", "chat"]
Thinking = int | Literal["all"] | None


@dataclass(frozen=True)
class Backoff:
    """Exponential back-off with random waits, so that clients do not retry simultaneously."""

    attempts: int = 8
    first: float = 0.5
    most: float = 30.0

    def seconds(self, state: RetryCallState) -> float:
        """Return the number of seconds to wait after a failed request."""
        from tenacity import wait_random_exponential

        drawn = wait_random_exponential(self.first, self.most, min=self.first / 2)(state)
        failure = state.outcome.exception() if state.outcome else None
        return max(drawn, min(getattr(failure, "wait", 0.0), self.most))


@dataclass(frozen=True)
class ServerOptions:
    """Options for querying a server."""

    served_model: str | None = None
    tokenizer: Path | None = None
    concurrency: int = 8
    timeout: float | None = None
    backoff: Backoff = field(default_factory=Backoff)
    api: Api = "completions"
    samples: int | None = None
    thinking: Thinking = None
    seed: int = 0
    from_file: bool = False

    @property
    def patience(self) -> float:
        """The timeout of a request, in seconds."""
        return self.timeout or (LONG if self.thinking else SHORT)


def is_address(name: str) -> bool:
    """Return whether a model's name is the address of a server."""
    return name.lower().startswith(("http://", "https://"))


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


def check_holds_no_key(name: str) -> None:
    """Reject an address that may contain an API key, before a message repeats the address."""
    if holds_secret(name) or ("://" in name and any(mark in name for mark in "@?#")):
        raise ModelError(
            "the server's address contains a user, a password, a query or a fragment, which logs "
            "would show: write it as http://host:8000/v1, and set the key in the variable "
            f"{KEYS[0]}"
        )


def check_address(name: str, options: ServerOptions | None = None) -> str:
    """Check a server's address and the options for querying it; return the base address."""
    check_holds_no_key(name)
    options = options or ServerOptions()
    if not _leads_somewhere(name):
        raise ModelError(
            "the server's address has no host, an invalid port or an invalid character; expected "
            "one such as http://localhost:8000/v1"
        )
    if options.from_file:
        _check_may_get_key(name)
    if options.concurrency < 1:
        raise ModelError(f"--concurrency is {options.concurrency}; it must be at least 1")
    if options.timeout is not None and not 0 < options.timeout < math.inf:
        raise ModelError(f"--timeout is {options.timeout}; it must be a number of seconds above 0")
    if options.samples is not None and options.samples < 1:
        raise ModelError(f"--samples is {options.samples}; it must be at least 1")
    if isinstance(options.thinking, int) and options.thinking < 0:
        raise ModelError(f"--thinking-tokens is {options.thinking}; it must be 0 or more, or all")
    if options.api == "chat" and not options.samples and options.thinking not in (None, 0):
        raise ModelError(
            "--thinking-tokens requires sampled replies, because first-token log-probabilities do "
            "not cover reasoning: add --samples N, or turn reasoning off with --thinking-tokens 0"
        )
    if options.api == "chat" and options.tokenizer is not None:
        raise ModelError(
            "--tokenizer applies only to a completions server; in a chat, the server tokenizes the "
            "text: omit it"
        )
    if options.api == "completions" and (options.samples or options.thinking is not None):
        raise ModelError("--samples and --thinking-tokens require --api chat")
    return name.rstrip("/").removesuffix("/completions").removesuffix("/chat")


def _check_may_get_key(address: str) -> None:
    """Refuse an address from a file if it would get an API key and its host is not listed."""
    parts = urlsplit(address)
    place = parts.netloc.lower()
    if parts.scheme == "https":
        place = place.removesuffix(":443")
    elif parts.port is None:
        place += ":80"
    listed = [one.strip().lower() for one in os.environ.get(HOSTS, "").split(",")]
    if key_from_environment() and place not in listed:
        raise ModelError(
            f"{parts.netloc} would get your API key, but its address comes from a file: to allow "
            f"it, set {HOSTS}={place} or, with tacit predict, give the address as --model; to send "
            f"no key, set {KEYS[0]} to nothing"
        )


def _leads_somewhere(address: str) -> bool:
    """Return whether an address has a host, a valid port (if any) and valid characters."""
    try:
        parts = urlsplit(address)
        whole = bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")  # the encoding for the DNS lookup
    except ValueError:
        return False
    return whole and address.isprintable() and " " not in address


def key_from_environment() -> str | None:
    """Return the API key from an environment variable; None if there is no key."""
    for variable in KEYS:
        if variable in os.environ:
            key = os.environ[variable].strip()
            if not (key.isascii() and key.isprintable()):
                raise ModelError(
                    f"${variable} contains a character that no HTTP header can carry: set it to a "
                    "valid key"
                )
            return key or None
    return None
