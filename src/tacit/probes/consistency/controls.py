"""Conceptual consistency without some facts, and with another question's facts (METHODS 4)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.probes.consistency.background import by_anchor, mean_of
from tacit.probes.consistency.consistency import within_strata
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.lift import predict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.background import Background
    from tacit.sources.anchors import Anchor
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
    """Controls that leave out background facts, or swap facts between questions.

    ``facts``, ``links`` and ``anchors`` are tables of the run.
    """

    of: Sequence[Anchor]
    background: Background
    facts: pl.DataFrame
    links: pl.DataFrame
    anchors: pl.DataFrame
    seed: int = 0

    def table(self, how: Permutations | None = None) -> pl.DataFrame:
        """Compute conceptual consistency with the whole, reduced and irrelevant backgrounds."""
        import polars as pl

        spec = TABLES["controls"]
        rows = [_row(WHOLE, self.anchors, how)]
        for name, label in WITHOUT.items():
            concepts = self._concepts(name)
            if isinstance(concepts, str):
                rows.append(
                    {**dict.fromkeys(spec.schema), "background": label, "missing": concepts}
                )
            else:
                rows.append(_row(label, self._with(self.without(concepts)), how))
        others = pl.Series(self.partners(), dtype=pl.UInt32)
        swapped = self.anchors.with_columns(pl.col("background_score").gather(others))
        rows.append(_row(IRRELEVANT, swapped, how))
        return spec.frame(rows)

    def without(self, concepts: pl.DataFrame) -> pl.DataFrame:
        """Return the background scores from all facts except those about an anchor's concepts."""
        ends = self._ends().join(concepts, on=["anchor", "concept"], how="semi")
        return by_anchor(self.links.join(ends, on=["anchor", "fact"], how="anti"), self.facts)

    def _with(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the anchor questions with other background scores and numbers of facts."""
        kept = self.anchors.drop("background_score", "facts").with_row_index("row")
        return kept.join(
            scores, left_on="row", right_on="anchor", how="left", maintain_order="left"
        )

    def _ends(self) -> pl.DataFrame:
        """Return the two concepts of each fact of each anchor question."""
        import polars as pl

        found = self.links.join(self.facts.select("fact", "head", "tail"), on="fact")
        return pl.concat(found.select("anchor", "fact", concept=end) for end in ("head", "tail"))

    def _concepts(self, name: str) -> pl.DataFrame | str:
        """Return the concepts whose facts a control leaves out, or why they are unknown."""
        import polars as pl

        anchor = pl.col("question").cast(pl.Int64).alias("anchor")
        topics, members = self.background.topics, self.background.by_part
        if name == "topic":
            unknown = topics is None or topics.is_empty()
            return NO_TOPIC if unknown or topics is None else topics.select(anchor, "concept")
        if members is None:
            return UNKNOWN
        members = members.filter(pl.col("part") > 0)
        if name == "answer":
            parts = pl.Series([(one.answer or 0) + 1 for one in self.of], dtype=pl.Int64)
            members = members.filter(pl.col("part") == parts.gather(members["question"]))
        return members.select(anchor, "concept")

    def partners(self) -> list[int | None]:
        """Select the question that provides each anchor question's irrelevant background.

        It has equally many facts, and shares no concept with the question.
        """
        import polars as pl

        scored = self.anchors["background_score"].is_not_null()
        rows = self.anchors.select("facts").with_row_index("anchor").filter(scored)
        alike = dict(rows.group_by("facts").agg("anchor").iter_rows())
        own = self.background.concepts.select(pl.col("question").cast(pl.Int64), "concept")
        ends = self._ends().select(question="anchor", concept="concept")
        concepts = pl.concat([ends, own]).group_by("question").agg("concept")
        sets = {at: frozenset(each) for at, each in concepts.iter_rows()}
        found: list[int | None] = [None] * len(self.of)
        for one, count in rows.iter_rows():
            fits = (at for at in alike[count] if at != one and sets[one].isdisjoint(sets[at]))
            found[one] = min(fits, key=lambda at: self._rank(one, at), default=None)
        return found

    def _rank(self, own: int, other: int) -> bytes:
        """Return a reproducible pseudo-random sort key for a pair of anchor questions."""
        text = f"{self.seed}\t{self.of[own].id}\t{self.of[other].id}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _row(label: str, anchors: pl.DataFrame, how: Permutations | None) -> dict[str, Any]:
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
        "lift": found.lift,
        "p_value": found.p_value,
        **within_strata(rows, how),
        "missing": None,
    }
