"""What the figures of the consistency probe share: the models, captions and numbers.

Scores (background, consistency, lift) are written as decimals, accuracies in per cent. What is
undefined has no mark and is written as a dash.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from tacit.english import several
from tacit.probes.figures.lettering import broken, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import altair as alt
    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.probes.figures.charts import Chart, Look

# Of charts in one figure. Otherwise lanes in one panel make the rows of its neighbours narrow.
APART: Mapping[str, Literal["independent"]] = dict.fromkeys(
    ("yOffset", "color", "shape"), "independent"
)
DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
SIZE = 10.0  # of the words in a chart, in pixels
_CAPTION = 640.0  # pixels: how wide captions are
_SUBTITLE = 11
_LONGEST = 180.0  # pixels of a model's name
_SMALLEST_P = 0.001
_SIZE_IN_NAME = re.compile(
    r"(?<![a-z0-9.])(\d+([._]\d+)?[mb]|tiny|mini|small|medium|base|large|x+l)(?![a-z0-9])"
)


@dataclass(frozen=True)
class Shown:
    """What a figure shows.

    Args:
        found: The findings by model.
        sizes: How many parameters each model has; None or absent where that is not known.
        look: The palette.
    """

    found: Mapping[str, Findings]
    sizes: Mapping[str, int | None]
    look: Look

    @cached_property
    def by_size(self) -> bool:
        """Whether models of two sizes at least are compared."""
        return len({size for name in self.found if (size := self.sizes.get(name))}) > 1

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """What each model is called: the end of its path when that tells them apart.

        The smallest comes first when sizes are compared, else they keep their order.
        """
        names = list(self.found)
        if self.by_size:
            names.sort(key=lambda name: self.sizes.get(name) or math.inf)
        ends = [name if "://" in name else name.rstrip("/").rsplit("/", 1)[-1] for name in names]
        for labels in ([shortened(end, SIZE, _LONGEST) for end in ends], ends, names):
            if len(set(labels)) == len(labels) and all(labels):
                break
        return dict(zip(names, labels, strict=True))

    @cached_property
    def families(self) -> Mapping[str, str]:
        """By label, what models that differ in size alone have in common: a name without it."""
        bare = {
            label: _SIZE_IN_NAME.sub("", name.lower().rstrip("/"))
            for name, label in self.labels.items()
        }
        return {label: re.sub(r"[-_. ]+", "-", name).strip("-") for label, name in bare.items()}

    def table(self, name: str) -> pl.DataFrame | None:
        """A finding of all models, with the model's label as ``model``; None without a row."""
        import polars as pl

        tables = [
            table.with_columns(model=pl.lit(label))
            for model, label in self.labels.items()
            if (table := self.found[model].tables.get(name)) is not None and not table.is_empty()
        ]
        return pl.concat(tables, how="diagonal_relaxed") if tables else None

    def alone(self, name: str) -> pl.DataFrame | None:
        """The same; of a single model without its label."""
        table = self.table(name)
        return table.drop("model") if table is not None and len(self.found) == 1 else table

    def defined(self, name: str, column: str) -> pl.DataFrame | None:
        """The same; None also where a column is null throughout."""
        table = self.table(name)
        return None if table is None or table[column].is_null().all() else table

    def summaries(self, name: str) -> Iterator[tuple[str, Any]]:
        """That entry of each summary which has it, by the model's label."""
        for model, label in self.labels.items():
            if (entry := self.found[model].summary.get(name)) is not None:
                yield label, entry

    def intervals(self, kind: str) -> str:
        """How the summaries say that intervals of a kind were made, for a caption."""
        ways = [of[kind] for _, of in self.summaries("intervals") if kind in of]
        return " or ".join(dict.fromkeys(map(_way, ways))) or "intervals"


def _way(how: Mapping[str, Any]) -> str:
    times = (
        f"{how['permutations']:,} {how['method']}"
        if "permutations" in how
        else f"{how['method']}, {several(how['resamples'], 'resample')}"
    )
    return f"{100 * how['level']:g} % intervals ({times}, clustered by {how['clusters']})"


def titled(text: str, *lines: str, width: float | None = None) -> alt.TitleParams:
    """A title, and below it a caption of some lines; empty ones are dropped.

    A line that is wider than the caption is wrapped. Each of its parts but the last ends with a
    space, from which ``whole_lines`` knows what belongs together.

    Args:
        text: The title.
        lines: The caption.
        width: Pixels of the caption; those of one model's panels when None.
    """
    import altair as alt

    width = width or _CAPTION
    wrapped = [broken(line, _SUBTITLE, width) for line in lines if line]
    caption = [part for *first, last in wrapped for part in (*(f"{p} " for p in first), last)]
    return alt.TitleParams(
        text=text, subtitle=caption, subtitleFontSize=_SUBTITLE, subtitlePadding=5, offset=14
    )


def whole_lines(subtitle: Iterable[str]) -> tuple[str, ...]:
    """The lines of a caption as ``titled`` was given them, before they were wrapped."""
    whole: list[str] = []
    goes_on = False
    for part in subtitle:
        if goes_on:
            whole[-1] += part
        else:
            whole.append(part)
        goes_on = part.endswith(" ")
    return tuple(whole)


def below(
    charts: Iterable[alt.HConcatChart | alt.LayerChart | alt.Chart],
    title: alt.TitleParams,
    spacing: int = 30,
) -> Chart:
    """Charts one below the other, each with scales of its own."""
    import altair as alt

    whole = alt.vconcat(*charts, spacing=spacing, title=title)
    chart: Chart = whole.resolve_scale(**APART)
    return chart


def written(table: pl.DataFrame, name: str, how: Callable[[Any], str]) -> pl.Series:
    """A column in words, the undefined among them."""
    import polars as pl

    return pl.Series([how(value) for value in table[name]], dtype=pl.String)


def score(value: float | None) -> str:
    """A score as a decimal."""
    if value is None:
        return DASH
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", MINUS)


def share(value: float | None) -> str:
    """A share in per cent."""
    return DASH if value is None else f"{100 * value:.1f} %"


def spanned(low: float | None, high: float | None, how: Callable[[float], str] = score) -> str:
    """An interval behind its value; nothing when there is none."""
    return "" if low is None or high is None else f" ({how(low)} to {how(high)})"


def probability(value: float | None) -> str:
    """A p-value; those below 0.001 are not told apart."""
    if value is None:
        return DASH
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else f"{value:.3f}"


def number(value: int | None) -> str:
    """A count."""
    return DASH if value is None else f"{value:,}"


def counted(counts: Iterable[int], one: str, many: str | None = None) -> str:
    """How many of something there are: ``n = 266 anchors``, or from the least to the most.

    Args:
        counts: The counts.
        one: The singular.
        many: The plural; the singular with an s when None.
    """
    some = sorted(set(counts))
    if not some:
        return ""
    if len(some) == 1:
        return f"n = {several(some[0], one, many)}"
    return f"n = {some[0]:,} to {some[-1]:,} {many or f'{one}s'}"


def bounds(
    values: Iterable[float | None], least: float = 0.0, most: float = 1.0
) -> tuple[float, float]:
    """The ends of an axis that holds all values with some room, in steps of a twentieth.

    Args:
        values: What it is to hold; None is passed over.
        least: It begins no lower.
        most: It ends no higher.
    """
    held = [value for value in values if value is not None]
    if not held:
        return least, most
    room = 0.03 * max(max(held) - min(held), 0.1)
    low = max(least, math.floor(round(20 * (min(held) - room), 6)) / 20)
    high = min(most, math.ceil(round(20 * (max(held) + room), 6)) / 20)
    return low, high
