"""Elicitation by relation: how well, and what the preface is worth (Weir et al. 2020, Table 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.assumptions.panels import ends, intervals, relations, series, spread, with_preface
from tacit.probes.assumptions.panels_lanes import Axis, Lanes
from tacit.probes.figures.panels import APART, number, score, spanned, titled, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart
    from tacit.probes.figures.panels import Shown

_MAP, _RHO = "mean average precision", "Spearman's rho"
_AXES = {"map vocabulary": _MAP, "map sensible": _MAP, "spearman": _RHO}
_HEADINGS = {
    "map vocabulary": "mAP, vocabulary",
    "map sensible": "mAP, sensible words",
    "spearman": "agreement with people",
}
_SETS = (
    "mAP: mean average precision of people's responses; vocabulary: all words are candidates; "
    "sensible: the words that people completed the relation with for any concept"
)
_RANKS = (
    "agreement: mean over prompts of Spearman's rho between production frequency and probability"
)
_WIDE, _NARROW = 960.0, 680.0  # pixels of a caption
_VALUE = (("", "told"), ("n", "count"))


def elicitation(shown: Shown) -> Chart | None:
    """Table 2 as marks: mean average precision and Spearman's rho of each relation.

    Returns:
        The chart, a lane per model; None when none of the three is defined.
    """
    import altair as alt

    found = {name: rows for name, rows in _measured(shown) if not rows["value"].is_null().all()}
    if not found:
        return None
    of, colours = series(shown.labels.values(), shown.look.colours), shown.look.colours
    charts: list[alt.LayerChart] = []
    for letter, (name, rows) in zip("abc", found.items(), strict=False):
        domain = ends([*rows["value"], *rows["low"], *rows["high"]], least=-1.0)
        axis = Axis(_AXES[name], domain, zero=domain[0] < 0, columns=_VALUE)
        lanes = Lanes(_worded(rows, _AXES[name]), _present(found.values()), of, axis, colours)
        first = not charts
        heading = f"{letter}) {_HEADINGS[name]}"
        charts.append(lanes.values(heading, labelled=first, legend=first and len(of) > 1))
    title = titled(
        f"Eliciting a concept's properties, by relation{_named(shown)}",
        _SETS,
        f"{_RANKS}; {_prefaced(shown)}; lines: {intervals(shown)}; n: prompts",
        _chance(shown),
        *_left_out(shown),
        width=_WIDE,
    )
    return alt.vconcat(_beside(charts), title=title)


def ablation(shown: Shown) -> Chart | None:
    """What "Everyone knows that" is worth: each measure with it and without, and the difference.

    Returns:
        The chart, a row of two panels per measure; None when no difference is defined.
    """
    import altair as alt

    table = shown.defined("ablation", "difference")
    if table is None:
        return None
    parts = {name: table.filter(measure=name) for name in _AXES}
    parts = {name: part for name, part in parts.items() if not part["difference"].is_null().all()}
    last = list(parts)[-1]
    several = len(shown.labels) > 1
    charts = [
        _with_and_without(part, name, shown, legend=several and name == last)
        for name, part in parts.items()
    ]
    title = titled(
        f'Elicitation with and without "Everyone knows that"{_named(shown)}',
        "left: filled, with it; hollow, without; right: without less with, over the same n prompts "
        f"(above 0: better without); lines: {intervals(shown)}",
        _SETS,
        _RANKS,
        width=_NARROW,
    )
    whole: Chart = alt.vconcat(*charts, spacing=44, title=title).resolve_scale(**APART)
    return whole


def _with_and_without(
    part: pl.DataFrame, name: str, shown: Shown, *, legend: bool
) -> alt.HConcatChart:
    """One measure: both values as a pair, and beside it their difference."""
    import polars as pl

    of, colours, order = (
        series(shown.labels.values(), shown.look.colours),
        shown.look.colours,
        _present([part]),
    )
    pairs = part.with_columns(value=pl.col("with_preface"), other=pl.col("without_preface"))
    tips = [_pair_tip(row) for row in part.iter_rows(named=True)]
    domain = ends([*pairs["value"], *pairs["other"]], least=-1.0)
    left = Lanes(
        pairs.with_columns(tip=pl.Series(tips, dtype=pl.String)),
        order,
        of,
        Axis(_AXES[name], domain, zero=domain[0] < 0, width=240),
        colours,
    )
    rows = part.rename({"difference": "value", "prompts": "n"})
    domain = ends([*rows["value"], *rows["low"], *rows["high"]], least=-2.0)
    axis = Axis(f"difference in {_AXES[name]}", domain, zero=True, width=200, columns=_VALUE)
    right = Lanes(_worded(rows, "difference"), order, of, axis, colours)
    charts = [
        left.pairs(_HEADINGS[name], labelled=True, legend=legend),
        right.values("without less with", labelled=False, legend=False),
    ]
    return _beside(charts)


def _measured(shown: Shown) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each measure that there is, with ``value``, ``low``, ``high`` and ``n``."""
    if (table := shown.table("elicitation_by_relation")) is not None:
        table, _ = with_preface(table.rename({"map": "value", "prompts": "n"}))
        for over in ("vocabulary", "sensible"):
            yield (
                f"map {over}",
                table.filter(over=over).rename({"map_low": "low", "map_high": "high"}),
            )
    if (table := shown.table("agreement")) is not None:
        names = {"spearman": "value", "spearman_low": "low", "spearman_high": "high", "used": "n"}
        yield "spearman", with_preface(table.rename(names))[0]


def _prefaced(shown: Shown) -> str:
    """What a caption says of the preface, and of the wording where it is known."""
    tables = [shown.table(name) for name in ("elicitation_by_relation", "agreement")]
    preface = next(with_preface(table)[1] for table in tables if table is not None)
    models: dict[str, list[str]] = {}
    for model, wording in shown.summaries("elicitation_wording"):
        models.setdefault(wording, []).append(model)
    if len(models) == 1:
        return f"{preface}, wording {next(iter(models))}"
    return "; ".join(
        [preface, *(f"wording {each}: {', '.join(of)}" for each, of in models.items())]
    )


def _chance(shown: Shown) -> str:
    """What a caption says of the candidates of mean average precision and of its chance level."""
    table = shown.table("elicitation_by_relation")
    if table is None:
        return ""
    told = []
    for (over,), part in with_preface(table)[0].group_by("over", maintain_order=True):
        counts = part["candidates"].drop_nulls().to_list()
        levels = [f"{level:.3f}" for level in sorted(part["chance_map"].drop_nulls())]
        between = " to ".join(dict.fromkeys((*levels[:1], *levels[-1:])))
        told.append(f"{over} {between} among {spread(counts)}")
    return f"mAP by chance, and the number of candidates: {'; '.join(told)}"


def _left_out(shown: Shown) -> Iterator[str]:
    """What a caption says of responses and prompts that no measure could take in."""
    import polars as pl

    table = shown.table("elicitation_by_relation")
    if table is not None:
        table, _ = with_preface(table)
        sums = table.group_by("model", "over", maintain_order=True).agg(
            out=pl.sum_horizontal(pl.col("^absent|missing$").sum())
        )
        told = [
            f"{spread(part['out'].to_list())} ({over})"
            for (over,), part in sums.group_by("over", maintain_order=True)
            if part["out"].sum()
        ]
        if told:
            listed = ", ".join(told)
            yield f"responses left out, for no word that the model ranks spells them: {listed}"
    ranks = shown.table("agreement")
    if ranks is not None:
        ranks, _ = with_preface(ranks)
        names = ("too_few", "constant")
        sums = ranks.group_by("model", maintain_order=True).agg(pl.col(names).sum())
        few, same = (spread(sums[name].to_list()) for name in names)
        yield (
            f"prompts without a rho: {few} of fewer than 3 ranked responses, {same} whose "
            "frequencies or probabilities are all equal"
        )


def _worded(rows: pl.DataFrame, what: str) -> pl.DataFrame:
    """The rows with ``told`` and ``count`` in words, and the tip."""
    import polars as pl

    tips = [
        f"{row['model']}, {row['relation']}: {what} {score(row['value'])}"
        f"{spanned(row['low'], row['high'])}, n = {several(row['n'], 'prompt')}"
        for row in rows.iter_rows(named=True)
    ]
    return rows.with_columns(
        told=written(rows, "value", score),
        count=written(rows, "n", number),
        tip=pl.Series(tips, dtype=pl.String),
    )


def _pair_tip(row: dict[str, Any]) -> str:
    return (
        f"{row['model']}, {row['relation']}: with {score(row['with_preface'])}, without "
        f"{score(row['without_preface'])}, n = {several(row['prompts'], 'prompt')}"
    )


def _present(tables: Any) -> list[str]:  # noqa: ANN401
    """The relations that some table has."""
    held = {name for table in tables for name in table["relation"]}
    known = relations()
    return [name for name in known if name in held] + sorted(held - set(known))


def _named(shown: Shown) -> str:
    """The model's name behind a title, where there is one only."""
    return "" if len(shown.labels) > 1 else f": {next(iter(shown.labels.values()))}"


def _beside(charts: list[alt.LayerChart]) -> alt.HConcatChart:
    import altair as alt

    row: alt.HConcatChart = alt.hconcat(*charts, spacing=30).resolve_scale(
        **APART, y="independent", x="independent"
    )
    return row
