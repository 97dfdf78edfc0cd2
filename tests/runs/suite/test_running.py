import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import tacit
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import DataError, RequestError
from tacit.probes.parts.probe import PartsProbe
from tacit.runs.suite.estimates import ELSEWHERE, FINISHED, UNKNOWN, estimates
from tacit.runs.suite.file import Suite
from tests.faults.running import findings_of
from tests.other_packages import installed
from tests.runs.suite.suites import PARTS, Counting, states, written

PAIRS = "word\tsynonym\tlabel\nbig\tlarge\tyes\nbig\tred\tno\n"
# A probe of which a run takes no time; its name is that of its runs.
SYNONYMS = {"probe": "synonyms", "pairs": "pairs.tsv"}


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with pairs of words, where the packages of others are installed."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "more.tsv").write_text(PAIRS + "hot\twarm\tyes\n", encoding="utf-8")
    with installed():
        yield tmp_path


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting().install(monkeypatch)


def run(file: Path, **options: Any) -> Any:  # noqa: ANN401 - SuiteRuns
    return tacit.suite(file, progress=False, report=False, **options)


def all_findings(out: Path) -> dict[str, dict[str, bytes]]:
    folders = sorted(path.parent for path in out.rglob("manifest.json"))
    return {folder.relative_to(out).as_posix(): findings_of(folder) for folder in folders}


def test_each_model_is_loaded_once_and_one_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counting: Counting
) -> None:
    """However many runs it has, also where runs fail."""
    second = {**SYNONYMS, "name": "second", "template": "{word} is {synonym}"}
    bad = {**SYNONYMS, "name": "bad", "pairs": "more.tsv"}
    file = written(tmp_path, models=["a", "b"], runs=[SYNONYMS, bad, second])
    ask, asked = Engine.ask, Counter[str]()

    def failing(engine: Engine, requests: Sequence[Any], *rest: Any) -> Any:  # noqa: ANN401
        asked[engine.model.name] += 1
        if asked[engine.model.name] == 2 and engine.model.name == "a":
            raise RuntimeError("a bug")
        return ask(engine, requests, *rest)

    monkeypatch.setattr(Engine, "ask", failing)
    found = run(file)
    assert counting.loaded == ["a", "b"]
    assert counting.most == 1
    runs = {name: list(runs) for name, runs in found.items()}
    assert runs == {"synonyms": ["a", "b"], "bad": ["b"], "second": ["a", "b"]}
    assert found.failed == {("bad", "a"): "RuntimeError: a bug"}


def test_a_model_that_fails_is_reported_and_the_others_continue(
    tmp_path: Path, counting: Counting
) -> None:
    """The same call repeats only what failed, or what was damaged since."""
    counting.failing = ["b"]
    file = written(tmp_path, models=["a", "b", "c"], runs=[SYNONYMS])
    found = run(file)
    assert list(found["synonyms"]) == ["a", "c"]
    assert found.failed == {("synonyms", "b"): "MemoryError: not enough memory"}
    assert found.problem == "1 of 3 runs failed\n  synonyms, b: MemoryError: not enough memory"
    assert states(tmp_path / "runs") == {
        ("synonyms", "a"): "done",
        ("synonyms", "b"): "failed",
        ("synonyms", "c"): "done",
    }
    counting.failing = ()
    counting.loaded.clear()
    assert run(file).problem is None
    assert counting.loaded == ["b"]
    again = json.loads((tmp_path / "runs" / "suite.json").read_text(encoding="utf-8"))
    assert [one["error"] for one in again["runs"]] == [None] * 3
    before = all_findings(tmp_path / "runs")
    (tmp_path / "runs" / "synonyms" / "a" / "findings" / "total.parquet").write_bytes(b"x")
    counting.asked.clear()
    assert run(file).problem is None
    assert all_findings(tmp_path / "runs") == before
    assert not counting.asked


def test_a_model_that_does_not_exist_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    """With its line in the file; a finished run needs its model no more."""
    file = written(tmp_path, models=["demo", "no/such-model"])
    with pytest.raises(DataError, match=r"suite.yaml, line 5: no/such-model: there is no folder"):
        tacit.suite(file, progress=False)
    assert not (tmp_path / "runs").exists()


def test_fail_fast_stops(tmp_path: Path, counting: Counting) -> None:
    """What was not attempted is skipped, and is not a failure."""
    counting.failing = ["b"]
    found = run(written(tmp_path, models=["a", "b", "c"], runs=[SYNONYMS]), fail_fast=True)
    assert counting.loaded == ["a", "b"]
    assert states(tmp_path / "runs")["synonyms", "c"] == "skipped"
    assert found.skipped == [("synonyms", "c")]
    assert found.problem is not None
    assert found.problem.startswith("1 of 3 runs failed, 1 not attempted")
    assert "1 of 3 runs failed" in repr(found)


@pytest.mark.usefixtures("counting")
def test_each_run_is_an_ordinary_one(tmp_path: Path) -> None:
    """Its folder is that of a run of the probe alone, which tacit.run goes on with."""
    found = run(written(tmp_path, models=["a", {"model": "b", "dtype": "bf16"}], runs=[SYNONYMS]))
    alone = tacit.load_run(tmp_path / "runs" / "synonyms" / "b")
    assert alone.request["dtype"] == "bfloat16"
    assert alone.tables["total"].equals(found["synonyms"]["b"].tables["total"])
    options = {"pairs": tmp_path / "pairs.tsv", "dtype": "bfloat16", "progress": False}
    out = tmp_path / "runs" / "synonyms" / "b"
    again = tacit.run("synonyms", model="b", out=out, report=False, **options)
    assert again.tables["total"].equals(alone.tables["total"])
    both = tacit.compare(out, tmp_path / "runs" / "synonyms" / "a")
    assert both.comparison is not None
    assert (tmp_path / "runs" / "synonyms" / "comparison.parquet").is_file()


def test_one_report_names_the_run_where_a_probe_has_several(
    tmp_path: Path, counting: Counting
) -> None:
    """No prompt that two runs share is asked twice."""
    second = {**SYNONYMS, "name": "second", "pairs": "more.tsv"}
    file = written(tmp_path, models=["a", "b"], runs=[SYNONYMS, second])
    found = tacit.suite(file, progress=False)
    assert found.report == tmp_path / "runs" / "report.html"
    page = found.report.read_text(encoding="utf-8")
    for name in ("a (synonyms)", "b (synonyms)", "a (second)", "b (second)"):
        assert name in page
    assert list(found["second"]) == ["a", "b"]
    asked = Counter((name, prompt.text) for name, prompt in counting.asked)
    assert set(asked.values()) == {2}, "two answers of each prompt"


def test_data_that_changed_are_refused_before_anything_is_asked(
    tmp_path: Path, counting: Counting
) -> None:
    """Finished runs are of other data than the rest would be."""
    file = written(tmp_path, models=["a"], runs=[SYNONYMS])
    run(file)
    (tmp_path / "pairs.tsv").write_text(PAIRS.replace("yes", "no"), encoding="utf-8")
    counting.loaded.clear()
    with pytest.raises(DataError, match=r"line \d+: synonyms: .* data have changed since"):
        run(file)
    assert not counting.loaded


def test_a_folder_of_something_else_is_refused(tmp_path: Path, counting: Counting) -> None:
    """A run's folder, a person's own files, a file; and a suite without a folder."""
    file = written(tmp_path, models=["a"], out=None)
    with pytest.raises(RequestError, match="names no folder: add out: FOLDER"):
        run(file)
    for folder, name, text, problem in (
        ("one", "run.yaml", "probe: parts\n", "contains the run of one model"),
        ("mine", "suite.json", '{"mine": 1}', "is not the status of a suite"),
        ("page", "report.html", "mine", "is not a report that Tacit wrote"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
        with pytest.raises(RequestError, match=problem):
            tacit.suite(file, out=folder, progress=False)
    with pytest.raises(RequestError, match="is a file; expected a folder"):
        run(file, out=tmp_path / "mine" / "suite.json")
    assert not counting.loaded


def test_probes_and_models_of_other_packages(tmp_path: Path) -> None:
    """A probe whose requests depend on the vocabularies of all models compares all of its own."""
    norms = tmp_path / "norms.csv"
    rows = [f"{thing},has part{n},{20 - n}" for thing in ("bear", "dog") for n in range(3)]
    norms.write_text("\n".join(["concept,feature,pf", *rows, ""]), encoding="utf-8")
    assumptions = {"probe": "assumptions", "norms": "norms.csv", "least": 2, "orders": "main"}
    some = {**assumptions, "name": "some", "models": ["letters:a", "letters:b"]}
    models = ["letters:a", "letters:b", "letters:c"]
    found = run(written(tmp_path, models=models, runs=[SYNONYMS, assumptions, some]))
    assert found.problem is None
    assert found["synonyms"]["letters:a"].tables["total"]["n"].item() == 2
    compared = yaml.safe_load(
        (tmp_path / "runs" / "some" / "letters-a" / "run.yaml").read_text(encoding="utf-8")
    )["compared"]
    assert compared == ["letters:a", "letters:b"]
    assert sorted(found["assumptions"]["letters:c"].request["compared"]) == models


def test_a_vocabulary_that_cannot_be_read_fails_that_run_alone(
    tmp_path: Path, counting: Counting
) -> None:
    """The candidates would be others without the model."""
    counting.failing = ["nowhere"]
    norms = {"probe": "assumptions", "norms": str(tacit.demo_data("norms"))}
    found = run(written(tmp_path, models=["demo", "nowhere"], runs=[norms, SYNONYMS]))
    assert list(found["synonyms"]) == ["demo"]
    assert set(found.failed) == {
        ("assumptions", "demo"),
        ("assumptions", "nowhere"),
        ("synonyms", "nowhere"),
    }
    assert "depend on all of its models" in found.failed["assumptions", "demo"]
    assert "HF_HUB_OFFLINE" in found.failed["assumptions", "demo"]


def test_models_here_are_measured_and_of_others_the_prompts_are_known(tmp_path: Path) -> None:
    """Prompts that depend on a vocabulary elsewhere are not known."""
    norms = {"probe": "assumptions", "norms": str(tacit.demo_data("norms"))}
    file = written(tmp_path, models=["demo", "some/model"], runs=[PARTS, norms])
    plan = Suite(file, out=tmp_path / "runs")
    found = {(one["run"], one["model"]): one for one in estimates(plan)}
    here, there = found["parts", "demo"], found["parts", "some/model"]
    prompts = here["prompts"]
    assert (here["distinct"], here["to_ask"], here["tokens"] > 0) == (prompts, prompts, True)
    assert here["seconds"] is not None
    assert (there["prompts"], there["distinct"], there["note"]) == (prompts, prompts, ELSEWHERE)
    assert there["to_ask"] is there["tokens"] is there["seconds"] is None
    assert len(PartsProbe.read(tmp_path / "things", limit=1).prompts) == prompts
    for model in ("demo", "some/model"):
        unknown = found["assumptions", model]
        assert (unknown["prompts"], unknown["note"]) == (None, UNKNOWN)


def test_a_finished_run_has_nothing_to_ask(tmp_path: Path) -> None:
    file = written(tmp_path, runs=[SYNONYMS])
    tacit.suite(file, report=False, progress=False)
    plan = Suite(file, out=tmp_path / "runs", store=Store(tmp_path / ".tacit"))
    (found,) = estimates(plan)
    assert (found["to_ask"], found["note"]) == (0, FINISHED)
    (cached,) = estimates(Suite(file, out=tmp_path / "other", store=Store(tmp_path / ".tacit")))
    assert cached["to_ask"] == 0
    assert cached["prompts"]
