"""Whether facts before an anchor question in the prompt change its answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.knowledge.background import Background
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import ALL, YES
from tacit.probes.consistency.questions import FACT, Query, about_anchors
from tacit.probes.consistency.template import Templates
from tacit.probes.consistency.wording import grammatical
from tacit.sources.questions import Anchor
from tacit.statistics.tests import holm, paired_change
from tacit.strings import comparable

CONDITIONS = ("true", "false", "irrelevant")
"""The question's own facts, their negatives stated as facts, another question's own facts."""

BEFORE = "none"
COMPARISONS = (
    *((condition, BEFORE) for condition in CONDITIONS),
    (CONDITIONS[0], CONDITIONS[1]),
    (CONDITIONS[0], CONDITIONS[2]),
)
"""The pairs of conditions that are compared, such as true facts against no facts."""

GROUPS = {"facts correct": True, "a fact incorrect": False}
"""Groups of anchor questions by the value of ``facts_right`` in ``answers_in_context``."""

MOST_FACTS = 5
"""The default maximum number of facts before a question."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Contexts:
    """The facts before anchor questions, by condition."""

    anchors: Sequence[Anchor]
    background: Background
    templates: Templates
    most: int = MOST_FACTS
    seed: int = 0

    def __post_init__(self) -> None:
        relations = self.templates.relations
        unstated = sorted(
            name for name in set(self.background.facts["relation"]) if not relations[name].statement
        )
        if unstated:
            raise RequestError(
                f"--intervene states facts, and there is no statement for {', '.join(unstated)}: "
                "add statement to these relations with --templates FILE, or select other relations "
                "with --relations"
            )
        if self.own.is_empty():
            raise RequestError(
                "--intervene needs facts that have a negative, and no question has such a fact"
            )

    def _rank(self, *words: str) -> str:
        """Return a reproducible pseudo-random sort key for the given words."""
        text = "\t".join((str(self.seed), *words))
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    @cached_property
    def own(self) -> pl.DataFrame:
        """The facts of each question's own background that are stated."""
        ids = pl.Series("anchor", [one.id for one in self.anchors], dtype=pl.String)
        facts = self.background.facts.drop_nulls("negative")
        ranks = [self._rank(*fact) for fact in facts.select(FACT).iter_rows()]
        most = (
            facts.with_columns(rank=pl.Series(ranks, dtype=pl.String))
            .sort("anchor", "weight", "rank", descending=[False, True, False], nulls_last=True)
            .group_by("anchor", maintain_order=True)
            .head(self.most)
        )
        return most.select(ids.gather(most["anchor"]), *FACT, "negative")

    @cached_property
    def irrelevant(self) -> pl.DataFrame:
        """For each question, as many facts of another one with which it shares no concept."""
        facts: dict[str, list[tuple[str, ...]]] = self.own.rows_by_key("anchor")
        order = sorted(facts, key=self._rank)
        chosen = {}
        for at, anchor in enumerate(order):
            n = len(facts[anchor])
            for other in order[at + 1 :] + order[:at]:
                some = facts[other][:n]
                if len(some) == n and self._is_irrelevant(anchor, other, some):
                    chosen[anchor] = some
                    break
        rows = [(anchor, *fact) for anchor in facts for fact in chosen.get(anchor, ())]
        return pl.DataFrame(rows, self.own.schema, orient="row")

    def _is_irrelevant(self, anchor: str, other: str, facts: Iterable[tuple[str, ...]]) -> bool:
        """Return whether a question shares no concept with another, and no word with its facts."""
        ends = {end for head, _, tail, _ in facts for end in (head, tail)}
        concepts, none = self._concepts.get(anchor, set()), set[str]()
        return concepts.isdisjoint(ends | self._concepts.get(other, none)) and self._words[
            anchor
        ].isdisjoint(_words(*ends))

    @cached_property
    def _concepts(self) -> Mapping[str, set[str]]:
        grouped = self.background.concepts.group_by("anchor").agg("concept")
        return {self.anchors[at].id: set(concepts) for at, concepts in grouped.iter_rows()}

    @cached_property
    def _words(self) -> Mapping[str, set[str]]:
        """The words of each anchor question's text and choices, except stop words."""
        from tacit.knowledge.words import Words

        is_stop = Words().is_stop
        return {
            one.id: {word for word in _words(one.question, *one.choices) if not is_stop(word)}
            for one in self.anchors
        }

    @cached_property
    def texts(self) -> Mapping[str, pl.DataFrame]:
        """The text of the facts before each anchor question (``context``), by condition."""
        facts = (self.own, self.own.with_columns(tail="negative"), self.irrelevant)
        return dict(zip(CONDITIONS, map(self._stated, facts), strict=True))

    def _stated(self, facts: pl.DataFrame) -> pl.DataFrame:
        words, relations = grammatical(), self.templates.relations
        texts = [
            f"{words.statement(relations[relation], head, tail)}."
            for head, relation, tail in facts.select(FACT).iter_rows()
        ]
        stated = facts.select("anchor", context=pl.Series(texts, dtype=pl.String))
        by_anchor = stated.group_by("anchor", maintain_order=True)
        return by_anchor.agg(pl.col("context").str.join(" "))

    def queries(self, group: str, condition: str) -> Iterator[Query]:
        """Yield the questions of a group behind the facts of one condition."""
        texts = dict(self.texts[condition].iter_rows())
        stated = [one for one in self.anchors if one.id in texts]
        for query in about_anchors(group, stated, self.templates):
            yield query._replace(before=f"{texts[query.key['anchor']]} ")


def _words(*texts: str) -> set[str]:
    return {word for text in texts for word in _WORD.findall(comparable(text).casefold())}


def tables(
    contexts: Contexts, answers: Mapping[str, pl.DataFrame], answered: ModelAnswers
) -> dict[str, pl.DataFrame]:
    """Return the tables ``answers_in_context`` and ``intervention``; answers are by condition."""
    stated = contexts.own.select("anchor", *FACT)
    known = stated.join(answered.facts, on=FACT).join(answered.fact_answers.filter(YES), on="fact")
    about = known.group_by("anchor").agg(
        facts=pl.len(), facts_right=pl.col("right").all(ignore_nulls=False)
    )
    before = answered.anchors.select("anchor", "cluster", "answer", right_before="right")
    parts = []
    for condition, chosen in answers.items():
        part = contexts.texts[condition]
        for other in (chosen, about, before):
            part = part.join(other, on="anchor", how="left", maintain_order="left")
        right = pl.col("choice") == pl.col("answer")
        parts.append(part.with_columns(right=right, condition=pl.lit(condition)))
    table = TABLES["answers_in_context"].frame(pl.concat(parts))
    return {"answers_in_context": table, "intervention": changes(table)}


def changes(answers: pl.DataFrame) -> pl.DataFrame:
    """Compute paired accuracy changes between conditions, overall and by question group."""
    columns = ("anchor", "condition", "cluster", "facts_right", "right")
    alone = answers.unique("anchor", maintain_order=True).with_columns(
        condition=pl.lit(BEFORE), right="right_before"
    )
    every = pl.concat(each.select(columns) for each in (alone, answers)).drop_nulls("right")
    parts = {ALL: every} | {name: every.filter(facts_right=so) for name, so in GROUPS.items()}
    return TABLES["intervention"].frame(
        {"group": name, **row} for name, part in parts.items() for row in _changes(part)
    )


def _changes(answers: pl.DataFrame) -> list[dict[str, Any]]:
    """Return one row per comparison of two conditions in a group of anchor questions."""
    rows = []
    for condition, against in COMPARISONS:
        after, before = (answers.filter(condition=each) for each in (condition, against))
        both = before.join(after.select("anchor", after="right"), "anchor", maintain_order="left")
        paired = paired_change(both["right"], both["after"], both["cluster"])
        keys = {"condition": condition, "against": against}
        of = {"clusters": both["cluster"].n_unique(), "no_interval": paired.change.why}
        rows.append({**keys, **of, **vars(paired)})
    corrected = holm([row["p_value"] for row in rows])
    return [{**row, "p_corrected": p} for row, p in zip(rows, corrected, strict=True)]


def summary(contexts: Contexts, group: str, table: pl.DataFrame) -> dict[str, Any]:
    """Return how facts were stated, and how many anchor questions have no context or answer."""
    asked = {condition: of.height for condition, of in contexts.texts.items()}
    own = contexts.own["anchor"].n_unique()
    paired = table.filter(group=ALL, against=BEFORE).select("condition", "n").iter_rows()
    return {
        "anchoring": group,
        "most": contexts.most,
        "seed": contexts.seed,
        "anchors": own,
        "without_context": len(contexts.anchors) - own,
        "facts": contexts.own.height,
        "asked": asked,
        "without_pair": {condition: asked[condition] - n for condition, n in paired},
    }
