"""What a reader sees first of a run: the verdict and the main figures beside chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from tacit.english import several
from tacit.findings.block import Block, Entry, sentence
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Measured, TopAnswer, Verdict, verdict
from tacit.probes.assumptions import MAIN, NUMBERS, TABLES

_FEWEST = 10


def block(findings: Findings) -> Block:
    """Return the verdict, the most frequent prediction and the main figures."""
    summary, tables = findings.summary, findings.tables
    top, frequent = summary["top_prediction"], summary["frequency_mrr"]
    rank = TABLES["retrieval_by_number"].column("mrr")
    precision = TABLES["elicitation_by_relation"].column("map")
    rows = _ends(tables)
    ranks = ", ".join(
        f"{Entry(row, rank)} given {several(row['n'], 'property', 'properties')} "
        f"(chance {score(row['chance_mrr'])}, n = {several(row['concepts'], 'concept')})"
        for row in rows
    )
    main = [f"mean reciprocal rank {ranks}"] if rows else []
    main += [
        f"mean average precision of “{row['relation']}” {Entry(row, precision)}"
        for row in tables["elicitation_by_relation"].drop_nulls("map").head(1).to_dicts()
    ]
    asked = ""
    if top:
        share = f"{percent(top['share'])} of {top['n']:,}"
        asked = f"The most frequent top prediction, “{top['word']}”, is {share}."
    if left_out := _left_out(tables):
        asked = f"{asked} Left out (table left_out): {left_out}.".strip()
    return Block(
        Verdict.of(summary["verdict"]),
        asked,
        sentence(main),
        None if frequent is None else f"Control: candidates by frequency reach {score(frequent)}.",
    )


def _left_out(tables: Mapping[str, pl.DataFrame]) -> str:
    """Return how many concepts of retrieval each filter left out; empty if none were."""
    rows = tables["filters"].filter(pl.col("removed") > 0, of="concepts for retrieval").to_dicts()
    return ", ".join(f"{several(row['removed'], 'concept')} ({row['filter']})" for row in rows)


def standing(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the verdict, the most frequent prediction and the frequency baseline of a run."""
    rows = _ends(tables)
    best = tables["retrieval_top"].filter(place=1)
    answers = TopAnswer.of(best.filter(wording=best["wording"][0])["word"] if len(best) else ())
    frequent = frequency_mrr(tables, rows[-1]) if rows else None
    low = rows[-1]["mrr_low"] if rows else None
    within = low is not None and frequent is not None and low <= frequent
    control = f"candidates ranked by frequency reach {score(frequent)}, within the interval"
    judgement = verdict(
        answers,
        min((row["concepts"] for row in rows), default=0),
        _FEWEST,
        [_measured(row) for row in rows],
        noun=("concept",),
        control=control if within else None,
    )
    top = (
        {} if answers is None else {"word": answers.answer, "share": answers.share, "n": answers.n}
    )
    return {"verdict": judgement.to_json(), "top_prediction": top, "frequency_mrr": frequent}


def _measured(row: Mapping[str, Any]) -> Measured:
    """Return a mean reciprocal rank; if it is 1, so are both ends of its interval."""
    low, high = (1.0, 1.0) if row["mrr"] == 1 else (row["mrr_low"], row["mrr_high"])
    name = f"the MRR given {several(row['n'], 'property', 'properties')}"
    return Measured(name, low, high, row["chance_mrr"])


def _ends(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """Return the measures of the first wording for the fewest and the most properties."""
    table = tables["retrieval_by_number"].drop_nulls("mrr").sort("n", maintain_order=True)
    rows = table.filter(pl.col("category").is_null(), pl.col("n").is_in(NUMBERS), order=MAIN)
    of_first = rows.filter(pl.col("wording") == pl.col("wording").first()).to_dicts()
    return [*of_first[:1], *of_first[1:][-1:]]


def frequency_mrr(tables: Mapping[str, pl.DataFrame], row: Mapping[str, Any]) -> float:
    """Return the mean reciprocal rank of the row's concepts if frequent candidates rank first."""
    from wordfreq import zipf_frequency

    asked = tables["retrieval"].filter(
        pl.col("category").is_null(), order=MAIN, wording=row["wording"], n=row["n"]
    )
    candidates = tables["vocabulary"].filter("candidate")["word"]
    frequencies = np.sort([-zipf_frequency(word, "en") for word in candidates])
    own = [-zipf_frequency(word, "en") for word in asked.drop_nulls("rank")["word"]]
    # Ranks are pessimistic: ties count as better.
    return float(np.mean(1 / np.searchsorted(frequencies, own, side="right")))
