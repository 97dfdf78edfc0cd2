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
    """Options of the extraction of background facts (Sahu et al. 2022, section 3.1)."""

    paper_version: Literal["review-lexicon", "review", "arxiv"] = option(
        "review-lexicon",
        help=(
            "Words to match: review-lexicon (content words by lexicon), review (content words by "
            "tagger) or arxiv (all words)."
        ),
        group=EXTRACTION,
    )
    tagger: str | None = option(
        None,
        help="With --paper-version review: a spaCy pipeline with a tagger.",
        group=EXTRACTION,
    )
    overlap: Literal["all-words", "content-words"] = option(
        "all-words",
        help="Count matches over all-words or content-words; more than half must match.",
        group=EXTRACTION,
    )
    parts: Literal["separate", "pooled"] = option(
        "separate",
        help="Match concepts with the question and each choice separately, or pooled.",
        group=EXTRACTION,
    )
    verbatim: Literal["on", "off"] = option(
        "on",
        help="Also include concepts that occur verbatim: on or off.",
        group=EXTRACTION,
    )
    relations: str | None = option(
        None,
        help="Relations, separated by commas [default: the 14 of Sahu et al. 2022].",
        group=EXTRACTION,
    )
    length: int = option(1, help="The longest path: 1, 2 or 3 hops.", group=EXTRACTION)
    cap: int | None = option(
        None,
        help="Maximum facts per question, 0 for all [default: all with one hop, else 200].",
        group=EXTRACTION,
    )
    seed: int = option(
        0,
        help="Seed of the negatives and of ties at --cap.",
        group=EXTRACTION,
    )
    frequent: int = option(
        10_000,
        help="With --negatives uniform: draw from the N most frequent words.",
        group=EXTRACTION,
    )
    negatives: Literal["uniform", "same-relation", "matched"] = option(
        "uniform",
        help=(
            "Tails of negatives: uniform (any frequent word, as in the paper), same-relation (of "
            "other facts of the relation) or matched (also alike in form, frequency and degree)."
        ),
        group=EXTRACTION,
    )

    def extraction(self) -> Extraction:
        """Convert the options to an ``Extraction``.

        Raises:
            RequestError: An option is unknown or out of range.
        """
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
