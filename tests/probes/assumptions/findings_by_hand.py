"""Findings of the assumptions probe as a run gives them, made up from a seed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import polars as pl

from tacit.findings.findings import Findings
from tacit.probes.assumptions.averages import averages
from tacit.probes.assumptions.block import standing
from tacit.probes.assumptions.tables import TABLES
from tacit.probes.assumptions.wording import joined
from tacit.statistics import Bootstrap
from tests.probes.assumptions.made_up import candidates

CONCEPTS = (
    *("bear", "tiger", "ladder", "piano", "seal_(animal)", "rocket", "spoon", "banjo"),
    *("camel", "duck", "fridge", "glove", "hammer", "lemon", "moose", "rabbit"),
)
PROPERTIES = (
    *("has fur", "is big", "has claws", "has teeth", "is an animal", "eats", "is brown"),
    *("lives in woods", "is found in many countries of the north", "has paws"),
)
CATEGORIES = {"visual perceptual": 8, "functional": 6, "encyclopaedic": 5}
ORDERS = {
    "top-decreasing": 0.0,
    "top-increasing": 0.6,
    "bottom-decreasing": 1.5,
    "bottom-increasing": 1.9,
    **{f"random-{number}-{order}": 0.9 for number in (1, 2) for order in (1, 2)},
}
RESPONSES = {
    "is": (("big", 20), ("brown", 12), ("dangerous", 4)),
    "is a": (("animal", 25), ("mammal", 9), ("predator", 5), ("pet", 2)),
    "has": (("fur", 27), ("claws", 15), ("teeth", 11), ("cubs", 7), ("paws", 7)),
    "has a": (("tail", 8), ("nose", 5), ("face", 3)),
    "made of": (("metal", 25), ("wood", 20), ("plastic", 4), ("aluminium", 2)),
}
OTHERS = ("dog", "cat", "fox", "lion", "wolf", "thing", "dangerous", "legs", "wood", "steel")


@dataclass(frozen=True)
class Made:
    """What findings are made of."""

    seed: int = 0
    skill: float = 0.0
    wording: str = "sentence"
    prefaces: tuple[bool, ...] = (True, False)
    concepts: tuple[str, ...] = CONCEPTS
    kind: str = "masked"

    def findings(self) -> Findings:
        """The findings, with their measures."""
        draw = random.Random(self.seed)  # noqa: S311 - made-up figures
        where = {
            "retrieval": self._retrieval(draw),
            "elicitation": self._elicitation(draw),
        }
        where["retrieval_top"] = self._retrieval_top(where["retrieval"], draw)
        where["elicitation_top"] = self._elicitation_top(draw)
        tables = {**where, **averages(where), "prince": prince(), **about(self.concepts)}
        return Findings(questions(), tables, {**standing(tables), **self._summary()})

    def _summary(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "candidates": candidates([self.wording]),
            "vocabulary": {"name": "shared", "words": 20_000, "shared": 20_000, "own": 28_996},
            "norms": {"concepts": 24, "properties": 240},
            "wordings": [self.wording],
            "elicitation_wording": self.wording,
            "several": 2,
            "missing": 3,
            "intervals": {**Bootstrap().to_json(), "clusters": "concept"},
        }

    def _retrieval(self, draw: random.Random) -> pl.DataFrame:
        asked: list[tuple[str, str | None, int]] = [(order, None, 10) for order in ORDERS]
        asked += [("top-decreasing", category, most) for category, most in CATEGORIES.items()]
        rows = []
        for order, category, most in asked:
            for at, concept in enumerate(self.concepts):
                # Fewer concepts have more properties of a category.
                enough = most if category is None else max(1, most - at % most)
                for n in range(1, enough + 1):
                    rank = self._rank(draw, n, ORDERS[order] + (category is not None))
                    rows.append(self._stands(order, category, concept, n, rank))
        return TABLES["retrieval"].frame(rows)

    def _rank(self, draw: random.Random, n: int, harder: float) -> int:
        mean = 2.6 + harder - self.skill - 0.9 * math.log(n)
        return max(1, round(math.exp(draw.gauss(mean, 1.2))))

    def _stands(
        self, order: str, category: str | None, concept: str, n: int, rank: int
    ) -> dict[str, Any]:
        logprob = -0.6 - 1.3 * math.log(rank)
        said = joined(list(PROPERTIES[:n]))
        sentence = self.wording == "sentence"
        return {
            "wording": self.wording,
            "order": order,
            "category": category,
            "concept": concept,
            "word": concept.partition("_")[0],
            "n": n,
            "added": PROPERTIES[n - 1],
            "text": f"A ___ {said}." if sentence else f"Something that {said} is called a ___",
            # What the model cannot write is missing.
            "rank": None if concept == "banjo" else rank,
            "logprob": None if concept == "banjo" else logprob,
            "renormalised": None if concept == "banjo" else logprob + 0.1,
            "tokens": 1,
            "candidates": 19_998,
            "whole_sentence": self.kind == "causal" and sentence,
        }

    def _retrieval_top(self, retrieval: pl.DataFrame, draw: random.Random) -> pl.DataFrame:
        main = retrieval.filter(pl.col("category").is_null(), order="top-decreasing")
        rows = []
        for row in main.iter_rows(named=True):
            words = [word for word in OTHERS[:6] if word != row["word"]]
            draw.shuffle(words)
            if row["rank"] is not None and row["rank"] <= 5:
                words.insert(row["rank"] - 1, row["word"])
            for place, word in enumerate(words[:5], 1):
                said = (row["wording"], row["concept"], row["n"], place, word)
                rows.append((*said, share(place), share(place) + 0.1, row["whole_sentence"]))
        return frame(rows, "wording concept n place word logprob renormalised whole_sentence")

    def _elicitation(self, draw: random.Random) -> pl.DataFrame:
        rows = []
        for relation, answers in RESPONSES.items():
            for preface in self.prefaces:
                for over, size in (("vocabulary", 20_000), ("sensible", 60)):
                    for concept in self.concepts:
                        text = asked(relation, concept, preface=preface)
                        ranks = draw.sample(range(1, 31), len(answers))
                        for (word, frequency), rank in zip(answers, ranks, strict=True):
                            known = word != "cubs"
                            at = max(1, round(rank / (1 + self.skill))) if known else None
                            rows.append(
                                (relation, preface, over, concept, text, word,
                                 frequency + len(concept) % 3, word if known else None, at,
                                 None if at is None else -math.log(at) - rank / 100, size)
                            )  # fmt: skip
        names = "relation preface over concept text word frequency spelling rank logprob candidates"
        return frame(rows, names)

    def _elicitation_top(self, draw: random.Random) -> pl.DataFrame:
        rows = []
        for relation, answers in RESPONSES.items():
            for preface in self.prefaces:
                for over in ("vocabulary", "sensible"):
                    for concept in self.concepts:
                        words = [word for word, _ in answers] + list(OTHERS[6:])
                        draw.shuffle(words)
                        rows += [
                            (relation, preface, over, concept, place, word, share(place))
                            for place, word in enumerate(dict.fromkeys(words[:5]), 1)
                        ]
        return frame(rows, "relation preface over concept place word logprob")


def asked(relation: str, concept: str, *, preface: bool) -> str:
    """The text of an elicitation prompt, in short."""
    text = f"{concept} {relation} ___."
    return f"Everyone knows that a {text}" if preface else f"A {text}"


def share(place: int) -> float:
    """The log-probability of the candidate at a place: of 0.48, 0.24 and so on."""
    return math.log(0.96 * 0.5**place)


def prince() -> pl.DataFrame:
    """Prince's examples: what a person has, and what a country has."""
    text = "A ___ has parents, siblings, relatives, a home, a pet, a car, a spouse, a job."
    rows = [("person", "concept", text, place, word, share(place), word == "person")
            for place, word in enumerate(("person", "child", "human"), 1)]  # fmt: skip
    text = "Everyone knows that a country has a ___."
    rows += [("country", "has a", text, place, word, share(place), word in {"history", "leader"})
             for place, word in enumerate(("constitution", "history", "leader"), 1)]  # fmt: skip
    return frame(rows, "concept part text place word logprob target")


def about(concepts: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """What was used and what was not."""
    words = [*concepts, "Bear"]
    among = [word in concepts for word in words]
    shared = {"own": [True] * len(words), "shared": among, "candidate": among}
    perceptual = {"category": ["visual perceptual"]}
    removed = {"of": "concepts for retrieval", "filter": "not one word"}
    return {
        "vocabulary": pl.DataFrame({"word": words, **shared}),
        "filters": TABLES["filters"].frame([{**removed, "removed": 1, "left": 23}]),
        "left_out": TABLES["left_out"].frame(
            [{**removed, "concept": "polar bear", "feature": None, "frequency": None}]
        ),
        "categories": pl.DataFrame(
            {**perceptual, "properties": [8], "concepts_per_property": [2.0], "usable": [16]}
        ),
        "category_counts": pl.DataFrame({**perceptual, "n": [1], "concepts": [16]}),
    }


def questions() -> pl.DataFrame:
    """One text, with its best candidate."""
    counts = {"words": [20_000], "normaliser": [-0.1], "several": [2], "missing": [3]}
    top = [[{"word": "bear", "logprob": share(1)}]]
    return pl.DataFrame({"text": ["A ___ has fur."], **counts, "top": top})


def frame(rows: list[tuple[Any, ...]], names: str) -> pl.DataFrame:
    """A table of rows."""
    return pl.DataFrame(rows, names.split(), orient="row", infer_schema_length=None)
