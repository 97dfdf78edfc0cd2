"""Ranking prompts, which request the ranks of words among all words of a vocabulary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.errors import PromptError
from tacit.requests.kind import Kind, StoredValues, improper, wrong
from tacit.requests.scoring import Prompt, Scores, ScoringKind
from tacit.requests.vocabulary import Vocabulary, spaced
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TOP = 20
"""Default number of top candidates in a ranking."""

_FEW = 16  # targets: with fewer, one comparison per target is faster than sorting


@dataclass(frozen=True, slots=True)
class RankingPrompt:
    """A text whose candidate answers are the words of a vocabulary.

    Args:
        text: The text, with at most one blank, as in ``A ___ has fur.`` ``___`` marks the blank.
        vocabulary: The candidate words.
        targets: The words whose ranks and log-probabilities are returned. If empty, only the top
            candidates are returned.
        separator: Text that is inserted between the prompt's text and a candidate word if the text
            has no blank.
        top: Number of top candidates to return.

    Raises:
        PromptError: If the text is invalid for a ``Prompt``, a target is not in the vocabulary, or
            ``top`` is negative.
        RequestError: If ``targets`` is a single string.

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
                    f"{shown} has the target {target!r}, which is not among the "
                    f"{several(len(self.vocabulary), 'word')} of its vocabulary: add it to the "
                    "vocabulary, or remove the target"
                )
        if self.top < 0:
            raise PromptError(f"{shown} has top = {self.top}; it must be at least 0")

    def asking(self, words: Sequence[str]) -> Prompt:
        """Return a prompt with the same text and the given words as its answers."""
        return Prompt(self.text, strings(words, "words"), self.separator)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rank and the log-probability of one target word.

    Args:
        target: The target word.
        rank: The rank, counted from 1. A target ranks after all candidates with the same
            log-probability, so that ties never favour the target. The rank is None if the target
            has no log-probability.
        logprob: Log-probability in nats. The log-probability is not renormalised over the
            candidates. ``logprob`` is None if the model cannot generate the target.
        tokens: Number of tokens of the target; 0 if unknown.

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
        targets: One ``Standing`` per target, in the order of the prompt's targets.
        normaliser: Logarithm of the candidates' summed probability, in nats. To renormalise a
            log-probability over the candidates, subtract ``normaliser`` from it. If two candidates
            consist of the same tokens, both are counted, so ``normaliser`` can exceed 0.
            ``normaliser`` is None if no candidate has a log-probability.
        top: The candidates with the highest log-probabilities, each with its log-probability. The
            candidate with the highest log-probability is first. Candidates with equal
            log-probabilities are in alphabetical order.
        several: Number of candidates with two or more tokens, excluding candidates that the model
            cannot generate.
        missing: Number of candidates that the model cannot generate; these candidates have no rank.
        unranked: The reason why no candidate was ranked; None if candidates were ranked.

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
        """Return the rank and the log-probability of one target."""
        for standing in self.targets:
            if standing.target == target:
                return standing
        raise KeyError(target)

    @classmethod
    def of(cls, scores: Scores, targets: Sequence[str], top: int = TOP) -> Ranking:
        """Rank scored answers; answers without a log-probability count as missing.

        Raises:
            PromptError: If a target is not among the scored answers.
            RequestError: If ``targets`` is a single string.
        """
        import numpy as np

        known = {one.answer: one for one in scores.answers}
        vocabulary = Vocabulary(known)
        prompt = RankingPrompt("", vocabulary, strings(targets, "targets"), top=top)
        ordered = [known[word] for word in vocabulary.words]
        values = [np.nan if one.logprob is None else one.logprob for one in ordered]
        return rank(prompt, np.array(values, float), np.array([one.tokens for one in ordered]))


def rank(prompt: RankingPrompt, values: NDArray[np.float64], tokens: NDArray[Any]) -> Ranking:
    """Rank all candidates of a prompt by their log-probabilities.

    Args:
        prompt: The prompt, with its vocabulary and targets.
        values: Log-probabilities in nats, in the order of the vocabulary's words; NaN marks a
            missing value.
        tokens: Number of tokens of each word, in the order of the vocabulary's words.
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
    """Return the top candidates; candidates with equal values are in alphabetical order."""
    import numpy as np

    best = values[known]
    if 0 < prompt.top < best.size:
        least = np.partition(best, best.size - prompt.top)[best.size - prompt.top]
        known, best = known[best >= least], best[best >= least]
    order = np.argsort(-best, kind="stable")[: prompt.top]
    return tuple((prompt.vocabulary.words[known[at]], float(best[at])) for at in order)


class RankingKind(Kind[RankingPrompt, Ranking]):
    """Each target is stored, and, as a part without a target, what all targets share."""

    folder = "rankings"
    unsupported = (
        "does not rank a vocabulary, and only scores given answers: use a local model, or give a "
        "list of answers"
    )
    parts, keyed = "targets", ("text", "separator", "vocabulary", "k", "target")

    key = attrgetter("text", "separator", "vocabulary.digest", "top")

    def parts_of(self, request: RankingPrompt) -> tuple[str | None, ...]:
        """Return None, for what all targets share, and each target."""
        return None, *request.targets

    def with_parts(self, request: RankingPrompt, parts: Iterable[str | None]) -> RankingPrompt:
        """Return the prompt with other targets; what all targets share is always asked."""
        return super().with_parts(request, (part for part in parts if part is not None))

    def schema(self) -> Mapping[str, Any]:
        """Return the stored columns, with log-probabilities in nats.

        ``k`` is the requested number of top candidates; ``normaliser``, ``several``, ``missing``
        and ``top`` are those of ``Ranking``.
        """
        import polars as pl

        return {
            "text": pl.String,
            "separator": pl.String,
            "vocabulary": pl.String,
            "k": pl.Int32,
            "target": pl.String,
            "rank": pl.Int32,
            "logprob": pl.Float64,
            "tokens": pl.Int32,
            "normaliser": pl.Float64,
            "top": pl.List(pl.Struct({"word": pl.String, "logprob": pl.Float64})),
            "several": pl.Int32,
            "missing": pl.Int32,
        }

    def rows(self, request: RankingPrompt, answer: Ranking) -> Iterable[tuple[Any, ...]]:  # noqa: ARG002 - see Kind
        """Return a row without a target, and a row for each target."""
        top = [{"word": word, "logprob": logprob} for word, logprob in answer.top]
        yield None, None, None, None, answer.normaliser, top, answer.several, answer.missing
        for one in answer.targets:
            yield one.target, one.rank, one.logprob, one.tokens, None, None, None, None

    def value(self, *row: Any) -> Standing | Ranking:  # noqa: ANN401 - see Kind
        """Return a target's ``Standing``, or the ranking without targets."""
        if row[0] is not None:
            return Standing(*row[:4])
        normaliser, top, passes, missing = row[4:]
        words = tuple((one["word"], one["logprob"]) for one in top)
        return Ranking((), normaliser, words, passes, missing)

    def answer(self, request: RankingPrompt, stored: StoredValues) -> Ranking:
        """Return the ranking with the prompt's targets."""
        values = stored[self.key(request)]
        whole: Ranking = values[None]
        return replace(whole, targets=tuple(map(values.__getitem__, request.targets)))

    def files(self, requests: Iterable[RankingPrompt]) -> Mapping[str, bytes]:
        """Return the vocabularies as JSON files, with shortened digests as file names."""
        found = {prompt.vocabulary for prompt in requests}
        return {
            f"vocabularies/{one.digest[:32]}.json": json.dumps(
                one.words, ensure_ascii=False, indent=0
            ).encode()
            for one in found
        }

    def check(self, request: RankingPrompt, answer: Ranking) -> str | None:
        """Return an error message for wrong targets or invalid log-probabilities, or else None."""
        about = request.asking(request.vocabulary.words[:1]).shown
        if tuple(one.target for one in answer.targets) != request.targets:
            return f"ranked targets other than those of {about}"
        values = [one.logprob for one in answer.targets] + [value for _, value in answer.top]
        found = next(filter(improper, values), None)
        return None if found is None else wrong(found, f"a candidate of {about}")

    def both_readings(self, request: RankingPrompt) -> tuple[str, str] | None:
        """See ``Kind.both_readings``; the answers are the candidates."""
        prompt = request.asking(request.vocabulary.words[:1])
        return ScoringKind().both_readings(prompt, spaced(request.vocabulary))

    def missing(self, request: RankingPrompt, reason: str) -> Ranking:
        """Return a ranking in which all candidates are missing for the given reason."""
        targets = tuple(Standing(target, None, None, 0) for target in request.targets)
        return Ranking(targets, None, (), missing=len(request.vocabulary), unranked=reason)
