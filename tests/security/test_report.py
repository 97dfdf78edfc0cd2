import re
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.coherence.ontology import Ontology
from tacit.models.fake import FakeModel
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.report.writing import report
from tacit.requests import Prompt
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.sources.drawings import Drawing
from tests.in_order import answers_of
from tests.report.conftest import Elements, Page

EVIL = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '" onmouseover="alert(3)',
    "' onfocus='alert(4)",
    "a\u2028alert(5)\u2029",
    "<!--<script>",
    "{{ 7 * 191 }}",
    "javascript:alert(6)",
    "]]><svg onload=alert(7)>",
    "</style><img src=x onerror=alert(8)>",
    "\x00\x1b\u202e",
)


def says(prompt: Prompt, answer: str) -> float:
    return -float(len(prompt.text + answer) % 7)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    root = tmp_path_factory.mktemp("runs")
    drawings = [
        Drawing(EVIL[at], EVIL[-1 - at], parts, ((parts[0], "inside", parts[1]),))
        for at in range(0, len(EVIL), 4)
        for parts in [tuple((EVIL * 2)[at + 1 : at + 4])]
    ]
    probe = PartsProbe(drawings, Ontology.load("parts"), Template.load("plain"))
    for number, name in enumerate(EVIL[:2]):
        model = FakeModel(says, name)
        run = RunFolder(root / str(number), {"probe": "parts", "model": name, "drawings": EVIL[1]})
        run.begin({"model": dict(model.description), "data": {EVIL[2]: EVIL[3]}})
        run.finish(probe.measure(answers_of(probe, model)))
    return Page(report(read_runs([root])))


def test_no_name_becomes_an_element_or_a_handler(page: Page) -> None:
    """The page has the scripts and the elements that it has of itself."""
    elements = Elements(page.html).found
    scripts = [attributes for tag, attributes in elements if tag == "script"]
    assert [each for each in scripts if each.get("type") != "text/plain"] == [{}, {}]
    assert not [tag for tag, _ in elements if tag in {"img", "iframe", "object", "svg", "embed"}]
    handlers = [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert not handlers
    links = [a["href"] for tag, a in elements if tag == "a"]
    assert all(str(link).startswith("#") for link in links)


def test_no_name_is_taken_for_a_template(page: Page) -> None:
    """What stands in braces is text."""
    assert str(7 * 191) not in page.html.split("<script")[0]


def test_the_page_s_data_end_no_script(page: Page) -> None:
    """They are base64, in which nothing of the names can be read."""
    blobs = re.findall(r'<script type="text/plain" id="[^"<>]*">([^<]*)</script>', page.html)
    assert len(blobs) == page.html.count('<script type="text/plain"')
    assert all(re.fullmatch(r"[A-Za-z0-9+/=\s]*", blob) for blob in blobs)


def test_the_tables_hold_the_names_as_they_are(page: Page) -> None:
    tables = str(page.blob("page")["tables"])
    for name in (*EVIL[:2], EVIL[4], EVIL[8]):
        assert name in tables or repr(name)[1:-1] in tables


def test_graphs_name_no_address(page: Page) -> None:
    """They are Vega-Lite, whose data, images and links could be loaded from elsewhere."""
    names = re.findall(r'id="data-(graph-[^"]*)"', page.html)
    assert names
    for name in names:
        assert not {"href", "url"} & {key for key, _ in _entries(page.blob(name))}


def _entries(node: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    for each in node if isinstance(node, list) else ():
        yield from _entries(each)
    for key, value in node.items() if isinstance(node, dict) else ():
        yield key, value
        yield from _entries(value)
