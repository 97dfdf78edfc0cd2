from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.sources.anchors import Anchor, read_anchors
from tacit.strings import comparable
from tacit.tables import write_table

Layout: TypeAlias = Callable[[Anchor], dict[str, Any]]

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TACIT_TEST_DATA", ROOT / "../shared/data"))
CSQA = DATA / "csqa" / "dev.jsonl"
needs_csqa = pytest.mark.skipif(not CSQA.is_file(), reason="the real questions are not here")

UMBRELLA = Anchor("q1", "Where does a wet umbrella drip?", ("hall", "oven", "cloud"), 0, "umbrella")
KITE = Anchor("q2", "What does a kite pull on?", ("a string", "B", "D", "wind"), 2, "kite")
QUESTIONS = [UMBRELLA, KITE]


def labels(anchor: Anchor) -> list[str]:
    """A label for each choice, from A."""
    return [chr(ord("A") + place) for place in range(len(anchor.choices))]


def key(anchor: Anchor) -> str:
    """The label of the right choice, empty when there is none."""
    return "" if anchor.answer is None else labels(anchor)[anchor.answer]


def hub(anchor: Anchor) -> dict[str, Any]:
    """CommonsenseQA as the Hugging Face hub has it."""
    return {
        "id": anchor.id,
        "question": anchor.question,
        "question_concept": anchor.concept,
        "choices": {"label": labels(anchor), "text": list(anchor.choices)},
        "answerKey": key(anchor),
    }


def release(anchor: Anchor) -> dict[str, Any]:
    """CommonsenseQA as it was first released."""
    pairs = zip(labels(anchor), anchor.choices, strict=True)
    return {
        "answerKey": key(anchor),
        "id": anchor.id,
        "question": {
            "question_concept": anchor.concept,
            "choices": [{"label": label, "text": text} for label, text in pairs],
            "stem": anchor.question,
        },
    }


def stemmed(anchor: Anchor) -> dict[str, Any]:
    """OpenBookQA as the hub has it, here with a concept and pairs of label and text."""
    first = release(anchor)
    return {
        "id": anchor.id,
        "question_stem": anchor.question,
        "question_concept": anchor.concept,
        "choices": first["question"]["choices"],
        "answerKey": key(anchor),
    }


def table(anchor: Anchor) -> dict[str, Any]:
    """A table with lists, the answer as its text."""
    return {
        "id": anchor.id,
        "question": anchor.question,
        "choices": list(anchor.choices),
        "answer": None if anchor.answer is None else anchor.choices[anchor.answer],
        "concept": anchor.concept,
    }


def counted(anchor: Anchor) -> dict[str, Any]:
    """A table with lists, the answer as its place."""
    return {**table(anchor), "answer": anchor.answer}


def flat(anchor: Anchor) -> dict[str, Any]:
    """A table without lists: choices as JSON."""
    return {**table(anchor), "choices": json.dumps(anchor.choices)}


def piped(anchor: Anchor) -> dict[str, Any]:
    """A table without lists: choices with | between them."""
    return {**table(anchor), "choices": " | ".join(anchor.choices)}


LISTED: list[Layout] = [hub, release, stemmed, table, counted]
FLAT: list[Layout] = [flat, piped]
FILES = [
    *((layout, suffix) for layout in LISTED for suffix in (".jsonl", ".parquet")),
    *((layout, suffix) for layout in FLAT for suffix in (".csv", ".tsv", ".jsonl", ".parquet")),
]


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Writes rows as they are, JSONL with Python's own writer."""
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        write_table(pl.DataFrame(rows), path)
    return path


def write(folder: Path, text: str, name: str = "q.jsonl") -> Path:
    """Writes a file as it stands."""
    path = folder / name
    path.write_bytes(text.encode())
    return path


def read_one(folder: Path, **cells: object) -> Anchor:
    """The anchor of a JSONL table with one row."""
    row = {"question": "Why?", "choices": ["a", "b", "c"], "answer": None, **cells}
    [anchor] = read_anchors(write_rows(folder / "one.jsonl", [row]))
    return anchor


def problem_of(path: Path) -> str:
    """What reading a file complains of, its path left out."""
    with pytest.raises(DataError) as caught:
        read_anchors(path)
    assert caught.value.path == path
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize(("layout", "suffix"), FILES)
def test_every_layout_gives_the_same_questions(tmp_path: Path, layout: Layout, suffix: str) -> None:
    """Layouts and formats are told apart by content, and the same questions come out of each."""
    rows = [layout(anchor) for anchor in QUESTIONS]
    assert read_anchors(write_rows(tmp_path / f"q{suffix}", rows)) == QUESTIONS


TEXTS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1)
    .map(str.strip)
    .filter(comparable)
)
ANCHORS = st.lists(TEXTS, min_size=2, max_size=26, unique_by=comparable).flatmap(
    lambda choices: st.builds(
        Anchor,
        TEXTS,
        TEXTS,
        st.just(tuple(choices)),
        st.none() | st.integers(0, len(choices) - 1),
        st.none() | TEXTS,
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(ANCHORS, min_size=1, max_size=3, unique_by=lambda anchor: comparable(anchor.id)),
    st.sampled_from(
        [(layout, suffix) for layout, suffix in FILES if layout not in {piped, counted}]
    ),
)
def test_any_text_survives_any_layout(
    tmp_path: Path, anchors: list[Anchor], file: tuple[Layout, str]
) -> None:
    """Whatever letters a question and its choices have, they come back, with the right answer."""
    layout, suffix = file
    rows = [layout(anchor) for anchor in anchors]
    assert read_anchors(write_rows(tmp_path / f"q{suffix}", rows)) == anchors


def test_arc_labels_may_be_numbers(tmp_path: Path) -> None:
    """An answerKey of "2" is the label 2, not a place, and unknown columns are passed over."""
    row = hub(UMBRELLA) | {"answerKey": "2", "grade": 4}
    row["choices"]["label"] = ["1", "2", "3"]
    [anchor] = read_anchors(write_rows(tmp_path / "arc.jsonl", [row]))
    assert (anchor.choices[1], anchor.answer) == ("oven", 1)


def test_a_label_is_a_label_though_it_is_a_choice_too(tmp_path: Path) -> None:
    """Where choices have labels the key is one of them, whatever the choices say."""
    row = hub(KITE) | {"answerKey": "B"}
    [anchor] = read_anchors(write_rows(tmp_path / "q.jsonl", [row]))
    assert anchor.answer == 1
    row = hub(KITE) | {"answerKey": "D"}
    [anchor] = read_anchors(write_rows(tmp_path / "q.jsonl", [row]))
    assert anchor.choices[anchor.answer or 0] == "wind"


@pytest.mark.parametrize("layout", [hub, release, stemmed])
def test_an_answer_key_that_is_not_there_is_unknown(tmp_path: Path, layout: Layout) -> None:
    """An absent, empty or null answerKey leaves the answer unknown, as in a test split."""
    absent = layout(UMBRELLA)
    del absent["answerKey"]
    rows = [absent, layout(KITE) | {"answerKey": ""}, layout(KITE) | {"answerKey": None, "id": "3"}]
    anchors = read_anchors(write_rows(tmp_path / "q.jsonl", rows))
    assert [anchor.answer for anchor in anchors] == [None, None, None]


def test_a_labelled_choice_listed_twice_is_kept_once(tmp_path: Path) -> None:
    """The answer stays the same text, and the repeats are counted."""
    row = hub(UMBRELLA)
    row["choices"] = {"label": list("ABCDE"), "text": ["x", "y", "x ", "z", "x"]}
    for letter, right in zip("ABCDE", ["x", "y", "x", "z", "x"], strict=True):
        [anchor] = read_anchors(write_rows(tmp_path / "q.jsonl", [row | {"answerKey": letter}]))
        assert anchor.answer is not None
        assert (anchor.choices, anchor.repeated) == (("x", "y", "z"), 2)
        assert anchor.choices[anchor.answer] == right


@pytest.mark.parametrize(
    ("choices", "answer", "place"),
    [
        (["a", "b", "c"], "b", 1),
        (["a", "b", "c"], " c ", 2),
        (["a", "b", "c"], "C", 2),
        (["a", "b", "c"], 0, 0),
        (["a", "b", "c"], None, None),
        (["a", "b", "c"], " ", None),
        (["C", "b", "c"], "C", 0),
        (["1", "2"], "1", 0),
        (["0", "1"], 1, 1),
        (["2", "3"], 0, 0),
        ("a | b|c ", "c", 2),
        (' ["a|b", "c"]', "a|b", 0),
    ],
)
def test_an_answer_is_a_number_or_a_text_or_a_letter(
    tmp_path: Path, choices: object, answer: object, place: int | None
) -> None:
    """A whole number counts from 0; a text is the choice it names, else a capital letter."""
    assert read_one(tmp_path, choices=choices, answer=answer).answer == place


def test_spaces_around_texts_are_dropped(tmp_path: Path) -> None:
    """Ends are stripped everywhere; spaces within, and case, stay."""
    anchor = read_one(
        tmp_path, id=" 7 ", question=" Why  so? ", choices=[" A  b", "a  b "], concept=" x "
    )
    assert anchor == Anchor("7", "Why  so?", ("A  b", "a  b"), None, "x")


def test_rows_without_an_id_are_numbered(tmp_path: Path) -> None:
    """The number of a row is its id, blank lines not counted; a whole number is an id as well."""
    text = "question,choices,answer\nWhy?,a|b,a\n\nHow?,a|b,b\n"
    assert [anchor.id for anchor in read_anchors(write(tmp_path, text, "q.csv"))] == ["1", "2"]
    assert read_one(tmp_path, id=12).id == "12"
    assert read_one(tmp_path, id=None).id == "1"
    assert read_one(tmp_path, concept="").concept is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_the_columns_of_piqa_are_read(tmp_path: Path, suffix: str) -> None:
    """Goal and solutions are question and choices; -1 or no label leaves the answer unknown."""
    rows = [
        {"goal": "Dry it.", "sol1": "Hang it up.", "sol2": "Roll it up.", "label": label}
        for label in (0, 1, -1, None)
    ]
    anchors = read_anchors(write_rows(tmp_path / f"piqa{suffix}", rows))
    assert [anchor.answer for anchor in anchors] == [0, 1, None, None]
    assert anchors[3] == Anchor("4", "Dry it.", ("Hang it up.", "Roll it up."), None)
    unlabelled = [{name: row[name] for name in ("goal", "sol1", "sol2")} for row in rows]
    assert read_anchors(write_rows(tmp_path / f"p{suffix}", unlabelled))[0].answer is None


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"question": " "}, "has an empty question"),
        ({"question": None}, "has an empty question"),
        ({"question": 3}, "has 3 as its question; expected text"),
        ({"choices": None}, "has no choices"),
        ({"choices": 3}, "has 3 as its choices; expected a list of texts"),
        ({"choices": []}, "has an empty list of choices; expected 2 or more"),
        ({"choices": ["a"]}, "has only the choice 'a'; expected 2 or more"),
        ({"choices": "hall, oven"}, "has only the choice 'hall, oven'"),
        ({"choices": ["a", " "]}, "has an empty choice 2"),
        ({"choices": "a||b"}, "has an empty choice 2"),
        ({"choices": ["a", None]}, "has an empty choice 2"),
        ({"choices": ["a", 2]}, "has 2 as its choice 2; expected text"),
        ({"choices": ["a", "b", "a "]}, "has the choice 'a' 2 times"),
        ({"choices": "['a', 'b']"}, """has "['a', 'b']" as its choices, a list or record that"""),
        ({"choices": "[" * 100_000}, "has only the choice '[[["),
        ({"choices": '["a", "\\ud800"]'}, "has an unpaired surrogate in its choice 2"),
        (
            {"answer": "d"},
            "has the answer 'd', which is not among its choices: A 'a', B 'b', C 'c'",
        ),
        ({"answer": "D"}, "has the answer 'D', which is not among its choices"),
        ({"answer": "AB"}, "has the answer 'AB', which is not among its choices"),
        (
            {"answer": "1"},
            "has the answer '1', which is not among its choices: A 'a', B 'b', C 'c'.",
        ),
        ({"answer": 3}, "has the answer 3; expected an index from 0 to 2"),
        ({"answer": -1}, "has the answer -1; expected an index from 0 to 2"),
        ({"answer": 1.0}, "has the answer 1.0; expected a choice's text, its letter, or"),
        ({"answer": True}, "has the answer True; expected a choice's text, its letter, or"),
        (
            {"answer": 1, "choices": ["1", "2"]},
            "has the ambiguous answer 1: it may be the choice '1', or the index of '2'",
        ),
        ({"id": 1.5}, "has 1.5 as its id; expected text"),
        ({"id": True}, "has True as its id; expected text"),
        ({"concept": ["a"]}, "has ['a'] as its concept; expected text"),
    ],
)
def test_a_malformed_row_is_named_by_line(
    tmp_path: Path, cells: dict[str, object], problem: str
) -> None:
    """What is wrong with a row is told with its file and line, blank lines counted."""
    good = table(UMBRELLA)
    row = {"question": "Why?", "choices": ["a", "b", "c"], "answer": None, **cells}
    path = write(tmp_path, f"{json.dumps(good)}\n\n{json.dumps(row)}\n")
    assert problem_of(path).startswith(f", line 3: {problem}")


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"answerKey": "F"}, "has the answer 'F', which is not among its choices: A 'x', B 'y'"),
        ({"answerKey": "x"}, "has the answer 'x', which is not among its choices: A 'x', B 'y'"),
        ({"answerKey": 0}, "has 0 as its answerKey; expected text"),
        ({"choices": {"label": ["A"], "text": ["x", "y"]}}, "needs one label and one text"),
        ({"choices": {"text": ["x", "y"]}}, "needs one label and one text for each choice"),
        ({"choices": [{"label": "A", "text": "x"}, "y"]}, "needs one label and one text"),
        ({"choices": {"label": ["A", "A"], "text": ["x", "y"]}}, "has the labels ['A', 'A']"),
        ({"choices": {"label": ["A", ""], "text": ["x", "y"]}}, "has the labels ['A', '']"),
        ({"choices": {"label": ["A", 1], "text": ["x", "y"]}}, "has 1 as its label of a choice"),
        ({"choices": {"label": ["A", "B"], "text": ["x", ""]}}, "has an empty choice 2"),
        ({"choices": [{"label": "A", "text": "x"}, {"label": "B"}]}, "has an empty choice 2"),
        ({"choices": {"label": ["A", "B"], "text": ["x", "x"]}}, "has only the choice 'x'"),
        ({"choices": {"label": [], "text": []}}, "has an empty list of choices"),
        ({"question": {"choices": {"label": ["A", "B"], "text": ["x", "y"]}}}, "has an empty que"),
        ({"question_concept": 4}, "has 4 as its concept; expected text"),
    ],
)
def test_a_malformed_labelled_row_is_named_by_line(
    tmp_path: Path, cells: dict[str, object], problem: str
) -> None:
    """Labels that do not fit the choices, or a key that is no label, are errors with their line."""
    pair = {"label": ["A", "B"], "text": ["x", "y"]}
    row = {"question": "Why?", "choices": pair, "answerKey": "A", **cells}
    path = write(tmp_path, f"{json.dumps(hub(UMBRELLA))}\n{json.dumps(row)}\n")
    assert problem_of(path).startswith(f", line 2: {problem}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Dry it.,a,b,2", "has the label '2'; expected 0 for sol1, 1 for sol2, or an empty label"),
        ("Dry it.,a,b,A", "has the label 'A'; expected 0 for sol1"),
        ("Dry it.,a,,0", "has an empty choice 2"),
        ("Dry it.,a,a,0", "has the choice 'a' 2 times"),
        (",a,b,0", "has an empty question"),
    ],
)
def test_a_malformed_row_of_piqa_is_named_by_line(tmp_path: Path, row: str, problem: str) -> None:
    """A label that is neither 0 nor 1 and solutions that do not differ are errors."""
    path = write(tmp_path, f"goal,sol1,sol2,label\n{row}\n", "piqa.csv")
    assert problem_of(path).startswith(f", line 2: {problem}")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("q.csv", "question,choices\nWhy?,a|b\n", ", line 1: has no answer; found question, cho"),
        ("q.tsv", "q\ta\nWhy?\tb\n", ", line 1: has no question, choices; found q, a. Known"),
        ("q.csv", "goal,sol1,label\nDry it.,a,0\n", ", line 1: has no question, choices; found"),
        ("q.jsonl", '\n{"question": "Why?"}\n', ", line 2: has no choices; found question. Known"),
        ("q.jsonl", '{"question": {"stem": "Why?"}}\n', ", line 1: has no choices; found question"),
        ("q.jsonl", '{"question": "Why?", "choices": ["a", "b"]}', ", line 1: has no answer; f"),
        ("q.jsonl", "{}\n", ", line 1: has no question, choices; found nothing. Known layouts: q"),
        ("q.jsonl", '{"question": "Why?"\n', ", line 1: is not JSON"),
        (
            "q.jsonl",
            "",
            ": contains no questions; expected one row per question. Known layouts: question",
        ),
        ("q.csv", "", ": is empty; expected a header line"),
        ("q.csv", "question,choices,answer\n", ": contains no questions"),
        ("q.parquet", "no such thing", ": cannot be read as Parquet"),
        (
            "q.json",
            "[]",
            ": has the unsupported suffix '.json'; expected one of .tsv, .csv, .jsonl",
        ),
    ],
)
def test_a_file_without_a_known_layout_is_an_error(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    """Columns that are not there, malformed files and files without a row are errors."""
    assert problem_of(write(tmp_path, text, name)).startswith(problem)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_nothing_to_read_is_an_error(tmp_path: Path, suffix: str) -> None:
    """A path with nothing there, or with a folder there, is no file."""
    (tmp_path / f"folder{suffix}").mkdir()
    for name, expected in (("missing", "there is no such file"), ("folder", "is a folder")):
        problem = problem_of(tmp_path / f"{name}{suffix}")
        assert problem.startswith(f": {expected}; expected")


@pytest.mark.parametrize(("suffix", "line"), [(".csv", 3), (".jsonl", 2), (".parquet", 2)])
def test_an_id_twice_is_an_error(tmp_path: Path, suffix: str, line: int) -> None:
    """The second row with an id is refused, and the first is named; in Parquet rows are counted."""
    path = write_rows(tmp_path / f"q{suffix}", [flat(UMBRELLA), flat(UMBRELLA)])
    assert problem_of(path).startswith(f", line {line}: has the same id 'q1' as line {line - 1}; ")


def test_a_row_number_does_not_stand_in_for_an_id_that_is_taken(tmp_path: Path) -> None:
    """A row without an id is refused when its number is another row's id."""
    text = "id,question,choices,answer\n2,Why?,a|b,a\n,How?,a|b,a\n"
    path = write(tmp_path, text, "q.csv")
    assert problem_of(path).startswith(", line 3: has the same id '2' as line 2; ")


@pytest.mark.parametrize(
    ("number", "kind", "block"),
    [
        (number, *found)
        for number, found in enumerate(
            re.findall(
                r"^```(jsonl|csv)\n(.*?)^```$",
                (ROOT / "docs/reference/questions.md").read_text(encoding="utf-8"),
                re.DOTALL | re.MULTILINE,
            )
        )
    ],
)
def test_the_examples_of_the_reference_are_read(
    tmp_path: Path, number: int, kind: str, block: str
) -> None:
    """Every file shown in the documentation is read; all but PIQA's give the same question."""
    [anchor] = read_anchors(write(tmp_path, block, f"{number}.{kind}"))
    assert anchor.answer == 0
    assert anchor == UMBRELLA or block.startswith("goal,")


@needs_csqa
def test_the_real_questions_are_read() -> None:
    """1,221 questions about 785 concepts, with the first and the last as the file has them."""
    anchors = read_anchors(CSQA)
    assert len(anchors) == 1221
    assert len({anchor.concept for anchor in anchors}) == 785
    assert anchors[0] == Anchor(
        "1afa02df02c908a558b4036e80242fac",
        "A revolving door is convenient for two direction travel, but it also serves as a "
        "security measure at a what?",
        ("bank", "library", "department store", "mall", "new york"),
        0,
        "revolving door",
    )
    last = anchors[-1]
    assert (last.id, last.concept) == ("5af7c7860e3be61d4cfd814cc109f9d9", "disk")
    assert last.choices[last.answer or 0] == "computer hard drive"


@needs_csqa
def test_the_real_answers_are_those_that_their_keys_name() -> None:
    """Every key's text is the answer; 24 questions list one of their five choices twice."""
    rows = [json.loads(line) for line in CSQA.read_text(encoding="utf-8").splitlines()]
    anchors = read_anchors(CSQA)
    for row, anchor in zip(rows, anchors, strict=True):
        texts = dict(zip(row["choices"]["label"], row["choices"]["text"], strict=True))
        assert anchor.answer is not None
        assert anchor.choices[anchor.answer] == texts[row["answerKey"]]
        assert set(anchor.choices) == set(texts.values())
        assert len(anchor.choices) + anchor.repeated == 5
        assert len(set(anchor.choices)) == len(anchor.choices)
    assert sorted({anchor.repeated for anchor in anchors}) == [0, 1]
    assert sum(anchor.repeated for anchor in anchors) == 24


NESTED = {"label": ["A", "B"], "text": ["kennel", "oven"]}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
@pytest.mark.parametrize(
    "choices",
    [NESTED, [{"label": "A", "text": "kennel"}, {"label": "B", "text": "oven"}]],
    ids=["columns", "objects"],
)
def test_nested_choices_may_be_json_text(tmp_path: Path, suffix: str, choices: object) -> None:
    """In a column of their own, or within the question as in the first releases."""
    path = tmp_path / f"q{suffix}"
    row = {"id": "q1", "question": "Where does a dog sleep?", "answerKey": "B"}
    write_table(pl.DataFrame([{**row, "choices": json.dumps(choices)}]), path)
    [flat] = read_anchors(path)
    assert (flat.choices, flat.answer) == (("kennel", "oven"), 1)
    within = {"stem": row["question"], "choices": choices}
    write_table(pl.DataFrame([{**row, "question": json.dumps(within)}]), path)
    assert read_anchors(path) == [flat]


@pytest.mark.parametrize(
    "choices",
    [
        "{'label': array(['A', 'B'], dtype=object), 'text': array(['a', 'b'], dtype=object)}",
        "[{'label': 'A', 'text': 'kennel'}, {'label': 'B', 'text': 'oven'}]",
        "['kennel' 'oven']",
        "array(['kennel', 'oven'], dtype=object)",
        "['kennel | hut', 'oven']",
    ],
)
def test_nested_choices_as_python_writes_them_are_refused(tmp_path: Path, choices: str) -> None:
    """As pandas writes lists and arrays to CSV; the error says what to write."""
    path = tmp_path / "q.csv"
    row = {"question": "Where does a dog sleep?", "choices": choices, "answerKey": "A"}
    write_table(pl.DataFrame([row]), path)
    with pytest.raises(DataError, match=r"line 2: .* not JSON .* use JSONL or Parquet"):
        read_anchors(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("name", ["answer", "answerKey\u200b", "answerKey "])
def test_no_answer_to_labelled_choices_is_lost(tmp_path: Path, suffix: str, name: str) -> None:
    """An answer in another column is an error; the name of a column may differ invisibly."""
    path = tmp_path / f"q{suffix}"
    row = {"question": "Where?", "choices": json.dumps(NESTED), name: "B"}
    write_table(pl.DataFrame([row]), path)
    if name == "answer":
        with pytest.raises(DataError, match="line 1: has no answerKey"):
            read_anchors(path)
    else:
        assert [anchor.answer for anchor in read_anchors(path)] == [1]


@pytest.mark.parametrize(
    "cell", ['["x"] | ["y"]', "[ 'tis | y]", "array(1) | b", "{'a'} | {'b'}", "['a' | b"]
)
def test_choices_that_only_begin_like_lists_are_texts(tmp_path: Path, cell: str) -> None:
    """So are questions."""
    path = tmp_path / "q.csv"
    row = {"question": '["stem"] what is a stem?', "choices": cell, "answer": "B"}
    write_table(pl.DataFrame([row]), path)
    [anchor] = read_anchors(path)
    assert (anchor.question, list(anchor.choices)) == (
        row["question"],
        [choice.strip() for choice in cell.split("|")],
    )


@pytest.mark.parametrize("cell", ["[HH] | [Hh] | [hh]", "{a} | [Hh] | [hh]", "[1] | [2] | [hh]"])
def test_choices_may_begin_with_brackets(tmp_path: Path, cell: str) -> None:
    """Genotypes and sets are no lists."""
    path = tmp_path / "q.csv"
    row = {"question": "Which genotype has the calf?", "choices": cell, "answer": "[hh]"}
    write_table(pl.DataFrame([row]), path)
    [anchor] = read_anchors(path)
    assert (anchor.choices, anchor.answer) == (tuple(cell.split(" | ")), 2)
