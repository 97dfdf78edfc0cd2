from __future__ import annotations

import zlib
from pathlib import Path

import polars as pl

import tacit
from tacit import FakeModel, Ontology, Prompt
from tacit.charts.theme import HOUSE
from tacit.probes.parts.details import graph_set
from tests.probes.parts.counted import count_by_hand

FAMILY = """
name: family
relations:
  parent of:
    singular: "{subject} is a parent of {object}"
    plural: "{subject} are parents of {object}"
    asymmetric: true
    inverse: child of
    excludes: [sibling of]
  child of:
    singular: "{subject} is a child of {object}"
    plural: "{subject} are children of {object}"
    asymmetric: true
    inverse: parent of
  sibling of:
    singular: "{subject} is a sibling of {object}"
    plural: "{subject} are siblings of {object}"
    symmetric: true
    transitive: true
"""
KEY = ("thing", "subject", "relation", "object")
KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "excludes")
THINGS = "Everyday thing\tParts\nfamily\tanna,ben,cleo,twins\nclan\teve,fay,gus\n"
DRAWN = "1\tfamily\t---\tanna\tparent of\tben\n\t\t---\tben\tsibling of\tcleo\n"


def score(prompt: Prompt, answer: str) -> float:
    """True for about half of the statements."""
    return -1.0 if (zlib.crc32(prompt.text.encode()) % 2 == 1) == (answer == "True") else -5.0


def run(folder: Path, content: str) -> tacit.Run:
    drawings, ontology = folder / "drawings.tsv", folder / "family.yaml"
    drawings.write_text(content, encoding="utf-8")
    ontology.write_text(FAMILY, encoding="utf-8")
    asked = {"drawings": drawings, "ontology": ontology, "store": folder / "store"}
    return tacit.run("parts", model=FakeModel(score), progress=False, **asked)


def test_own_relations_are_asked_checked_and_repaired(tmp_path: Path) -> None:
    """Wordings are the ontology's, and violations those that counting one by one finds."""
    found = run(tmp_path, THINGS)
    asked = {row[:4]: row[4] for row in found.questions.select(*KEY, "text").iter_rows()}
    start = "Judge whether this statement is true or false: In a family, "
    assert asked["family", "twins", "parent of", "ben"] == f"{start}twins are parents of ben."
    assert asked["family", "ben", "sibling of", "anna"] == f"{start}ben is a sibling of anna."
    assert len(asked) == 3 * (4 * 3 + 3 * 2)
    # No item is in both things, so their statements are counted together.
    held = found.tables["beliefs"].filter("before").select(KEY[1:])
    by_hand = count_by_hand(Ontology.load(tmp_path / "family.yaml"), set(held.iter_rows()))
    rows = found.tables["violation"].filter(~pl.col("constraint").is_in(["macro", "micro"]))
    before = rows.filter(stage="before").select("constraint", "violated", "applicable").rows()
    assert before == [(kind, *by_hand[kind]) for kind in KINDS]
    assert rows.filter(stage="paper")["violated"].sum() == 0


def test_labels_and_graphs_of_own_relations(tmp_path: Path) -> None:
    """Labels follow from the drawing; the report's graphs know the relations without the file."""
    found = run(tmp_path, DRAWN)
    assert dict(found.tables["beliefs"]["label"].value_counts().iter_rows())[True] == 4
    (tmp_path / "family.yaml").unlink()
    graphs = graph_set({"fake": found.findings}, HOUSE)
    assert graphs is not None
    assert "sibling of" in str(graphs.graphs[0])
