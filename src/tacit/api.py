"""The Python API: functions that run a probe, compare models, or check and repair beliefs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import polars as pl

from tacit.coherence import TIME_LIMIT, Objective, OnDuplicate
from tacit.documents import similar
from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.errors import RequestError
from tacit.models.base import LanguageModel
from tacit.models.objects import EXPECTED, is_object, model_of
from tacit.models.options import LoadOptions, ModelOptions
from tacit.options import build as built
from tacit.options import names_of, python_names, spelled_in_python
from tacit.probes import registry
from tacit.probes.base import Probe
from tacit.runs.comparison import check_comparable
from tacit.runs.reading import all_runs, read_run
from tacit.runs.reporter import Reporter
from tacit.runs.run import Run, Runs, named
from tacit.runs.suite.file import Suite
from tacit.runs.suite.running import SuiteRuns, run_suite
from tacit.runs.workflow import RunRequest
from tacit.tables import frame_of, table_path

if TYPE_CHECKING:
    from tacit.coherence.beliefs import Beliefs
    from tacit.coherence.check import Check
    from tacit.coherence.ontology import Ontology
    from tacit.coherence.repair import Repaired
    from tacit.runs.gate.gate import Gate

Model: TypeAlias = "str | Path | LanguageModel | tuple[Any, Any]"
OwnBeliefs: TypeAlias = (
    "pl.DataFrame | Iterable[Mapping[str, Any] | tuple[Any, ...]] | str | Path | Any"
)
Relations: TypeAlias = "str | Path | Ontology | Mapping[str, Mapping[str, Any]]"


@overload
def run(probe: str | type[Probe], *, model: Model, **options: Any) -> Run: ...  # noqa: ANN401


@overload
def run(probe: str | type[Probe], *, model: list[Model], **options: Any) -> Runs: ...  # noqa: ANN401


@overload
def run(probe: str | type[Probe], *, beliefs: str | Path | Any, **options: Any) -> Run: ...  # noqa: ANN401


def run(  # noqa: PLR0913 - all of a run in one call
    probe: str | type[Probe],
    *,
    model: Model | list[Model] | None = None,
    beliefs: str | Path | Any | None = None,
    out: str | Path | None = None,
    report: bool = True,
    store: str | Path | Store | None = None,
    progress: bool = True,
    **options: Any,
) -> Run | Runs:
    """Run a probe on one or several models, or on beliefs from a file.

    This function is equivalent to ``tacit run``: answers are cached, and an interrupted run
    resumes.

    Args:
        probe: A probe class, or the name of a probe: ``parts``, ``consistency``, ``assumptions``,
            or the name of a probe that another package registers.
        model: The name of a model on the Hugging Face hub, the folder of a model, a GGUF file,
            ``demo`` (the included demo model), the address of a server, a ``LanguageModel``, or a
            pair of a transformers model and its tokenizer, which is saved in a temporary folder.
            To run several models, pass a list of them.
        beliefs: A file or data frame of beliefs to use in place of a model. Of the probes that
            Tacit includes, only ``parts`` accepts beliefs.
        out: The folder of the run or, for several models, of all runs; None to write nothing.
        report: Whether to write a report (``report.html``) to ``out``.
        store: The score store: a folder, an address or a ``Store``; by default the folder in
            ``$TACIT_STORE``, or ``.tacit`` if the variable is not set.
        progress: Whether to show progress on standard error.
        options: Options of the probe (such as ``drawings=``), and of models, servers and clusters
            (such as ``device=``), with the names of the command-line options. An option that names
            a table also accepts a polars or pandas data frame.

    Returns:
        The finished run; for a list of models, a mapping from each model's name to its run.

    Raises:
        RequestError: If an option is unknown, missing, or in conflict with another option, or if
            ``out`` contains a run with different options, models or data.
        DataError: If a file is missing or malformed.
        ModelError: If a model cannot be loaded.
        ScoringError: If a model failed during scoring.

    Examples:
        >>> import tacit
        >>> found = tacit.run("parts", model="demo", limit=1, drawings=tacit.demo_data("drawings"))
        >>> found.probe, sorted(found.tables)[0]
        ('parts', 'accuracy')
    """
    if not isinstance(probe, str):
        registry.register(probe)
    kind = registry.probe(probe if isinstance(probe, str) else probe.name)
    kinds = (kind.Options, ModelOptions, EngineOptions)
    _check_names(kind.name, options, kinds)
    if frame_of(model) is not None:
        raise RequestError("model is a data frame; expected a model's name, or a sequence of names")
    is_one = isinstance(model, str | Path) or is_object(model)
    is_list = isinstance(model, Sequence) and not is_one
    given: Any = () if model is None else model if is_list else [model]
    with spelled_in_python(*kinds):
        settings = built(ModelOptions, options)
        names, objects = _models(given, settings)
        request = RunRequest(
            kind.name,
            built(kind.Options, options),
            names,
            None if beliefs is None else table_path(beliefs),
            None if out is None else Path(out),
            settings,
            built(EngineOptions, options),
            _store(store),
            _reporter(show=progress),
            objects=objects,
        )
        runs = request.run()
        request.publish(runs, report=report)
    return runs if is_list else runs.runs[0]


def _models(
    given: Iterable[Model], settings: ModelOptions
) -> tuple[tuple[str, ...], dict[str, LanguageModel]]:
    """Return the names of models, and those that were given as objects by name."""
    names: list[str] = []
    objects: dict[str, LanguageModel] = {}
    for one in given:
        if isinstance(one, str | Path):
            names.append(str(one))
        elif is_object(one):
            model = model_of(one, settings.load)
            objects[model.name] = model
            names.append(model.name)
        else:
            raise RequestError(
                f"model is an object of type {type(one).__name__}; expected {EXPECTED}"
            )
    return tuple(names), objects


@spelled_in_python(ModelOptions, EngineOptions)
def suite(  # noqa: PLR0913 - all of a suite in one call
    file: str | Path,
    *,
    out: str | Path | None = None,
    given: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    fail_fast: bool = False,
    report: bool = True,
    store: str | Path | Store | None = None,
    progress: bool = True,
    **engine: Any,  # noqa: ANN401 - as in EngineOptions
) -> SuiteRuns:
    """Run several probes on several models, and write one report.

    This function is equivalent to ``tacit suite``: each model is loaded once, only one is in memory
    at a time, and an interrupted suite resumes.

    Args:
        file: The suite's YAML file, or the name of a suite that Tacit ships (``papers``).
        out: The folder for all runs, in place of the folder that the file names.
        given: Options of all models and runs that have them, such as ``{"limit": 10}``, in place of
            those in the file.
        only: The names of the suite's runs to include; if empty, all runs are included.
        fail_fast: Whether to stop at the first run that fails.
        report: Whether to write a report (``report.html``) to the suite's folder.
        store: The score store, as in ``run``.
        progress: Whether to show progress on standard error.
        engine: Options of the scoring engine, such as ``workers``.

    Returns:
        A mapping from the name of each run in the file to its runs by model. The attribute
        ``failed`` has the error message of each failed run.

    Raises:
        RequestError: If neither ``out`` nor the suite file names a folder, or if an option is
            invalid.
        DataError: If the suite file or a data file is missing or malformed.

    Examples:
        >>> import json, tempfile, tacit
        >>> from pathlib import Path
        >>> file = Path(tempfile.mkdtemp()) / "suite.yaml"
        >>> parts = {"probe": "parts", "drawings": str(tacit.demo_data("drawings")), "limit": 1}
        >>> content = {"out": "runs", "models": ["demo", "demo-masked"], "runs": [parts]}
        >>> _ = file.write_text(json.dumps(content))
        >>> runs = tacit.suite(file, progress=False)
        >>> list(runs), list(runs["parts"])
        (['parts'], ['demo', 'demo-masked'])
    """
    _check_names("suite", engine, (EngineOptions,))
    planned = Suite(
        file,
        given or {},
        only,
        None if out is None else Path(out),
        built(EngineOptions, engine),
        _store(store),
        _reporter(show=progress),
    )
    return run_suite(planned, fail_fast=fail_fast, report=report)


@spelled_in_python()
def compare(*runs: Run | str | Path, force: bool = False) -> Runs:
    """Compare the results of models that ran the same probe on the same data.

    Args:
        runs: Finished runs, or their folders.
        force: Whether to compare the runs even if their data, options or versions of Tacit differ.

    Returns:
        A mapping from the models' names to their runs, with the paired differences in
        ``comparison``.

    Raises:
        RequestError: If there are fewer than two runs, or they differ in more than the model.
        DataError: If a run is unfinished or damaged.

    Examples:
        >>> import tacit
        >>> drawings = tacit.demo_data("drawings")
        >>> asked = {"drawings": drawings, "limit": 1, "progress": False}
        >>> one = tacit.run("parts", model="demo", **asked)
        >>> two = tacit.run("parts", model="demo-masked", **asked)
        >>> "difference" in tacit.compare(one, two).comparison.columns
        True
    """
    if len(runs) == 1 and isinstance(runs[0], Mapping | Sequence) and not isinstance(runs[0], str):
        given: Any = runs[0]
        runs = tuple(given.values() if isinstance(given, Mapping) else given)
    finished = named(all_runs(runs))
    probes = sorted({one.probe for one in finished})
    if len(probes) > 1:
        raise RequestError(
            f"these runs are of several probes ({', '.join(probes)}); give runs of one probe"
        )
    check_comparable(finished, force=force)
    return Runs(finished)


@spelled_in_python()
def gate(
    base: Run | str | Path,
    *new: Run | str | Path,
    policy: Mapping[str, Any] | str | Path,
    force: bool = False,
) -> Gate:
    """Check whether changed models are still within the limits of a policy.

    This function is equivalent to ``tacit compare BASE NEW --gate``.

    Args:
        base: The run of the base model, or its folder.
        new: The runs of the changed models, or their folders. The confidence is corrected for their
            number (by Bonferroni's method).
        policy: The limit of each measure, as a mapping or as a YAML file. Names of measures are
            those in ``metrics.json``, or some words of a name that only one measure has.
        force: Whether to compare the runs even if their data, options or versions of Tacit differ.

    Returns:
        The verdict, the decision on each measure, and the answers and violations that differ.

    Raises:
        RequestError: If the policy is invalid, if it names a measure that the runs do not have, or
            if the runs differ in more than the model.
        DataError: If the policy is not readable, or if a run is unfinished or damaged.

    Examples:
        >>> import tacit
        >>> asked = {"drawings": tacit.demo_data("drawings"), "limit": 1, "progress": False}
        >>> one = tacit.run("parts", model="demo", **asked)
        >>> two = tacit.run("parts", model="demo-masked", **asked)
        >>> policy = {"flipped": {"above": 0.5}, "violation_rate": {"rises_by": 1.0}}
        >>> tacit.gate(one, two, policy=policy).verdict
        'inconclusive'
    """
    from tacit.runs.gate.gate import gate_of
    from tacit.runs.gate.policy import Policy

    return gate_of([base], new, Policy.of(policy), force=force)[0]


@spelled_in_python(ModelOptions)
def load_model(
    name: str | Path, options: LoadOptions | None = None, *, called: str | None = None
) -> LanguageModel:
    """Load a model from a folder or the Hugging Face hub, or connect to one on a server.

    Args:
        name: A model folder, a GGUF file, a model's name on the hub, ``demo`` or ``demo-masked``, a
            server's address, or a plug-in back-end and its model, such as ``mlx:phi-3``.
        options: The options for loading the model, such as revision, number format and device.
        called: The model's name in messages and manifests; by default, ``name``.

    Raises:
        ModelError: If the model does not exist, has no weights or incomplete weights, or is of an
            unsupported kind, or if an option is invalid.
        MissingPackage: If a package extra is not installed: ``server`` for a model on a server, or
            ``local`` for a local model.
        NetworkError: If the hub or the server cannot be reached.
        ScoringError: If a server fails at every attempt, or a model file changes while it is read.

    Examples:
        >>> import tacit
        >>> model = tacit.load_model("demo")
        >>> (scores,) = model.answer([tacit.Prompt("Is a bear an animal?", ("Yes", "No"))])
        >>> scores["Yes"].logprob < 0
        True
    """
    from tacit.models.loading import load_model as load

    return load(str(name), options, called=called)


@spelled_in_python()
def load_run(folder: str | Path, *, probe: type[Probe] | str | Path | None = None) -> Run:
    """Read a finished run.

    Args:
        folder: The folder of the run.
        probe: The class of the run's probe, or the Python file that defines it, if the probe is
            neither one of Tacit's nor one of an installed package. It is registered in this
            process.

    Raises:
        RequestError: If the folder contains no run, or it contains more than one run; or if
            ``probe`` is not a complete probe.
        DataError: If the run is unfinished or damaged.

    Examples:
        >>> import tempfile, tacit
        >>> out = tempfile.mkdtemp() + "/run"
        >>> drawings = tacit.demo_data("drawings")
        >>> asked = {"drawings": drawings, "limit": 1, "progress": False}
        >>> run = tacit.run("parts", model="demo", out=out, **asked)
        >>> tacit.load_run(out).name == run.name
        True
    """
    if isinstance(probe, str | Path):
        registry.load_file(Path(probe))
    elif probe is not None:
        registry.register(probe)
    return read_run(Path(folder))


@spelled_in_python()
def build_kb(dump: str | Path | Any, out: str | Path) -> Path:  # noqa: ANN401 - any data frame
    """Build a knowledge base, as ``tacit kb import`` does.

    Args:
        dump: The path of ConceptNet's assertions file or of a file of triples, or a data frame of
            triples.
        out: The path of the knowledge base to write.

    Returns:
        The path of the knowledge base that was built.

    Raises:
        DataError: If the ConceptNet file or the file of triples is missing or malformed.
        RequestError: If ``out`` cannot be written.

    Examples:
        >>> import tempfile, tacit
        >>> out = tempfile.mkdtemp() + "/demo.kb"
        >>> tacit.build_kb(tacit.demo_data("facts"), out).name
        'demo.kb'
    """
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.sources.dumps import Dump

    build(KnowledgeSource([Dump(table_path(dump))]), Path(out))
    return Path(out)


@spelled_in_python()
def check(  # noqa: PLR0913 - all of a check in one call
    beliefs: OwnBeliefs,
    ontology: Relations = "parts",
    believed: str = "p_true",
    *,
    groups: Sequence[str] | None = None,
    on_duplicate: OnDuplicate = "error",
    revision_cost: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> Check:
    """Count how often a set of beliefs violates the constraints of an ontology.

    Args:
        beliefs: A polars or pandas data frame, an iterable of mappings (one per row), a file, or an
            iterable of tuples. The required columns are ``subject``, ``relation`` and
            ``object``; ``p_true`` is 1 if there is no such column. Other columns, such as
            ``thing`` or ``model``, identify the group to which a belief belongs. A tuple has the
            subject, relation and object of a statement, and its ``p_true``, which is 1 if the tuple
            has no fourth value. There may be no beliefs at all.
        ontology: The name of a built-in ontology (``parts``, ``taxonomy``, ``time`` or ``space``),
            the path of a YAML file, an ``Ontology``, or a mapping from the names of relations to
            their properties, such as ``{"manages": {"asymmetric": True}}``.
        believed: The column that determines which statements are believed. If the column is
            ``p_true``, statements with a value above one half are believed. If the column is not
            ``p_true``, the column must be Boolean.
        groups: The columns that identify a group; by default, all columns that are named
            ``thing``, ``annotator``, ``person``, ``document``, ``model`` or ``group``.
        on_duplicate: What to do with several values of ``p_true`` for one statement: ``error``,
            ``mean`` or ``first``.
        revision_cost: Whether to compute the smallest number of beliefs that must change.
        time_limit: The time after which the search for this number ends, in seconds; None for no
            limit.

    Warns:
        UserWarning: If the beliefs have no column ``p_true``, or a column that Tacit only copies to
            the results, or if nearly every row is in a group of its own.

    Raises:
        DataError: If the beliefs are malformed, or several values of ``p_true`` are an error.
        RequestError: If the name of a column or the value of an option is invalid.

    Examples:
        >>> import tacit
        >>> row = {"relation": "part of", "p_true": 0.9}
        >>> beliefs = [
        ...     {"subject": "leaf", "object": "tree", **row},
        ...     {"subject": "tree", "object": "leaf", **row},
        ... ]
        >>> tacit.check(beliefs).to_json()["asymmetric"]["violated"]
        1
        >>> memory = [("Anna", "lives in", "Berlin", 0.95), ("Anna", "lives in", "Paris", 0.8)]
        >>> checked = tacit.check(memory, {"lives in": {"functional": True}})
        >>> checked.sentences[0].partition(": ")[2]
        'drop "Anna lives in Paris" (cost 1.39)'
    """
    from tacit.coherence.check import check as count

    held = _beliefs(beliefs, ontology, on_duplicate, groups)
    truth = held.believed(believed)
    return count(held, truth, revision_cost=revision_cost, time_limit=time_limit)


@spelled_in_python()
def repair(
    beliefs: OwnBeliefs,
    ontology: Relations = "parts",
    objective: Objective | None = None,
    *,
    groups: Sequence[str] | None = None,
    on_duplicate: OnDuplicate = "error",
    time_limit: float | None = TIME_LIMIT,
) -> Repaired:
    """Find the truth values that maximise an objective and satisfy every constraint.

    Args:
        beliefs: The same as the argument ``beliefs`` of ``check``.
        ontology: The same as the argument ``ontology`` of ``check``.
        objective: The objective to maximise: ``paper``, ``log-odds`` or ``margin``; by default,
            ``paper`` with the ontology ``parts``, and ``log-odds`` with any other. The objective
            ``paper``, that of ParRoT (Gu et al. 2023), assigns even an improbable statement true
            unless a constraint forbids it: prefer ``log-odds``, unless you reproduce the paper.
        groups: The same as the argument ``groups`` of ``check``.
        on_duplicate: The same as the argument ``on_duplicate`` of ``check``.
        time_limit: The time after which the search ends, in seconds; None for no limit.

    Warns:
        UserWarning: Under the same conditions as for ``check``.

    Raises:
        DataError: Under the same conditions as for ``check``.
        RequestError: If an option is invalid.

    Examples:
        >>> import tacit
        >>> beliefs = [
        ...     {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9},
        ...     {"subject": "tree", "relation": "part of", "object": "leaf", "p_true": 0.6},
        ... ]
        >>> tacit.repair(beliefs).beliefs["repaired"].to_list()
        [True, False]
    """
    from tacit.coherence.repair import repair as find

    return find(_beliefs(beliefs, ontology, on_duplicate, groups), objective, time_limit)


def _check_names(probe: str, given: Mapping[str, Any], kinds: Sequence[type]) -> None:
    """Raise an error if an option has an unknown name."""
    known = [name for kind in kinds for name in names_of(kind)]
    for name in given:
        if name not in known:
            hint = similar(name, known) or f"; expected one of {', '.join(known)}"
            raise RequestError(f"{probe} has no option {name!r}{hint}")


def _store(given: str | Path | Store | None) -> Store | None:
    return Store(given) if isinstance(given, str | Path) else given


def _reporter(*, show: bool) -> Reporter:
    from tacit.present.progress import Progress

    return Progress() if show else Reporter()


def _beliefs(
    given: OwnBeliefs,
    ontology: Relations,
    on_duplicate: OnDuplicate,
    groups: Sequence[str] | None,
) -> Beliefs:
    """Return validated beliefs; issue each remark about their groups as a Python warning."""
    from tacit.coherence.beliefs import read_beliefs
    from tacit.coherence.ontology import Ontology

    if isinstance(ontology, Mapping):
        known = Ontology.of({"name": "own", "relations": ontology})
    else:
        known = ontology if isinstance(ontology, Ontology) else Ontology.load(str(ontology))
    table = given if isinstance(given, str | Path) else _table(given)
    beliefs = read_beliefs(table, known, on_duplicate, groups)
    for remark in beliefs.remarks():
        text = python_names(remark.removeprefix("warning: "))
        warnings.warn(text, UserWarning, stacklevel=4)
    return beliefs


_TABLES = (
    "expected a polars or pandas frame, a list of tuples (such as ('leaf', 'part of', 'tree', "
    "0.9)) or of mappings (such as {'subject': 'leaf', 'relation': 'part of', 'object': 'tree', "
    "'p_true': 0.9}), or a file"
)
_COLUMNS = ("subject", "relation", "object", "p_true")


def _table(given: Any) -> pl.DataFrame:  # noqa: ANN401 - any kind of table
    frame = frame_of(given)
    if frame is not None and frame.columns:
        return frame
    try:
        rows = [_row(number, row) for number, row in enumerate(given)]
    except TypeError as error:
        raise RequestError(f"the beliefs are {type(given).__name__}; {_TABLES}") from error
    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String))
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        reason, _, _advice = str(error).partition("\n")[0].partition(";")
        raise RequestError(f"the beliefs are not a table: {reason}; {_TABLES}") from error


def _row(number: int, row: Mapping[str, Any] | tuple[Any, ...]) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if isinstance(row, tuple | list) and len(row) in (len(_COLUMNS) - 1, len(_COLUMNS)):
        return dict(zip(_COLUMNS, (*row, 1.0), strict=False))
    kind = type(row).__name__
    size = f" with {len(row)} values" if isinstance(row, tuple | list) else ""
    raise RequestError(f"row {number} of the beliefs is of type {kind}{size}; {_TABLES}")
