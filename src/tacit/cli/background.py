"""What the verbs that extract backgrounds share."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tacit.cli import options as given
from tacit.english import several

if TYPE_CHECKING:
    from tacit.knowledge.background import Extraction
    from tacit.knowledge.concepts import Overlap, Parts, Verbatim
    from tacit.knowledge.words import Version


@dataclass(frozen=True)
class BackgroundOptions:
    """How backgrounds are extracted, as the command line says it.

    Args:
        version: Which words count.
        tagger: A spaCy pipeline, for the version review.
        overlap: Of which of a concept's words more than half must be in the question.
        parts: Whether question and choices are matched apart, or pooled.
        verbatim: Whether concepts that are there verbatim count as well.
        relations: Relations with commas between; None for the paper's.
        length: The longest path.
        cap: Most facts of a question; 0 for all, None for the default.
        seed: The seed of the negatives and of the cap.
        frequent: From how many frequent words.
    """

    version: given.WordsVersion = "review-lexicon"
    tagger: given.Tagger = None
    overlap: given.OverlapRule = "all-words"
    parts: given.PartsRule = "separate"
    verbatim: given.VerbatimRule = "on"
    relations: given.Relations = None
    length: given.PathLength = 1
    cap: given.FactCap = None
    seed: given.NegativeSeed = 0
    frequent: given.FrequentWords = 10_000

    def extraction(self) -> Extraction:
        """The options as those of an extraction.

        Raises:
            RequestError: One is unknown or out of range.
        """
        from tacit.knowledge.background import CAP, Extraction
        from tacit.knowledge.concepts import Matching
        from tacit.knowledge.negatives import Draw
        from tacit.knowledge.words import Words

        cap = CAP if self.cap is None and self.length > 1 else self.cap
        return Extraction(
            Words(cast("Version", self.version), self.tagger),
            Matching(
                cast("Overlap", self.overlap),
                cast("Parts", self.parts),
                cast("Verbatim", self.verbatim),
            ),
            None if self.relations is None else given.listed(self.relations),
            self.length,
            cap or None,
            Draw(self.seed, self.frequent),
        )


def spare_torch(tagger: str | None) -> None:
    """Keeps spaCy from loading torch, which takes seconds and rules have no use for.

    Args:
        tagger: A pipeline that is to be loaded, which may need it.
    """
    if tagger is None and "torch" not in sys.modules:
        sys.modules["torch"] = cast("Any", None)  # as if it were not installed
        try:
            importlib.import_module("spacy")
        finally:
            del sys.modules["torch"]


def readable(summary: dict[str, Any]) -> str:
    """How many facts the questions have, for a person."""
    from tacit.knowledge.counts import counts_in_words

    per = summary["per_question"]
    spread = ", ".join(f"{name.replace('_', ' ')} {count:.0f}" for name, count in per.items())
    read = (
        f"{several(summary['questions'], 'question')}: {summary['with_facts']:,} with background "
        f"facts, {summary['without_facts']:,} without"
    )
    lines = [read, f"{several(summary['facts'], 'fact')}, {summary['distinct_facts']:,} distinct"]
    if summary["with_facts"]:
        lines.append(f"facts of a question that has some: {spread}")
    lines += counts_in_words(summary)
    if summary["without_negative"]:
        facts = several(summary["without_negative"], "distinct fact has", "distinct facts have")
        lines.append(f"{facts} no possible negative")
    width = max(map(len, summary["relations"]), default=0)
    lines += ["", *(f"{name:<{width}}{n:>9,}" for name, n in summary["relations"].items())]
    return "\n".join(lines)
