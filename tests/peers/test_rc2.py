"""Repair against RC2 on the undivided formula, the solver of Gu et al. 2023 (section 5.2)."""

import importlib.util
from itertools import permutations
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from tacit import repair
from tacit.coherence import Objective
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.coherence.repair import weights_of, whole_weights

pytest.importorskip("pysat", reason="python-sat is not installed")


def _by_rc2() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "maxsat.py"
    spec = importlib.util.spec_from_file_location("maxsat", path)
    if spec is None or spec.loader is None:
        pytest.skip("the benchmark's formula is not here")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OLD_WAY = _by_rc2()
# Few large problems, because RC2's time grows steeply with the number of items.
SIZES = [3] * 50 + [4] * 50 + [5] * 40 + [6] * 30 + [7] * 15 + [8] * 12 + [9] * 3


@pytest.mark.parametrize(("seed", "n"), list(enumerate(SIZES)))
def test_equal_to_rc2_with_the_papers_objective(seed: int, n: int) -> None:
    """The value is RC2's optimum on the formula of all 14 relations together."""
    ontology = Ontology.load("parts")
    random = np.random.default_rng(seed)
    items = [f"part {number}" for number in range(n)]
    statements = [(x, r, y) for x, y in permutations(items, 2) for r in ontology.relations]
    # Some problems are dense, some have many zero weights and ties.
    p = random.random(len(statements)) ** random.choice([1, 4, 20])
    p = np.round(p, int(random.choice([1, 2, 6])))
    beliefs = pl.DataFrame(
        statements, schema=["subject", "relation", "object"], orient="row"
    ).with_columns(p_true=p)
    weights = dict(zip(statements, (round(100 * each) for each in p.tolist()), strict=True))
    found = repair(beliefs, ontology)
    assert found.status == "optimal"
    assert found.value == found.bound == OLD_WAY.best_value(weights, items, ontology)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("objective", ["paper", "log-odds", "margin"])
@pytest.mark.parametrize("name", shipped_ontologies())
def test_equal_to_rc2_with_every_objective_and_ontology(
    name: str, objective: Objective, seed: int
) -> None:
    """Weights for and against, implied and excluded relations: the kept weight is RC2's optimum."""
    ontology = Ontology.load(name)
    random = np.random.default_rng(seed)
    items = [f"item {number}" for number in range(4)]
    statements = [(x, r, y) for x, y in permutations(items, 2) for r in ontology.relations]
    p = np.round(random.random(len(statements)), int(random.choice([1, 6])))
    beliefs = pl.DataFrame(
        statements, schema=["subject", "relation", "object"], orient="row"
    ).with_columns(p_true=p)
    weights = whole_weights(weights_of(p, objective), objective)
    true = repair(beliefs, ontology, objective).beliefs["repaired"].to_numpy()
    kept = int(np.abs(weights[np.where(weights > 0, true, ~true)]).sum())
    problem = dict(zip(statements, weights.tolist(), strict=True))
    assert kept == OLD_WAY.best_value(problem, items, ontology)
