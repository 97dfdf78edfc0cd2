from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tacit.findings.findings import Findings
from tacit.findings.verdict import Verdict
from tacit.probes.parts.sentences import headline, missing, notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.findings.verdict import Name

SPACE = "\N{NO-BREAK SPACE}"


def summary(verdict: str) -> dict[str, Any]:
    """The summary of a run with this verdict; repair gains 8.2 points."""
    of: dict[str, Any] = {"set": "without symmetric relations"}
    micro = {"constraint": "micro", "stage": "before", "rate": 0.274, "low": 0.25, "high": 0.3}
    area = {"auroc": 0.612, "auroc_low": 0.601, "auroc_high": 0.623}
    gain = {"objective": "paper", "part": "whole", "gain": 0.082, "low": 0.072, "high": 0.092}
    return {
        "verdict": {"verdict": verdict, "reason": "as measured"},
        "questions": 1200,
        "missing": 200,
        "true_share": 0.317,
        "violation": [{**micro, "shuffled": 0.4}],
        "discrimination": [{**of, "stage": "before", **area}],
        "accuracy": [{**of, "gold": "all", "stage": "paper", "accuracy": 0.582}],
        "accuracy_gain": [{**of, **gain}],
        "repaired_shuffled": [{**of, "after": 0.513}],
    }


def text(found: Mapping[str, Any]) -> str:
    """The headline with plain spaces."""
    return headline(Findings(pl.DataFrame(), {}, dict(found))).replace(SPACE, " ")


@pytest.mark.parametrize(
    ("verdict", "announced"),
    [
        ("constant", False),
        ("too few data", False),
        ("no signal", False),
        ("weak", True),
        ("clear", True),
    ],
)
def test_a_gain_is_announced_only_if_the_run_shows_something(
    verdict: Name, *, announced: bool
) -> None:
    """Beside what repaired shuffled beliefs reach; the verdict and the share of true come first."""
    shown = text(summary(verdict))
    assert shown.startswith(str(Verdict(verdict, "as measured")))
    values = ("31.7 % of 1,000", "27.4 %", "40.0 %", "0.612 (95 % CI 0.601 to 0.623)")
    at = [shown.find(value) for value in values]
    assert -1 not in at
    assert at == sorted(at)
    for value in ("8.2 points", "58.2 %", "51.3 %"):
        assert (value in shown) == announced


def test_the_headline_leaves_out_what_is_undefined() -> None:
    """A run without gold labels, and one without any belief."""
    bare: dict[str, Any] = {
        "discrimination": [],
        "accuracy": [],
        "accuracy_gain": [],
        "repaired_shuffled": [],
    }
    assert "27.4 %" in text({**summary("clear"), **bare})
    nothing = {**summary("too few data"), **bare, "true_share": None, "violation": []}
    assert text(nothing) == str(Verdict("too few data", "as measured"))


@pytest.mark.parametrize("mass", [0.0009, 0.001, None])
def test_answers_that_the_model_would_rarely_give_are_in_every_headline(
    mass: float | None,
) -> None:
    """Whatever the verdict is."""
    for verdict in ("constant", "clear"):
        shown = text({**summary(verdict), "answer_probability": mass})
        assert shown.endswith("0.001).") == (mass == 0.0009)


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
