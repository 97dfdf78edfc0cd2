"""``tacit kb audit`` and ``tacit kb agreement``."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Tacit

TRIPLES = """AtLocation\tdog\tkennel
IsA\tdog\tanimal
IsA\tpuppy\tdog
UsedFor\tkennel\tsleep
Eats\tdog\tkennel
"""
QUESTIONS = """question,choices,answer
Where does a dog sleep?,kennel|tree,kennel
What is a puppy?,animal dog|kennel,kennel
"""


@pytest.fixture
def audited(tacit: Tacit, workplace: Path) -> Path:
    """A folder with a knowledge base, questions, and a sample of all facts."""
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    assert sample(tacit, "sample.tsv") == 0
    return workplace


def sample(tacit: Tacit, out: str, *options: object) -> int:
    """Writes a sample; gives the exit code."""
    asked = ("kb", "audit", "small.kb", "--questions", "questions.csv", "--out", out)
    return tacit(*asked, *options).code


def rate(folder: Path, name: str, ratings: list[int | None]) -> None:
    """Writes the sample's ratings."""
    rows = pl.read_csv(folder / "sample.tsv", separator="\t")
    rated = rows.with_columns(rating=pl.Series(ratings, dtype=pl.Int64))
    rated.write_csv(folder / name, separator="\t")


def test_a_sample_has_facts_with_their_questions(audited: Path) -> None:
    """Each fact of each question once, and no rating."""
    rows = pl.read_csv(audited / "sample.tsv", separator="\t")
    assert rows.columns == [
        *("question_id", "question", "choices", "fact", "relation", "head", "tail", "negative"),
        "rating",
    ]
    assert rows["rating"].null_count() == rows.height == 5
    assert rows.n_unique(["question_id", "head", "relation", "tail"]) == 5
    row = rows.row(by_predicate=pl.col("tail") == "sleep", named=True)
    assert row["question"] == "Where does a dog sleep?"
    assert row["choices"] == "kennel | tree"
    assert row["fact"] == "Is a kennel used for sleeping?"


def test_a_seed_draws_the_same_facts(tacit: Tacit, audited: Path) -> None:
    """A smaller sample is the beginning of a larger one; another seed draws others."""
    whole = (audited / "sample.tsv").read_text().splitlines()
    assert sample(tacit, "two.tsv", "--sample", 2) == 0
    assert (audited / "two.tsv").read_text().splitlines() == whole[:3]
    drawn = set()
    for seed in range(6):
        assert sample(tacit, "one.tsv", "--sample", 1, "--seed", seed) == 0
        drawn.add(tuple(pl.read_csv(audited / "one.tsv", separator="\t").row(0)[4:7]))
    assert len(drawn) > 1


@pytest.mark.usefixtures("audited")
def test_the_counts_are_printed(tacit: Tacit) -> None:
    """As a table with the rating question, or as JSON."""
    asked = ("kb", "audit", "small.kb", "--questions", "questions.csv", "--out", "sample.tsv")
    ran = tacit(*asked)
    assert "facts between concepts of different parts" in ran.out
    assert "Is the fact true, and is it relevant" in ran.out
    told = json.loads(tacit(*asked, "--sample", 3, "--json").out)
    assert told["sample"] == {"facts": 3, "of": 5, "seed": 0}
    across = {row["audited"]: row for row in told["audit"] if row["relation"] == "all"}
    assert across["facts between concepts of different parts"]["count"] == 4
    assert told["extraction"]["parts"] == "separate"


def test_ratings_are_not_overwritten(tacit: Tacit, audited: Path) -> None:
    """A sample without ratings is; one with a rating only by force."""
    assert sample(tacit, "sample.tsv") == 0
    rate(audited, "rated.tsv", [1, None, None, None, None])
    assert sample(tacit, "rated.tsv") == 2
    assert sample(tacit, "rated.tsv", "--force") == 0


def test_two_raters_agree(tacit: Tacit, audited: Path) -> None:
    """By hand: of 3 facts that both rated, 2 alike; by chance 4/9."""
    rate(audited, "one.tsv", [1, 1, 0, None, 0])
    rate(audited, "other.tsv", [1, 1, 1, 0, None])
    rate(audited, "third.tsv", [1, 0, 0, 0, None])
    told = json.loads(tacit("kb", "agreement", "one.tsv", "third.tsv", "--json").out)
    assert (told["facts"], told["n"]) == (5, 3)
    assert told["agreement"]["value"] == pytest.approx(2 / 3)
    assert told["kappa"]["value"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert told["kappa"]["low"] < told["kappa"]["value"] < told["kappa"]["high"] <= 1
    assert told["raters"][0]["blank"] == 1
    assert told["raters"][0]["value"] == pytest.approx(2 / 4)
    shown = tacit("kb", "agreement", "one.tsv", "other.tsv").out
    assert "rated by both: 3 facts; 2 left out, blank in a file" in shown
    assert "Cohen's kappa: 0.000 (no interval: one rater uses only one category)" in shown
    rate(audited, "same.tsv", [1, 1, 1, None, None])
    rate(audited, "alike.tsv", [1, 1, 1, None, None])
    shown = tacit("kb", "agreement", "same.tsv", "alike.tsv").out
    assert "Cohen's kappa: undefined (both raters use one and the same category)" in shown


def test_invalid_files_are_refused(tacit: Tacit, audited: Path) -> None:
    """One sample with another, a file with other columns, one that is missing, one file twice."""
    rate(audited, "one.tsv", [1, 1, 0, 0, 1])
    shutil.copy(audited / "one.tsv", audited / "copy.tsv")
    assert sample(tacit, "few.tsv", "--sample", 2) == 0
    for other, message in (
        ("few.tsv", "one.tsv, line 4: rates the fact"),
        ("triples.tsv", "triples.tsv, line 1: has no column question_id"),
        ("missing.tsv", "missing.tsv: there is no such file"),
        ("one.tsv", "one.tsv is given twice"),
    ):
        ran = tacit("kb", "agreement", "one.tsv", other)
        assert ran.code == 2
        assert message in ran.err
    assert tacit("kb", "agreement", "one.tsv", "copy.tsv").code == 0


def test_requests_that_cannot_be_done_are_refused(tacit: Tacit, audited: Path) -> None:
    """No facts, a relation without a template, an unknown wording, an output that is an input."""
    (audited / "none.csv").write_text("question,choices,answer\nWho?,x|y,x\n", encoding="utf-8")
    asked = ("kb", "audit", "small.kb", "--out", "x.tsv", "--questions")
    for options, message in (
        (("none.csv",), "no question has a background fact"),
        (("questions.csv", "--wording", "odd"), "odd"),
        (("questions.csv", "--relations", "Likes"), "has no relation Likes"),
        (("questions.csv", "--relations", "Eats"), "no template for Eats"),
        (("questions.csv", "--out", "questions.csv"), "is an input file"),
    ):
        ran = tacit(*asked, *options)
        assert ran.code == 2
        assert message in ran.err
    assert not (audited / "x.tsv").exists()


def test_surface_wording_without_surface_text_is_a_warning(
    tacit: Tacit, audited: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The facts are worded by the paper's templates."""
    assert sample(tacit, "surface.tsv", "--wording", "surface") == 0
    assert "has no surface text" in caplog.text
    facts = pl.read_csv(audited / "surface.tsv", separator="\t")["fact"].to_list()
    assert "Are kennel used for sleep?" in facts
