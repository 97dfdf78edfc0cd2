"""The findings about pretrained models, against transformers, numpy and scikit-learn alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.findings.findings import Findings
from tacit.knowledge.build import KnowledgeSource, build
from tacit.knowledge.options import BackgroundOptions
from tacit.probes.registry import probe
from tacit.requests import Prompt
from tacit.runs.asking import ask
from tacit.runs.folder import RunFolder
from tacit.runs.notes import PROMPTS
from tacit.runs.reporter import Reporter
from tacit.sources.demo import FACTS, QUESTIONS, THINGS
from tacit.sources.dumps import Dump
from tests.real.conftest import loaded, plain

pytestmark = pytest.mark.filterwarnings("ignore")


def findings(name: str, folder: Path, place: Path, **options: Any) -> Findings:  # noqa: ANN401 - of the probe
    """What a run of a probe finds about a model."""
    kind = probe(name)
    engine = Engine(loaded(folder), Store(place / "store"))
    made: Any = kind.of(kind.Options(**options))
    return ask(made, engine, RunFolder(None, {"probe": name}), Reporter())


def test_beliefs_and_verdict_of_parts(folder: Path, tmp_path: Path) -> None:
    """Each belief is P(true) beside P(false); two things are too few, or all answers the same."""
    found = findings("parts", folder, tmp_path, drawings=THINGS, things="candle,kettle")
    asked = found.questions.sample(10, seed=0)
    for text, belief in asked.select("text", "p_true").iter_rows():
        prompt = Prompt(text, ("True", "False"), "\n")
        true, false = (np.exp(plain(folder).score(prompt, word)[0]) for word in prompt.answers)
        assert belief == pytest.approx(true / (true + false), abs=1e-5)
    told = found.summary["next_tokens"]
    assert (told["prompts"], len(told["tokens"])) == (min(PROMPTS, len(found.questions)), 8)
    labelled = found.tables["beliefs"].drop_nulls(["label", "p_true"])["p_true"].to_numpy()
    share = np.mean(labelled > 1 / 2)
    constant = max(share, 1 - share) >= 0.95
    assert found.summary["verdict"]["verdict"] == ("constant" if constant else "too few data")


def test_background_scores_and_conceptual_consistency(folder: Path, tmp_path: Path) -> None:
    """The share of facts and negatives answered right, and its average precision."""
    build(KnowledgeSource([Dump(FACTS)]), tmp_path / "demo.kb")
    found = findings(
        "consistency",
        folder,
        tmp_path,
        questions=QUESTIONS,
        kb=tmp_path / "demo.kb",
        limit=6,
        background=BackgroundOptions(cap=2),
        answering="single",
        meta=6,
        pair="Yes/No",
    )
    right: dict[tuple[int, str], bool] = {}
    for row in found.tables["fact_answers"].iter_rows(named=True):
        prompt = Prompt(f"Question: {row['question']}? Answer:", ("Yes", "No"))
        yes, no = (plain(folder).score(prompt, word)[0] for word in prompt.answers)
        assert row["margin"] == pytest.approx(yes - no, abs=1e-4)
        right[row["fact"], row["expected"]] = (yes > no) == (row["expected"] == "yes")
    anchors = found.tables["anchors"]
    scores = []
    for anchor, score in anchors.select("anchor", "background_score").iter_rows():
        facts = found.tables["links"].filter(anchor=anchor)["fact"]
        own = [right[fact, expected] for fact in facts for expected in ("yes", "no")]
        scores.append(np.mean(own))
        assert score == pytest.approx(scores[-1])
    (consistency,) = found.tables["consistency"].filter(subset="all")["consistency"]
    expected_precision = average_precision_score(anchors["right"].to_list(), scores)
    assert consistency == pytest.approx(expected_precision)
