"""The options of models that are tuned for chat, and what a request says of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Chat = Annotated[
    bool,
    typer.Option(
        "--chat",
        help="Put each prompt as a chat, by the tokenizer's own template: the answer begins the "
        "assistant's turn.",
    ),
]


def chat_request(*, chat: bool) -> dict[str, Any]:
    """What a run's ``run.yaml`` says of chats: nothing where none is asked for."""
    return {"chat": True} if chat else {}
