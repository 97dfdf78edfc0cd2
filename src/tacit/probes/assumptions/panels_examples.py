"""What a model takes a concept for while properties are added (Weir et al. 2020, Figure 1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tacit.english import several
from tacit.probes.assumptions.candidates import chance_mrr
from tacit.probes.assumptions.panels import by_wording, chance, spread, wordings
from tacit.probes.assumptions.retrieved import MAIN, reads_sentences
from tacit.probes.assumptions.templates import load_templates
from tacit.probes.assumptions.wording import joined
from tacit.probes.figures.charts import FONT, mixed
from tacit.probes.figures.lettering import shortened, width_of
from tacit.probes.figures.panels import DASH, SIZE, below, titled
from tacit.probes.figures.rows import PAPER, heading_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart, Palette
    from tacit.probes.figures.panels import Shown

Align: TypeAlias = Literal["left", "right"]

PAPERS = "bear"  # the concept of the paper's Figure 1
BEST = 5
_SHARES = (0.75, 0.5, 0.25)  # of concepts that do worse than the one that is shown
_AMONG_SEVERAL = 2  # concepts, where several models are shown
_ROW = 20  # pixels
_CELL = 104.0
_PHRASE = 250.0  # pixels of a property
_GAP = 12.0
_HEADING, _HEADER = -30.0, -8.0


@dataclass(frozen=True)
class Example:
    """One concept and one model: a row per number of properties.

    Args:
        heading: The concept, and the model where several are shown.
        rows: ``n``, ``phrase``, ``rank`` and ``probability`` in words, from the fewest properties.
        cells: ``n``, ``place``, ``word``, ``told`` (its probability), ``hue``, ``right`` (whether
            it is the concept) and ``tip``.
        colours: The palette.
    """

    heading: str
    rows: pl.DataFrame
    cells: pl.DataFrame
    colours: Palette

    def chart(self) -> alt.LayerChart:
        """The panel: properties, the best candidates from left to right, the concept's rank."""
        import altair as alt

        best = [
            (f"{place}." if place > 1 else "best", self._left(place) + 6)
            for place in range(1, BEST + 1)
        ]
        rank, probability = self._right(1), self._right(2)
        # As few layers as there are ways to align: each one is copied many times over.
        layers = [
            *self._cells(),
            self._columns({"phrase": 20.0}, "left"),
            self._columns({"number": 10.0, "rank": rank, "probability": probability}, "right"),
            self._heads(best, "left"),
            self._heads([("its rank", rank), ("probability", probability)], "right"),
            heading_of(self.heading, _HEADING, self.colours),
        ]
        size = {"width": self._right(2), "height": _ROW * self.rows.height}
        return alt.LayerChart(layer=layers).properties(**size)

    def _cells(self) -> list[alt.Chart]:
        import altair as alt
        import polars as pl

        left = pl.col("place").cast(pl.Float64) * _CELL + (self._left(1) - _CELL)
        cells = self.cells.with_columns(x=left, x2=left + _CELL - 2)
        cells = cells.with_columns(from_=pl.col("x") + 6, to=pl.col("x2") - 5)
        y = self._y()
        across: dict[str, Any] = {"scale": None, "axis": None}
        box = alt.Chart(cells).mark_rect(stroke=PAPER, aria=True)
        marked = alt.Chart(cells.filter("right")).mark_rect(
            filled=False, stroke=self.colours.ink, strokeWidth=1.6
        )
        x: dict[str, Any] = {"x": alt.X("x:Q", **across), "x2": "x2:Q", "y": y}
        layers = [
            box.encode(**x, color=alt.Color("hue:N", scale=None), description="tip:N"),
            marked.encode(**x),
        ]
        for right, weight in ((False, "normal"), (True, "bold")):
            words = alt.Chart(cells.filter(right=right))
            style: dict[str, Any] = {"font": FONT, "fontSize": SIZE, "color": self.colours.ink}
            style["fontWeight"] = weight
            ends: tuple[tuple[str, str, Align], ...] = (
                ("word", "from_", "left"),
                ("told", "to", "right"),
            )
            for field, at, align in ends:
                mark = words.mark_text(align=align, **style)
                layers.append(mark.encode(x=alt.X(f"{at}:Q", **across), y=y, text=f"{field}:N"))
        return layers

    def _columns(self, places: Mapping[str, float], align: Align) -> alt.Chart:
        """Columns of words, each so many pixels from the left."""
        import altair as alt

        columns = self.rows.unpivot(list(places), index="n", variable_name="x", value_name="text")
        columns = columns.with_columns(columns["x"].replace_strict(places))
        words = alt.Chart(columns).mark_text(
            align=align, font=FONT, fontSize=SIZE, color=self.colours.ink
        )
        return self._across(words).encode(y=self._y())

    def _heads(self, places: Sequence[tuple[str, float]], align: Align) -> alt.Chart:
        """Headers above the rows, each so many pixels from the left."""
        import altair as alt
        import polars as pl

        heads = alt.Chart(pl.DataFrame(list(places), ["text", "x"], orient="row"))
        words = heads.mark_text(align=align, font=FONT, fontSize=SIZE, color=self.colours.muted)
        return self._across(words).encode(y=alt.value(_HEADER))

    @staticmethod
    def _across(words: alt.Chart) -> alt.Chart:
        import altair as alt

        drawn: alt.Chart = words.encode(x=alt.X("x:Q", scale=None, axis=None), text="text:N")
        return drawn

    def _y(self) -> alt.Y:
        import altair as alt

        return alt.Y("n:O", title=None, axis=None, scale={"domain": list(self.rows["n"])})

    def _left(self, place: int) -> float:
        """Where a candidate's cell begins."""
        widest = max(width_of(phrase, SIZE) for phrase in self.rows["phrase"])
        return 20.0 + widest + _GAP + _CELL * (place - 1)

    def _right(self, column: int) -> float:
        """Where the first or second column behind the cells ends."""
        return self._left(BEST + 1) + (width_of("its rank", SIZE) + 4) + 78.0 * (column - 1)


def retrieval_examples(shown: Shown) -> Chart | None:
    """Figure 1: the five best candidates for some concepts as properties are added.

    Returns:
        The chart; None when the best candidates were not kept.
    """
    import polars as pl

    table, top = shown.table("retrieval"), shown.table("retrieval_top")
    if table is None or top is None:
        return None
    kinds = dict(shown.summaries("kind"))
    table, top = (_with_shown(each, kinds) for each in (table, top))
    table = by_wording(table.filter(pl.col("category").is_null(), order=MAIN))
    top = by_wording(top.filter(pl.col("place") <= BEST))
    names, how = chosen(table)
    if not names:
        return None
    charts = []
    for name in names:
        for (of,), part in table.filter(concept=name).group_by("of", maintain_order=True):
            found = top.filter(concept=name, of=of)
            if not found.is_empty():
                charts.append(_example(part, found, str(of), shown.look.colours).chart())
    if not charts:
        return None
    title = titled(
        "What a model takes a concept for as properties are added",
        f"each row adds a property to the prompt; its {BEST} best candidates with their "
        "probabilities, the deeper the shade the higher; framed: the concept itself",
        _among(table, kinds),
        f"concepts: {how}; {wordings(table)}",
        width=900.0,
    )
    return below(charts, title, spacing=34)


def _with_shown(table: pl.DataFrame, kinds: Mapping[str, str]) -> pl.DataFrame:
    """The table with ``shown``: the log-probability that stands in the figure.

    Args:
        table: ``model``, ``wording``, ``logprob`` and ``renormalised``.
        kinds: Each model's kind.
    """
    import polars as pl

    shown = [
        row["renormalised"]
        if reads_sentences(kinds.get(row["model"]), row["wording"])
        else row["logprob"]
        for row in table.select("model", "wording", "logprob", "renormalised").iter_rows(named=True)
    ]
    return table.with_columns(shown=pl.Series(shown, dtype=pl.Float64))


def _among(table: pl.DataFrame, kinds: Mapping[str, str]) -> str:
    """What a caption says of the candidates, and of probabilities that are among them."""
    counts = sorted(set(table["candidates"]))
    whole = any(
        reads_sentences(kinds.get(model), wording)
        for model, wording in table.select("model", "wording").unique().iter_rows()
    )
    chances = " to ".join(dict.fromkeys(f"{chance_mrr(n):.3f}" for n in counts if n))
    told = f"rank: among {spread(counts)} candidates (chance MRR {chances})"
    among = "probability of a causal model in the wording sentence: among the candidates"
    return f"{told}; {among}" if whole else told


def chosen(table: pl.DataFrame) -> tuple[list[str], str]:
    """Which concepts are shown: the paper's bear when it is there, and typical others.

    Args:
        table: The finding ``retrieval`` of all models in the main order, with ``of``.

    Returns:
        The concepts, and in words how they were chosen: by their mean reciprocal rank over all
        prompts and models, one that half of the concepts are below, and so on.
    """
    import polars as pl

    of = table["of"].n_unique()
    means = (
        table.drop_nulls("rank")
        .group_by("concept", maintain_order=True)
        .agg(pl.col("of").n_unique(), mean=(1 / pl.col("rank")).mean())
        .filter(of=of)
        .sort("mean", maintain_order=True)
    )
    ranked = means["concept"].to_list()
    shares = _SHARES if of == 1 else _SHARES[1:_AMONG_SEVERAL]
    typical = [ranked[round(share * (len(ranked) - 1))] for share in shares if ranked]
    with_paper = PAPERS in ranked
    names = list(dict.fromkeys([PAPERS, *typical] if with_paper else typical))
    which = ", ".join(f"{100 * share:.0f}th" for share in shares)
    rest = (
        f"by mean reciprocal rank, of {several(len(ranked), 'concept')}, at the {which} percentile"
    )
    return names, (f"{PAPERS}, the paper's; {rest}" if with_paper else rest)


def phrases(texts: Sequence[str], wording: str) -> list[str]:
    """What each prompt adds to the one before: ``has fur``, ``+ is big``; else its whole text."""
    said = [_properties(text, wording) for text in texts]
    known: list[str] = []
    for whole in said:
        before = joined([*known, ""])  # up to where the next one stands
        if whole is None or not whole.startswith(before):
            return list(texts)
        known.append(whole[len(before) :])
    return [f"+ {each}" if at else each for at, each in enumerate(known)]


def _properties(text: str, wording: str) -> str | None:
    """The properties of a prompt as one phrase; None where its text is of another form."""
    template = load_templates().retrieval.get(wording)
    if template is None:
        return None
    form = re.escape(template)
    for field, pattern in (("A", "An?"), ("a", "an?"), ("properties", "(.+)")):
        form = form.replace(re.escape(f"{{{field}}}"), pattern)
    found = re.fullmatch(form, text)
    return None if found is None else found[1]


def _example(part: pl.DataFrame, top: pl.DataFrame, of: str, colours: Palette) -> Example:
    import polars as pl

    part = part.sort("n")
    concept, word, wording = part.select("concept", "word", "wording").row(0)
    steps = phrases(part["text"].to_list(), wording)
    rows = pl.DataFrame(
        {
            "n": part["n"],
            "number": [str(n) for n in part["n"]],
            "phrase": [shortened(step, SIZE, _PHRASE) for step in steps],
            "rank": [DASH if rank is None else f"{rank:,}" for rank in part["rank"]],
            "probability": [chance(each) for each in part["shown"].exp()],
        }
    )
    cells = [_cell(row, word, colours) for row in top.sort("n", "place").iter_rows(named=True)]
    named = concept if concept == word else f"{concept} (as {word})"
    counts = part["candidates"].to_list()
    among = several(max(counts), "candidate")
    heading = shortened(f"{named}: {of}, among {among}", 12, 700.0)
    return Example(heading, rows, pl.DataFrame(cells), colours)


def _cell(row: dict[str, Any], word: str, colours: Palette) -> dict[str, Any]:
    import math

    probability = math.exp(row["shown"])
    told = chance(probability)
    room = _CELL - 22 - width_of(told, SIZE, bold=True)
    return {
        "n": row["n"],
        "place": row["place"],
        "word": shortened(row["word"], SIZE, room),
        "told": told,
        "hue": mixed(colours.before, probability),
        "right": row["word"] == word,
        "tip": (
            f"{row['word']}: probability {told}, place {row['place']} of "
            f"{several(row['n'], 'property', 'properties')}"
        ),
    }
