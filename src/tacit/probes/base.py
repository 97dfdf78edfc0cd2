"""What a probe is, and which probes there are.

A probe declares its options, what it asks, and what the answers show; everything else (asking,
storing, resuming, printing, comparing) is written once, for all of them. Tacit's own are listed in
``BUILT_IN``; those of other packages register under the entry-point group ``tacit.probes``.
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
"""The entry-point group of other packages' probes: a name, and the probe's class."""

BUILT_IN = {
    "parts": "tacit.probes.parts.probe:PartsProbe",
    "consistency": "tacit.probes.consistency.probe:ConsistencyProbe",
    "assumptions": "tacit.probes.assumptions.probe:Assumptions",
}


_HERE: dict[str, type[AnyProbe]] = {}


@dataclass(frozen=True)
class Requests:
    """The requests of a probe, each with its key.

    Args:
        keys: One row per request; no two are alike.
        requests: What is asked; see ``tacit.requests``.

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
    """The answers to requests, each with its request's key.

    Args:
        keys: As in the requests.
        answers: In the order of the keys.
    """

    keys: pl.DataFrame
    answers: Sequence[Any]


@dataclass(frozen=True)
class Answers:
    """The answers of a model, by group of requests.

    Args:
        groups: The answers by the names of the groups that the probe gave its requests.

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
        """Whether they are the votes of sampled replies, and no log-probabilities."""
        return any(
            isinstance(one, Votes) for group in self.groups.values() for one in group.answers[:1]
        )

    def joined(self, requests: Mapping[str, Requests]) -> Answers:
        """The same answers in the order of a probe's requests, joined by key.

        Args:
            requests: What was asked.

        Raises:
            FindingsError: The answers of a group are to other keys than were asked, or a key is
                there twice.
        """
        groups = {
            name: Answered(group.keys, _joined(name, group.keys, self.groups.get(name)))
            for name, group in requests.items()
        }
        return Answers(groups)

    def scores(self, group: str) -> Sequence[Scores]:
        """The scores of a group's prompts, in the order of its keys."""
        return self.groups[group].answers

    def votes(self, group: str) -> Sequence[Votes]:
        """The votes on a group's prompts, in the order of its keys."""
        return self.groups[group].answers

    def beliefs(self, group: str, positive: str, negative: str) -> pl.DataFrame:
        """How probable an answer is against another, however the model was asked.

        Args:
            group: The group of prompts, each with both answers among its own.
            positive: The answer whose probability is given.
            negative: The other answer.

        Returns:
            The group's key columns, and ``belief``: P(positive)/(P(positive) + P(negative)), or
            of sampled replies the share of the positive; null where an answer has no score, or no
            reply could be read.
        """
        import polars as pl

        answered = self.groups[group]
        found = [each.belief(positive, negative) for each in answered.answers]
        return answered.keys.with_columns(belief=pl.Series(found, dtype=pl.Float64))

    def rankings(self, group: str) -> Sequence[Ranking]:
        """The rankings of a group's prompts, in the order of its keys."""
        return self.groups[group].answers


def _joined(name: str, keys: pl.DataFrame, answered: Answered | None) -> Sequence[Any]:
    """The answers to keys, in their order."""
    if answered is None:
        raise FindingsError(f"there are no answers to the requests {name!r}")
    if keys.equals(answered.keys):
        return answered.answers
    places = {key: place for place, key in enumerate(answered.keys.rows())}
    rows = keys.rows()
    if len(places) != len(answered.answers) or set(rows) != set(places):
        raise FindingsError(f"the answers to the requests {name!r} are to other keys than asked")
    return [answered.answers[places[row]] for row in rows]


class Probe(Protocol):
    """A probe: what it asks a model, and what it measures of the answers.

    ``name`` is what ``tacit run`` calls it, ``summary`` its line of help, and ``Options`` a
    dataclass of options (``tacit.options``). What else a probe may declare: see ``Declared``.

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
        """The probe that options describe.

        Raises:
            RequestError: The options do not go together, or leave nothing to ask.
            DataError: A file is missing or malformed.
        """
        ...

    def requests(self) -> Mapping[str, Requests]:
        """What is asked, in named groups."""
        ...

    def measure(self, answers: Answers) -> Findings:
        """What the answers show."""
        ...


@dataclass(frozen=True)
class ModelWords:
    """What is known of a model before its weights are loaded.

    Args:
        kind: ``causal``, ``masked`` or ``seq2seq``.
        words: Its whole words.
    """

    kind: str
    words: Vocabulary


class ProbeByVocabulary(Protocol):
    """A probe whose requests depend on the words of the models that are compared."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Options: ClassVar[type[Any]]

    @classmethod
    def of(cls, options: Any) -> Self:  # noqa: ANN401 - an instance of Options
        """As ``Probe.of``."""
        ...

    def for_models(self, models: Mapping[str, ModelWords]) -> Mapping[str, Probe]:
        """Each model's own probe.

        Raises:
            RequestError: The models share no word, or nothing is left to ask.
        """
        ...


AnyProbe: TypeAlias = "Probe | ProbeByVocabulary"


@dataclass(frozen=True)
class Declared:
    """What a probe's class declares beside its options; each part may be left out.

    Args:
        title: What it is called in reports (``title``; its name without).
        question: What it asks, for a reader (``question``; its ``summary`` without).
        tables: Its tables, ``questions`` among them.
        figures: Its figures, by name.
        headlines: The figures of the first screen.
        headline: From findings to the main result in one sentence; None where there is none.
        sentences: From findings to what was asked and came out, in whole sentences.
        notes: From findings to how figures were made, in whole sentences.
        views: From findings, the request and a bound on rows to tables made for reading.
        graphs: From findings by model and a palette to pictures of single things, or None.
        filters: The columns by whose values a report's tables can be filtered.
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
    """What a probe's class declares."""
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
    """A probe whose questions replies in a chat can answer."""

    def check_replies(self, *, sampled: bool) -> None:
        """Refuses, before any cost, what replies cannot answer.

        Args:
            sampled: Whether replies are sampled, so that there are no log-probabilities at all.

        Raises:
            RequestError: Something of the probe needs log-probabilities that there are not.
        """
        ...


@runtime_checkable
class ReadsBeliefs(Protocol):
    """A probe that also measures beliefs that were elicited elsewhere."""

    def measure_file(self, beliefs: Path) -> Findings:
        """What the beliefs of a file show.

        Raises:
            DataError: The file is missing or malformed.
        """
        ...


def register(kind: type[AnyProbe]) -> None:
    """Adds a probe's class to those of this process, such as one of a notebook.

    Raises:
        RequestError: Another probe is called so.
    """
    if kind.name in probes() and probe(kind.name) is not kind:
        raise RequestError(f"there is another probe that is called {kind.name}: rename one")
    _HERE[kind.name] = kind


def probe(name: str) -> type[AnyProbe]:
    """The class of a probe.

    Raises:
        RequestError: No probe is called so.
    """
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        found: type[AnyProbe] = getattr(import_module(module), kind)
        return found
    if name in _HERE:
        return _HERE[name]
    if name in _others():
        return _others()[name].load()  # type: ignore[no-any-return] # as it was registered
    raise RequestError(f"there is no probe {name!r}; the probes are {', '.join(probes())}")


def probes() -> tuple[str, ...]:
    """The names of all probes, Tacit's own first."""
    return (*BUILT_IN, *sorted({*_others(), *_HERE} - set(BUILT_IN)))


@cache
def _others() -> Mapping[str, metadata.EntryPoint]:
    return {one.name: one for one in metadata.entry_points(group=GROUP)}
