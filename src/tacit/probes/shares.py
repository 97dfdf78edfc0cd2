"""Probes whose results are shares of questions, such as the share of right answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from tacit.charts.figures import marks_by
from tacit.english import several
from tacit.errors import FindingsError, RequestError
from tacit.findings.display import FigureSpec, Headline
from tacit.findings.findings import Findings
from tacit.findings.spec import ANSWERS, QUESTIONS, Column, Layout, TableSpec
from tacit.findings.verdict import Measured, TopAnswer, Verdict, verdict
from tacit.probes.base import Answers, Probe, Requests, declared_figures, declared_tables
from tacit.requests import Prompt, RankingPrompt, Request, Samples, Scores, Votes
from tacit.statistics import FEWEST_CLUSTERS

log = logging.getLogger(__name__)


def share(column: str, heading: str, *, chance: float | None = None) -> Column:
    """Declare a result of a ``ShareProbe``.

    Args:
        column: The name of a column that ``judge`` adds, with Boolean values or numbers from 0 to
            1; a null value is not counted.
        heading: What the share is a share of, such as ``right answers``.
        chance: The share that is expected by chance; None if there is no chance level.

    Examples:
        >>> from tacit import share
        >>> share("right", "right answers", chance=0.5).chance
        0.5
    """
    ends = (f"{column}_low", f"{column}_high")
    return Column(column, heading, "percent", ends=ends, of=column, chance=chance)


class ShareProbe(Probe):
    """A probe that asks prompts of a table's rows, and counts in how many rows something holds.

    The tables, the figures by group, the verdict, the main results, and the comparison of models
    follow from the class attributes. The subclass is a dataclass whose fields are the options.

    Attributes:
        key: The columns that identify a row, by which models are paired.
        asks: The names of the columns of answers, one for each column of prompts.
        results: The shares to report; the first is the main result.
        by: The column that divides the rows into groups; None for no groups.
        cluster: The column whose values are resampled for intervals; None to resample rows.
        unit: The singular noun for a row.
        figures: Further figures, beside those by group.
        tables: Further tables of the judged rows; their columns need ``of`` (see ``TableSpec.of``).
        headlines: Further main results, after the shares.

    Examples:
        >>> from dataclasses import dataclass
        >>> import polars as pl
        >>> from tacit import Prompt, ShareProbe, option, share
        >>> @dataclass(frozen=True)
        ... class Colours(ShareProbe):
        ...     '''Ask whether things are red.'''
        ...     name = "colours"
        ...     key, asks, results = ("thing",), ("red",), (share("right", "right answers"),)
        ...     words: str = option("blood,grass", help="Things, separated by commas.")
        ...     def ask(self):
        ...         things = self.words.split(",")
        ...         prompts = [Prompt(f"Is {thing} red?", ("Yes", "No")) for thing in things]
        ...         return pl.DataFrame({"thing": things}), {"red": prompts}
        ...     def judge(self, asked):
        ...         red = pl.col("thing") == "blood"
        ...         return asked.with_columns(right=(pl.col("red") > 1 / 2) == red)
        >>> list(Colours.tables)
        ['questions', 'total']
    """

    key: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[str, ...]] = ()
    results: ClassVar[tuple[Column, ...]] = ()
    by: ClassVar[str | None] = None
    cluster: ClassVar[str | None] = None
    unit: ClassVar[str] = "question"
    _own_figures: ClassVar[Mapping[str, FigureSpec]] = {}
    _own_tables: ClassVar[Mapping[str, TableSpec]] = {}
    _own_headlines: ClassVar[tuple[Headline, ...]] = ()
    _required: ClassVar[tuple[str, ...]] = ("ask", "judge", "key", "asks", "results")

    def __init_subclass__(cls) -> None:
        """Derive the declarations of tables, figures and headlines."""
        super().__init_subclass__()
        own = vars(cls)
        if "figures" in own:
            cls._own_figures = {**cls._own_figures, **declared_figures(cls)}
        if "tables" in own:
            cls._own_tables = {**cls._own_tables, **declared_tables(cls)}
        if "headlines" in own:
            cls._own_headlines = (*cls._own_headlines, *cls.headlines)
        derived = _tables(cls)
        cls.tables = {**derived, **cls._own_tables}
        cls.figures = {**_figures(cls, derived), **cls._own_figures}
        shares = (
            Headline(one.heading, "", "total", one.name, n=("n", cls.unit)) for one in cls.results
        )
        cls.headlines = (*shares, *cls._own_headlines)

    def ask(self) -> tuple[pl.DataFrame, Mapping[str, Sequence[Request]]]:
        """Return a table, and for each name in ``asks`` the prompts, one per row of the table."""
        raise NotImplementedError

    def judge(self, asked: pl.DataFrame) -> pl.DataFrame:
        """Add the column of each result to the table, which has a column of each name in ``asks``.

        The answer to a ``Prompt`` is the probability of its first answer against its second one,
        to a ``RankingPrompt`` the rank of its first target, to a ``SamplingPrompt`` the list of
        replies. An answer that was not measured is null.
        """
        raise NotImplementedError

    @cached_property
    def asked(self) -> tuple[pl.DataFrame, Mapping[str, Sequence[Request]]]:
        """What ``ask`` returns.

        Raises:
            RequestError: If the table lacks a column or a value that the class names, a column of
                prompts is missing, or a prompt has only one answer.
        """
        table, prompts = self.ask()
        named = [name for name in (*self.key, self.by, self.cluster) if name]
        if missing := [name for name in named if name not in table.columns]:
            raise RequestError(f"the table of {self.name} has no column {', '.join(missing)}")
        if empty := [name for name in named if table[name].null_count()]:
            raise RequestError(f"the column {empty[0]} of {self.name} has an empty cell")
        for name in table.columns:
            if count := table[name].null_count():
                log.warning(
                    "%s: the column %s has %s", self.name, name, several(count, "empty cell")
                )
        for name in self.asks:
            if name not in prompts:
                raise RequestError(f"ask returns no prompts for {name}, which asks names")
            for one in prompts[name]:
                if isinstance(one, Prompt) and len(one.answers) < 2:  # noqa: PLR2004 - a pair
                    raise RequestError(f"{one.shown} has one answer; a belief needs two")
        return table, prompts

    def requests(self) -> Mapping[str, Requests]:
        """Return a group of requests for each column of prompts."""
        table, prompts = self.asked
        return {name: Requests(table.select(self.key), prompts[name]) for name in self.asks}

    def measure(self, answers: Answers) -> Findings:
        """Compute the share of each result, in all rows and by group, and the verdict."""
        table, prompts = self.asked
        columns = [
            pl.Series(name, list(map(_value, prompts[name], answers.groups[name].answers)))
            for name in self.asks
        ]
        judged: Any = self.judge(table.with_columns(columns))
        names = judged.columns if isinstance(judged, pl.DataFrame) else ()
        if lacking := [one.name for one in self.results if one.name not in names]:
            raise FindingsError(f"judge returns no table with the column {', '.join(lacking)}")
        questions = judged.with_columns(pl.col(one.name).cast(pl.Float64) for one in self.results)
        declared = declared_tables(type(self)).values()
        tables = {one.name: one.of(questions) for one in declared if one.name != QUESTIONS}
        answered = [
            one.answers[0 if belief > 1 / 2 else 1]
            for column in columns
            for one, belief in zip(prompts[column.name], column, strict=True)
            if isinstance(one, Prompt) and belief is not None
        ]
        judgement = self._verdict(TopAnswer.of(answered), questions, tables["total"])
        summary = {} if judgement is None else {"verdict": judgement.to_json()}
        return Findings(questions, tables, summary)

    def _verdict(
        self, top: TopAnswer | None, questions: pl.DataFrame, total: pl.DataFrame
    ) -> Verdict | None:
        """Return the verdict; without a chance level, only that answers are constant or few."""
        (row,) = total.to_dicts()
        clusters: dict[str, int] = {}
        measures = []
        for one in self.results:
            rows = questions.drop_nulls(one.name)
            clusters[one.name] = rows[self.cluster].n_unique() if self.cluster else rows.height
            if isinstance(one.chance, float | int):
                low, high = (row[f"{one.name}_{end}"] for end in ("low", "high"))
                if low is None and clusters[one.name] >= FEWEST_CLUSTERS:
                    low, high = _exact(row[one.name], clusters[one.name])
                measures.append(Measured(f"“{one.heading}”", low, high, one.chance))
        judgement = verdict(
            top,
            clusters[self.results[0].name],
            FEWEST_CLUSTERS,
            measures[:1],
            noun=(self.cluster or self.unit,),
            also=measures[1:],
        )
        return judgement if measures or judgement.name != "no signal" else None


def _exact(share: float, n: int) -> tuple[float, float]:
    """Return the exact 95 % CI (Clopper and Pearson) of a share that all ``n`` clusters have."""
    from scipy.stats import binomtest

    interval = binomtest(round(share * n), n).proportion_ci()
    return float(interval.low), float(interval.high)


def _value(request: Request, answer: Any) -> Any:  # noqa: ANN401 - any answer
    if isinstance(request, Prompt) and isinstance(answer, Scores | Votes):
        return answer.belief(*request.answers[:2])
    if isinstance(request, RankingPrompt):
        return answer.targets[0].rank
    return [one.reply for one in answer.replies] or None if isinstance(answer, Samples) else answer


def _tables(kind: type[ShareProbe]) -> dict[str, TableSpec]:
    """Declare the questions, the shares in all of them, and the shares by group."""
    names = dict.fromkeys((*kind.key, *([kind.by] if kind.by else [])))
    keys = tuple(Column(name, name) for name in names)
    values = (replace(one, ends=None, of=None, chance=None) for one in kind.results)
    n = Column("n", f"{kind.unit}s", "count", of=kind.results[0].name if kind.results else None)
    reading = "The share of each result, with 95 % confidence intervals."
    questions = TableSpec(
        QUESTIONS,
        "Questions",
        "Each question with its answers.",
        (*keys, *values),
        len(keys),
        tab=ANSWERS,
        open=True,
    )
    total = TableSpec(
        "total", "All questions", reading, (n, *kind.results), 0, Layout(), cluster=kind.cluster
    )
    tables = {QUESTIONS: questions, "total": total}
    if kind.by:
        name, columns = f"by_{kind.by}", (Column(kind.by, kind.by), *total.columns)
        title = f"By {kind.by}"
        tables[name] = replace(total, name=name, title=title, columns=columns, keys=1)
    return tables


def _figures(kind: type[ShareProbe], tables: Mapping[str, TableSpec]) -> dict[str, FigureSpec]:
    if kind.by is None:
        return {}
    figures = (
        replace(
            marks_by(tables[f"by_{kind.by}"], one.name, kind.by),
            name=f"{one.name}_by_{kind.by}",
            title=f"{one.heading[0].upper()}{one.heading[1:]} by {kind.by}",
        )
        for one in kind.results
    )
    return {one.name: one for one in figures}
