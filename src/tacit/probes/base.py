"""The base class of probes, and what passes between a probe and the engine.

A probe declares its options, builds its requests and measures the answers. Querying models, caching
answers, resuming runs, and printing and comparing results are implemented once for all probes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.findings.block import Block
from tacit.findings.display import Details, FigureSpec, GraphSet, Headline
from tacit.findings.findings import Findings
from tacit.findings.spec import TableSpec
from tacit.requests import (
    AnswerScore,
    Decided,
    Ranking,
    Request,
    Samples,
    Scores,
    Vocabulary,
    Votes,
)

if TYPE_CHECKING:
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Palette, Spec
    from tacit.findings.measure import Measure


@dataclass(frozen=True)
class Requests:
    """A group of a probe's requests to a model, each identified by a key.

    Args:
        keys: Table with one row per request; the row is the key of the request, so all rows must be
            different.
        requests: The requests, in the order of the rows of ``keys``. ``tacit.requests`` defines the
            types of requests.
        repeats: Whether equal requests are intended. Otherwise, a run warns of them, because
            different keys get the same answer.

    Examples:
        >>> import polars as pl
        >>> from tacit import Prompt, Requests
        >>> keys = pl.DataFrame({"word": ["big", "red"]})
        >>> prompts = [Prompt(f"Is {word} a colour?", ("Yes", "No")) for word in keys["word"]]
        >>> len(Requests(keys, prompts).requests)
        2
    """

    keys: pl.DataFrame
    requests: Sequence[Request]
    repeats: bool = False


@dataclass(frozen=True)
class Answered:
    """The answers to a group of requests, and the key of each answer's request.

    Args:
        keys: Table with the keys of the requests, one row per request.
        answers: The answers, in the order of the rows of ``keys``.
    """

    keys: pl.DataFrame
    answers: Sequence[Any]


@dataclass(frozen=True)
class Answers:
    """The answers of a model to all requests of a probe, in named groups.

    Groups and answers are in the order of the requests.

    Args:
        groups: The answers to each group of requests, by the name of the group.

    Examples:
        >>> import polars as pl
        >>> from tacit import Answers, AnswerScore, Scores
        >>> from tacit.probes.base import Answered
        >>> scores = Scores((AnswerScore("Yes", -1.0, 1), AnswerScore("No", -1.0, 1)))
        >>> answers = Answers({"pairs": Answered(pl.DataFrame({"id": [7]}), [scores])})
        >>> answers.beliefs("pairs", "Yes", "No").rows()
        [(7, 0.5)]
    """

    groups: Mapping[str, Answered]

    @property
    def sampled(self) -> bool:
        """Whether the answers are votes (from sampled replies) instead of log-probabilities."""
        return any(
            isinstance(one, Votes) for group in self.groups.values() for one in group.answers[:1]
        )

    def frame(self, group: str) -> pl.DataFrame:
        """Return the answers to a group of requests, with the keys of the requests.

        Returns:
            Table with the group's key columns and further columns that depend on the requests. For
            a ``Prompt``, one row per candidate answer: ``answer``, ``score`` (the log-probability
            in nats; null if missing), ``most`` (the highest value that ``score`` can have),
            ``tokens``, ``spanned`` and ``missing`` (see ``AnswerScore``); if the answers were
            options that exclude one another, also ``label_mass``. If replies were sampled:
            ``answer``, ``score`` (the number of replies with the answer), ``unparsed`` and
            ``truncated``. For a ``RankingPrompt``, one row per target: ``answer``, ``rank``,
            ``score`` (the log-probability) and ``tokens``. For a ``SamplingPrompt``, one row per
            reply: ``answer`` (the text) and ``state``.
        """
        import polars as pl

        answered = self.groups[group]
        parts = [_entries(one) for one in answered.answers]
        kinds = {name: getattr(pl, kind) for name, kind in _TYPES.items()}
        names = parts[0] if parts else _entries(Scores(()))
        columns = {
            name: pl.Series([value for cells in parts for value in cells[name]], dtype=kinds[name])
            for name in names
        }
        at = [row for row, cells in enumerate(parts) for _ in cells["answer"]]
        return answered.keys[at].with_columns(**columns)

    def beliefs(self, group: str, positive: str, negative: str) -> pl.DataFrame:
        """Return, for each prompt of a group, the probability of the answer ``positive``.

        Args:
            group: Name of a group of prompts. ``positive`` and ``negative`` must be candidate
                answers of each prompt in the group.
            positive: The answer whose probability is returned.
            negative: The answer that is compared with ``positive``.

        Returns:
            Table with one row per prompt of the group: the group's key columns, such as
            ``question``, and the column ``belief``. For log-probabilities, ``belief`` is
            P(positive)/(P(positive) + P(negative)), where P is the probability of an answer. For
            sampled replies, ``belief`` is the vote share of the positive answer. ``belief`` is null
            if the answer ``positive`` or the answer ``negative`` has no score, or if no sampled
            reply could be parsed.
        """
        import polars as pl

        answered = self.groups[group]
        beliefs = [each.belief(positive, negative) for each in answered.answers]
        return answered.keys.with_columns(belief=pl.Series(beliefs, dtype=pl.Float64))


_TYPES = {
    **dict.fromkeys(("answer", "missing", "state"), "String"),
    **dict.fromkeys(("score", "most", "label_mass"), "Float64"),
    **dict.fromkeys(("tokens", "unparsed", "truncated", "rank"), "Int64"),
    "spanned": "Boolean",
}


def _entries(answer: Any) -> dict[str, list[Any]]:  # noqa: ANN401 - any answer
    """Return the cells of an answer in ``Answers.frame``, by column."""
    if isinstance(answer, Votes):
        size = len(answer.counts)
        return {
            "answer": list(answer.counts),
            "score": list(answer.counts.values()),
            "unparsed": [answer.unparsed] * size,
            "truncated": [answer.truncated] * size,
        }
    if isinstance(answer, Samples):
        replies = answer.replies
        return {"answer": [r.reply for r in replies], "state": [r.state for r in replies]}
    if isinstance(answer, Ranking):
        targets = answer.targets
        return {
            "answer": [one.target for one in targets],
            "rank": [one.rank for one in targets],
            "score": [one.logprob for one in targets],
            "tokens": [one.tokens for one in targets],
        }
    scores: Sequence[AnswerScore] = answer.answers
    mass = {"label_mass": [answer.label_mass] * len(scores)} if isinstance(answer, Decided) else {}
    return {
        "answer": [one.answer for one in scores],
        "score": [one.logprob for one in scores],
        "most": answer.most(),
        "tokens": [one.tokens for one in scores],
        "spanned": [one.spanned for one in scores],
        "missing": [one.missing for one in scores],
        **mass,
    }


class Probe:
    """Base class of probes: a probe builds requests for a model and measures the answers.

    A probe defines ``name``, ``summary``, ``Options``, ``requests`` and ``measure``; all other
    members have defaults. A subclass that is itself a dataclass of options needs no ``Options``.

    Attributes:
        name: The name of the probe in ``tacit run``.
        summary: The line that describes the probe in the help text; by default, the first line of
            the docstring.
        Options: A dataclass whose fields declare the probe's options (see ``tacit.option``).
        title: The title of the probe in reports; the default is derived from ``name``.
        question: The question that the probe answers, shown in reports; by default ``summary``.
        tables: The declarations of the tables that ``measure`` returns, among them ``questions``.
        figures: The declarations of the figures; or, so that drawing is imported when it is
            needed, where they are (``package.module:NAME``).
        headlines: The results that a report shows first.
        filters: The columns by which the tables of a report can be filtered.
        ranks_vocabulary: Whether the requests depend on the models' vocabularies, so that
            ``for_models`` is called before ``requests``.

    Examples:
        >>> from tacit.probes.registry import probe
        >>> probe("parts").name
        'parts'
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    Options: ClassVar[type[Any]]
    title: ClassVar[str] = ""
    question: ClassVar[str] = ""
    tables: ClassVar[Mapping[str, TableSpec] | Sequence[TableSpec]] = ()
    figures: ClassVar[Mapping[str, FigureSpec] | Sequence[FigureSpec] | str] = ()
    headlines: ClassVar[Sequence[Headline]] = ()
    filters: ClassVar[tuple[str, ...]] = ()
    ranks_vocabulary: ClassVar[bool] = False
    _required: ClassVar[tuple[str, ...]] = ("requests", "measure")

    def __init_subclass__(cls) -> None:
        """Let a probe be its own options, and its docstring the summary, if it declares neither."""
        super().__init_subclass__()
        if issubclass(cls, getattr(cls, "Options", Probe)):
            cls.Options = cls
        if "summary" not in vars(cls) and (about := vars(cls).get("__doc__")):
            cls.summary = about.strip().partition("\n")[0]

    @classmethod
    def of(cls, options: Any) -> Self:  # noqa: ANN401 - an instance of Options
        """Create a probe from its options.

        Raises:
            RequestError: If the options contradict each other or select no questions.
            DataError: If a file that an option names is missing or malformed.
        """
        return options if isinstance(options, cls) else cls(options)  # type: ignore[call-arg]

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests of the probe, in named groups."""
        raise NotImplementedError

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from a model's answers."""
        raise NotImplementedError

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, Probe]:
        """Return a mapping from the name of each compared model to a probe for this model.

        Raises:
            RequestError: If the vocabularies of the models have no word in common, or no questions
                remain for one of the models.
        """
        return dict.fromkeys(models, self)

    def check_replies(self, *, sampled: bool) -> None:
        """Raise an error, before any request is sent, if chat replies cannot be measured.

        By default, they can.

        Args:
            sampled: Whether the answers are sampled replies, which have no log-probabilities.

        Raises:
            RequestError: If the probe needs log-probabilities, and chat replies do not provide
                them.
        """

    def measure_file(self, beliefs: Path) -> Findings:
        """Compute the findings from the beliefs in a file; a probe that can sets this method.

        Raises:
            DataError: If the file of beliefs is missing or malformed.
        """
        raise NotImplementedError

    @classmethod
    def reads_beliefs(cls) -> bool:
        """Return whether the probe can measure beliefs from a file."""
        return cls.measure_file is not Probe.measure_file

    @staticmethod
    def block(findings: Findings) -> Block | None:  # noqa: ARG004 - a hook
        """Return what a reader sees first; None for the values that ``headlines`` declares."""
        return None

    @staticmethod
    def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterable[Details]:
        """Return tables that are made for display, with at most about ``most`` rows."""
        del findings, request, most
        return ()

    def check_graphs(self, options: Any) -> None:  # noqa: ANN401 - an instance of Options
        """Raise an error, before any request is sent, if ``graphs`` cannot draw what is wanted.

        Raises:
            RequestError: If an option names something to draw that is not among the questions.
        """

    @staticmethod
    def graphs(shown: Shown, made: Any, options: Any) -> Mapping[str, Spec]:  # noqa: ANN401 - a probe
        """Return the graphs that the options select, by file name."""
        del shown, made, options
        return {}

    @staticmethod
    def report_graphs(found: Mapping[str, Findings], colours: Palette) -> GraphSet | None:
        """Return a set of graphs for the report from the findings of each model."""
        del found, colours
        return None

    @classmethod
    def measures(cls, found: Mapping[str, Findings]) -> Sequence[Measure]:
        """Return what is compared between models; by default, the means that the tables declare."""
        from tacit.findings.measure import declared_means

        return declared_means(tuple(declared_tables(cls).values()), found)

    @staticmethod
    def sides(findings: Findings) -> Mapping[str, pl.DataFrame]:  # noqa: ARG004 - a hook
        """Return a model's answers by the noun for what is answered, such as ``statement``.

        Each table has the answer in the column ``side``, whether it is correct in the column
        ``right`` (null if that is unknown), and other columns that identify the question, of which
        the first is the cluster that is resampled. ``tacit compare`` counts the answers that differ
        between models. A gate also uses the columns ``log_odds`` of the answer or, if replies were
        sampled, ``yes`` (the replies that say yes) and ``votes`` (all that could be parsed).
        """
        return {}

    @staticmethod
    def violations(findings: Findings) -> pl.DataFrame | None:  # noqa: ARG004 - a hook
        """Return the violated constraints in words (column ``violation``), after what groups them.

        ``tacit compare --gate`` lists the rows that only one of two models has.
        """
        return None

    @staticmethod
    def different_questions(found: Mapping[str, Findings]) -> list[str]:  # noqa: ARG004 - a hook
        """Return warnings if the models were asked different questions."""
        return []


@dataclass(frozen=True)
class ModelWords:
    """The kind and vocabulary of a model, which are known before its weights are loaded.

    Args:
        kind: The kind of model: ``causal``, ``masked`` or ``seq2seq``.
        words: The words that are a single token in the model's vocabulary.
    """

    kind: str
    words: Vocabulary


def declared_tables(kind: type[Probe]) -> Mapping[str, TableSpec]:
    """Return the declarations of a probe's tables, by the name of the table."""
    tables = kind.tables
    return tables if isinstance(tables, Mapping) else {each.name: each for each in tables}


def declared_figures(kind: type[Probe]) -> Mapping[str, FigureSpec]:
    """Return the declarations of a probe's figures, by the name of the figure."""
    figures = resolve_name(kind.figures) if isinstance(kind.figures, str) else kind.figures
    return figures if isinstance(figures, Mapping) else {each.name: each for each in figures}


def title_of(kind: type[Probe]) -> str:
    """Return the title of a probe in reports."""
    return kind.title or kind.name.replace("-", " ").replace("_", " ").capitalize()
