"""A probe of another package (``tests/plugins``) gets all that Tacit's own have."""

import hashlib
import json
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import EllipsisType

import polars as pl
import pytest

import tacit
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.errors import DataError, FindingsError, RequestError
from tacit.findings.findings import Findings
from tacit.models.registry import DEMO_MASKED
from tacit.probes import registry as base
from tacit.probes.base import declared_figures, declared_tables
from tests import manifests
from tests.cli.conftest import Tacit, workplace
from tests.cli.conftest import tacit as command
from tests.other_packages import PLUGINS, installed

__all__ = ["command", "workplace"]
PAIRS = """word\tsynonym\tlabel
big\tlarge\tyes
big\tsmall\tno
fast\tquick\tyes
fast\tslow\tno
cat\tdog\tno
huge\tlarge\tyes
"""


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    with installed():
        yield


@pytest.fixture
def pairs(workplace: Path) -> Path:
    path = workplace / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


def test_help_lists_it_and_its_options(command: Tacit) -> None:
    """Its options with an example, before those that every probe has."""
    assert "synonyms     Ask whether words are synonyms." in command("run", "--help").out
    told = command("run", "synonyms", "--help").out
    assert "Example: tacit run synonyms --pairs PAIRS --model gpt2" in told
    assert told.index("--pairs <path>") < told.index("--template <str>") < told.index("--model <")
    assert command("run", "synonyms", "--model", "demo", "--out", "run").code == 2


def test_it_runs_prints_compares_draws_and_is_reported(
    command: Tacit, pairs: Path, workplace: Path
) -> None:
    ran = command(
        *("run", "synonyms", "--pairs", pairs, "--model", "demo", "--model", DEMO_MASKED),
        *("--out", "runs", "--figures", "svg", "--tables"),
    )
    assert ran.code == 0, ran.err
    for shown in ("demo: By label", "Synonyms: from demo to demo-masked", "n = 6 pairs"):
        assert shown in ran.out
    for name in ("right_by_label", "beliefs"):
        assert (workplace / f"runs/figures/{name}.svg").read_text().startswith("<svg")
    together = pl.read_parquet(workplace / "runs" / "comparison.parquet")
    assert together["measure"].to_list() == [
        "accuracy",
        "accuracy, label yes",
        "accuracy, label no",
    ]
    assert together["n"].to_list() == [6, 3, 3]
    manifest = json.loads((workplace / "runs" / "demo" / "manifest.json").read_text())
    assert manifest["versions"][-1]["plugins"] == {"tacit-synonyms": "0.1"}
    page = command("report", "runs", "--out", "report.html")
    assert page.code == 0, page.err
    html = (workplace / "report.html").read_text(encoding="utf-8")
    for shown in ('id="synonyms"', "All questions", "Accuracy by label", "Beliefs"):
        assert shown in html
    assert command("compare", "runs", "--out", "comparison.html").code == 0


def test_figures_are_right(pairs: Path) -> None:
    """As counted by hand from the beliefs; a chart of questions has a mark for each of them."""
    runs = tacit.run("synonyms", model=["demo", DEMO_MASKED], pairs=str(pairs), progress=False)
    labels = [line.split("\t")[2] == "yes" for line in PAIRS.splitlines()[1:]]
    means = []
    for run in runs.values():
        right = [
            (belief > 0.5) == label
            for belief, label in zip(run.questions["belief"], labels, strict=True)
        ]
        means.append(sum(right) / 6)
        assert run.tables["total"].row(0)[:2] == (6, means[-1])
        assert run.summary["total"][0]["right"] == means[-1]
    assert runs.comparison is not None
    assert runs.comparison["difference"][0] == pytest.approx(means[1] - means[0])
    run = runs["demo"]
    spec = declared_tables(base.probe("synonyms"))["questions"]
    shown = Shown({"demo": run.findings}, {}, HOUSE)
    chart = tacit.marks_by(spec, "right", "synonym")(shown)
    assert chart is not None
    held = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    values = {row["synonym"]: row["value"] for row in held if "value" in row}
    assert values == dict(run.questions.select("synonym", "right").iter_rows())


def test_what_a_class_declares_is_added_to_what_follows_from_its_results(pairs: Path) -> None:
    """Also in a class derived from it; a figure that is in the class alone is refused."""
    kind = base.probe("synonyms")
    again = type("Again", (kind,), {"by": "word", "figures": ()})
    assert list(declared_figures(kind)) == ["right_by_label", "beliefs"]
    assert list(declared_figures(again)) == ["right_by_word", "beliefs"]
    drawn = tacit.figure("Words", "The words.")(lambda _: None)
    with pytest.raises(RequestError, match=r"figures = \(<lambda>,\)"):
        base.check_class(type("Drawn", (kind,), {"words": drawn}))
    columns = (tacit.Column("word", "word"), tacit.Column("n", "n", "count", of="right"))
    own = {
        "tables": (tacit.TableSpec("by_word", "By word", "", columns),),
        "headlines": (tacit.Headline("pairs", "of the first word", "by_word", "n"),),
    }
    again = type("More", (type("Own", (kind,), own),), {"name": "more"})
    run = tacit.run(again, model="demo", pairs=pairs, progress=False)
    assert run.tables["by_word"].rows() == [("big", 2), ("fast", 2), ("cat", 1), ("huge", 1)]
    assert {"more/accuracy", "more/pairs"} <= set(run.metrics)


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    ("words", "says", "verdict"),
    [
        ("abcdef", lambda *_: "yes", "constant"),
        ("abcdef", lambda right, _: right, "clear"),
        ("abcdef", lambda right, word: "yes" if word == "a" else right, "clear"),
        ("abcdef", lambda right, _: "no" if right == "yes" else "yes", "no signal"),
        ("abcd", lambda right, _: right, "too few data"),
        ("abcde", lambda right, _: right, "too few data"),  # 5 of 5: 95 % CI 0.478 to 1
    ],
)
def test_shares_have_the_verdict_of_all_probes(
    words: str, says: Callable[[str, str], str], verdict: str
) -> None:
    """By the first result, its chance level and the clusters; a missing interval is explained."""
    rows = [(word, f"{word}{label}", label) for word in words for label in ("yes", "no")]
    table = pl.DataFrame(rows, ["word", "synonym", "label"], orient="row")
    given = {
        f"Is {word} a synonym of {other}? Answer:": (label, word) for word, other, label in rows
    }
    model = tacit.FakeModel(lambda prompt, one: -1.0 - (one != says(*given[prompt.text])))
    run = tacit.run("synonyms", model=model, pairs=table, progress=False)
    assert run.verdict is not None
    assert run.verdict.name == run.metrics["synonyms/verdict"] == verdict
    assert ("no interval" in str(run.block)) == (run.tables["total"]["right_low"].item() is None)


def test_findings_that_are_not_as_declared_are_refused(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When they are made, and when they are read: those of another version, with what to do."""
    kind = base.probe("synonyms")
    asked = {"model": "demo", "pairs": pairs, "progress": False}
    found = tacit.run(kind, **asked, out="run").findings
    table = Path("run/findings/by_label.parquet")
    found.tables["by_label"].rename({"n": "m"}).write_parquet(table)
    with pytest.raises(DataError, match=r"by_label\.parquet.*has changed since the run"):
        tacit.load_run("run")
    digests = json.loads(Path("run/manifest.json").read_text())["sha256"]
    digests["findings"]["by_label"] = hashlib.sha256(table.read_bytes()).hexdigest()
    manifests.change(Path("run/manifest.json"), sha256=digests)
    with pytest.raises(DataError, match=r"the table by_label.*column m.*repeat the run"):
        tacit.load_run("run")
    rows = found.tables["by_label"]
    for message, tables in {
        "the declared table by_label is missing": {"total": found.tables["total"]},
        "undeclared column m": {**found.tables, "by_label": rows.rename({"n": "m"})},
        "has the type String, but is declared as count": {
            **found.tables,
            "by_label": rows.cast({"n": pl.String}),
        },
        "a table others": {**found.tables, "others": rows},
    }.items():
        other = Findings(found.questions, tables)
        monkeypatch.setattr(kind, "measure", lambda *_, other=other: other)
        with pytest.raises(FindingsError, match=message):
            tacit.run(kind, **asked)


def test_a_class_of_a_notebook_needs_no_entry_point_and_can_be_changed(
    pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second definition replaces the first."""
    kind = base.probe("synonyms")
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    base._others.cache_clear()
    monkeypatch.setattr(base, "_HERE", {})
    assert "synonyms" not in base.probes()
    assert tacit.run(kind, model="demo", pairs=pairs, progress=False).probe == "synonyms"
    again = type("Synonyms", (kind,), {"unit": "couple", "__doc__": "Ask again."})
    run = tacit.run(again, model="demo", pairs=pairs, progress=False)
    assert "n = 6 couples" in str(run.block)


def test_a_probe_of_a_file_is_run_and_reported(
    command: Tacit, pairs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A report of it needs the file again; a figure that cannot be drawn loses no results."""
    file = pairs.with_name("mine.py")
    text = (PLUGINS / "synonyms.py").read_text(encoding="utf-8")
    text = text.replace('name = "synonyms"', 'name = "mine"').replace(
        "Ask whether", "Ask mine whether"
    )
    file.write_text(text.replace('alt.Y("synonym")', 'alt.Y("wrd")'), encoding="utf-8")
    told = command("run", "mine.py", "--help").out
    assert "Ask mine whether words" in told
    assert "Example: tacit run mine.py --pairs PAIRS" in told
    ran = command("run", file, "--pairs", pairs, "--model", "demo", "--out", "run")
    assert (ran.code, "Accuracy" in ran.out) == (0, True), ran.err
    assert command("report", file, "run", "--out", "a.html").code == 0
    assert "the figure beliefs cannot be drawn: " in caplog.text
    base._HERE.pop("mine")
    refused = command("report", "run", "--out", "b.html")
    assert refused.code == 2
    assert "tacit report FILE.py RUN" in refused.err
    with pytest.raises(DataError, match=r"tacit\.load_run"):
        tacit.load_run("run")
    assert tacit.load_run("run", probe=file).probe == "mine"
    kind = base._HERE.pop("mine")
    assert tacit.load_run("run", probe=kind).probe == "mine"


NOTHING = "import tacit\nclass One(tacit.ShareProbe):\n    'One.'\n    name = 'one'"


@pytest.mark.parametrize(
    ("line", "other", "problem"),
    [
        (..., "", "must define one class derived from tacit.Probe; found none"),
        (..., "import nothing_of_the_kind", "cannot be run: ModuleNotFoundError"),
        (..., "x = 1\ny = (", "SyntaxError: '(' was never closed (mine.py, line 2)"),
        (..., NOTHING, "defines no ask, no judge, no key, no asks, no results, no Options"),
        ("figures = (", "headlins = (", "did you mean headlines"),
        ("cluster, unit", "clusters, unit", "did you mean cluster"),
        ("def judge(", "def judges(", "defines no judge"),
        ('"label", "word", "pair"', '"lable", "word", "pair"', "has no column lable"),
        ("with_columns(right=", "with_columns(write=", "no table with the column right"),
        ('("yes", "no"))', '("yes",))', "a belief needs two"),
        ('{"belief": [', '{"beliefs": [', "no prompts for belief"),
        ('name = "synonyms"', 'name = "my probe"', "use letters"),
    ],
)
def test_a_wrong_file_or_a_wrong_line_of_a_probe_is_named(
    command: Tacit, pairs: Path, line: str | EllipsisType, other: str, problem: str
) -> None:
    text = other
    if isinstance(line, str):
        text = (PLUGINS / "synonyms.py").read_text(encoding="utf-8")
        assert line in text
        text = text.replace(line, other).replace('name = "synonyms"', 'name = "mine"')
    pairs.with_name("mine.py").write_text(text, encoding="utf-8")
    ran = command("run", "mine.py", "--pairs", pairs, "--model", "demo", "--out", "run")
    assert ran.code in {1, 2}
    assert problem in ran.err


def test_what_cannot_be_asked_is_refused(pairs: Path) -> None:
    asked = {"model": "demo", "pairs": pairs, "progress": False}
    for text, problem in (("Yes?", "lacks the placeholder {word}"), ("{x}", "unknown")):
        with pytest.raises(RequestError, match=problem):
            tacit.run("synonyms", template=text, **asked)
    for row, problem in (
        ("wet\t\tyes\n", "the column synonym of synonyms has an empty cell"),
        ("fast\tquick\tno\n", r"the rows 3, 7 of .* \(word 'fast', synonym 'quick'\)"),
    ):
        pairs.write_text(PAIRS + row, encoding="utf-8")
        with pytest.raises(RequestError, match=problem):
            tacit.run("synonyms", **asked)


def test_a_model_is_given_as_an_object(pairs: Path) -> None:
    asked = {"pairs": pairs, "progress": False}
    loaded = tacit.load_model("demo")
    by_name = tacit.run("synonyms", model="demo", **asked)
    assert tacit.run("synonyms", model=loaded, **asked).questions.equals(by_name.questions)
    fake = tacit.FakeModel(lambda _, answer: -1.0 if answer == "yes" else -2.0)
    both = tacit.run("synonyms", model=["demo", fake], **asked)
    assert both["fake"].tables["total"]["right"].item() == 0.5
    with pytest.raises(RequestError, match="object of type int"):
        tacit.run("synonyms", model=3, **asked)
