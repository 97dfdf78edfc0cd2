"""What is compared between models: accuracy and violated constraints, by everyday thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from tacit.findings.findings import Findings
from tacit.findings.measure import Measure, ratio
from tacit.probes.parts import AGREED, ALL, WITHOUT_SYMMETRIC, accuracy
from tacit.probes.parts.beliefs import ontology_of
from tacit.probes.parts.discrimination import hits_by_thing
from tacit.statistics.ranking import divided

VIOLATION = "violation rate, micro, before repair"
_PARTS = ("over", "under")


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """The share of "true", accuracies before and after repair, and the violation rate."""
    sums = (_sums(each).with_columns(model=pl.lit(model)) for model, each in found.items())
    every = pl.concat(sums).partition_by("measure", as_dict=True, maintain_order=True)

    def divided(name: str, rows: pl.DataFrame) -> Measure:
        own = [(rows["model"] == model).to_numpy() for model in found]
        return ratio(name, rows["thing"], *(np.array(own) * rows[of].to_numpy() for of in _PARTS))

    drawings = [each.tables["violation_by_drawing"] for each in found.values()]
    undecided = [int(each["undecided"].sum()) for each in drawings]
    listed = ", ".join(f"{n:,} for {model}" for model, n in zip(found, undecided, strict=True))
    note = f"undecided constraints are left out: {listed}" if any(undecided) else None
    measured = [divided(str(name), rows) for (name,), rows in every.items()]
    says_true, *accuracies, violation = measured
    violation = replace(violation, main=True, note=note, metric="constraint violations")
    return [says_true, *_balanced(found), *accuracies, violation]


def _balanced(found: Mapping[str, Findings]) -> Iterator[Measure]:
    """The balanced accuracy without symmetric relations, if there are true and false labels."""
    counts = [hits_by_thing(labelled(each)).sort("thing") for each in found.values()]
    things = pl.concat(each.select("thing") for each in counts).unique("thing").sort("thing")
    every = [things.join(each, on="thing", how="left").fill_null(0) for each in counts]
    hits, of_true, rejected, of_false = (
        np.stack([each[name].to_numpy() for each in every], axis=1).astype(np.float64)
        for name in ("hits", "of_true", "rejected", "of_false")
    )
    if of_true.any() and of_false.any():
        n, name = things.height, f"balanced accuracy, {WITHOUT_SYMMETRIC}, before repair"
        known = [np.count_nonzero(of) for each in (of_true, of_false) for of in each.T]
        yield Measure(
            *(name, n, n, int(min(known))),
            lambda w: (divided(w @ hits, w @ of_true) + divided(w @ rejected, w @ of_false)) / 2,
            metric="balanced accuracy",
        )


def labelled(findings: Findings) -> pl.DataFrame:
    """The labelled statements without symmetric relations, and whether the model says true."""
    symmetric = list(ontology_of(findings).symmetric)
    return (
        findings.tables["beliefs"]
        .filter(~pl.col("relation").is_in(symmetric))
        .drop_nulls(["label", "p_true"])
        .rename({"before": "true"})
    )


def _sums(findings: Findings) -> pl.DataFrame:
    """The numerator and denominator of each measure for each thing; the violation rate is last."""
    right = accuracy.judge(findings.tables["beliefs"])
    stages = {"before repair": pl.col("before"), "after repair": pl.col("paper")}
    true = findings.questions.drop_nulls("p_true").select("thing", over=pl.col("p_true") > 1 / 2)
    by_thing = true.group_by("thing").agg(pl.col("over").sum(), under=pl.len())
    sums = [by_thing.with_columns(measure=pl.lit("says true"))]
    sums += [
        rows.group_by("thing")
        .agg(of.sum().alias("over"), of.count().alias("under"))
        .filter(pl.col("under") > 0)
        .with_columns(measure=pl.lit(f"accuracy, {name}, {when}"))
        for name, rows in ((ALL, right), (AGREED, right.filter("agreed")))
        for when, of in stages.items()
    ]
    decided = pl.col("applicable") - pl.col("undecided")
    drawings = findings.tables["violation_by_drawing"]
    sums.append(drawings.select("thing", over="violated", under=decided, measure=pl.lit(VIOLATION)))
    return pl.concat(sums, how="vertical_relaxed")
