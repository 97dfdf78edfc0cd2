"""Load a server's chat model, which returns first-token scores or sampled replies."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.chat import ChatServer
from tacit.models.openai.chat_checks import VotesServer
from tacit.models.openai.client import HIDDEN, Client
from tacit.models.openai.first_tokens import FirstTokensModel
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.sampling import SampledModel

log = logging.getLogger(__name__)

_TRIES = 3
"""The number of times that a list of models is requested that is not needed."""


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
    if name is None:
        shown = [client.hide(one) for one in sorted(known)]
        # A model's name goes into messages and files, so it must not contain the key.
        if len(known) == 1 and HIDDEN not in shown[0]:
            return next(iter(known.values()))
        listed = f"serves {', '.join(shown)}" if known else "does not list its models"
        hint = "" if known else client.path_hint
        raise ModelError(f"{client.address} {listed}: choose the model with --served-model{hint}")
    # Some servers accept any model name, and list their model by its file name.
    return known.get(name, {"id": name})


def load_first_tokens(
    address: str, options: ServerOptions, store: Path | None = None
) -> FirstTokensModel:
    """Run a chat server's preflight, and return a model that scores one-token answers."""
    client, name = _chat(address, options)
    server = ChatServer(client, name, options.concurrency, thinking=options.thinking)
    return FirstTokensModel(server, store)


def load_sampled(address: str, options: ServerOptions, store: Path | None = None) -> SampledModel:
    """Run a chat server's preflight, and return a model whose replies are sampled."""
    if options.samples is None:
        raise ModelError("a sampled model requires the number of samples (ServerOptions.samples)")
    client, name = _chat(address, options)
    server = VotesServer(client, name, options.concurrency, thinking=options.thinking)
    return SampledModel(server, options.samples, options.seed, store)


def _chat(address: str, options: ServerOptions) -> tuple[Client, str]:
    client = Client(check_address(address, options), options, key_from_environment())
    return client, chosen(client, options.served_model)["id"]
