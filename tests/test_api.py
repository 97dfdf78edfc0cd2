import doctest
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import altair as alt
import polars as pl
import pytest

import tacit
from tacit.errors import DataError, ModelError, RequestError
from tacit.models.registry import DEMO_MASKED
from tacit.probes import registry as base
from tacit.probes.parts.options import PartsOptions

pd = pytest.importorskip("pandas")

PARTS: dict[str, Any] = {
    "drawings": str(tacit.demo_data("drawings")),
    "limit": 2,
    "progress": False,
}
ROWS = [
    {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9},
    {"subject": "tree", "relation": "part of", "object": "leaf", "p_true": 0.6},
]


@pytest.fixture(autouse=True)
def _workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_every_public_name_is_listed() -> None:
    assert dir(tacit) == sorted(tacit.__all__)


def test_without_a_folder_only_scores_are_stored(tmp_path: Path) -> None:
    made = tacit.run("parts", model="demo", **PARTS)
    assert [path.name for path in tmp_path.iterdir()] == [".tacit"]
    stored = sorted((tmp_path / ".tacit").rglob("*.parquet"))
    again = tacit.run("parts", model="demo", **PARTS)
    assert again.tables["beliefs"].equals(made.tables["beliefs"])
    assert sorted((tmp_path / ".tacit").rglob("*.parquet")) == stored


def test_results_show_themselves() -> None:
    checked, repaired = tacit.check(ROWS), tacit.repair(ROWS)
    made = tacit.run("parts", model="demo", **PARTS)
    for shown, begins, within in (
        (checked, "Check(2 of 2 believed; violated: symmetric 0 of 0, asymm", "asymmetric"),
        (repaired, "Repaired(paper; 0 turned true, 1 turned false; 1 of 1 ", "repaired"),
        (made.findings, f"Findings({len(made.questions)} questions; rows ", "<b>accuracy</b>"),
    ):
        assert repr(shown).startswith(begins)
        assert within in shown._repr_html_()
    assert repr(made).startswith("Run(parts of 'demo'; rows of tables: accuracy ")
    html = made._repr_html_()
    assert "<b>parts</b> of <b>demo</b>" in html
    assert f"<td>{made.summary['questions']:,}</td>" in html
    assert isinstance(made.figure("accuracy_by_relation"), alt.VConcatChart)
    for _ in range(2):  # a report may be replaced, and nothing else
        assert made.report("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    Path("mine").write_text("mine")
    with pytest.raises(RequestError, match="mine exists and is not a report"):
        made.report("mine")
    made.report("mine", force=True)
    assert len({made, made}) == 1
    with pytest.raises(
        RequestError, match="has no figure 'pie'; its figures are probabilities, violations"
    ):
        made.figure("pie")
    with pytest.raises(RequestError, match=r"no table 'violations' \(did you mean violation\?\)"):
        made.tables["violations"]
    with pytest.raises(KeyError):
        made.tables[0]  # type: ignore[index] # a wrong key
    with pytest.raises(RequestError, match="palette"):
        made.figure("accuracy_at", palette="pink")


@pytest.mark.slow
def test_several_models_are_compared() -> None:
    runs = tacit.run("parts", model=["demo", DEMO_MASKED], out="runs", **PARTS)
    assert list(runs) == ["demo", DEMO_MASKED]
    assert runs.comparison is not None
    assert isinstance(runs.figure("accuracy_at"), alt.VConcatChart)
    both = tacit.compare(runs["demo"], "runs/demo-masked")
    assert both.comparison is not None
    assert both.comparison.drop("first", "second").equals(runs.comparison.drop("first", "second"))
    page = both.report("comparison.html").read_text(encoding="utf-8")
    assert all(name in page for name in runs)
    assert repr(runs).count("\n") == 2
    assert "<table" in runs._repr_html_()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"drawing": "x"}, r"no option 'drawing' \(did you mean drawings\?\)"),
        ({"zzz": 1}, "no option 'zzz'; expected one of drawings"),
        ({"drawings": pl.DataFrame()}, "has no column Everyday thing, Parts"),
        ({"workers": 2}, "^workers requires engine='ray'$"),
        ({"api": "chat"}, "^api='chat' applies only to a server; use chat=True for a model"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"model": "demo", **PARTS, **given}
    with pytest.raises(RequestError, match=message):
        tacit.run("parts", **arguments)
    assert not list(tmp_path.iterdir())


def test_beliefs_may_be_a_file_and_the_ontology_itself(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv("beliefs.tsv", separator="\t")
    assert tacit.check(tmp_path / "beliefs.tsv").to_json()["asymmetric"]["violated"] == 1
    found = tacit.repair("beliefs.tsv", tacit.Ontology.load("parts"))
    assert found.beliefs["repaired"].to_list() == [True, False]


def test_an_option_may_be_a_data_frame(tmp_path: Path) -> None:
    """The run is resumed with an equal frame, and refused with another; no name has a suffix."""
    things = pl.DataFrame({"Everyday thing": ["lamp", "pot"], "Parts": ["base, shade", "lid, rim"]})
    asked: dict[str, Any] = {"model": "demo", "out": tmp_path / "r", "progress": False}
    run = tacit.run("parts", drawings=things, report=False, **asked)
    again = tacit.run("parts", drawings=things.to_pandas(), report=False, **asked)
    assert again.tables["beliefs"].equals(run.tables["beliefs"])
    with pytest.raises(RequestError, match="a run with different options"):
        tacit.run("parts", drawings=things.head(1), report=False, **asked)
    name = tacit.run(
        "parts", drawings=things, beliefs=run.tables["beliefs"], progress=False, report=False
    ).name
    assert name.startswith("data-frame-")
    assert "." not in name


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_a_data_frame_in_place_of_something_else_is_refused(make: Any) -> None:  # noqa: ANN401
    frame = make(ROWS)
    with pytest.raises(RequestError, match="model is a data frame"):
        tacit.run("parts", model=frame, **PARTS)
    for vocabulary in (frame, frame["subject"]):
        with pytest.raises(RequestError, match="vocabulary is an object of type"):
            tacit.run(
                "assumptions", model="demo", norms=tacit.demo_data("norms"), vocabulary=vocabulary
            )
    with pytest.raises(RequestError, match="is not a path"):
        tacit.read_drawings(frame, ["above"])


@pytest.mark.parametrize(
    ("beliefs", "message"),
    [
        (3, r"the beliefs are int; expected a polars or pandas frame"),
        (["leaf"], r"row 0 of the beliefs is of type str; expected a polars"),
        ([ROWS[0], ("leaf", "part of")], r"row 1 of the beliefs is of type tuple with 2 values"),
        ([{**ROWS[0], "p_true": object()}], r"p_true"),
        ([ROWS[0], {**ROWS[1], "p_true": "much"}], r"row 1 of the beliefs has p_true 'much'"),
        ([ROWS[0], {**ROWS[1], "object": ["leaf"]}], r"not a table: could not append value"),
        ([{**ROWS[0], "p_true": 2**200}], r"not a table: int value too large"),
        ([{"subject": "a"}], r"no column relation, object"),
    ],
)
def test_what_is_no_table_of_beliefs_is_refused(beliefs: object, message: str) -> None:
    """With what is expected, in one line without another library's advice."""
    with pytest.raises((RequestError, DataError), match=message) as refused:
        tacit.check(beliefs)
    assert "\n" not in str(refused.value)
    assert "infer_schema_length" not in str(refused.value)


FAMILIES = [{"family": name, **row} for name, row in zip("ab", ROWS, strict=True)]
COPIED = r"column 'family' is copied .* list the column in groups$"


@pytest.mark.parametrize(
    ("groups", "message"),
    [({}, COPIED), ({"groups": ["family"]}, r"^grouped by 'family'.* a group in groups$")],
)
@pytest.mark.parametrize("verb", [tacit.check, tacit.repair])
def test_groups_that_are_likely_wrong_are_warned_of(
    verb: Callable[..., Any], groups: dict[str, Any], message: str
) -> None:
    """A column that is only copied, or rows that are alone, at the caller's line."""
    with pytest.warns(UserWarning, match=message) as warned:
        verb(FAMILIES, **groups)
    assert warned[0].filename == __file__


@pytest.mark.filterwarnings("ignore:grouped by")
def test_one_group_column_may_be_a_string() -> None:
    assert tacit.check(FAMILIES, groups="family").groups["family"].to_list() == ["a", "b"]
    assert tacit.repair(FAMILIES, groups="family").turned_false == 0
    with pytest.raises(RequestError, match=r"cannot be grouped by 'fam'.*: family"):
        tacit.check(FAMILIES, groups="fam")


def test_errors_name_the_argument_of_python_too(tmp_path: Path) -> None:
    """In an error that says which command to run, the command has its own option."""
    with pytest.raises(ModelError, match=r"cannot chat: omit chat=True"):
        tacit.load_model("demo-masked", tacit.LoadOptions(chat=True))
    with pytest.raises((DataError, RequestError), match=r"tacit get everyday-things --dry-run$"):
        tacit.run("parts", model="demo", drawings=tmp_path / "everyday-things")
    with pytest.raises(DataError, match=r"Declare your own relations with ontology$"):
        tacit.check([{**ROWS[0], "relation": "before"}])
    twice = [{**row, "object": "tree", "subject": "leaf"} for row in FAMILIES]
    with pytest.raises(
        DataError, match=r"with on_duplicate \(mean or first\)\. If 'family'.* in groups$"
    ):
        tacit.check(twice)


def test_a_model_folder_by_another_name() -> None:
    """As a back-end names one that it has converted."""
    folder = Path(tacit.__file__).parent / "data" / "demo" / "models" / "causal"
    assert tacit.load_model(folder, called="mine").name == "mine"


class Clash(tacit.Probe):
    """A probe that is called as one of Tacit's is."""

    name: ClassVar[str] = "parts"
    summary: ClassVar[str] = "Another one."
    Options: ClassVar[type[Any]] = PartsOptions
    requests = measure = lambda *_: {}  # type: ignore[assignment]


def test_a_probe_of_a_name_that_is_taken_is_refused() -> None:
    kind: Any = Clash
    with pytest.raises(RequestError, match="'parts' is the name of one of Tacit's probes"):
        tacit.run(kind, model="demo")
    assert base.probe("parts").__name__ == "PartsProbe"


@pytest.mark.parametrize("name", sorted(set(tacit.__all__) - {"__version__"}))
def test_every_public_name_has_an_example_that_holds(name: str) -> None:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    thing = getattr(tacit, name)
    finder = doctest.DocTestFinder(recurse=False)
    (found,) = finder.find(thing, name, module=False, globs={})
    assert found.examples, "it has no example"
    assert doctest.DocTestRunner().run(found).failed == 0


def test_rows_that_disagree_are_merged_on_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """From a file and from rows alike; items that differ only in case are named."""
    things = (("tree", 0.9), ("tree", 0.3), ("Tree", 0.8))
    rows = [{**ROWS[0], "object": thing, "p_true": p} for thing, p in things]
    file = tmp_path / "beliefs.csv"
    pl.DataFrame(rows).write_csv(file)
    for beliefs in (rows, file):
        merged = tacit.repair(beliefs, on_duplicate="mean").beliefs
        assert merged["p_true"].to_list() == pytest.approx([0.6, 0.8])
        assert tacit.check(beliefs, on_duplicate="first").to_json()["statements"] == 2
    assert "'Tree', 'tree' differ only in upper and lower case" in caplog.text
