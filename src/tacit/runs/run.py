"""A finished run, and the runs of several models with one probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tacit.documents import similar
from tacit.errors import RequestError
from tacit.files import legible, publish_text
from tacit.findings.block import Block, block_of
from tacit.findings.findings import Findings
from tacit.findings.numbers import number
from tacit.models.base import WHOLE
from tacit.options import spelled_in_python
from tacit.probes.base import declared_figures, declared_tables
from tacit.probes.registry import probe
from tacit.runs.metrics import metrics_of
from tacit.runs.notes import caution, next_tokens_of, notes
from tacit.strings import last_part
from tacit.tables import read_parquet

if TYPE_CHECKING:
    import polars as pl

    from tacit.charts.theme import Chart
    from tacit.engine.store import Store
    from tacit.findings.verdict import Verdict
    from tacit.probes.consistency.new_question import AnswerPrediction


_QUICK = ("fast", "limit")  # options by which a run asks less than the data
_FEW = 4  # next tokens in the block


class _NoTableError(RequestError, KeyError):
    __str__ = Exception.__str__  # KeyError quotes its message


class _Tables(dict[str, Any]):
    """A run's tables by name; an unknown name raises an error that lists the known names."""

    def __missing__(self, name: str) -> NoReturn:
        raise _NoTableError(
            f"the run has no table {name!r}{similar(str(name), list(self))}; expected one of "
            f"{', '.join(self)}"
        )


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run.

    Args:
        folder: The run's folder; None if the run was not written to a folder.
        name: The name of the model in the report, which is unique among the runs of each probe.
        request: The request for the run: its probe, model and options, as in ``run.yaml``.
        manifest: The content of the run's ``manifest.json``. The manifest describes the model, the
            data, the software versions and the machine of the run, and contains a summary of the
            results.
        tables: The tables of results, by name.

    Examples:
        >>> import tacit
        >>> drawings = tacit.demo_data("drawings")
        >>> run = tacit.run("parts", model="demo", drawings=drawings, limit=1, progress=False)
        >>> "accuracy" in run.tables
        True
    """

    folder: Path | None
    name: str
    request: Mapping[str, Any]
    manifest: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(compare=False)
    _questions: pl.DataFrame | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        return hash((self.folder, self.name, self.probe))

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", _Tables(self.tables))

    @property
    def probe(self) -> str:
        """The probe's name."""
        return str(self.request["probe"])

    @property
    def summary(self) -> Mapping[str, Any]:
        """The main numbers of the run, as a mapping from names to values."""
        summary: Mapping[str, Any] = self.manifest["summary"]
        return summary

    @property
    def quick(self) -> list[str]:
        """The options by which not everything is asked, such as ``--fast``."""
        return [f"--{name}" for name in _QUICK if self.request.get(name)]

    @cached_property
    def block(self) -> Block | None:
        """What a reader sees first: the verdict and the main figures; None if there is none."""
        kind, findings = probe(self.probe), self.findings
        block = kind.block(findings) or block_of(kind.headlines, findings, declared_tables(kind))
        if block is None:
            return None
        if quick := self.quick:
            asked = f"{block.asked} Not everything is asked ({', '.join(quick)})."
            block = replace(block, asked=asked)
        if warning := caution(self.summary):
            block = replace(block, control=" ".join(filter(None, (warning, block.control))))
        if block.verdict is None or block.verdict.shows_something:
            return block
        written = next(next_tokens_of(self.summary, _FEW), None)
        return replace(
            block,
            control=block.control or written,
            example=block.example or block.verdict.next_step,
        )

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the run; None if its probe makes none."""
        return self.block.verdict if self.block else None

    @property
    def metrics(self) -> dict[str, Any]:
        """The verdict and the main results as in ``metrics.json``, such as ``parts/accuracy``."""
        return metrics_of(probe(self.probe), self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the model, folder, block and summary of the run, as printed by ``--json``."""
        folder = None if self.folder is None else str(self.folder)
        block = self.block
        about = {"model": self.name, "out": folder, "block": list(block.lines) if block else []}
        return {**about, **self.summary}

    @property
    def model(self) -> Mapping[str, Any]:
        """The description of the model in the run's manifest."""
        model: Mapping[str, Any] = self.manifest.get("model", {})
        return model

    @property
    def data(self) -> Mapping[str, Any]:
        """The digest of each data file of the run, by file name."""
        digests: Mapping[str, Any] = self.manifest.get("data", {})
        return digests

    @property
    def elicitation(self) -> str:
        """The elicitation method."""
        return str(self.model.get("elicitation") or WHOLE)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the answers were obtained, and which of them are missing."""
        roads = self.model.get("roads", ())
        through = [f"Roads of elicitation: {', '.join(roads)}"] * bool(roads)
        about = notes(self.summary, listed=self.folder is not None)
        return (f"Elicitation: {self.elicitation}", *through, *about)

    @cached_property
    def questions(self) -> pl.DataFrame:
        """A table of the questions and answers, which is read at the first access."""
        if self._questions is not None:
            return self._questions
        if self.folder is None:
            raise RequestError("the run has no folder from which its questions could be read")
        return read_parquet(self.folder / "questions.parquet")

    @property
    def findings(self) -> Findings:
        """The questions, tables and summary of the run, as one object."""
        from tacit.findings.findings import Findings

        return Findings(self.questions, self.tables, self.summary)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that are available for the run's probe."""
        return tuple(declared_figures(probe(self.probe)))

    def figure(self, name: str, palette: str = "house") -> Chart:
        """Return a figure of the run as an Altair chart.

        Args:
            name: The name of the figure, which must be one of ``Run.figures``.
            palette: The colour palette: ``house`` or ``okabe-ito``. The palette ``okabe-ito`` is
                suitable for colour-blind readers.

        Raises:
            RequestError: If the figure or the palette is unknown, or if the findings lack data that
                the figure needs.
        """
        return Runs((self,)).figure(name, palette)

    def report(self, path: Path | str, *, force: bool = False) -> Path:
        """Write a report about the run as one HTML file, and return the path of the file.

        Args:
            path: The path of the file.
            force: Whether to overwrite a file that is not a report of Tacit's.

        Raises:
            RequestError: If the file exists, is not a report, and ``force`` is False.
            WorkError: If the file cannot be written.
        """
        return Runs((self,)).report(path, force=force)

    def predict(
        self,
        question: str,
        choices: Sequence[str],
        *,
        model: str | None = None,
        kb: str | Path | None = None,
        store: str | Path | Store | None = None,
        **settings: Any,  # noqa: ANN401 - options of models and servers
    ) -> AnswerPrediction:
        """Predict whether the run's model answers a new question correctly (consistency probe).

        Like ``tacit predict``, this method asks the model the new question and the background
        questions that belong to the new question. The predictor that was fitted in the run is
        applied to the model's answers.

        Args:
            question: The text of the new question.
            choices: The choices of the new question: at least two, all different.
            model: The current location of the run's model; None if the location has not changed.
            kb: The current location of the run's knowledge base; None if the location has not
                changed.
            store: The score store; None for the default store.
            settings: Options for models and servers, such as ``device``. The options in
                ``settings`` are not recorded in ``run.yaml``.

        Raises:
            RequestError: If the run has no predictor, if the question is invalid, or if the model,
                the knowledge base or the question templates have changed since the run.
            ModelError: If the model cannot be loaded.
        """
        from tacit.engine.store import Store
        from tacit.models.options import ModelOptions
        from tacit.runs.predicting import RunPredictor

        storage = Store(store) if isinstance(store, str | Path) else store
        base = None if kb is None else Path(kb)
        with spelled_in_python(ModelOptions):
            return RunPredictor(self, model, base, settings, storage).predict(question, choices)

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} {len(table)}" for name, table in self.tables.items())
        where = f", folder={str(self.folder)!r}" if self.folder else ""
        return f"Run({self.probe} of {self.name!r}{where}; rows of tables: {tables})"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: numbers of the summary, and names of tables and figures."""
        rows = "".join(
            f"<tr><td>{escape(key)}</td><td>{number(value)}</td></tr>"
            for key, value in self.summary.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        )
        listed = {"tables": ", ".join(self.tables), "figures": ", ".join(self.figures)}
        more = "".join(f"<p>{kind}: {escape(names)}</p>" for kind, names in listed.items() if names)
        title = f"<b>{escape(self.probe)}</b> of <b>{escape(self.name)}</b>"
        return f"<div><p>{title}</p><table>{rows}</table>{more}</div>"


@dataclass(frozen=True, repr=False, eq=False)
class Runs(Mapping[str, Run]):
    """Runs of one probe, as a mapping from model names to runs.

    Args:
        runs: The finished runs. All runs must have different names.

    Examples:
        >>> import tacit
        >>> drawings = tacit.demo_data("drawings")
        >>> models = ["demo", "demo-masked"]
        >>> runs = tacit.run("parts", model=models, drawings=drawings, limit=1, progress=False)
        >>> list(runs)
        ['demo', 'demo-masked']
    """

    runs: tuple[Run, ...]

    def __getitem__(self, name: str) -> Run:
        return {run.name: run for run in self.runs}[name]

    def __iter__(self) -> Iterator[str]:
        return iter([run.name for run in self.runs])

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def probe(self) -> str:
        """The probe's name."""
        return self.runs[0].probe

    @property
    def findings(self) -> Mapping[str, Findings]:
        """The findings of each model."""
        return {run.name: run.findings for run in self.runs}

    @cached_property
    def comparison(self) -> pl.DataFrame | None:
        """The paired differences between each two models; None if there is only one model."""
        from tacit.findings.comparison import comparison

        return comparison(probe(self.probe).measures, self.findings) if len(self) > 1 else None

    @cached_property
    def flips(self) -> pl.DataFrame | None:
        """How many answers differ between each two models; None if there is only one model."""
        from tacit.findings.comparison import flips

        if len(self) == 1:
            return None
        sides = probe(self.probe).sides
        return flips({name: sides(each) for name, each in self.findings.items()})

    @cached_property
    def slopes(self) -> pl.DataFrame | None:
        """The slope of each result by model size; None if no family has models of two sizes."""
        from tacit.findings.comparison import by_family, slopes

        models = {run.name: run.model for run in self.runs}
        families = by_family(
            {name: model.get("family") for name, model in models.items()},
            {name: model.get("parameters") for name, model in models.items()},
        )
        return slopes(probe(self.probe).measures, self.findings, families) if families else None

    @property
    def compared(self) -> dict[str, pl.DataFrame]:
        """The tables that compare the models, by name; those that do not apply are left out."""
        tables = {"comparison": self.comparison, "flips": self.flips, "slopes": self.slopes}
        return {
            name: table
            for name, table in tables.items()
            if table is not None and (name == "comparison" or not table.is_empty())
        }

    def figure(self, name: str, palette: str = "house") -> Chart:
        """Return a figure that shows all models; see ``Run.figure``.

        Raises:
            RequestError: If the figure or the palette is unknown, or if the findings of a run lack
                data that the figure needs.
        """
        from tacit.runs.figures import chart

        return chart(self.runs, name, palette)

    def report(self, path: Path | str, *, force: bool = False) -> Path:
        """Write one report about all models; see ``Run.report``.

        Raises:
            RequestError: If the file exists, is not a report, and ``force`` is False.
            WorkError: If the file cannot be written.
        """
        from tacit.outputs import check_outputs, page
        from tacit.report.writing import report

        with spelled_in_python():
            check_outputs([], [(Path(path), page("report"))], force=force)
        publish_text(Path(path), report(self.runs))
        return Path(path)

    def __repr__(self) -> str:
        return "\n".join(["Runs:", *(f"  {run!r}" for run in self.runs)])

    def _repr_html_(self) -> str:
        """Return the runs and the comparison of their models as HTML for notebooks."""
        runs = "".join(run._repr_html_() for run in self.runs)
        return runs if self.comparison is None else runs + self.comparison._repr_html_()


def named(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the runs with short names, which are unique among the runs of each probe."""
    runs = list(runs)
    return tuple(replace(run, name=name) for run, name in zip(runs, _names(runs), strict=True))


def _names(runs: Sequence[Run]) -> list[str]:
    """The end of each model's name or, where ends are not unique, the first longer name that is."""
    full = [legible(str(run.model.get("name") or _folder(run))) for run in runs]
    ends = [last_part(name) for name in full]
    # In a suite, the folder that contains a run's folder has the name of the suite's run.
    parents = [run.folder.resolve().parent.name if run.folder else "" for run in runs]
    beside = ([legible(_folder(run)) for run in runs], [legible(name) for name in parents])
    within = [[f"{end} ({name})" for end, name in zip(ends, of, strict=True)] for of in beside]
    for names in (ends, full, *within):
        if len({(run.probe, name) for run, name in zip(runs, names, strict=True)}) == len(runs):
            return names
    return [f"{end} ({number})" for number, end in enumerate(ends, 1)]


def _folder(run: Run) -> str:
    return run.folder.name if run.folder else ""
