"""One run of the probe, and beside it all that it should find, worked by hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from tacit.findings.findings import Findings
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.sources.questions import Anchor
from tacit.statistics.ranking import chance_level
from tests.probes.consistency import asking_by_hand as asking
from tests.probes.consistency.asking_by_hand import Case, Fact, Reply, Says, Scored, Taken

# Whether an anchor is right, and its background score.
Pair: TypeAlias = tuple[bool, Fraction]

DOG = Fact("dog", "IsA", "animal", "carrot")
TAIL = Fact("dog", "HasA", "tail", "wheel")
HOUSE = Fact("dog", "RelatedTo", "house", "ocean")


def anchor(name: str, question: str, right: int, concept: str | None) -> Anchor:
    """A question whose choices are of one, five and six bytes."""
    return Anchor(name, question, ("x", "café", "kennel"), right, concept)


CASES = (
    Case(anchor("three facts", "Where does a dog live?", 2, "dog"), (DOG, TAIL, HOUSE)),
    Case(
        anchor("a shared fact", "What has a tail?", 0, "dog"),
        (TAIL, Fact("tail", "PartOf", "dog", "sky")),
    ),
    Case(anchor("no fact", "Why not?", 1, "nothing")),
    Case(
        anchor("a fact without a negative", "What is a cat?", 1, "cat"),
        (Fact("cat", "IsA", "animal", "stone"), Fact("cat", "RelatedTo", "pet")),
    ),
    Case(anchor("no negative at all", "Who?", 0, "pet"), (Fact("pet", "RelatedTo", "home"),)),
    Case(
        anchor("no answer", "When does it rain?", 2, "rain"),
        (DOG, HOUSE, Fact("rain", "IsA", "weather", "spoon")),
    ),
    Case(anchor("an unscored fact", "How?", 1, "way"), (Fact("way", "IsA", "silence", "tree"),)),
    Case(
        anchor("one question twice", "What does a car have?", 0, "car"),
        (
            Fact("wheel", "IsA", "part of car", "cloud"),
            Fact("wheel", "PartOf", "car", "sand"),
            # Its negative's question is another fact's own.
            Fact("wheel", "IsA", "thing", "part of car"),
        ),
    ),
    Case(
        anchor("no concept", "What is red?", 1, None),
        (Fact("rose", "HasA", "colour", "engine"), DOG),
    ),
    Case(
        anchor("many facts", "What is on a farm?", 2, "farm"),
        (
            *(Fact("farm", "HasA", name, "comet") for name in ("cow", "pig", "barn", "field")),
            Fact("cow", "IsA", "animal", "hammer"),
        ),
    ),
    Case(
        anchor("some unscored", "What is loud?", 0, "noise"),
        (Fact("noise", "IsA", "sound", "silence"), Fact("noise", "RelatedTo", "music", "milk")),
    ),
    Case(
        Anchor("two choices", "Is it so?", ("so", "not so"), 1, "dog"),
        (Fact("puppy", "IsA", "dog", "month"), Fact("puppy", "HasA", "tail", "page"), TAIL),
    ),
)
# Of whose prompts the model has no score.
SILENT = ("silence", "When does it rain")


@dataclass(frozen=True)
class Run:
    cases: Sequence[Case]
    says: Says
    metas: int = 6  # 5 in the arXiv version
    anchoring: tuple[str, ...] = ("choice",)  # the way that counts first
    answering: str = "max"  # or count

    @cached_property
    def probe(self) -> ConsistencyProbe:
        version = "arxiv" if self.metas == 5 else "review-lexicon"
        ways = {"anchors": ",".join(self.anchoring), "answering": self.answering}
        return asking.probe_of(self.cases, version, **ways)

    @cached_property
    def found(self) -> Findings:
        return asking.measured(self.probe, self.says)

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.found.tables[table].to_dicts()

    @cached_property
    def facts(self) -> list[Fact]:
        return list(dict.fromkeys(fact for case in self.cases for fact in case.facts))

    @cached_property
    def scores(self) -> dict[str, Scored]:
        own = dict.fromkeys(fact.question for fact in self.facts)
        others = dict.fromkeys(fact.other for fact in self.facts if fact.other is not None)
        return {text: asking.scored(text, self.says, self.metas) for text in own | others}

    @cached_property
    def replies(self) -> dict[str, Reply]:
        by = asking.by_max if self.answering == "max" else asking.by_count
        return {text: by(scores) for text, scores in self.scores.items()}

    @cached_property
    def taken(self) -> dict[str, list[Taken]]:
        ways = {"choice": asking.choose, "verify": asking.verify}
        return {
            way: [ways[way](case.anchor, self.says, self.metas) for case in self.cases]
            for way in self.anchoring
        }

    @cached_property
    def right(self) -> list[bool | None]:
        return [is_right(case, one) for case, one in zip(self.cases, self.counting, strict=True)]

    @cached_property
    def counting(self) -> list[Taken]:
        return self.taken[self.anchoring[0]]

    def background(self, replies: Mapping[str, Reply]) -> list[Fraction | None]:
        """The background score of each anchor (equation 1)."""
        return [both(*accuracies(case.facts, replies)) for case in self.cases]

    def pairs(
        self, replies: Mapping[str, Reply] | None = None, relation: str | None = None
    ) -> list[Pair]:
        """The anchors that have an answer and a score, and maybe a fact of a relation."""
        scores = self.background(self.replies if replies is None else replies)
        return [
            (right, score)
            for case, right, score in zip(self.cases, self.right, scores, strict=True)
            if right is not None and score is not None
            if relation is None or relation in {fact.relation for fact in case.facts}
        ]


def exact(value: Fraction | float | None) -> object:
    return None if value is None else pytest.approx(float(value), abs=1e-12)


def share(right: Iterable[bool | None]) -> Fraction | None:
    return mean(None if one is None else Fraction(one) for one in right)


def mean(values: Iterable[Fraction | None]) -> Fraction | None:
    there = [value for value in values if value is not None]
    return sum(there, Fraction()) / len(there) if there else None


def both(positive: Fraction | None, negative: Fraction | None) -> Fraction | None:
    """Equation 1."""
    return None if positive is None or negative is None else (positive + negative) / 2


def figures(pairs: Sequence[Pair]) -> dict[str, object]:
    """By scikit-learn; the chance level is tested where it is computed."""
    right, scores = [one for one, _ in pairs], [float(score) for _, score in pairs]
    precision = chance = lift = area = None
    if any(right):
        precision, chance = average_precision_score(right, scores), chance_level(right, scores)
    if precision is not None and chance is not None and not all(right):
        lift, area = (precision - chance) / (1 - chance), roc_auc_score(right, scores)
    return {
        "n": len(pairs),
        "right": sum(right),
        "accuracy": exact(share(right)),
        "background_score": exact(mean(score for _, score in pairs)),
        "consistency": exact(precision),
        "chance": exact(chance),
        "lift": exact(lift),
        "auroc": exact(area),
    }


def is_right(case: Case, taken: Taken) -> bool | None:
    anchor = case.anchor
    assert anchor.answer is not None
    return None if taken.choice is None else taken.choice == anchor.choices[anchor.answer]


def knows(fact: Fact, replies: Mapping[str, Reply]) -> bool | None:
    return replies[fact.question].positive


def knows_other(fact: Fact, replies: Mapping[str, Reply]) -> bool | None:
    positive = None if fact.other is None else replies[fact.other].positive
    return None if positive is None else not positive


def accuracies(
    facts: Sequence[Fact], replies: Mapping[str, Reply]
) -> tuple[Fraction | None, Fraction | None]:
    return (
        share(knows(fact, replies) for fact in facts),
        share(knows_other(fact, replies) for fact in facts),
    )
