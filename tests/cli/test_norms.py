from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tacit.tables import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Tacit

PARTS = ("legs", "arms", "eyes", "ears", "toes", "teeth", "nails", "bones", "skin", "hair")
HEADER = "feature type\tconcept\tfeature\tpf\tfeature alternatives\n"


@pytest.fixture
def norms(workplace: Path) -> Path:
    """Norms in CSLB's layout: an ape, a bear, a seal and scissors, ten properties each."""
    rows = [
        f"visual perceptual\t{concept}\thas {part}\t{20 - place}\t"
        for concept in ("ape", "bear", "seal_(animal)", "scissors")
        for place, part in enumerate(PARTS)
    ]
    path = workplace / "norms.dat"
    path.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_prompts_are_written(tacit: Tacit, norms: Path) -> None:
    """A row for each concept and number of properties; the filters' counts are printed."""
    ran = tacit("norms", "prompts", "--norms", norms, "--out", "p.tsv")
    table = pl.read_csv("p.tsv", separator="\t")
    assert (ran.code, ran.err) == (0, "")
    assert table.columns == ["concept", "n", "text"]
    assert table.height == 20
    assert table.rows()[1] == ("bear", 2, "A ___ has legs and has arms.")
    assert table["concept"].unique(maintain_order=True).to_list() == ["bear", "scissors"]
    assert "cslb: 40 rows, 40 properties of 4 concepts" in ran.out
    assert "has a sense tag                         1        3" in ran.out
    assert "begins with a vowel sound               1        2" in ran.out
    assert "20 prompts for 2 concepts\n\nWritten: p.tsv" in ran.out


@pytest.mark.parametrize(
    ("filters", "remedy"),
    [
        (("--least", 50), "use --articles candidate or lower --least"),
        (("--articles", "candidate", "--vocabulary", "words"), "use another --vocabulary"),
        (("--least-people", 99), "--least-people"),
        (("--elicitation", "--least-people", 99), "lower --least-people"),
    ],
)
def test_filters_that_leave_no_prompt_are_blamed(
    tacit: Tacit, norms: Path, filters: tuple[object, ...], remedy: str
) -> None:
    """With the remedy; nothing is written."""
    norms.with_name("words").write_text("moose\n")
    ran = tacit("norms", "prompts", "--norms", norms, "--out", "p.tsv", *filters)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert remedy in ran.err
    assert not norms.with_name("p.tsv").exists()


def test_counts_as_json(tacit: Tacit, norms: Path) -> None:
    """What was read, what could be worded, and each filter in order."""
    ran = tacit(
        *("norms", "prompts", "--norms", norms, "--out", "p.csv", "--json"),
        *("--least", 10, "--limit", 1),
    )
    counts = json.loads(ran.out)
    assert counts["norms"] == {
        "layout": "cslb",
        "rows": 40,
        "properties": 40,
        "concepts": 4,
        "skipped": {"no feature": 0, "repeated": 0},
        "uncounted": {},
    }
    assert counts["properties"]["usable"] == 40
    assert counts["filters"] == [
        {"filter": "has a sense tag", "removed": 1, "left": 3},
        {"filter": "more than one word", "removed": 0, "left": 3},
        {"filter": "begins with a vowel sound", "removed": 1, "left": 2},
        {"filter": "fewer than 10 usable properties", "removed": 0, "left": 2},
        {"filter": "--limit", "removed": 1, "left": 1},
    ]
    assert (counts["concepts"], counts["prompts"]) == (1, 10)
    assert pl.read_csv("p.csv").height == 10


def test_properties_left_out_are_written(tacit: Tacit, workplace: Path) -> None:
    """The most frequent first, with the reason; their share of all namings is printed."""
    rows = ["owl,has wings,6", "owl,night bird,3", "owl,silent,11", "cat,is a cat,5"]
    (workplace / "norms.csv").write_text("\n".join(["concept,feature,pf", *rows]) + "\n")
    command = ("norms", "prompts", "--norms", "norms.csv", "--out", "p.csv", "--least", 1)
    ran = tacit(*command, "--left-out", "left.csv", "--articles", "candidate")
    assert (ran.code, ran.err) == (0, "")
    assert pl.read_csv("left.csv").rows() == [
        ("owl", "silent", 11, "no wording"),
        ("cat", "is a cat", 5, "names its concept"),
        ("owl", "night bird", 3, "no wording"),
    ]
    assert "the properties left out have 19 of 25 namings (76.0" in ran.out
    counts = json.loads(tacit(*command, "--json", "--articles", "candidate").out)
    assert counts["namings"] == {"all": 25, "left_out": 19}
    refused = tacit(*command[:-2], "--left-out", "left.csv", "--elicitation")
    assert refused.code == 2
    assert "--left-out has no effect with --elicitation" in refused.err


def test_published_numbers_are_printed_only_where_there_are_some(
    tacit: Tacit, norms: Path, workplace: Path
) -> None:
    """The paper's, for its norms; otherwise the column would be blank."""
    (workplace / "own.csv").write_text("concept,feature,pf\nowl,has wings,6\n")
    heads = {}
    for file in (norms, workplace / "own.csv"):
        ran = tacit("norms", "prompts", "--norms", file, "--out", "e.csv", "--elicitation")
        (head,) = (line for line in ran.out.splitlines() if line.startswith("relation "))
        heads[file.name] = head.split()
    assert heads["norms.dat"] == ["relation", "prompts", "published", "no", "response"]
    assert heads["own.csv"] == ["relation", "prompts", "no", "response"]


def test_options_of_retrieval(tacit: Tacit, norms: Path, workplace: Path) -> None:
    """A vocabulary, each candidate's article, the last blank, and limits on properties."""
    (workplace / "words.txt").write_text("ape\n\nseal\n", encoding="utf-8")
    tacit(
        *("norms", "prompts", "--norms", norms, "--out", "p.jsonl", "--wording", "blank-last"),
        *("--vocabulary", "words.txt", "--articles", "candidate"),
        *("--least-people", 19, "--least", 2, "--most-words", 2, "--concepts", "tagged"),
    )
    assert pl.read_ndjson("p.jsonl").rows() == [
        ("ape", 1, "Something that has legs is called ___", "an ape"),
        ("ape", 2, "Something that has legs and has arms is called ___", "an ape"),
        ("seal", 1, "Something that has legs is called ___", "a seal"),
        ("seal", 2, "Something that has legs and has arms is called ___", "a seal"),
    ]


def test_responses_follow_the_participants(tacit: Tacit, workplace: Path) -> None:
    """By people, by feature, or the feature's own wording; rows that are not aligned are listed."""
    (workplace / "norms.dat").write_text(
        "concept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
        "bear\thas fur_hair\t4\thas fur;has hair\t1 2 3;4\n"
        "bear\thas claws\t3\thas claws;has nails\t1 2 3\n",
        encoding="utf-8",
    )
    command = ("norms", "prompts", "--norms", "norms.dat", "--elicitation", "--out", "e.jsonl")
    found = {}
    for preset in ("people", "feature", "first"):
        ran = tacit(*command, "--responses", preset)
        assert "alternatives not aligned with participants: 1 of 2 rows; lines 3" in ran.out
        found[preset] = json.loads(pl.read_ndjson("e.jsonl")["responses"][0])
    assert found == {
        "people": {"fur": 3, "claws": 3, "hair": 1},
        "feature": {"fur": 4, "hair": 4, "claws": 3, "nails": 3},
        "first": {"fur": 4, "claws": 3},
    }
    counts = json.loads(tacit(*command, "--json").out)
    assert counts["norms"]["uncounted"] == {"alternatives not aligned with participants": [3]}


def test_corrections_are_used_and_idle_ones_told(
    tacit: Tacit, norms: Path, workplace: Path
) -> None:
    """A correction that meets no property is named."""
    own = "feature\twording\nhas legs\twalks on legs\nhas wheels\trolls\n"
    (workplace / "own.tsv").write_text(own, encoding="utf-8")
    command = ("norms", "prompts", "--norms", norms, "--corrections", "own.tsv", "--out", "p.tsv")
    shown = tacit(*command).out
    assert "corrections that match no property (letter case matters): 'has wheels'" in shown
    assert pl.read_csv("p.tsv", separator="\t")["text"][0] == "A ___ walks on legs."
    counts = json.loads(tacit(*command, "--json").out)
    assert counts["unmatched_corrections"] == ["'has wheels'"]
    assert counts["properties"]["corrected"] == 4


def test_elicitation_prompts_are_written(tacit: Tacit, norms: Path) -> None:
    """With people's responses; the paper's counts stand beside ours."""
    ran = tacit(
        *("norms", "prompts", "--norms", norms, "--out", "e.tsv", "--elicitation", "--limit", 2),
        *("--least-people", 19),
    )
    assert read_table("e.tsv").rows() == [
        ("has", "ape", "Everyone knows that an ape has ___.", '{"legs": 20, "arms": 19}'),
        ("has", "bear", "Everyone knows that a bear has ___.", '{"legs": 20, "arms": 19}'),
    ]
    assert "has                 2        564            0" in ran.out
    assert "plural                                  1        2" in ran.out


def test_elicitation_as_json_without_the_preface(tacit: Tacit, norms: Path) -> None:
    """Published counts are of CSLB alone; other norms have none."""
    command = ("norms", "prompts", "--elicitation", "--no-preface", "--json", "--out", "e.jsonl")
    counts = json.loads(tacit(*command, "--norms", norms).out)
    assert counts["relations"]["has"] == {"prompts": 2, "published": 564, "without": 0}
    assert counts["relations"]["is"] == {"prompts": 0, "published": 583, "without": 2}
    assert pl.read_ndjson("e.jsonl")["text"][0] == "An ape has ___."
    plain = norms.with_name("plain.csv")
    plain.write_text("concept,feature,pf\nbear,has fur,3\n", encoding="utf-8")
    counts = json.loads(tacit(*command, "--norms", plain).out)
    assert counts["relations"]["has"] == {"prompts": 1, "published": None, "without": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--norms", "none.dat"), "none.dat: there is no such file"),
        (("--norms", "norms.dat", "--vocabulary", "none.txt"), "none.txt: cannot be read"),
        (("--norms", "norms.dat", "--vocabulary", "empty.txt"), "empty.txt: is empty"),
        (("--norms", "norms.dat", "--corrections", "none.tsv"), "none.tsv: there is no such file"),
        (("--norms", "norms.dat", "--no-preface"), "--no-preface has no effect"),
        (("--norms", "norms.dat", "--responses", "first"), "--responses has no effect"),
        (
            ("--norms", "norms.dat", "--vocabulary", "norms.dat"),
            "norms.dat, line 1: has 'feature type\\tconcept",
        ),
        (
            ("--norms", "norms.dat", "--elicitation", "--least", 3, "--articles", "candidate"),
            "--articles, --least has no effect with --elicitation",
        ),
    ],
)
def test_bad_requests(
    tacit: Tacit, norms: Path, arguments: tuple[object, ...], message: str
) -> None:
    """One line on standard error, exit code 2, no file."""
    norms.with_name("empty.txt").write_text("\n", encoding="utf-8")
    ran = tacit("norms", "prompts", "--out", "p.tsv", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not norms.with_name("p.tsv").exists()


def test_nothing_is_written_over_what_is_read(tacit: Tacit, workplace: Path) -> None:
    """The norms stay as they are."""
    path = workplace / "norms.tsv"
    path.write_text("concept\tfeature\tpf\nbear\thas fur\t3\n", encoding="utf-8")
    ran = tacit("norms", "prompts", "--norms", path, "--out", path)
    assert (ran.code, "is an input file" in ran.err) == (2, True)
    assert path.read_text(encoding="utf-8").startswith("concept")
