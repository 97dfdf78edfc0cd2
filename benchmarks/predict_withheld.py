"""Whether ``tacit predict`` ranks the demo's questions about withheld words below taught ones.

python benchmarks/predict_withheld.py              a few minutes

The demo's questions are divided into folds by question concept. For each fold, the consistency
probe is run on the other folds' questions, and each of the fold's questions is predicted as a new
question by that run. Prints the AUROC of the probability for taught over withheld questions, and
for correctly over incorrectly answered ones, with a cluster bootstrap over question concepts.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tacit
from tacit.engine.store import Store
from tacit.probes.consistency.features import BOTH
from tacit.probes.consistency.new_question import AnswerPrediction
from tacit.runs.predicting import RunPredictor
from tacit.sources.demo import planted
from tacit.sources.questions import Anchor, read_anchors
from tacit.statistics import Bootstrap
from tacit.statistics.ranking import aurocs, weighted_thresholds

FOLDS = 5


def predictions(folder: Path) -> Iterator[tuple[Anchor, AnswerPrediction]]:
    """Yield each question of the demo with its prediction by a run without its concept."""
    source = tacit.demo_data("questions")
    anchors, lines = read_anchors(source), source.read_text().splitlines()
    base = tacit.build_kb(tacit.demo_data("facts"), folder / "demo.kb")
    fold, store = folds(anchors), Store(folder / "store")
    for each in range(FOLDS):
        rest = folder / f"without-{each}.jsonl"
        rest.write_text("\n".join(lines[at] for at in np.flatnonzero(fold != each)) + "\n")
        options = {"questions": rest, "kb": base, "store": store, "progress": False}
        run = RunPredictor(tacit.run("consistency", model="demo", **options), store=store)
        for at in np.flatnonzero(fold == each):
            yield anchors[at], run.predict(anchors[at].question, anchors[at].choices)


def folds(anchors: list[Anchor]) -> np.ndarray:
    """Return the fold of each question; withheld and taught concepts take turns."""
    concepts = sorted({str(anchor.concept) for anchor in anchors})
    apart = sorted(concepts, key=lambda one: (one in planted().withheld, one))
    return np.array([apart.index(str(anchor.concept)) % FOLDS for anchor in anchors])


def main() -> None:
    """Print the figures as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(predictions(Path(folder)))
    chance = np.array([one.p_correct for _, one in found])
    taught = np.array([anchor.concept not in planted().withheld for anchor, _ in found])
    right = np.array([one.answer == a.choices[a.answer or 0] for a, one in found])
    clusters = np.array([str(anchor.concept) for anchor, _ in found])
    figures: dict[str, object] = {
        "questions": len(found),
        "withheld": int((~taught).sum()),
        "wrong": int((~right).sum()),
        "by_both": sum(one.predictor == BOTH for _, one in found),
        "mean_taught": round(float(chance[taught].mean()), 4),
        "mean_withheld": round(float(chance[~taught].mean()), 4),
    }
    for name, labels in (("taught", taught), ("right", right)):

        def figure(weights: np.ndarray, of: np.ndarray = labels) -> np.ndarray:
            return aurocs(*weighted_thresholds(of, chance, weights))[:, None]

        (area,) = Bootstrap().weighted(clusters, figure)
        figures[f"auroc_{name}"] = [area.value, area.low, area.high]
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
