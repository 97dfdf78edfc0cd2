from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Tacit

TRIPLES = """AtLocation\tdog\tkennel
IsA\tdog\tanimal
IsA\tpuppy\tdog
CapableOf\tdog\tbark
UsedFor\tkennel\tsleep
Eats\tdog\tbone
"""
QUESTIONS = """question,choices,answer
Where does a dog sleep?,kennel|tree,kennel
What is a puppy?,animal|kennel,animal
What is blue?,sky|grass,sky
"""


@pytest.fixture
def base(tacit: Tacit, workplace: Path) -> Path:
    """A small knowledge base."""
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    return workplace / "small.kb"


def test_a_knowledge_base_is_described(tacit: Tacit, base: Path) -> None:
    """Counts, each relation's edges, and what the command line gave."""
    ran = tacit(
        *("kb", "import", base.with_name("triples.tsv"), "--out", "other.kb", "--json"),
        *("--licence", "CC0", "--source-version", "7"),
    )
    about = json.loads(ran.out)
    assert (about["licence"], about["version"]) == ("CC0", "7")
    about = json.loads(tacit("kb", "info", base, "--json").out)
    assert (about["edges"], about["facts"], about["concepts"], about["licence"]) == (6, 6, 7, None)
    names = ("eligible_negatives", "frequency_cap", "negatives_beyond_cap")
    assert [about[name] for name in names] == [7, 10_000, 0]
    lines = tacit("kb", "info", base).out.splitlines()
    assert "licence: none" in lines
    assert ["IsA", "2"] in [line.split() for line in lines]


def test_facts_are_shown_with_their_negatives(tacit: Tacit, base: Path) -> None:
    """A table for people: concepts, then head, relation, tail and negative."""
    ran = tacit("kb", "facts", base, "Where does a dog sleep?", "kennel", "tree")
    lines = ran.out.splitlines()
    assert lines[0] == "concepts: dog, kennel, sleep"
    assert lines[2].split() == ["head", "relation", "tail", "negative"]
    assert [line.split()[:3] for line in lines[4:6]] == [
        ["dog", "AtLocation", "kennel"],
        ["kennel", "UsedFor", "sleep"],
    ]


def test_facts_as_json(tacit: Tacit, base: Path) -> None:
    """One object with the concepts, the facts, and how many there are without the cap."""
    ran = tacit("kb", "facts", base, "A dog", "--length", 2, "--relations", "IsA", "--json")
    found = json.loads(ran.out)
    assert found.pop("counts")["question_concepts"] == 1
    assert found == {"concepts": ["dog"], "facts": [], "found": 0}
    ran = tacit("kb", "facts", base, "A puppy, an animal", "--length", 2, "--cap", 1, "--json")
    found = json.loads(ran.out)
    assert found["concepts"] == ["animal", "puppy"]
    assert [fact["length"] for fact in found["facts"]] == [2]
    assert found["found"] == 2


def test_a_cap_that_bites_is_told(tacit: Tacit, base: Path) -> None:
    """The table says how many facts are left out."""
    ran = tacit("kb", "facts", base, "A puppy, an animal", "--length", 2, "--cap", 1)
    assert "and 1 more, left out by --cap" in ran.out


def test_facts_of_a_file(tacit: Tacit, base: Path) -> None:
    """Every question's facts under its own number, and a summary; equal to the byte each time."""
    command = ("kb", "facts", base, "--questions", "questions.csv")
    summary = json.loads(tacit(*command, "--out", "b.parquet", "--frequent", 4, "--json").out)
    assert (summary["questions"], summary["with_facts"], summary["without_facts"]) == (3, 1, 2)
    assert summary["relations"] == {"AtLocation": 1, "UsedFor": 1}
    assert (summary["frequency_cap"], summary["negatives_beyond_cap"]) == (4, 3)
    extraction = summary["extraction"]
    assert (extraction["parts"], extraction["frequent"], extraction["cap"]) == ("separate", 4, None)
    facts = pl.read_parquet("b.parquet")
    assert facts.columns == [
        *("question", "head", "relation", "tail", "negative", "length", "weight")
    ]
    assert facts["question"].to_list() == ["1", "1"]
    before = base.with_name("b.parquet").read_bytes()
    ran = tacit(*command, "--out", "b.parquet", "--frequent", 4)
    assert base.with_name("b.parquet").read_bytes() == before
    assert {"with facts: 1", "Written: b.parquet"} <= {*ran.out.splitlines()}


def test_a_gzipped_dump_cut_short_leaves_nothing(tacit: Tacit, base: Path) -> None:
    """One line of error, exit code 2, no file."""
    packed = gzip.compress((TRIPLES * 5000).encode())
    base.with_name("cut.gz").write_bytes(packed[: len(packed) // 2])
    ran = tacit("kb", "import", "cut.gz", "--out", "cut.kb")
    assert ran.code == 2
    assert "cut.gz: cannot be read to its end" in ran.err
    assert not [file for file in base.parent.iterdir() if "cut.kb" in file.name]


def test_bad_lines_are_told_and_too_many_refused(tacit: Tacit, base: Path) -> None:
    """One in a hundred passes with a warning; more is an error that shows the first."""
    base.with_name("few.tsv").write_text(TRIPLES * 20 + "half a line\n", encoding="utf-8")
    ran = tacit("kb", "import", "few.tsv", "--out", "few.kb")
    assert ran.code == 0
    assert "skipped 1 of 121 lines that could not be read: line 121: 'half a line'" in ran.err
    base.with_name("many.tsv").write_text(TRIPLES + "half a line\n", encoding="utf-8")
    ran = tacit("kb", "import", "many.tsv", "--out", "many.kb")
    assert ran.code == 2
    assert "line 7: 'half a line'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "nothing.tsv", "--out", "x.kb"), "nothing.tsv: there is no such file"),
        (("import", ".", "--out", "x.kb"), "this is a folder"),
        (("import", "triples.tsv", "--out", "triples.tsv"), "is an input file"),
        (("import", "triples.tsv", "--out", "small.kb/x.kb"), "cannot be used as a file's path"),
        (("info", "questions.csv"), "is not a knowledge base"),
        (("info", "."), "is a folder; expected a file"),
        (("facts", "small.kb"), "either a question or a file"),
        (("facts", "small.kb", "A dog", "--questions", "questions.csv"), "either a question or"),
        (("facts", "small.kb", ""), "is empty"),
        (("facts", "small.kb", "What?", "one"), "requires at least two"),
        (("facts", "small.kb", "What?", "one", " "), "is empty"),
        (("facts", "small.kb", "A dog", "--length", "4"), "invalid length 4"),
        (("facts", "small.kb", "A dog", "--cap", "-1"), "greater than or equal to 0"),
        (("facts", "small.kb", "A dog", "--overlap", "half"), "is not one of 'all-words'"),
        (("facts", "small.kb", "A dog", "--relations", ","), "--relations is empty; name one"),
        (("facts", "own.kb", "A fox in a den"), "none of the default relations; name one or more"),
        (("facts", "small.kb", "--questions", "birds.csv"), "no question has a background fact"),
        (("facts", "small.kb", "--questions", "q.csv"), "no such file"),
        (("facts", "small.kb", "--questions", "questions.csv", "--out", "b.x"), "suffix"),
    ],
)
def test_bad_requests(tacit: Tacit, base: Path, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, one line that says what is wrong, and nothing written."""
    base.with_name("birds.csv").write_text(
        "question,choices,answer\nWhich one nests on cliffs?,albatross|whip-poor-will,albatross\n"
    )
    base.with_name("own.tsv").write_text("Eats\tfox\tmouse\n")
    assert tacit("kb", "import", "own.tsv", "--out", "own.kb").code == 0
    before = sorted(base.parent.rglob("*"))
    ran = tacit("kb", *arguments)
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]
    assert sorted(base.parent.rglob("*")) == before


@pytest.mark.slow
def test_facts_load_no_torch(base: Path) -> None:
    """The tokenizer would load it where it is installed; rules have no use for it."""
    program = (
        "import sys; from tacit.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", program, "kb", "facts", str(base), "A dog and a kennel"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
    assert "dog" in done.stdout


def test_triples_may_name_concepts_by_their_uri(tacit: Tacit, base: Path) -> None:
    """Relations are asked for in any spelling; one without a name is a bad line, a header none."""
    header = "relation\thead\ttail\n"
    lines = "/r/IsA\t/c/en/guide_dog/n\t/c/en/animal\n" * 300
    base.with_name("uris.tsv").write_text(header + lines + "/r/\tdog\tanimal\n", encoding="utf-8")
    ran = tacit("kb", "import", "uris.tsv", "--out", "uris.kb", "--json")
    assert json.loads(ran.out)["facts"] == 1
    assert "skipped 1 of 302 lines that could not be read: line 302" in ran.err
    asked = ("kb", "facts", "uris.kb", "A guide dog is an animal", "--relations", "is a", "--json")
    (fact,) = json.loads(tacit(*asked).out)["facts"]
    assert (fact["head"], fact["relation"], fact["tail"]) == ("guide dog", "IsA", "animal")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "head\trelation\ttail\ndog\tAtLocation\tkennel\n"),
        ("t.tsv", '"head"\t"relation"\t"tail"\n"dog"\t"AtLocation"\t"kennel"\n'),
        ("t.tsv", "Weight\tSubject\tPredicate\tObject\n0.5\tdog\tAtLocation\tkennel\n"),
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
    about = json.loads(tacit("kb", "info", "t.kb", "--json").out)
    assert (about["facts"], about["relations"]) == (1, {"AtLocation": 1})
    asked = tacit("kb", "facts", "t.kb", "A dog in a kennel", "--json")
    (fact,) = json.loads(asked.out)["facts"]
    assert (fact["head"], fact["tail"]) == ("dog", "kennel")


@pytest.mark.parametrize("line", ["source\trelation\ttarget", "rel\targ1\targ2"])
def test_a_header_of_other_names_is_refused(tacit: Tacit, workplace: Path, line: str) -> None:
    """It is no fact."""
    (workplace / "t.tsv").write_text(f"{line}\ndog\tIsA\tpet\n", encoding="utf-8")
    ran = tacit("kb", "import", "t.tsv", "--out", "t.kb")
    assert (ran.code, "t.tsv, line 1" in ran.err) == (2, True)


def test_a_malformed_fact_of_a_table_has_its_line(tacit: Tacit, workplace: Path) -> None:
    """Blank lines count."""
    row = '{"relation": "IsA", "head": "dog", "tail": %s}\n'
    (workplace / "t.jsonl").write_text((row % '"pet"') * 200 + "\n" + row % "null")
    ran = tacit("kb", "import", "t.jsonl", "--out", "t.kb")
    assert (ran.code, "line 202" in ran.err) == (0, True)


def test_the_order_of_columns_is_recorded(tacit: Tacit, base: Path) -> None:
    """Else two knowledge bases that say opposite things would be told alike."""
    command = ("kb", "import", "triples.tsv", "--columns", "relation,tail,head", "--out", "back.kb")
    assert tacit(*command).code == 0
    sources = [
        json.loads(tacit("kb", "info", kb, "--json").out)["sources"] for kb in (base, "back.kb")
    ]
    assert [of[0]["columns"][1] for of in sources] == ["head", "tail"]


def test_a_damaged_knowledge_base_is_told(tacit: Tacit, base: Path) -> None:
    """In one line, whether it can be opened or not."""
    whole = base.read_bytes()
    for share in (0.3, 0.6, 0.9):
        base.write_bytes(whole[: int(len(whole) * share)])
        ran = tacit("kb", "facts", base, "A dog and a kennel")
        assert ran.code == 2
        assert ran.err.count("\n") == 1
