"""``tacit run parts``: the folder of a run, its output, and several models."""

import html
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from tacit.api import load_run
from tacit.findings.findings import SHARED
from tacit.models.registry import folder_of
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.models.sizes import save

DEMO = demo_drawings()
ANY = ("run", "parts", "--drawings", DEMO)
PEACH = (*ANY, "--things", "peach")
PARTS = (*PEACH, "--model", "demo")


def findings(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "findings").iterdir())}


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return content


def test_a_run_leaves_its_folder_and_prints_what_is_asked(tacit: Tacit, workplace: Path) -> None:
    before = torch.get_num_threads()
    try:
        ran = tacit(*PARTS, "--out", "run", "--threads", 1, "--tables")
    finally:
        torch.set_num_threads(before)
    assert ran.code == 0, ran.err
    assert "agreed by all" in ran.out
    run = load_run(workplace / "run")
    assert run.block is not None
    assert all(line in ran.out for line in run.block.lines)
    assert "…" not in ran.out, "nothing is cut off at 80 columns"
    content = manifest(workplace / "run")
    assert content["status"] == "finished"
    assert content["engine"] == {"kind": "local", "threads": 1}
    assert content["model"]["name"] == "demo"
    assert content["summary"]["skipped"] == 0
    assert {Path(name).name for name in content["data"]} == {"annotations-0.tsv", "things.tsv"}
    violation = pl.read_parquet(workplace / "run" / "findings" / "violation.parquet")
    after = violation.filter(pl.col("stage") != "before")
    assert set(after["stage"]) == {"paper", "log-odds", "margin"}
    assert after["violated"].drop_nulls().to_list() == [0] * 15  # four types and micro, each thrice
    questions = pl.read_parquet(workplace / "run" / "questions.parquet")
    assert questions["p_true"].is_between(0, 1).all()


def test_json_gives_the_summary_of_the_manifest(tacit: Tacit, workplace: Path) -> None:
    """With the block, on standard output, which contains nothing else."""
    ran = tacit(*ANY, "--model", "demo", "--out", "run", "--limit", "2", "--json")
    block, summary = load_run(workplace / "run").block, manifest(workplace / "run")["summary"]
    assert block is not None
    run = {"model": "demo", "out": "run", "block": list(block.lines), **summary}
    assert json.loads(ran.out) == {"runs": [run], "comparison": [], "flips": [], "slopes": []}
    assert summary["things"] == 2


def test_a_dry_run_writes_nothing_and_needs_no_folder(tacit: Tacit, workplace: Path) -> None:
    ran = tacit(*ANY, "--model", "demo", "--dry-run", "--json")
    (estimate,) = json.loads(ran.out)["runs"]
    assert (estimate["prompts"], estimate["distinct"], estimate["stored"]) == (1288, 1288, 0)
    assert estimate["tokens"] > estimate["prompts"]
    assert estimate["seconds"] > 0
    assert not list(workplace.iterdir())


def test_a_run_that_fails_says_so(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("tacit.engine.storage._fill", failing)
        assert tacit(*PARTS, "--out", "run").code == 1
    content = manifest(workplace / "run")
    assert content["status"] == "failed"
    assert "the disk is full" in content["error"]
    assert tacit(*PARTS, "--out", "run").code == 0


def test_a_run_whose_data_changed_is_not_replaced(tacit: Tacit, workplace: Path) -> None:
    """The same path with other content is another run; the old one stays."""
    drawings = workplace / "annotations-0.tsv"
    drawings.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    request = ("run", "parts", "--model", "demo", "--drawings", drawings, "--out", "run")
    assert tacit(*request).code == 0
    before = findings(workplace / "run")
    drawings.write_text("me\tpeach\t---\tflesh\tinside\tskin\n", encoding="utf-8")
    ran = tacit(*request)
    assert (ran.code, findings(workplace / "run")) == (2, before)
    assert "its model or data have changed since (data)" in ran.err


def test_several_models_have_a_folder_each_and_are_compared(tacit: Tacit, workplace: Path) -> None:
    """The same model under two names differs in nothing; a comma may be part of a folder's name."""
    shutil.copytree(folder_of("demo"), workplace / "a,twin")
    ran = tacit(*PEACH, "--model", "demo, ./a,twin", "--out", "no")
    assert ran.code == 2, "the folder has another name"
    ran = tacit(*PARTS, "--model", "./a,twin", "--out", "runs")
    assert ran.code == 0, ran.err
    assert {path.name for path in (workplace / "runs").iterdir()} == {
        *("demo", "a-twin", "comparison.parquet", "flips.parquet")
    }
    together = pl.read_parquet(workplace / "runs" / "comparison.parquet")
    assert together["first"].unique().to_list() == ["demo"]
    assert set(together["difference"].to_list()) == {0.0}
    assert together["first_value"].is_between(0, 1).all()
    assert "Parts: from demo to ./a,twin" in ran.out
    assert " answered differently: 0 became wrong, 0 became right\n" in ran.out
    assert "different elicitation methods" not in ran.err


def test_options_of_a_run_are_given_back(tacit: Tacit, workplace: Path) -> None:
    """The run.yaml of a run, also of two models, repeats it; the command line has precedence."""
    asked = (*PEACH, "--fast", "--preset", "macaw", "--model", "demo,demo-masked")
    assert tacit(*asked, "--out", "runs").code == 0
    before = (workplace / "runs" / "demo" / "run.yaml").read_bytes()
    file = workplace / "runs" / "demo" / "run.yaml"
    assert tacit("run", "parts", "--config", file, "--out", "again").code == 0
    assert (workplace / "again" / "run.yaml").read_bytes() == before
    changed = ("--model", "demo-masked", "--things", "watering can", "--out", "other")
    assert tacit("run", "parts", "--config", file, *changed).code == 0
    request = load_run(workplace / "other").request
    assert (request["model"], request["things"], request["fast"]) == (
        *("demo-masked", "watering can", True),
    )


def test_a_models_own_beliefs_give_its_own_findings(tacit: Tacit, workplace: Path) -> None:
    """Taken from a run's findings and measured again, every table is the same bytes."""
    tacit(*PARTS, "--out", "asked")
    beliefs = pl.read_parquet(workplace / "asked" / "findings" / "beliefs.parquet")
    names = ["thing", "annotator", "subject", "relation", "object", "p_true"]
    beliefs.select(names).write_csv(workplace / "beliefs.tsv", separator="\t")
    ran = tacit(*PEACH, "--beliefs", "beliefs.tsv", "--out", "taken")
    assert ran.code == 0, ran.err
    assert findings(workplace / "taken") == findings(workplace / "asked")
    model = manifest(workplace / "taken")["model"]
    assert (model["kind"], model["name"]) == ("beliefs", "beliefs.tsv")


def test_figures_are_drawn_in_the_formats_given(tacit: Tacit, workplace: Path) -> None:
    options = ("--figures", "svg,pdf", "--palette", "okabe-ito", "--graphs", "peach")
    ran = tacit(*PARTS, "--out", "run", *options)
    assert ran.code == 0, ran.err
    drawn = {path.name for path in (workplace / "run" / "figures").iterdir()}
    assert {"accuracy_at.svg", "accuracy_at.pdf", "accuracy_by_relation.svg"} <= drawn
    captions = (workplace / "run" / "figures" / "captions.txt").read_text()
    svg = (workplace / "run" / "figures" / "accuracy_by_relation.svg").read_text()
    title = "Accuracy by relation, before and after repair"
    assert title in captions
    assert title in svg
    assert {name for name in drawn if name.startswith("parts_graph") and name[-3:] == "svg"} == {
        f"parts_graph-peach-annotator_{n}.svg" for n in (1, 2, 3)
    }


@pytest.mark.slow
def test_questions_beyond_the_window_are_skipped_and_listed(tacit: Tacit, workplace: Path) -> None:
    """The belief is missing, the manifest counts the prompts, and a table and the report say so."""
    drawings = workplace / "drawings"
    shutil.copytree(DEMO, drawings)
    with (drawings / "annotations-0.tsv").open("a", encoding="utf-8") as file:
        file.write(f"annotator_9\tpeach\t---\t{'very ' * 150}old skin\tsurrounds\tflesh\n")
    asked = ("run", "parts", "--model", "demo", "--drawings", drawings, "--things", "peach")
    ran = tacit(*asked, "--out", "run")
    assert ran.code == 0, ran.err
    missing = (
        "28 prompts are longer than the model's context window and therefore skipped (listed in "
        "findings/skipped.parquet); the answers to skipped prompts are missing"
    )
    assert missing in " ".join(ran.out.split())
    skipped = pl.read_parquet(workplace / "run" / "findings" / "skipped.parquet")
    assert manifest(workplace / "run")["summary"]["skipped"] == skipped.height == 28
    assert skipped["text"].str.contains("very very").all()
    assert skipped["reason"].str.contains("window of demo is 128 tokens").all()
    questions = pl.read_parquet(workplace / "run" / "questions.parquet")
    assert questions["p_true"].null_count() == 28
    assert tacit("report", "run").code == 0
    page = (workplace / "report.html").read_text(encoding="utf-8")
    assert missing in " ".join(html.unescape(page).split())
    assert tacit(*asked, "--out", "other", "--strict").code == 2
    assert not (workplace / "other").exists()


@pytest.mark.slow
def test_models_of_two_families_are_compared_by_size(tacit: Tacit, workplace: Path) -> None:
    """The table is printed, written and in both pages."""
    folders = [
        save(family, width, workplace / f"{family}-{width}")
        for family in ("opt", "bert")
        for width in (16, 32)
    ]
    models = [word for folder in folders for word in ("--model", folder)]
    ran = tacit(*PEACH, *models, "--out", "runs", "--report")
    assert ran.code == 0, ran.err
    table = pl.read_parquet(workplace / "runs" / "slopes.parquet")
    SHARED["slopes"].check(table)
    assert dict(table.select("family", "models").iter_rows()) == {"bert": 2, "opt": 2}
    undefined = table.filter(pl.col("slope").is_null())["note"].unique().to_list()
    assert set(undefined) <= {"undefined for a model"}
    compared = tacit("compare", "runs", "--json")
    assert compared.code == 0, compared.err
    found = json.loads(compared.out)
    assert [row.pop("probe") for row in found["slopes"]] == ["parts"] * 2
    assert found["slopes"] == table.to_dicts()
    pairs = [row for row in found["comparison"] if row["measure"].startswith("violation")]
    assert len(pairs) == 6
    defined = [row for row in pairs if row["difference"] is not None]
    assert [row["p_holm"] is None for row in pairs] == [
        row["difference_low"] is None for row in pairs
    ]
    assert all(row["p_holm"] >= row["p"] for row in defined if row["p"] is not None)
    pages = (workplace / "runs" / "report.html", workplace / "comparison.html")
    printed = [ran.out, *(page.read_text(encoding="utf-8") for page in pages)]
    assert all("Slopes by model size" in text for text in printed)


def test_given_descriptions_change_no_run(tacit: Tacit, workplace: Path) -> None:
    """The manifest has them; request, fingerprint and scores are those of before."""
    save("opt", 16, workplace / "opt")
    request = (*PEACH, "--model", "opt", "--out", "run")
    ran = tacit(*request)
    assert ran.code == 0, ran.err
    before, recorded = manifest(workplace / "run")["model"], findings(workplace / "run")
    ran = tacit(*request, "--family", "opt=mine", "--parameters", "opt=1.3B")
    assert ran.code == 0, ran.err
    described = {"family": "mine", "parameters": 1_300_000_000}
    after = manifest(workplace / "run")["model"]
    # The second run also knows the errors that were measured during the first.
    assert after | {"errors": ...} == before | described | {"errors": ...}
    assert findings(workplace / "run") == recorded
