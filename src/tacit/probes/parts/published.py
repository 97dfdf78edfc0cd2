"""The paper's tables beside one's own: ours, published, difference (Gu et al. 2023)."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

from tacit.sources.statements import agreed, agreement, drawing_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.probes.parts.probe import PartsProbe

Cell = tuple[str, str, str, str | None, float | None, float | None]
"""Table (a number, or what else of the paper it is), row, column, model (None: the data set), ours,
published."""

_JUDGED_TRUE = "judged true"
_DRAWINGS = 300
"""How many drawings the paper's counts of drawings are of."""

SCHEMA = ("table", "row", "column", "model", "ours", "published", "difference", "obtained")


def published() -> dict[str, Any]:
    """What the paper prints, by table."""
    path = resources.files("tacit") / "data" / "published" / "parrot.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def data_tables(probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None) -> pl.DataFrame:
    """What is about the drawings alone: Tables 1 and 5, labels and the majority class.

    Args:
        probe: The drawings.
        seed: The seed parts that the annotators were given; None where they are not there.

    Returns:
        Columns table, row, column, model (null), ours, published, difference, obtained (null);
        averages are rounded to the two decimals that the paper prints. ``ours`` is null where it
        cannot be had.
    """
    return _frame([*_table_1(probe, seed), *_table_5(probe), *_labels(probe), *_majority(probe)])


def model_tables(findings: Findings) -> pl.DataFrame:
    """Tables 3, 4, 6 and 7, Figure 3 and changed drawings, beside each of the paper's models.

    Returns:
        As :func:`data_tables`, with ``model`` the paper's, and ``obtained`` how the beliefs were
        obtained, where that is known; shares in per cent with two decimals.
    """
    cells = [
        *_table_3(findings),
        *_accuracy(findings, "4", "ParRoT"),
        *_accuracy(findings, "6", "ParRoT++"),
        *_table_7(findings),
        *_figure_3(findings),
        *_drawings(findings),
    ]
    return _frame(cells, findings.summary.get("obtained"))


def _table_1(probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None) -> Iterator[Cell]:
    ours = _sizes(probe, seed)
    for row, cells in published()["table_1"].items():
        for column, value in cells.items():
            yield "1", row, column, None, ours[row].get(column), value


def _sizes(
    probe: PartsProbe, seed: Mapping[str, tuple[str, ...]] | None
) -> dict[str, dict[str, float]]:
    """Table 1's figures: rows to columns."""
    drawn = [relation for _, _, _, relation, _ in drawing_statements(probe.drawings).iter_rows()]
    enriched = probe.gold["relation"].to_list()
    n = len(probe.drawings)
    things = len({drawing.thing for drawing in probe.drawings})
    parts = sum(len(drawing.parts) for drawing in probe.drawings)
    sizes: dict[str, dict[str, float]] = {
        "everyday things": {"annotated": things, "enriched": things},
        "mental models": {"annotated": n, "enriched": n},
        "parts": _counted(n, parts, parts),
        "relations": _counted(n, len(drawn), len(enriched), len(set(drawn))),
    }
    for category in ("spatial", "connectivity", "functional"):
        own = [name for name in drawn if _category(probe, name) == category]
        all_ = [name for name in enriched if _as_table_1(probe, name) == category]
        sizes[f"{category} relations"] = _counted(n, len(own), len(all_), len(set(own)))
    if seed is not None:
        sizes["everyday things"]["seed"] = len(seed)
        sizes["parts"]["seed"] = sum(map(len, seed.values()))
    return sizes


def _counted(n: int, annotated: int, enriched: int, seed: int | None = None) -> dict[str, float]:
    counts: dict[str, float] = {
        "annotated": annotated,
        "annotated average": round(annotated / n, 2),
        "enriched": enriched,
        "enriched average": round(enriched / n, 2),
    }
    return counts if seed is None else {"seed": seed, **counts}


def _category(probe: PartsProbe, relation: str) -> str | None:
    return probe.ontology.relations[relation].category


def _as_table_1(probe: PartsProbe, relation: str) -> str | None:
    """The category under which Table 1 counts: it has ``required by`` with the spatial ones."""
    return "spatial" if relation == "required by" else _category(probe, relation)


def _table_5(probe: PartsProbe) -> Iterator[Cell]:
    counts = dict(agreed(probe.gold)["thing"].value_counts().iter_rows())
    printed = {thing: n for n, things in published()["table_5"].items() for thing in things}
    for thing in sorted({drawing.thing for drawing in probe.drawings}):
        yield "5", thing, "full agreement", None, counts.get(thing, 0), printed.get(thing, 0)


def _table_3(findings: Findings) -> Iterator[Cell]:
    rows = findings.tables["violation"].iter_rows(named=True)
    ours = {row["constraint"]: row for row in rows if row["world"] == "before"}
    for model, cells in published()["table_3"].items():
        share = _percent(findings.summary["true_share"])
        yield "3", _JUDGED_TRUE, "rate", model, share, cells[_JUDGED_TRUE]
        for constraint, values in cells.items():
            if constraint == _JUDGED_TRUE:
                continue
            for column, value in values.items():
                own = ours[constraint][column]
                yield (
                    "3",
                    constraint,
                    column,
                    model,
                    _percent(own) if column == "rate" else own,
                    value,
                )


def _accuracy(findings: Findings, table: str, of: str) -> Iterator[Cell]:
    rows = findings.tables["accuracy"].iter_rows(named=True)
    found = {r["world"]: r["accuracy"] for r in rows if r["set"] == of and r["gold"] == "all"}
    before, after = found.get("before"), found.get("paper")
    gain = None if before is None or after is None else after - before
    ours = {"before": before, "after": after, "gain": gain}
    for model, cells in published()[f"table_{table}"].items():
        for column, value in cells.items():
            yield table, f"accuracy on {of}", column, model, _percent(ours[column]), value


def _labels(probe: PartsProbe) -> Iterator[Cell]:
    """Labels, agreement and contradictions among annotators."""
    found = agreement(probe.gold)
    true = int(probe.gold["label"].sum())
    ours = {
        "labelled true": true,
        "labelled false": probe.gold.height - true,
        "contradicted by another annotator": int(found["contradicted"].sum()),
        "agreed on (ParRoT++)": int(found["agreed"].sum()),
    }
    for row, value in published()["labels"].items():
        yield "Section 4.2, appendix C", row, "statements", None, ours[row], value


def _majority(probe: PartsProbe) -> Iterator[Cell]:
    """The accuracy of the majority class in whole per cent, as the paper prints it."""
    labels = probe.gold["label"]
    true = None if labels.is_empty() else int(labels.sum()) / len(labels)
    ours = None if true is None else round(100 * max(true, 1 - true))
    value = published()["majority class"]
    yield "Section 6.2", "majority class", "accuracy, %", None, ours, value


def _figure_3(findings: Findings) -> Iterator[Cell]:
    """The share of drawings with an accuracy of at least s per cent, in per cent."""
    ours = {
        (row["s"], row["world"]): _percent(row["share"])
        for row in findings.tables["accuracy_at"].iter_rows(named=True)
    }
    for model, worlds in published()["figure_3"].items():
        for when, world in (("before", "before"), ("after", "paper")):
            for s, n in worlds[when].items():
                own, value = ours.get((s, world)), _percent(n / _DRAWINGS)
                yield "Figure 3", f"% of drawings at least {s} % right", when, model, own, value


def _drawings(findings: Findings) -> Iterator[Cell]:
    """Drawings that repair under the paper's objective improves, worsens or leaves, in per cent."""
    ours = findings.tables["repair"].filter(objective="paper").row(0, named=True)
    n = sum(ours[name] or 0 for name in ("improved", "worse", "same"))
    for model, cells in published()["drawings"].items():
        for name, value in cells.items():
            own = _percent(ours[name] / n) if n else None
            yield "Section 6.3", "% of drawings", name, model, own, _percent(value / _DRAWINGS)


def _table_7(findings: Findings) -> Iterator[Cell]:
    """The example statements about a tree: 1 where they are judged true, 0 where they are not."""
    for model, examples in published()["table_7"].items():
        for example in examples:
            wanted = {name: example[name] for name in ("subject", "relation", "object")}
            beliefs = findings.tables["beliefs"].filter(thing="tree", **wanted)["p_true"]
            known = beliefs.drop_nulls()
            ours = None if known.is_empty() else int(known[0] > 1 / 2)
            row = "tree: " + " ".join(wanted.values())
            yield "7", row, _JUDGED_TRUE, model, ours, int(example[_JUDGED_TRUE])


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)


def _frame(cells: list[Cell], obtained: str | None = None) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            *cell,
            None if cell[4] is None or cell[5] is None else round(cell[4] - cell[5], 2),
            obtained,
        )
        for cell in cells
    ]
    numbers = {"ours", "published", "difference"}
    schema = {name: pl.Float64 if name in numbers else pl.String for name in SCHEMA}
    return pl.DataFrame(rows, schema=schema, orient="row")
