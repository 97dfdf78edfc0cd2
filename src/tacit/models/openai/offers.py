"""Which roads of elicitation a server offers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import Client
from tacit.models.openai.loading import chosen, client_of, loaded
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.roads import AUTO, NAMED, ROADS, Road

_FEW = Backoff(attempts=3, first=0.5, most=2.0)


@dataclass(frozen=True)
class Offer:
    """A road, whether a server offers it, and what its preflight found."""

    road: Road
    found: str
    usable: bool = False


@dataclass(frozen=True)
class Offers:
    """All roads to a server's model, and how many requests their preflights sent."""

    name: str
    requests: int
    roads: Sequence[Offer]

    @property
    def best(self) -> Road | None:
        """The first usable road, but of the usual API if it has one; None if none is usable."""
        usable = [offer.road for offer in self.roads if offer.usable]
        return min(usable, key=lambda road: road.api != ServerOptions.api, default=None)


def offers(address: str, options: ServerOptions) -> Offers:
    """Run the preflight of each road to a server."""
    client = client_of(address, replace(options, backoff=_FEW))
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
        about_model = loaded(client, about, own, None).description
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
