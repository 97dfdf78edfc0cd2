"""From a server's address to a model in a chat, by first tokens or by sampled replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.openai.chat import Talk
from tacit.models.openai.chat_preflight import try_sampling
from tacit.models.openai.client import Client
from tacit.models.openai.first_tokens import FirstTokensModel, try_beginnings
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.redaction import SHOWN
from tacit.models.openai.sampling import SampledModel

if TYPE_CHECKING:
    from pathlib import Path


def chosen(client: Client, name: str | None) -> dict[str, Any]:
    """What the server says of the model of that name, or of its only one.

    Raises:
        ModelError: It serves no such model, or several and none was named.
    """
    known = {str(one["id"]): dict(one) for one in client.models()}
    if name is None:
        shown = [client.hide(one) for one in sorted(known)]
        # One that is called by the key would carry it everywhere.
        if len(known) == 1 and SHOWN not in shown[0]:
            return next(iter(known.values()))
        listed = f"serves {', '.join(shown)}" if known else "does not say what it serves"
        raise ModelError(f"{client.address} {listed}: name the model with --served-model")
    # Some complete with whatever they serve, by any name, and list it by its file.
    return known.get(name, {"id": name})


def load_first_tokens(
    address: str, options: ServerOptions, kept: Path | None = None
) -> FirstTokensModel:
    """Tries a server's chat, and gives its model as one that scores answers of one token.

    Args:
        address: For example ``http://localhost:8000/v1``.
        options: What it calls the model, whether it thinks, how many prompts are under way at once.
        kept: The store, by which a server is known again; None to know none.

    Raises:
        ModelError: No server is there, or it gives no log-probabilities in a chat.
        MissingPackage: The extra ``server`` is not installed.
        ScoringError: The server failed each time.
    """
    beginnings = try_beginnings(_talk(address, options), options.concurrency)
    return FirstTokensModel(beginnings, options.concurrency, kept)


def load_sampled(address: str, options: ServerOptions, kept: Path | None = None) -> SampledModel:
    """Tries a server's chat, and gives its model as one whose replies are sampled.

    Args:
        address: For example ``http://localhost:8000/v1``.
        options: As for ``load_first_tokens``, and how many samples.
        kept: The store, by which a server is known again; None to know none.

    Raises:
        ModelError: No server is there, or its replies are no samples.
        MissingPackage: The extra ``server`` is not installed.
        ScoringError: The server failed each time.
    """
    sampler = try_sampling(_talk(address, options), options.concurrency)
    return SampledModel(sampler, options, kept)


def _talk(address: str, options: ServerOptions) -> Talk:
    place = check_address(address, options)
    client = Client(place, options, key_from_environment())
    about = chosen(client, options.served_model)
    return Talk(client, about["id"], options.thinking)
