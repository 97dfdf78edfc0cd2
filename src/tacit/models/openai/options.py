"""Where a server is, and the key that it may want."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from tacit.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tenacity import RetryCallState

KEYS = ("TACIT_API_KEY", "OPENAI_API_KEY")
"""The variables that may hold a key; the first that is set decides, an empty one for no key."""

SHORT, LONG = 120.0, 600.0
"""Seconds that an answer may take where nothing else is said, without a thought and with one."""

Api = Literal["completions", "chat"]
Thinking = int | Literal["all"] | None


@dataclass(frozen=True)
class Backoff:
    """Waits that double, each drawn at random so that many who failed do not return together.

    Args:
        attempts: How often the same is asked at most.
        first: The longest first wait, in seconds.
        most: The longest wait of all, in seconds, also where the server asks for a longer one.
        sleep: Waits so many seconds.
    """

    attempts: int = 8
    first: float = 0.5
    most: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def seconds(self, state: RetryCallState) -> float:
        """How long to wait after a failure, and at least as long as the server asks."""
        from tenacity import wait_random_exponential

        drawn = wait_random_exponential(self.first, self.most, min=self.first / 2)(state)
        failure = state.outcome.exception() if state.outcome else None
        return max(drawn, min(getattr(failure, "asked", None) or 0.0, self.most))


@dataclass(frozen=True)
class ServerOptions:
    """How a server is asked.

    Args:
        served_model: What the server calls the model; None for the only one that it serves.
        tokenizer: The model's ``tokenizer.json``, or a folder with it; None to go by the tokens
            that the server itself returns. Of no use in a chat.
        concurrency: How many prompts are under way at once.
        timeout: Seconds until an answer is waited for no longer; None for 120, or 600 from a model
            that thinks.
        backoff: What is done when the server fails.
        api: What it is asked for: to complete texts, or to reply in a chat.
        samples: In a chat, how many replies are sampled of each prompt; None for the
            log-probabilities of the reply's first token.
        thinking: In a chat, the longest thought before a reply, in tokens: 0 asks for none, ``all``
            lets it run; None for a model that does not think.
        seed: Where the seeds of sampled replies begin.
    """

    served_model: str | None = None
    tokenizer: Path | None = None
    concurrency: int = 8
    timeout: float | None = None
    backoff: Backoff = field(default_factory=Backoff)
    api: Api = "completions"
    samples: int | None = None
    thinking: Thinking = None
    seed: int = 0

    @property
    def patience(self) -> float:
        """Seconds until an answer is waited for no longer."""
        return self.timeout or (LONG if self.thinking else SHORT)


def is_address(name: str) -> bool:
    """Whether a model's name is the address of a server."""
    return name.lower().startswith(("http://", "https://"))


def check_holds_no_key(name: str) -> None:
    """Refuses an address that may hold a key, before anything else names it.

    Args:
        name: What a person calls a model; what is no address passes.

    Raises:
        ModelError: It holds a user, a password or a query. The message repeats nothing of it.
    """
    if "://" in name and any(mark in name for mark in "@?#"):
        raise ModelError(
            "the server's address holds a user, a password or a query, which a log would show: "
            f"give it as http://host:8000/v1, and the key in the variable {KEYS[0]}"
        )


def check_address(name: str, options: ServerOptions | None = None) -> str:
    """The address without a slash at its end.

    Raises:
        ModelError: It names no host or may hold a key, or an option is out of range. The message
            repeats nothing of an address that may hold a key.
    """
    check_holds_no_key(name)
    options = options or ServerOptions()
    if not _leads_somewhere(name):
        raise ModelError(
            "the server's address names no host, or no port that there is, or holds a character "
            "that no address can; expected one such as http://localhost:8000/v1"
        )
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
            "--thinking-tokens is for sampled replies, as a reply's first token is none of its "
            "thought's: add --samples N, or turn thinking off with 0"
        )
    if options.api == "chat" and options.tokenizer is not None:
        raise ModelError(
            "--tokenizer is for a server that completes texts; in a chat the server alone cuts "
            "them: leave it off"
        )
    if options.api == "completions" and (options.samples or options.thinking is not None):
        raise ModelError("--samples and --thinking-tokens are for chats: add --api chat")
    return name.rstrip("/").removesuffix("/completions").removesuffix("/chat")


def _leads_somewhere(address: str) -> bool:
    """Whether an address can be one: with a host, a port that there is, and no blanks."""
    try:
        parts = urlsplit(address)
        whole = bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")  # as it is looked up
    except ValueError:
        return False
    return whole and address.isprintable() and " " not in address


def key_from_environment() -> str | None:
    """The key that the server is shown; None for no key.

    Raises:
        ModelError: No header can hold it. The message does not repeat it.
    """
    for variable in KEYS:
        if variable in os.environ:
            key = os.environ[variable].strip()
            if not (key.isascii() and key.isprintable()):
                raise ModelError(
                    f"${variable} holds a character that no HTTP header can: set it anew"
                )
            return key or None
    return None
