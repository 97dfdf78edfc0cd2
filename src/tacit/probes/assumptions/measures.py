"""Every measure of the assumptions probe, from where targets stand: no model is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions import elicited, retrieved
from tacit.probes.assumptions.candidates import with_chance
from tacit.probes.assumptions.favoured import favoured
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

STANDINGS = ("retrieval", "retrieval_top", "elicitation", "elicitation_top")
"""The tables that all measures are made of."""


def measures(standings: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The measures of a run, by name.

    Args:
        standings: At least the tables that ``STANDINGS`` names.

    Returns:
        ``retrieval_by_number``, ``elicitation_by_relation``, ``agreement``, ``ablation`` and
        ``favoured``, as ``tacit.probes.assumptions.tables`` declares them.
    """
    bootstrap = Bootstrap()
    elicitation = standings["elicitation"]
    return {
        "retrieval_by_number": retrieved.by_number(standings["retrieval"], bootstrap),
        "elicitation_by_relation": with_chance(
            elicited.by_relation(elicitation, bootstrap), elicitation
        ),
        "agreement": elicited.agreement(elicitation, bootstrap),
        "ablation": elicited.ablation(elicitation, bootstrap),
        "favoured": favoured(elicitation, standings["elicitation_top"]),
    }


def intervals() -> dict[str, Any]:
    """How the intervals are made, for a manifest."""
    return {**Bootstrap().to_json(), "clusters": "concept"}
