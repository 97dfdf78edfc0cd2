from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

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


def test_import_tells_what_was_made(tacit: Tacit, base: Path) -> None:
    """Counts, the source with its SHA-256, and each relation's edges."""
    about = json.loads(tacit("kb", "info", base, "--json").out)
    assert (about["edges"], about["facts"], about["concepts"]) == (6, 6, 7)
    assert about["relations"]["IsA"] == 2
    assert len(about["sources"][0]["sha256"]) == 64
    assert "licence: not given" in tacit("kb", "info", base).out


def test_version_and_licence_are_recorded(tacit: Tacit, base: Path) -> None:
    """As they are given on the command line."""
    ran = tacit(
        *("kb", "import", base.with_name("triples.tsv"), "--out", "other.kb", "--json"),
        *("--licence", "CC0", "--source-version", "7"),
    )
    about = json.loads(ran.out)
    assert (about["licence"], about["version"]) == ("CC0", "7")


def test_facts_are_shown_with_their_negatives(tacit: Tacit, base: Path) -> None:
    """A table for people: concepts, then head, relation, tail and negative."""
    ran = tacit("kb", "facts", base, "Where does a dog sleep?", "kennel", "tree")
    lines = ran.out.splitlines()
    assert lines[0] == "concepts: dog, kennel, sleep"
    assert lines[2].split() == ["head", "relation", "tail", "negative"]
    assert [line.split()[:3] for line in lines[3:]] == [
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


def test_words_that_the_lexicon_does_not_list_are_found(tacit: Tacit, base: Path) -> None:
    """A fridge is a concept of the question as much as milk."""
    lines = "AtLocation\tfridge\thome\nAtLocation\tmilk\tfridge\nIsA\thome\tplace\n"
    base.with_name("home.tsv").write_text(lines, encoding="utf-8")
    assert tacit("kb", "import", "home.tsv", "--out", "home.kb").code == 0
    asked = ("Where would you put milk at home?", "fridge", "bookcase")
    found = json.loads(tacit("kb", "facts", "home.kb", *asked, "--json").out)
    assert found["concepts"] == ["fridge", "home", "milk"]
    assert [(fact["head"], fact["tail"]) for fact in found["facts"]] == [
        ("fridge", "home"),
        ("milk", "fridge"),
    ]


def test_parts_and_verbatim_concepts_are_options(tacit: Tacit, base: Path) -> None:
    """Which concepts a question has depends on both."""
    lines = "UsedFor\thave fun\tguide dog\nIsA\tguide dog\tanimal\n"
    base.with_name("fun.tsv").write_text(lines, encoding="utf-8")
    assert tacit("kb", "import", "fun.tsv", "--out", "fun.kb").code == 0

    def concepts(*options: str) -> list[str]:
        asked = ("kb", "facts", "fun.kb", "How does a guide have fun?", "a dog", "a cat", "--json")
        found: list[str] = json.loads(tacit(*asked, *options).out)["concepts"]
        return found

    assert concepts() == ["have fun"]
    assert concepts("--verbatim", "off") == []
    assert concepts("--parts", "pooled") == ["guide dog", "have fun"]


def test_whether_the_frequency_cap_bites_is_reported(tacit: Tacit, base: Path) -> None:
    """By import and info of the default cap, and by background of the cap it used."""
    words = "7 words can replace the second concept of a fact to make a negative; {}"
    ran = tacit("kb", "import", "triples.tsv", "--out", "again.kb")
    assert words.format("all of them are used, because the limit is 10,000 words") in ran.out
    about = json.loads(tacit("kb", "info", base, "--json").out)
    names = ("eligible_negatives", "frequency_cap", "negatives_beyond_cap")
    assert [about[name] for name in names] == [7, 10_000, 0]
    command = ("kb", "background", base, "--questions", "questions.csv", "--out", "b.tsv")
    told = words.format("only the 4 most frequent of them are used, which excludes 3")
    assert told in tacit(*command, "--frequent", 4).out
    summary = json.loads(tacit(*command, "--frequent", 4, "--json").out)
    assert [summary[name] for name in names] == [7, 4, 3]
    assert (summary["extraction"]["parts"], summary["extraction"]["verbatim"]) == ("separate", "on")


def test_what_the_cap_cuts_in_a_file_is_reported(tacit: Tacit, base: Path) -> None:
    """How many questions had more facts, and how many facts are left out."""
    command = ("kb", "background", base, "--questions", "questions.csv", "--out", "b.tsv")
    told = tacit(*command, "--cap", 1).out
    assert "Questions with more facts than the cap of 1: 1; facts left out: 1 (" in told
    assert "than the cap" not in tacit(*command).out


def test_a_question_without_facts_says_so(tacit: Tacit, base: Path) -> None:
    """And one without concepts too."""
    assert "facts: none" in tacit("kb", "facts", base, "A dog").out
    assert "concepts: none" in tacit("kb", "facts", base, "Why?").out


def test_background_of_a_file(tacit: Tacit, base: Path) -> None:
    """Every question's facts under its own number, and a summary with the distribution."""
    ran = tacit(
        *("kb", "background", base, "--questions", "questions.csv"), "--out", "b.parquet", "--json"
    )
    summary = json.loads(ran.out)
    assert (summary["questions"], summary["with_facts"], summary["without_facts"]) == (3, 1, 2)
    assert summary["per_question"]["median"] in {1, 2}
    assert summary["relations"] == {"AtLocation": 1, "UsedFor": 1}
    facts = pl.read_parquet("b.parquet")
    assert facts.columns == [
        *("question", "head", "relation", "tail", "negative", "length", "weight")
    ]
    assert facts["question"].to_list() == ["1", "1"]


def test_background_is_the_same_each_time(tacit: Tacit, base: Path) -> None:
    """The files are equal to the byte; another seed draws other negatives."""
    command = ("kb", "background", base, "--questions", "questions.csv", "--length", 2, "--out")
    for name in ("a.parquet", "b.parquet"):
        assert tacit(*command, name).code == 0
    one, other = (base.with_name(name).read_bytes() for name in ("a.parquet", "b.parquet"))
    assert one == other


def test_a_gzipped_dump_cut_short_leaves_nothing(tacit: Tacit, base: Path) -> None:
    """One line of error, exit code 2, no file."""
    packed = gzip.compress((TRIPLES * 5000).encode())
    base.with_name("cut.gz").write_bytes(packed[: len(packed) // 2])
    ran = tacit("kb", "import", "cut.gz", "--out", "cut.kb")
    assert ran.code == 2
    assert "cut.gz: is truncated or damaged" in ran.err
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
        (("import", "questions.csv", "--out", "x.kb"), "is not a dump"),
        (("import", "triples.tsv", "--out", "triples.tsv"), "is an input file"),
        (("import", "triples.tsv", "--out", "."), "is a folder"),
        (
            ("import", "triples.tsv", "--out", "x.kb", "--columns", "head,tail"),
            "are invalid; expected relation",
        ),
        (("info", "nothing.kb"), "there is no such file"),
        (("info", "questions.csv"), "is not a knowledge base"),
        (("facts", "small.kb", ""), "is empty"),
        (("facts", "small.kb", "What?", "one"), "requires at least two"),
        (("facts", "small.kb", "What?", "one", " "), "is empty"),
        (("facts", "small.kb", "A dog", "--relations", "Loves"), "has no relation Loves"),
        (("facts", "small.kb", "A dog", "--length", "4"), "invalid length 4"),
        (("facts", "small.kb", "A dog", "--cap", "-1"), "invalid cap of"),
        (
            ("facts", "small.kb", "A dog", "--paper-version", "0"),
            "is not one of",
        ),
        (("facts", "small.kb", "A dog", "--paper-version", "review"), "review requires --tagger"),
        (("facts", "small.kb", "A dog", "--overlap", "half"), "is not one of 'all-words'"),
        (("facts", "small.kb", "A dog", "--parts", "all"), "is not one of 'separate', 'pooled'"),
        (("facts", "small.kb", "A dog", "--verbatim", "no"), "is not one of 'on', 'off'"),
        (
            ("facts", "small.kb", "A dog", "--frequent", "0"),
            "cannot draw negatives from the 0 most frequent words",
        ),
        (("facts", "small.kb", "A dog", "--frequent", "9" * 30), "expected 1 to 1,000,000,000"),
        (("facts", "small.kb", "A dog", "--relations", ","), "--relations is empty; name one"),
        (("import", "triples.tsv", "--out", "small.kb/x.kb"), "cannot be used as a file's path"),
        (("info", "."), "is a folder; expected a file"),
        (
            ("background", "small.kb", "--questions", "birds.csv", "--out", "b.tsv"),
            "no question has a background fact",
        ),
        (("facts", "own.kb", "A fox in a den"), "none of the default relations; name one or more"),
        (
            ("background", "own.kb", "--questions", "birds.csv", "--out", "b.tsv"),
            "none of the default relations; name one or more of these with --relations: Eats",
        ),
        (
            ("import", "named.tsv", "--columns", "relation,head,tail", "--out", "x.kb"),
            "leave out --columns",
        ),
        (("background", "small.kb", "--questions", "q.csv", "--out", "b.tsv"), "no such file"),
        (("background", "small.kb", "--questions", "questions.csv", "--out", "b.x"), "suffix"),
    ],
)
def test_bad_requests(tacit: Tacit, base: Path, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, one line that says what is wrong, and nothing written."""
    base.with_name("birds.csv").write_text(
        "question,choices,answer\nWhich one nests on cliffs?,albatross|whip-poor-will,albatross\n"
    )
    base.with_name("own.tsv").write_text("Eats\tfox\tmouse\n")
    assert tacit("kb", "import", "own.tsv", "--out", "own.kb").code == 0
    base.with_name("named.tsv").write_text("head\trelation\ttail\ndog\tIsA\tpet\n")
    before = sorted(base.parent.rglob("*"))
    ran = tacit("kb", *arguments)
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]
    assert sorted(base.parent.rglob("*")) == before


def test_an_answer_that_is_no_choice_is_told_with_its_line(tacit: Tacit, base: Path) -> None:
    """The line counts the header."""
    bad = QUESTIONS.replace("kennel|tree,kennel", "kennel|tree,house")
    base.with_name("bad.csv").write_text(bad, encoding="utf-8")
    ran = tacit("kb", "background", base, "--questions", "bad.csv", "--out", "b.tsv")
    assert ran.code == 2
    assert "bad.csv, line 2" in ran.err


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
    order = "head, relation, tail" if "head" in text[:6] else "relation"
    assert order in next(line for line in ran.out.splitlines() if line.startswith("from t."))
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
