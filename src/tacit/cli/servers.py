"""``tacit check-server``: which roads of elicitation a server offers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import AsJson, checked, declared
from tacit.english import several
from tacit.models.openai.options import ServerOptions, check_address

if TYPE_CHECKING:
    from tacit.models.openai.loading import Offers
    from tacit.models.openai.roads import Road


_OF_RUNS = ("api", "elicitation", "samples", "thinking_tokens", "yes", "price_in", "price_out")
"""Options of which a test of all roads has no use."""


@declared(without=_OF_RUNS)
def check_server(
    *,
    address: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="Address of the server, such as http://…/v1.", callback=checked
        ),
    ],
    options: ServerOptions,
    as_json: AsJson = False,
) -> None:
    """Test which roads of elicitation a server offers, by the preflight of each.

    Exits with 0 if one of them can be used, and otherwise with 1. Of a chat without
    log-probabilities, a few hundred short replies are requested.

    Example: tacit check-server http://localhost:8000/v1 --tokenizer tokenizer.json
    """
    check_address(address, options)  # before packages that may be missing are imported

    from tacit.models.openai.loading import offers

    offered = offers(address, options)
    result = _result(offered, address, options)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        _print(result)
    if offered.best is None:
        raise typer.Exit(1)


def _result(offered: Offers, address: str, options: ServerOptions) -> dict[str, Any]:
    return {
        "server": offered.name,
        "requests": offered.requests,
        "roads": [
            {
                "road": offer.road.name,
                "usable": offer.usable,
                "found": offer.found,
                "lacks": offer.road.lacks if offer.usable else "",
                "probes": _probes(offer.road) if offer.usable else [],
            }
            for offer in offered.roads
        ],
        "next": _command(offered.best, address, options) if offered.best else None,
    }


def _probes(road: Road) -> list[str]:
    """Return the names of the probes whose requests a road answers."""
    from tacit.probes.registry import probe, probes
    from tacit.requests import Prompt, RankingPrompt

    asked = {name: RankingPrompt if probe(name).ranks_vocabulary else Prompt for name in probes()}
    return [name for name, kind in asked.items() if kind in road.answers]


def _command(road: Road, address: str, options: ServerOptions) -> str:
    from tacit.options import missing
    from tacit.probes.registry import probe

    own, usual = road.api == ServerOptions.api, ServerOptions.concurrency
    given = {
        "served-model": options.served_model,
        "tokenizer": options.tokenizer if own else None,
        "elicitation": None if own else road.name,
        "samples": 20 if road.samples else None,
        "concurrency": None if options.concurrency == usual else options.concurrency,
    }
    more = [part for name, value in given.items() if value for part in (f"--{name}", str(value))]
    name = _probes(road)[0]
    needed = [
        part
        for one in missing(probe(name).Options)
        for part in (f"--{one.replace('_', '-')}", one.upper())
    ]
    words = ["tacit", "run", name, *needed, "--model", address, *more, "--out", "runs/served"]
    return shlex.join(words)


def _print(result: Mapping[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from tacit.present.terminal import console

    table = Table("road", "usable", "found", "probes", box=box.SIMPLE_HEAD)
    for row in result["roads"]:
        text = f"{row['found']}\nMissing: {row['lacks']}" if row["lacks"] else row["found"]
        usable = "yes" if row["usable"] else "no"
        table.add_row(row["road"], usable, text, ", ".join(row["probes"]))
    console().print(table)
    typer.echo(f"{result['server']}: {several(result['requests'], 'request')} sent")
    typer.echo(f"Next: {result['next']}" if result["next"] else "No road can be used.")
