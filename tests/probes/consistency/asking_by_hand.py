"""Anchors and their backgrounds, asked and answered prompt by prompt, without Tacit's probe.

The prompts are typed again from Tables 1 and 2 of Sahu et al. (2022); answers are read by loops.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from tacit.findings.findings import Findings
from tacit.knowledge.background import Background
from tacit.knowledge.options import BackgroundOptions
from tacit.models.fake import FakeModel
from tacit.probes.base import Answers
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.sources.questions import Anchor
from tests import in_order

META = {
    1: "{q}?",
    2: "{q}. Is this true?",
    3: "Answer this question as '{a}' or '{b}'. Question: {q}?",
    4: "Each item is a question and answer. Answer is one of '{a}' or '{b}'. "
    "Question: {q}? Answer:",
    5: "Pick '{a}' or '{b}'. Question: {q}?Answer:",
    6: "Question: {q}? Answer:",
}
PAIRS = (
    ("Yes", "No"),
    ("True", "False"),
    ("Right", "Wrong"),
    ("Correct", "Incorrect"),
    ("Positive", "Negative"),
    ("Pass", "Fail"),
    ("On", "Off"),
)
POSITIVE = frozenset(positive for positive, _ in PAIRS)
TEMPLATES = {
    "IsA": "Is {} a {}",
    "HasA": "Does {} has a {}",
    "PartOf": "Is {} a part of {}",
    "RelatedTo": "Is {} related to {}",
}

# What a model says: the log-probability of an answer behind a text, in nats; None for no score.
Says: TypeAlias = Callable[[str, str], float | None]


class Fact(NamedTuple):
    """A background fact; without a negative where there is none."""

    head: str
    relation: str
    tail: str
    negative: str | None = None

    @property
    def question(self) -> str:
        text = TEMPLATES[self.relation].format(self.head, self.tail)
        return text[:1].upper() + text[1:]

    @property
    def other(self) -> str | None:
        return None if self.negative is None else self._replace(tail=self.negative).question


@dataclass(frozen=True)
class Case:
    anchor: Anchor
    facts: tuple[Fact, ...] = ()


class Input(NamedTuple):
    meta: int
    pair: str
    word: str
    text: str


class Reply(NamedTuple):
    """An answer to a yes/no question; positive is None where it is missing."""

    positive: bool | None
    tied: bool = False
    margin: float | Fraction | None = None
    winner: Input | None = None


# One meta-prompt, and the pair that its variant or its answer words are of.
Way: TypeAlias = tuple[int, "str | None"]


class Taken(NamedTuple):
    """The choice that is taken, None where it is missing; who speaks for it; the margin."""

    choice: str | None
    tied: bool = False
    winner: Way | None = None
    margin: float | None = None


Scored: TypeAlias = Mapping[Input, "float | Fraction | None"]


@dataclass(frozen=True)
class Dice:
    """A model that says anything, but always the same; few levels make ties."""

    seed: int
    silent: tuple[str, ...] = ()  # parts of the texts of which it has no score
    levels: int = 64

    def __call__(self, text: str, answer: str) -> float | None:
        if any(part in text for part in self.silent):
            return None
        return _thrown(self.seed, self.levels, text, answer)


@cache
def _thrown(seed: int, levels: int, text: str, answer: str) -> float | None:
    dice = random.Random(f"{seed} {text} {answer}")  # noqa: S311 - nothing is secret
    return None if dice.random() < 0.02 else -dice.randrange(levels) / 8


def probe_of(
    cases: Iterable[Case],
    version: str = "review-lexicon",
    **options: Any,  # noqa: ANN401 - of any type
) -> ConsistencyProbe:
    """The probe of some cases; of a case's facts, the first have the highest weights."""
    cases = list(cases)
    rows = [(at, *fact, -k) for at, case in enumerate(cases) for k, fact in enumerate(case.facts)]
    schema = {"anchor": pl.Int32, **dict.fromkeys(Fact._fields, pl.String), "weight": pl.Float64}
    facts = pl.DataFrame(rows, schema, orient="row")
    concepts = pl.concat(facts.select("anchor", concept=end) for end in ("head", "tail"))
    found = pl.DataFrame({"found": [len(case.facts) for case in cases]})
    background = Background(concepts.unique(maintain_order=True), facts, found)
    of_version = BackgroundOptions(paper_version=version)  # type: ignore[arg-type]
    chosen = ConsistencyOptions(Path("none"), Path("none"), background=of_version, **options)
    return ConsistencyProbe(chosen, [case.anchor for case in cases], background)


def measured(probe: ConsistencyProbe, says: Says) -> Findings:
    """The findings, whose tables are as declared and hold no NaN."""
    found = probe.measure(answers_of(probe, says)).check(probe.tables.values())
    for table in (*found.tables.values(), found.questions):
        assert not any(column.is_nan().any() for column in table.select(pl.selectors.float()))
    return found


def answers_of(probe: ConsistencyProbe, says: Says) -> Answers:
    return in_order.answers_of(probe, FakeModel(lambda prompt, answer: says(prompt.text, answer)))


def inputs(question: str, metas: int = 6) -> Iterator[Input]:
    """The 84 inputs of a yes/no question; of 5 meta-prompts, 70."""
    for meta in range(1, metas + 1):
        for a, b in PAIRS:
            text = META[meta].format(q=question, a=a, b=b)
            for word in (a, b):
                yield Input(meta, f"{a}/{b}", word, text)


def scored(question: str, says: Says, metas: int = 6) -> dict[Input, float | None]:
    return {one: says(one.text, one.word) for one in inputs(question, metas)}


def by_max(scores: Scored) -> Reply:
    best: dict[bool, tuple[float | Fraction, Input]] = {}
    for one, value in scores.items():
        side = one.word in POSITIVE
        if value is not None and (side not in best or value > best[side][0]):
            best[side] = value, one
    if len(best) < len({True, False}):
        return Reply(None)
    margin = best[True][0] - best[False][0]
    return Reply(margin > 0, margin == 0, margin, best[margin > 0][1])


def by_count(scores: Scored) -> Reply:
    """As more pairs behind a meta-prompt say than do not."""
    pairs: dict[tuple[int, str], dict[bool, float | Fraction | None]] = {}
    for one, value in scores.items():
        pairs.setdefault((one.meta, one.pair), {})[one.word in POSITIVE] = value
    votes = [
        (yes > no) - (no > yes)
        for yes, no in ((pair[True], pair[False]) for pair in pairs.values())
        if yes is not None and no is not None
    ]
    return Reply(sum(votes) > 0, sum(votes) == 0, sum(votes)) if votes else Reply(None)


def by_single(scores: Scored, meta: int, pair: str) -> Reply:
    return by_max({one: v for one, v in scores.items() if (one.meta, one.pair) == (meta, pair)})


def calibrated(tables: Mapping[str, Scored]) -> dict[str, Scored]:
    """Each input's mean over the questions subtracted, exactly; an input is told by its place."""
    rows = [list(scores.values()) for scores in tables.values()]
    means = []
    for column in zip(*rows, strict=True):
        there = [Fraction(value) for value in column if value is not None]
        means.append(sum(there) / len(there) if there else Fraction())
    return {
        question: {
            one: None if value is None else Fraction(value) - mean
            for (one, value), mean in zip(scores.items(), means, strict=True)
        }
        for question, scores in tables.items()
    }


def choose(anchor: Anchor, says: Says, metas: int = 6) -> Taken:
    """The choice with the highest score per byte behind any variant but the second's."""
    ways = {
        (one.meta, one.pair if "{a}" in META[one.meta] else None): one.text
        for one in inputs(anchor.question.removesuffix("?"), metas)
        if one.meta != 2
    }
    best: dict[str, tuple[float, Way]] = {}
    for choice in anchor.choices:
        for way, text in ways.items():
            value = says(text, choice)
            each = None if value is None else value / len(choice.encode())
            if each is not None and (choice not in best or each > best[choice][0]):
                best[choice] = each, way
    return _taken(anchor, best)


def verify(anchor: Anchor, says: Says, metas: int = 6) -> Taken:
    """The choice of which it is most affirmed that it is the answer."""
    best: dict[str, tuple[float, Way]] = {}
    for choice in anchor.choices:
        question = f"Is '{choice}' the answer to: {anchor.question.removesuffix('?')}"
        reply = by_max(scored(question, says, metas))
        if reply.margin is not None and reply.winner is not None:
            best[choice] = float(reply.margin), (reply.winner.meta, reply.winner.pair)
    return _taken(anchor, best)


def _taken(anchor: Anchor, best: Mapping[str, tuple[float, Way]]) -> Taken:
    if len(best) < len(anchor.choices):
        return Taken(None)
    order = sorted(anchor.choices, key=lambda choice: -best[choice][0])
    (first, winner), (second, _) = best[order[0]], best[order[1]]
    return Taken(order[0], first == second, winner, first - second)
