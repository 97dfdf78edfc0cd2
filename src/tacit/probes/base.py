"""The interface of a probe, and the registry of probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from tacit.errors import FindingsError, RequestError
from tacit.requests import Ranking, Samples, Votes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.findings.spec import FigureSpec, GraphSet, Headline, TableSpec, View
    from tacit.requests import AnswerScore, Request, Scores, Vocabulary

GROUP = "tacit.probes"
"""The entry-point group in which other packages declare their probe classes."""

BUILT_IN = {
    "parts": "tacit.probes.parts.probe:PartsProbe",
    "consistency": "tacit.probes.consistency.probe:ConsistencyProbe",
    "assumptions": "tacit.probes.assumptions.probe:Assumptions",
}


_HERE: dict[str, type[AnyProbe]] = {}


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

    def joined(self, requests: Mapping[str, Requests]) -> Answers:
        """Return the answers in the order of ``requests``, matched by key.

        Args:
            requests: The probe's requests, in groups, with the name of each group as key.

        Raises:
            FindingsError: If a group of requests has no answers, if the keys of its answers differ
                from the keys of its requests, or if a key occurs twice.
        """
        groups = {
            name: Answered(group.keys, _joined(name, group.keys, self.groups.get(name)))
            for name, group in requests.items()
        }
        return Answers(groups)

    def frame(self, group: str) -> pl.DataFrame:
        """Return the answers to a group of requests, with the keys of the requests.

        Returns:
            Table with the group's key columns and further columns that depend on the requests. For
            a ``Prompt``, one row per candidate answer: ``answer``, ``score`` (the log-probability
            in nats; null if missing), ``most`` (the highest value that ``score`` can have),
            ``tokens``, ``spanned`` and ``missing`` (see ``AnswerScore``). If replies were sampled:
            ``answer``, ``score`` (the number of replies with the answer), ``unparsed`` and
            ``truncated``. For a ``RankingPrompt``, one row per target: ``answer``, ``rank``,
            ``score`` (the log-probability) and ``tokens``. For a ``SamplingPrompt``, one row per
            reply: ``answer`` (the text) and ``state``.
        """
        import polars as pl

        answered = self.groups[group]
        found = [_cells(one) for one in answered.answers]
        kinds = {name: getattr(pl, kind) for name, kind in _TYPES.items()}
        names = found[0] if found else ("answer", "score")
        columns = {
            name: pl.Series([value for cells in found for value in cells[name]], dtype=kinds[name])
            for name in names
        }
        at = [place for place, cells in enumerate(found) for _ in cells["answer"]]
        return answered.keys[at].with_columns(**columns)

    def scores(self, group: str) -> Sequence[Scores]:
        """Return the scores of the prompts in a group, in the order of the group's keys."""
        return self.groups[group].answers

    def votes(self, group: str) -> Sequence[Votes]:
        """Return the votes for the prompts in a group, in the order of the group's keys."""
        return self.groups[group].answers

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
        found = [each.belief(positive, negative) for each in answered.answers]
        return answered.keys.with_columns(belief=pl.Series(found, dtype=pl.Float64))

    def rankings(self, group: str) -> Sequence[Ranking]:
        """Return the rankings for the prompts in a group, in the order of the group's keys."""
        return self.groups[group].answers


def _joined(name: str, keys: pl.DataFrame, answered: Answered | None) -> Sequence[Any]:
    """Return the answers to a group of requests, in the order of the request keys."""
    if answered is None:
        raise FindingsError(f"there are no answers to the requests {name!r}")
    if keys.equals(answered.keys):
        return answered.answers
    places = {key: place for place, key in enumerate(answered.keys.rows())}
    rows = keys.rows()
    if len(places) != len(answered.answers) or set(rows) != set(places):
        raise FindingsError(
            f"the keys of the answers to the requests {name!r} differ from the keys of the requests"
        )
    return [answered.answers[places[row]] for row in rows]


_TYPES = {
    **dict.fromkeys(("answer", "missing", "state"), "String"),
    **dict.fromkeys(("score", "most"), "Float64"),
    **dict.fromkeys(("tokens", "unparsed", "truncated", "rank"), "Int64"),
    "spanned": "Boolean",
}


def _cells(answer: Any) -> dict[str, list[Any]]:  # noqa: ANN401 - any answer
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
    return {
        "answer": [one.answer for one in scores],
        "score": [one.logprob for one in scores],
        "most": answer.most(),
        "tokens": [one.tokens for one in scores],
        "spanned": [one.spanned for one in scores],
        "missing": [one.missing for one in scores],
    }


class Probe(Protocol):
    """A probe, which builds requests for a model and computes findings from the answers.

    ``name`` identifies the probe in ``tacit run``. ``summary`` is the line that describes the probe
    in the help text. ``Options`` is a dataclass whose fields declare the probe's options (see
    ``tacit.options``). ``Declared`` describes the class attributes that a probe may define in
    addition to ``name``, ``summary`` and ``Options``.

    Examples:
        >>> from tacit.probes.base import probe
        >>> probe("parts").name
        'parts'
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Options: ClassVar[type[Any]]

    @classmethod
    def of(cls, options: Any) -> Self:  # noqa: ANN401 - an instance of Options
        """Create a probe from its options.

        Raises:
            RequestError: If the options contradict each other or select no questions.
            DataError: If a file that an option names is missing or malformed.
        """
        ...

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests of the probe, in named groups."""
        ...

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from a model's answers."""
        ...


@dataclass(frozen=True)
class ModelWords:
    """The kind and vocabulary of a model, which are known before its weights are loaded.

    Args:
        kind: The kind of model: ``causal``, ``masked`` or ``seq2seq``.
        words: The words that are a single token in the model's vocabulary.
    """

    kind: str
    words: Vocabulary


class ProbeByVocabulary(Protocol):
    """A probe whose requests depend on the vocabularies of the compared models."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Options: ClassVar[type[Any]]

    @classmethod
    def of(cls, options: Any) -> Self:  # noqa: ANN401 - an instance of Options
        """See ``Probe.of``."""
        ...

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, Probe]:
        """Return a mapping from the name of each model to a probe for this model.

        Raises:
            RequestError: If the vocabularies of the models have no word in common, or no questions
                remain for one of the models.
        """
        ...


AnyProbe: TypeAlias = "Probe | ProbeByVocabulary"


@dataclass(frozen=True)
class Declared:
    """The optional class attributes of a probe.

    Args:
        title: The title of the probe in reports (class attribute ``title``). The default title is
            derived from ``name``.
        question: The question that the probe answers (class attribute ``question``), shown in
            reports. If the attribute ``question`` is not set, reports show the probe's ``summary``.
        tables: The specifications of the probe's tables, by the name of the table.
        figures: The specifications of the probe's figures, by the name of the figure.
        headlines: The main results that a report shows first.
        headline: Function that takes findings and returns a sentence on their main result, or None.
        sentences: Function that yields complete sentences about the questions and the results in
            the given findings.
        notes: Function that yields complete sentences about how the numbers in the given findings
            are computed.
        views: Function that yields tables that are computed only for display, such as a table of
            the questions. ``views`` is called with the findings, the run's request and a maximum
            number of rows.
        graphs: The function that returns a set of graphs for the report (class attribute
            ``report_graphs``). The function returns None if there is nothing to draw. If a report
            contains a set of graphs, the reader selects which graph is shown. ``report_graphs``
            takes two arguments: the findings of each model, and a chart theme.
        filters: The columns by which a report's tables can be filtered.
    """

    title: str
    question: str
    tables: Mapping[str, TableSpec]
    figures: Mapping[str, FigureSpec]
    headlines: Sequence[Headline]
    headline: Callable[[Findings], str | None]
    sentences: Callable[[Findings], Iterable[str]]
    notes: Callable[[Findings], Iterable[str]]
    views: Callable[[Findings, Mapping[str, Any], int], Iterable[View]]
    graphs: Callable[[Mapping[str, Findings], Any], GraphSet | None]
    filters: tuple[str, ...]


def declared(kind: type[AnyProbe]) -> Declared:
    """Return a probe's optional class attributes, with defaults for missing attributes."""
    figures = getattr(kind, "figures", ())
    figures = figures() if callable(figures) else figures
    return Declared(
        getattr(kind, "title", kind.name.replace("-", " ").replace("_", " ").capitalize()),
        getattr(kind, "question", kind.summary),
        _by_name(getattr(kind, "tables", ())),
        _by_name(figures),
        getattr(kind, "headlines", ()),
        _headline(getattr(kind, "headline", _nothing)),
        getattr(kind, "sentences", _none),
        getattr(kind, "notes", _none),
        getattr(kind, "views", _none),
        getattr(kind, "report_graphs", _nothing),
        getattr(kind, "filters", ()),
    )


def _by_name(declared: Any) -> Mapping[str, Any]:  # noqa: ANN401 - tables or figures
    return declared if isinstance(declared, Mapping) else {each.name: each for each in declared}


def _headline(of: Callable[[Findings], str | None]) -> Callable[[Findings], str | None]:
    """Return a headline that says how a run with ``--fast`` departs from the paper's method."""

    def headline(findings: Findings) -> str | None:
        told, fast = of(findings), findings.summary.get("fast")
        if fast is None:
            return told
        return f"{told or ''} Not the paper's method: {fast}.".lstrip()

    return headline


def _nothing(*_: object) -> None:
    return None


def _none(*_: object) -> tuple[()]:
    return ()


@runtime_checkable
class ReadsReplies(Protocol):
    """A probe whose questions can be answered by chat replies."""

    def check_replies(self, *, sampled: bool) -> None:
        """Raise an error, before any request is sent, if the probe cannot use chat replies.

        Args:
            sampled: Whether the answers are sampled replies, which have no log-probabilities.

        Raises:
            RequestError: If the probe needs log-probabilities, and chat replies do not provide
                them.
        """
        ...


@runtime_checkable
class ReadsBeliefs(Protocol):
    """A probe that can also compute findings from beliefs in a file, without a model."""

    def measure_file(self, beliefs: Path) -> Findings:
        """Compute the findings from the beliefs stored in a file.

        Raises:
            DataError: If the file of beliefs is missing or malformed.
        """
        ...


def register(kind: type[AnyProbe]) -> None:
    """Register the class of a probe in the current process, for example in a notebook.

    Raises:
        RequestError: If another probe is already registered under the same name.
    """
    if kind.name in probes() and probe(kind.name) is not kind:
        raise RequestError(f"another probe is registered as {kind.name!r}; choose a different name")
    _HERE[kind.name] = kind


def probe(name: str) -> type[AnyProbe]:
    """Return the class of the probe with the given name.

    Raises:
        RequestError: If no probe has the given name.
    """
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        found: type[AnyProbe] = getattr(import_module(module), kind)
        return found
    if name in _HERE:
        return _HERE[name]
    if name in _others():
        return _others()[name].load()  # type: ignore[no-any-return] # as it was registered
    raise RequestError(f"there is no probe {name!r}; expected one of {', '.join(probes())}")


def probes() -> tuple[str, ...]:
    """Return the names of all probes; Tacit's own probes come first."""
    return (*BUILT_IN, *sorted({*_others(), *_HERE} - set(BUILT_IN)))


@cache
def _others() -> Mapping[str, metadata.EntryPoint]:
    return {one.name: one for one in metadata.entry_points(group=GROUP)}
