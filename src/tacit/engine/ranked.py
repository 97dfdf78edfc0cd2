"""Rankings as the store keeps them: a row per text and vocabulary, with lists of targets and top.

The vocabulary stands in the row by its digest, and nothing is kept of the other candidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.rankings import Ranking, Standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.engine.requests import Held
    from tacit.rankings import RankingPrompt


def schema() -> dict[str, Any]:
    """The columns; log-probabilities and the normaliser are in nats, ``k`` was asked for."""
    import polars as pl

    standing = {"target": pl.String, "rank": pl.Int32, "logprob": pl.Float64, "tokens": pl.Int32}
    return {
        "text": pl.String,
        "separator": pl.String,
        "vocabulary": pl.String,
        "k": pl.Int32,
        "normaliser": pl.Float64,
        "several": pl.Int32,
        "missing": pl.Int32,
        "targets": pl.List(pl.Struct(standing)),
        "top": pl.List(pl.Struct({"word": pl.String, "logprob": pl.Float64})),
    }


def to_frame(prompts: Sequence[RankingPrompt], rankings: Sequence[Ranking]) -> pl.DataFrame:
    """The rows of some prompts' rankings."""
    import polars as pl

    rows = [
        {
            "text": prompt.text,
            "separator": prompt.separator,
            "vocabulary": prompt.vocabulary.digest,
            "k": prompt.top,
            "normaliser": ranking.normaliser,
            "several": ranking.several,
            "missing": ranking.missing,
            "targets": [
                {
                    "target": one.target,
                    "rank": one.rank,
                    "logprob": one.logprob,
                    "tokens": one.tokens,
                }
                for one in ranking.targets
            ],
            "top": [{"word": word, "logprob": logprob} for word, logprob in ranking.top],
        }
        for prompt, ranking in zip(prompts, rankings, strict=True)
    ]
    return pl.DataFrame(rows, schema=schema())


class Known:
    """What the store's rows say; where two say something of the same, the earlier one counts."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._rows: dict[Held, Mapping[str, Any]] = {}
        self._targets: dict[Held, Standing] = {}
        for row in frame.iter_rows(named=True):
            key = (row["text"], row["separator"], row["vocabulary"], row["k"])
            self._rows.setdefault(key, row)
            for one in row["targets"]:
                self._targets.setdefault((*key, one["target"]), Standing(**one))

    def held(self) -> set[Held]:
        """What of requests is known."""
        return {(*key, None) for key in self._rows} | set(self._targets)

    def ranking(self, key: Held, targets: Sequence[str]) -> Ranking:
        """The ranking of a prompt with these targets.

        Raises:
            KeyError: It is not known.
        """
        row = self._rows[key]
        return Ranking(
            targets=tuple(self._targets[*key, target] for target in targets),
            normaliser=row["normaliser"],
            top=tuple((one["word"], one["logprob"]) for one in row["top"]),
            several=row["several"],
            missing=row["missing"],
        )
