"""Sentences and caption texts that describe the prompts and results of the assumptions probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.marks import DASH
from tacit.english import number_of, several
from tacit.findings.numbers import UNDEFINED, interval, level, percent, score
from tacit.findings.verdict import Verdict
from tacit.probes.assumptions import responses
from tacit.probes.assumptions.headlines import elicited, retrieved
from tacit.probes.assumptions.retrieval_measures import reads_sentences
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.verdict import NUMBERS, main_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.findings.findings import Findings


_DESCRIBED = {
    responses.SINGULAR: "plural responses converted to the singular",
    responses.CORRECTED: "ungrammatical responses that were replaced by the wording in the "
    "feature norms",
    responses.FALLEN_BACK: "properties whose name in the norms is used instead of people's "
    "wordings, because the norms do not show how many people used each wording",
}


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


def whole_sentences(shown: Shown) -> str:
    """Return a caption note if a model scores whole sentences, otherwise an empty text."""
    if any(
        reads_sentences(kind, wording)
        for model, kind in shown.summaries("kind")
        for wording in dict(shown.summaries("wordings")).get(model, ())
    ):
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


def headline(findings: Findings) -> str:
    """Return the verdict, the most frequent prediction and the main results."""
    summary, rows = findings.summary, main_rows(findings.tables)
    found, top = Verdict.of(summary["verdict"]), summary["top_prediction"]
    told = [str(found)]
    if top:
        told.append(
            f"The most frequent top prediction, “{top['word']}”, is {percent(top['share'])} of "
            f"{top['n']:,}."
        )
    if rows and found.shows_something:
        ends = rows[:1] if len(rows) == 1 else (rows[0], rows[-1])
        given = [
            f"{_estimate(row, 'mrr', 'concepts')} given "
            f"{several(row['n'], 'property', 'properties')}"
            for row in ends
        ]
        told.append(
            f"The mean reciprocal rank (MRR) is {_listed(given)}; chance "
            f"{score(rows[0]['chance_mrr'])}, candidates by frequency "
            f"{score(summary['frequency_mrr'])}."
        )
    return " ".join(told)


def sentences(findings: Findings) -> Iterator[str]:
    """Yield sentences about the prompts, results, and excluded concepts and properties."""
    summary = findings.summary
    yield from _asked(summary)
    yield from _retrieval(findings)
    yield from _elicitation(findings)
    yield from _properties(summary.get("properties", {}), summary.get("namings", {}))
    yield from _counted(
        "Properties that are worded by their name in the feature norms instead of in a "
        "participant's words, by reason",
        summary.get("worded_by_feature", {}),
    )
    uncounted = {why: len(lines) for why, lines in summary.get("uncounted", {}).items()}
    yield from _counted(
        "Rows of the feature norms that do not show how many participants used each wording "
        "(alternative) of a property, by reason",
        uncounted,
    )
    yield from _counted(
        "Responses that are not used exactly as people gave them",
        _described(summary.get("responses", {})),
    )
    yield from _steps(summary.get("steps", ()), "Concepts left out")
    yield from _steps(
        summary.get("elicitation_steps", ()), "Number of concepts left out of elicitation"
    )
    for sentence in ranking_notes(summary):
        yield f"{sentence}."


def notes(findings: Findings) -> Iterator[str]:
    """Yield sentences on how the measures were computed."""
    made = findings.summary.get("intervals")
    if made:
        yield (
            f"Intervals are {level(made['level'])} {made['method']} intervals, computed by "
            f"resampling {made['clusters']}s ({several(made['resamples'], 'resample')}, seed "
            f"{made['seed']})."
        )
    if any(not table.is_empty() for table in findings.tables.values()):
        yield (
            "Ranks are pessimistic: a candidate that is tied with the correct word counts as "
            "better than the correct word. A word that the tokenizer cannot encode has no rank "
            "and is excluded from means; the tables contain the number of words without a rank. "
            f"A mean over zero cases is {UNDEFINED}, not 0. The chance level of MRR (mean "
            "reciprocal rank) or mAP (mean average precision) is its value if the candidates "
            "are ranked at random."
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


def _asked(summary: Mapping[str, Any]) -> Iterator[str]:
    if {"concepts", "retrieval_prompts", "elicitation_prompts"} <= summary.keys():
        yield (
            f"The model was given {several(summary['retrieval_prompts'], 'retrieval prompt')} "
            f"for {several(summary['concepts'], 'concept')}. Each retrieval prompt contains 1 to "
            "10 properties of a concept and asks for the concept. For elicitation, the model "
            f"was given {several(summary['elicitation_prompts'], 'elicitation prompt')}. Each "
            "elicitation prompt asks for the properties of a concept."
        )
    wordings = summary.get("wordings", ())
    if wordings:
        kinds = number_of(len(wordings), "wording", "wordings")
        told = (
            f"The retrieval prompts are formulated with the {kinds} "
            f"{' and '.join(map(_with_example, wordings))}"
        )
        wording = summary.get("elicitation_wording")
        yield (
            f"{told}. The elicitation prompts are formulated with the wording "
            f"\u201c{wording}\u201d."
            if wording
            else f"{told}."
        )
    if "vocabulary" in summary:
        vocabulary = summary["vocabulary"]
        of = f", wording {wordings[0]}" if len(wordings) > 1 else ""
        words = several(vocabulary["words"], "candidate word")
        yield (
            f"In retrieval, each prompt has {words} (option --vocabulary {vocabulary['name']}{of})."
        )
        split = vocabulary.get("not_own", 0)
        if vocabulary["name"] == "concepts" and split:
            yield (
                f"The model has no single token for {split:,} of the candidate words. The score of "
                "a word of several tokens is the sum of the tokens' log-probabilities, so words of "
                "several tokens tend to rank low for this reason alone."
            )
        if vocabulary["name"] == "file":
            unlisted = vocabulary["own_left_out"]
            yield (
                f"The file of candidates contains {several(split, 'word')} for which the model "
                "has no single token. The model's vocabulary contains "
                f"{several(unlisted, 'single-token word')} "
                f"{number_of(unlisted, 'that is', 'that are')} not in the file of candidates."
            )


def _retrieval(findings: Findings) -> Iterator[str]:
    """Yield, for each prompt wording, a sentence on the mean reciprocal rank of concepts."""
    rows = retrieved(findings, NUMBERS).drop_nulls("mrr").to_dicts()
    for wording in dict.fromkeys(row["wording"] for row in rows):
        mine = [row for row in rows if row["wording"] == wording]
        counts = "concepts" if len({row["concepts"] for row in mine}) > 1 else None
        told = [
            f"{_estimate(row, 'mrr', counts)} given {several(row['n'], 'property', 'properties')}"
            for row in mine
        ]
        words = several(mine[0]["candidates"], "candidate word")
        yield (
            f"With the wording \u201c{wording}\u201d, the mean reciprocal rank of the correct "
            f"concept among {words} is {_listed(told)}. The mean reciprocal rank would be 1 if "
            "the concept always ranked first; for random rankings, the mean reciprocal rank "
            f"would be {score(mine[0]['chance_mrr'])}."
        )


def _elicitation(findings: Findings) -> Iterator[str]:
    """Yield sentences on the mAP and the number of candidates of each relation."""
    mean = [
        f"{score(row['map'])} for \u201c{row['relation']}\u201d"
        for row in elicited(findings).drop_nulls("map").iter_rows(named=True)
    ]
    if mean:
        yield (
            "The mean average precision of people's responses in the model's rankings is "
            f"{_listed(mean)}."
        )
    ranked = findings.tables["elicitation_by_relation"].drop_nulls("candidates")
    told = {
        preface: _candidates(part)
        for (preface,), part in ranked.group_by("preface", maintain_order=True)
    }
    if len(set(told.values())) == 1:
        yield f"Number of candidate words in elicitation: {next(iter(told.values()))}."
        return
    for preface, among in told.items():
        how = "with" if preface else "without"
        yield (
            f"Number of candidate words in elicitation {how} the preface \u201cEveryone knows "
            f"that\u201d: {among}."
        )


def _candidates(by_relation: pl.DataFrame) -> str:
    """Return a text on the number of candidates for each relation."""
    told = []
    for (over,), part in by_relation.group_by("over", maintain_order=True):
        counts = part.select("relation", "candidates").rows()
        if len({count for _, count in counts}) == 1:
            told.append(f"{several(counts[0][1], 'word')} in the set \u201c{over}\u201d")
        else:
            each = [f"{count:,} for \u201c{relation}\u201d" for relation, count in counts]
            told.append(f"in the set \u201c{over}\u201d, {_listed(each)}")
    return "; ".join(told)


def _properties(counts: Mapping[str, int], namings: Mapping[str, int]) -> Iterator[str]:
    """Yield sentences on the number of usable properties, and on why properties are unusable."""
    if not counts:
        return
    reasons = ", ".join(
        f"{reason} ({count:,})"
        for reason, count in counts.items()
        if reason not in {"all", "usable", "corrected"} and count
    )
    told = (
        f"{counts['usable']:,} of {several(counts['all'], 'property', 'properties')} can be part "
        "of a prompt"
    )
    if (share := _share_of_namings(namings)) is not None:
        told += (
            "; if each property is weighted by the number of people who named it, "
            f"{percent(share)} of the properties can be part of a prompt"
        )
    yield f"{told}."
    if reasons:
        yield f"Properties that are left out of prompts, by reason: {reasons}."


def _share_of_namings(namings: Mapping[str, int]) -> float | None:
    """Return the usable properties' share of the total production frequency."""
    return 1 - namings["left_out"] / namings["all"] if namings.get("all") else None


def _counted(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence that lists all nonzero counts; yield nothing if there are none."""
    told = [f"{name} ({count:,})" for name, count in counts.items() if count]
    if told:
        yield f"{what}: {'; '.join(told)}."


def _described(notes: Mapping[str, int]) -> Mapping[str, int]:
    """Replace the internal name of each note about responses by a readable description."""
    return {_DESCRIBED.get(name, name): count for name, count in notes.items()}


def _steps(steps: Iterable[Mapping[str, Any]], what: str) -> Iterator[str]:
    """Yield a sentence on how many concepts each filter removed."""
    removed = [f"{step['filter']} ({step['removed']:,})" for step in steps if step["removed"]]
    if removed:
        yield f"{what}, by filter: {', '.join(removed)}."


def _estimate(row: Mapping[str, Any], name: str, count: str | None = None) -> str:
    """Return a value with its confidence interval and, on request, the sample size."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    about = [] if low is None or high is None else [interval(low, high, score)]
    about += [] if count is None else [f"n = {several(row[count], 'concept')}"]
    return f"{score(row[name])} ({', '.join(about)})" if about else score(row[name])


def _listed(told: Sequence[str]) -> str:
    *others, last = told
    return f"{', '.join(others)} and {last}" if others else last
