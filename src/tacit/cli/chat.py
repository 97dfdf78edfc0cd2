"""The options of models that are tuned for chat, and what a request says of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.server.address import ServerOptions, Thinking

Chat = Annotated[
    bool,
    typer.Option(
        "--chat",
        help="Put each prompt as a chat, by the tokenizer's own template: the answer begins the "
        "assistant's turn.",
    ),
]
Api = Annotated[
    Literal["completions", "chat"],
    typer.Option(help="With a server: whether it completes texts, or replies in a chat."),
]
Samples = Annotated[
    int | None,
    typer.Option(
        help="With --api chat: sample so many replies of each prompt, and count the answers "
        "[default: log-probabilities of the reply's first token]."
    ),
]
ThinkingTokens = Annotated[
    str | None,
    typer.Option(
        help="With --api chat: the longest thought before a reply, in tokens; 0 for none, all to "
        "let it run."
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", help="With --api chat: do not ask whether the cost is meant.")
]


@dataclass(frozen=True)
class Talking:
    """How a server is talked to.

    Args:
        api: Whether it completes texts or replies in a chat.
        samples: How many replies of each prompt are sampled; None for log-probabilities.
        thinking_tokens: The longest thought, as it was given.
        yes: Whether the cost is meant.
    """

    api: Api = "completions"
    samples: Samples = None
    thinking_tokens: ThinkingTokens = None
    yes: Yes = False

    def options(self, server: ServerOptions, models: Sequence[str]) -> ServerOptions:
        """A server's options with these among them.

        Raises:
            RequestError: The thought's length is no number, no model is a server's, or replies are
                to be sampled or thought about outside of a chat.
        """
        from tacit.models.server.address import is_address

        if self.api == "chat" and models and not any(map(is_address, models)):
            raise RequestError(
                "--api chat is for a server's address; a model in this process takes --chat"
            )
        if self.api != "chat" and (self.samples is not None or self.thinking_tokens is not None):
            raise RequestError(
                "--samples and --thinking-tokens are for a server's chat: add --api chat"
            )
        return replace(
            server, api=self.api, samples=self.samples, thinking=_thinking(self.thinking_tokens)
        )

    def check_choices(self, anchoring: Sequence[str]) -> None:
        """Refuses to score the choices of questions as texts where a server chats.

        Raises:
            RequestError: They are to be.
        """
        if self.api == "chat" and "choice" in anchoring:
            raise RequestError(
                "a server's chat scores no texts, so that the choices of a question cannot be "
                "compared: answer the questions by --anchors verify, which asks of each choice "
                "whether it is the answer"
            )

    def request(self) -> dict[str, Any]:
        """What a run's ``run.yaml`` says of it: nothing where texts are completed."""
        if self.api == "completions":
            return {}
        more = {"samples": self.samples, "thinking_tokens": self.thinking_tokens}
        return {"api": "chat", **{name: value for name, value in more.items() if value is not None}}


def _thinking(given: str | None) -> Thinking:
    if given is None or given == "all":
        return cast("Thinking", given)
    if not given.isascii() or not given.isdecimal():
        raise RequestError(f"--thinking-tokens is {given!r}; it must be a number of tokens, or all")
    return int(given)
