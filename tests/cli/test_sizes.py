"""Eight tiny models of three families, compared by size from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tacit.findings.findings import SHARED
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.models.sizes import save, save_sizes
from tests.models.test_families import stored

PARTS = ("run", "parts", "--drawings", demo_drawings(), "--things", "peach,lantern")


def model_of(folder: Path) -> dict[str, object]:
    """The manifest's description of the model."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    model: dict[str, object] = manifest["model"]
    return model


@pytest.mark.slow
def test_eight_models_of_three_families(tacit: Tacit, workplace: Path) -> None:
    """Family and parameters are read; the table is printed, written and in both pages."""
    folders = save_sizes(workplace / "models")
    models = [word for name in folders for word in ("--model", f"models/{name}")]
    ran = tacit(*PARTS, *models, "--out", "runs", "--report")
    assert ran.code == 0, ran.err
    for name, folder in folders.items():
        model = model_of(workplace / "runs" / name)
        assert model["family"] == name.rpartition("-")[0]
        assert model["parameters"] == stored(folder)
    assert "Slopes by model size" in ran.out
    table = pl.read_parquet(workplace / "runs" / "slopes.parquet")
    SHARED["slopes"].check(table)
    assert dict(table.select("family", "models").iter_rows()) == {"bert": 2, "gpt_neo": 3, "opt": 3}
    undefined = table.filter(pl.col("slope").is_null())["note"].unique().to_list()
    assert set(undefined) <= {"undefined for a model"}
    compared = tacit("compare", "runs", "--json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert [row.pop("probe") for row in found["slopes"]] == ["parts"] * 3
    assert found["slopes"] == table.to_dicts()
    pairs = [row for row in found["comparison"] if row["measure"].startswith("violation")]
    assert len(pairs) == 28
    defined = [row for row in pairs if row["difference"] is not None]
    assert [row["p_holm"] is None for row in pairs] == [
        row["difference_low"] is None for row in pairs
    ]
    assert all(row["p_holm"] >= row["p"] for row in defined if row["p"] is not None)
    for page in (workplace / "runs" / "report.html", workplace / "comparison.html"):
        assert "Slopes by model size" in page.read_text(encoding="utf-8")


def test_given_descriptions_change_no_run(tacit: Tacit, workplace: Path) -> None:
    """The manifest has them; request, fingerprint and scores are those of before."""
    save("opt", 16, workplace / "opt")
    ran = tacit(*PARTS, "--model", "opt", "--out", "run")
    assert ran.code == 0, ran.err
    before, request = model_of(workplace / "run"), (workplace / "run" / "run.yaml").read_bytes()
    findings = (workplace / "run" / "findings" / "beliefs.parquet").read_bytes()
    ran = tacit(
        *PARTS, "--model", "opt", "--out", "run", "--family", "opt=mine", "--parameters", "opt=1.3B"
    )
    assert ran.code == 0, ran.err
    assert model_of(workplace / "run") == before | {"family": "mine", "parameters": 1_300_000_000}
    assert (workplace / "run" / "run.yaml").read_bytes() == request
    assert (workplace / "run" / "findings" / "beliefs.parquet").read_bytes() == findings
    dry = tacit(*PARTS, "--model", "opt", "--dry-run", "--json", "--out", "run")
    assert json.loads(dry.out)["runs"][0]["to_ask"] == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--family", "other=opt", "names 'other', but no model is named so; expected one of demo"),
        ("--parameters", "demo=many", "'many' is not a number of parameters"),
        ("--parameters", "demo", "NAME=350M"),
    ],
)
def test_a_wrong_description_is_refused(
    tacit: Tacit, workplace: Path, option: str, value: str, message: str
) -> None:
    """Before anything is asked or written."""
    ran = tacit(*PARTS, "--model", "demo", "--out", "run", option, value)
    assert (ran.code, (workplace / "run").exists()) == (2, False)
    assert message in ran.err


def test_models_of_unknown_size_are_told(tacit: Tacit, workplace: Path) -> None:
    """Beliefs from files have a family and a size only if they are given."""
    save("opt", 16, workplace / "opt")
    save("opt", 32, workplace / "larger")
    models = ("--model", "opt", "--model", "larger")
    ran = tacit(*PARTS, *models, "--out", "runs")
    assert ran.code == 0, ran.err
    rows = pl.read_parquet(workplace / "runs" / "opt" / "questions.parquet")
    beliefs = rows.select("thing", "subject", "relation", "object", "p_true")
    beliefs.write_csv(workplace / "beliefs.tsv", separator="\t")
    ran = tacit(*PARTS, "--beliefs", "beliefs.tsv", "--out", "runs/beliefs")
    assert ran.code == 0, ran.err
    assert "family" not in model_of(workplace / "runs" / "beliefs")
    compared = tacit("compare", "runs", "--json")
    assert compared.code == 0, compared.err
    assert [row["models"] for row in json.loads(compared.out)["slopes"]] == [2]
    page = (workplace / "comparison.html").read_text(encoding="utf-8")
    assert "beliefs.tsv is not in the table of slopes, because its family and number of" in page
    given = ("--family", "beliefs.tsv=opt", "--parameters", "beliefs.tsv=1M")
    ran = tacit(*PARTS, "--beliefs", "beliefs.tsv", "--out", "runs/beliefs", *given)
    assert ran.code == 0, ran.err
    compared = tacit("compare", "runs", "--json", "--force")
    (row,) = json.loads(compared.out)["slopes"]
    assert (row["models"], row["largest"]) == (3, "1M")
