from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from operator import eq
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.models.huggingface import packing, prefix_tree
from tacit.models.huggingface.alignment import Tokens
from tacit.models.huggingface.logprobs import Row
from tacit.models.huggingface.packed_passes import sight
from tacit.models.huggingface.packing import Pack
from tacit.models.huggingface.prefix_tree import Rows, rows_of
from tacit.models.huggingface.self_check import cut
from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates

IDS = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)
LENGTHS = st.integers(1, 40)


@st.composite
def prompts(draw: st.DrawFn) -> list[Row]:
    """Rows of prompts of few different tokens: many share a beginning, some are another's."""
    rows: list[Row] = []
    answered = 0
    for _ in range(draw(st.integers(1, 8))):
        text = draw(IDS)
        answers = [
            Tokens(text + ids, draw(st.integers(1, len(text))), len(text + ids), spanned=False)
            for ids in draw(st.lists(IDS, min_size=1, max_size=4))
        ]
        rows += rows_of(answered, answers)
        answered += len(answers)
    return rows


def packs_of(rows: Sequence[Row], length: int) -> list[Pack]:
    """The packs of rows in whatever order."""
    return packing.packs_of(Rows.of(rows).ordered(), length)


def added_tokens(rows: Sequence[Row], length: int) -> list[int]:
    """What the rows add to packs, in order."""
    return [int(added) for added in packing.added_tokens(Rows.of(rows).ordered(), length)]


def before(pack: Pack, index: int) -> tuple[int, ...]:
    """The tokens that one token of a pack sees, itself last."""
    ids, ends = pack.ids.tolist(), pack.ends.tolist()
    return tuple(ids[j] for j in range(index + 1) if index < ends[j])


def reads_of(pack: Pack) -> list[tuple[int, int, int]]:
    """Answer, position and token of all that is read off a pack."""
    reads = pack.reads
    columns = (reads.answer, reads.position, reads.token)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def prefixes(rows: Iterable[Row]) -> set[tuple[int, ...]]:
    """All that rows begin with: the tokens of their prefix tree."""
    return {row.ids[:at] for row in rows for at in range(1, len(row.ids) + 1)}


@given(prompts(), LENGTHS)
def test_all_is_read_behind_what_comes_before_it(rows: list[Row], length: int) -> None:
    """Each token that is read off a row is read off a pack once, where the same tokens are seen."""
    found = [
        (answer, before(pack, position), token)
        for pack in packs_of(rows, length)
        for answer, position, token in reads_of(pack)
    ]
    expected = [
        (read.answer, row.ids[: read.position + 1], read.token)
        for row in rows
        for read in row.reads
    ]
    assert sorted(found) == sorted(expected)


@given(prompts(), LENGTHS)
@pytest.mark.slow
def test_every_token_of_the_tree_is_computed(rows: list[Row], length: int) -> None:
    """In some pack at least, in none twice; with one pack for all, exactly once."""
    packs = packs_of(rows, length)
    held = [[before(pack, index) for index in range(len(pack.ids))] for pack in packs]
    assert {one for part in held for one in part} == prefixes(rows)
    assert all(len(set(part)) == len(part) for part in held)
    (whole,) = packs_of(rows, 10_000)
    assert len(whole.ids) == len(prefixes(rows))


@given(prompts(), LENGTHS)
def test_positions_are_depths(rows: list[Row], length: int) -> None:
    """A token's position is the number of tokens that it sees beside itself."""
    for pack in packs_of(rows, length):
        seen = [len(before(pack, index)) - 1 for index in range(len(pack.ids))]
        assert pack.depths.tolist() == seen


@given(prompts(), LENGTHS)
def test_spans_of_rows(rows: list[Row], length: int) -> None:
    """Each row's last token is so far from its first, which it sees first of all."""
    for pack in packs_of(rows, length):
        ends = pack.ends.tolist()
        expected = []
        for number in range(len(pack.rows)):
            ids = pack.rows.row(number)
            last = max(at for at in range(len(ends)) if before(pack, at) == ids)
            expected.append(last - next(at for at in range(last + 1) if last < ends[at]))
        assert pack.spans.tolist() == expected


@given(prompts(), LENGTHS)
def test_packs_keep_to_their_length(rows: list[Row], length: int) -> None:
    """But for those of one input that is longer."""
    for pack in packs_of(rows, length):
        assert len(pack.ids) <= length or len(pack.rows) == 1


@given(prompts(), LENGTHS)
def test_added_tokens(rows: list[Row], length: int) -> None:
    """What rows add, together, is what the packs hold; no row adds more than its own tokens."""
    added, ordered = added_tokens(rows, length), Rows.of(rows).ordered()
    assert sum(added) == sum(len(pack.ids) for pack in packs_of(rows, length))
    assert all(0 < more <= size for more, size in zip(added, ordered.lengths, strict=True))


def alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return len(list(takewhile(bool, map(eq, one, other))))


@given(prompts())
def test_rows_in_order_hold_all_that_rows_hold(rows: list[Row]) -> None:
    """Each is there once, or part of a longer one, with what is read off it."""
    ordered = Rows.of(rows).ordered()
    kept = [ordered.row(number) for number in range(len(ordered))]
    own = {row.ids for row in rows}
    assert kept == sorted(
        one for one in own if not any(o != one and o[: len(one)] == one for o in own)
    )
    assert ordered.shared.tolist() == [0, *(alike(a, b) for a, b in pairwise(kept))]
    reads = ordered.reads
    found = [
        (kept[row][: position + 1], token, answer)
        for row, position, token, answer in zip(
            reads.row.tolist(),
            reads.position.tolist(),
            reads.token.tolist(),
            reads.answer.tolist(),
            strict=True,
        )
    ]
    assert sorted(found) == sorted(
        (row.ids[: read.position + 1], read.token, read.answer)
        for row in rows
        for read in row.reads
    )


@given(prompts(), st.integers(1, 30))
def test_what_rows_share_is_found_in_tables_of_any_size(rows: list[Row], cells: int) -> None:
    """A table of all rows, or of a few at a time."""
    whole = Rows.of(rows).ordered().shared.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_tree, "_CELLS", cells)
        assert Rows.of(rows).ordered().shared.tolist() == whole


@given(prompts(), LENGTHS, LENGTHS)
def test_packs_are_made_again(rows: list[Row], length: int, shorter: int) -> None:
    """A pack's rows can be packed again, shorter, and all is still read."""
    packs = packs_of(rows, length)
    again = [part for pack in packs for part in pack.again(shorter)]
    assert sum(len(pack.reads.row) for pack in again) == sum(len(pack.reads.row) for pack in packs)
    for part in again:
        assert len(part.ids) <= shorter or len(part.rows) == 1


@given(prompts(), LENGTHS, st.randoms())
def test_packs_do_not_depend_on_the_order_of_prompts(
    rows: list[Row], length: int, random: Random
) -> None:
    """So that the same work is rounded the same."""
    turned = random.sample(rows, len(rows))
    assert [p.ids.tolist() for p in packs_of(turned, length)] == [
        p.ids.tolist() for p in packs_of(rows, length)
    ]


@given(prompts(), LENGTHS)
def test_the_mask_shows_what_is_seen(rows: list[Row], length: int) -> None:
    """A token sees what stands before it in its own rows, padding something, nobody padding."""
    packs = packs_of(rows, length)
    width = max(len(pack.ids) for pack in packs)
    ends = torch.tensor([[*pack.ends, *[0] * (width - len(pack.ends))] for pack in packs])
    sees = sight(ends)
    assert sees.shape == (len(packs), 1, width, width)
    assert bool(sees.any(-1).all())
    for pack, one in zip(packs, sees[:, 0], strict=True):
        assert not bool(one[:, len(pack.ids) :].any())
        for index in range(len(pack.ids)):
            seen = tuple(pack.ids[one[index].nonzero().flatten().numpy()].tolist())
            assert seen == before(pack, index)


def spelled(texts: Sequence[str]) -> list[Row]:
    """Rows of one token per word."""
    numbers: dict[str, int] = {}
    ids = [tuple(numbers.setdefault(w, len(numbers)) for w in text.split()) for text in texts]
    return [
        row
        for number, one in enumerate(ids)
        for row in rows_of(number, [Tokens((*one, 0), len(one), len(one) + 1, spanned=False)])
    ]


def test_little_is_computed_twice() -> None:
    """Of the probes' questions, packs compute at most 1.15 times the tokens of the prefix tree."""
    words = [f"w{number}" for number in range(40)]
    questions = [
        f"Is {a} used for {b} {c}" for a in words[:8] for b in words[8:12] for c in words[12:16]
    ]
    rows = spelled(
        [
            variant.prompt(one).text
            for variant in prompt_variants(load_templates())
            for one in questions
        ]
    )
    packed = sum(added_tokens(rows, 512))
    assert len(prefixes(rows)) < packed <= 1.15 * len(prefixes(rows))
    assert 3 * packed < sum(len(row.ids) for row in rows)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 5000), min_size=60, max_size=200, unique=True),
    st.integers(40, 600),
    st.integers(4, 60),
)
def test_the_inputs_of_the_checks(stream: list[int], length: int, depth: int) -> None:
    """They fill a pack, share beginnings as declared, and are all read."""
    rows = cut(stream, (), length, depth)
    first, second, last = (row.ids for row in rows[:3])
    assert {len(row.ids) for row in rows} == {depth}
    assert len(prefixes(rows)) >= length or len(rows) == length
    assert alike(first, second) == depth // 2
    assert last == max(row.ids for row in rows[2:])
    assert all(row.reads for row in rows)
    answers = [read.answer for row in rows for read in row.reads]
    assert answers == list(range(len(answers)))
    assert all(row.ids[read.position + 1] == read.token for row in rows for read in row.reads)
