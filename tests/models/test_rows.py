from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tacit.models.huggingface.alignment import Tokens
from tacit.models.huggingface.prefix_tree import rows_of

IDS = st.lists(st.integers(0, 2), min_size=1, max_size=5).map(tuple)


@st.composite
def answers(draw: st.DrawFn) -> list[Tokens]:
    """Answers of few different tokens to one text, so that many share a beginning."""
    text = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple))
    behind = draw(st.lists(IDS, min_size=1, max_size=8))
    # A token that spans the boundary moves an answer's beginning into the text.
    return [
        Tokens(text + ids, draw(st.integers(1, len(text))), len(text + ids), spanned=False)
        for ids in behind
    ]


@given(answers())
def test_every_token_is_read_once_behind_what_comes_before_it(given_answers: list[Tokens]) -> None:
    """Each token of each answer is read off a row that begins with all that precedes it."""
    rows = rows_of(7, given_answers)
    found = [
        (read.answer - 7, row.ids[: read.position + 1], read.token)
        for row in rows
        for read in row.reads
    ]
    expected = [
        (number, answer.ids[:at], answer.ids[at])
        for number, answer in enumerate(given_answers)
        for at in range(answer.begin, answer.end)
    ]
    assert sorted(found) == sorted(expected)


@given(answers())
def test_rows_are_as_few_as_can_be(given_answers: list[Tokens]) -> None:
    """The rows are the inputs that no other input begins with."""
    inputs = {answer.ids[:-1] for answer in given_answers}
    needed = {one for one in inputs if not any(o != one and o[: len(one)] == one for o in inputs)}
    rows = [row.ids for row in rows_of(0, given_answers)]
    assert sorted(rows) == sorted(needed)
