from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from tacit.errors import WorkError
from tacit.probes.parts import details
from tacit.report import charts
from tacit.report.writing import report
from tacit.runs.reading import read_runs
from tests.report.conftest import Elements, Page, parts_run


def test_nothing_is_loaded(page: Page) -> None:
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
    policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in str(policy)
    assert "connect-src" not in str(policy)
    style = re.search(r"<style>(.*?)</style>", page.html, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def hashes(html: str, tag: str) -> set[str]:
    """What a policy calls the page's elements of a kind, those that are data left out."""
    found = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    digests = (hashlib.sha256(text.encode()).digest() for text in found)
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


def test_the_policy_names_the_page_s_own_scripts_and_style(page: Page) -> None:
    """Nothing else runs: no other element, no handler, no code that is made of text."""
    elements = Elements(page.html).found
    policy = next(a["content"] for tag, a in elements if tag == "meta" and "http-equiv" in a)
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


def test_the_same_runs_give_the_same_bytes(runs: Path) -> None:
    """A report depends on its runs alone."""
    folder = [runs / "parts-ada"]
    assert report(read_runs(folder)) == report(read_runs(folder))


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


def test_first_screen_has_the_block_of_each_model(runs: Path, page: Page) -> None:
    text = unescape(page.html)
    for run in read_runs([runs]):
        assert run.block is not None
        assert run.verdict is not None
        assert run.block.asked in text
        assert run.verdict.reason in text


def test_size_stays_small(file: Path) -> None:
    """The report of four small runs is far below 6 MB, its charts' runtime in it once."""
    assert file.stat().st_size < 2_000_000
    assert file.read_text(encoding="utf-8").count("window.vegaEmbed=") == 1


def test_a_large_run_says_what_part_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(details, "MOST_GRAPHS", 2)
    html = report(read_runs([parts_run(tmp_path / "one")]))
    assert "This is a sample of 2 of 6 drawings" in html
    assert len(Page(html).blob("page")["graphs"]["parts-graphs"]) == 2


def test_the_graph_that_contradicts_itself_most_is_shown_first(page: Page, runs: Path) -> None:
    """A drawing whose beliefs cannot all be true comes before one that is only incomplete."""
    told = page.blob("page")["graphs"]["parts-graphs"]
    elements = Elements(page.html).found
    first = told[int(next(a["data-first"] for _, a in elements if "data-first" in a) or 0)]
    faults = {}
    for run in read_runs([runs]):
        if run.probe == "parts":
            for row in run.tables["violation_by_drawing"].iter_rows(named=True):
                key = (run.name, row["thing"], row["annotator"])
                faults[key] = (not row["consistent"], row["violated"])
    assert len(set(faults.values())) > 1
    chosen = faults[first["model"], first["thing"], first["annotator"]]
    assert chosen == max(faults.values())
