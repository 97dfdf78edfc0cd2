"""Ranking: where words stand among the words of a vocabulary, as answers to a prompt.

Many prompts share a vocabulary. Of a ranking only what the measures need is kept: the targets'
ranks and log-probabilities, the normaliser and the top.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.errors import PromptError
from tacit.requests.kind import improper
from tacit.requests.scoring import Prompt
from tacit.requests.vocabulary import Vocabulary
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from tacit.requests.kind import Key
    from tacit.requests.scoring import Scores

TOP = 20
"""How many of the best candidates a ranking keeps unless it is told."""

_FEW = 16  # targets: up to here one comparison each is faster than sorting the candidates


@dataclass(frozen=True, slots=True)
class RankingPrompt:
    """A text whose answers are a whole vocabulary.

    Args:
        text: As of a ``Prompt``.
        vocabulary: The candidates.
        targets: The words whose standing is kept; none where only the top is of interest.
        separator: As of a ``Prompt``.
        top: How many of the best candidates are kept.

    Raises:
        PromptError: As of a ``Prompt``, or a target that is no candidate.
        RequestError: The targets are one string.

    Examples:
        >>> from tacit import RankingPrompt, Vocabulary
        >>> words = Vocabulary(["bear", "fox", "car"])
        >>> RankingPrompt("A ___ has fur.", words, targets=("bear",)).targets
        ('bear',)
    """

    text: str
    vocabulary: Vocabulary
    targets: tuple[str, ...] = ()
    separator: str = " "
    top: int = TOP

    def __post_init__(self) -> None:
        convert_strings(self, "targets")
        shown = self.asking(self.vocabulary.words[:1]).shown
        for target in self.targets:
            if target not in self.vocabulary:
                raise PromptError(
                    f"{shown} is to rank {target!r}, which is none of the "
                    f"{several(len(self.vocabulary), 'word')} of its vocabulary: add it, or "
                    "leave it out"
                )
        if self.top < 0:
            raise PromptError(f"{shown} is to keep the best {self.top}; 0 is the least")

    def asking(self, words: Sequence[str]) -> Prompt:
        """The same text with some words as its answers."""
        return Prompt(self.text, strings(words, "words"), self.separator)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank and the log-probability of one target.

    Args:
        target: The candidate that was looked for.
        rank: From 1; every candidate of equal log-probability stands before the target, so that a
            tie is never in its favour. None where the target is missing.
        logprob: Its log-probability in nats, over all that the model could say; None where the
            model cannot write it.
        tokens: How many tokens it takes; 0 where unknown.

    Examples:
        >>> from tacit import Standing
        >>> Standing("bear", rank=1, logprob=-0.4, tokens=1).rank
        1
    """

    target: str
    rank: int | None
    logprob: float | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of a prompt's targets among the candidates.

    Args:
        targets: In the order of the prompt's targets.
        normaliser: Log of the summed probability of all candidates, in nats: subtract it from a
            log-probability to renormalise over the candidates. It may lie above 0 where the model
            writes two of them alike. None where all are missing.
        top: The best candidates with their log-probabilities, best first, equal ones by name.
        several: How many candidates took more than one token, missing ones left out.
        missing: How many candidates the model cannot write; they stand nowhere.
        unranked: Why nothing was ranked; None where something was.

    Examples:
        >>> from tacit import FakeModel, RankingPrompt, Vocabulary
        >>> logprobs = {"bear": -1.0, "fox": -2.0, "car": -3.0}
        >>> model = FakeModel(lambda prompt, word: logprobs[word])
        >>> prompt = RankingPrompt("A ___ has fur.", Vocabulary(logprobs), targets=("fox",))
        >>> (ranking,) = model.answer([prompt])
        >>> ranking.targets[0].rank
        2
    """

    targets: tuple[Standing, ...]
    normaliser: float | None
    top: tuple[tuple[str, float], ...]
    several: int = 0
    missing: int = 0
    unranked: str | None = None

    def __getitem__(self, target: str) -> Standing:
        """The standing of one target.

        Raises:
            KeyError: The prompt had no such target.
        """
        for standing in self.targets:
            if standing.target == target:
                return standing
        raise KeyError(target)

    @classmethod
    def of(cls, scores: Scores, targets: Sequence[str], top: int = TOP) -> Ranking:
        """Ranks a prompt's answers; one without a log-probability is missing.

        Raises:
            PromptError: A target is none of the answers.
            RequestError: The targets are one string.
        """
        import numpy as np

        known = {one.answer: one for one in scores.answers}
        vocabulary = Vocabulary(known)
        prompt = RankingPrompt("", vocabulary, strings(targets, "targets"), top=top)
        ordered = [known[word] for word in vocabulary.words]
        values = [np.nan if one.logprob is None else one.logprob for one in ordered]
        return rank(prompt, np.array(values, float), np.array([one.tokens for one in ordered]))


def rank(prompt: RankingPrompt, values: NDArray[np.float64], tokens: NDArray[Any]) -> Ranking:
    """Ranks the candidates of a prompt.

    Args:
        prompt: Names the candidates and the targets.
        values: Log-probabilities in nats in the order of the vocabulary's words; NaN is missing.
        tokens: How many tokens each word takes, in the same order.
    """
    import numpy as np

    known = np.flatnonzero(~np.isnan(values))
    return Ranking(
        targets=tuple(_standings(prompt, values, tokens)),
        normaliser=_log_sum_exp(values[known]) if known.size else None,
        top=_top(prompt, values, known),
        several=int((tokens[known] > 1).sum()),
        missing=len(values) - known.size,
    )


def _log_sum_exp(values: NDArray[np.float64]) -> float:
    import numpy as np

    largest = values.max()
    if np.isinf(largest):
        return float(largest)
    return float(largest + np.log(np.exp(values - largest).sum()))


def _standings(
    prompt: RankingPrompt, values: NDArray[np.float64], tokens: NDArray[Any]
) -> Iterator[Standing]:
    import numpy as np

    indices = [prompt.vocabulary.index(target) for target in prompt.targets]
    own = values[indices]
    if len(indices) < _FEW:
        ranks = [int((values >= one).sum()) for one in own]
    else:
        ordered = np.sort(values[~np.isnan(values)])
        ranks = (ordered.size - np.searchsorted(ordered, own, side="left")).tolist()
    for target, at, value, rank in zip(prompt.targets, indices, own.tolist(), ranks, strict=True):
        written = not np.isnan(value)
        yield Standing(
            target, rank if written else None, value if written else None, int(tokens[at])
        )


def _top(
    prompt: RankingPrompt, values: NDArray[np.float64], known: NDArray[Any]
) -> tuple[tuple[str, float], ...]:
    """The best; the words stand in the order of their names, which a stable sort keeps."""
    import numpy as np

    best = values[known]
    if 0 < prompt.top < best.size:
        least = np.partition(best, best.size - prompt.top)[best.size - prompt.top]
        known, best = known[best >= least], best[best >= least]
    order = np.argsort(-best, kind="stable")[: prompt.top]
    return tuple((prompt.vocabulary.words[known[at]], float(best[at])) for at in order)


class RankingKind:
    """How rankings are handled; each target is a part, and so is the top. See ``Kind``."""

    folder = "rankings"
    unsupported = (
        "ranks no vocabulary, only answers that it is given: "
        "use a local model, or give a list of answers"
    )

    def merge(self, requests: Iterable[RankingPrompt]) -> list[RankingPrompt]:
        """Those of one text, separator, vocabulary and top are one, with all their targets."""
        first: dict[Key, RankingPrompt] = {}
        targets: dict[Key, dict[str, None]] = {}
        for prompt in requests:
            key = _key(prompt)
            first.setdefault(key, prompt)
            targets.setdefault(key, {}).update(dict.fromkeys(prompt.targets))
        return [replace(prompt, targets=tuple(targets[key])) for key, prompt in first.items()]

    def keys(self, request: RankingPrompt) -> list[Key]:
        """One for the prompt, of which the top is kept, and one for each target."""
        key = _key(request)
        return [(*key, None), *((*key, target) for target in request.targets)]

    def without(self, request: RankingPrompt, cached: Collection[Key]) -> RankingPrompt | None:
        """Without the targets that are cached."""
        whole, *each = self.keys(request)
        pairs = zip(each, request.targets, strict=True)
        lacking = tuple(target for key, target in pairs if key not in cached)
        return replace(request, targets=lacking) if lacking or whole not in cached else None

    def text(self, request: RankingPrompt) -> tuple[str, ...]:
        """Text and separator."""
        return request.text, request.separator

    def shared(self, requests: Iterable[RankingPrompt]) -> Mapping[str, Any]:
        """The vocabularies, by digest."""
        return {prompt.vocabulary.digest: prompt.vocabulary for prompt in requests}

    def row(self, request: RankingPrompt) -> dict[str, Any]:
        """Text, separator, the vocabulary's digest, the top's length and the targets."""
        return {
            "text": request.text,
            "separator": request.separator,
            "vocabulary": request.vocabulary.digest,
            "k": request.top,
            "targets": list(request.targets),
        }

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> RankingPrompt:
        """The prompt of a row; its vocabulary is one of those that are shared."""
        vocabulary = shared[row["vocabulary"]]
        return RankingPrompt(
            row["text"], vocabulary, tuple(row["targets"]), row["separator"], row["k"]
        )

    def check(self, request: RankingPrompt, answer: Ranking) -> str | None:
        """Whether this ranks the prompt's targets by log-probabilities."""
        about = request.asking(request.vocabulary.words[:1]).shown
        if tuple(one.target for one in answer.targets) != request.targets:
            return f"ranked other targets than {about} has"
        values = [one.logprob for one in answer.targets] + [value for _, value in answer.top]
        wrong = (improper(value, f"a candidate of {about}") for value in values)
        return next(filter(None, wrong), None)

    def missing(self, request: RankingPrompt, reason: str) -> Ranking:
        """A ranking from which all candidates are missing."""
        targets = tuple(Standing(target, None, None, 0) for target in request.targets)
        return Ranking(targets, None, (), missing=len(request.vocabulary), unranked=reason)

    def schema(self) -> Mapping[str, Any]:
        """A row for each prompt; log-probabilities and the normaliser in nats, ``k`` asked for."""
        import polars as pl

        standing = {
            "target": pl.String,
            "rank": pl.Int32,
            "logprob": pl.Float64,
            "tokens": pl.Int32,
        }
        return {
            "text": pl.String,
            "separator": pl.String,
            "vocabulary": pl.String,
            "k": pl.Int32,
            "normaliser": pl.Float64,
            "several": pl.Int32,
            "missing": pl.Int32,
            "targets": pl.List(pl.Struct(standing)),
            "top": pl.List(pl.Struct({"word": pl.String, "logprob": pl.Float64})),
        }

    def frame(self, requests: Sequence[RankingPrompt], answers: Sequence[Ranking]) -> pl.DataFrame:
        """The rows of some prompts' rankings."""
        import polars as pl

        rows = [
            {
                "text": prompt.text,
                "separator": prompt.separator,
                "vocabulary": prompt.vocabulary.digest,
                "k": prompt.top,
                "normaliser": ranking.normaliser,
                "several": ranking.several,
                "missing": ranking.missing,
                "targets": [
                    {
                        "target": one.target,
                        "rank": one.rank,
                        "logprob": one.logprob,
                        "tokens": one.tokens,
                    }
                    for one in ranking.targets
                ],
                "top": [{"word": word, "logprob": logprob} for word, logprob in ranking.top],
            }
            for prompt, ranking in zip(requests, answers, strict=True)
        ]
        return pl.DataFrame(rows, schema=dict(self.schema()))

    def files(self, requests: Iterable[RankingPrompt]) -> Mapping[str, bytes]:
        """The vocabularies, each by its digest."""
        found = {prompt.vocabulary for prompt in requests}
        return {
            f"vocabularies/{one.digest[:32]}.json": json.dumps(
                one.words, ensure_ascii=False, indent=0
            ).encode()
            for one in found
        }

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """All: a text that was asked again for more targets has several rows."""
        return rows

    def cached(self, rows: pl.DataFrame) -> CachedRankings:
        """The rankings that rows hold."""
        return CachedRankings(rows)


class CachedRankings:
    """Rankings from rows; of two that tell the same, the earlier one counts. See ``Cached``."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._rows: dict[Key, Mapping[str, Any]] = {}
        self._targets: dict[Key, Standing] = {}
        for row in frame.iter_rows(named=True):
            key = (row["text"], row["separator"], row["vocabulary"], row["k"])
            self._rows.setdefault(key, row)
            for one in row["targets"]:
                self._targets.setdefault((*key, one["target"]), Standing(**one))

    @property
    def keys(self) -> Collection[Key]:
        """Each ranking's, and each target's."""
        return {(*key, None) for key in self._rows} | set(self._targets)

    def answer(self, request: RankingPrompt) -> Ranking:
        """The ranking of a prompt with its targets."""
        key = _key(request)
        row = self._rows[key]
        return Ranking(
            targets=tuple(self._targets[*key, target] for target in request.targets),
            normaliser=row["normaliser"],
            top=tuple((one["word"], one["logprob"]) for one in row["top"]),
            several=row["several"],
            missing=row["missing"],
        )


def _key(prompt: RankingPrompt) -> Key:
    """What the store knows a ranking by, whatever its targets."""
    return (prompt.text, prompt.separator, prompt.vocabulary.digest, prompt.top)
