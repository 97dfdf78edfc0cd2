"""Build tables of a model's answers to background questions and anchor questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency import votes
from tacit.probes.consistency.scored import ANCHORING, input_labels, joined_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Answers, Chosen
    from tacit.probes.consistency.background_scores import CorrectAnswers
    from tacit.probes.consistency.questions import Asked
    from tacit.probes.consistency.scored import Scored
    from tacit.sources.anchors import Anchor


def facts(
    asked: Asked,
    known: CorrectAnswers,
    answers: Answers,
    scored: Scored,
    beliefs: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return a table of the facts, their background questions and the model's answers."""
    import polars as pl

    table = asked.facts
    told = input_labels(scored.variants, scored.inputs)
    for side, right in (("positive", known.positive), ("negative", known.negative)):
        place = table[f"{side}_question"]
        at = place.fill_null(0).to_numpy()
        winner = answers.winner[at]
        there = place.is_not_null()
        chosen_variants = [told[w] if w >= 0 else (None, None, None) for w in winner]
        meta, pair, word = (
            (list(column) for column in zip(*chosen_variants, strict=True))
            if chosen_variants
            else ([], [], [])
        )
        columns = {
            f"{side}_question": pl.Series([asked.texts[p] for p in at], dtype=pl.String),
            f"{side}_right": pl.Series(right).fill_nan(None).cast(pl.Boolean),
            f"{side}_margin": pl.Series(answers.margin[at]).fill_nan(None),
            f"{side}_tied": pl.Series(answers.tied[at]),
            f"{side}_meta": pl.Series(meta, dtype=pl.Int64),
            f"{side}_pair": pl.Series(pair, dtype=pl.String),
            f"{side}_word": pl.Series(word, dtype=pl.String),
        }
        if beliefs is not None:
            columns |= {f"{side}_{column.name}": column for column in beliefs[at].get_columns()}
        table = table.with_columns(
            pl.when(there).then(column).alias(name) for name, column in columns.items()
        )
    return table


def anchors(
    of: Sequence[Anchor],
    scored: Scored,
    anchoring: str,
    background: pl.DataFrame,
    frequency: pl.Series,
) -> pl.DataFrame:
    """Return a table with each anchor question's background score and the model's answer."""
    import polars as pl

    told = pl.DataFrame(
        {
            "anchor": [anchor.id for anchor in of],
            "question": [anchor.question for anchor in of],
            "concept": pl.Series([anchor.concept for anchor in of], dtype=pl.String),
            "cluster": [anchor.concept or f"anchor {anchor.id}" for anchor in of],
            "answer": [None if a.answer is None else a.choices[a.answer] for a in of],
            "frequency": frequency,
        }
    )
    answered = [
        _answered(of, chosen, scored.chosen_variants(way), "" if way == anchoring else f"{way}_")
        for way in (anchoring, *(other for other in ANCHORING if other != anchoring))
        if (chosen := scored.chosen(way)) is not None
    ]
    return pl.concat([told, background, *answered], how="horizontal")


def _answered(
    of: Sequence[Anchor],
    chosen: Chosen,
    told: Sequence[tuple[int, str | None, str | None]],
    prefix: str,
) -> pl.DataFrame:
    import polars as pl

    choices = [
        None if at < 0 else anchor.choices[at] for anchor, at in zip(of, chosen.choice, strict=True)
    ]
    right = chosen.choice == np.array([anchor.answer for anchor in of])
    won = [told[w][:2] if w >= 0 else (None, None) for w in chosen.winner]
    return pl.DataFrame(
        {
            f"{prefix}choice": pl.Series(choices, dtype=pl.String),
            f"{prefix}right": pl.Series(right).set(pl.Series(chosen.missing), None),
            f"{prefix}margin": pl.Series(chosen.margin).fill_nan(None),
            f"{prefix}tied": pl.Series(chosen.tied),
            f"{prefix}meta": pl.Series([meta for meta, _ in won], dtype=pl.Int64),
            f"{prefix}pair": pl.Series([pair for _, pair in won], dtype=pl.String),
        }
    )


def questions(asked: Asked, scored: Scored) -> pl.DataFrame:
    """Return a table of the log-probability of every answer word in every background prompt."""
    import polars as pl

    told = input_labels(scored.variants, scored.inputs)
    n = len(asked.texts)
    meta, pair, word = (list(column) for column in zip(*told, strict=True))
    table = pl.DataFrame(
        {
            "question": pl.Series(asked.texts, dtype=pl.String).gather(
                np.repeat(np.arange(n), len(told))
            ),
            "meta": pl.Series(np.tile(meta, n), dtype=pl.Int64),
            "pair": pl.Series(pair, dtype=pl.String).gather(np.tile(np.arange(len(told)), n)),
            "word": pl.Series(word, dtype=pl.String).gather(np.tile(np.arange(len(told)), n)),
            "logprob": pl.Series(scored.background.ravel()).fill_nan(None),
        }
    )
    if scored.unread is None:
        return table
    counted = table.rename({"logprob": "votes"}).cast({"votes": pl.Int64})
    shares = votes.of_inputs(scored.background, scored.unread, scored.inputs)
    return pl.concat([counted, shares], how="horizontal")


def verifications(of: Sequence[Anchor], scored: Scored) -> pl.DataFrame | None:
    """Return the scores of the answer words in prompts that ask whether a choice is the answer."""
    import polars as pl

    if scored.verified is None:
        return None
    labels = input_labels(scored.variants, scored.inputs)
    asked = [(a, c) for a, anchor in enumerate(of) for c, _ in enumerate(anchor.choices)]
    values = np.array([scored.verified[a, c] for a, c in asked]).ravel()
    named = [(of[a].id, of[a].choices[c]) for a, c in asked]
    questions = pl.DataFrame(named, {"anchor": pl.String, "choice": pl.String}, orient="row")
    inputs = pl.DataFrame(
        labels, {"meta": pl.Int64, "pair": pl.String, "word": pl.String}, orient="row"
    )
    table = questions.join(inputs, how="cross", maintain_order="left_right")
    table = table.with_columns(logprob=pl.Series(values, dtype=pl.Float64).fill_nan(None))
    if not scored.voted:
        return table
    return table.rename({"logprob": "votes"}).cast({"votes": pl.Int64})


def choices(of: Sequence[Anchor], scored: Scored) -> pl.DataFrame:
    """Return the log-probability of every choice in every prompt variant."""
    import polars as pl

    table = scored.choices
    rows = (
        [
            (anchor.id, variant.meta, joined_pair(variant.pair), choice, table[a, f, c], size)
            for a, anchor in enumerate(of)
            for f, variant in enumerate(scored.choice_variants)
            for c, (choice, size) in enumerate(zip(anchor.choices, scored.sizes[a], strict=False))
        ]
        if table is not None
        else []
    )
    schema = {
        "anchor": pl.String,
        "meta": pl.Int64,
        "pair": pl.String,
        "choice": pl.String,
        "logprob": pl.Float64,
        "bytes": pl.Int64,
    }
    frame = pl.DataFrame(rows, schema, orient="row").with_columns(pl.col("logprob").fill_nan(None))
    return frame.with_columns(per_byte=pl.col("logprob") / pl.col("bytes"))
