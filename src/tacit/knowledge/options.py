"""The options that control how background facts are extracted from a knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.options import option

if TYPE_CHECKING:
    from tacit.knowledge.background import Extraction

EXTRACTION = "Background facts"


@dataclass(frozen=True)
class BackgroundOptions:
    """Options for extracting background facts (Sahu et al. 2022, section 3.1)."""

    paper_version: Literal["review-lexicon", "review", "arxiv"] = option(
        "review-lexicon",
        help=(
            "Which words of a question are matched with concepts. arxiv: all words, as in the "
            "arXiv version of Sahu et al. 2022. review: only content words, as in the review "
            "version of the paper; a tagger finds the content words. review-lexicon: like "
            "review, but a lexicon finds the content words."
        ),
        group=EXTRACTION,
    )
    tagger: str | None = option(
        None,
        help="With --paper-version review: the name of a spaCy pipeline with a part-of-speech "
        "tagger.",
        group=EXTRACTION,
    )
    overlap: Literal["all-words", "content-words"] = option(
        "all-words",
        help=(
            "A concept matches a question that contains more than half of the concept's words, "
            "counting all words (all-words) or only content words (content-words)."
        ),
        group=EXTRACTION,
    )
    parts: Literal["separate", "pooled"] = option(
        "separate",
        help=(
            "How concepts are found. separate: the question and each choice are searched "
            "separately. pooled: the words of the question and of all its choices are searched "
            "together, so that one word of a concept may come from the question and another word "
            "from a choice."
        ),
        group=EXTRACTION,
    )
    verbatim: Literal["on", "off"] = option(
        "on",
        help="on: find a concept wherever a question or a choice contains its label word for "
        "word, whatever the value of --overlap. off: use only the rule of --overlap.",
        group=EXTRACTION,
    )
    relations: str | None = option(
        None,
        help=(
            "Names of the relations whose facts are extracted. Separate the relations by commas "
            "[default: the 14 relations of Sahu et al. 2022]."
        ),
        group=EXTRACTION,
    )
    length: int = option(
        1,
        help="Maximum length of the paths of facts that connect two concepts: 1, 2 or 3 hops.",
        group=EXTRACTION,
    )
    cap: int | None = option(
        None,
        help=(
            "Maximum number of facts per question, or 0 for no limit [default: no limit with "
            "--length 1, otherwise 200]."
        ),
        group=EXTRACTION,
    )
    seed: int = option(
        0,
        help=(
            "Random seed for drawing negatives (false versions of facts). If --cap limits the "
            "number of facts, the seed determines which facts are included among facts with "
            "equal weights in the knowledge base."
        ),
        group=EXTRACTION,
    )
    frequent: int = option(
        10_000,
        help="With --negatives uniform: draw the tails (second concepts) of false facts from "
        "the N most frequent words of the knowledge base.",
        group=EXTRACTION,
    )
    negatives: Literal["uniform", "same-relation", "matched"] = option(
        "uniform",
        help=(
            "How to draw the tail (second concept) that makes a fact false. uniform: any "
            "frequent word, as in Sahu et al. 2022. same-relation: the tail of another fact "
            "with the same relation. matched: like same-relation, but the drawn tail resembles "
            "the true tail as far as possible in part of speech, number of words, frequency and "
            "the number of facts that contain it."
        ),
        group=EXTRACTION,
    )

    def extraction(self) -> Extraction:
        """Convert the options to an ``Extraction``."""
        from tacit.knowledge.background import CAP, Extraction
        from tacit.knowledge.concepts import Matching
        from tacit.knowledge.negatives import Draw
        from tacit.knowledge.words import Words
        from tacit.strings import listed

        cap = CAP if self.cap is None and self.length > 1 else self.cap
        return Extraction(
            Words(self.paper_version, self.tagger),
            Matching(self.overlap, self.parts, self.verbatim),
            None if self.relations is None else listed(self.relations),
            self.length,
            cap or None,
            Draw(self.seed, self.frequent, self.negatives),
        )
