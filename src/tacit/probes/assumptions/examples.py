"""Examples of concept retrieval from one, two or more properties of a concept.

The chart follows Figure 1 of Weir et al. (2020).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tacit.charts.grid import Grid
from tacit.charts.panels import written
from tacit.charts.shown import spread
from tacit.charts.theme import PAPER, mixed
from tacit.english import several
from tacit.findings.numbers import score
from tacit.probes.assumptions.captions import by_wording, wordings
from tacit.probes.assumptions.ranks import chance_mrr
from tacit.probes.assumptions.tables import MAIN
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.figures import Drawn
    from tacit.charts.shown import Shown
    from tacit.charts.theme import Palette

PAPERS = "bear"  # the concept of the paper's Figure 1
BEST = 5
_SHARES = (0.75, 0.5, 0.25)  # of concepts that rank below the shown one
_AMONG_SEVERAL = 2  # concepts shown for several models, with the bear
_COLUMNS = ("best", "2.", "3.", "4.", "5.", "rank", "probability")


def retrieval_examples(shown: Shown) -> Drawn | None:
    """How the best candidates change with each property (Weir et al. 2020, Figure 1)."""
    import polars as pl

    table, top = shown.table("retrieval"), shown.table("retrieval_top")
    if table is None or top is None:
        return None
    probability = pl.when("whole_sentence").then("renormalised").otherwise("logprob").exp()
    probability = pl.when("whole_sentence").then("renormalised").otherwise("logprob").exp()
    table, top = (by_wording(each.with_columns(shown=probability)) for each in (table, top))
    table = table.filter(pl.col("category").is_null(), order=MAIN)
    top = top.filter(pl.col("place") <= BEST)
    names, how = chosen(table)
    panels = [
        [_panel(part, found, str(of), shown.colours)]
        for name in names
        for (of,), part in table.filter(concept=name).group_by("of", maintain_order=True)
        if not (found := top.filter(concept=name, of=of)).is_empty()
    ]
    if not panels:
        return None
    counts = sorted(set(table["candidates"]))
    return panels, {
        "best": BEST,
        "candidates": spread(counts),
        "chance": " to ".join(dict.fromkeys(score(chance_mrr(n)) for n in counts if n)),
        "concepts": how,
        "whole": "sentence" if table["whole_sentence"].any() else None,
        **wordings(table),
    }


def chosen(table: pl.DataFrame) -> tuple[list[str], str]:
    """Choose the concepts to show: "bear" (as in Weir et al. 2020) and typical concepts."""
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
        f"at the {which} percentile of {several(len(ranked), 'concept')} ranked by their mean "
        "reciprocal rank"
    )
    return names, (
        f"{PAPERS} (an example in Weir et al. 2020); the other concepts are {rest}"
        if with_paper
        else rest
    )


def phrases(texts: Sequence[str], wording: str) -> list[str]:
    """Return the property that each prompt adds to the previous one: ``has fur``, ``+ is big``."""
    said = [_properties(text, wording) for text in texts]
    known: list[str] = []
    for whole in said:
        before = joined([*known, ""])  # the prefix before the added property
        if whole is None or not whole.startswith(before):
            return list(texts)
        known.append(whole[len(before) :])
    return [f"+ {each}" if at else each for at, each in enumerate(known)]


def _properties(text: str, wording: str) -> str | None:
    """Extract a prompt's properties; None if the prompt does not have the wording ``wording``."""
    template = load_templates().retrieval.get(wording)
    if template is None:
        return None
    form = re.escape(template)
    for field, pattern in (("A", "An?"), ("a", "an?"), ("properties", "(.+)")):
        form = form.replace(re.escape(f"{{{field}}}"), pattern)
    found = re.fullmatch(form, text)
    return None if found is None else found[1]


def _panel(part: pl.DataFrame, top: pl.DataFrame, of: str, colours: Palette) -> alt.LayerChart:
    """Draw a table with a row per prompt: the best candidate words and the concept's rank."""
    import polars as pl

    part = part.sort("n")
    concept, word, wording = part.select("concept", "word", "wording").row(0)
    steps = phrases(part["text"].to_list(), wording)
    rows = {n: f"{n}. {step}" for n, step in zip(part["n"], steps, strict=True)}
    cells = [*_candidates(top, word, colours), *_ranks(part, concept)]
    table = pl.DataFrame(cells).with_columns(row=pl.col("n").replace_strict(rows))
    grid = Grid(table, colours, down=list(rows.values()), across=_COLUMNS, cell=(104, 20))
    named = concept if concept == word else f"{concept} (as {word})"
    return grid.chart(f"{named}: {of}, among {several(max(part['candidates']), 'candidate')}")


def _candidates(top: pl.DataFrame, word: str, colours: Palette) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of the best candidates."""
    for row in top.iter_rows(named=True):
        probability = written(row["shown"], "percent")
        place = f"place {row['place']} of {several(row['n'], 'property', 'properties')}"
        yield {
            "n": row["n"],
            "column": _COLUMNS[row["place"] - 1],
            "text": f"{row['word']} {probability}",
            "hue": mixed(colours.before, row["shown"]),
            "framed": row["word"] == word,
            "tip": f"{row['word']}: probability {probability}, {place}",
        }


def _ranks(part: pl.DataFrame, concept: str) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of the concept's rank and probability."""
    for row in part.iter_rows(named=True):
        told = {
            "rank": written(row["rank"], "count"),
            "probability": written(row["shown"], "percent"),
        }
        for column, text in told.items():
            tip = f"{concept}, {several(row['n'], 'property', 'properties')}: {column} {text}"
            cell = {"n": row["n"], "column": column, "text": text, "hue": PAPER}
            yield {**cell, "framed": False, "tip": tip}
