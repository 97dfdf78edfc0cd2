"""The report in a real browser: Debian's Chromium, driven by Playwright."""

import csv
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tacit.report.writing import write_report
from tacit.sources.drawings import Drawing
from tests.report.conftest import EVIL, parts_run

Scheme: TypeAlias = Literal["light", "dark"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"
    ),
]
WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


TABS = ("parts", "parts-as-in-the-paper", "parts-method", "assumptions", "differences")
WORDS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.checkVisibility() && !element.closest("select, .unseen, svg"))
      words += (walker.currentNode.data.match(/\\S+/g) || []).length;
  }
  return words;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


class Visit:
    """A report that is open, with all its tables, and what went wrong in it."""

    def __init__(self, page: Page, file: Path, *, opened: bool = True) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda told: self._console(told.type, told.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self._request(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        if opened:
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    def _console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.wrong.append(text)

    def _request(self, address: str) -> None:
        if not address.startswith(("file:", "data:", "blob:")):
            self.wrong.append(f"asked for {address}")

    def tab(self, name: str) -> None:
        self.page.locator(f"a[href='#{name.partition('-')[0]}']").first.click()
        self.page.locator(f"a[href='#{name}']").first.click()

    def drawn(self) -> None:
        self.page.wait_for_selector("html[data-drawn=yes]", timeout=60_000)

    def until_count(self, selector: str, wanted: str) -> None:
        self.until(f"() => document.querySelectorAll({selector!r}).length {wanted}")

    def until(self, function: str, given: object = None) -> None:
        """Waits until a function says yes; Playwright's own wait makes code of text in the page."""
        for _ in range(300):
            if self.page.evaluate(function, given):
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"never so: {function}")

    def column(self, table: str, heading: str) -> list[str]:
        place = f'[data-table="{table}"]'
        headings = self.page.locator(f"{place} thead th").all_inner_texts()
        at = [text.strip() for text in headings].index(heading)
        rows = self.page.locator(f"{place} tbody tr").all()
        return [row.locator("th, td").nth(at).inner_text() for row in rows]


@contextmanager
def visiting(
    browser: Browser,
    file: Path,
    size: ViewportSize = WIDE,
    scheme: Scheme = "light",
    *,
    opened: bool = True,
) -> Iterator[Visit]:
    """A report, open in a window; nothing may go wrong in it."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    visit = Visit(context.new_page(), file, opened=opened)
    yield visit
    context.close()
    assert visit.wrong == []


@pytest.fixture
def visit(browser: Browser, file: Path) -> Iterator[Visit]:
    with visiting(browser, file) as found:
        yield found


@pytest.fixture(scope="module")
def whole(browser: Browser, file: Path) -> Iterator[Visit]:
    with visiting(browser, file) as found:
        found.drawn()
        yield found


@pytest.fixture
def drawn(whole: Visit) -> Iterator[Visit]:
    """One visit for all tests that need every figure; each begins with the tab that it names."""
    yield whole
    assert whole.wrong == []


def test_every_chart_and_graph_is_drawn(drawn: Visit) -> None:
    """No chart fails, no script errs, and no request leaves the page."""
    canvases = drawn.page.locator(".canvas").all()
    assert len(canvases) > 8
    assert all(each.locator("svg").count() == 1 for each in canvases)


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})]
)
def test_axe_finds_nothing_serious(drawn: Visit, scheme: Scheme, rules: dict[str, Any]) -> None:
    """axe-core finds no serious or critical violation, with a row opened and without."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page, found = drawn.page, []
    page.emulate_media(color_scheme=scheme)
    for tab in ("parts", "parts-as-in-the-paper", "parts-method", "consistency-answers"):
        drawn.tab(tab)
        found += axe.run(page, options=rules).response["violations"]
    page.locator("[data-table=consistency-0-questions] [data-open]").first.click()
    page.wait_for_selector("dialog[open] [data-open]")
    found += axe.run(page, options=rules).response["violations"]
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="light")
    grave = [
        (each["id"], each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]
    assert grave == []


def fits(visit: Visit, size: ViewportSize) -> None:
    for tab in TABS:
        visit.tab(tab)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"], tab


def test_no_page_wider_than_its_window(drawn: Visit, browser: Browser, file: Path) -> None:
    """Tables and charts scroll in their own boxes; the page does not scroll sideways."""
    fits(drawn, WIDE)
    with visiting(browser, file, PHONE, "dark") as visit:
        visit.drawn()
        assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"
        fits(visit, PHONE)


def test_a_mark_says_what_it_shows_and_figures_are_saved(drawn: Visit) -> None:
    """Under the pointer a chart's mark has a tooltip; no code is made of text for it."""
    drawn.tab("parts-as-in-the-paper")
    place = "[data-figure=parts-accuracy-by-relation] svg path[aria-roledescription=point]"
    drawn.page.locator(place).first.hover(force=True)
    tip = drawn.page.locator("#vg-tooltip-element")
    tip.wait_for(state="visible")
    assert "accuracy" in tip.inner_text()
    for tab in ("parts-as-in-the-paper", "parts"):
        figure = "parts-graphs" if tab == "parts" else "parts-accuracy-by-relation"
        drawn.tab(tab)
        for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
            with drawn.page.expect_download() as waiting:
                drawn.page.locator(f"#{figure} [data-save={kind}]").click()
            assert waiting.value.path().read_bytes().startswith(begins)
            assert waiting.value.suggested_filename.endswith(f".{kind}")


def test_a_violated_edge_says_why(drawn: Visit) -> None:
    """An edge says in words what it clashes with, under the pointer and when it has the focus."""
    drawn.tab("parts")
    page = drawn.page
    tip = page.locator("#tip")
    stop = page.locator("#parts-graphs .canvas svg [tabindex='0']")
    told = stop.get_attribute("data-tip")
    assert told is not None
    assert "violated: " in told
    stop.focus()
    assert tip.is_visible()
    assert tip.inner_text() == told
    page.keyboard.press("ArrowRight")
    after = page.evaluate("document.activeElement.dataset.tip")
    assert "violated: " in after
    assert tip.inner_text() == after
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    x, y = page.evaluate(
        """() => {
          document.activeElement.scrollIntoView({ block: "center" });
          const line = document.activeElement;
          const point = line.getPointAtLength(line.getTotalLength() / 4);
          const there = point.matrixTransform(line.getScreenCTM());
          return [there.x, there.y];
        }"""
    )
    page.mouse.move(x, y)
    assert tip.is_visible()
    assert "violated: " in tip.inner_text()


def test_a_name_that_is_a_script_does_not_run(drawn: Visit) -> None:
    """A thing called <script> stands as text where one chooses it, and in tables."""
    drawn.page.on("dialog", lambda dialog: drawn.wrong.append(dialog.message))
    drawn.tab("parts-answers")
    drawn.page.locator("#parts-answers select[name=thing]").select_option(EVIL)
    drawn.until_count("[data-table=parts-0-statements] tbody tr", "< 50")
    assert set(drawn.column("parts-0-statements", "thing")) == {EVIL}
    drawn.tab("parts")
    drawn.page.locator("#parts-graphs select[name=thing]").select_option(EVIL)
    drawn.until(
        "(name) => document.querySelector('#parts-graphs svg').ariaLabel.includes(name)", EVIL
    )


def test_theme_turns_and_charts_follow(drawn: Visit) -> None:
    """The button turns light into dark, and charts are drawn again in other colours."""
    page = drawn.page
    text = "[data-figure=parts-probabilities] svg text"
    before = page.locator(text).first.get_attribute("fill")
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    drawn.until(
        "([where, old]) => document.querySelector(where)?.getAttribute('fill') !== old",
        [text, before],
    )
    page.wait_for_timeout(500)


def test_filters_leave_what_fits(visit: Visit) -> None:
    """A relation that is chosen, or words that are typed, leave their rows; reset undoes."""
    visit.tab("parts-answers")
    form = visit.page.locator("#parts-answers .filters")
    rows = "[data-table=parts-0-statements] tbody tr"
    before = visit.page.locator(rows).count()
    form.locator("select[name=relation]").select_option("above")
    visit.until_count(rows, f"< {before}")
    assert set(visit.column("parts-0-statements", "relation")) == {"above"}
    assert "relation: above" in form.locator("output").inner_text()
    form.locator("button[type=reset]").click()
    visit.until_count(rows, f"=== {before}")
    box = visit.page.locator("#parts-answers input[type=search]")
    box.fill("vase")
    visit.until_count(rows, "< 50")
    assert set(visit.column("parts-0-statements", "thing")) == {"vase"}
    box.fill("no such thing")
    visit.page.wait_for_selector("[data-table=parts-0-statements] >> text=No row fits")


def test_a_heading_sorts(visit: Visit) -> None:
    """A numeric heading sorts the greatest first, then the least; what is missing stays last."""
    table, heading = "parts-accuracy-by-drawing", "before repair"
    visit.tab("parts-by-thing")
    cell = visit.page.locator(f"[data-table={table}] thead th", has_text=heading)
    found = {}
    for order in ("descending", "ascending"):
        cell.locator("button").press("Enter")
        assert cell.get_attribute("aria-sort") == order
        found[order] = [float(one.split()[0]) for one in visit.column(table, heading)]
    assert found["ascending"] == sorted(found["descending"])
    assert found["descending"] == sorted(found["ascending"], reverse=True)
    assert len(set(found["ascending"])) > 1


def test_csv_holds_the_rows_that_fit(visit: Visit, runs: Path) -> None:
    """A table's CSV has the finding's columns and values, filtered as the table is."""
    page = visit.page
    visit.tab("parts-answers")
    page.locator("#parts-answers select[name=thing]").select_option("cup")
    visit.until_count("[data-table=parts-0-statements] tbody tr", "< 50")
    with page.expect_download() as waiting:
        page.locator('[data-csv="parts-0-statements"]').click()
    path = waiting.value.path()
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    beliefs = pl.read_parquet(runs / "parts-ada" / "findings" / "beliefs.parquet")
    wanted = beliefs.filter(thing="cup")
    assert waiting.value.suggested_filename == "parts-0-statements-filtered.csv"
    assert [row["relation"] for row in rows] == wanted["relation"].to_list()
    found = [float(row["p_true"]) for row in rows]
    assert found == pytest.approx(wanted["p_true"].to_list(), abs=1e-4)


def test_no_name_is_a_formula_in_a_spreadsheet(browser: Browser, tmp_path: Path) -> None:
    """A text that would be computed has an apostrophe before it; numbers stay as they are."""
    things = ("=1+1", "+1-x", "-x", "@sum", "\t=1", "\uff1d1", 'a;"=1', "-0.5")
    drawings = [Drawing(each, "ann", ("b", "c"), (("b", "above", "c"),)) for each in things]
    run = parts_run(tmp_path / "run", drawings=drawings)
    write_report([run], tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        visit.tab("parts-answers")
        with visit.page.expect_download() as waiting:
            visit.page.locator('[data-csv="parts-0-statements"]').click()
        text = waiting.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    wanted = {"'" + each for each in things[:6]} | {*things[6:]}
    assert {row["thing"] for row in rows} == wanted
    # Where semicolons part cells, a quote is what keeps this one together.
    assert '"a;""=1"' in text
    found = [float(row["logprob_true"]) for row in rows]
    asked = pl.read_parquet(run / "questions.parquet")
    assert set(found) <= {float(f"{value:.6g}") for value in asked["logprob_true"]}
    assert max(found) < 0


def test_an_answer_opens_down_to_its_prompts(visit: Visit, runs: Path) -> None:
    """Behind a question are its facts, and behind a fact the prompts with the run's own numbers."""
    page = visit.page
    visit.tab("consistency-answers")
    page.locator("[data-table=consistency-0-questions] [data-open='3']").click()
    dialog = page.locator("dialog[open]")
    dialog.wait_for()
    assert "thing2" in dialog.locator("h2").first.inner_text()
    dialog.locator("[data-open]").first.click()
    visit.until("() => !document.getElementById('back').hidden")
    background = dialog.locator("h2").first.inner_text()
    asked = pl.read_parquet(runs / "consistency-ada" / "questions.parquet")
    best = asked.filter(question=background).sort("logprob", descending=True).row(0, named=True)
    first = dialog.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert first[0] == best["word"]
    assert first[1].replace("\N{MINUS SIGN}", "-") == f"{best['logprob']:.3f}"
    assert background in first[-1]
    page.locator("#back").click()
    page.wait_for_selector("dialog[open] [data-open]")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    # Behind a concept are the prompts that ask for it, its ranks, and the best candidates.
    visit.tab("assumptions-answers")
    page.locator("[data-table=assumptions-0-concepts] [data-open=bear]").click()
    dialog.locator("h3", has_text="Best candidates of retrieval").wait_for()
    assert "A ___ is found near a wolf." in dialog.inner_text()


def test_tables_open_on_demand_and_in_print(browser: Browser, file: Path) -> None:
    """Each shows its title first; a click opens one, printing opens all."""
    every = "[...document.querySelectorAll('main details')].every((one) => one.open)"
    with visiting(browser, file, opened=False) as visit:
        visit.tab("parts-as-in-the-paper")
        table = visit.page.locator("#parts-as-in-the-paper details[data-table]").first
        assert table.locator("summary h4").is_visible()
        assert not table.locator("table").first.is_visible()
        table.locator("summary").click()
        assert table.locator("table").first.is_visible()
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.evaluate(every)
        visit.drawn()


def test_first_screen_of_a_run_is_short(browser: Browser, runs: Path, tmp_path: Path) -> None:
    """At most 400 words are visible before anything is opened."""
    write_report([runs / "parts-ada"], tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html", opened=False) as visit:
        words = visit.page.evaluate(WORDS)
    assert 100 < words <= 400


def test_tabs_need_no_script(browser: Browser, file: Path) -> None:
    """A link shows its tab alone, and the tiles and contradictions stand in the page."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    for name in TABS:
        page.goto(f"{file.as_uri()}#{name}")
        shown = [tab.get_attribute("id") for tab in page.locator(".tab").all() if tab.is_visible()]
        wanted = name if "-" in name or name == "differences" else f"{name}-overview"
        assert shown == ["differences-differences" if name == "differences" else wanted]
    context.close()
