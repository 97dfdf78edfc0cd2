"""Sampled replies as the store keeps them: a row per text and number, as the model wrote them.

Which answer a reply is, is read off it later: other answers ask nothing, and more samples ask only
the ones that are lacking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.models.chat_samples import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.models.chat_samples import Draws

KEY = ("text", "number")


def schema() -> dict[str, Any]:
    """The columns; ``state`` says how a reply ended."""
    import polars as pl

    return {"text": pl.String, "number": pl.Int32, "reply": pl.String, "state": pl.String}


def to_frame(draws: Sequence[Draws], samples: Sequence[Sequence[Sample]]) -> pl.DataFrame:
    """The rows of some texts' replies."""
    import polars as pl

    rows = [
        (each.text, number, sample.reply, sample.state)
        for each, some in zip(draws, samples, strict=True)
        for number, sample in zip(each.numbers, some, strict=True)
    ]
    return pl.DataFrame(rows, schema=schema(), orient="row")


def known(frame: pl.DataFrame) -> dict[tuple[str, int], Sample]:
    """The replies that rows hold, by text and number."""
    return {
        (text, number): Sample(reply, state)
        for text, number, reply, state in frame.select(
            "text", "number", "reply", "state"
        ).iter_rows()
    }
