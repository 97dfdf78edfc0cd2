"""``tacit report`` and ``tacit compare``; and no command overwrites a file that is not its own."""

import io
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

import tacit as api
from tacit.sources.demo import FACTS, NORMS, QUESTIONS
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.report.conftest import parts_run

DRAWINGS = demo_drawings()
MINE = "subject\trelation\tobject\tp_true\nmy\town\tnotes\t1\n"
BELIEFS = (
    "thing\tsubject\trelation\tobject\tp_true\n"
    "car\twheel\tabove\troof\t0.9\ncar\troof\tabove\twheel\t0.8\n"
)
REPAIR = ("repair", "beliefs.tsv", "--out")
COMMANDS: dict[str, tuple[object, ...]] = {
    "score.jsonl": ("score", "prompts.jsonl", "--model", "demo", "--out"),
    "violations.tsv": ("check", "beliefs.tsv", "--violations"),
    "check-groups.tsv": ("check", "beliefs.tsv", "--by-group"),
    "repaired.tsv": REPAIR,
    "repair-groups.tsv": (*REPAIR, "other.tsv", "--by-group"),
    "assignment.tsv": (*REPAIR, "other.tsv", "--assignment"),
    "labelled.tsv": ("show", "statements", DRAWINGS, "--out"),
    "prompts.tsv": ("show", "prompts", "assumptions", "--norms", NORMS, "--model", "demo", "--out"),
    "facts.kb": ("kb", "import", FACTS, "--out"),
    "background.tsv": ("kb", "facts", "base.kb", "--questions", QUESTIONS, "--out"),
    "parrot.tsv": ("reproduce", "parrot", "--drawings", DRAWINGS, "--out"),
    "report.html": ("report", "runs", "--out"),
    "comparison.html": ("compare", "runs", "--out"),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return api.build_kb(FACTS, tmp_path_factory.mktemp("base") / "base.kb")


@pytest.fixture
def output_folder(workplace: Path, finished_pair: Path, base: Path) -> Path:
    (workplace / "beliefs.tsv").write_text(BELIEFS, encoding="utf-8")
    (workplace / "prompts.jsonl").write_text(
        '{"text": "roof is above the", "answers": ["wall"]}\n', encoding="utf-8"
    )
    shutil.copytree(finished_pair, workplace / "runs")
    shutil.copy(base, workplace / "base.kb")
    return workplace


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.slow
def test_a_foreign_file_stays_unless_forced(tacit: Tacit, output_folder: Path, name: str) -> None:
    """It is refused with exit code 2; what the command wrote itself is overwritten."""
    asked, out = COMMANDS[name], output_folder / name
    out.write_text(MINE, encoding="utf-8")
    before = sorted(output_folder.rglob("*"))
    refused = tacit(*asked, name)
    assert refused.code == 2
    assert f"{name} exists and is not" in refused.err
    assert "overwrite it with --force" in refused.err
    assert out.read_text(encoding="utf-8") == MINE
    assert sorted(output_folder.rglob("*")) == before, "nothing is written"
    assert tacit(*asked, name, "--force").code == 0
    assert out.read_bytes() != MINE.encode()
    again = tacit(*asked, name)
    assert again.code == 0, again.err


@pytest.mark.parametrize("name", ["comparison.parquet", "figures"])
def test_several_models_write_beside_no_foreign_files(
    tacit: Tacit, workplace: Path, name: str
) -> None:
    """Their comparison and figures would stand under the names of others'."""
    (workplace / "out").mkdir()
    (workplace / "out" / name).touch()
    asked = ("run", "parts", "--drawings", DRAWINGS, "--model", "demo", "--model", "demo-masked")
    refused = tacit(*asked, "--out", "out", "--dry-run")
    assert refused.code == 2
    assert f"{Path('out') / name} exists, but out contains none of these runs" in refused.err


def test_the_demo_keeps_a_foreign_report(tacit: Tacit, workplace: Path) -> None:
    """A page that merely speaks of Tacit is none; it is refused before anything is run."""
    (workplace / "report.html").write_text("<p>Tacit report 1.0</p>", encoding="utf-8")
    refused = tacit("demo", "--no-open", "--out", ".")
    assert refused.code == 2
    assert [path.name for path in workplace.iterdir()] == ["report.html"]


def test_a_table_of_several_runs_has_a_row_per_model(tacit: Tacit, pair: Path) -> None:
    """All digits as CSV; a table that no run has is refused."""
    runs = [pair / name for name in ("ada", "bea")]
    ran = tacit("show", "table", *runs, "violation", "--format", "csv")
    assert ran.code == 0, ran.err
    table = pl.read_csv(io.StringIO(ran.out))
    assert set(table["model"]) == {"ada", "bea"}
    assert "| ada |" in tacit("show", "table", *runs, "accuracy", "--format", "markdown").out
    assert tacit("show", "table", *runs, "nothing").code == 2
    metrics = json.loads((pair / "ada" / "metrics.json").read_text())
    rate = table.filter(model="ada", constraint="micro", stage="before")["rate"].item()
    assert metrics["parts/constraint_violations"] == rate


def test_report_and_compare_write_a_file_each(
    tacit: Tacit, workplace: Path, finished_pair: Path
) -> None:
    """Runs of other data are refused; --force compares them under a warning."""
    shutil.copytree(finished_pair / "ada", workplace / "runs" / "one")
    parts_run(workplace / "runs" / "two", "bea", data={"things.tsv": "other"})
    done = tacit("report", "runs")
    assert (done.code, done.out) == (0, "Written: report.html\n")
    page = (workplace / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    refused = tacit("compare", "runs")
    assert refused.code == 2
    assert "the data differ between ada and bea: things.tsv" in refused.err
    assert not (workplace / "comparison.html").exists()
    done = tacit("compare", "runs", "--force")
    assert (done.code, done.out[:8], done.out[-26:]) == (
        0,
        "Parts: f",
        "\nWritten: comparison.html\n",
    )
    html = (workplace / "comparison.html").read_text(encoding="utf-8")
    assert "The runs differ in more than the model, and are compared only because" in html
    assert "Differences between models" in html
    assert (workplace / "report.html").read_text(encoding="utf-8") == page


GATED = {
    "says_true: {rises_by: 100, falls_by: 100}": (0, "passed", "passed"),
    "flipped: {above: 0.5}": (3, "failed", "failure"),
    "violation_rate: {rises_by: 2.0}": (4, "inconclusive", "error"),
}


@pytest.mark.parametrize("policy", GATED)
def test_a_gate_ends_with_its_verdict(tacit: Tacit, pair: Path, policy: str) -> None:
    """As lines, JSON, Markdown and JUnit XML; a page is written if it has a name."""
    code, verdict, element = GATED[policy]
    (pair / "policy.yaml").write_text(policy, encoding="utf-8")
    asked = ("compare", "ada", "bea", "--gate", "policy.yaml")
    done = tacit(*asked, "--markdown", "gate.md", "--junit", "gate.xml")
    assert done.code == code, done.out
    assert done.out.startswith(f"Gate: {verdict}. Against ada;")
    markdown = (pair / "gate.md").read_text(encoding="utf-8")
    assert markdown.startswith(f"## Tacit: gate {verdict}\n")
    assert "statements that flipped" in markdown
    suites = ET.parse(pair / "gate.xml").getroot()  # noqa: S314 - our own
    assert suites.tag == "testsuites"
    problem = suites.find(f".//{element}")
    assert (element == "passed") == (problem is None)
    if problem is not None:
        assert (problem.get("type"), problem.text) == (verdict, problem.get("message"))
    assert not (pair / "comparison.html").exists()
    again = tacit(*asked, "--json", "--markdown", "gate.md", "--out", "page.html")
    assert (again.code, json.loads(again.out)["verdict"]) == (code, verdict)
    assert (pair / "page.html").exists()
    itself = tacit("compare", "ada", "ada", "--gate", "policy.yaml")
    assert itself.code == 0, itself.out


def test_outputs_of_a_gate_need_one(tacit: Tacit, pair: Path) -> None:
    refused = tacit("compare", "ada", "ada", "--markdown", "gate.md")
    assert (refused.code, refused.err) == (2, "tacit: --markdown requires --gate\n")
    (pair / "policy.yaml").write_text("mrr: {rises_by: 1}", encoding="utf-8")
    (pair / "gate.xml").write_text("<mine/>", encoding="utf-8")
    asked = ("compare", "ada", "ada", "--gate", "policy.yaml")
    assert "these runs have no measure mrr" in tacit(*asked).err
    refused = tacit(*asked, "--junit", "gate.xml")
    assert "gate.xml exists and is not a result of a gate that Tacit wrote" in refused.err
