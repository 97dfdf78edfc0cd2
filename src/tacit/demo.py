"""The demo: run all three probes on models that were trained with deliberate errors."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.base import title_of
from tacit.probes.registry import probe
from tacit.sources.demo import planted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.engine.store import Store
    from tacit.runs.run import Run

_STATEMENT = ("subject", "relation", "object")


@dataclass(frozen=True)
class Runs:
    """The runs of the demo and their folders."""

    out: Path

    @property
    def parts(self) -> Path:
        """The folder of the run of the parts probe."""
        return self.out / "parts"

    @property
    def consistency(self) -> Path:
        """The folder of the run of the consistency probe."""
        return self.out / "consistency"

    @property
    def assumptions(self) -> Path:
        """The folder that contains the runs of the assumptions probe."""
        return self.out / "assumptions"

    @cached_property
    def _store(self) -> Store:
        from tacit.engine.store import Store

        return Store(self.out / "store")

    def found(self) -> dict[str, Run]:
        """Run all three probes; return the causal demo model's run for each probe."""
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        from tacit.sources.demo import NORMS

        with ProcessPoolExecutor(1, get_context("spawn"), _silent) as beside:
            beside.submit(_bundle)
            assumptions = beside.submit(self.assume, NORMS)
            return {
                "parts": self._parts(),
                "consistency": self._consistency(),
                "assumptions": assumptions.result(),
            }

    def _parts(self) -> Run:
        from tacit.probes.parts.options import PartsOptions
        from tacit.sources.demo import THINGS

        return self._run("parts", PartsOptions(THINGS), self.parts)

    def _consistency(self) -> Run:
        from tacit.knowledge.build import Source, build
        from tacit.knowledge.words import spare_torch
        from tacit.probes.consistency.options import ConsistencyOptions
        from tacit.sources.demo import FACTS, QUESTIONS
        from tacit.sources.dumps import Dump

        spare_torch(None)
        base = self.out / "knowledge.kb"
        if not base.is_file():
            build(Source([Dump(FACTS)]), base)
        return self._run("consistency", ConsistencyOptions(QUESTIONS, base), self.consistency)

    def assume(self, norms: Path) -> Run:
        """Run the assumptions probe on both demo models; return the run of the causal model."""
        from tacit.models.registry import DEMOS
        from tacit.probes.assumptions.options import AssumptionsOptions

        options = AssumptionsOptions(norms, orders="main")
        return self._run("assumptions", options, self.assumptions, DEMOS)

    def _run(
        self,
        probe: str,
        options: Any,  # noqa: ANN401 - any probe's options
        out: Path,
        models: Sequence[str] = (),
    ) -> Run:
        """Run a probe on models (default: the causal demo model); return the first model's run."""
        from tacit.models.registry import DEMO
        from tacit.present.progress import Terminal
        from tacit.runs.workflow import RunRequest

        for manifest in (out / "manifest.json", *out.glob("*/manifest.json")):
            manifest.unlink(missing_ok=True)
        names = tuple(models) or (DEMO,)
        request = RunRequest(probe, options, names, out=out, store=self._store, reporter=Terminal())
        return request.run()[names[0]]


def _silent() -> None:
    """Suppress the error output of a worker process; the main process reports errors."""
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open until the process ends


def _bundle() -> None:
    """Bundle the JavaScript runtime of the charts in advance; bundling takes seconds."""
    from tacit.report.charts import runtime

    runtime()


def summary_lines(found: Mapping[str, Run]) -> list[str]:
    """Return the block of each probe, and a line about the planted errors."""
    lines: list[str] = []
    for name in ("parts", "consistency", "assumptions"):
        block = found[name].block
        first, *others = block.lines if block else ("nothing was measured",)
        lines += [f"{title_of(probe(name))}: {first}", *(f"  {line}" for line in others)]
    return [*lines, _planted(found)]


def _planted(found: Mapping[str, Run]) -> str:
    made = planted()
    tables = found["consistency"].tables
    own = tables["fact_answers"].filter(expected="yes").join(tables["facts"], on="fact")
    answered = {
        (row["relation"], row["head"], row["tail"]): row["right"]
        for row in own.iter_rows(named=True)
    }
    wrong = sum(answered.get(fact) is False for fact in made.wrong)
    beliefs = _believed(found["parts"].tables["beliefs"])
    both = sum(
        all((thing, *statement) in beliefs for statement in pair)
        for thing, pair in made.contradictions
    )
    apart = _separations(found)
    return (
        f"Planted errors: {several(len(made.withheld), 'word')} were left out of the training "
        "data, and the probes tell the other words from these words with an AUROC of "
        f"{apart['parts']:.2f} (parts), {apart['consistency']:.2f} (consistency) and "
        f"{apart['assumptions']:.2f} (assumptions). Of {several(len(made.wrong), 'fact')} taught "
        f"incorrectly, {wrong} are answered incorrectly; of {len(made.contradictions)} taught "
        f"contradictions, {both} are found."
    )


def _believed(beliefs: pl.DataFrame) -> set[tuple[str, ...]]:
    """Return the believed statements, each as a tuple (thing, subject, relation, object)."""
    import polars as pl

    return set(beliefs.filter(pl.col("p_true") > 1 / 2).select("thing", *_STATEMENT).iter_rows())


def _separations(found: Mapping[str, Run]) -> dict[str, float | None]:
    """Return each probe's AUROC for distinguishing taught concepts from withheld concepts."""
    import polars as pl

    from tacit.statistics.ranking import auroc

    withheld = planted().withheld
    beliefs = found["parts"].tables["beliefs"].drop_nulls(["label", "p_true"])
    right = (pl.col("p_true") > 1 / 2) == pl.col("label")
    anchors = found["consistency"].tables["anchors"].drop_nulls("background_score")
    retrieval = (
        found["assumptions"]
        .tables["retrieval"]
        .filter(pl.col("category").is_null(), pl.col("order") == "top-decreasing")
    )
    scores = {
        "parts": beliefs.group_by("thing").agg(score=right.mean()),
        "consistency": anchors.group_by("cluster").agg(score=pl.col("background_score").mean()),
        "assumptions": retrieval.group_by("concept").agg(score=(1 / pl.col("rank")).mean()),
    }
    return {
        probe: auroc([name not in withheld for name in of.to_series(0)], of["score"].to_numpy())
        for probe, of in scores.items()
    }
