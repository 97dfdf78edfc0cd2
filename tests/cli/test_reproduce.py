"""``tacit reproduce``: our values and those of the papers."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tacit.probes.assumptions.published import published_table
from tacit.runs.folder import RunFolder
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.probes.assumptions.made_up import small_run

DEMO = demo_drawings()
METHOD = "log-probabilities of whole answers"


def test_parrot(tacit: Tacit, workplace: Path) -> None:
    """What is about the drawings needs no model; the rest needs a model or beliefs."""
    alone = json.loads(tacit("reproduce", "parrot", "--drawings", DEMO, "--json").out)
    of_drawings = {"1", "5", "Section 4.2, appendix C", "Section 6.2"}
    assert {row["table"] for row in alone} == of_drawings
    ran = tacit("reproduce", "parrot", "--drawings", DEMO, "--model", "demo", "--out", "t.tsv")
    assert ran.code == 0, ran.err
    table = pl.read_csv(workplace / "t.tsv", separator="\t", infer_schema_length=None)
    of_models = {"3", "4", "6", "7", "Figure 3", "Section 6.3"}
    assert set(table["table"].unique().to_list()) == of_drawings | of_models
    row = table.filter((table["table"] == "4") & (table["column"] == "before")).row(0, named=True)
    assert row["published"] == 53.83
    assert row["difference"] == pytest.approx(row["ours"] - 53.83)
    assert "Table 3, compared with Macaw-11B" in ran.out
    assert f"\nElicitation: {METHOD}\n" in ran.out
    measured = pl.col("table").is_in(list(of_models))
    assert table.filter(measured)["elicitation"].unique().to_list() == [METHOD]
    assert table.filter(~measured)["elicitation"].null_count() == table.filter(~measured).height


def test_consistency(tacit: Tacit, source: Path) -> None:
    """Numbers of the method, and of the data at hand; the versions differ."""
    given = ("--questions", source / "questions.csv", "--kb", source / "small.kb", "--json")
    rows = json.loads(tacit("reproduce", "consistency", *given).out)
    ours = {row["row"]: (row["ours"], row["published"]) for row in rows}
    assert ours["inputs of a question"] == (84, 84)
    assert ours["relations asked about"] == (2, 14)
    assert ours["largest number of choices of a question"] == (3, 5)
    rows = json.loads(tacit("reproduce", "consistency", *given, "--paper-version", "arxiv").out)
    assert {row["row"]: row["ours"] for row in rows}["meta-prompts"] == 5


def test_sta(tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON and as a file the rows of the table; for people tables and how it was elicited."""
    monkeypatch.setenv("COLUMNS", "140")
    found = small_run().with_summary(elicitation=METHOD)
    few = found.tables["retrieval_by_number"].with_columns(candidates=34, chance_mrr=0.1211)
    found = replace(found, tables={**found.tables, "retrieval_by_number": few})
    run = RunFolder(workplace / "run", {"probe": "assumptions", "model": "m"})
    run.begin({"model": {}, "data": {}})
    run.finish(found)
    asked = ("reproduce", "sta", "run", "--as", "roberta-large", "--out", "sta.parquet")
    rows = json.loads(tacit(*asked, "--json").out)
    table = published_table(found.tables, "roberta-large", found.summary)
    assert rows == table.to_dicts() == pl.read_parquet(workplace / "sta.parquet").to_dicts()
    assert {row["row"]: row["ours"] for row in rows}["concepts in the norms"] == 16
    assert {row["elicitation"] for row in rows} == {METHOD}
    ran = tacit(*asked)
    assert ran.code == 0, ran.err
    assert all(title in ran.out for title in ("Table 1", "Table 2", "Table 3", "In the text"))
    assert f"\nElicitation: {METHOD}\n" in ran.out
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "has, prompts 16 564 \N{MINUS SIGN}548" in lines
    assert "bear has horns, probability undefined 0 undefined" in lines
    assert any("0.500 to 0.850" in line for line in lines)
    (row,) = (line for line in lines if line.startswith("MRR at 1 property"))
    assert row.endswith("0.121 among 34 0.230 undefined")
    assert any(line.startswith("Not compared (MRR at 1 property, MRR") for line in lines)
