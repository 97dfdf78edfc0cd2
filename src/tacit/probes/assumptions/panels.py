"""What the figures of the assumptions probe share: their rows, series and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.assumptions.templates import load_templates
from tacit.probes.figures.charts import SHAPES
from tacit.probes.figures.panels import DASH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from tacit.probes.figures.charts import Palette
    from tacit.probes.figures.panels import Shown

_SMALLEST = 0.001
_LEAST = 1e-300  # of an axis's length; below it powers of ten lose their digits
_DECIMALS_FROM = 0.1


@dataclass(frozen=True)
class Series:
    """What is told apart in a panel, and how.

    Args:
        name: In the legend.
        hue: A hexadecimal RGB triple.
        shape: Of its marks.
        dash: Of its line; a solid one when empty.
    """

    name: str
    hue: str
    shape: str
    dash: tuple[int, ...] = ()


def series(names: Iterable[str], colours: Palette) -> tuple[Series, ...]:
    """Series that differ in hue and shape; beyond eight in the dash of their lines as well."""
    hues = colours.series
    return tuple(
        Series(name, hues[at % len(hues)], SHAPES[at % len(SHAPES)], (6, 3) * (at >= len(hues)))
        for at, name in enumerate(names)
    )


def relations() -> list[str]:
    """The relations of elicitation, in the paper's order."""
    return list(load_templates().relations)


def by_wording(table: pl.DataFrame) -> pl.DataFrame:
    """The table with ``of``: the model, and the wording where the table has several."""
    import polars as pl

    several = table["wording"].n_unique() > 1
    name = pl.format("{} ({})", "model", "wording") if several else pl.col("model")
    return table.with_columns(of=name)


def wordings(table: pl.DataFrame) -> str:
    """What a caption says of the wording, where there is one only."""
    kinds = table["wording"].unique(maintain_order=True).to_list()
    if len(kinds) > 1:
        return "the wording stands behind the model's name"
    text = load_templates().retrieval.get(kinds[0], "")
    shown = text.replace("{A}", "A").replace("{a}", "a").replace("{properties}", "has fur")
    return f"wording: {kinds[0]}" + (f" ({shown})" if shown else "")


def intervals(shown: Shown) -> str:
    """How the summaries say that intervals were made, for a caption."""
    ways = [
        f"{100 * how['level']:g} % intervals ({how['method']}, "
        f"{several(how['resamples'], 'resample')}, "
        f"clustered by {how['clusters']})"
        for _, how in shown.summaries("intervals")
    ]
    return " or ".join(dict.fromkeys(ways)) or "intervals"


def with_preface(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The rows with "Everyone knows that", else those without, and what a caption says of it."""
    prefaced = table.filter(preface=True)
    if prefaced.is_empty():
        return table, 'asked without "Everyone knows that"'
    return prefaced, 'asked with "Everyone knows that"'


def chance(probability: float | None) -> str:
    """A probability: two decimals, three below 0.1, and those below 0.001 not told apart."""
    if probability is None:
        return DASH
    if probability < _SMALLEST:
        return f"< {_SMALLEST}"
    return f"{probability:.2f}" if probability >= _DECIMALS_FROM else f"{probability:.3f}"


def ends(values: Iterable[float | None], least: float = 0.0) -> tuple[float, float]:
    """The ends of an axis that begins at 0 (or below, at ``least``) and holds all values.

    It ends at a round number at or above the greatest, however small, and at 1 where all are 0.
    """
    held = [value for value in values if value is not None]
    low = min([0.0, *held])
    return (max(least, _down(low)) if low < 0 else 0.0), _up(max([0.0, *held]))


def _up(value: float) -> float:
    """The next round number that is not below a value."""
    import math

    if value < _LEAST:
        return 1.0
    step: float = 10.0 ** (math.floor(math.log10(value)) - 1)
    step *= 5 if value / step > 50 else 2  # noqa: PLR2004 - steps of 5 above half of a power of ten
    # A product of rounded factors may lie a hair below the value.
    return max(value, math.ceil(round(value / step, 6)) * step)


def _down(value: float) -> float:
    return -_up(-value)


def spread(counts: Sequence[int]) -> str:
    """A count, or from the least to the most."""
    if not counts:
        return DASH
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
