import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import altair as alt
import polars as pl
import pytest

from tacit.charts.panels import page
from tacit.errors import WorkError
from tacit.findings.display import Details, FigureSpec
from tacit.findings.spec import Column, TableSpec
from tacit.probes.parts import details
from tacit.report import charts
from tacit.report.charts import Figure, figure
from tacit.report.packing import packed, shared, table_data
from tacit.report.writing import report
from tacit.runs.run import Run
from tests.report.conftest import EVIL, Elements, Page


def hashes(html: str, tag: str) -> set[str]:
    """What a policy calls the page's elements of a kind, those that are data left out."""
    found = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    digests = (hashlib.sha256(text.encode()).digest() for text in found)
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


def test_nothing_is_loaded_and_nothing_else_runs(page: Page) -> None:
    """No element names an address, and the page forbids its scripts to ask for any."""
    elements = Elements(page.html).found
    named = [
        value
        for _, attributes in elements
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "action", "data", "poster"}
    ]
    assert named
    assert all(str(value).startswith("#") for value in named)
    style = re.search(r"<style>(.*?)</style>", page.html, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in str(policy)
    assert "connect-src" not in str(policy)
    parts = dict(each.split(" ", 1) for each in str(policy).split("; "))
    assert set(parts["script-src"].split()) == hashes(page.html, "script")
    assert set(parts["style-src"].split()) == hashes(page.html, "style")
    assert len(hashes(page.html, "script")) == 2
    assert "unsafe" not in str(policy)
    assert not [tag for tag, attributes in elements if "style" in attributes]


@pytest.mark.parametrize("within", ["</SCRIPT>", "<!-- ", "a\rb", "a\0b"])
def test_a_script_that_a_browser_would_read_otherwise_is_refused(within: str) -> None:
    """It would end early, or have another hash than the policy names."""
    with pytest.raises(WorkError, match="cannot be embedded in a page"):
        charts.checked(f"let x = '{within}';")


def test_marks_stand_where_their_values_are(page: Page, runs: Path) -> None:
    """A tile's dot has a rule that places it at its share of the scale."""
    table = pl.read_parquet(runs / "parts-ada" / "findings" / "discrimination.parquet")
    row = table.filter(set="all", stage="before").row(0, named=True)
    rules = dict(re.findall(r"\.scale \.((?:left|right)-\d+) \{ (.*?); \}", page.html))
    classes = [str(a["class"]).split() for tag, a in Elements(page.html).found if tag == "i"]
    dot, interval = (
        next(names[1:] for names in classes if names[0] == kind) for kind in ("dot", "interval")
    )
    assert [rules[each] for each in dot] == [f"left: {100 * row['share_true']:.2f}%"]
    assert [rules[each] for each in interval] == [
        f"left: {100 * row['share_true_low']:.2f}%",
        f"right: {100 - 100 * row['share_true_high']:.2f}%",
    ]


def test_a_table_holds_the_finding(runs: Path, page: Page) -> None:
    """A table's values are the finding's, those of all models one below the other."""
    table = page.table("parts-violation")
    names = [column["name"] for column in table["columns"]]
    rates = table["values"][names.index("rate")]
    found = [
        pl.read_parquet(runs / f"parts-{name}" / "findings" / "violation.parquet")["rate"]
        for name in ("ada", "bea")
    ]
    wanted = pl.concat(found).round_sig_figs(6).to_list()
    assert rates == wanted
    assert None not in rates[:4]


def test_the_page_is_small_and_has_the_block_of_each_model(
    all_runs: Sequence[Run], page: Page
) -> None:
    """The report of six small runs is far below 6 MB, its charts' runtime in it once."""
    text = unescape(page.html)
    for run in all_runs:
        assert run.block is not None
        assert run.verdict is not None
        assert run.block.asked in text
        assert run.verdict.reason in text
    assert len(page.html.encode()) < 2_000_000
    assert page.html.count("window.vegaEmbed=") == 1


def test_a_large_run_says_what_part_is_shown(
    one_of: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report depends on its runs alone: the same runs give the same bytes."""
    monkeypatch.setattr(details, "MOST_GRAPHS", 2)
    html = report([one_of["parts"]])
    assert report([one_of["parts"]]) == html
    assert "This is a sample of 2 of 6 drawings" in html
    assert len(Page(html).blob("page")["graphs"]["parts-graphs"]) == 2


def test_the_graph_that_contradicts_itself_most_is_shown_first(
    page: Page, all_runs: Sequence[Run]
) -> None:
    """A drawing whose beliefs cannot all be true comes before one that is only incomplete."""
    told = page.blob("page")["graphs"]["parts-graphs"]
    elements = Elements(page.html).found
    first = told[int(next(a["data-first"] for _, a in elements if "data-first" in a) or 0)]
    faults = {}
    for run in all_runs:
        if run.probe == "parts":
            for row in run.tables["violation_by_drawing"].iter_rows(named=True):
                key = (run.name, row["thing"], row["annotator"])
                faults[key] = (not row["consistent"], row["violated"])
    assert len(set(faults.values())) > 1
    chosen = faults[first["model"], first["thing"], first["annotator"]]
    assert chosen == max(faults.values())


def unpacked(text: str) -> object:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_packed_text_cannot_end_a_script() -> None:
    """What is packed comes back whole, and holds no character that HTML reads."""
    content = {"name": EVIL, "more": ["<!--", "</script>", "\u2028", None, 1.5]}
    text = packed(content)
    assert not set(text) & set("<>&'\"")
    assert unpacked(text) == content


def test_data_that_charts_share_stand_once() -> None:
    spec = {"mark": "point", "datasets": {"own": [{"x": 1}, {"x": 2}]}}
    found = shared([Figure(FigureSpec(name, "", "", str), spec) for name in "ab"])
    assert len(found["datasets"]) == 1
    assert found["charts"]["a"]["data"] == found["charts"]["b"]["data"]
    assert "datasets" not in found["charts"]["a"]["spec"]


def test_what_is_missing_stays_missing() -> None:
    """A missing number is null, as is one that is not finite; 0 stays 0."""
    frame = pl.DataFrame(
        {
            "name": ["a", "a", "a", "b", None] * 2,
            "value": [0.0, None, float("nan"), float("inf"), 1 / 3] * 2,
        }
    )
    spec = TableSpec("t", "", "", (Column("name", "name"), Column("value", "value", "score")))
    names, values = table_data(Details(spec, frame))["values"]
    assert values == [0, None, None, None, 0.333333] * 2
    found = [None if code is None else names["words"][code] for code in names["codes"]]
    assert found == ["a", "a", "a", "b", None] * 2


def _chart() -> alt.LayerChart:
    return alt.LayerChart(layer=[alt.Chart(pl.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")])


def test_the_page_shows_each_line_of_a_caption_in_one_piece() -> None:
    lines = (" ".join(["word"] * 60), "second: line")
    drawn = page("title", lines, [[_chart()]])
    assert len(drawn.to_dict()["title"]["subtitle"]) > len(lines)
    found = figure("parts", FigureSpec("any", "", "", lambda _: drawn), drawn)
    assert found.caption == lines
    assert "usermeta" not in found.chart


def test_a_chart_of_a_plug_in_keeps_its_subtitle() -> None:
    for subtitle in ("one", ["one", "two"]):
        drawn = alt.vconcat(_chart(), title=alt.TitleParams("title", subtitle=subtitle))
        found = figure("own", FigureSpec("any", "", "", lambda _: drawn), drawn)  # noqa: B023 - called here
        assert list(found.caption) == ([subtitle] if isinstance(subtitle, str) else subtitle)
