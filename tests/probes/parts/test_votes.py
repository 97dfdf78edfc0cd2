"""What the parts probe makes of sampled replies."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from tacit.coherence.ontology import Ontology
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import Votes
from tacit.sources.drawings import Drawing
from tests.probes.parts.measured import measured

LAMP = Drawing("lamp", "ann", ("shade", "stand", "bulb"), (("shade", "above", "stand"),))
PROBE = PartsProbe((LAMP,), Ontology.load("parts"), Template.load("plain"))


def some(number: int) -> Votes:
    """Other votes for each question; every fifth has no reply that could be read."""
    if number % 5 == 0:
        return Votes({"True": 0, "False": 0}, unparsed=10, truncated=number % 3)
    return Votes({"True": number % 7, "False": 3}, unparsed=2)


VOTES = [some(number) for number in range(len(PROBE.prompts))]


def test_a_belief_is_the_share_of_true_among_what_could_be_read() -> None:
    """Missing where nothing could be read, neither 0 nor one half."""
    for row, of in zip(measured(PROBE, VOTES).questions.to_dicts(), VOTES, strict=True):
        yes, no = of.counts["True"], of.counts["False"]
        expected = yes / (yes + no) if yes + no else None
        assert row["p_true"] == expected
        assert (row["votes_true"], row["votes_false"]) == (yes, no)
        assert (row["unparsed"], row["truncated"]) == (of.unparsed, of.truncated)
        assert row["filled"] is False


def test_findings_are_those_of_the_shares_as_beliefs() -> None:
    """The same tables as when the shares come from elsewhere; and replies are counted."""
    found = measured(PROBE, VOTES)
    shares = pl.Series("p_true", [each.share("True") for each in VOTES], pl.Float64)
    expected = PROBE.measure_beliefs(PROBE.questions.with_columns(shares))
    for name, table in expected.tables.items():
        assert found.tables[name].equals(table), name
    assert found.summary["missing"] == shares.null_count()
    assert found.summary["votes"] == {
        "replies": sum(each.parsed + each.unparsed for each in VOTES),
        "unparsed": sum(each.unparsed for each in VOTES),
        "truncated": sum(each.truncated for each in VOTES),
    }


@pytest.mark.parametrize("preset", ["gpt3", "gpt3-paper"])
def test_all_words_of_a_side_count_and_nothing_is_filled_in(preset: str) -> None:
    """Also where the template puts one half in the place of a missing belief."""
    probe = replace(PROBE, template=Template.load(preset))
    none = dict.fromkeys(probe.prompts[0].answers, 0)
    votes = [Votes({**none, "yes": 2, "TRUE": 1, "no": 1}), Votes(none, unparsed=4)]
    votes += [Votes({**none, "f": 1})] * (len(probe.prompts) - 2)
    rows = measured(probe, votes).questions.to_dicts()
    assert [row["p_true"] for row in rows[:3]] == [0.75, None, 0.0]
