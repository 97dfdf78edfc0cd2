from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tacit.models.registry import folder_of
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

DEMO = demo_drawings()
PARTS = ("run", "parts", "--drawings", DEMO, "--things", "peach")


def manifest(folder: Path) -> dict[str, object]:
    """What a run's manifest says."""
    content: dict[str, object] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return content


def test_several_models_have_a_folder_each_and_are_compared(tacit: Tacit, workplace: Path) -> None:
    """The same model under two names differs in nothing."""
    shutil.copytree(folder_of("demo"), workplace / "twin")
    ran = tacit(*PARTS, "--model", "demo", "--model", "./twin", "--out", "runs")
    assert ran.code == 0, ran.err
    assert {path.name for path in (workplace / "runs").iterdir()} == {
        "demo",
        "twin",
        "comparison.parquet",
    }
    together = pl.read_parquet(workplace / "runs" / "comparison.parquet")
    assert together["first"].unique().to_list() == ["demo"]
    assert set(together["difference"].to_list()) == {0.0}
    assert together["first_value"].is_between(0, 1).all()
    assert "Differences between models: demo | ./twin" in ran.out
    assert ran.out.endswith("\nElicitation: log-probabilities of whole answers\n")
    assert "different ways" not in ran.err


def test_a_model_s_own_beliefs_give_the_model_s_own_findings(tacit: Tacit, workplace: Path) -> None:
    """Taken from a run's findings and measured again, every table is the same bytes."""
    tacit(*PARTS, "--model", "demo", "--out", "asked")
    beliefs = pl.read_parquet(workplace / "asked" / "findings" / "beliefs.parquet")
    names = ["thing", "annotator", "subject", "relation", "object", "p_true"]
    beliefs.select(names).write_csv(workplace / "beliefs.tsv", separator="\t")
    ran = tacit(*PARTS, "--beliefs", "beliefs.tsv", "--out", "taken")
    assert ran.code == 0, ran.err
    for file in (workplace / "asked" / "findings").iterdir():
        assert (workplace / "taken" / "findings" / file.name).read_bytes() == file.read_bytes()
    model = manifest(workplace / "taken")["model"]
    assert isinstance(model, dict)
    assert (model["kind"], model["name"]) == ("beliefs", "beliefs.tsv")


def test_things_of_one_s_own_are_probed_and_have_no_accuracy(tacit: Tacit, workplace: Path) -> None:
    """Accuracy is absent, not 0; contradictions are counted and repaired."""
    things = workplace / "mine.tsv"
    things.write_text("Everyday thing\tParts\nkettle\tlid, spout, handle\n", encoding="utf-8")
    ran = tacit("run", "parts", "--drawings", things, "--model", "demo", "--out", "run", "--json")
    assert ran.code == 0, ran.err
    (summary,) = json.loads(ran.out)["runs"]
    assert summary["accuracy"] == []
    assert summary["questions"] == 6 * 14
    assert all(row["improved"] is None for row in summary["repair"])
    accuracy = pl.read_parquet(workplace / "run" / "findings" / "accuracy.parquet")
    assert accuracy.is_empty()
    violation = pl.read_parquet(workplace / "run" / "findings" / "violation.parquet")
    assert violation["applicable"].sum() > 0


def test_a_template_of_one_s_own_reaches_the_model(tacit: Tacit, workplace: Path) -> None:
    """In place of a preset."""
    own = 'text: "{statement}, {a_thing}?"\npositive: ["yes"]\nnegative: ["no"]\n'
    (workplace / "own.yaml").write_text(own, encoding="utf-8")
    ran = tacit(*PARTS, "--model", "demo", "--out", "run", "--prompt", "own.yaml")
    assert ran.code == 0, ran.err
    texts = pl.read_parquet(workplace / "run" / "questions.parquet")["text"]
    assert texts.str.ends_with(", a peach?").all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give either a model or a file"),
        (("--model", "demo", "--beliefs", "b.tsv"), "give either a model or a file"),
        (("--model", "demo", "--model", "demo"), "given twice"),
        (("--model", "demo", "--preset", "fancy"), "is not one of 'plain'"),
        (("--model", "demo", "--number", "latin"), "is not one of 'paper', 'grammar'"),
        (("--model", "demo", "--nouns", "n.yaml"), "requires --number grammar"),
        (("--model", "demo", "--prompt", "nowhere.yaml"), "nowhere.yaml"),
        (("--model", "demo", "--prompt", "p.yaml", "--preset", "macaw"), "give only one"),
        (("--beliefs", "nowhere.tsv"), "nowhere.tsv"),
        (("--beliefs", "b.tsv", "--dry-run"), "a dry run needs a model"),
        (("--model", "demo", "--things", "peach,moon"), "moon"),
        (("--model", "demo", "--drawings", "nowhere"), "there is no such file"),
        (("--model", "demo", "--model", "./nowhere"), "there is no such model folder"),
        (("--model", "demo", "--limit", "0"), "--limit"),
        (("--model", "demo", "--figures", "gif"), "expected svg, png, pdf"),
        (("--model", "demo", "--figures", "svg", "--graphs", "moon"), "no drawing of moon"),
        (("--model", "demo", "--palette", "neon"), "expected one of house, okabe-ito"),
        (("--model", "demo", "--graphs", "peach"), "--graphs requires --figures"),
    ],
)
def test_bad_options_are_named_and_nothing_is_written(
    tacit: Tacit, workplace: Path, options: tuple[str, ...], said: str
) -> None:
    """Exit code 2."""
    ran = tacit(*PARTS, "--out", "run", *options)
    assert (ran.code, list(workplace.iterdir())) == (2, [])
    assert said in ran.err


def test_prompts_are_shown_as_tokens_and_ids(tacit: Tacit, workplace: Path) -> None:
    """Those of the separator and the answer are marked, and nothing is written."""
    told = ("--drawings", DEMO, "--model", "demo", "--first", "2")
    shown = json.loads(tacit("show", "prompts", "parts", *told, "--json").out)
    assert len(shown) == 2
    (one,) = shown[0]["answers"][0]["inputs"]
    assert one["tokens"][-1] == "True"
    assert one["scored"] == [len(one["ids"]) - 2, len(one["ids"]) - 1]
    assert len(one["ids"]) == len(one["tokens"])
    readable = tacit("show", "prompts", "parts", *told)
    assert "[True]" in readable.out
    assert shown[1]["text"] in readable.out
    assert list(workplace.iterdir()) == []


def test_reproduce_sets_the_paper_s_tables_beside_ours(tacit: Tacit, workplace: Path) -> None:
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
    way = "log-probabilities of whole answers"
    assert f"\nElicitation: {way}\n" in ran.out
    measured = pl.col("table").is_in(list(of_models))
    assert table.filter(measured)["elicitation"].unique().to_list() == [way]
    assert table.filter(~measured)["elicitation"].null_count() == table.filter(~measured).height


def test_figures_are_drawn_where_they_are_asked_for(tacit: Tacit, workplace: Path) -> None:
    """In the formats given, with the graphs of the things given."""
    told = ("--figures", "svg,png", "--palette", "okabe-ito", "--graphs", "peach")
    ran = tacit(*PARTS, "--model", "demo", "--out", "run", *told)
    assert ran.code == 0, ran.err
    drawn = {path.name for path in (workplace / "run" / "figures").iterdir()}
    assert {"accuracy_at.svg", "accuracy_at.png", "accuracy_by_relation.svg"} <= drawn
    assert {name for name in drawn if name.startswith("parts_graph") and name[-3:] == "svg"} == {
        f"parts_graph-peach-annotator_{n}.svg" for n in (1, 2, 3)
    }


def test_beliefs_about_what_is_not_asked_are_counted(
    tacit: Tacit, workplace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In a warning; the others are measured."""
    (workplace / "b.tsv").write_text(
        "thing\tsubject\trelation\tobject\tp_true\n"
        "peach\tskin\tsurrounds\tflesh\t0.9\nmoon\tdust\tabove\trock\t0.9\n",
        encoding="utf-8",
    )
    ran = tacit(*PARTS, "--beliefs", "b.tsv", "--out", "run")
    assert ran.code == 0, ran.err
    assert "ignored 1 row that matches none of the questions" in caplog.text


def test_a_dry_run_needs_no_folder(tacit: Tacit, workplace: Path) -> None:
    """A run does, and says so before it asks anything."""
    ran = tacit(*PARTS, "--model", "demo", "--dry-run")
    assert ran.code == 0, ran.err
    assert "Nothing was stored or written." in ran.out
    ran = tacit(*PARTS, "--model", "demo")
    assert (ran.code, list(workplace.iterdir())) == (2, [])
    assert "--out is missing: give the folder to write the run to" in ran.err
