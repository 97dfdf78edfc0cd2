"""What captions say about the prompts, the candidates and the chance levels of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.shown import counted, spread
from tacit.english import number_of, several
from tacit.findings.numbers import score
from tacit.probes.assumptions.template import load_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.charts.shown import Shown


def by_wording(table: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``of``: the model, and its wording if there are several."""
    import polars as pl

    several = table["wording"].n_unique() > 1
    name = pl.format("{} ({})", "model", "wording") if several else pl.col("model")
    return table.with_columns(of=name)


def with_preface(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Select the rows of prompts with a preface; return them and "with", or all and "without"."""
    prefaced = table.filter(preface=True)
    return (table, "without") if prefaced.is_empty() else (prefaced, "with")


def wordings(table: pl.DataFrame) -> dict[str, str | None]:
    """Return the placeholders that tell the wordings of retrieval prompts."""
    first, *others = table["wording"].unique(maintain_order=True)
    return {
        "wording": None if others else _with_example(first),
        "named": "name" if others else None,
    }


def _with_example(wording: str) -> str:
    """Return the name of a wording in quotation marks, with an example of a retrieval prompt."""
    text = load_templates().retrieval.get(wording, "")
    shown = text.replace("{A}", "A").replace("{a}", "a").replace("{properties}", "has fur")
    return f"“{wording}”" + (f" ({shown.rstrip('.')})" if shown else "")


def retrieval(table: pl.DataFrame, shown: Shown) -> dict[str, Any]:
    """Return the placeholders of a figure of retrieval measures."""
    import polars as pl

    by = table.group_by("of", maintain_order=True).agg(
        pl.col("candidates").max(), pl.col("chance_mrr").mean(), pl.col("missing").max()
    )
    levels: dict[str, list[str]] = {}
    for of, candidates, chance, _ in by.iter_rows():
        text = f"{score(chance)} among {several(candidates, 'candidate')}"
        levels.setdefault(text, []).append(of)
    listed = [f"{', '.join(of)}: {text}" for text, of in levels.items()]
    return {
        "intervals": shown.intervals(),
        "model": by["of"][0] if len(by) == 1 else None,
        "chance": "; ".join(listed if len(listed) > 1 else levels),
        "sets": "candidates" if len(listed) > 1 else None,
        "n": counted(table["concepts"], "concept"),
        "unwritable": spread(by["missing"]) if any(by["missing"]) else None,
        "whole": "sentence" if table["probability"].has_nulls() else None,
        **wordings(table),
    }


def elicitation(shown: Shown) -> dict[str, Any]:
    """Return the placeholders of the figure of elicitation."""
    import polars as pl

    ranked, agreement = shown.table("elicitation_by_relation"), shown.table("agreement")
    told: dict[str, Any] = {"chance": None, "left_out": None, "few": None, "constant": None}
    if agreement is not None:
        agreement, told["preface"] = with_preface(agreement)
        sums = agreement.group_by("model").agg(pl.col("too_few", "constant").sum())
        told |= {"few": spread(sums["too_few"]), "constant": spread(sums["constant"])}
    if ranked is not None:
        ranked, told["preface"] = with_preface(ranked)
        parts = ranked.partition_by("over", maintain_order=True)
        told["chance"] = "; ".join(map(_chance, parts))
        told["left_out"] = ", ".join(filter(None, map(_left_out, parts)))
    models: dict[str, list[str]] = {}
    for model, wording in shown.summaries("elicitation_wording"):
        models.setdefault(wording, []).append(model)
    of = {
        name: "" if len(models) == 1 else f": {' and '.join(each)}" for name, each in models.items()
    }
    told["wording"] = "; ".join(f"wording “{name}”{each}" for name, each in of.items())
    return told | {"intervals": shown.intervals()}


def _left_out(part: pl.DataFrame) -> str | None:
    """Return how many responses of each model are not among one set of candidates."""
    import polars as pl

    absent = pl.sum_horizontal(pl.col("^absent|missing$").sum())
    sums = part.group_by("model").agg(absent.alias("out"))["out"]
    return f"{spread(sums)} with the candidates “{part['over'][0]}”" if any(sums) else None


def _chance(part: pl.DataFrame) -> str:
    """Return the chance level of the mAP with one set of candidates."""
    levels = [score(value) for value in sorted(part["chance_map"].drop_nulls())]
    between = " to ".join(dict.fromkeys((*levels[:1], *levels[-1:])))
    words = spread(part["candidates"].drop_nulls())
    return f"{between} with the candidates “{part['over'][0]}” ({words} words per relation)"


def ranking_notes(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on candidates with several tokens, and on candidates that have no score."""
    if summary.get("several"):
        yield (
            f"{several(summary['several'], 'candidate has', 'candidates have')} several tokens; "
            "the score of such a candidate is the sum of the tokens' log-probabilities"
        )
    if summary.get("missing"):
        missing = summary["missing"]
        verb = number_of(missing, "is", "are")
        yield (
            f"{several(missing, 'candidate')} could not be scored and {verb} excluded from the "
            "rankings"
        )
