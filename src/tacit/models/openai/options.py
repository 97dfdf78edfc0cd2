"""The address of a server, the options for querying it, and the API key."""

from __future__ import annotations

import ipaddress
import math
import os
import socket
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from tacit.addresses import holds_secret
from tacit.errors import MissingPackage, ModelError
from tacit.models.openai.roads import AUTO, NAMED, ROADS, Api, Road, checked_name
from tacit.options import internal, option, validated

if TYPE_CHECKING:
    from tenacity import RetryCallState

KEYS = ("TACIT_API_KEY", "OPENAI_API_KEY")
"""Environment variables for the API key.

Tacit uses the first of the variables in ``KEYS`` that is set, even if its value is empty.
"""

HOSTS = "TACIT_API_KEY_HOSTS"
"""Environment variable with the hosts, separated by commas, that get the key from any file."""

SHORT, LONG = 120.0, 600.0
"""Default timeouts in seconds: ``SHORT``, or ``LONG`` if the model is asked to reason."""

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


def _reasoning(given: str | None) -> str | None:
    if given in (None, "all") or (str(given).isascii() and str(given).isdecimal()):
        return given
    raise ValueError(f"is {given!r}; it must be a number of tokens, or all")


def _seconds(given: float | None) -> float | None:
    if given is None or 0 < given < math.inf:
        return given
    raise ValueError(f"is {given}; it must be a number of seconds above 0")


def _price(given: float | None) -> float | None:
    if given is None or 0 <= given < math.inf:
        return given
    raise ValueError(f"is {given}; it must be a number of dollars")


_server = partial(option, group="Server", rare=True)
_chat = partial(option, group="Server: chat", rare=True)


@dataclass(frozen=True)
class ServerOptions:
    """Options for querying a server.

    Examples:
        >>> from tacit import LoadOptions, ServerOptions
        >>> LoadOptions(server=ServerOptions(concurrency=4)).server.concurrency
        4
    """

    served_model: str | None = _server(
        None, help="Name of the model on the server [default: the only model on the server]."
    )
    tokenizer: Path | None = _server(
        None, help="The served model's tokenizer.json, or the folder that contains this file."
    )
    concurrency: int = _server(8, help="Number of simultaneous requests.", least=1, requested=False)
    timeout: float | None = _server(
        None,
        help="Time limit of one request in seconds [default: 120, or 600 for reasoning models].",
        check=_seconds,
        requested=False,
    )
    api: Api = _server(
        "completions",
        help="The API of the server to use: completions, chat, or one that decides between "
        "options (decisions, systemone).",
    )
    elicitation: str = _server(
        AUTO,
        help="The road by which beliefs are read: one that tacit list names, whose API is then "
        "used, or auto (the first road of --api that the server offers).",
        check=checked_name,
    )
    samples: int | None = _chat(
        None,
        help="With --api chat: sample N replies per prompt and score each answer by its share of "
        "the replies [default: score answers by the log-probabilities of the reply's first "
        "token].",
        least=1,
    )
    thinking_tokens: str | None = _chat(
        None,
        help="With --api chat: maximum number of reasoning tokens, or 0 (no reasoning) or all (no "
        "limit).",
        check=_reasoning,
    )
    yes: bool = _chat(
        default=False,
        help="Do not ask for confirmation of the cost of a chat API.",
        requested=False,
        permits=True,
    )
    price_in: float | None = _server(
        None,
        help="Price in US dollars of a million tokens of prompts, for the cost that --dry-run "
        "estimates; requires --price-out.",
        check=_price,
        requested=False,
    )
    price_out: float | None = _server(
        None,
        help="Price in US dollars of a million generated tokens; requires --price-in.",
        check=_price,
        requested=False,
    )
    backoff: Backoff = internal(Backoff())
    seed: int = internal(0)
    """Seed of sampled replies."""
    from_file: bool = internal(default=False)
    """Whether the address comes from a file, and may not get any key."""

    def __post_init__(self) -> None:
        if self.tokenizer is not None:
            object.__setattr__(self, "tokenizer", Path(self.tokenizer))
        for road in ROADS:
            if road.name == self.elicitation:
                object.__setattr__(self, "api", road.api)

    @property
    def roads(self) -> tuple[Road, ...]:
        """The roads that the options permit, the preferred one first."""
        if self.elicitation != AUTO:
            return tuple(road for road in ROADS if road.name == self.elicitation)
        sampled = self.samples is not None
        roads = (one for one in ROADS if one.api == self.api and one.samples == sampled)
        return tuple(one for one in roads if self.tokenizer or one != NAMED)

    def check_api(self) -> None:
        """Raise if options are given for another API or road."""
        if self.api != "chat" and (self.samples or self.thinking is not None):
            raise ModelError("--samples and --thinking-tokens require --api chat")
        if (self.price_in is None) != (self.price_out is None):
            raise ModelError("--price-in and --price-out require each other")
        for road in self.roads:
            if (road.samples and not self.samples) or (road == NAMED and not self.tokenizer):
                raise ModelError(f"--elicitation {road.name} requires {road.options}")
            if self.samples and not road.samples:
                raise ModelError(f"--samples contradicts --elicitation {road.name}: omit one")

    def dollars(self, read: int, written: int | None) -> float | None:
        if self.price_in is None or self.price_out is None or written is None:
            return None
        return round((read * self.price_in + written * self.price_out) / 1e6, 4)

    @property
    def thinking(self) -> Thinking:
        """The most tokens of reasoning; None for the server's default."""
        given = self.thinking_tokens
        if given is None or given == "all":
            return "all" if given else None
        return int(given)

    @property
    def patience(self) -> float:
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
    validated(options)
    if options.from_file:
        _check_may_get_key(name)
    if options.api == "chat" and not options.samples and options.thinking not in (None, 0):
        raise ModelError(
            "--thinking-tokens requires sampled replies, because first-token log-probabilities do "
            "not cover reasoning: add --samples N, or turn reasoning off with --thinking-tokens 0"
        )
    if options.api != "completions" and options.tokenizer is not None:
        raise ModelError(
            f"--tokenizer applies only to a completions server; with --api {options.api}, the "
            "server tokenizes the text: omit it"
        )
    options.check_api()
    for package in ("tenacity", "tokenizers"):
        if find_spec(package) is None:
            raise MissingPackage(package, "server")
    base = name.rstrip("/").removesuffix("/completions").removesuffix("/chat")
    return base.removesuffix("/decisions").removesuffix("/systemone")


def _check_may_get_key(address: str) -> None:
    """Refuse an address from a file if it would get an API key and its host is not listed."""
    parts = urlsplit(address)
    host = parts.netloc.lower()
    if parts.scheme == "https":
        host = host.removesuffix(":443")
    elif parts.port is None:
        host += ":80"
    listed = [one.strip().lower() for one in os.environ.get(HOSTS, "").split(",")]
    if key_from_environment() and host not in listed:
        raise ModelError(
            f"{parts.netloc} would get your API key, but its address comes from a file: to allow "
            f"it, set {HOSTS}={host} or, with tacit predict, give the address as --model; to send "
            f"no key, set {KEYS[0]} to nothing"
        )


def _leads_somewhere(address: str) -> bool:
    """Return whether an address has a host, a valid port (if any) and valid characters."""
    import httpx2

    try:
        httpx2.URL(address)
        parts = urlsplit(address)
        whole = bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")  # the encoding for the DNS lookup
    except (httpx2.InvalidURL, ValueError):
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
