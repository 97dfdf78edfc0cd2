"""Ranking a vocabulary: what is asked, and where its targets stand.

The candidates are the words of a vocabulary that many prompts share. Of a ranking only what the
measures need is kept: the targets' ranks and log-probabilities, the normaliser and the top.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.errors import PromptError
from tacit.prompts import Prompt
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit.prompts import LogProbs

TOP = 20
"""How many of the best candidates a ranking keeps unless it is told."""

_FEW = 16  # targets: up to here one comparison each is faster than sorting the candidates


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words that compete; build it once, and let all prompts share it.

    Two of the same words are equal, whatever the order they were given in.

    Args:
        words: The candidates; kept sorted and distinct.

    Raises:
        PromptError: No word, an empty one, or half a character.
        RequestError: The words are one string.
    """

    words: tuple[str, ...] = field(repr=False)
    digest: str = field(init=False)
    """SHA-256 of the words."""
    _places: dict[str, int] = field(init=False, repr=False)

    def __init__(self, words: Iterable[str]) -> None:
        ordered = tuple(sorted(set(strings(words, "words"))))
        Prompt("", ordered)  # raises where they could not be anybody's answers
        object.__setattr__(self, "words", ordered)
        object.__setattr__(self, "digest", hashlib.sha256(json.dumps(ordered).encode()).hexdigest())
        object.__setattr__(self, "_places", {word: at for at, word in enumerate(ordered)})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def place(self, word: str) -> int:
        """The word's index among the words.

        Raises:
            KeyError: It is none of them.
        """
        return self._places[word]


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
    """Where one target stands.

    Args:
        target: The candidate that was looked for.
        rank: From 1; every candidate of equal log-probability stands before the target, so that a
            tie is never in its favour. None where the target is missing.
        logprob: Its log-probability in nats, over all that the model could say; None where the
            model cannot write it.
        tokens: How many tokens it takes; 0 where unknown.
    """

    target: str
    rank: int | None
    logprob: float | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """Where a prompt's targets stand among the candidates.

    Args:
        targets: In the order of the prompt's targets.
        normaliser: Log of the summed probability of all candidates, in nats: subtract it from a
            log-probability to renormalise over the candidates. It may lie above 0 where the model
            writes two of them alike. None where all are missing.
        top: The best candidates with their log-probabilities, best first, equal ones by name.
        several: How many candidates took more than one token, missing ones left out.
        missing: How many candidates the model cannot write; they stand nowhere.
        unranked: Why nothing was ranked; None where something was.
    """

    targets: tuple[Standing, ...]
    normaliser: float | None
    top: tuple[tuple[str, float], ...]
    several: int = 0
    missing: int = 0
    unranked: str | None = None

    @classmethod
    def without(cls, prompt: RankingPrompt, reason: str) -> Ranking:
        """A ranking from which all candidates are missing, for one reason."""
        targets = tuple(Standing(target, None, None, 0) for target in prompt.targets)
        return cls(targets, None, (), missing=len(prompt.vocabulary), unranked=reason)

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
    def of(cls, scores: LogProbs, targets: Sequence[str], top: int = TOP) -> Ranking:
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

    places = [prompt.vocabulary.place(target) for target in prompt.targets]
    own = values[places]
    if len(places) < _FEW:
        ranks = [int((values >= one).sum()) for one in own]
    else:
        ordered = np.sort(values[~np.isnan(values)])
        ranks = (ordered.size - np.searchsorted(ordered, own, side="left")).tolist()
    for target, at, value, rank in zip(prompt.targets, places, own.tolist(), ranks, strict=True):
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
