"""``tacit reproduce``: compare results with the tables of a paper."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options as given
from tacit.cli.options import GroupedCommand, declared, group
from tacit.engine.options import EngineOptions
from tacit.errors import RequestError
from tacit.models.options import ModelOptions
from tacit.present.progress import Terminal
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.parts.options import PartsOptions

if TYPE_CHECKING:
    import polars as pl

    from tacit.outputs import OutputKind

Out = Annotated[
    Path | None,
    typer.Option(
        help="File for the comparison of Tacit's results with the published ones: TSV, CSV, JSONL "
        "or Parquet."
    ),
]

app = group("Compare your results with the tables of a paper.")


@app.command("parrot", cls=GroupedCommand)
@declared(without=("ontology",))
def parrot(
    *,
    options: PartsOptions,
    model: given.OneModel = None,
    beliefs: given.BeliefsFile = None,
    out: Out = None,
    settings: ModelOptions,
    engine: EngineOptions,
    store: given.StorePath = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Compare the parts probe's results with Gu et al. 2023 (ParRoT).

    The command compares counts from the annotators' drawings with Tables 1 and 5 of Gu et al. 2023.
    If a model or a file of beliefs is given, the command also compares the probe's results with
    Tables 3, 4, 6 and 7, Figure 3 and Section 6.3 of Gu et al. 2023. In Section 6.3, Gu et al. 2023
    report the percentages of drawings for which repair increases, decreases or does not change the
    accuracy of the beliefs.

    Example: tacit reproduce parrot --drawings drawings --model gpt2
    """
    import polars as pl

    from tacit.engine.store import Store
    from tacit.options import digests
    from tacit.outputs import check_outputs
    from tacit.probes.parts.probe import PartsProbe
    from tacit.probes.parts.published import data_tables, model_tables
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
        notes = [f"Ours: {run.name}.", *run.notes, *(run.block.lines if run.block else ())]
    if options.limit is not None or options.things is not None:
        notes.append(
            "Only some of the drawings are used (--limit, --things), so differences from the "
            "published values of all 300 drawings are not meaningful."
        )
        typer.echo(f"tacit: {notes[-1]}", err=True)
    _output_table(pl.concat(tables), out, notes, as_json=as_json)


@app.command("consistency", cls=GroupedCommand)
@declared(without=("answering", "meta", "pair", "anchors"))
def consistency(*, options: ConsistencyOptions, as_json: given.AsJson = False) -> None:
    """Compare the consistency probe's set-up with Sahu et al. 2022.

    The command compares counts, such as Tacit's numbers of prompt templates, relations and choices
    per question, with the counts in Sahu et al. 2022. Sahu et al. 2022 report none of their results
    as a number, so the command does not compare results.

    Example: tacit reproduce consistency --questions dev.jsonl --kb conceptnet.kb
    """
    from tacit.knowledge.base import KnowledgeBase
    from tacit.probes.consistency.probe import ConsistencyProbe
    from tacit.probes.consistency.published import method_table

    with KnowledgeBase(options.kb) as base:
        relations = dict(base.relations)
    table = method_table(ConsistencyProbe.of(options), relations)
    note = "The paper prints none of its results as a number: only the set-up is compared."
    _output_table(table, None, (note,), as_json=as_json)


@app.command("sta")
def sta(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run of the assumptions probe.")],
    as_model: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="MODEL",
            help=(
                "Published model with which to compare the run: bert-base, bert-large, "
                "roberta-base or roberta-large [default: all four]."
            ),
        ),
    ] = None,
    out: Out = None,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Compare a finished run of the assumptions probe with the tables of Weir et al. 2020.

    Example: tacit reproduce sta runs/roberta --as roberta-large
    """
    from tacit.outputs import check_outputs
    from tacit.probes.assumptions.published import published_table
    from tacit.runs.reading import read_run

    if out is not None:
        check_outputs([run / "manifest.json"], [(out, _comparison())], force=force)
    finished = read_run(run, "assumptions")
    table = published_table(finished.tables, as_model, finished.summary)
    _output_table(table, out, finished.notes, as_json=as_json)


def _comparison() -> OutputKind:
    from tacit.outputs import table_with

    return table_with("a table that tacit reproduce wrote", "ours", "published", "difference")


def _output_table(
    table: pl.DataFrame, out: Path | None, notes: Iterable[str] = (), *, as_json: bool
) -> None:
    from tacit.present.tables import print_published
    from tacit.tables import write_table

    if out is not None:
        write_table(table, out)
    if as_json:
        typer.echo(json.dumps(table.to_dicts()))
        return
    print_published(table)
    for line in notes:
        typer.echo(line)
    if out is not None:
        typer.echo(f"Written: {out}")
