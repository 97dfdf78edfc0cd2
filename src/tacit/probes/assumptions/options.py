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
    """The file of a vocabulary; None where it is no file.

    Raises:
        RequestError: There is neither such a vocabulary nor such a file.
    """
    if name in _VOCABULARIES:
        return None
    if not Path(name).is_file():
        raise RequestError(
            f"the vocabulary {name!r} is none of {', '.join(_VOCABULARIES)}, and there is no such "
            "file"
        )
    return Path(name)


@dataclass(frozen=True)
class NormsOptions:
    """Which norms are read, and which of their concepts, properties and responses are used."""

    norms: Path = option(help="CSLB's norms.dat, McRae's file, or concept, feature, pf.")
    corrections: Path | None = option(
        None, help="Your own wordings: a table or YAML with concept, feature, wording."
    )
    articles: Literal["fixed", "candidate"] = option(
        "fixed", help="Retrieval: A for all, or each candidate's own, scored with it."
    )
    concepts: Literal["paper", "tagged", "all"] = option(
        "paper",
        help="paper: without seal_(animal) and the like; tagged: the tag is stripped; all: also "
        "several words, in elicitation.",
    )
    responses: Literal["people", "feature", "first"] = option(
        "people",
        help="Elicitation: alternatives with the number of people who gave each, all with that of "
        "the feature, or the feature's first wording.",
    )
    least: int = option(
        10, help="Retrieval: only concepts with so many usable properties.", least=1
    )
    least_people: int = option(0, help="Only properties that so many people named.", least=0)
    most_words: int | None = option(
        None, help="Retrieval: only properties of at most so many words.", least=1
    )
    limit: int | None = option(None, help="Only the first so many concepts that are left.", least=1)

    def own_wordings(self) -> tuple[Correction, ...]:
        """The corrections.

        Raises:
            DataError: They are missing or malformed.
        """
        from tacit.probes.assumptions.corrections import read_corrections

        return read_corrections(self.corrections) if self.corrections else ()


@dataclass(frozen=True)
class AssumptionsOptions(NormsOptions):
    """What is asked of models."""

    vocabulary: str = option(
        "shared",
        metavar="shared|own|concepts|FILE",
        help="Retrieval ranks the words that all models share, own ones, the concepts, or those "
        "of a file, one per line.",
        data=_of_vocabulary,
    )
    wording: Literal["blank-last", "sentence", "both"] = option(
        "blank-last", help="How a causal model is asked for a concept."
    )
    orders: Literal["all", "main"] = option(
        "all", help="all (also bottom, increasing and random), or main, which is quicker."
    )
    top: int = option(20, help="How many of the best candidates are kept of each ranking.", least=1)
    seed: int = option(0, help="Where the draws of the random baseline begin.")
