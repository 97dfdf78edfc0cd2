"""The demo: run all three probes on models that were trained with deliberate errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.english import several
from tacit.options import build
from tacit.probes.registry import probe
from tacit.runs.run import Run
from tacit.sources.demo import planted

_STATEMENT = ("thing", "subject", "relation", "object")


def run_demo(out: Path) -> dict[str, Run]:
    """Run each probe in a folder of its own in ``out``; return the runs of the causal model."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from tacit.models.registry import DEMO, DEMOS
    from tacit.sources import demo

    with ProcessPoolExecutor(1, get_context("spawn"), _silent) as beside:
        beside.submit(_bundle)
        norms = {"norms": demo.NORMS, "orders": "main"}
        assumptions = beside.submit(_run, "assumptions", out, DEMOS, norms)
        parts = _run("parts", out, (DEMO,), {"drawings": demo.THINGS})
        about = {"questions": demo.QUESTIONS, "kb": _knowledge(out)}
        consistency = _run("consistency", out, (DEMO,), about)
        return {"parts": parts, "consistency": consistency, "assumptions": assumptions.result()}


def _run(name: str, out: Path, models: Sequence[str], options: Mapping[str, Any]) -> Run:
    """Run a probe; return the first model's run."""
    from tacit.engine.store import Store
    from tacit.present.progress import Terminal
    from tacit.runs.workflow import RunRequest

    folder, store = out / name, Store(out / "store")
    for manifest in (folder / "manifest.json", *folder.glob("*/manifest.json")):
        manifest.unlink(missing_ok=True)
    options = build(probe(name).Options, options)
    request = RunRequest(name, options, tuple(models), out=folder, store=store, reporter=Terminal())
    return request.run().runs[0]


def _knowledge(out: Path) -> Path:
    """Build the demo's knowledge base."""
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.knowledge.words import spare_torch
    from tacit.sources.demo import FACTS
    from tacit.sources.dumps import Dump

    spare_torch(None)
    path = out / "knowledge.kb"
    if not path.is_file():
        build(KnowledgeSource([Dump(FACTS)]), path)
    return path


def _silent() -> None:
    """Suppress the error output of a worker process; the main process reports errors."""
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the process ends


def _bundle() -> None:
    """Bundle the JavaScript runtime of the charts in advance; bundling takes seconds."""
    from tacit.report.charts import runtime

    runtime()


def errors_found(runs: Mapping[str, Run]) -> str:
    """Return a sentence on how well the probes detect the planted errors."""
    import polars as pl

    errors, tables = planted(), runs["consistency"].tables
    facts = tables["facts"].join(tables["fact_answers"].filter(expected="yes"), on="fact")
    answered_wrong = facts.filter(~pl.col("right")).select("relation", "head", "tail")
    wrong = errors.wrong.intersection(answered_wrong.iter_rows())
    beliefs = runs["parts"].tables["beliefs"].filter(pl.col("p_true") > 1 / 2)
    believed = set(beliefs.select(_STATEMENT).iter_rows())
    both = sum(
        all((thing, *statement) in believed for statement in pair)
        for thing, pair in errors.contradictions
    )
    apart = _separations(runs)
    return (
        f"Planted errors: {several(len(errors.withheld), 'word')} were left out of the training "
        "data, and the probes tell the other words from these words with an AUROC of "
        f"{apart['parts']:.2f} (parts), {apart['consistency']:.2f} (consistency) and "
        f"{apart['assumptions']:.2f} (assumptions). Of {several(len(errors.wrong), 'fact')} taught "
        f"incorrectly, {len(wrong)} are answered incorrectly; of {len(errors.contradictions)} "
        f"taught contradictions, {both} are found."
    )


def _separations(runs: Mapping[str, Run]) -> dict[str, float | None]:
    """Return each probe's AUROC for distinguishing taught concepts from withheld concepts."""
    import polars as pl

    from tacit.statistics.ranking import auroc

    withheld = planted().withheld
    beliefs = runs["parts"].tables["beliefs"].drop_nulls(["label", "p_true"])
    right = (pl.col("p_true") > 1 / 2) == pl.col("label")
    anchors = runs["consistency"].tables["anchors"].drop_nulls("background_score")
    retrieval = runs["assumptions"].tables["retrieval"]
    retrieval = retrieval.filter(pl.col("category").is_null(), order="top-decreasing")
    scores = {
        "parts": beliefs.group_by("thing").agg(score=right.mean()),
        "consistency": anchors.group_by("cluster").agg(score=pl.col("background_score").mean()),
        "assumptions": retrieval.group_by("concept").agg(score=(1 / pl.col("rank")).mean()),
    }
    return {
        name: auroc([word not in withheld for word in of.to_series(0)], of["score"].to_numpy())
        for name, of in scores.items()
    }
