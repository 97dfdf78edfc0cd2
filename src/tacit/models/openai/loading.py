"""Load the model behind a server, or find out by which roads it can be asked."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tacit.errors import ModelError, ScoringError
from tacit.models.base import LanguageModel
from tacit.models.openai.chat import ChatServer, FirstTokensModel
from tacit.models.openai.checks import PreflightError
from tacit.models.openai.client import HIDDEN, Client
from tacit.models.openai.completions import ServerModel
from tacit.models.openai.completions_server import CompletionsServer, OllamaServer, is_ollama
from tacit.models.openai.decision_server import CONTRACTS, DecisionsServer
from tacit.models.openai.decisions import DecidingModel
from tacit.models.openai.options import Backoff, ServerOptions, check_address, key_from_environment
from tacit.models.openai.roads import AUTO, NAMED, ROADS, VOTES, Road
from tacit.models.openai.sampling import SampledModel
from tacit.models.openai.schema import count
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.models.openai.votes_server import VotesServer

log = logging.getLogger(__name__)

_TRIES = 3
"""The number of times that a list of models is requested that is not needed."""

_FEW = Backoff(attempts=3, first=0.5, most=2.0)


def load_server(
    address: str, options: ServerOptions | None = None, store: Path | None = None
) -> LanguageModel:
    """Run a server's preflight, and return its model, which answers as the options say."""
    options = options or ServerOptions()
    client = _client(address, options)
    about = chosen(client, options.served_model)
    try:
        return _loaded(client, about, options, store)
    except PreflightError as error:
        raise ModelError(f"{error}{_others(client, options)}") from None


def _client(address: str, options: ServerOptions) -> Client:
    return Client(check_address(address, options), options, key_from_environment())


def _loaded(
    client: Client, about: dict[str, Any], options: ServerOptions, store: Path | None = None
) -> LanguageModel:
    """Run the preflight of the permitted roads; ``about`` is the model's entry in ``/models``."""
    name, most, thinking = about["id"], options.concurrency, options.thinking
    first, window = options.roads[0], count(about.get("max_model_len"))
    if first.api == "completions":
        tokenizer = TokenizerFile(options.tokenizer) if options.tokenizer else None
        only = None if len(options.roads) > 1 else first.name
        kind = OllamaServer if is_ollama(client) else CompletionsServer
        return ServerModel(kind(client, name, most, tokenizer, window=window, only=only), store)
    if first == VOTES:
        votes = VotesServer(client, name, most, thinking=thinking)
        return SampledModel(votes, store, options.samples or 1, options.seed)
    if first.api == "chat":
        return FirstTokensModel(ChatServer(client, name, most, thinking=thinking), store)
    contracts = CONTRACTS[first.api]
    decides = DecisionsServer(client, name, most, contracts=contracts, window=window)
    return DecidingModel(decides, first.name, store, options.seed)


def _others(client: Client, options: ServerOptions) -> str:
    """Return which other roads the server may offer, as the end of an error message."""
    forced = options.elicitation != AUTO
    others = [
        road
        for road in ROADS
        if road.api != options.api or (forced and road not in options.roads and not road.options)
    ]
    found = {path: client.has(path) for path in dict.fromkeys(road.path for road in others)}
    names = [road.name for road in others if found[road.path]]
    listed = f"; other roads to try: {', '.join(names)}" if names else ""
    return f"{listed} (tacit check-server {client.address} tests all roads)"


def _check_has_a_road(client: Client) -> None:
    """Raise an error if the server has no API of a model, such as a server of web pages."""
    paths = list(dict.fromkeys(road.path for road in ROADS))
    if not any(map(client.has, paths)):
        hint = client.path_hint or "; give the address of an OpenAI-compatible API"
        raise ModelError(
            f"{client.address}: {client.software or 'a server'} answers, but has no list of models "
            f"and none of {', '.join(paths)}{hint}"
        )


def chosen(client: Client, name: str | None) -> dict[str, Any]:
    """Return a server's ``/models`` entry for ``name``; the only entry if ``name`` is None."""
    try:
        models = client.models(None if name is None else _TRIES)
        if not models and name is None:
            _check_has_a_road(client)
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


@dataclass(frozen=True)
class Offer:
    """A road, whether a server offers it, and what its preflight found."""

    road: Road
    found: str
    usable: bool = False


@dataclass(frozen=True)
class Offers:
    name: str
    requests: int
    roads: Sequence[Offer]

    @property
    def best(self) -> Road | None:
        """The first usable road, but of the usual API if it has one."""
        usable = [offer.road for offer in self.roads if offer.usable]
        return min(usable, key=lambda road: road.api != ServerOptions.api, default=None)


def offers(address: str, options: ServerOptions) -> Offers:
    client = _client(address, replace(options, backoff=_FEW))
    about = chosen(client, options.served_model)
    logger = logging.getLogger("tacit.models.openai")
    level = logger.level
    logger.setLevel(logging.ERROR)  # what the preflights find is returned
    try:
        found: list[Offer] = []
        for _, roads in groupby(ROADS, key=lambda road: (road.api, road.samples)):
            found += _offered(client, about, options, [*roads], found)
    finally:
        logger.setLevel(level)
    return Offers(f"{about['id']} at {client.address}", client.traffic["requests"], found)


def _offered(
    client: Client,
    about: dict[str, Any],
    options: ServerOptions,
    roads: Sequence[Road],
    before: Sequence[Offer],
) -> Iterator[Offer]:
    """Run the preflight that roads have in common; ``before`` are the roads tested so far."""
    first = roads[0]
    better = [one.road for one in before if one.usable and one.road.api == first.api]
    if better:
        yield from (_untested(road, better[0]) for road in roads)
        return
    if not client.has(first.path):
        yield from (Offer(road, f"the server has no {first.path}") for road in roads)
        return
    own = replace(
        options,
        api=first.api,
        elicitation=AUTO,
        samples=1 if first.samples else None,
        tokenizer=options.tokenizer if first.api == ServerOptions.api else None,
    )
    try:
        about_model = _loaded(client, about, own).description
    except (ModelError, ScoringError) as error:
        why = str(error).removeprefix(f"{about['id']} at {client.address} cannot be used: ")
        yield from (Offer(road, why) for road in roads)
        return
    passed = about_model["preflight"].rpartition(" passed the preflight: ")[2]
    for road in roads:
        if road.name in about_model["roads"]:
            yield Offer(road, passed, usable=True)
        elif road not in own.roads:
            yield Offer(road, f"not tested without {road.options}")
        elif NAMED.name in about_model["roads"]:
            yield _untested(road, NAMED)
        else:
            yield Offer(road, "; ".join((f"it lacks {road.needs}", *about_model["refused"])))


def _untested(road: Road, better: Road) -> Offer:
    return Offer(road, f"not needed beside {better.name}, and not tested")
