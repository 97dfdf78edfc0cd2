"""``tacit export``: what other programs get; ``make peers`` runs the harness itself."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import tacit as package
from tacit.runs.exports.eee import EvaluationRecord
from tacit.sources.demo import NORMS
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.fetched_data import DATA

SCHEMAS = DATA / "eee"
LIMITED = ("--drawings", demo_drawings(), "--things", "lantern")


def test_what_the_harness_cannot_ask_is_refused(tacit: Tacit, workplace: Path) -> None:
    ran = tacit("export", "lm-eval", "assumptions", "--norms", NORMS, "--out", "tasks")
    assert (ran.code, ran.err.count("other programs only score continuations")) == (2, 1)
    template = (
        "text: 'In {a_thing}, {statement}. ___, it is.'\npositive: ['True']\nnegative: ['No']\n"
    )
    (workplace / "own.yaml").write_text(template, encoding="utf-8")
    ran = tacit("export", "lm-eval", "parts", *LIMITED, "--prompt", "own.yaml", "--out", "tasks")
    assert ran.code == 2
    assert "has a blank, and other programs only score continuations" in ran.err
    assert not (workplace / "tasks").exists()


def test_tasks_replace_only_those_of_an_earlier_export(tacit: Tacit, workplace: Path) -> None:
    """A folder of other files is left alone."""
    own = workplace / "own"
    own.mkdir()
    given = ("export", "lm-eval", "parts", *LIMITED, "--out", own)
    for _ in range(2):
        ran = tacit(*given)
        assert ran.code == 0, ran.err
    assert "--tasks tacit_parts --include_path" in ran.out
    assert "--output_path OUT --log_samples" in ran.out
    (own / "tacit_documents.py").rename(own / "mine.py")
    before = sorted(own.iterdir())
    ran = tacit(*given)
    assert ran.code == 2
    assert "contains files but no tasks of an earlier export: choose another folder" in ran.err
    assert sorted(own.iterdir()) == before


@pytest.fixture(scope="module")
def lanterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    package.run(
        "parts",
        model="demo",
        drawings=demo_drawings(),
        things="lantern",
        store=folder / "store",
        out=folder / "demo",
        report=False,
        progress=False,
    )
    return folder / "demo"


@pytest.fixture
def finished(lanterns: Path, workplace: Path) -> Path:
    return shutil.copytree(lanterns, workplace / "runs" / "demo")


def test_every_eval_ever(tacit: Tacit, finished: Path) -> None:
    """Each main result and each labelled answer; the record names no folder of this machine."""
    ran = tacit("export", "eee", finished, "--organization", "us", "--out", "results")
    assert ran.code == 0, ran.err
    record, content, rows = _record(finished.parents[1] / "results")
    assert record.relative_to(finished.parents[1] / "results").parts[:-1] == (
        *("data", "tacit_parts", "unknown"),
        "demo",
    )
    run = package.load_run(finished)
    scores = {
        each["evaluation_name"]: each["score_details"]["score"]
        for each in content["evaluation_results"]
    }
    assert scores == {name: run.metrics[name] for name in scores}
    lower = {
        each["evaluation_name"]
        for each in content["evaluation_results"]
        if each["metric_config"]["lower_is_better"]
    }
    assert lower == {"parts/constraint_violations"}
    labels = (
        run.tables["beliefs"]
        .group_by("thing", "subject", "relation", "object")
        .agg(pl.col("label").drop_nulls().unique())
    )
    known = {tuple(row[:4]): row[4][0] for row in labels.iter_rows() if len(row[4]) == 1}
    believed = {
        tuple(row[:4]): row[4] > 1 / 2
        for row in run.questions.select("thing", "subject", "relation", "object", "p_true").rows()
    }
    found = {tuple(json.loads(row["sample_id"]).values()): row for row in rows}
    assert found.keys() == known.keys()
    for key, row in found.items():
        assert row["input"]["raw"].startswith("Judge whether")
        assert row["input"]["reference"] == [str(known[key])]
        assert row["output"]["raw"] == [str(believed[key])]
        assert row["evaluation"]["is_correct"] == (known[key] == believed[key])
    assert str(finished.parents[1]) not in json.dumps([content, rows])
    if SCHEMAS.is_dir():
        jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
        names = ("eval.schema.json", "instance_level_eval.schema.json")
        schemas = [json.loads((SCHEMAS / name).read_text(encoding="utf-8")) for name in names]
        for schema, given in zip(schemas, ([content], rows), strict=True):
            for one in given:
                jsonschema.Draft7Validator(schema).validate(one)


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({"name": "org/gpt2"}, "org/gpt2"),
        ({"name": "lm-eval:logs/org__gpt2"}, "org__gpt2"),
        ({"name": "gpt2 at http://host/v1", "identity": {"served_model": "gpt2"}}, "gpt2"),
    ],
)
def test_a_record_names_its_model(finished: Path, about: dict[str, Any], name: str) -> None:
    """As the hub or the server does; a folder of logs is none of the hub's."""
    run = package.load_run(finished)
    made = EvaluationRecord(
        replace(run, manifest={**run.manifest, "model": about}), "us", "other", "0"
    )
    assert made.model == name


def _record(results: Path) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    (record,) = results.rglob("*.json")
    content = json.loads(record.read_text(encoding="utf-8"))
    about = content["detailed_evaluation_results"]
    text = (results / about["file_path"]).read_bytes()
    assert hashlib.sha256(text).hexdigest() == about["checksum"]
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == about["total_rows"] > 10
    return record, content, rows


def test_results_of_a_model_page(tacit: Tacit, finished: Path) -> None:
    """The hub's own reader reads them; a file that is not one of results is not overwritten."""
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    given = ("export", "hf", finished, "--dataset", "us/parts", "--out", "tacit.yaml")
    for _ in range(2):
        ran = tacit(*given)
        assert ran.code == 0, ran.err
    file = finished.parents[1] / "tacit.yaml"
    entries = hub.parse_eval_result_entries(yaml.safe_load(file.read_text(encoding="utf-8")))
    metrics = package.load_run(finished).metrics
    values = {name.replace("/", "_"): value for name, value in metrics.items()}
    assert all(one.value == values[one.task_id] for one in entries)
    assert {one.dataset_id for one in entries} == {"us/parts"}
    verdict = str(package.load_run(finished).verdict).removesuffix(".")
    assert all(verdict in one.notes for one in entries)
    assert len(entries) == 5
    file.write_text("a: b", encoding="utf-8")
    assert "is not a file of evaluation results" in tacit(*given).err
