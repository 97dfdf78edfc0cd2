"""What every probe keeps to: Tacit's own and those of other packages, a row for each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.charts.save import charts
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.probes import registry
from tacit.probes.base import declared_figures
from tacit.testing import check_probe
from tests.golden.models import words
from tests.other_packages import installed

PAIRS = "word\tsynonym\tlabel\nbig\tlarge\tyes\nbig\tsmall\tno\nfast\tquick\tyes\ncat\tdog\tno\n"


def drawings(_: Path) -> dict[str, Any]:
    return {"drawings": tacit.demo_data("drawings"), "limit": 1}


def questions(folder: Path) -> dict[str, Any]:
    kb = tacit.build_kb(tacit.demo_data("facts"), folder / "facts.kb")
    return {
        "questions": tacit.demo_data("questions"),
        "kb": kb,
        "limit": 12,
        "anchors": "choice,verify",
    }


def norms(_: Path) -> dict[str, Any]:
    return {"norms": tacit.demo_data("norms"), "limit": 4, "orders": "main"}


def pairs(folder: Path) -> dict[str, Any]:
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return {"pairs": folder / "pairs.tsv"}


PROBES = {"parts": drawings, "consistency": questions, "assumptions": norms, "synonyms": pairs}


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_keeps_to_the_contract(name: str, tmp_path: Path) -> None:
    """Tacit's own have a line of help that ends, an identifier as name, and no empty figure."""
    with installed():
        kind = registry.probe(name)
        found = check_probe(kind, words=words(), **PROBES[name](tmp_path))
    assert kind.name.isidentifier()
    assert kind.summary.endswith((".", "?"))
    empty = {key: table.clear() for key, table in found.tables.items()}
    for tables in (empty, {}):
        shown = Shown({"m": replace(found, tables=tables)}, {}, HOUSE)
        of_tables = {key: one for key, one in declared_figures(kind).items() if key != "beliefs"}
        assert not [*charts(of_tables, shown)]
