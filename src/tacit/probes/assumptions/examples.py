"""Examples of concept retrieval from one, two or more properties of a concept.

The chart follows Figure 1 of Weir et al. (2020).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tacit.charts.marks import DASH, Grid, page, written
from tacit.charts.shown import titled
from tacit.charts.theme import PAPER, mixed
from tacit.english import several
from tacit.findings.numbers import score
from tacit.findings.spec import figure
from tacit.probes.assumptions.captions import by_wording, spread, wordings
from tacit.probes.assumptions.ranks import chance_mrr
from tacit.probes.assumptions.tables import MAIN
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Palette

PAPERS = "bear"  # the concept of the paper's Figure 1
BEST = 5
_SHARES = (0.75, 0.5, 0.25)  # of concepts that rank below the shown one
_AMONG_SEVERAL = 2  # concepts shown for several models, with the bear
_COLUMNS = ("best", "2.", "3.", "4.", "5.", "rank", "probability")


@figure(
    "Examples of concept retrieval", "This figure corresponds to Figure 1 of Weir et al. (2020)."
)
def retrieval_examples(shown: Shown) -> Chart | None:
    """Draw how the best candidates change with each property (Weir et al. 2020, Figure 1)."""
    import polars as pl

    table, top = shown.table("retrieval"), shown.table("retrieval_top")
    if table is None or top is None:
        return None
    probability = pl.when("whole_sentence").then("renormalised").otherwise("logprob").exp()
    table, top = (each.with_columns(shown=probability) for each in (table, top))
    table = by_wording(table.filter(pl.col("category").is_null(), order=MAIN))
    top = by_wording(top.filter(pl.col("place") <= BEST))
    names, how = chosen(table)
    panels = [
        [_panel(part, found, str(of), shown.look.colours)]
        for name in names
        for (of,), part in table.filter(concept=name).group_by("of", maintain_order=True)
        if not (found := top.filter(concept=name, of=of)).is_empty()
    ]
    if not panels:
        return None
    title = titled(
        "Best candidates for a concept as properties are added",
        f"each row adds a property to the prompt and shows the {BEST} best candidates; deeper "
        "shade: higher probability; framed: the concept itself",
        _among(table),
        f"concepts: {how}; {wordings(table)}",
    )
    return page(title, *panels)


def _among(table: pl.DataFrame) -> str:
    """Return a caption text on the number of candidates, the chance level and the probabilities."""
    counts = sorted(set(table["candidates"]))
    chances = " to ".join(dict.fromkeys(score(chance_mrr(n)) for n in counts if n))
    told = (
        f"ranks are among {spread(counts)} candidates (chance level of the mean reciprocal rank: "
        f"{chances})"
    )
    among = (
        "for causal models and the wording “sentence”, the probability of each candidate is "
        "divided by the sum of all candidates' probabilities"
    )
    return f"{told}; {among}" if table["whole_sentence"].any() else told


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
    cells = [_square(row, rows, word, colours) for row in top.iter_rows(named=True)]
    for row in part.iter_rows(named=True):
        rank = DASH if row["rank"] is None else f"{row['rank']:,}"
        pair = (rank, written(row["shown"], "percent"))
        for column, told in zip(_COLUMNS[BEST:], pair, strict=True):
            tip = f"{concept}, {several(row['n'], 'property', 'properties')}: {column} {told}"
            cell = {"row": rows[row["n"]], "column": column, "told": told, "hue": PAPER, "tip": tip}
            cells.append({**cell, "framed": False})
    named = concept if concept == word else f"{concept} (as {word})"
    among = several(max(part["candidates"]), "candidate")
    heading = f"{named}: {of}, among {among}"
    panel = Grid(
        pl.DataFrame(cells), colours, heading, list(rows.values()), _COLUMNS, cell=(104, 20)
    )
    return panel.chart()


def _square(
    row: Mapping[str, Any], rows: Mapping[int, str], word: str, colours: Palette
) -> dict[str, Any]:
    probability = written(row["shown"], "percent")
    place = f"place {row['place']} of {several(row['n'], 'property', 'properties')}"
    return {
        "row": rows[row["n"]],
        "column": _COLUMNS[row["place"] - 1],
        "told": f"{row['word']} {probability}",
        "hue": mixed(colours.before, row["shown"]),
        "framed": row["word"] == word,
        "tip": f"{row['word']}: probability {probability}, {place}",
    }
