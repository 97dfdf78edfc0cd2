from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.models.fake import FakeModel
from tacit.probes.consistency.answers import Method
from tacit.probes.consistency.probe import ConsistencyProbe, Reading
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import wording
from tacit.sources.anchors import Anchor
from tacit.sources.dumps import Dump

if TYPE_CHECKING:
    from pathlib import Path

ANCHORS = [
    Anchor("1", "Where does a dog sleep?", ("kennel", "tree"), 0, "dog"),
    Anchor("2", "Where is a book?", ("sea", "library"), 1, "book"),
]
METHODS = [
    Method(),
    Method("count"),
    Method("calibrated"),
    Method("single", 1, ("Yes", "No")),
    Method("single", 5, ("On", "Off")),
]


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> ConsistencyProbe:
    """Two anchors with a fact each."""
    folder = tmp_path_factory.mktemp("knowledge")
    triples = folder / "triples.tsv"
    triples.write_text("AtLocation\tdog\tkennel\nAtLocation\tbook\tlibrary\n", encoding="utf-8")
    build(Source([Dump(triples)]), folder / "small.kb")
    with KnowledgeBase(folder / "small.kb") as base:
        found = background(base, [(anchor.question, *anchor.choices) for anchor in ANCHORS])
    return ConsistencyProbe(ANCHORS, found, load_templates(), wording("paper"))


def test_another_reading_asks_the_model_nothing(probe: ConsistencyProbe, tmp_path: Path) -> None:
    """Every preset is read off the scores that the first one left in the store."""
    model = FakeModel(lambda prompt, answer: -float(len(prompt.text + answer) % 7) - 1)
    counts = []
    for method in METHODS:
        read = ConsistencyProbe(
            probe.anchors, probe.background, probe.templates, probe.wording, reading=Reading(method)
        )
        engine = Engine(model, Store(tmp_path))
        read.measure_in_order(engine.ask(read.prompts))
        counts.append(len(model.asked))
    assert counts[0] > 0
    assert set(counts) == {counts[0]}


def test_another_way_to_answer_anchors_asks_only_that(
    probe: ConsistencyProbe, tmp_path: Path
) -> None:
    """The background's questions are not asked again."""
    model = FakeModel(lambda _, answer: -float(len(answer)))
    Engine(model, Store(tmp_path)).ask(probe.prompts)
    before = len(model.asked)
    both = ConsistencyProbe(
        probe.anchors,
        probe.background,
        probe.templates,
        probe.wording,
        reading=Reading(anchoring=("verify", "choice")),
    )
    Engine(model, Store(tmp_path)).ask(both.prompts)
    assert len(model.asked) - before == 4 * 24
