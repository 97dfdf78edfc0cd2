"""What the figures' captions say of wordings, of chance levels and of what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.charts.marks import DASH
from tacit.english import several
from tacit.probes.assumptions.retrieved import reads_sentences
from tacit.probes.assumptions.templates import load_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.charts.shown import Shown


def by_wording(table: pl.DataFrame) -> pl.DataFrame:
    """The table with ``of``: the model, and the wording where the table has several."""
    import polars as pl

    several = table["wording"].n_unique() > 1
    name = pl.format("{} ({})", "model", "wording") if several else pl.col("model")
    return table.with_columns(of=name)


def wordings(table: pl.DataFrame) -> str:
    """The wording, where there is one only."""
    kinds = table["wording"].unique(maintain_order=True).to_list()
    if len(kinds) > 1:
        return "the wording stands behind the model's name"
    text = load_templates().retrieval.get(kinds[0], "")
    shown = text.replace("{A}", "A").replace("{a}", "a").replace("{properties}", "has fur")
    return f"wording: {kinds[0]}" + (f" ({shown})" if shown else "")


def with_preface(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The rows with "Everyone knows that", else those without, and what a caption says of it."""
    prefaced = table.filter(preface=True)
    if prefaced.is_empty():
        return table, 'asked without "Everyone knows that"'
    return prefaced, 'asked with "Everyone knows that"'


def spread(counts: Sequence[int]) -> str:
    """A count, or from the least to the most."""
    if not counts:
        return DASH
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def retrieval_chance(table: pl.DataFrame) -> str:
    """The candidates and the chance level of each model's ranks.

    Args:
        table: ``of``, ``candidates`` and ``chance_mrr``.
    """
    import polars as pl

    levels = table.group_by("of", maintain_order=True).agg(
        pl.col("candidates").max(), pl.col("chance_mrr").mean()
    )
    told: dict[str, list[str]] = {}
    for of, candidates, level in levels.iter_rows():
        text = f"chance {level:.3f} among {several(candidates, 'candidate')}"
        told.setdefault(text, []).append(of)
    dotted = "dotted: mean reciprocal rank by chance"
    if len(told) == 1:
        return f"{dotted}, {next(iter(told)).removeprefix('chance ')}"
    listed = "; ".join(f"{', '.join(of)}: {text}" for text, of in told.items())
    return f"{dotted}; {listed}; ranks among different candidates are not comparable"


def unwritable(table: pl.DataFrame) -> str:
    """How many concepts the model cannot write, where there are some."""
    import polars as pl

    gone = table.group_by("of").agg(pl.col("missing").max())["missing"].to_list()
    return f" ({spread(gone)} more, whose word the model cannot write, left out)" * any(gone)


def whole_sentences(shown: Shown) -> str:
    """What is said where some model gives the probability of whole sentences only."""
    if any(
        reads_sentences(kind, wording)
        for model, kind in shown.summaries("kind")
        for wording in dict(shown.summaries("wordings")).get(model, ())
    ):
        return " (the only one that a causal model has in the wording sentence)"
    return ""


def elicitation_wording(shown: Shown) -> str:
    """The preface, and the wording where it is known."""
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


def elicitation_chance(shown: Shown) -> str:
    """The candidates of mean average precision, and its chance level."""
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


def elicitation_left_out(shown: Shown) -> Iterator[str]:
    """Responses and prompts that no measure could take in."""
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
        sums = ranks.group_by("model").agg(pl.col("too_few", "constant").sum())
        few, same = (spread(sums[name].to_list()) for name in ("too_few", "constant"))
        yield (
            f"prompts without a rho: {few} of fewer than 3 ranked responses, {same} whose "
            "production frequencies or probabilities are all alike"
        )
