"""The surface text of facts in a knowledge base."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.knowledge.surface import surface_texts
from tacit.sources.dumps import Dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from tests.knowledge.conftest import Made

FACTS = pl.DataFrame({"head": ["dog", "cat"], "relation": ["IsA"] * 2, "tail": ["animal"] * 2})


def texts(folder: Path, assertions: Sequence[tuple[str, float, str | None]]) -> dict[str, str]:
    """The surface text of each head that is an animal, from heads, weights and texts."""
    lines = []
    for head, weight, text in assertions:
        info = {"license": "cc:by/4.0", "weight": weight, "surfaceText": text}
        lines.append(f"/a/[{head}]\t/r/IsA\t/c/en/{head}\t/c/en/animal\t{json.dumps(info)}\n")
    (folder / "dump.csv").write_text("".join(lines), encoding="utf-8")
    build(Source([Dump(folder / "dump.csv")]), folder / "base.kb")
    with KnowledgeBase(folder / "base.kb") as base:
        found = surface_texts(base, pl.concat([FACTS, FACTS]))
    return {head: text for head, _, _, text in found.iter_rows()}


def test_the_heaviest_assertion_with_a_text_counts(tmp_path: Path) -> None:
    """Parts of speech make several assertions of one fact; the heaviest here has no text."""
    assertions = [
        ("dog", 1.0, "[[dogs]] are [[animals]]"),
        ("dog/n/wn/animal", 2.0, "[[dog]] is a type of [[animal]]"),
        ("dog/n", 5.0, None),
        ("cat", 1.0, None),
    ]
    assert texts(tmp_path, assertions) == {"dog": "[[dog]] is a type of [[animal]]"}


def test_special_characters_are_kept(tmp_path: Path) -> None:
    """As JSON escapes them."""
    text = '[[a "dog"]] \\ is \u00fcber an [[animal]]'
    assert texts(tmp_path, [("dog", 1.0, text)]) == {"dog": text}


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(4)))
def test_ties_do_not_depend_on_the_order_of_lines(
    order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of equally heavy texts, the first in their order."""
    lines = [(f"dog/n/{n}", 1.0, f"[[dog {n}]] is an [[animal]]") for n in range(4)]
    folder = tmp_path_factory.mktemp("tie")
    assert texts(folder, [lines[n] for n in order]) == {"dog": "[[dog 0]] is an [[animal]]"}


def test_triples_have_no_text(made: Made) -> None:
    """Such as those of CN-100K."""
    with KnowledgeBase(made("IsA\tdog\tanimal")) as base:
        assert surface_texts(base, FACTS).is_empty()
