"""What is compared between models: means over the concepts that all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import polars as pl

from tacit.english import several
from tacit.findings.findings import Findings
from tacit.findings.measure import Measure, mean, shared
from tacit.probes.assumptions import MAIN, NUMBERS
from tacit.probes.assumptions.averages import by_concept, measured

_MRR = "mean reciprocal rank"
_METRICS = {_MRR: "mean reciprocal rank", "probability of the concept": "probability"}
_ELICITED = {
    "map vocabulary": "mean average precision, vocabulary",
    "map sensible": "mean average precision, candidates: people's responses",
    "spearman": "agreement with people (Spearman)",
}


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """Retrieval with 1, 4 and 10 properties, and elicitation of each relation."""
    models = list(found.values())
    each = [one.tables["retrieval"]["wording"].unique(maintain_order=True) for one in models]
    alike = [(wording,) * len(models) for wording in each[0] if all(wording in of for of in each)]
    retrieved = (_retrieved(models, wordings) for wordings in alike or product(*each))
    elicited = _means([_elicitation(each) for each in models])
    return [*(measure for some in retrieved for measure in some), *elicited]


def sides(findings: Findings) -> dict[str, pl.DataFrame]:
    """Return for which concepts the model's first prediction, given all properties, is right."""
    main = findings.tables["retrieval"].filter(
        pl.col("category").is_null(), pl.col("n") == NUMBERS[-1], order=MAIN
    )
    right = pl.col("rank") == 1
    return {"concept": main.select("concept", "wording", side=right, right=right)}


def different_questions(found: Mapping[str, Findings]) -> list[str]:
    """Return a warning for each pair of models whose retrieval prompts share no wording."""
    wordings = {name: findings.summary["wordings"] for name, findings in found.items()}
    return [
        "Assumptions probe: the wording of the retrieval prompts is "
        f"{' and '.join(wordings[one])} for {one}, but {' and '.join(wordings[other])} for "
        f"{other}. Prompts of different wordings ask different questions. In the table of "
        "differences, the column “note” marks rows that compare differently worded prompts."
        for one, other in combinations(wordings, 2)
        if not set(wordings[one]) & set(wordings[other])
    ]


def _retrieved(models: Sequence[Findings], wordings: Sequence[str]) -> Iterator[Measure]:
    asked = list(dict.fromkeys(wordings))
    note = "the models' prompts ask different questions" if len(asked) > 1 else None
    named = " and ".join(asked)
    each = [_retrieval(*one, named) for one in zip(models, wordings, strict=True)]
    for measure in _means(each):
        yield replace(measure, main=measure.name.startswith(_MRR), note=note)


def _means(tables: Sequence[pl.DataFrame]) -> Iterator[Measure]:
    """The mean of each measure that all models have, beside the chance level of each model."""
    for name in tables[0]["measure"].unique(maintain_order=True):
        some = [table.filter(measure=name) for table in tables]
        if any(table.is_empty() for table in some):
            continue
        rows, values = shared(some, ["concept"], ["value"])
        kept = [table.join(rows, on="concept", how="semi") for table in some]
        chance = tuple(table.select(pl.mean("chance")).item() for table in kept)
        measure = mean(name, rows["concept"], values["value"])
        sets = [table["among"][0] for table in some]
        yield replace(measure, chance=chance, apart=_apart(sets), metric=some[0]["metric"][0])


def _apart(sets: Sequence[str | None]) -> str | None:
    """Why ranks among these sets of candidates, given by their digests, cannot be compared."""
    if None in sets:
        return "some candidates have no score"
    return "the models ranked different candidates" if len(set(sets)) > 1 else None


def _retrieval(findings: Findings, wording: str, asked: str) -> pl.DataFrame:
    """The value of each concept for each measure of retrieval, as in Figure 2 of the paper."""
    main = findings.tables["retrieval"].filter(
        pl.col("category").is_null(), order=MAIN, wording=wording
    )
    concepts, nothing = by_concept(main), pl.lit(None, pl.Float64)
    digest = findings.summary["candidates"]["retrieval"].get(wording)
    named: dict[str, tuple[str, pl.Expr, str | None]] = {
        _MRR: ("mrr", pl.col("chance"), digest),
        "probability of the concept": ("probability", nothing, ""),
        "probability among the candidates": ("renormalised", 1 / pl.col("candidates"), digest),
    }
    if main["whole_sentence"].any():
        del named["probability of the concept"]
    return pl.concat(
        concepts.filter(n=n).select(
            "concept",
            measure=pl.lit(f"{label}, {several(n, 'property', 'properties')} stated ({asked})"),
            metric=pl.lit(_METRICS.get(label) and f"{_METRICS[label]} {asked} {n}", pl.String),
            value=value,
            chance=chance,
            among=pl.lit(among, pl.String),
        )
        for label, (value, chance, among) in named.items()
        for n in NUMBERS
    )


def _elicitation(findings: Findings) -> pl.DataFrame:
    """The value of each prompt for each measure of elicitation, by relation."""
    digests = {
        (f"map {over}", relation): digest
        for over, of in findings.summary["candidates"].items()
        for relation, digest in of.items()
    }
    asked = measured(findings.tables["elicitation"]).filter("preface")
    among = [digests.get(key, "") for key in asked.select("measure", "relation").iter_rows()]
    name = pl.format("{}, {}", pl.col("measure").replace_strict(_ELICITED), "relation")
    return asked.select(
        *("concept", "value", "chance"),
        measure=name,
        among=pl.Series(among),
        metric=pl.when(measure="map vocabulary").then(
            pl.format("mean average precision {}", "relation")
        ),
    )
