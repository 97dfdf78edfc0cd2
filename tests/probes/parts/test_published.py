import os
from pathlib import Path

import polars as pl
import pytest

from tacit.findings.published import printed_values, published
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.published import data_tables, model_tables
from tacit.sources.drawings import read_things

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
PARROT = DATA / "parrot"
STATEMENT = ("subject", "relation", "object")
needs_parrot = pytest.mark.skipif(not PARROT.is_dir(), reason="the real drawings are not here")


@needs_parrot
def test_findings_stand_beside_what_the_paper_prints() -> None:
    """Of the drawings, every cell of Tables 1 and 5, appendix C and the majority class.

    Of a model, Figure 3, Table 7 and changed drawings: here of beliefs that are true of what is
    drawn of a tree, so that all drawings are right.
    """
    table = data_tables(PartsProbe.read(PARROT), read_things(PARROT))
    assert table.height == 30 + 100 + 4 + 1
    assert table["difference"].to_list() == [0.0] * table.height
    probe = PartsProbe.read(PARROT, ["tree"])
    true = set(probe.gold.filter("label").select("thing", *STATEMENT).iter_rows())
    beliefs = [0.9 if row in true else 0.1 for row in probe.questions.iter_rows()]
    answers = probe.questions.with_columns(p_true=pl.Series(beliefs))
    table = model_tables(probe.measure_beliefs(answers)).filter(model="text-davinci-003")
    cells = table.select("table", "row", "column", "ours", "published", "difference").rows()
    found = {row[:3]: row[3:] for row in cells}
    at_60 = "% of drawings at least 60 % right"
    assert found["Figure 3", at_60, "before"] == (100, 28.0, 72.0)
    assert found["Figure 3", at_60, "after"] == (100, 71.33, 28.67)
    assert found["Section 6.3", "% of drawings", "improved"] == (0, 87.67, -87.67)
    example = found["7", "tree: trunk above roots", "judged true"]
    assert example == (float(("tree", "trunk", "above", "roots") in true), 0, example[0])
    assert table.filter(table="7").height == 4


@needs_parrot
def test_our_share_has_its_interval_beside_it() -> None:
    """In per cent with two decimals, as in the table of findings; counts have none."""
    probe = PartsProbe.read(PARROT, ["tree", "egg", "bed", "boat", "car"])
    p = pl.Series([(7 * k % 10) / 10 for k in range(probe.questions.height)])
    findings = probe.measure_beliefs(probe.questions.with_columns(p_true=p))
    table = model_tables(findings).filter(model="Macaw-11B", table="3", row="inverse")
    (row,) = findings.tables["violation"].filter(constraint="inverse", stage="before").to_dicts()
    found = {cell["column"]: cell for cell in table.to_dicts()}
    ends = (round(100 * row["rate_low"], 2), round(100 * row["rate_high"], 2))
    assert (found["rate"]["ours_low"], found["rate"]["ours_high"]) == ends
    assert ends[0] < found["rate"]["ours"] < ends[1]
    assert found["violated"]["ours"] == row["violated"]
    assert found["violated"]["ours_low"] is None


def printed(table: str, model: str | None = None) -> dict[tuple[str, str], float]:
    things = pl.DataFrame({"thing": list(TABLE_5)})
    found = [cell for cell in printed_values("parrot", {"agreed": things}) if cell.table == table]
    return {
        (cell.row, cell.column): cell.value
        for cell in found
        if cell.model == model and cell.value is not None
    }


TABLE_5 = next(block for block in published("parrot")["cells"] if block["table"] == "5")["values"]


def test_the_printed_counts_add_up() -> None:
    """Of drawings to 300, of labels to 11,720, and of the statements of ParRoT++ to 508."""
    shares = printed("Section 6.3", "text-davinci-003")
    assert sum(shares.values()) == pytest.approx(100, abs=0.015)
    reached = printed("Figure 3", "text-davinci-003").items()
    for when in ("before", "after"):
        counts = [share for (_, column), share in reached if column == when]
        assert len(counts) == 6
        assert counts == sorted(counts, reverse=True)
    labels = printed("Section 4.2, appendix C")
    kinds = ("labelled true", "labelled false")
    assert sum(labels[kind, "statements"] for kind in kinds) == 11_720
    assert (sum(TABLE_5.values()), len(TABLE_5)) == (508, 71)


@pytest.mark.parametrize("model", ["text-davinci-003", "Macaw-11B"])
def test_the_printed_rates_and_gains_follow_from_other_cells(model: str) -> None:
    """Tables 3, 4 and 6, recomputed but for the rounding; a slip of the pen here would show."""
    found = printed("3", model)
    types = ("symmetric", "asymmetric", "inverse", "transitive")
    for one in (*types, "micro"):
        rate = 100 * found[one, "violated"] / found[one, "applicable"]
        assert found[one, "rate"] == pytest.approx(rate, abs=0.006)
    for count in ("violated", "applicable"):
        assert found["micro", count] == sum(found[one, count] for one in types)
    mean = sum(found[one, "rate"] for one in types) / 4
    assert found["macro", "rate"] == pytest.approx(mean, abs=0.01)
    for table in ("4", "6"):
        of = {column: value for (_, column), value in printed(table, model).items()}
        assert of["gain"] == pytest.approx(of["after"] - of["before"], abs=0.011)
