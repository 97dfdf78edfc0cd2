from __future__ import annotations

import os
from pathlib import Path

import pytest

from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.published import data_tables, published
from tacit.sources.drawings import read_things

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[2] / "../shared/data"))
PARROT = DATA / "parrot"
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")


@needs_parrot
def test_the_tables_about_the_drawings_come_out_as_printed() -> None:
    """Tables 1 and 5, every cell."""
    table = data_tables(PartsProbe.read(PARROT), read_things(PARROT))
    assert table.height == 30 + 100
    assert table["difference"].to_list() == [0.0] * table.height


@needs_parrot
def test_other_drawings_differ() -> None:
    """The published figures are beside, never in place of, one's own."""
    table = data_tables(PartsProbe.read(PARROT, ["tree", "egg"]), None)
    drawn = table.filter((table["row"] == "mental models") & (table["column"] == "annotated"))
    assert drawn.select("ours", "published", "difference").row(0) == (6, 300, -294)
    seeds = table.filter((table["row"] == "parts") & (table["column"] == "seed"))
    assert seeds.select("ours", "difference").row(0) == (None, None)


@pytest.mark.parametrize("model", ["text-davinci-003", "Macaw-11B"])
def test_the_printed_rates_follow_from_the_printed_counts(model: str) -> None:
    """Table 3's rates, macro and micro, recomputed; a slip of the pen here would show."""
    cells = published()["table_3"][model]
    types = [cells[name] for name in ("symmetric", "asymmetric", "inverse", "transitive")]
    for one in (*types, cells["micro"]):
        assert one["rate"] == pytest.approx(100 * one["violated"] / one["applicable"], abs=0.006)
    assert cells["micro"]["violated"] == sum(one["violated"] for one in types)
    assert cells["micro"]["applicable"] == sum(one["applicable"] for one in types)
    assert cells["macro"]["rate"] == pytest.approx(sum(one["rate"] for one in types) / 4, abs=0.01)


@pytest.mark.parametrize("table", ["table_4", "table_6"])
def test_the_printed_gains_follow_from_the_printed_accuracies(table: str) -> None:
    """But for the rounding of the last decimal."""
    for cells in published()[table].values():
        assert cells["gain"] == pytest.approx(cells["after"] - cells["before"], abs=0.011)


def test_table_5_adds_up_to_parrot_plus_plus() -> None:
    """508 statements of 71 things."""
    printed = published()["table_5"]
    assert sum(n * len(things) for n, things in printed.items()) == 508
    assert sum(map(len, printed.values())) == 71
