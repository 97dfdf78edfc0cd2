from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tacit.models.huggingface.alignment import Tokens
from tacit.models.huggingface.prefix_tree import tree_of

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
    tree = tree_of(7, given_answers)
    found = [
        (read.answer - 7, row.ids[: read.position + 1], read.token)
        for row in tree.rows
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
    rows = [row.ids for row in tree_of(0, given_answers).rows]
    assert sorted(rows) == sorted(needed)


@given(answers())
def test_the_trunk_is_what_all_share(given_answers: list[Tokens]) -> None:
    """Every row begins with the trunk, and no longer beginning is shared by all."""
    tree = tree_of(0, given_answers)
    assert all(row.ids[: len(tree.trunk)] == tree.trunk for row in tree.rows)
    nexts = {row.ids[len(tree.trunk) : len(tree.trunk) + 1] for row in tree.rows}
    assert len(nexts) > 1 or len(tree.rows) == 1
    assert tree.tokens == len(tree.trunk) + sum(len(r.ids) - len(tree.trunk) for r in tree.rows)
    assert tree.branches is (len(tree.rows) > 1 and len(tree.trunk) > 0)
