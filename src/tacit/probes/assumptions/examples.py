"""The best candidates of examples as properties are added (Weir et al. 2020, Figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.figures import Drawn
from tacit.charts.panels import written
from tacit.charts.plots import Grid
from tacit.charts.shown import Shown, spread
from tacit.charts.theme import PAPER, Palette, mixed
from tacit.english import several
from tacit.findings.numbers import score
from tacit.findings.spec import ColumnKind
from tacit.probes.assumptions import MAIN, load_templates
from tacit.probes.assumptions.ranks import chance_mrr

PAPERS = "bear"  # the concept of the paper's Figure 1
BEST = 5
_RESULTS: Mapping[str, ColumnKind] = {"rank": "count", "probability": "percent"}
_COLUMNS = ("best", "2.", "3.", "4.", "5.", *_RESULTS)


def retrieval_examples(shown: Shown) -> Drawn | None:
    """How the best candidates change with each property (Weir et al. 2020, Figure 1)."""
    table, top = shown.table("retrieval"), shown.table("retrieval_top")
    if table is None or top is None:
        return None
    probability = pl.when("whole_sentence").then("renormalised").otherwise("logprob").exp()
    table, top = (by_wording(each.with_columns(probability=probability)) for each in (table, top))
    table = table.filter(pl.col("category").is_null(), order=MAIN)
    top = top.filter(pl.col("place") <= BEST)
    name = chosen(table)
    panels = [
        [_panel(part, best, str(of), shown.colours)]
        for (of,), part in table.filter(concept=name).group_by("of", maintain_order=True)
        if not (best := top.filter(concept=name, of=of)).is_empty()
    ]
    if not panels:
        return None
    counts = sorted(set(table["candidates"]))
    return panels, {
        "best": BEST,
        "candidates": spread(counts),
        "chance": " to ".join(dict.fromkeys(score(chance_mrr(n)) for n in counts if n)),
        "whole": "sentence" if table["whole_sentence"].any() else None,
        "wording": examples_of(table),
    }


def by_wording(table: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``of``: the model, and its wording if there are several."""
    apart = table["wording"].n_unique() > 1
    name = pl.format("{} ({})", "model", "wording") if apart else pl.col("model")
    return table.with_columns(of=name)


def examples_of(table: pl.DataFrame) -> str:
    """Return the names of the wordings, each with an example of a retrieval prompt."""
    names = table["wording"].unique(maintain_order=True)
    known = {name: load_templates().retrieval.get(name, "") for name in names}
    texts = {name: text.format(A="A", a="a", properties="has fur") for name, text in known.items()}
    return " and ".join(f"“{name}” ({text.rstrip('.')})" for name, text in texts.items())


def chosen(table: pl.DataFrame) -> str | None:
    """Choose the paper's example if all models have it, else the median concept by MRR."""
    of = table["of"].n_unique()
    means = (
        table.drop_nulls("rank")
        .group_by("concept", maintain_order=True)
        .agg(pl.col("of").n_unique(), mean=(1 / pl.col("rank")).mean())
        .filter(of=of)
        .sort("mean", maintain_order=True)
    )
    ranked = means["concept"].to_list()
    median = ranked[(len(ranked) - 1) // 2] if ranked else None
    return PAPERS if PAPERS in ranked else median


def _panel(part: pl.DataFrame, top: pl.DataFrame, of: str, colours: Palette) -> alt.LayerChart:
    """Draw a table with a row per prompt: the best candidate words and the concept's rank."""
    part = part.sort("n")
    concept, word = part.select("concept", "word").row(0)
    rows = {
        n: f"{n}. {'+ ' if n > 1 else ''}{added}"
        for n, added in part.select("n", "added").iter_rows()
    }
    cells = [*_candidates(top, word, colours), *_ranks(part)]
    tip = pl.format("{}, {}: {}", "row", "column", "text")
    table = pl.DataFrame(cells).with_columns(row=pl.col("n").replace_strict(rows))
    table = table.with_columns(tip=tip)
    grid = Grid(table, colours, down=list(rows.values()), across=_COLUMNS, cell=(104, 20))
    named = concept if concept == word else f"{concept} (as {word})"
    return grid.chart(f"{named}: {of}, among {several(max(part['candidates']), 'candidate')}")


def _candidates(top: pl.DataFrame, word: str, colours: Palette) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of the best candidates."""
    for row in top.iter_rows(named=True):
        yield {
            "n": row["n"],
            "column": _COLUMNS[row["place"] - 1],
            "text": f"{row['word']} {written(row['probability'], 'percent')}",
            "hue": mixed(colours.before, row["probability"]),
            "framed": row["word"] == word,
        }


def _ranks(part: pl.DataFrame) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of the concept's rank and probability."""
    for row in part.iter_rows(named=True):
        for column, kind in _RESULTS.items():
            text = written(row[column], kind)
            yield {"n": row["n"], "column": column, "text": text, "hue": PAPER, "framed": False}
