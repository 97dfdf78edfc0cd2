"""The interface of a probe, and the registry of probes.

A probe declares its options, its requests and how it measures the answers. Everything else
(querying, caching, resuming, printing, comparing) is implemented once for all probes. Tacit's
probes are listed in ``BUILT_IN``. Probes of other packages register under the entry-point group
``tacit.probes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from tacit.errors import FindingsError, RequestError
from tacit.requests import Votes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.findings.spec import FigureSpec, GraphSet, Headline, TableSpec, View
    from tacit.requests import Ranking, Request, Scores, Vocabulary

GROUP = "tacit.probes"
"""The entry-point group for other packages' probes; each entry maps a name to a probe class."""

BUILT_IN = {
    "parts": "tacit.probes.parts.probe:PartsProbe",
    "consistency": "tacit.probes.consistency.probe:ConsistencyProbe",
    "assumptions": "tacit.probes.assumptions.probe:Assumptions",
}


_HERE: dict[str, type[AnyProbe]] = {}


@dataclass(frozen=True)
class Requests:
    """The requests of a probe, with one key per request.

    Args:
        keys: One row per request; all rows are distinct.
        requests: The requests, in the order of the keys; see ``tacit.requests``.

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


@dataclass(frozen=True)
class Answered:
    """The answers to a group of requests, with the key of each request.

    Args:
        keys: The keys of the requests.
        answers: The answers, in the order of the keys.
    """

    keys: pl.DataFrame
    answers: Sequence[Any]


@dataclass(frozen=True)
class Answers:
    """The answers of a model, by group of requests.

    Args:
        groups: The answers by group name, as the probe named its groups of requests.

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
        """Whether the answers are votes of sampled replies instead of log-probabilities."""
        return any(
            isinstance(one, Votes) for group in self.groups.values() for one in group.answers[:1]
        )

    def joined(self, requests: Mapping[str, Requests]) -> Answers:
        """Return the answers in the order of a probe's requests, joined by key.

        Args:
            requests: The probe's requests, by group.

        Raises:
            FindingsError: A group has no answers, its keys differ from those of the requests, or a
                key occurs twice.
        """
        groups = {
            name: Answered(group.keys, _joined(name, group.keys, self.groups.get(name)))
            for name, group in requests.items()
        }
        return Answers(groups)

    def scores(self, group: str) -> Sequence[Scores]:
        """Return the scores of a group's prompts, in the order of its keys."""
        return self.groups[group].answers

    def votes(self, group: str) -> Sequence[Votes]:
        """Return the votes on a group's prompts, in the order of its keys."""
        return self.groups[group].answers

    def beliefs(self, group: str, positive: str, negative: str) -> pl.DataFrame:
        """Return the probability of one answer relative to another, from scores or from votes.

        Args:
            group: A group of prompts that all list both answers.
            positive: The answer whose probability is returned.
            negative: The other answer.

        Returns:
            The group's key columns and ``belief``: P(positive)/(P(positive) + P(negative)) for
            scores, the vote share of the positive answer for sampled replies. Null when either
            answer has no score, or when no reply could be parsed.
        """
        import polars as pl

        answered = self.groups[group]
        found = [each.belief(positive, negative) for each in answered.answers]
        return answered.keys.with_columns(belief=pl.Series(found, dtype=pl.Float64))

    def rankings(self, group: str) -> Sequence[Ranking]:
        """Return the rankings of a group's prompts, in the order of its keys."""
        return self.groups[group].answers


def _joined(name: str, keys: pl.DataFrame, answered: Answered | None) -> Sequence[Any]:
    """Return a group's answers in the order of the keys."""
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


class Probe(Protocol):
    """A probe: its requests to a model, and its measures of the answers.

    ``name`` is the probe's name in ``tacit run``, ``summary`` its help line and ``Options`` its
    dataclass of options (``tacit.options``). ``Declared`` lists what a probe may declare besides.

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
        """Return the probe for these options.

        Raises:
            RequestError: The options contradict each other, or select no questions.
            DataError: A file is missing or malformed.
        """
        ...

    def requests(self) -> Mapping[str, Requests]:
        """Return the requests, in named groups."""
        ...

    def measure(self, answers: Answers) -> Findings:
        """Compute the findings from a model's answers."""
        ...


@dataclass(frozen=True)
class ModelWords:
    """The properties of a model that are known before its weights are loaded.

    Args:
        kind: ``causal``, ``masked`` or ``seq2seq``.
        words: The whole words of its vocabulary.
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
        """Return the probe for each model, by model name.

        Raises:
            RequestError: The models share no word, or no questions are left.
        """
        ...


AnyProbe: TypeAlias = "Probe | ProbeByVocabulary"


@dataclass(frozen=True)
class Declared:
    """The optional declarations of a probe's class.

    Args:
        title: The title in reports (``title``; default: derived from ``name``).
        question: The question that the probe answers, for a reader (``question``; default:
            ``summary``).
        tables: The probe's tables by name, including ``questions``.
        figures: The probe's figures by name.
        headlines: The key figures at the top of a report.
        headline: Function from findings to the main result in one sentence, or None.
        sentences: Function from findings to full sentences on the questions and the results.
        notes: Function from findings to full sentences on how the figures are computed.
        views: Function from findings, the request and a maximum number of rows to tables for
            reading.
        graphs: Function (``report_graphs``) from findings by model and a theme to graphs of single
            items, or None.
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
    """Return the declarations of a probe's class, with defaults for missing ones."""
    figures = getattr(kind, "figures", ())
    figures = figures() if callable(figures) else figures
    by_name = figures if isinstance(figures, Mapping) else {each.name: each for each in figures}
    return Declared(
        getattr(kind, "title", kind.name.replace("-", " ").replace("_", " ").capitalize()),
        getattr(kind, "question", kind.summary),
        {spec.name: spec for spec in getattr(kind, "tables", ())},
        by_name,
        getattr(kind, "headlines", ()),
        getattr(kind, "headline", _nothing),
        getattr(kind, "sentences", _none),
        getattr(kind, "notes", _none),
        getattr(kind, "views", _none),
        getattr(kind, "report_graphs", _nothing),
        getattr(kind, "filters", ()),
    )


def _nothing(*_: object) -> None:
    return None


def _none(*_: object) -> tuple[()]:
    return ()


@runtime_checkable
class ReadsReplies(Protocol):
    """A probe whose questions can be answered by chat replies."""

    def check_replies(self, *, sampled: bool) -> None:
        """Raise if chat replies cannot answer the probe's requests, before any cost arises.

        Args:
            sampled: Whether replies are sampled, so that no log-probabilities exist.

        Raises:
            RequestError: A part of the probe needs log-probabilities that are not available.
        """
        ...


@runtime_checkable
class ReadsBeliefs(Protocol):
    """A probe that can also measure beliefs from a file."""

    def measure_file(self, beliefs: Path) -> Findings:
        """Compute the findings from the beliefs in a file.

        Raises:
            DataError: The file is missing or malformed.
        """
        ...


def register(kind: type[AnyProbe]) -> None:
    """Register a probe's class in this process, such as one that a notebook defines.

    Raises:
        RequestError: Another probe has the same name.
    """
    if kind.name in probes() and probe(kind.name) is not kind:
        raise RequestError(f"another probe is registered as {kind.name!r}; choose a different name")
    _HERE[kind.name] = kind


def probe(name: str) -> type[AnyProbe]:
    """Return the class of a probe.

    Raises:
        RequestError: No probe has this name.
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
    """Return the names of all probes, Tacit's own first."""
    return (*BUILT_IN, *sorted({*_others(), *_HERE} - set(BUILT_IN)))


@cache
def _others() -> Mapping[str, metadata.EntryPoint]:
    return {one.name: one for one in metadata.entry_points(group=GROUP)}
