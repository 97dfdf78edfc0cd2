"""The audit of an extraction, against the same counts with sets of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.audit import (
    ALL,
    FACTS_ACROSS_PARTS,
    POOLED_CONCEPTS,
    POOLED_FACTS,
    VERBATIM_CONCEPTS,
)
from tacit.knowledge.background import Extraction, background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.concepts import Matching
from tacit.probes.consistency.tables import TABLES
from tests.knowledge import audit_by_hand, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.concepts import Parts, Verbatim
    from tests.knowledge.audit_by_hand import Counts
    from tests.knowledge.conftest import Made

LINES = (
    "IsA\tdog\tanimal\t3",
    "AtLocation\tdog\tfront door\t1",
    "IsA\tguide dog\tdog\t2",
    "AtLocation\tguide dog\tsky\t2",
    "HasA\tdogs\ttail\t1",
    "UsedFor\tblue sky guide\thave fun\t1",
    "RelatedTo\tcat\tanimal\t1",
)
WORDS = ("dog", "dogs", "guide", "sky", "blue", "the", "have", "fun", "front", "door", "animal")


def counts(table: pl.DataFrame) -> Counts:
    """The table's counts by what is counted and relation."""
    rows = table.select("audited", "relation", "count", "n").iter_rows()
    return {(audited, relation): (count, n) for audited, relation, count, n in rows}


def audited(
    base: KnowledgeBase,
    questions: Sequence[Sequence[str]],
    parts: Parts = "separate",
    verbatim: Verbatim = "on",
) -> pl.DataFrame:
    """The audit of questions with some rules."""
    how = Extraction(matching=Matching(parts=parts, verbatim=verbatim))
    table = background(base, questions, how).audited
    assert table is not None
    TABLES["audit"].check(table)
    return table


def test_counts_worked_by_hand(made: Made) -> None:
    """Only both parts together have "guide dog"; "front door" is found only as it stands."""
    with KnowledgeBase(made(*LINES)) as base:
        table = audited(base, [("Where is the guide?", "dog", "sky", "front door")])
    rows = {row["audited"]: row for row in table.filter(relation=ALL).iter_rows(named=True)}
    # Separate: sky, dog, dogs, front door. Pooled: also guide dog and blue sky guide.
    verbatim, pooled = rows[VERBATIM_CONCEPTS], rows[POOLED_CONCEPTS]
    assert (verbatim["count"], verbatim["n"], verbatim["included"]) == (1, 4, True)
    assert (pooled["count"], pooled["n"], pooled["included"]) == (2, 6, False)
    assert pooled["share"] == 1 / 3
    # Separate: dog AtLocation front door. Pooled: also guide dog IsA dog, guide dog AtLocation sky.
    facts = rows[POOLED_FACTS]
    assert (facts["count"], facts["n"], facts["included"]) == (2, 3, False)
    isa = table.filter(audited=POOLED_FACTS, relation="IsA")
    assert isa.select("count", "n", "share").row(0) == (1, 1, 1.0)


@pytest.mark.parametrize("verbatim", ["on", "off"])
@pytest.mark.parametrize("parts", ["separate", "pooled"])
@settings(max_examples=25, deadline=None)
@given(
    questions=st.lists(
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=3),
        max_size=3,
    )
)
def test_counts_are_those_of_sets(
    made: Made, questions: list[list[list[str]]], parts: Parts, verbatim: Verbatim
) -> None:
    """With any questions and rules, per relation as well; a share is a count of its total."""
    texts = [[" ".join(words) for words in question] for question in questions]
    with KnowledgeBase(made(*LINES)) as base:
        table = audited(base, texts, parts, verbatim)
    graph = plain.Graph.of_lines(line.rpartition("\t")[0] for line in LINES)
    expected = audit_by_hand.audit(
        texts, graph, pooled=parts == "pooled", verbatim=verbatim == "on"
    )
    assert counts(table) == expected
    for count, n, share in table.select("count", "n", "share").iter_rows():
        assert share == (None if count is None or n == 0 else count / n)


def test_what_the_rules_include_is_named(made: Made) -> None:
    """Verbatim concepts with verbatim on, concepts and facts by pooling with parts pooled."""
    with KnowledgeBase(made(*LINES)) as base:
        pooled = audited(base, [("a dog", "a guide")], "pooled", "off")
    included = dict(pooled.filter(relation=ALL).select("audited", "included").iter_rows())
    assert included[VERBATIM_CONCEPTS] is False
    assert included[POOLED_CONCEPTS] is included[POOLED_FACTS] is True
    across = pooled.filter(audited=FACTS_ACROSS_PARTS)
    assert across["count"].null_count() == across.height > 0


def test_pooling_is_not_counted_over_longer_paths(made: Made) -> None:
    """Its count is null, not 0; concepts are counted all the same."""
    with KnowledgeBase(made(*LINES)) as base:
        table = background(base, [("a guide", "sky", "dog")], Extraction(length=2)).audited
    assert table is not None
    TABLES["audit"].check(table)
    facts = table.filter(audited=POOLED_FACTS)
    assert facts.select("relation", "count", "n", "share").rows() == [(ALL, None, None, None)]
    assert table.filter(audited=POOLED_CONCEPTS)["count"].item() == 2


def test_no_question_gives_zeros_without_shares(made: Made) -> None:
    """A share of nothing is undefined."""
    with KnowledgeBase(made(*LINES)) as base:
        table = audited(base, [])
    assert set(table["n"]) == {0}
    assert table["share"].null_count() == table.height
