"""Caption texts that describe the prompts and candidates of the assumptions probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.marks import DASH
from tacit.english import number_of, several
from tacit.findings.numbers import score
from tacit.probes.assumptions.template import load_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.charts.shown import Shown


def by_wording(table: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``of`` to the table: the name of each row's model."""
    import polars as pl

    several = table["wording"].n_unique() > 1
    name = pl.format("{} ({})", "model", "wording") if several else pl.col("model")
    return table.with_columns(of=name)


def wordings(table: pl.DataFrame) -> str:
    """Return a caption text on the wording of the retrieval prompts."""
    kinds = table["wording"].unique(maintain_order=True).to_list()
    if len(kinds) > 1:
        return "in brackets after the model's name: the wording of the prompts"
    return f"wording of the prompts: {_with_example(kinds[0])}"


def _with_example(wording: str) -> str:
    """Return the name of a wording in quotation marks, with an example of a retrieval prompt."""
    text = load_templates().retrieval.get(wording, "")
    shown = text.replace("{A}", "A").replace("{a}", "a").replace("{properties}", "has fur")
    return f"\u201c{wording}\u201d" + (f" ({shown.rstrip('.')})" if shown else "")


def with_preface(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Select the rows of prompts with a preface, and describe the selection for a caption."""
    prefaced = table.filter(preface=True)
    if prefaced.is_empty():
        return table, 'prompts without the preface "Everyone knows that"'
    return prefaced, 'prompts with the preface "Everyone knows that"'


def spread(counts: Sequence[int]) -> str:
    """Return counts as text: a single number, or a range from the smallest to the largest count."""
    if not counts:
        return DASH
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def retrieval_chance(table: pl.DataFrame) -> str:
    """Return a caption text on the number of candidates and the chance level of each model."""
    import polars as pl

    levels = table.group_by("of", maintain_order=True).agg(
        pl.col("candidates").max(), pl.col("chance_mrr").mean()
    )
    told: dict[str, list[str]] = {}
    for of, candidates, chance in levels.iter_rows():
        text = f"chance level {score(chance)} among {several(candidates, 'candidate')}"
        told.setdefault(text, []).append(of)
    dotted = "dotted line: chance level of the mean reciprocal rank"
    if len(told) == 1:
        return f"{dotted}, {next(iter(told)).removeprefix('chance level ')}"
    listed = "; ".join(f"{', '.join(of)}: {text}" for text, of in told.items())
    return f"{dotted}; {listed}; ranks among different sets of candidates are not comparable"


def unwritable(table: pl.DataFrame) -> str:
    """Return a note on how many concepts cannot be encoded by the tokenizer; empty if none."""
    import polars as pl

    gone = table.group_by("of").agg(pl.col("missing").max())["missing"].to_list()
    return f" (without {spread(gone)} whose words cannot be encoded by the tokenizer)" * any(gone)


def whole_sentences(table: pl.DataFrame) -> str:
    """Return a caption note if a model scores whole sentences, otherwise an empty text."""
    if table["probability"].has_nulls():
        return (
            " (if a causal model scores whole sentences, only a word's probability relative to "
            "the other candidates is known)"
        )
    return ""


def elicitation_wording(shown: Shown) -> str:
    """Return the preface and the wording of the elicitation prompts, for a caption."""
    tables = [shown.table(name) for name in ("elicitation_by_relation", "agreement")]
    preface = next(with_preface(table)[1] for table in tables if table is not None)
    models: dict[str, list[str]] = {}
    for model, wording in shown.summaries("elicitation_wording"):
        models.setdefault(wording, []).append(model)
    if len(models) == 1:
        return f"{preface}; wording: \u201c{next(iter(models))}\u201d"
    return "; ".join(
        [
            preface,
            *(f"wording \u201c{each}\u201d: {' and '.join(of)}" for each, of in models.items()),
        ]
    )


def elicitation_chance(shown: Shown) -> str:
    """Return a caption text on the candidates and the chance level of the mAP."""
    table = shown.table("elicitation_by_relation")
    if table is None:
        return ""
    told = []
    for (over,), part in with_preface(table)[0].group_by("over", maintain_order=True):
        counts = part["candidates"].drop_nulls().to_list()
        levels = [score(value) for value in sorted(part["chance_map"].drop_nulls())]
        between = " to ".join(dict.fromkeys((*levels[:1], *levels[-1:])))
        told.append(f"{between} with the candidates “{over}” ({spread(counts)} words per relation)")
    return f"chance level of the mAP: {'; '.join(told)}"


def elicitation_left_out(shown: Shown) -> Iterator[str]:
    """Yield caption texts on the responses and prompts that were left out."""
    import polars as pl

    table = shown.table("elicitation_by_relation")
    if table is not None:
        table, _ = with_preface(table)
        sums = table.group_by("model", "over", maintain_order=True).agg(
            out=pl.sum_horizontal(pl.col("^absent|missing$").sum())
        )
        told = [
            f"{spread(part['out'].to_list())} with the candidates “{over}”"
            for (over,), part in sums.group_by("over", maintain_order=True)
            if part["out"].sum()
        ]
        if told:
            listed = ", ".join(told)
            yield (
                "number of people's responses that are left out because they are not among the "
                f"ranked candidates: {listed}"
            )
    ranks = shown.table("agreement")
    if ranks is not None:
        ranks, _ = with_preface(ranks)
        sums = ranks.group_by("model").agg(pl.col("too_few", "constant").sum())
        few, same = (spread(sums[name].to_list()) for name in ("too_few", "constant"))
        yield (
            f"number of prompts for which Spearman's rho is undefined: {few} with fewer than 3 "
            f"ranked responses; {same} with the same production frequency or the same "
            "probability for all responses"
        )


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
