"""Load the model behind a server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from tacit.errors import ModelError, ScoringError
from tacit.models.base import LanguageModel
from tacit.models.openai.checks import PreflightError
from tacit.models.openai.client import HIDDEN, Client
from tacit.models.openai.options import ServerOptions, check_address, key_from_environment
from tacit.models.openai.roads import ROADS

log = logging.getLogger(__name__)

Load: TypeAlias = Callable[[Client, dict[str, Any], ServerOptions, Path | None], LanguageModel]
"""How a road loads a model: of a client, a model's entry in ``/models``, options and a store."""

_TRIES = 3
"""The number of times that a list of models is requested that is not needed."""


def load_server(
    address: str, options: ServerOptions | None = None, store: Path | None = None
) -> LanguageModel:
    """Run a server's preflight, and return its model, which answers as the options say."""
    options = options or ServerOptions()
    client = client_of(address, options)
    about = chosen(client, options.served_model)
    try:
        return loaded(client, about, options, store)
    except PreflightError as error:
        raise ModelError(f"{error}{_others(client, options)}") from None


def client_of(address: str, options: ServerOptions) -> Client:
    """Return a client for an address, with the API key of the environment."""
    return Client(check_address(address, options), options, key_from_environment())


def loaded(
    client: Client, about: dict[str, Any], options: ServerOptions, store: Path | None
) -> LanguageModel:
    """Run the preflight of the permitted roads; ``about`` is the model's entry in ``/models``."""
    load: Load = resolve_name(options.roads[0].loads)
    return load(client, about, options, store)


def _others(client: Client, options: ServerOptions) -> str:
    """Return which roads of other APIs the server may offer, as the end of an error message."""
    others = [road for road in ROADS if road.api != options.api]
    found = {path: client.has(path) for path in dict.fromkeys(road.path for road in others)}
    names = [road.name for road in others if found[road.path]]
    listed = f"; other roads to try: {', '.join(names)}" if names else ""
    return f"{listed} (tacit check-server {client.address} tests all roads)"


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
