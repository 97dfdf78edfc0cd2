"""Anchors with facts and concepts of their own, and models that read a context or ignore it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from tacit.knowledge.background import Background
from tacit.models.fake import FakeModel
from tacit.probes.consistency.contexts import ContextChoice
from tacit.probes.consistency.probe import ConsistencyProbe, Reading
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import Paper
from tacit.sources.anchors import Anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.findings.findings import Findings
    from tacit.requests import Prompt

COUNTS = (3, 1, 2, 3, 2, 4, 1, 3, 2, 3, 2, 4)
"""The number of facts of each anchor. Even anchors have their correct choice as a fact's tail."""

POSITIVE = ("Yes", "True", "Right", "Correct", "Positive", "Pass", "On")


def anchors() -> list[Anchor]:
    """As many anchors as counts, three of one question concept and one of each other."""
    return [
        Anchor(
            f"q{at}",
            f"What is alpha{at} for?",
            (f"wrong{at}", f"answer{at}", f"other{at}"),
            1,
            f"concept{max(0, at - 2)}",
        )
        for at in range(len(COUNTS))
    ]


def facts() -> list[tuple[int, str, str, str, str | None, float | None]]:
    """Anchor, head, relation, tail, negative and weight; the first of each is the heaviest."""
    return [
        (
            at,
            f"alpha{at}",
            "HasA",
            f"answer{at}" if at % 2 == 0 and k == 0 else f"tail{at}x{k}",
            f"false{at}x{k}",
            float(9 - k),
        )
        for at, count in enumerate(COUNTS)
        for k in range(count)
    ]


def background(rows: Sequence[tuple[object, ...]] | None = None) -> Background:
    """The background of the anchors, with its concepts by part."""
    columns = ("head", "relation", "tail", "negative")
    schema = {"question": pl.Int32, **dict.fromkeys(columns, pl.String), "weight": pl.Float64}
    table = pl.DataFrame(facts() if rows is None else rows, schema, orient="row")
    concepts = pl.concat([table.select("question", concept=end) for end in ("head", "tail")])
    answers = concepts.filter(pl.col("concept").str.starts_with("answer"))
    by_part = pl.concat(
        [
            concepts.with_columns(part=0).select("question", "part", "concept"),
            answers.with_columns(part=2).select("question", "part", "concept"),
        ]
    )
    found = pl.DataFrame({"found": COUNTS})
    return Background(concepts.unique().sort("question", "concept"), table, found, None, by_part)


def probe_in_context(
    known: Background | None = None,
    most: int = 5,
    reading: Reading | None = None,
    of: Sequence[Anchor] | None = None,
) -> ConsistencyProbe:
    """The probe that asks the anchors in contexts too."""
    templates = load_templates()
    return ConsistencyProbe(
        anchors() if of is None else of,
        known or background(),
        replace(templates, pairs=templates.pairs[:2]),
        Paper(),
        reading=reading or Reading(),
        context=ContextChoice(most),
    )


def measured(probe: ConsistencyProbe, score: Callable[[Prompt, str], float | None]) -> Findings:
    """What a probe finds of a model."""
    return probe.measure_in_order(FakeModel(score).answer(probe.prompts))


def copies(prompt: Prompt, answer: str) -> float:
    """A model that takes the choice that its context names, else the first, which is wrong."""
    if answer in POSITIVE or answer in {"No", "False"}:  # a choice named twice is in the context
        named = next((w for w in prompt.text.split("'") if w.startswith(("answer", "wrong"))), None)
        twice = named is not None and prompt.text.count(named) > 1
        wrong = named is not None and named.startswith("wrong")
        return 0.0 if (answer in POSITIVE) == (twice or wrong) else -2.0 - twice
    words = prompt.text.replace(".", " ").split()
    return 0.0 if answer in words else -1.0 if answer.startswith("wrong") else -50.0


def hurt(prompt: Prompt, answer: str) -> float:
    """A model that is right, except behind a false fact."""
    false = "false" in prompt.text
    return 0.0 if answer.startswith("wrong" if false else "answer") else -50.0
