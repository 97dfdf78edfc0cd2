"""What a reader sees first of a run: the verdict and the main figures beside chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.english import several
from tacit.findings.block import Block, Entries, sentence
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Measured, TopAnswer, Verdict, verdict
from tacit.probes.assumptions.tables import MAIN, NUMBERS, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.findings.findings import Findings

_FEWEST = 10


def block(findings: Findings) -> Block:
    """Return the verdict, the most frequent prediction and the main figures."""
    summary, cell = findings.summary, Entries(findings, TABLES)
    found, top = Verdict.of(summary["verdict"]), summary["top_prediction"]
    asked, main = "", []
    if top:
        asked = (
            f"The most frequent top prediction, “{top['word']}”, is {percent(top['share'])} of "
            f"{top['n']:,}."
        )
    rows = main_rows(findings.tables)
    for row in rows if len(rows) == 1 else (*rows[:1], *rows[-1:]):
        keys = {"wording": row["wording"], "n": row["n"], "order": MAIN, "category": None}
        if rank := cell("retrieval_by_number", "mrr", **keys):
            given = several(row["n"], "property", "properties")
            n = several(row["concepts"], "concept")
            main.append(f"mean reciprocal rank {rank} given {given} (n = {n})")
    if rows:
        main.append(f"chance {score(rows[0]['chance_mrr'])}")
    for row in findings.tables["elicitation_by_relation"].iter_rows(named=True):
        keys = {name: row[name] for name in ("relation", "preface", "over")}
        if average := cell("elicitation_by_relation", "map", **keys):
            main.append(f"mean average precision of “{row['relation']}” {average}")
            break
    frequent = summary["frequency_mrr"]
    return Block(
        found,
        asked,
        sentence(main),
        None if frequent is None else f"Control: candidates by frequency reach {score(frequent)}.",
    )


def standing(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the verdict, the most frequent prediction and the frequency baseline of a run."""
    rows = main_rows(tables)
    best = tables["retrieval_top"].filter(place=1)
    answers = TopAnswer.of(best.filter(wording=best["wording"][0])["word"] if len(best) else ())
    ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
    frequent = frequency_mrr(tables, ends[-1]) if ends else None
    found = verdict(
        answers,
        min((row["concepts"] for row in ends), default=0),
        _FEWEST,
        [_measured(row) for row in ends],
        control=_control(ends[-1]["mrr_low"], frequent) if ends else None,
    )
    top = (
        {} if answers is None else {"word": answers.answer, "share": answers.share, "n": answers.n}
    )
    return {"verdict": found.to_json(), "top_prediction": top, "frequency_mrr": frequent}


def _measured(row: Mapping[str, Any]) -> Measured:
    """Return a mean reciprocal rank; if it is 1, so are both ends of its interval."""
    low, high = (1.0, 1.0) if row["mrr"] == 1 else (row["mrr_low"], row["mrr_high"])
    given = several(row["n"], "property", "properties")
    name = f"the MRR given {given}"
    return Measured(name, low, high, row["chance_mrr"])


def main_rows(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """Return the mean retrieval measures of the first wording, by number of properties."""
    import polars as pl

    table = tables["retrieval_by_number"]
    rows = table.filter(pl.col("category").is_null(), pl.col("n").is_in(NUMBERS), order=MAIN)
    found = rows.drop_nulls("mrr").sort("n", maintain_order=True).to_dicts()
    return [row for row in found if row["wording"] == found[0]["wording"]]


def frequency_mrr(tables: Mapping[str, pl.DataFrame], row: Mapping[str, Any]) -> float:
    """Return the mean reciprocal rank of the row's concepts if frequent candidates rank first."""
    import polars as pl
    from wordfreq import zipf_frequency

    asked = tables["retrieval"].filter(
        pl.col("category").is_null(), order=MAIN, wording=row["wording"], n=row["n"]
    )
    candidates = tables["vocabulary"].filter("candidate")["word"]
    frequencies = np.sort([-zipf_frequency(word, "en") for word in candidates])
    own = [-zipf_frequency(word, "en") for word in asked.drop_nulls("rank")["word"]]
    # Ranks are pessimistic: ties count as better.
    return float(np.mean(1 / np.searchsorted(frequencies, own, side="right")))


def _control(low: float | None, frequent: float | None) -> str | None:
    if low is None or frequent is None or low > frequent:
        return None
    return f"candidates ranked by frequency reach {score(frequent)}, within the interval"
