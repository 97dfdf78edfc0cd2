import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.sources.questions import Anchor, read_anchors
from tacit.strings import comparable
from tacit.tables import write_table
from tests.fetched_data import CSQA, needs_csqa

Layout: TypeAlias = Callable[[Anchor], dict[str, Any]]

ROOT = Path(__file__).parents[2]

UMBRELLA = Anchor("q1", "Where does a wet umbrella drip?", ("hall", "oven", "cloud"), 0, "umbrella")
KITE = Anchor("q2", "What does a kite pull on?", ("a string", "B", "D", "wind"), 2, "kite")
QUESTIONS = [UMBRELLA, KITE]


def labels(anchor: Anchor) -> list[str]:
    return [chr(ord("A") + index) for index in range(len(anchor.choices))]


def key(anchor: Anchor) -> str:
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
    return {
        "id": anchor.id,
        "question_stem": anchor.question,
        "question_concept": anchor.concept,
        "choices": release(anchor)["question"]["choices"],
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
    """A table with lists, the answer as an index."""
    return table(anchor) | {"answer": anchor.answer}


def json_text(anchor: Anchor) -> dict[str, Any]:
    """A table without lists: choices as JSON."""
    return table(anchor) | {"choices": json.dumps(anchor.choices)}


def piped(anchor: Anchor) -> dict[str, Any]:
    """A table without lists: choices with | between them."""
    return table(anchor) | {"choices": " | ".join(anchor.choices)}


def nested_choices(anchor: Anchor) -> dict[str, Any]:
    """A table without records: choices with labels, as JSON."""
    row = hub(anchor)
    return row | {"choices": json.dumps(row["choices"])}


def nested_question(anchor: Anchor) -> dict[str, Any]:
    """A table without records: the question with its choices, as JSON."""
    row = release(anchor)
    return row | {"question": json.dumps(row["question"])}


LISTED: list[Layout] = [hub, release, stemmed, table, counted]
FLAT: list[Layout] = [json_text, piped, nested_choices, nested_question]
FILES = [
    *((layout, suffix) for layout in LISTED for suffix in (".jsonl", ".parquet")),
    *((layout, suffix) for layout in FLAT for suffix in (".csv", ".tsv", ".jsonl", ".parquet")),
]


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        write_table(pl.DataFrame(rows), path)
    return path


def write(folder: Path, text: str, name: str = "q.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def read_one(folder: Path, suffix: str = ".jsonl", **cells: object) -> Anchor:
    row = {"question": "Why?", "choices": ["a", "b", "c"], "answer": None, **cells}
    [anchor] = read_anchors(write_rows(folder / f"one{suffix}", row))
    return anchor


def problem_of(path: Path) -> str:
    """What reading a file complains of, its path left out."""
    with pytest.raises(DataError) as caught:
        read_anchors(path)
    assert caught.value.path == path
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize(("layout", "suffix"), FILES)
def test_every_layout_gives_the_same_questions(tmp_path: Path, layout: Layout, suffix: str) -> None:
    path = write_rows(tmp_path / f"q{suffix}", *map(layout, QUESTIONS))
    assert read_anchors(path) == QUESTIONS


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(ANCHORS, min_size=1, max_size=3, unique_by=lambda anchor: comparable(anchor.id)),
    st.sampled_from(
        [(layout, suffix) for layout, suffix in FILES if layout not in {piped, counted}]
    ),
)
def test_any_text_survives_any_layout(
    tmp_path: Path, anchors: list[Anchor], file: tuple[Layout, str]
) -> None:
    layout, suffix = file
    assert read_anchors(write_rows(tmp_path / f"q{suffix}", *map(layout, anchors))) == anchors


@pytest.mark.parametrize(("answer", "right"), [("B", "B"), ("D", "wind")])
def test_a_label_is_a_label_though_it_is_a_choice_too(
    tmp_path: Path, answer: str, right: str
) -> None:
    """Where choices have labels the key is one of them, whatever the choices say."""
    [anchor] = read_anchors(write_rows(tmp_path / "q.jsonl", hub(KITE) | {"answerKey": answer}))
    assert anchor.choices[anchor.answer or 0] == right


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    """In ARC an answerKey of "2" is the label 2, not an index, and unknown columns are ignored."""
    row = hub(UMBRELLA) | {"answerKey": "2", "grade": 4}
    row["choices"]["label"] = ["1", "2", "3"]
    assert read_anchors(write_rows(tmp_path / "arc.jsonl", row))[0].answer == 1


@pytest.mark.parametrize("layout", [hub, release, stemmed])
def test_an_answer_key_that_is_not_there_is_unknown(tmp_path: Path, layout: Layout) -> None:
    """An absent, empty or null answerKey leaves the answer unknown, as in a test split."""
    absent = layout(UMBRELLA)
    del absent["answerKey"]
    rows = [absent, layout(KITE) | {"answerKey": ""}, layout(KITE) | {"answerKey": None, "id": "3"}]
    anchors = read_anchors(write_rows(tmp_path / "q.jsonl", *rows))
    assert [anchor.answer for anchor in anchors] == [None, None, None]


@pytest.mark.parametrize(("letter", "answer"), list(zip("ABCDE", (0, 1, 0, 2, 0), strict=True)))
def test_a_labelled_choice_listed_twice_is_kept_once(
    tmp_path: Path, letter: str, answer: int
) -> None:
    """The answer stays the same text, and the repeats are counted."""
    choices = {"label": list("ABCDE"), "text": ["x", "y", "x ", "z", "x"]}
    row = hub(UMBRELLA) | {"choices": choices, "answerKey": letter}
    [anchor] = read_anchors(write_rows(tmp_path / "q.jsonl", row))
    assert (anchor.choices, anchor.answer, anchor.repeated) == (("x", "y", "z"), answer, 2)


@pytest.mark.parametrize(
    ("choices", "answer", "index"),
    [
        (["a", "b", "c"], " c ", 2),
        (["a", "b", "c"], "C", 2),
        (["a", "b", "c"], 0, 0),
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
    tmp_path: Path, choices: object, answer: object, index: int | None
) -> None:
    """A whole number counts from 0; a text is the choice it names, else a capital letter."""
    assert read_one(tmp_path, choices=choices, answer=answer).answer == index


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
    assert read_one(tmp_path, id=None, concept="").concept is None


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_columns_of_piqa_are_read(tmp_path: Path, suffix: str) -> None:
    """Goal and solutions are question and choices; -1 or no label leaves the answer unknown."""
    row = {"goal": "Dry it.", "sol1": "Hang it up.", "sol2": "Roll it up."}
    rows = [{**row, "label": label} for label in (0, 1, -1, None)]
    anchors = read_anchors(write_rows(tmp_path / f"piqa{suffix}", *rows))
    assert [anchor.answer for anchor in anchors] == [0, 1, None, None]
    assert anchors[3] == Anchor("4", "Dry it.", ("Hang it up.", "Roll it up."), None)
    assert read_anchors(write_rows(tmp_path / f"p{suffix}", row))[0].answer is None


ROW = {"question": "Why?", "choices": ["a", "b", "c"], "answer": None}
LABELLED = {"question": "Why?", "choices": {"label": ["A", "B"], "text": ["x", "y"]}}
PIQA = {"goal": "Dry it.", "sol1": "a", "sol2": "b"}


@pytest.mark.parametrize(
    ("row", "cells", "problem"),
    [
        (ROW, {"question": " "}, "has an empty question"),
        (ROW, {"choices": None}, "has no choices"),
        (ROW, {"choices": 3}, "has 3 as its choices; expected a list of texts"),
        (ROW, {"choices": []}, "has an empty list of choices; expected 2 or more"),
        (ROW, {"choices": "hall, oven"}, "has only the choice 'hall, oven'"),
        (ROW, {"choices": ["a", " "]}, "has an empty choice 2"),
        (ROW, {"choices": ["a", 2]}, "has 2 as its choice 2; expected text"),
        (ROW, {"choices": ["a", "b", "a "]}, "has the choice 'a' 2 times"),
        (ROW, {"choices": "[" * 100_000}, "has only the choice '[[["),
        (ROW, {"choices": '["a", "\\ud800"]'}, "has an unpaired surrogate in its choice 2"),
        (ROW, {"answer": "d"}, "has the answer 'd', which is not among its choices: A 'a', B 'b'"),
        (ROW, {"answer": 3}, "has the answer 3; expected an index from 0 to 2"),
        (ROW, {"answer": -1}, "has the answer -1; expected an index from 0 to 2"),
        (ROW, {"answer": True}, "has the answer True; expected a choice's text, its letter, or"),
        (ROW, {"answer": 1, "choices": ["1", "2"]}, "has the ambiguous answer 1: it may be"),
        (ROW, {"id": 1.5}, "has 1.5 as its id; expected text"),
        (ROW, {"concept": ["a"]}, "has ['a'] as its concept; expected text"),
        (LABELLED, {"answerKey": "x"}, "has the answer 'x', which is not among its choices"),
        (LABELLED, {"answerKey": 0}, "has 0 as its answerKey; expected text"),
        (LABELLED, {"choices": {"label": ["A"], "text": ["x", "y"]}}, "needs one label and one"),
        (LABELLED, {"choices": {"label": ["A", "A"], "text": ["x", "y"]}}, "has the labels ['A',"),
        (LABELLED, {"choices": {"label": ["A", 1], "text": ["x", "y"]}}, "has 1 as its label of"),
        (LABELLED, {"choices": {"label": ["A", "B"], "text": ["x", "x"]}}, "has only the choice"),
        (LABELLED, {"question": LABELLED}, "has an empty question"),
        (LABELLED, {"answer": "B"}, "has no answerKey"),
        (PIQA, {"label": 2}, "has the answer '2', which is not among its choices: 0 'a', 1 'b'"),
        ({}, {"question": "Why?"}, "has no choices; found question. Known"),
        ({}, {"question": "Why?", "choices": ["a", "b"]}, "has no answer; found question, choices"),
        ({}, {}, "has no question, choices; found nothing. Known layouts: q"),
    ],
)
def test_a_malformed_row_is_named_by_line(
    tmp_path: Path, row: dict[str, object], cells: dict[str, object], problem: str
) -> None:
    lines = f"{json.dumps(table(UMBRELLA))}\n\n{json.dumps(row | cells)}\n"
    assert problem_of(write(tmp_path, lines)).startswith(f", line 3: {problem}")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("q.csv", "question,choices\nWhy?,a|b\n", ", line 2: has no answer; found question, cho"),
        ("q.jsonl", "", ": contains no questions; expected one row per question. Known layouts"),
    ],
)
def test_a_file_without_a_known_layout_is_an_error(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    assert problem_of(write(tmp_path, text, name)).startswith(problem)


@pytest.mark.parametrize(("suffix", "line"), [(".csv", 3), (".jsonl", 2), (".parquet", 2)])
def test_an_id_twice_is_an_error(tmp_path: Path, suffix: str, line: int) -> None:
    path = write_rows(tmp_path / f"q{suffix}", json_text(UMBRELLA), json_text(UMBRELLA))
    assert problem_of(path).startswith(f", line {line}: has the same id 'q1' as line {line - 1}; ")


def test_a_row_number_does_not_stand_in_for_an_id_that_is_taken(tmp_path: Path) -> None:
    text = "id,question,choices,answer\n2,Why?,a|b,a\n,How?,a|b,a\n"
    path = write(tmp_path, text, "q.csv")
    assert problem_of(path).startswith(", line 3: has the same id '2' as line 2; ")


EXAMPLES: Sequence[tuple[str, str]] = re.findall(
    r"^```(jsonl|csv)\n(.*?)^```$",
    (ROOT / "docs/reference/questions.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize(("kind", "block"), EXAMPLES)
def test_the_examples_of_the_reference_are_read(tmp_path: Path, kind: str, block: str) -> None:
    """Every file shown in the documentation is read; all but PIQA's give the same question."""
    [anchor] = read_anchors(write(tmp_path, block, f"q.{kind}"))
    assert anchor.answer == 0
    assert anchor == UMBRELLA or block.startswith("goal,")


@needs_csqa
def test_the_real_answers_are_those_that_their_keys_name() -> None:
    """1,221 questions about 785 concepts; 24 of them list one of their five choices twice."""
    rows = [json.loads(line) for line in CSQA.read_text(encoding="utf-8").splitlines()]
    anchors = read_anchors(CSQA)
    assert (len(anchors), len({anchor.concept for anchor in anchors})) == (1221, 785)
    for row, anchor in zip(rows, anchors, strict=True):
        texts = dict(zip(row["choices"]["label"], row["choices"]["text"], strict=True))
        assert (anchor.id, anchor.question, anchor.concept) == (
            row["id"],
            row["question"],
            row["question_concept"],
        )
        assert anchor.answer is not None
        assert anchor.choices[anchor.answer] == texts[row["answerKey"]]
        assert set(anchor.choices) == set(texts.values())
        assert len(set(anchor.choices)) == len(anchor.choices) == 5 - anchor.repeated
    assert sum(anchor.repeated for anchor in anchors) == 24


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
    with pytest.raises(DataError, match=r"line 2: .* not JSON .* use JSONL or Parquet"):
        read_one(tmp_path, ".csv", choices=choices)


@pytest.mark.parametrize("name", ["answerKey\u200b", "answerKey "])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_name_of_a_column_may_differ_invisibly(tmp_path: Path, suffix: str, name: str) -> None:
    row = {"question": "Where?", "choices": json.dumps(LABELLED["choices"]), name: "B"}
    assert read_anchors(write_rows(tmp_path / f"q{suffix}", row))[0].answer == 1


@pytest.mark.parametrize(
    "cell",
    [
        '["x"] | ["y"]',
        "[ 'tis | y]",
        "array(1) | b",
        "{'a'} | {'b'}",
        "['a' | b",
        "[HH] | [Hh] | [hh]",
        "{a} | [Hh] | [hh]",
        "[1] | [2] | [hh]",
    ],
)
def test_choices_that_only_begin_like_lists_are_texts(tmp_path: Path, cell: str) -> None:
    """Genotypes and sets are no lists; questions may begin with a bracket too."""
    anchor = read_one(
        tmp_path, ".csv", question='["stem"] what is a stem?', choices=cell, answer="B"
    )
    assert anchor.question == '["stem"] what is a stem?'
    assert list(anchor.choices) == [choice.strip() for choice in cell.split("|")]
    assert anchor.answer == 1
