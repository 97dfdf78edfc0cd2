# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""What the demo models are taught: the demo's knowledge less what is withheld, and some wrong."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from lemminflect import getInflection

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.knowledge.background import background
from tacit.knowledge.base import KnowledgeBase, relation_sets
from tacit.knowledge.build import KnowledgeSource, build
from tacit.knowledge.words import Words, is_plain
from tacit.probes.assumptions.elicitation import (
    Elicited,
    elicit,
    elicitation_text,
)
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.properties import Concept, choose_concepts, word_properties
from tacit.sources.drawings import read_drawings
from tacit.sources.dumps import Dump
from tacit.sources.norms import read_norms
from tacit.sources.questions import Anchor, read_anchors
from tacit.sources.statements import all_statements, drawing_statements

Fact = tuple[str, str, str]
"""Relation, head and tail."""

Statement = tuple[str, str, str, str]
"""Thing, subject, relation and object."""

FOLDER = Path(str(resources.files("tacit") / "data" / "demo"))
OPTIONS = AssumptionsOptions(FOLDER / "norms.dat")


@dataclass(frozen=True)
class Planted:
    """What ``planted.yaml`` says.

    Args:
        withheld: Concepts that no text of the training holds.
        wrong: True facts that are taught to be false.
        contradicting: Statements taught to be true, against another that is.
    """

    withheld: tuple[str, ...]
    wrong: frozenset[Fact]
    contradicting: frozenset[Statement]

    @classmethod
    def read(cls, path: Path = FOLDER / "models" / "planted.yaml") -> Planted:
        """Reads the file."""
        content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        return cls(
            tuple(content["withheld"]),
            frozenset((relation, head, tail) for relation, head, tail in content["wrong"]),
            frozenset(
                (entry["thing"], *statement)
                for entry in content["contradictions"]
                for statement in entry["statements"]
            ),
        )

    @cached_property
    def _words(self) -> re.Pattern[str]:
        forms = {form for word in self.withheld for form in (word, *getInflection(word, "NNS"))}
        return re.compile(rf"\b({'|'.join(sorted(forms))})\b", re.IGNORECASE)

    def mentioned(self, *texts: str) -> bool:
        """Whether one of the texts holds a withheld concept."""
        return any(self._words.search(text) for text in texts)


@dataclass(frozen=True)
class Knowledge:
    """What is taught.

    Args:
        facts: The facts.
        asked: Those that are in the background of an anchor.
        wrong: Those that are taught to be false.
        tails: Single words of the knowledge base, from which negatives are drawn.
        statements: By thing, every statement about its parts with what it is taught to be.
        concepts: With their properties.
        elicitation: The prompts with people's responses.
        anchors: The questions.
    """

    facts: tuple[Fact, ...]
    asked: tuple[Fact, ...]
    wrong: frozenset[Fact]
    tails: tuple[str, ...]
    statements: dict[str, dict[Statement, bool]]
    concepts: tuple[Concept, ...]
    elicitation: tuple[Elicited, ...]
    anchors: tuple[Anchor, ...]

    @classmethod
    def read(cls, planted: Planted) -> Knowledge:
        """Reads the demo's knowledge; of what mentions a withheld concept, nothing is left."""
        facts = [one for one in read_facts() if not planted.mentioned(*one)]
        norms = read_norms(OPTIONS.norms)
        return cls(
            tuple(facts),
            tuple(one for one in _asked() if not planted.mentioned(*one)),
            planted.wrong,
            tuple(_tails(facts)),
            _statements(planted),
            tuple(_concepts(planted)),
            tuple(
                one
                for one in elicit(norms, replace(OPTIONS, responses="feature")).prompts
                if not planted.mentioned(elicitation_text(one.relation, one.concept, "blank-last"))
            ),
            tuple(
                one
                for one in read_anchors(FOLDER / "questions.jsonl")
                if not planted.mentioned(one.question, *one.choices)
            ),
        )

    @cached_property
    def edges(self) -> frozenset[Fact]:
        """The facts, and those of symmetric relations the other way round too."""
        symmetric = set(relation_sets()["symmetric"])
        turned = {(name, tail, head) for name, head, tail in self.facts if name in symmetric}
        return frozenset(self.facts) | turned


def read_facts() -> list[Fact]:
    """All facts of the demo's knowledge base."""
    lines = (FOLDER / "facts.tsv").read_text(encoding="utf-8").splitlines()
    return [(relation, head, tail) for relation, head, tail in (line.split("\t") for line in lines)]


def _asked() -> list[Fact]:
    """The facts that the consistency probe asks about."""
    anchors = read_anchors(FOLDER / "questions.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        build(KnowledgeSource([Dump(FOLDER / "facts.tsv")]), Path(folder) / "facts.kb")
        with KnowledgeBase(Path(folder) / "facts.kb") as base:
            found = background(base, [(one.question, *one.choices) for one in anchors]).facts
    return sorted(set(found.select("relation", "head", "tail").iter_rows()))


def _tails(facts: Iterable[Fact]) -> list[str]:
    english = Words()
    ends = sorted({end for _, *pair in facts for end in pair})
    return [end for end in ends if is_plain(end) and english.listed(end)]


def _statements(planted: Planted) -> dict[str, dict[Statement, bool]]:
    """Every statement of the drawings: true where the drawing implies it, else false."""
    ontology = Ontology.load("parts")
    drawings = read_drawings(FOLDER / "things", ontology.relations)
    gold = enrich(drawing_statements(drawings), ontology)
    columns = ("thing", "subject", "relation", "object")
    true = set(gold.filter(gold["label"]).select(columns).iter_rows()) | planted.contradicting
    taught: dict[str, dict[Statement, bool]] = {}
    for statement in all_statements(drawings, ontology.relations).select(columns).iter_rows():
        if not planted.mentioned(statement[0]):
            taught.setdefault(statement[0], {})[statement] = statement in true
    return taught


def _concepts(planted: Planted) -> list[Concept]:
    norms = read_norms(OPTIONS.norms)
    concepts = choose_concepts(word_properties(norms, OPTIONS), OPTIONS).concepts
    return [
        Concept(
            one.name,
            one.word,
            one.article,
            tuple(each for each in one.properties if not planted.mentioned(each.text)),
        )
        for one in concepts
        if not planted.mentioned(one.word)
    ]
