"""Which answers and violations differ between two runs, and the share of answers that flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.findings.comparison import of_question
from tacit.findings.findings import Findings
from tacit.findings.measure import Measure, mean
from tacit.probes.base import Probe

_THEN = " then"
_NONE = "no answer"


@dataclass(frozen=True)
class PairedAnswers:
    """The answers of two runs to the same questions, one row per question.

    ``both`` has the columns of ``Probe.sides`` for the base and, with `` then``, for the changed
    model; a question that only one of them answered is included, and counts as flipped.
    """

    noun: str
    both: pl.DataFrame

    @classmethod
    def of(cls, noun: str, base: pl.DataFrame, new: pl.DataFrame) -> PairedAnswers:
        """Join the answers to the same questions."""
        keys = of_question(base)
        both = base.join(new, on=keys, how="full", suffix=_THEN, coalesce=True)
        answered = pl.any_horizontal(pl.col("side", f"side{_THEN}").is_not_null())
        return cls(noun, both.filter(answered).sort(keys))

    @property
    def flipped(self) -> pl.DataFrame:
        """The rows whose answer differs."""
        return self.both.filter(pl.col("side").ne_missing(pl.col(f"side{_THEN}")))

    @property
    def listed(self) -> pl.DataFrame:
        """The flipped answers: the question as text, and the answer of each model."""
        first, *others = of_question(self.both.select(pl.exclude(f"^.*{_THEN}$")))
        text = pl.concat_str(first, pl.lit(": "), pl.concat_str(others, separator=" "))
        return self.flipped.select(
            question=text if others else pl.col(first).cast(pl.String),
            base=pl.col("side").cast(pl.String).fill_null(_NONE),
            new=pl.col(f"side{_THEN}").cast(pl.String).fill_null(_NONE),
        )

    def measure(self, margin: float | None = None) -> Measure:
        """The share of flipped answers less that expected of votes, resampled by the first key.

        Votes for the same belief flip by chance. How often follows from the sum of both runs'
        votes: if nothing changed, each division of them between the runs is equally likely.
        """
        moved = pl.lit(value=True)
        if margin is not None:
            if not self.both_have("log_odds"):
                raise RequestError(
                    f"the policy: a margin of flipped {self.noun}s requires log-odds, which the "
                    "answers do not have; remove it"
                )
            change = pl.col(f"log_odds{_THEN}") - pl.col("log_odds")
            moved = (change.abs() > margin).fill_null(value=True)
        flipped = pl.col("side").ne_missing(pl.col(f"side{_THEN}")) & moved
        over = self.both.select(flipped.cast(pl.Float64)).to_series().to_numpy() - self._by_chance()
        note = "less those by chance" if self.both_have("votes") else None
        if margin is not None:
            note = f"by more than {margin:g} in log-odds"
        share = mean(f"flipped {self.noun}s", self.both.to_series(0), np.stack([0 * over, over]))
        return replace(share, note=note)

    def _by_chance(self) -> NDArray[np.float64]:
        """The probability of each flip if both runs' votes had the same distribution."""
        if not self.both_have("votes"):
            return np.zeros(self.both.height)
        counts = ["yes", "votes", f"yes{_THEN}", f"votes{_THEN}"]
        rows = self.both.select(pl.col(counts).fill_null(0))
        known = rows.unique(maintain_order=True)
        chances = known.with_columns(p=pl.Series(map(_flip_probability, *known.iter_columns())))
        return rows.join(chances, on=counts, how="left", maintain_order="left")["p"].to_numpy()

    def both_have(self, name: str) -> bool:
        """Return whether both models' answers have a column of ``Probe.sides``."""
        return {name, f"{name}{_THEN}"} <= {*self.both.columns}

    @property
    def counts(self) -> dict[str, int]:
        """How many answers there are, and how many flipped each way."""
        flipped, side, then = self.flipped, pl.col("side"), pl.col(f"side{_THEN}")
        before, after = pl.col("right"), pl.col(f"right{_THEN}")
        ways = {"became_wrong": before & ~after, "became_right": ~before & after}
        if flipped["side"].dtype == pl.Boolean:
            ways = {"became_true": ~side & then, "became_false": side & ~then, **ways}
        ways["answered_once"] = side.is_null() | then.is_null()
        counted = {name: way.fill_null(value=False).sum() for name, way in ways.items()}
        whole = {"n": self.both.height, "flipped": flipped.height}
        return whole | flipped.select(**counted).row(0, named=True)


def _flip_probability(yes: int, votes: int, yes_then: int, votes_then: int) -> float:
    from scipy.stats import hypergeom

    if not votes or not votes_then:
        return 0.0
    total = yes + yes_then
    first = np.arange(max(0, total - votes_then), min(votes, total) + 1)
    p = hypergeom.pmf(first, votes + votes_then, total, votes)
    return float(p[(2 * first > votes) != (2 * (total - first) > votes_then)].sum())


def answers_of(kind: type[Probe], base: Findings, new: Findings) -> list[PairedAnswers]:
    """Return the answers of two runs to what both were asked, by what is answered."""
    asked = [
        {noun: _asked(table, of_question(table), other) for noun, table in kind.sides(one).items()}
        for one, other in ((base, new), (new, base))
    ]
    return [PairedAnswers.of(noun, table, asked[1][noun]) for noun, table in asked[0].items()]


def _asked(table: pl.DataFrame, keys: Sequence[str], other: Findings) -> pl.DataFrame:
    """The rows about questions that another run has too, if the keys are those of questions."""
    if not {*keys} <= {*other.questions.columns}:
        return table
    return table.join(other.questions, on=keys, how="semi", maintain_order="left")


def violations_of(kind: type[Probe], base: Findings, new: Findings) -> pl.DataFrame | None:
    """Return the violations that only one of two runs has, as ``new`` or ``healed``."""
    before, after = kind.violations(base), kind.violations(new)
    if before is None or after is None:
        return None
    keys, first = before.columns, before.columns[:1]
    before, after = _asked(before, first, new), _asked(after, first, base)
    only = {"new": (after, before), "healed": (before, after)}
    return pl.concat(
        mine.join(other, on=keys, how="anti", maintain_order="left").select(
            pl.lit(state).alias("state"),
            pl.all(),
            text=pl.concat_str(keys[0], pl.lit(": "), "violation"),
        )
        for state, (mine, other) in only.items()
    )
