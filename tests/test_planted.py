"""The probes find in the demo models what was planted: withheld, taught wrong, contradictory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import yaml

from tacit.coherence.check import check
from tacit.coherence.ontology import Ontology
from tacit.coherence.repair import repair
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import Source, build
from tacit.models.huggingface.vocabulary import shared_vocabulary
from tacit.models.loading import load_model
from tacit.models.registry import DEMO, DEMO_MASKED, DEMOS, folder_of
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.properties import choose_concepts, word_properties
from tacit.probes.assumptions.retrieval import Retrieval
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.parts.probe import PartsProbe
from tacit.requests import RankingPrompt
from tacit.sources.anchors import read_anchors
from tacit.sources.dumps import Dump
from tacit.sources.norms import read_norms
from tests.in_order import measured_in_order
from tests.probes.parts.measured import measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.findings.findings import Findings
    from tacit.requests import Vocabulary

pytestmark = pytest.mark.slow

MODELS = folder_of(DEMO).parent
DATA = MODELS.parent
PLANTED: dict[str, Any] = yaml.safe_load((MODELS / "planted.yaml").read_text(encoding="utf-8"))
WITHHELD = frozenset(PLANTED["withheld"])
COLUMNS = ("subject", "relation", "object")
WRONG = {(head, relation, tail) for relation, head, tail in PLANTED["wrong"]}


@dataclass(frozen=True)
class Asked:
    """One demo model, asked by all probes; everything is asked once."""

    engine: Engine
    base: KnowledgeBase
    vocabulary: Vocabulary
    wording: str

    @cached_property
    def consistency(self) -> Findings:
        """Behind all meta-prompts, with two of the seven pairs of answer words to be quick."""
        options = ConsistencyOptions(DATA / "questions.jsonl", DATA / "facts.kb")
        anchors = read_anchors(options.questions)
        known = background(self.base, [(one.question, *one.choices) for one in anchors])
        probe = ConsistencyProbe(options, anchors, known)
        few = replace(probe.templates, pairs=probe.templates.pairs[:2])
        probe = replace(probe, templates=few)
        return measured_in_order(probe, self.engine.ask(probe.prompts))

    @cached_property
    def parts(self) -> Findings:
        """Every statement about the parts of every thing."""
        probe = PartsProbe.read(DATA / "things")
        return measured(probe, self.engine.ask(probe.prompts))

    @property
    def beliefs(self) -> pl.DataFrame:
        """What the model believes about parts, by drawing."""
        return self.parts.tables["beliefs"].select("thing", "annotator", *COLUMNS, "p_true")

    @cached_property
    def retrieved(self) -> dict[str, float]:
        """The mean reciprocal rank of each concept over its prompts of 1 to 10 properties."""
        options = AssumptionsOptions(DATA / "norms.dat")
        worded = word_properties(read_norms(options.norms), options)
        concepts = choose_concepts(worded, options, self.vocabulary.words).concepts
        of = Retrieval(concepts, self.vocabulary, self.wording)
        prompts = [one for concept in concepts for one in of.of(concept)]
        asked = [RankingPrompt(one.text, self.vocabulary, (one.word,), top=1) for one in prompts]
        ranks: dict[str, list[float]] = {}
        for one, ranking in zip(prompts, self.engine.ask(asked), strict=True):
            rank = ranking[one.word].rank
            assert rank is not None
            ranks.setdefault(one.concept, []).append(1 / rank)
        return {concept: float(np.mean(found)) for concept, found in ranks.items()}


@pytest.fixture(scope="module")
def all_asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Asked]:
    """Both models, by name."""
    folder = tmp_path_factory.mktemp("demo")
    build(Source([Dump(DATA / "facts.tsv")]), folder / "facts.kb")
    base = KnowledgeBase(folder / "facts.kb")
    models = {name: load_model(name) for name in DEMOS}
    shared = shared_vocabulary(list(models.values()))  # type: ignore[arg-type] # both are local
    wordings = {DEMO: "blank-last", DEMO_MASKED: "sentence"}
    return {
        name: Asked(Engine(model, Store(folder / "store")), base, shared, wordings[name])
        for name, model in models.items()
    }


@pytest.fixture(scope="module", params=DEMOS)
def asked(request: pytest.FixtureRequest, all_asked: dict[str, Asked]) -> Asked:
    """Each model."""
    return all_asked[request.param]


def separation(scores: Mapping[str, float]) -> tuple[float, float]:
    """AUROC of taught against withheld concepts, and the lower end of its bootstrap interval."""
    taught = np.array([score for name, score in scores.items() if name not in WITHHELD])
    held = np.array([score for name, score in scores.items() if name in WITHHELD])
    assert min(len(taught), len(held)) >= 6
    wins = (taught[:, None] > held) + (taught[:, None] == held) / 2
    random = np.random.default_rng(0)
    drawn = [
        wins[random.integers(len(taught), size=len(taught))][
            :, random.integers(len(held), size=len(held))
        ].mean()
        for _ in range(1000)
    ]
    return float(wins.mean()), float(np.quantile(drawn, 0.025))


def separates(scores: Mapping[str, float]) -> None:
    """Asserts what the demo promises of a score."""
    value, low = separation(scores)
    assert value >= 0.9
    assert low > 0.8


def test_the_background_score_separates_taught_from_withheld_concepts(asked: Asked) -> None:
    """By the concept that an anchor is about."""
    anchors = asked.consistency.tables["anchors"].drop_nulls("background_score")
    means = anchors.group_by("cluster").agg(pl.col("background_score").mean())
    separates(dict(means.iter_rows()))


def test_retrieval_separates_taught_from_withheld_concepts(asked: Asked) -> None:
    """By the mean reciprocal rank among the whole words of both models."""
    assert asked.retrieved.keys() >= WITHHELD
    separates(asked.retrieved)


def test_accuracy_on_parts_separates_taught_from_withheld_things(asked: Asked) -> None:
    """By the share of what the drawing implies that is answered right."""
    judged = asked.parts.tables["beliefs"].drop_nulls("label")
    right = (pl.col("p_true") > 0.5) == pl.col("label")
    accuracy = dict(judged.group_by("thing").agg(right.mean()).iter_rows())
    separates(accuracy)


def test_the_facts_taught_wrong_are_the_ones_answered_wrong(asked: Asked) -> None:
    """Of the facts about taught concepts, these and no others."""
    tables = asked.consistency.tables
    facts = tables["facts"].join(tables["fact_answers"].filter(expected="yes"), on="fact")
    taught = facts.filter(~pl.col("head").is_in(WITHHELD) & ~pl.col("tail").is_in(WITHHELD))
    wrong = set(taught.filter(~pl.col("right")).select("head", "relation", "tail").iter_rows())
    assert wrong == WRONG


def test_the_contradictions_planted_are_the_ones_found(asked: Asked) -> None:
    """Of taught things: the thing and both statements, and no other pair."""
    found = check(asked.beliefs, Ontology.load("parts")).violations
    names = ("thing", *(f"{column}_{n}" for n in (1, 2) for column in COLUMNS))
    pairs = found.filter(
        (pl.col("constraint") == "asymmetric") & ~pl.col("thing").is_in(WITHHELD)
    ).select(names)
    told = {(row[0], frozenset((row[1:4], row[4:7]))) for row in pairs.iter_rows()}
    planted = PLANTED["contradictions"]
    assert told == {(one["thing"], frozenset(map(tuple, one["statements"]))) for one in planted}


def test_repair_resolves_the_contradictions_planted(asked: Asked) -> None:
    """Of each pair one statement is left, and nothing is violated any more."""
    repaired = repair(asked.beliefs, Ontology.load("parts")).beliefs
    left = repaired.filter("repaired").select("thing", *COLUMNS)
    true = set(left.iter_rows())
    for one in PLANTED["contradictions"]:
        kept = [(one["thing"], *statement) in true for statement in one["statements"]]
        assert sum(kept) == 1, one
    after = check(repaired, Ontology.load("parts"), believed="repaired")
    assert after.violations.is_empty()


def test_knowing_the_background_predicts_the_answer(asked: Asked) -> None:
    """Conceptual consistency is above chance: the lift's interval is clear of 0."""
    found = asked.consistency.tables["consistency"].row(0, named=True)
    assert found["lift"] > 0
    assert found["lift_low"] > 0
