from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.findings.findings import Findings
from tacit.probes.parts.sentences import headline, missing, notes

if TYPE_CHECKING:
    from collections.abc import Mapping

MINUS, SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"


def gain(value: float, objective: str = "paper", of: str = "ParRoT") -> dict[str, Any]:
    """A row of the gain of repair, with an interval of one point to either side."""
    ends = {"low": value - 0.01, "high": value + 0.01}
    return {"set": of, "objective": objective, "part": "whole", "gain": value, **ends}


def summary(*gains: Mapping[str, Any], shuffled: float | None = 0.4) -> dict[str, Any]:
    """A summary with these gains."""
    micro = {"constraint": "micro", "stage": "before", "applicable": 1200, "undecided": 0}
    shares = {"rate": 0.274, "low": 0.25, "high": 0.3, "shuffled": shuffled}
    accuracy = {"set": "ParRoT", "gold": "all"}
    return {
        "violation": [{**micro, **shares}],
        "accuracy": [
            {**accuracy, "stage": "before", "accuracy": 0.5},
            {**accuracy, "stage": "paper", "accuracy": 0.582},
        ],
        "accuracy_gain": list(gains),
        "accuracy_baselines": [],
    }


def text(found: Mapping[str, Any]) -> str:
    """The headline with plain spaces."""
    return headline(Findings(pl.DataFrame(), {}, dict(found))).replace(SPACE, " ")


def test_the_headline_names_the_objective_and_the_rate_of_shuffled_beliefs() -> None:
    """Both beside the figures that they explain."""
    shown = text(summary(gain(0.082)))
    assert shown.startswith(
        "The model's beliefs violate 27.4 % (95 % CI 25.0 to 30.0 %) of 1,200 applicable "
        "constraints; after random shuffling, the same beliefs violate 40.0 % of "
        "the constraints that then apply. "
    )
    assert "By construction, repair (objective: paper) removes every violation" in shown


def test_a_gain_that_is_a_loss_under_another_objective_is_in_the_headline() -> None:
    """With each such objective and its interval, and none whose gain has the same sign."""
    shown = text(summary(gain(0.082), gain(-0.097, "log-odds"), gain(-0.094, "margin")))
    assert (
        "The sign of the change in accuracy depends on the objective of repair: repair with the "
        f"objective log-odds changes accuracy by {MINUS}9.7 points "
        f"(95 % CI {MINUS}10.7 to {MINUS}8.7 points) and repair with the objective margin "
        f"changes accuracy by {MINUS}9.4 points" in shown
    )
    assert "The sign of the change" not in text(
        summary(gain(0.082), gain(0.097, "log-odds"), gain(0, "margin"))
    )
    assert (
        "depends on the objective of repair: repair with the objective margin changes accuracy "
        "by +1.0 points" in text(summary(gain(-0.05), gain(0.01, "margin")))
    )


def test_the_gain_without_the_symmetric_relations_has_its_interval() -> None:
    """It is part of the headline."""
    shown = text(summary(gain(0.082), gain(0.01, of="without symmetric relations")))
    assert "are not counted, repair changes accuracy by +1.0 points (95 % CI 0.0 to" in shown


def test_without_a_shuffled_rate_the_headline_has_none() -> None:
    """No constraint applies to shuffled beliefs."""
    assert "shuffled" not in text(summary(gain(0.082), shuffled=None))


def test_the_headline_names_the_rate_of_asymmetric_constraints() -> None:
    """With its interval, and beside that of the shuffled beliefs if there is one."""
    row = {"constraint": "asymmetric", "stage": "before", "rate": 0.95, "low": 0.92, "high": 0.97}
    found = summary(gain(0.082))
    found["violation"].append({**row, "shuffled": 0.4})
    told = "are never both true), the beliefs violate 95.0 % (95 % CI 92.0 to 97.0 %)"
    assert f"{told}, and the shuffled beliefs violate 40.0 %. By construction" in text(found)
    found["violation"][1]["shuffled"] = 0.93
    assert f"{told}, and the shuffled beliefs violate 93.0 %, which is no clear" in text(found)
    found["violation"][1]["shuffled"] = None
    assert f"{told}. By construction" in text(found)
    found["violation"][1]["rate"] = None
    assert "asymmetric" not in text(found)


@pytest.mark.parametrize("mass", [0.0009, 0.001, None])
def test_answers_that_the_model_would_rarely_give_are_in_every_headline(
    mass: float | None,
) -> None:
    """Also if there is no gold label, and if no constraint applies."""
    warned = mass == 0.0009
    found = {**summary(gain(0.082)), "answer_probability": mass}
    without = {**found, "accuracy": []}
    idle = {**found, "violation": []}
    for each in (found, without, idle):
        shown = text(each)
        assert shown.endswith("true or false (median probability 0.001).") or not warned
        assert ("Interpret the beliefs with caution" in shown) == warned


@pytest.mark.parametrize("things", [1, 4, 5, 9, 10])
def test_few_things_are_noted_where_there_are_intervals(things: int) -> None:
    """With fewer than 5 there are none, and the notes say so."""
    how = {"level": 0.95, "method": "percentile bootstrap", "resamples": 2000, "seed": 0}
    found = Findings(pl.DataFrame(), {}, {"intervals": how, "things": things})
    shown = " ".join(notes(found))
    assert "A value has no interval if it is computed from fewer than 5 things" in shown
    assert (f"The run asks about only {things} everyday things" in shown) == (5 <= things < 10)


def test_answers_that_share_a_token_with_the_prompt_are_explained() -> None:
    """In one whole sentence."""
    found = {"missing": 0, "missing_statements": 0, "filled": 0, "spanned": 2}
    assert list(missing(found)) == [
        "A belief is known for the statement in every question.",
        (
            "2 answers share a token with the text around the answer, so their scores include the "
            "whole shared token."
        ),
    ]
