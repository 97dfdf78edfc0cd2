"""What the parts probe found, as a person reads it in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.obtained import obtained_told
from tacit.english import several
from tacit.present import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    from rich.table import Table


def echo_parts(summary: Mapping[str, Any], model: str) -> None:
    """Prints what the parts probe found: a table, and what was asked and answered."""
    terminal.console().print(_parts_table(summary, model))
    typer.echo("\n".join(_parts_told(summary)))


def _parts_table(summary: Mapping[str, Any], model: str) -> Table:
    """The beliefs and the three repaired worlds, side by side; fits 80 columns."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{model}: parts of {several(summary['things'], 'thing')}")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("before\nrepair", justify="right", no_wrap=True)
    for row in summary["repair"]:
        table.add_column(f"repaired\n{row['objective']}", justify="right", no_wrap=True)
    if summary["accuracy"]:
        table.add_row("accuracy")
    for name in dict.fromkeys(row["set"] for row in summary["accuracy"]):
        _add_accuracy(table, summary, name)
    table.add_section()
    table.add_row("violation")
    for name in dict.fromkeys(row["constraint"] for row in summary["violation"]):
        rows = [row for row in summary["violation"] if row["constraint"] == name]
        table.add_row(f"  {name}", *map(_violation, rows))
    table.add_section()
    for label, keys in _REPAIR_ROWS.items():
        counts = ("/".join(_count(row[key]) for key in keys) for row in summary["repair"])
        table.add_row(label, "", *counts)
    return table


def _add_accuracy(table: Table, summary: Mapping[str, Any], name: str) -> None:
    """Adds the accuracy on one set, its baselines and the gain of repair.

    A set without a statement has the first row alone.
    """
    rows = [row for row in summary["accuracy"] if row["set"] == name]
    shares = [row for row in rows if row["gold"] == "all"]
    label = f"  {name}\n    n = {shares[0]['n']:,}"
    table.add_row(label, *(_share(row) for row in shares))
    if not shares[0]["n"]:
        return
    for gold, label in _SIDES.items():
        shares = [row for row in rows if row["gold"] == gold]
        table.add_row(f"    {label}", *(_percent(row["accuracy"]) for row in shares))
    for row in summary["accuracy_baselines"]:
        if row["set"] == name and row["baseline"] in _BASELINES:
            table.add_row(f"    {_BASELINES[row['baseline']]}", _percent(row["accuracy"]))
    for part, label in _GAINS.items():
        gains = [r for r in summary["accuracy_gain"] if (r["set"], r["part"]) == (name, part)]
        table.add_row(f"    {label}", "", *map(_gain, gains))


_SIDES = {"true": "gold true", "false": "gold false", "balanced": "balanced"}
_BASELINES = {"always true": "always true", "majority by relation": "by relation"}
_GAINS = {"whole": "gain, points", "shift towards true": "  by shift", "consistency": "  above it"}
_REPAIR_ROWS = {
    "statements turned\n  true/false": ("turned_true", "turned_false"),
    "  free (a tie)": ("free",),
    "drawings improved/\n  same/worse": ("improved", "same", "worse"),
    "  proven optimal": ("optimal",),
}


def _parts_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was asked and answered, and how the intervals were made, in sentences."""
    yield from obtained_told(summary)
    own = summary["by_drawing"]
    asked = several(summary["questions"], "question" if own else "distinct question")
    asked += ", each drawing's its own" if own else ""
    yield (
        f"{several(summary['drawings'], 'drawing')}, "
        f"{several(summary['statements'], 'statement')}, {asked}"
    )
    yield from answered_told(summary)
    yield several(
        summary["drawings_with_violation"],
        "drawing contradicts itself",
        "drawings contradict themselves",
    )
    if summary["accuracy"]:
        yield from _labels_told(summary)
    else:
        yield "Nobody drew these things, so there is no accuracy"
    made = summary["intervals"]
    if summary["things"] > 1:  # one thing alone has no interval
        yield (
            f"Ranges are {made['level']:.0%} intervals: {made['method']} over things, "
            f"{several(made['resamples'], 'resample')}, seed {made['seed']}"
        )


def _labels_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """What accuracy is measured against, and how to read the baselines and the gain."""
    share = summary["labels_contradicted"] / summary["labels_labelled"]
    yield (
        f"{summary['labels_labelled']:,} labels; annotators contradict one another in "
        f"{summary['labels_contradicted']:,} of them ({share:.2%})"
    )
    yield (
        "asymmetric: ParRoT without connects and next to, which repair under paper makes true "
        "wherever it can"
    )
    yield "by relation: baseline that answers with the majority label of each relation"
    yield (
        "by shift: gain of a lower threshold that makes as many statements true as repair does; "
        "above it: what consistency adds"
    )


def answered_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """How many beliefs there are, and how many are missing, in sentences."""
    yield (
        f"{_percent(summary['true_share'])} judged true, {summary['ties']:,} at exactly one half "
        f"(taken as false), {summary['missing']:,} without a belief"
    )
    if summary["missing_statements"]:
        left_out = sum(
            row["missing"]
            for row in summary["accuracy"]
            if (row["set"], row["gold"], row["world"]) == ("ParRoT", "all", "before")
        )
        yield (
            f"{several(summary['missing_statements'], 'statement is', 'statements are')} "
            f"without a belief, {left_out:,} of "
            "them labelled and left out of accuracy"
        )
    undecided = _undecided(summary)
    if undecided:
        yield (
            f"Undecided constraints before repair: {undecided:,}; a statement has no belief, and "
            "violation rates leave them out"
        )
    if summary["filled"]:
        yield (
            f"{several(summary['filled'], 'missing belief was', 'missing beliefs were')} "
            "filled in, as the preset says"
        )
    if summary.get("spanned"):
        yield (
            f"{several(summary['spanned'], 'answer shares', 'answers share')} a token with "
            "their text, scored with it"
        )


def _undecided(summary: Mapping[str, Any]) -> int:
    """How many constraints on the raw beliefs are undecided."""
    return sum(
        row["undecided"]
        for row in summary["violation"]
        if (row["constraint"], row["world"]) == ("micro", "before")
    )


def _share(row: Mapping[str, Any]) -> str:
    """An accuracy in per cent, and its interval on a line below when there is one."""
    return "\n".join([_percent(row["accuracy"]), *_interval(row, ".1f")])


def _gain(row: Mapping[str, Any]) -> str:
    """A gain in percentage points, and its interval on a line below when there is one."""
    gain = "undefined" if row["gain"] is None else f"{100 * row['gain']:+.2f}"
    return "\n".join([gain, *_interval(row, "+.1f")])


def _violation(row: Mapping[str, Any]) -> str:
    """A rate, below it violated/decided, and the interval where it stands for all types."""
    counts = []
    if row["violated"] is not None:
        counts = [f"{row['violated']:,}/{row['applicable'] - row['undecided']:,}"]
    interval = _interval(row, ".1f") if row["constraint"] in {"macro", "micro"} else []
    return "\n".join([_percent(row["rate"]), *counts, *interval])


def _interval(row: Mapping[str, Any], places: str) -> list[str]:
    """Both ends in per cent; nothing where there is no interval."""
    if row["low"] is None or row["high"] is None:
        return []
    return [f"{100 * row['low']:{places}} to {100 * row['high']:{places}}"]


def _count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{share:.2%}"


def echo_comparison(together: pl.DataFrame) -> None:
    """Prints how models differ: each figure of two models, and the difference in points."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="Differences between models, in points", title_justify="left", box=box.SIMPLE_HEAD
    )
    table.add_column("")
    for heading in ("first", "second", "second - first"):
        table.add_column(heading, justify="right")
    pairs = together.select("first", "second").unique(maintain_order=True)
    for first, second in pairs.iter_rows():
        table.add_section()
        table.add_row(Text(f"{first} | {second}"))
        rows = together.filter((together["first"] == first) & (together["second"] == second))
        for row in rows.iter_rows(named=True):
            gain = _gain({**row, "gain": row["difference"]})
            values = (_percent(row["first_value"]), _percent(row["second_value"]))
            table.add_row(f"  {row['figure']}", *values, gain)
            undecided = (row["first_undecided"], row["second_undecided"])
            if any(undecided):
                table.add_row("    undecided, left out", *map(_count, undecided), "")
    terminal.console().print(table)
