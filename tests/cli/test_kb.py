"""``tacit kb``: import of a knowledge base, and background facts."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import TRIPLES, Tacit
from tests.knowledge.tables import edges


@pytest.mark.usefixtures("source")
def test_a_knowledge_base_is_described(tacit: Tacit) -> None:
    options = ("--licence", "CC0", "--source-version", "7", "--columns", "relation,tail,head")
    ran = tacit("kb", "import", "triples.tsv", "--out", "other.kb", "--json", *options)
    about = json.loads(ran.out)
    assert (about["licence"], about["version"]) == ("CC0", "7")
    assert about["sources"][0]["columns"] == ["relation", "tail", "head"]
    about = json.loads(tacit("kb", "info", "small.kb", "--json").out)
    assert (about["edges"], about["facts"], about["concepts"], about["licence"]) == (7, 7, 9, None)
    assert about["sources"][0]["columns"] == ["relation", "head", "tail"]
    names = ("eligible_negatives", "frequency_cap", "negatives_beyond_cap")
    assert [about[name] for name in names] == [9, 10_000, 0]
    lines = tacit("kb", "info", "small.kb").out.splitlines()
    assert "licence: none" in lines
    assert ["IsA", "2"] in [line.split() for line in lines]


def test_facts_of_a_question(tacit: Tacit, source: Path) -> None:
    """Concepts, then head, relation, tail and negative; how many the cap leaves out."""
    ran = tacit("kb", "facts", source / "small.kb", "Where does a dog sleep?", "kennel", "tree")
    lines = ran.out.splitlines()
    assert lines[0] == "concepts: dog, kennel, sleep"
    assert lines[2].split() == ["head", "relation", "tail", "negative"]
    assert [line.split()[:3] for line in lines[4:6]] == [
        ["dog", "AtLocation", "kennel"],
        ["kennel", "UsedFor", "sleep"],
    ]
    asked = ("kb", "facts", "small.kb", "Does a puppy, or a dog in a kennel sleep?")
    found = json.loads(tacit(*asked, "--length", 2, "--cap", 1, "--json").out)
    assert found["concepts"] == ["dog", "kennel", "puppy", "sleep"]
    assert len(found["facts"]) == 1 < found["found"]
    assert found["counts"]["question_concepts"] == 4
    capped = tacit(*asked, "--length", 2, "--cap", 1).out
    assert f"and {found['found'] - 1} more, left out by --cap" in capped
    none = json.loads(tacit("kb", "facts", "small.kb", "A dog", "--json").out)
    assert (none["concepts"], none["facts"], none["found"]) == (["dog"], [], 0)


def test_facts_of_a_file(tacit: Tacit, source: Path) -> None:
    """Every question's facts under its own id, and a summary; equal to the byte each time."""
    command = ("kb", "facts", "small.kb", "--questions", "questions.csv", "--frequent", 4)
    summary = json.loads(tacit(*command, "--out", "b.parquet", "--json").out)
    assert (summary["questions"], summary["with_facts"], summary["without_facts"]) == (3, 2, 1)
    assert summary["relations"] == {"AtLocation": 2, "UsedFor": 2}
    assert (summary["frequency_cap"], summary["negatives_beyond_cap"]) == (4, 5)
    extraction = summary["extraction"]
    assert (extraction["parts"], extraction["frequent"], extraction["cap"]) == ("separate", 4, None)
    facts = pl.read_parquet("b.parquet")
    assert facts.columns == [
        *("anchor", "head", "relation", "tail", "negative", "length", "weight")
    ]
    assert facts["anchor"].to_list() == ["q1", "q1", "q2", "q2"]
    before = (source / "b.parquet").read_bytes()
    ran = tacit(*command, "--out", "b.parquet")
    assert (source / "b.parquet").read_bytes() == before
    assert {"with facts: 2", "Written: b.parquet"} <= {*ran.out.splitlines()}


def test_bad_lines_are_reported(tacit: Tacit, workplace: Path) -> None:
    (workplace / "few.tsv").write_text(TRIPLES * 20 + "half a line\n", encoding="utf-8")
    ran = tacit("kb", "import", "few.tsv", "--out", "few.kb")
    assert ran.code == 0
    assert "skipped 1 of 141 lines that could not be read: line 141: 'half a line'" in ran.err


UNLOADED = """
import sys
from tacit.cli import main

def ran(*arguments):
    sys.argv = ["tacit", *arguments]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, arguments
    print(sorted({"torch", "transformers", "spacy"} & set(sys.modules)))

ran("check", "beliefs.csv")
ran("kb", "facts", "small.kb", "A dog and a kennel")
"""


def test_beliefs_and_facts_load_no_torch(source: Path) -> None:
    """Nor transformers; spaCy's tokenizer would load torch where it is installed."""
    (source / "beliefs.csv").write_text("subject,relation,object\na,above,b\n", encoding="utf-8")
    command = [sys.executable, "-c", UNLOADED]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert [line for line in printed if line.startswith("[")] == ["[]", "['spacy']"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", '"head"\t"relation"\t"tail"\n"dog"\t"AtLocation"\t"kennel"\n'),
        ("t.tsv", "\tsubject\trel\tobject\tnote\n1\tdog\tAtLocation\tkennel\tx\n"),
        ("t.jsonl", '{"tail": "kennel", "rel": "AtLocation", "head": "dog", "weight": 1}\n'),
        ("t.parquet", ""),
    ],
)
def test_triples_are_read_by_the_names_of_their_columns(
    tacit: Tacit, workplace: Path, name: str, text: str
) -> None:
    """In any order, which is printed; other columns are ignored."""
    if name == "t.parquet":
        row = {"object": ["kennel"], "predicate": ["AtLocation"], "subject": ["dog"]}
        pl.DataFrame(row).write_parquet(name)
    else:
        (workplace / name).write_text(text, encoding="utf-8")
    ran = tacit("kb", "import", name, "--out", "t.kb")
    order = "columns head; relation; tail" if "head" in text[:6] else "columns "
    assert order in next(line for line in ran.out.splitlines() if line.startswith("sources:"))
    assert ran.err == "" or "are ignored: column 1, note" in ran.err
    assert [edge[:3] for edge in edges(workplace / "t.kb")] == [("AtLocation", "dog", "kennel")]


def test_a_damaged_knowledge_base_is_refused(tacit: Tacit, source: Path) -> None:
    """In one line, whether it can be opened or not."""
    base = source / "small.kb"
    whole = base.read_bytes()
    for share in (0.3, 0.6, 0.9):
        base.write_bytes(whole[: int(len(whole) * share)])
        ran = tacit("kb", "facts", base, "A dog and a kennel")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
