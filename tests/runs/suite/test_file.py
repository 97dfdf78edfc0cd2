from pathlib import Path
from typing import Any

import pytest
import yaml

from tacit.errors import DataError, RequestError
from tacit.runs.suite.file import SHIPPED, Suite
from tests.runs.suite.suites import knowledge, with_lines, written

MODELS = ("demo", "{model: demo-masked, family: demo, parameters: 1M, dtype: bf16}")
RUNS = ("{probe: parts, drawings: things, limit: 1}",)
# The entries are on lines 2, 3 and 5. A key's line is that on which its value begins.
GOOD = with_lines({"models": MODELS, "runs": RUNS})


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data of the demo, which is not the current folder."""
    written(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return tmp_path


def planned(folder: Path, text: str) -> Suite:
    file = folder / "suite.yaml"
    file.write_text(text, encoding="utf-8")
    plan = Suite(file, out=folder / "runs")
    plan.check()
    return plan


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("limit", "limt", 5, r"runs\.0 has the unknown key limt; .*\(did you mean limit\?\)"),
        ("family", "famly", 3, r"models\.1 has the unknown key famly; .*\(did you mean family\?\)"),
        ("runs:", "run:", 5, r"the file has the unknown key run; .*\(did you mean runs\?\)"),
        ("limit: 1", "limit: 0", 5, "runs.0: limit is 0; it must be at least 1"),
        ("limit: 1", "name: a/b", 5, "name is 'a/b'; expected letters"),
        ("limit: 1", "name: report.html", 5, "name is 'report.html'"),
        ("limit: 1", "models: demo", 5, "models must be a list"),
        ("limit: 1", "models: [gpt2]", 5, "names 'gpt2'; expected models of this suite: demo, "),
        ("probe: parts", "probe: prats", 5, r"probe is 'prats'.*\(did you mean parts\?\)"),
        ("probe: parts, ", "", 5, r"runs\.0\.probe is missing"),
        ("drawings: things, ", "", 5, "drawings is missing: fetch the published data"),
        ("things", "nowhere", 5, "nowhere: there is no such file"),
        ("{probe: parts, drawings: things, limit: 1}", "parts", 5, "runs.0 must be a mapping"),
        ("dtype: bf16", "dtype: float12", 3, "dtype is 'float12'; it must be one of auto"),
        ("dtype: bf16", "samples: 3", 3, "--samples and --thinking-tokens require --api chat"),
        ("dtype: bf16", "batch_size: 3", 3, "unknown key batch_size"),
        ("family: demo", "family: [a]", 3, "family must be text"),
        ("demo-masked", "demo", 3, "the model demo is given twice"),
        ("demo-masked", "http://me:pass@host/v1", 3, "contains a user, a password"),
        ("model: demo-masked", "revision: main", 3, "model is missing"),
        ("- demo\n", "- [demo]\n", 2, "models.0 must be a name or a mapping"),
        ("{probe: parts,", "{probe: parts", 5, "is not YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    workplace: Path, old: str, new: str, line: int, message: str
) -> None:
    """The file, the line and the key, before anything is asked."""
    assert old in GOOD
    with pytest.raises(DataError, match=message) as refused:
        planned(workplace, GOOD.replace(old, new, 1))
    assert (refused.value.path, refused.value.line) == (workplace / "suite.yaml", line)
    assert "pass@" not in str(refused.value)
    assert not (workplace / "runs").exists()


def test_two_runs_of_a_probe_need_names(workplace: Path) -> None:
    """Which are unique also where a file system has no case."""
    twice = GOOD + f"  - {RUNS[0]}\n"
    named = twice.replace("probe: parts", "name: Parts, probe: parts", 1)
    for text in (twice, named):
        with pytest.raises(DataError, match="two runs are called parts; give each a different"):
            planned(workplace, text)
    plan = planned(workplace, named.replace("Parts", "first"))
    assert list(plan.requests) == ["first", "parts"]


def test_settings_belong_to_one_model(workplace: Path) -> None:
    """As in the run of that model alone; what describes a model is not part of its request."""
    plan = planned(workplace, GOOD)
    (request,) = plan.requests.values()
    assert request.model("demo").loading.dtype == "auto"
    assert request.model("demo-masked").loading.dtype == "bfloat16"
    asked = {name: of.request["dtype"] for name, of in request.folders.items()}
    assert asked == {"demo": "auto", "demo-masked": "bfloat16"}
    described = {name: of.described for name, of in request.folders.items()}
    assert described["demo-masked"] == {"family": "demo", "parameters": 1_000_000}
    assert not described["demo"]


def test_paths_are_relative_to_the_file(workplace: Path) -> None:
    """Of options, of models and of the folder for the runs; a model on the hub has no path."""
    (workplace / "mine").mkdir()
    runs = (RUNS[0].replace("}", ", models: [gpt2]}"),)
    text = with_lines({"models": ("mine", "gpt2"), "runs": runs})
    file = workplace / "suite.yaml"
    file.write_text("out: runs\n" + text, encoding="utf-8")
    read = Suite(file)
    assert read.requests["parts"].options.drawings == workplace / "things"
    assert read.out == workplace / "runs"
    assert list(read.settings) == [str(workplace / "mine"), "gpt2"]


def test_yaml_s_own_types_are_those_of_the_option(workplace: Path) -> None:
    """``on`` is text where an option has it as a choice; lists and numbers may be text."""
    shortened = "verbatim: off, relations: [IsA, PartOf], limit: 2"
    runs = (
        f"{{probe: consistency, questions: questions.jsonl, kb: demo.kb, {shortened}}}",
        "{probe: parts, drawings: things, things: [egg, tree]}",
    )
    file = workplace / "suite.yaml"
    models = ("{model: 'http://h/v1', served_model: 12, api: chat, thinking_tokens: 0}",)
    file.write_text(with_lines({"models": models, "runs": runs}), encoding="utf-8")
    read = Suite(file)
    consistency, parts = (run.options for run in read.requests.values())
    assert consistency.background.verbatim == "off"
    assert consistency.background.relations == "IsA,PartOf"
    assert parts.things == "egg,tree"
    (settings,) = read.settings.values()
    assert settings.load.server.served_model == "12"
    assert settings.load.server.thinking_tokens == "0"


def test_options_can_be_given_apart_from_the_file(workplace: Path) -> None:
    """For all runs and models that have them; paths are then relative to the current folder."""
    file = workplace / "suite.yaml"
    file.write_text(GOOD, encoding="utf-8")
    Path("drawn").symlink_to(workplace / "things")
    read = Suite(file, {"drawings": "drawn", "limit": 3, "device": "cpu"})
    options = read.requests["parts"].options
    assert (options.drawings, options.limit) == (Path.cwd() / "drawn", 3)
    assert {settings.load.device for settings in read.settings.values()} == {"cpu"}
    for given, message in (
        ({"limmit": 3}, r"--set has the unknown key limmit; .*\(did you mean limit\?\)"),
        ({"limit": 0}, "--set limit=0: limit is 0; it must be"),
        ({"family": "x"}, "unknown key family"),
    ):
        with pytest.raises(RequestError, match=message):
            _ = Suite(file, given).requests


def test_a_run_is_on_every_model_or_on_those_that_it_names(workplace: Path) -> None:
    """Runs are chosen by name; models without a run are not loaded."""
    other = "  - {probe: parts, drawings: things, name: some, models: [demo-masked]}\n"
    plan = planned(workplace, GOOD + other)
    assert [(run.model, run.name) for run in plan.runs] == [
        ("demo", "parts"),
        ("demo-masked", "parts"),
        ("demo-masked", "some"),
    ]
    file = workplace / "suite.yaml"
    read = Suite(file, only=["some"])
    assert [(run.name, run.model) for run in read.runs] == [("some", "demo-masked")]
    assert read.models == ("demo-masked",)
    with pytest.raises(RequestError, match="--only: there is no run 'none'; expected parts, some"):
        _ = Suite(file, only=["none"]).runs


def test_a_suite_without_entries_or_of_no_name_is_refused(workplace: Path) -> None:
    for key, other in (("models", "runs"), ("runs", "models")):
        with pytest.raises(DataError, match=f"{key} is empty"):
            planned(workplace, f"{key}: []\n" + with_lines({other: ("x",)}))
    with pytest.raises(RequestError, match="there is no suite 'paper'; expected papers"):
        Suite("paper")
    with pytest.raises(DataError, match="there is no such file"):
        Suite("other.yaml")


def test_the_papers_suite_is_complete(workplace: Path) -> None:
    """It is checked with the demo's data, whose paths are relative to the current folder."""
    given: dict[str, Any] = {
        "questions": str(workplace / "questions.jsonl"),
        "kb": str(knowledge()),
        "drawings": str(workplace / "things"),
        "norms": str(SHIPPED.parent / "demo" / "norms.dat"),
        "limit": 3,
    }
    plan = Suite("papers", given)
    plan.check()
    assert list(plan.requests) == ["consistency", "parts", "assumptions"]
    content = yaml.safe_load((SHIPPED / "papers.yaml").read_text(encoding="utf-8"))
    assert len(plan.models) == len(content["models"]) == 17
    given_of = [of.described for of in plan.settings.values()]
    assert all(described.family and described.parameters for described in given_of)
    with pytest.raises(DataError, match="drawings is missing: fetch the published data with tacit"):
        Suite("papers", only=["parts"]).check()
