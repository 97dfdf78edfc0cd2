"""Conceptual consistency without some facts, and with another question's facts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tacit.knowledge.background import Background
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import by_anchor, mean_of
from tacit.probes.consistency.lift import lift_columns, within_strata
from tacit.sources.questions import Anchor
from tacit.statistics.permutation import Permutations

WHOLE = "whole background"
IRRELEVANT = "another question's background"
WITHOUT = {
    "answer": "without facts about the correct answer",
    "choices": "without facts about any choice",
    "topic": "without facts about the question concept",
}
NO_TOPIC = "no question concept"
UNKNOWN = "concepts of parts unknown"


@dataclass(frozen=True)
class Controls:
    """Controls that leave out background facts, or swap facts between questions."""

    of: Sequence[Anchor]
    background: Background
    answered: ModelAnswers

    def table(self, how: Permutations) -> pl.DataFrame:
        """Compute conceptual consistency with the whole, reduced and irrelevant backgrounds."""
        spec, anchors = TABLES["controls"], self.answered.anchors
        rows = [_row(WHOLE, anchors, how)]
        for name, label in WITHOUT.items():
            concepts = self._concepts(name)
            if isinstance(concepts, str):
                missing = {"background": label, "missing": concepts}
                rows.append({**dict.fromkeys(spec.schema), **missing})
            else:
                rows.append(_row(label, self._with(self.without(concepts)), how))
        ids = {"anchor": pl.String, "other": pl.String}
        others = pl.DataFrame(list(self.partners().items()), ids, orient="row")
        scores = anchors.select("facts", "background_score", other="anchor")
        rows.append(_row(IRRELEVANT, self._with(others.join(scores, on="other")), how))
        return spec.frame(rows)

    def without(self, concepts: pl.DataFrame) -> pl.DataFrame:
        """Return the background scores from all facts except those about an anchor's concepts."""
        ends = self._ends.join(concepts, on=["anchor", "concept"], how="semi")
        return by_anchor(
            self.answered.answers_by_anchor.join(ends, on=["anchor", "fact"], how="anti")
        )

    def _with(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the anchor questions with other background scores and numbers of facts."""
        kept = self.answered.anchors.drop("background_score", "facts")
        return kept.join(scores, on="anchor", how="left", maintain_order="left")

    @cached_property
    def _ends(self) -> pl.DataFrame:
        """The two concepts of each fact of each anchor question."""
        linked = self.answered.links.join(self.answered.facts, on="fact")
        return pl.concat(linked.select("anchor", "fact", concept=end) for end in ("head", "tail"))

    def _by_id(self, concepts: pl.DataFrame) -> pl.DataFrame:
        ids = pl.Series([one.id for one in self.of], dtype=pl.String)
        return concepts.select("concept", anchor=ids.gather(concepts["anchor"]))

    def _concepts(self, name: str) -> pl.DataFrame | str:
        """Return the concepts whose facts a control leaves out, or why they are unknown."""
        topics, members = self.background.topics, self.background.by_part
        if name == "topic":
            return NO_TOPIC if topics is None or topics.is_empty() else self._by_id(topics)
        if members is None:
            return UNKNOWN
        members = members.filter(pl.col("part") > 0)
        if name == "answer":
            parts = pl.Series([(one.answer or 0) + 1 for one in self.of], dtype=pl.Int64)
            members = members.filter(pl.col("part") == parts.gather(members["anchor"]))
        return self._by_id(members)

    def partners(self) -> dict[str, str]:
        """Select the question that provides each anchor question's irrelevant background.

        It has equally many facts, and shares no concept with the question.
        """
        scored = self.answered.anchors.drop_nulls("background_score").select("anchor", "facts")
        alike = dict(scored.group_by("facts", maintain_order=True).agg("anchor").iter_rows())
        own = self._by_id(self.background.concepts)
        concepts = pl.concat([self._ends.select("concept", "anchor"), own])
        sets = dict(concepts.group_by("anchor").agg("concept").iter_rows())
        sets = {anchor: frozenset(each) for anchor, each in sets.items()}
        partners = {}
        for one, count in scored.iter_rows():
            fits = [other for other in alike[count] if sets[one].isdisjoint(sets[other])]
            if fits:  # a question shares its concepts with itself
                partners[one] = min(fits, key=lambda other: _rank(one, other))
        return partners


def _rank(own: str, other: str) -> bytes:
    """Return a reproducible pseudo-random sort key for a pair of anchor questions."""
    return hashlib.blake2b(f"0\t{own}\t{other}".encode(), digest_size=8).digest()


def _row(label: str, anchors: pl.DataFrame, how: Permutations) -> dict[str, Any]:
    _, row = lift_columns(anchors, how)
    rows = anchors.drop_nulls(["background_score", "right"])
    about = {"background": label, "facts": mean_of(rows["facts"]), "missing": None}
    return {**about, **row, **within_strata(anchors, how)}
