"""The options of the assumptions probe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import RequestError
from tacit.options import option, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.probes.assumptions.corrections import Correction

_VOCABULARIES = ("shared", "own", "concepts")


def _of_vocabulary(name: str) -> Mapping[str, Any]:
    file = vocabulary_file(name)
    return {} if file is None else sha256_of(file)


def vocabulary_file(name: str) -> Path | None:
    """Return the path of a vocabulary's file; None if the name is a built-in vocabulary.

    Raises:
        RequestError: The name is neither a built-in vocabulary nor a file.
    """
    if name in _VOCABULARIES:
        return None
    if not Path(name).is_file():
        raise RequestError(
            f"unknown vocabulary {name!r}; expected one of {', '.join(_VOCABULARIES)}, or an "
            "existing file"
        )
    return Path(name)


@dataclass(frozen=True)
class NormsOptions:
    """The norms, and which of their concepts, properties and responses are used."""

    norms: Path = option(help="Feature norms: CSLB, McRae, or a table with concept, feature, pf.")
    corrections: Path | None = option(
        None, help="Your own wordings: a table or YAML with concept, feature, wording."
    )
    articles: Literal["fixed", "candidate"] = option(
        "fixed",
        help="Retrieval: fixed (always A) or candidate (each candidate has its own article).",
    )
    concepts: Literal["paper", "tagged", "all"] = option(
        "paper",
        help=(
            "Concepts to use. paper: one word, no sense tag; tagged: also seal_(animal), "
            "without its tag; all: also several words, in elicitation."
        ),
    )
    responses: Literal["people", "feature", "first"] = option(
        "people",
        help=(
            "Elicitation: count each alternative by its people (people), all by the "
            "feature's frequency (feature), or the first wording only (first)."
        ),
    )
    least: int = option(
        10, help="Retrieval: only concepts with at least N usable properties.", least=1
    )
    least_people: int = option(0, help="Only properties that at least N people named.", least=0)
    most_words: int | None = option(
        None, help="Retrieval: only properties of at most N words.", least=1
    )
    limit: int | None = option(None, help="Only the first N concepts after filtering.", least=1)

    def own_wordings(self) -> tuple[Correction, ...]:
        """Read the corrections; none without a file.

        Raises:
            DataError: The file is missing or malformed.
        """
        from tacit.probes.assumptions.corrections import read_corrections

        return read_corrections(self.corrections) if self.corrections else ()


@dataclass(frozen=True)
class AssumptionsOptions(NormsOptions):
    """The options for the norms, and for the prompts and rankings of models."""

    vocabulary: str = option(
        "shared",
        metavar="shared|own|concepts|FILE",
        help=(
            "Retrieval: candidates are the words that all models share, each model's own, "
            "the concepts, or those of a file, one per line."
        ),
        data=_of_vocabulary,
    )
    wording: Literal["blank-last", "sentence", "both"] = option(
        "blank-last", help="Retrieval prompt for causal models."
    )
    orders: Literal["all", "main"] = option(
        "all", help="all (also bottom, increasing and random), or main, which is faster."
    )
    top: int = option(20, help="Number of best candidates to store per ranking.", least=1)
    seed: int = option(0, help="Seed of the random baseline.")
