"""A probe of another package: does a model know which words are synonyms?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from tacit import (
    Answers,
    Column,
    Findings,
    Headline,
    Layout,
    Probe,
    Prompt,
    Requests,
    TableSpec,
    marks_by,
    option,
)
from tacit.tables import read_table


@dataclass(frozen=True)
class SynonymOptions:
    """What the probe asks."""

    pairs: Path = option(help="TSV with word, synonym and label (yes or no).")
    template: str = option(
        "Is {word} a synonym of {synonym}? Answer:", help="How a pair is put to the model."
    )


QUESTIONS = TableSpec(
    "questions",
    "Questions",
    "Each pair, with the probability of yes against no.",
    keys=2,
    columns=(
        Column("word", "word"),
        Column("synonym", "synonym"),
        Column("label", "label"),
        Column("belief", "P(yes)", "percent", "P(yes)/(P(yes) + P(no))"),
        Column("right", "right", "truth", "Whether the more probable answer is the label."),
    ),
)
ACCURACY = TableSpec(
    "accuracy",
    "Accuracy",
    "Pairs judged as labelled; one half is chance. The interval resamples words.",
    columns=(
        Column("label", "label"),
        Column("n", "pairs", "count", of="right"),
        Column("accuracy", "accuracy", "percent", ends=("low", "high"), of="right", chance=0.5),
    ),
    printed=Layout(),
    cluster="word",
)
TOTAL = TableSpec(
    "total",
    "Accuracy over all pairs",
    ACCURACY.reading,
    columns=ACCURACY.columns[1:],
    keys=0,
    printed=Layout(),
    cluster="word",
)


@dataclass(frozen=True)
class Synonyms(Probe):
    """Asks whether one word is a synonym of another."""

    name: ClassVar[str] = "synonyms"
    summary: ClassVar[str] = "Ask whether words are synonyms."
    Options: ClassVar[type[SynonymOptions]] = SynonymOptions
    tables: ClassVar[tuple[TableSpec, ...]] = (QUESTIONS, ACCURACY, TOTAL)
    figures: ClassVar = (marks_by(ACCURACY, "accuracy", "label"),)
    headlines: ClassVar = (
        Headline("Accuracy", "pairs judged as labelled", "total", "accuracy", n=("n", "pair")),
    )

    pairs: pl.DataFrame
    template: str

    @classmethod
    def of(cls, options: SynonymOptions) -> Self:
        """Reads the pairs."""
        return cls(read_table(options.pairs, ("word", "synonym", "label")), options.template)

    def requests(self) -> dict[str, Requests]:
        """One question per pair."""
        texts = [self.template.format(**pair) for pair in self.pairs.to_dicts()]
        return {"pairs": Requests(self.pairs, [Prompt(text, ("yes", "no")) for text in texts])}

    def measure(self, answers: Answers) -> Findings:
        """The share of pairs that are judged as labelled."""
        right = (pl.col("belief") > 1 / 2) == (pl.col("label") == "yes")
        questions = answers.beliefs("pairs", "yes", "no").with_columns(right=right)
        tables = {spec.name: spec.of(questions) for spec in (ACCURACY, TOTAL)}
        return Findings(questions, tables)
