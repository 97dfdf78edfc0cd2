"""Runs of made-up models over made-up things, written as ``tacit run`` writes them."""

import base64
import gzip
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tacit.findings.findings import Findings
from tacit.models.fake import FakeModel
from tacit.requests import Prompt
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.runs.run import Run
from tacit.sources.drawings import Drawing
from tacit.sources.questions import Anchor
from tests.in_order import answers_of
from tests.probes.assumptions.made_up import small_run
from tests.probes.consistency.asking_by_hand import Case, Fact, probe_of
from tests.probes.parts import measured as parts

EVIL = "<script>alert(1)</script>"
DRAWINGS = (
    Drawing(
        "egg",
        "ann",
        ("yolk", "white", "shell"),
        (("shell", "surrounds", "white"), ("white", "surrounds", "yolk")),
    ),
    Drawing("egg", "bob", ("yolk", "shell"), (("yolk", "inside", "shell"),)),
    Drawing(
        "lamp",
        "ann",
        ("shade", "stand", EVIL),
        (("shade", "above", "stand"), (EVIL, "inside", "shade")),
    ),
    Drawing(EVIL, "bob", ("crown", "trunk"), (("crown", "above", "trunk"),)),
    # Five things, the fewest with intervals.
    Drawing("cup", "ann", ("handle", "bowl"), (("handle", "part of", "bowl"),)),
    Drawing("vase", "ann", ("neck", "foot"), (("neck", "above", "foot"),)),
)


def says(name: str) -> FakeModel:
    def score(prompt: Prompt, answer: str) -> float:
        return -5 * random.Random(f"{name} {prompt.text} {answer}").random()  # noqa: S311 - no secret

    return FakeModel(score, name)


def written(folder: Path, found: Findings, name: str, more: Mapping[str, Any]) -> Path:
    request = {"preset": "plain", **more.get("request", {}), "model": name}
    run = RunFolder(folder, request)
    run.begin({"model": says(name).description, "data": more.get("data", {"things.tsv": "abc"})})
    run.finish(found)
    return folder


@cache
def _of_parts(name: str, drawings: tuple[Drawing, ...]) -> Findings:
    probe = parts.probe_of(*drawings)
    return probe.measure(answers_of(probe, says(name)))


def parts_run(folder: Path, name: str = "ada", **more: Any) -> Path:  # noqa: ANN401 - of a manifest
    """A run of the parts probe, of other drawings where there are ``drawings``."""
    found = _of_parts(name, tuple(more.pop("drawings", DRAWINGS)))
    request = {"probe": "parts", **more.pop("request", {})}
    return written(folder, found, name, {"request": request, **more})


@cache
def _of_consistency(name: str, n: int) -> Findings:
    cases = [
        Case(
            Anchor(str(i), f"Where is the {concept}?", ("attic", "cellar", "lake"), i % 3, concept),
            (Fact(concept, "IsA", "object", "no object"), Fact(concept, "HasA", "part", "no part")),
        )
        for i, concept in enumerate([EVIL, *(f"thing{i}" for i in range(n - 1))])
    ]
    probe = probe_of(cases)
    return probe.measure(answers_of(probe, says(name)))


def consistency_run(folder: Path, name: str = "ada", n: int = 12) -> Path:
    """A run of the consistency probe, one of whose concepts is a script."""
    found = _of_consistency(name, n)
    return written(folder, found, name, {"request": {"probe": "consistency"}})


def assumptions_run(folder: Path, name: str = "ada", found: Findings | None = None) -> Path:
    run = RunFolder(folder, {"probe": "assumptions", "model": name})
    run.begin({"model": says(name).description, "data": {"norms.dat": "abc"}})
    run.finish(found or (small_run() if name == "ada" else small_run(1, orders="main")))
    return folder


class Elements(HTMLParser):
    """The elements of a page with their attributes, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@dataclass(frozen=True)
class Page:
    html: str

    def blob(self, name: str) -> Any:  # noqa: ANN401 - JSON
        found = re.search(f'<script type="text/plain" id="data-{name}">([^<]*)</script>', self.html)
        assert found is not None
        return json.loads(gzip.decompress(base64.b64decode(found[1])))

    def table(self, name: str) -> dict[str, Any]:
        tables: Sequence[dict[str, Any]] = self.blob("page")["tables"]
        return next(table for table in tables if table["id"] == name)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("ada", "bea"):
        parts_run(folder / f"parts-{name}", name)
        consistency_run(folder / f"consistency-{name}", name)
        assumptions_run(folder / f"assumptions-{name}", name)
    return folder


@pytest.fixture(scope="session")
def all_runs(runs: Path) -> Sequence[Run]:
    return read_runs([runs])


@pytest.fixture(scope="session")
def one_of(all_runs: Sequence[Run]) -> dict[str, Run]:
    """The first model's run of each probe."""
    return {run.probe: run for run in reversed(all_runs)}


@pytest.fixture(scope="session")
def file(runs: Path) -> Path:
    from tacit.report.writing import write_report

    out = runs / "report.html"
    write_report([runs], out)
    return out


@pytest.fixture(scope="session")
def page(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))
