"""``tacit reproduce``: a paper's tables beside one's own figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.declared import declared
from tacit.cli.group import group
from tacit.engine.options import EngineOptions
from tacit.english import several
from tacit.errors import RequestError
from tacit.models.settings import ModelSettings
from tacit.present import terminal
from tacit.present.reporter import Terminal
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.parts.options import PartsOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl

    from tacit.outputs import Kind

app = group("Set a paper's tables beside your own figures: ours, published, difference.")


@app.command("parrot")
@declared()
def parrot(
    *,
    options: PartsOptions,
    model: given.OneModel = None,
    beliefs: given.BeliefsFile = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write the tables here: TSV, CSV, JSONL or Parquet.")
    ] = None,
    settings: ModelSettings,
    engine: EngineOptions,
    store: given.StorePath = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Tables 1 and 5 of the ParRoT paper; with a model or beliefs also the figures of its models.

    These are Tables 3, 4, 6 and 7, the counts behind Figure 3, and the drawings changed by repair.

    Example: tacit reproduce parrot --drawings drawings --model gpt2
    """
    import polars as pl

    from tacit.cli.obtained import obtained_told
    from tacit.engine.store import Store
    from tacit.options import digests
    from tacit.outputs import check_outputs
    from tacit.probes.parts.probe import PartsProbe
    from tacit.probes.parts.published import data_tables, model_tables
    from tacit.probes.parts.words import judged, missing
    from tacit.runs.workflow import RunRequest
    from tacit.sources.drawings import read_things

    if model is not None and beliefs is not None:
        raise RequestError("give --model or --beliefs, not both")
    if out is not None:
        read = [*map(Path, digests(options)), *([beliefs] if beliefs else [])]
        check_outputs(read, [(out, _comparison())], force=force)
    drawings = options.drawings
    seed = read_things(drawings) if (drawings / "things.tsv").is_file() else None
    tables, notes = [data_tables(PartsProbe.of(options), seed)], []
    if model is not None or beliefs is not None:
        request = RunRequest(
            "parts",
            options,
            () if model is None else (model,),
            beliefs,
            settings=settings,
            engine=engine,
            store=Store(store) if store else None,
            reporter=Terminal(),
        )
        (run,) = request.run().values()
        tables.append(model_tables(run.findings))
        notes = [*obtained_told(run.summary, listed=False), judged(run.summary)]
        notes += missing(run.summary)
    _tell(pl.concat(tables), out, _echo, notes, as_json=as_json)


@app.command("consistency")
@declared()
def consistency(*, options: ConsistencyOptions, as_json: given.AsJson = False) -> None:
    """What the conceptual consistency paper prints as numbers; its results are only drawn.

    Example: tacit reproduce consistency --questions dev.jsonl --kb conceptnet.kb
    """
    from tacit.knowledge.base import KnowledgeBase
    from tacit.probes.consistency.probe import ConsistencyProbe
    from tacit.probes.consistency.published import method_table

    with KnowledgeBase(options.kb) as base:
        relations = dict(base.relations)
    table = method_table(ConsistencyProbe.of(options), relations)
    _tell(table, None, _echo_counts, [], as_json=as_json)


@app.command("sta")
def sta(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run of assumptions.")],
    as_model: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="MODEL",
            help="Compare with this model of the paper: bert-base, bert-large, roberta-base or "
            "roberta-large. Without it, all four stand beside yours.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write the table here: TSV, CSV, JSONL or Parquet.")
    ] = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """What the tacit assumptions paper prints, beside a run of the assumptions probe.

    Example: tacit reproduce sta runs/roberta --as roberta-large
    """
    from tacit.cli.obtained import obtained_told
    from tacit.outputs import check_outputs
    from tacit.probes.assumptions.published import published_table
    from tacit.probes.assumptions.sentences import ranked_told

    if out is not None:
        check_outputs([run / "manifest.json"], [(out, _comparison())], force=force)
    tables, model, summary = _assumptions_run(run, as_model)
    told = [*obtained_told(summary), *ranked_told(summary)]
    table = published_table(tables, model, summary)
    _tell(table, out, _echo_printed, told, as_json=as_json)


def _assumptions_run(
    folder: Path, model: str | None
) -> tuple[dict[str, pl.DataFrame], str | None, dict[str, Any]]:
    """A run's findings that the paper's figures stand beside, the model, and the run's summary.

    Raises:
        RequestError: The folder holds no finished run of this probe.
    """
    from tacit.probes.assumptions.published import TABLES
    from tacit.runs.folder import read_findings, read_manifest

    several = sorted(each.parent.name for each in folder.glob("*/run.yaml"))
    if several and not (folder / "run.yaml").exists():
        raise RequestError(f"{folder} holds several runs; give one of them: {', '.join(several)}")
    probe = _probe_of(folder)
    if probe not in {None, "assumptions"}:
        raise RequestError(
            f"{folder} holds a run of the probe {probe}; this takes one of tacit run assumptions"
        )
    names = [name for name in TABLES if (folder / "findings" / f"{name}.parquet").is_file()]
    tables = read_findings(folder, names)
    return tables, model, read_manifest(folder)["summary"]


def _probe_of(folder: Path) -> str | None:
    """The probe that a run's request names; None where there is none to be read."""
    import yaml

    try:
        request = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    return str(request.get("probe")) if isinstance(request, dict) else None


def _comparison() -> Kind:
    """The kind of the tables that ``--out`` names."""
    from tacit.outputs import table_with

    return table_with("a table beside published figures", "ours", "published", "difference")


def _tell(
    table: pl.DataFrame,
    out: Path | None,
    show: Callable[[pl.DataFrame], None],
    told: Iterable[str],
    *,
    as_json: bool,
) -> None:
    """Writes a table where that is asked for, and prints it: for programs, or as people read it.

    Below it people read what is told of it.
    """
    from tacit.tables import write_table

    if out is not None:
        write_table(table, out)
    if as_json:
        typer.echo(json.dumps(table.to_dicts()))
        return
    show(table)
    for line in told:
        typer.echo(line)
    if out is not None:
        typer.echo(f"Written: {out}")


def _echo_counts(table: pl.DataFrame) -> None:
    """Prints what the conceptual consistency paper counts."""
    typer.echo(f"{'':<50}{'ours':>8}{'published':>12}{'difference':>12}")
    for row in table.iter_rows(named=True):
        label = f"{row['row']} ({row['table']})"
        cells = f"{row['ours']:>8,}{row['published']:>12,}{row['difference']:>+12,}"
        typer.echo(f"{label:<50}{cells}")


def _echo_printed(table: pl.DataFrame) -> None:
    """Prints each table of the assumptions paper, and then what its text states."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = terminal.console()
    for (name,), cells in table.group_by("table", maintain_order=True):
        title = "In the text" if name == "text" else f"Table {name}"
        shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        shown.add_column("", overflow="fold")
        shown.add_column("", overflow="fold")
        ranked = not cells["candidates"].is_null().all()
        for heading in ("ours", *["chance"] * ranked, "published", "difference"):
            shown.add_column(heading, justify="right", no_wrap=True)
        for row in cells.iter_rows(named=True):
            among = [_among(row)] * ranked
            span = row["low"] is not None and f"{_figure(row['low'])} to {_figure(row['high'])}"
            printed = span or _figure(row["published"])
            difference = "" if row["difference"] is None else _figure(row["difference"], sign="+")
            ours = "missing" if row["ours"] is None else _figure(row["ours"])
            shown.add_row(Text(row["row"]), Text(row["column"]), ours, *among, printed, difference)
        console.print(shown)
        for line in _noted(cells):
            console.print(line, markup=False)


def _among(row: Mapping[str, Any]) -> str:
    """What random ranks give and among how many words; nothing for what is not made of ranks."""
    chance = "" if row["chance"] is None else f"{_figure(row['chance'])} "
    return "" if row["candidates"] is None else f"{chance}of {row['candidates']:,}"


def _noted(cells: pl.DataFrame) -> Iterator[str]:
    """Each note of a table's rows, with the rows that it is of."""
    import polars as pl

    for (note, left_out), rows in cells.drop_nulls("note").group_by(
        "note", pl.col("difference").is_null(), maintain_order=True
    ):
        figures = pl.when(table="2").then("column").otherwise("row")
        of = ", ".join(rows.select(figures).to_series().unique(maintain_order=True))
        yield f"{'No difference' if left_out else 'Note'} ({of}): {note}"


def _figure(value: float, *, sign: str = "") -> str:
    """A count as a whole number, any other figure with three decimals."""
    return f"{value:{sign},.0f}" if value == int(value) else f"{value:{sign},.3f}"


def _echo(table: pl.DataFrame) -> None:
    """Prints each table; of Table 5 only the things that differ, and how many do not."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = terminal.console()
    for (number, model), cells in table.group_by("table", "model", maintain_order=True):
        beside = "" if model is None else f", beside {model}"
        name = f"Table {number}" if number.isdecimal() else number
        shown = Table(title=f"{name}{beside}", title_justify="left", box=box.SIMPLE_HEAD)
        shown.add_column("")
        for heading in ("ours", "published", "difference"):
            shown.add_column(heading, justify="right")
        for row in cells.iter_rows(named=True):
            if number != "5" or row["difference"]:
                values = (_number(row[name]) for name in ("ours", "published", "difference"))
                shown.add_row(Text(f"{row['row']}, {row['column']}"), *values)
        if shown.row_count:
            console.print(shown)
        if number == "5":
            equal = int((cells["difference"] == 0).sum())
            console.print(
                f"Table 5: {equal} of {several(cells.height, 'thing has', 'things have')} the "
                "published count\n"
            )


def _number(value: float | None) -> str:
    if value is None:
        return "missing"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
