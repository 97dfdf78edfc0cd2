"""Load the model behind a server."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from tacit.errors import ModelError, ScoringError
from tacit.models.base import LanguageModel
from tacit.models.openai.chat import ChatServer, VotesServer
from tacit.models.openai.client import HIDDEN, Client
from tacit.models.openai.completions import ServerModel
from tacit.models.openai.first_tokens import FirstTokensModel
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.sampling import SampledModel
from tacit.models.openai.server import CompletionsServer
from tacit.models.openai.tokenizer import TokenizerFile

log = logging.getLogger(__name__)

_TRIES = 3
"""The number of times that a list of models is requested that is not needed."""


def load_server(
    address: str, options: ServerOptions | None = None, store: Path | None = None
) -> LanguageModel:
    """Run a server's preflight, and return its model, which answers as the options say."""
    options = options or ServerOptions()
    base = check_address(address, options)
    tokenizer = TokenizerFile(options.tokenizer) if options.tokenizer else None
    client = Client(base, options, key_from_environment())
    about = chosen(client, options.served_model)
    name, concurrency = about["id"], options.concurrency
    if options.api == "completions":
        window = about.get("max_model_len")
        completions = CompletionsServer(client, name, concurrency, tokenizer)
        return ServerModel(completions, store, window if isinstance(window, int) else None)
    if options.samples is None:
        chat = ChatServer(client, name, concurrency, thinking=options.thinking)
        return FirstTokensModel(chat, store)
    votes = VotesServer(client, name, concurrency, thinking=options.thinking)
    return SampledModel(votes, store, options.samples, options.seed)


def chosen(client: Client, name: str | None) -> dict[str, Any]:
    """Return a server's ``/models`` entry for ``name``; the only entry if ``name`` is None."""
    try:
        models = client.models(None if name is None else _TRIES)
    except ScoringError as error:
        if name is None:
            raise
        log.warning("%s; its list of models is not needed with --served-model", error)
        return {"id": name}
    known = {str(one["id"]): dict(one) for one in models}
    if name is not None:
        # Some servers accept any model name, and list their model by its file name.
        return known.get(name, {"id": name})
    shown = [client.hide(one) for one in sorted(known)]
    # A model's name goes into messages and files, so it must not contain the key.
    if len(known) == 1 and HIDDEN not in shown[0]:
        return next(iter(known.values()))
    listed = f"serves {', '.join(shown)}" if known else "does not list its models"
    hint = "" if known else client.path_hint
    raise ModelError(f"{client.address} {listed}: choose the model with --served-model{hint}")
