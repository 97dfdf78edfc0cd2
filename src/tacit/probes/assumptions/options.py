"""The options of the assumptions probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit.errors import RequestError
from tacit.options import option, sha256_of

Articles = Literal["fixed", "candidate"]
ConceptPreset = Literal["paper", "tagged", "all"]
ResponsePreset = Literal["people", "feature", "first"]

_VOCABULARIES = ("shared", "own", "concepts")


def _of_vocabulary(name: str) -> Mapping[str, Any]:
    file = vocabulary_file(name)
    return {} if file is None else sha256_of(file)


def vocabulary_file(name: str) -> Path | None:
    """Return ``name`` as the path of a vocabulary file; None for a built-in vocabulary."""
    if name in _VOCABULARIES:
        return None
    if not Path(name).is_file():
        raise RequestError(
            f"unknown vocabulary {name!r}; expected one of {', '.join(_VOCABULARIES)}, or an "
            "existing file"
        )
    return Path(name)


@dataclass(frozen=True)
class AssumptionsOptions:
    """Options that select feature norms, concepts, prompts, and the candidate words to rank."""

    norms: Path = option(
        help="A file of feature norms: CSLB, McRae, or a table with the columns concept, feature "
        "and pf (production frequency)."
    )
    corrections: Path | None = option(
        None,
        help="A table with your own wordings of properties, with the columns concept, feature and "
        "wording.",
        rare=True,
    )
    articles: Articles = option(
        "fixed",
        help='The article in retrieval prompts: fixed (always "A") or candidate ("a" or '
        '"an", according to the candidate word).',
        rare=True,
    )
    concepts: ConceptPreset = option(
        "paper",
        help=(
            "The concepts to use. paper: one-word concepts without a sense tag. tagged: in "
            "addition, one-word concepts with a sense tag, such as seal_(animal); the tag is "
            "removed. all: in addition, concepts of several words, but only in elicitation "
            "prompts."
        ),
        rare=True,
    )
    responses: ResponsePreset = option(
        "people",
        help=(
            "Which wordings of a feature count as people's responses, and how each response is "
            "weighted. people: all wordings that people used; the weight is the number of "
            "people who used the wording. feature: all wordings that people used, and all "
            "wordings in the feature's name; the weight is the feature's production frequency. "
            'first: only the first wording in the feature\'s name ("has fur" for "has fur_hair"); '
            "the weight is the feature's production frequency."
        ),
        rare=True,
    )
    least: int = option(
        10,
        help="Build retrieval prompts, which ask for a concept by its properties, only for "
        "concepts with at least N properties that fit grammatically into a prompt.",
        least=1,
        rare=True,
    )
    least_people: int = option(
        0, help="Use only properties that at least N people named.", least=0, rare=True
    )
    most_words: int | None = option(
        None,
        help="In retrieval prompts (given properties, which concept?), use only "
        "properties of at most N words.",
        least=1,
        rare=True,
    )
    limit: int | None = option(
        None,
        help="Use only the first N concepts that pass all filters; retrieval and elicitation have "
        "different filters, so their concepts can differ.",
        least=1,
    )
    vocabulary: str = option(
        "shared",
        metavar="shared|own|concepts|FILE",
        help=(
            "Candidates in retrieval: shared (words that are one token in every model), own (for "
            "each model, the words that are one token in this model), concepts (the concepts of "
            "the norms) or a FILE with one word per line."
        ),
        data=_of_vocabulary,
    )
    wording: Literal["blank-last", "sentence", "both"] = option(
        "blank-last",
        help="Wording of the retrieval prompts for causal models: blank-last (the prompt ends with "
        "the blank), sentence (the same prompts as for masked models) or both.",
        rare=True,
    )
    orders: Literal["all", "main"] = option(
        "all",
        help=(
            "How the properties in prompts are ordered: main (by decreasing frequency, which is "
            "faster) or all (also by increasing frequency and in random orders, and prompts that "
            "state the least frequent properties)."
        ),
    )
    fast: bool = option(
        default=False,
        help="Ask less than Weir et al. 2020: properties in the main order alone, whatever "
        "--orders says, and no elicitation prompts without “Everyone knows that”.",
    )
    top: int = option(
        20,
        help="How many of the best candidates are stored for each ranking.",
        least=1,
        rare=True,
    )
    seed: int = option(0, help="Random seed of the random orders of properties.", rare=True)
