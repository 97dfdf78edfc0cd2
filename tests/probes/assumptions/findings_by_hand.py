"""Findings of the assumptions probe as a run gives them, made up from a seed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from tacit.findings.findings import Findings
from tacit.probes.assumptions.averages import averages
from tacit.probes.assumptions.block import standing
from tacit.probes.assumptions.tables import MAIN, TABLES
from tacit.probes.assumptions.wording import joined
from tacit.statistics import Bootstrap
from tests.probes.assumptions.made_up import candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

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
    MAIN: 0.0,
    "top-increasing": 0.6,
    "bottom-decreasing": 1.5,
    "bottom-increasing": 1.9,
    **{f"random-{number}-{order}": 0.9 for number in (1, 2) for order in (1, 2)},
}
RESPONSES = {
    "is": {"big": 20, "brown": 12, "dangerous": 4},
    "is a": {"animal": 25, "mammal": 9, "predator": 5, "pet": 2},
    "has": {"fur": 27, "claws": 15, "teeth": 11, "cubs": 7, "paws": 7},
    "has a": {"tail": 8, "nose": 5, "face": 3},
    "made of": {"metal": 25, "wood": 20, "plastic": 4, "aluminium": 2},
}
OTHERS = ("dog", "cat", "fox", "lion", "wolf", "thing", "dangerous", "legs", "wood", "steel")
OVER = {"vocabulary": 20_000, "sensible": 60}


@dataclass(frozen=True)
class Made:
    """What findings are made of."""

    seed: int = 0
    skill: float = 0.0
    wording: str = "sentence"
    kind: str = "masked"

    def findings(self) -> Findings:
        """The findings, with their measures."""
        draw = random.Random(self.seed)  # noqa: S311 - made-up figures
        rows: dict[str, list[dict[str, Any]]] = {
            "retrieval": list(self._retrieval(draw)),
            "elicitation": list(self._elicitation(draw)),
        }
        rows["retrieval_top"] = list(_retrieval_top(rows["retrieval"], draw))
        rows["elicitation_top"] = list(_elicitation_top(draw))
        ranks = {name: TABLES[name].frame(some) for name, some in rows.items()}
        about = {name: TABLES[name].frame(some) for name, some in ABOUT.items()}
        tables: dict[str, pl.DataFrame] = {**ranks, **averages(ranks), **about}
        summary = {**standing(tables), **self._summary()}
        return Findings(tables.pop("questions"), tables, summary)

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

    def _retrieval(self, draw: random.Random) -> Iterator[dict[str, Any]]:
        asked: list[tuple[str, str | None, int]] = [(order, None, 10) for order in ORDERS]
        asked += [(MAIN, category, most) for category, most in CATEGORIES.items()]
        for (order, category, most), (at, concept) in product(asked, enumerate(CONCEPTS)):
            # Fewer concepts have more properties of a category.
            enough = most if category is None else max(1, most - at % most)
            for n in range(1, enough + 1):
                mean = 2.6 + ORDERS[order] + (category is not None) - self.skill - 0.9 * math.log(n)
                rank = max(1, round(math.exp(draw.gauss(mean, 1.2))))
                yield self._stands(order, category, concept, n, rank)

    def _stands(
        self, order: str, category: str | None, concept: str, n: int, rank: int
    ) -> dict[str, Any]:
        logprob = -0.6 - 1.3 * math.log(rank)
        stated, sentence = joined(list(PROPERTIES[:n])), self.wording == "sentence"
        known = concept != "banjo"  # which the model cannot write
        return {
            "wording": self.wording,
            "order": order,
            "category": category,
            "concept": concept,
            "word": concept.partition("_")[0],
            "n": n,
            "added": PROPERTIES[n - 1],
            "text": f"A ___ {stated}." if sentence else f"Something that {stated} is called a ___",
            "rank": rank if known else None,
            "logprob": logprob if known else None,
            "renormalised": logprob + 0.1 if known else None,
            "tokens": 1,
            "candidates": 19_998,
            "whole_sentence": self.kind == "causal" and sentence,
        }

    def _elicitation(self, draw: random.Random) -> Iterator[dict[str, Any]]:
        for key in _asked():
            answers = RESPONSES[key["relation"]]
            ranks = draw.sample(range(1, 31), len(answers))
            for (word, frequency), rank in zip(answers.items(), ranks, strict=True):
                at = None if word == "cubs" else max(1, round(rank / (1 + self.skill)))
                yield {
                    **key,
                    "text": f"Everyone knows that {key['concept']} {key['relation']} ___.",
                    "word": word,
                    "frequency": frequency + len(key["concept"]) % 3,
                    "spelling": None if at is None else word,
                    "rank": at,
                    "logprob": None if at is None else -math.log(at) - rank / 100,
                    "candidates": OVER[key["over"]],
                }


def _asked() -> Iterator[dict[str, Any]]:
    """The keys of the elicitation prompts."""
    for relation, preface, over, concept in product(RESPONSES, (True, False), OVER, CONCEPTS):
        yield {"relation": relation, "preface": preface, "over": over, "concept": concept}


def _retrieval_top(rows: list[dict[str, Any]], draw: random.Random) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row["category"] is None and row["order"] == MAIN:
            words = [word for word in OTHERS[:6] if word != row["word"]]
            draw.shuffle(words)
            if row["rank"] is not None and row["rank"] <= 5:
                words.insert(row["rank"] - 1, row["word"])
            key = {name: row[name] for name in ("wording", "concept", "n", "whole_sentence")}
            for best in _best(words[:5]):
                yield {**key, **best, "renormalised": best["logprob"] + 0.1}


def _elicitation_top(draw: random.Random) -> Iterator[dict[str, Any]]:
    for key in _asked():
        words = [*RESPONSES[key["relation"]], *OTHERS[6:]]
        draw.shuffle(words)
        yield from ({**key, **best} for best in _best(list(dict.fromkeys(words[:5]))))


def _best(words: list[str]) -> list[dict[str, Any]]:
    """Words from the best, with probabilities of 0.48, 0.24 and so on."""
    return [
        {"place": place, "word": word, "logprob": math.log(0.96 * 0.5**place)}
        for place, word in enumerate(words, 1)
    ]


_PERSON = "A ___ has parents, siblings, relatives, a home, a pet, a car, a spouse, a job."
_PRINCE = {
    ("person", "concept", _PERSON): ["person", "child", "human"],
    ("country", "has a", "Everyone knows that a country has a ___."): [
        *("constitution", "history", "leader"),
    ],
}
_REMOVED = {"of": "concepts for retrieval", "filter": "not one word"}
ABOUT: dict[str, list[dict[str, Any]]] = {
    "prince": [
        {"concept": concept, "part": part, "text": text, **best, "target": best["word"] in meant}
        for (concept, part, text), words in _PRINCE.items()
        for meant in ({"person", "history", "leader"},)
        for best in _best(words)
    ],
    "vocabulary": [
        {"word": word, "own": True, "shared": word in CONCEPTS, "candidate": word in CONCEPTS}
        for word in (*CONCEPTS, "Bear")
    ],
    "filters": [{**_REMOVED, "removed": 1, "left": 23}],
    "left_out": [{**_REMOVED, "concept": "polar bear", "feature": None, "frequency": None}],
    "categories": [
        {
            "category": "visual perceptual",
            "properties": 8,
            "concepts_per_property": 2.0,
            "usable": 16,
        }
    ],
    "category_counts": [{"category": "visual perceptual", "n": 1, "concepts": 16}],
    "questions": [
        {
            "text": "A ___ has fur.",
            "words": 20_000,
            "normaliser": -0.1,
            "several": 2,
            "missing": 3,
            "top": [{"word": "bear", "logprob": math.log(0.48)}],
        }
    ],
}
"""What was used and what was not."""
