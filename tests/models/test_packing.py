from collections.abc import Iterable
from itertools import pairwise, takewhile
from operator import eq
from random import Random

import torch
from hypothesis import given
from hypothesis import strategies as st

from tacit.models.huggingface.packing import Pack, Rows, Tree
from tacit.models.huggingface.passes import sight
from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates

Ids = tuple[int, ...]
LENGTHS = st.integers(1, 40)
READS = st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple), st.integers(0))


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """Rows of few different tokens: many share a beginning, some are another's."""
    drawn = draw(st.lists(READS, min_size=1, max_size=20))
    reads = [(n, first % len(ids), n + 1, n) for n, (ids, first) in enumerate(drawn)]
    reads += [(n, len(ids) - 1, 7, n) for n, (ids, _) in enumerate(drawn)]
    return Rows.of([ids for ids, _ in drawn], reads)


def packs_of(tree: Tree, length: int) -> list[Pack]:
    return [Pack.of(part) for part in tree.cut(length)]


def before(pack: Pack, index: int) -> Ids:
    """The tokens that one token of a pack sees, itself last."""
    ids, ends = pack.ids.tolist(), pack.ends.tolist()
    return tuple(ids[j] for j in range(index + 1) if index < ends[j])


def every(some: Rows) -> list[Ids]:
    return [tuple(some[number].tolist()) for number in range(len(some))]


def prefixes(some: Iterable[Ids]) -> set[Ids]:
    """All that rows begin with: the tokens of their prefix tree."""
    return {ids[:at] for ids in some for at in range(1, len(ids) + 1)}


def read(some: Rows) -> list[tuple[int, Ids, int]]:
    """The answer of each token to score, what precedes it, and the token."""
    ids = every(some)
    columns = zip(*(column.tolist() for column in some.reads), strict=True)
    return sorted((answer, ids[row][: at + 1], token) for row, at, token, answer in columns)


@given(rows(), LENGTHS)
def test_all_is_read_behind_what_comes_before_it(some: Rows, length: int) -> None:
    """Each token that is read off a row is read off a pack once, where the same tokens are seen."""
    found = [
        (answer, before(pack, position), token)
        for pack in packs_of(Tree.of(some), length)
        for _, position, token, answer in zip(*(c.tolist() for c in pack.reads), strict=True)
    ]
    assert sorted(found) == read(some)


@given(rows(), LENGTHS)
def test_packs_hold_the_tree(some: Rows, length: int) -> None:
    """Each token in some pack, in none twice, at its depth; with one pack for all, exactly once."""
    packs = packs_of(Tree.of(some), length)
    held = [[before(pack, index) for index in range(len(pack.ids))] for pack in packs]
    tree = prefixes(every(some))
    assert {one for part in held for one in part} == tree
    for pack, part in zip(packs, held, strict=True):
        assert len(set(part)) == len(part)
        assert pack.depths.tolist() == [len(one) - 1 for one in part]
        assert len(pack.ids) <= length or len(pack.tree.rows) == 1
    (whole,) = packs_of(Tree.of(some), 10_000)
    assert len(whole.ids) == len(tree)


@given(rows(), LENGTHS)
def test_spans_and_sizes(some: Rows, length: int) -> None:
    """A row's span is the distance between its first and its last token."""
    for pack in packs_of(Tree.of(some), length):
        place = {before(pack, index): index for index in range(len(pack.ids))}
        own = every(pack.tree.rows)
        assert pack.spans.tolist() == [place[ids] - place[ids[:1]] for ids in own]
        assert pack.sizes == (len(pack.ids), max(map(len, own)), 0, max(pack.spans))


def alike(one: Ids, other: Ids) -> int:
    """How many tokens both begin with."""
    return len(list(takewhile(bool, map(eq, one, other))))


@given(rows())
def test_a_tree_holds_all_that_rows_hold(some: Rows) -> None:
    """Each row is there once, or part of a longer one, with what is read off it."""
    tree = Tree.of(some)
    kept, own = every(tree.rows), set(every(some))
    assert kept == sorted(
        one for one in own if not any(o != one and o[: len(one)] == one for o in own)
    )
    assert tree.shared.tolist() == [0, *(alike(a, b) for a, b in pairwise(kept))]
    assert read(tree.rows) == read(some)


@given(rows(), LENGTHS, LENGTHS)
def test_packs_are_made_again(some: Rows, length: int, shorter: int) -> None:
    """A pack's rows can be packed again, shorter, and all is still read."""
    packs = packs_of(Tree.of(some), length)
    again = [part for pack in packs for part in packs_of(pack.tree, shorter)]
    assert sum(len(pack.reads.row) for pack in again) == len(some.reads.row)
    assert all(len(part.ids) <= shorter or len(part.tree.rows) == 1 for part in again)


@given(rows(), LENGTHS, st.randoms())
def test_packs_do_not_depend_on_the_order_of_rows(some: Rows, length: int, random: Random) -> None:
    """So that the same work is rounded the same."""
    order = random.sample(range(len(some)), len(some))
    turned = Rows.of([every(some)[at] for at in order], [(0, 0, 0, 0)])
    assert [pack.ids.tolist() for pack in packs_of(Tree.of(turned), length)] == [
        pack.ids.tolist() for pack in packs_of(Tree.of(some), length)
    ]


@given(rows(), LENGTHS)
def test_the_mask_shows_what_is_seen(some: Rows, length: int) -> None:
    """A token sees what stands before it in its own rows, padding something, nobody padding."""
    packs = packs_of(Tree.of(some), length)
    width = max(len(pack.ids) for pack in packs)
    sees = sight(torch.tensor([[*pack.ends, *[0] * (width - len(pack.ids))] for pack in packs]))
    assert sees.shape == (len(packs), 1, width, width)
    assert bool(sees.any(-1).all())
    for pack, one in zip(packs, sees[:, 0], strict=True):
        assert not bool(one[: len(pack.ids), len(pack.ids) :].any())
        for index in range(len(pack.ids)):
            seen = pack.ids[one[index].nonzero().flatten().numpy()]
            assert tuple(seen.tolist()) == before(pack, index)


def test_little_is_computed_twice() -> None:
    """Of the probes' questions, packs compute at most 1.15 times the tokens of the prefix tree."""
    words = [f"w{number}" for number in range(40)]
    questions = [
        f"Is {a} used for {b} {c}" for a in words[:8] for b in words[8:12] for c in words[12:16]
    ]
    numbers: dict[str, int] = {}
    ids = [
        [numbers.setdefault(word, len(numbers)) for word in variant.prompt(one).text.split()]
        for variant in prompt_variants(load_templates())
        for one in questions
    ]
    some = Rows.of(ids, [(n, len(one) - 1, 0, n) for n, one in enumerate(ids)])
    packed = sum(len(pack.ids) for pack in packs_of(Tree.of(some), 512))
    tree = len(prefixes(every(some)))
    assert tree < packed <= 1.15 * tree
    assert 3 * packed < len(some.ids)
