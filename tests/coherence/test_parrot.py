"""Repair of the drawings of Gu et al. 2023 finds what it found when its digests were recorded."""

import hashlib

import numpy as np
import polars as pl
import pytest

from tacit import repair
from tacit.coherence import Objective
from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.sources.drawings import read_drawings
from tacit.sources.statements import drawing_statements
from tests.fetched_data import PARROT, needs_parrot

STATEMENT = ("subject", "relation", "object")


def beliefs(decimals: int, drawings: int) -> pl.DataFrame:
    """Beliefs about all pairs of parts; nine in ten agree with the drawing."""
    ontology = Ontology.load("parts")
    some = read_drawings(PARROT, tuple(ontology.relations))[:drawings]
    rows = [
        (each.thing, each.annotator, subject, relation, other)
        for each in some
        for subject in sorted(each.parts)
        for other in sorted(each.parts)
        if subject != other
        for relation in ontology.relations
    ]
    keys = ("thing", "annotator", *STATEMENT)
    gold = enrich(drawing_statements(some), ontology)
    frame = pl.DataFrame(rows, schema=keys, orient="row").join(
        gold.select(*keys, "label"), on=keys, how="left", maintain_order="left"
    )
    random = np.random.default_rng(0)
    true = frame["label"].fill_null(value=False).to_numpy() ^ (random.random(len(frame)) < 0.1)
    p = random.random(len(frame)) / 2 + np.where(true, 0.5, 0.0)
    return frame.drop("label").with_columns(p_true=np.round(p, decimals))


@pytest.mark.slow
@needs_parrot
@pytest.mark.parametrize(
    ("objective", "decimals", "drawings", "value", "digest"),
    [
        ("paper", 9, 300, 4_582_924, "370a1197ee0c7f6d"),
        ("log-odds", 9, 300, 281_627.8797043053, "440de7fb3b8a14ec"),
        ("margin", 9, 300, 50_361.205320707, "c31f4d63bcd2cbf3"),
        ("paper", 1, 300, 4_592_680, "123b0c50fd437f8e"),
        ("margin", 1, 15, 1_995.1, "9fe31dd6d58582e6"),
    ],
)
def test_drawings_are_repaired_as_recorded(
    objective: Objective, decimals: int, drawings: int, value: float, digest: str
) -> None:
    """The value, and of each statement whether it is true and whether a tie decided it."""
    found = repair(beliefs(decimals, drawings), Ontology.load("parts"), objective)
    columns = found.beliefs.select("repaired", "free").to_numpy()
    assert found.optimal == found.groups == drawings
    assert found.settled
    assert found.value == found.bound == pytest.approx(value, abs=1e-6)
    assert hashlib.sha256(columns.tobytes()).hexdigest()[:16] == digest
