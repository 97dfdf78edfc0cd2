"""The no-knowledge baseline: on knowledge bases whose tails say nothing, or everything."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
from tacit.knowledge.negatives import negatives, tails_of
from tacit.knowledge.options import BackgroundOptions, Negatives
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.no_knowledge import no_knowledge
from tacit.sources.dumps import Dump
from tacit.statistics import Bootstrap
from tacit.statistics.regression import folds
from tests.knowledge.test_negatives import ANIMALS

Lines = Callable[[np.random.Generator], list[str]]

QUICK = Bootstrap(resamples=50)
FACT = ["head", "relation", "tail"]


def described(folder: Path, lines: list[str], preset: Negatives, *, own: bool) -> pl.DataFrame:
    """The attributes of the tails of a knowledge base's facts about IsA."""
    dump = folder / "dump.tsv"
    if not dump.exists():
        dump.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        build(KnowledgeSource([Dump(dump)]), folder / "base.duckdb")
    with KnowledgeBase(folder / "base.duckdb") as base:
        facts = base.table(
            "SELECT DISTINCT concept AS head, relation, other AS tail FROM base.neighbours n "
            "JOIN base.relations r ON r.id = n.relation WHERE forward AND r.name = 'IsA' "
            "ORDER BY ALL"
        )
        return tails_of(base, negatives(base, facts, BackgroundOptions(negatives=preset)), own=own)


def answered(tails: pl.DataFrame) -> ModelAnswers:
    """The facts of these tails, with answers that are right except on every third fact."""
    facts = tails.filter("is_negative").select(FACT).with_row_index("fact")
    right = pl.col("fact") % 3 > 0
    margin = pl.when(right).then(1.0).otherwise(-1.0)
    own = facts.select("fact", expected=pl.lit("yes"), right=right, margin=margin)
    other = facts.select("fact", expected=pl.lit("no"), right=True, margin=-1.0)
    facts, none = facts.with_columns(negative=pl.lit("any")), pl.DataFrame()
    return ModelAnswers(facts, none, pl.concat([own, other]), none, none)


def of_all(tails: pl.DataFrame) -> dict[str, float]:
    table = no_knowledge(tails, answered(tails), QUICK)
    TABLES["no_knowledge"].check(table)
    assert table["relation"].to_list() == ["all", "IsA"]
    return table.row(0, named=True)


def alike(rng: np.random.Generator, share: Sequence[float] | None = None) -> list[str]:
    """Facts whose tails are random animals, each as likely as any other unless told."""
    tails = rng.choice(ANIMALS, (900, 2), p=share)
    return [f"IsA\tzoo {k}\t{tail}" for k, pair in enumerate(tails) for tail in sorted({*pair})]


def popular(rng: np.random.Generator) -> list[str]:
    """Facts whose tails are drawn from a few popular and many rare animals, of any head."""
    share = 1 / np.arange(1, 1 + len(ANIMALS))
    return alike(rng, (share / share.sum()).tolist())


@pytest.mark.parametrize(
    ("lines", "preset", "own", "within"),
    [
        # Heads and tails that are paired at random, though some tails are popular.
        (popular, "same-relation", True, 0.04),
        (alike, "matched", True, 0.06),
        (alike, "uniform", False, 0.04),
    ],
)
def test_random_tails_tell_nothing(
    tmp_path: Path, lines: Lines, preset: Negatives, *, own: bool, within: float
) -> None:
    found = of_all(described(tmp_path, lines(np.random.default_rng(6)), preset, own=own))
    assert found["auroc"] == pytest.approx(0.5, abs=within)


def test_a_count_with_the_fact_itself_would_reveal_the_label(tmp_path: Path) -> None:
    """Left out for facts alone, it marks rare tails: each tail of a fact then counts one less."""
    lines = [f"IsA\tzoo {k}\tanimal {k // 2}" for k in range(600)]
    fair = of_all(described(tmp_path, lines, "same-relation", own=True))
    unfair = of_all(described(tmp_path, lines, "same-relation", own=False))
    assert fair["auroc"] == pytest.approx(0.5, abs=0.06)
    assert unfair["auroc"] > 0.99


def test_figures_by_hand(tmp_path: Path) -> None:
    """Accuracy and AUROC as scikit-learn computes them, of regression and model."""
    tails = described(tmp_path, popular(np.random.default_rng(5)), "same-relation", own=True)
    found = of_all(tails)
    label = ~tails["is_negative"].to_numpy()
    parts = tails["part_of_speech"].to_list()
    features = np.column_stack(
        [tails[name] for name in ("words", "characters", "frequency")]
        + [np.log1p(tails[name].to_numpy()) for name in ("degree", "as_tail")]
        + [[each == part for each in parts] for part in {*parts} if parts.count(part) >= 10]
    )
    fold = folds(label, tails["head"])
    predicted = np.empty(len(label))
    for each in range(10):
        model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=1000))
        model.fit(features[fold != each], label[fold != each])
        predicted[fold == each] = model.predict_proba(features[fold == each])[:, 1]
    assert found["facts"] == tails.height // 2
    assert found["auroc"] == pytest.approx(roc_auc_score(label, predicted))
    assert found["accuracy"] == pytest.approx(accuracy_score(label, predicted > 0.5))
    assert found["auroc_low"] < found["auroc"] < found["auroc_high"]
    answers = answered(tails).fact_answers
    share = answers.filter(expected="yes")["right"].to_numpy().mean()
    assert found["model_accuracy"] == pytest.approx((share + 1) / 2)
    assert found["model_auroc"] == pytest.approx(
        roc_auc_score(answers["expected"] == "yes", answers["margin"])
    )


@pytest.mark.parametrize(
    ("size", "reason"),
    [(0, "no fact has a negative"), (4, "all facts have the same first concept")],
)
def test_an_undefined_baseline_has_a_reason(size: int, reason: str) -> None:
    rows = [
        ("dog", "IsA", tail, negative, 1, 3, 4.0, "NOUN", 3, 2)
        for tail in ("pet", "animal")
        for negative in (False, True)
    ]
    names = ["words", "characters", "frequency", "part_of_speech", "degree", "as_tail"]
    tails = pl.DataFrame(rows, [*FACT, "is_negative", *names], orient="row").head(size)
    found = no_knowledge(tails, answered(tails), QUICK)
    assert set(found["undefined"]) == {reason}
    assert found["auroc"].null_count() == found.height
