# ruff: noqa: INP001 - scripts are no package
"""Draw the images of the demo's report in ``docs/images``, with Chromium.

python scripts/report_images.py FOLDER

FOLDER is that of ``tacit demo``. Chromium is ``/usr/bin/chromium``, or that of ``CHROMIUM``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from tacit.charts.save import drawn
from tacit.charts.theme import HOUSE
from tacit.probes.parts.beliefs import ontology_of
from tacit.probes.parts.details import graph_files
from tacit.report.writing import write_report
from tacit.runs.figures import shown_of
from tacit.runs.reading import read_run

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def main(folder: Path) -> None:
    """Draws the first screen, the graph of the egg in the report, and the graph as a file."""
    run = read_run(folder / "parts")
    (graph,) = graph_files(shown_of([run], HOUSE), ontology_of(run.findings), ["egg"]).values()
    (IMAGES / "parts-graph.svg").write_text(drawn(graph, HOUSE), encoding="utf-8")
    with TemporaryDirectory() as place, sync_playwright() as driver:
        page = Path(place) / "report.html"
        runs = [folder / probe for probe in ("parts", "consistency", "assumptions")]
        write_report(runs, page)
        chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        screen = opened(browser, page, 1400, 1)
        screen.evaluate("document.querySelector('footer').remove()")
        screen.screenshot(path=IMAGES / "report-summary.png", full_page=True)
        egg = opened(browser, page, 1250, 2).locator("#parts-graphs .canvas svg")
        egg.screenshot(path=IMAGES / "report-parts.png")
        browser.close()


def opened(browser: Browser, report: Path, width: int, scale: int) -> Page:
    """Returns a report all of whose figures are drawn."""
    page = browser.new_page(
        viewport={"width": width, "height": 1000}, device_scale_factor=scale, color_scheme="light"
    )
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-drawn=yes]", timeout=120_000)
    return page


if __name__ == "__main__":
    main(Path(sys.argv[1]))
