"""Recompute conceptual consistency without some facts or with irrelevant facts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.probes.consistency import background_scores
from tacit.probes.consistency.adjusted import LiftWithinStrata
from tacit.probes.consistency.background_scores import mean_of
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.prediction import predict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.knowledge.background import Background
    from tacit.probes.consistency.background_scores import CorrectAnswers
    from tacit.probes.consistency.questions import Asked
    from tacit.sources.anchors import Anchor
    from tacit.statistics.studentised import Permutations

WHOLE = "whole background"
IRRELEVANT = "another question's background"
WITHOUT = {
    "answer": "without facts about the correct answer",
    "choices": "without facts about any choice",
    "topic": "without facts about the question concept",
}
# Reasons why a control was not computed.
NO_TOPIC = "no question concept"
UNKNOWN = "concepts of parts unknown"


@dataclass(frozen=True)
class Controls:
    """Controls that leave out background facts, or swap facts between questions."""

    of: Sequence[Anchor]
    background: Background
    asked: Asked
    known: CorrectAnswers
    anchors: pl.DataFrame
    seed: int = 0

    def table(self, how: Permutations | None = None) -> pl.DataFrame:
        """Compute conceptual consistency with the whole, reduced and irrelevant backgrounds."""
        import polars as pl

        rows = [_row(WHOLE, self.anchors, how)]
        for name, label in WITHOUT.items():
            reason = self._missing(name)
            rows.append(
                {"background": label, "missing": reason}
                if reason
                else _row(label, self._with(self._scores_without(name)), how)
            )
        rows.append(_row(IRRELEVANT, self._with(self._irrelevant), how))
        return pl.DataFrame(rows, schema=TABLES["controls"].schema)

    def _missing(self, name: str) -> str | None:
        """Return why a control cannot be computed, or None if it can be computed."""
        if name == "topic":
            topics = self.background.topics
            return NO_TOPIC if topics is None or topics.is_empty() else None
        return UNKNOWN if self.background.by_part is None else None

    def _with(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the anchor questions with their background scores and numbers of facts."""
        columns = ("background_score", "facts")
        return self.anchors.with_columns(scores[name] for name in columns)

    def _scores_without(self, name: str) -> pl.DataFrame:
        """Compute background scores from all facts except those that ``left_out`` returns."""
        left_out = self.left_out(name)
        links = self.asked.links.join(left_out, on=["anchor", "fact"], how="anti")
        kept = replace(self.asked, links=links)
        return background_scores.by_anchor(self.known, kept, len(self.of))

    def left_out(self, name: str) -> pl.DataFrame:
        """Return, for each anchor question, the facts that the control ``name`` excludes."""
        import polars as pl

        ends = pl.concat(self.asked.facts.select("fact", concept=end) for end in ("head", "tail"))
        return (
            self.asked.links.join(ends, on="fact")
            .join(self._concepts(name), on=["anchor", "concept"], how="semi")
            .select("anchor", "fact")
            .unique()
        )

    def _concepts(self, name: str) -> pl.DataFrame:
        """Return the concepts whose facts a leakage control removes, for each anchor question."""
        import polars as pl

        anchor = pl.col("question").cast(pl.Int64).alias("anchor")
        if name == "topic" and self.background.topics is not None:
            return self.background.topics.select(anchor, "concept")
        members = self.background.by_part
        if members is None:
            raise ValueError("the concepts of the parts are unknown")
        members = members.select(anchor, pl.col("part").cast(pl.Int64), "concept")
        if name == "choices":
            return members.filter(pl.col("part") > 0).select("anchor", "concept")
        correct = [(at, (one.answer or 0) + 1) for at, one in enumerate(self.of)]
        right = pl.DataFrame(correct, {"anchor": pl.Int64, "part": pl.Int64}, orient="row")
        return members.join(right, on=["anchor", "part"], how="semi").select("anchor", "concept")

    @cached_property
    def _irrelevant(self) -> pl.DataFrame:
        """Background scores computed from another question's facts; null where unavailable."""
        import polars as pl

        scores = self.anchors["background_score"].to_list()
        facts = self.anchors["facts"].to_list()
        found = [
            (None if at is None else scores[at], facts[own])
            for own, at in enumerate(self.partners())
        ]
        schema = {"background_score": pl.Float64, "facts": pl.Int64}
        return pl.DataFrame(found, schema, orient="row")

    def partners(self) -> list[int | None]:
        """Select the question that provides each anchor question's irrelevant background."""
        scored = self.anchors["background_score"].is_not_null().to_list()
        facts = self.anchors["facts"].to_list()
        by_facts: dict[int, list[int]] = {}
        for at, count in enumerate(facts):
            if scored[at]:
                by_facts.setdefault(count, []).append(at)
        concepts = self._of_anchor
        names = [anchor.id for anchor in self.of]

        def chosen(own: int) -> int | None:
            fits = (
                at
                for at in by_facts.get(facts[own], ())
                if at != own and concepts[own].isdisjoint(concepts[at])
            )
            return min(fits, key=lambda at: _hash(self.seed, names[own], names[at]), default=None)

        return [chosen(own) if scored[own] else None for own in range(len(facts))]

    @cached_property
    def _of_anchor(self) -> list[frozenset[str]]:
        """Each anchor question's concepts, and the heads and tails of the question's facts."""
        found: list[set[str]] = [set() for _ in self.of]
        for at, concept in self._pairs():
            found[at].add(concept)
        return [frozenset(each) for each in found]

    def _pairs(self) -> Iterator[tuple[int, str]]:
        concepts = self.background.concepts
        if "concept" in concepts.columns:
            yield from concepts.select("question", "concept").iter_rows()
        facts = self.asked.links.join(self.asked.facts, on="fact")
        for end in ("head", "tail"):
            yield from facts.select("anchor", end).iter_rows()


def _row(label: str, anchors: pl.DataFrame, how: Permutations | None) -> Mapping[str, object]:
    """Return the row of one control in the table ``controls``."""
    rows = anchors.drop_nulls(["background_score", "right"])
    scores, right = rows["background_score"], rows["right"]
    found = predict(right.to_numpy(), scores.to_numpy(), rows["cluster"].to_numpy(), how)
    return {
        "background": label,
        "n": found.n,
        "facts": mean_of(rows["facts"]),
        "accuracy": mean_of(right),
        "background_score": mean_of(scores),
        "consistency": found.average_precision,
        "chance": found.chance,
        "lift": found.lift.value,
        "lift_low": found.lift.low,
        "lift_high": found.lift.high,
        "p_value": found.p_value,
        **LiftWithinStrata.of(rows, how).columns,
    }


def _hash(seed: int, own: str, other: str) -> bytes:
    """Return one reproducible pseudo-random sort key for a pair of anchor questions."""
    return hashlib.blake2b(f"{seed}\t{own}\t{other}".encode(), digest_size=8).digest()
