"""The options that control how background facts are extracted from a knowledge base."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

from tacit.errors import RequestError
from tacit.options import option, validated
from tacit.strings import listed

_option = partial(option, group="Background facts", rare=True)
Version = Literal["review-lexicon", "review", "arxiv"]
Overlap = Literal["all-words", "content-words"]
Parts = Literal["separate", "pooled"]
Verbatim = Literal["on", "off"]
Negatives = Literal["uniform", "same-relation", "matched"]

LONGEST = 3
FREQUENT = 10_000
# Default maximum of facts per question for paths of several hops, which can yield thousands.
CAP = 200


@dataclass(frozen=True)
class BackgroundOptions:
    """Options for extracting background facts (Sahu et al. 2022, section 3.1)."""

    paper_version: Version = _option(
        "review-lexicon",
        help="Which words of a question are matched with concepts. arxiv: all words, as in the "
        "arXiv version of Sahu et al. 2022. review: only content words, as in the review "
        "version of the paper; a tagger finds the content words. review-lexicon: like "
        "review, but a lexicon finds the content words.",
    )
    tagger: str | None = _option(
        None,
        help="With --paper-version review: the name of a spaCy pipeline with a part-of-speech "
        "tagger.",
    )
    overlap: Overlap = _option(
        "all-words",
        help="A concept matches a question that contains more than half of the concept's words, "
        "counting all words (all-words) or only content words (content-words).",
    )
    parts: Parts = _option(
        "separate",
        help="How concepts are found. separate: the question and each choice are searched "
        "separately. pooled: the words of the question and of all its choices are searched "
        "together, so that one word of a concept may come from the question and another word "
        "from a choice.",
    )
    verbatim: Verbatim = _option(
        "on",
        help="on: find a concept wherever a question or a choice contains its label word for "
        "word, whatever the value of --overlap. off: use only the rule of --overlap.",
    )
    relations: str | None = _option(
        None,
        help="Names of the relations whose facts are extracted. Separate the relations by commas "
        "[default: the 14 relations of Sahu et al. 2022].",
    )
    length: int = _option(
        1,
        help="Maximum length of the paths of facts that connect two concepts: 1, 2 or 3 hops.",
        least=1,
    )
    cap: int | None = _option(
        None,
        help="Maximum number of facts per question, or 0 for no limit [default: no limit with "
        "--length 1, otherwise 200].",
        least=0,
    )
    seed: int = _option(
        0,
        help="Random seed for drawing negatives (false versions of facts). If --cap limits the "
        "number of facts, the seed determines which facts are included among facts with "
        "equal weights in the knowledge base.",
    )
    frequent: int = _option(
        FREQUENT,
        least=1,
        help="With --negatives uniform: draw the tails (second concepts) of false facts from "
        "the N most frequent words of the knowledge base.",
    )
    negatives: Negatives = _option(
        "uniform",
        help="How to draw the tail (second concept) that makes a fact false. uniform: any "
        "frequent word, as in Sahu et al. 2022. same-relation: the tail of another fact "
        "with the same relation. matched: like same-relation, but the drawn tail resembles "
        "the true tail as far as possible in part of speech, number of words, frequency and "
        "the number of facts that contain it.",
    )

    def __post_init__(self) -> None:
        validated(self)
        if (self.paper_version == "review") != (self.tagger is not None):
            raise RequestError(
                "--paper-version review requires --tagger NAME (an installed spaCy pipeline), and "
                "other versions accept no tagger"
            )
        if self.length > LONGEST:
            raise RequestError(f"invalid length {self.length}; expected 1, 2 or 3")
        if self.negatives != "uniform" and self.frequent != FREQUENT:
            raise RequestError(
                f"--frequent limits the words of --negatives uniform; --negatives {self.negatives} "
                "draws the tails of other facts: leave out --frequent"
            )

    @property
    def relation_names(self) -> tuple[str, ...] | None:
        return None if self.relations is None else listed(self.relations)

    @property
    def most_facts(self) -> int | None:
        return CAP if self.cap is None and self.length > 1 else self.cap or None

    def to_json(self) -> dict[str, Any]:
        """Return the options as values for JSON, with the maximum number of facts that applies."""
        return asdict(self) | {"relations": self.relation_names, "cap": self.most_facts}
