"""What the background asks: each fact and its negative as questions, and which anchor has which.

A fact that several anchors share is asked once; so is a question that two facts come down to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.probes.consistency.questions import background_question

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording

FACT = ("head", "relation", "tail")


@dataclass(frozen=True)
class Asked:
    """The distinct facts of all anchors, and the distinct questions they come down to.

    Args:
        facts: ``fact`` (from 0), head, relation, tail, negative (the other tail; null when there
            is none), ``positive_question`` and ``negative_question`` (places in ``texts``; the
            second null with the negative).
        links: ``anchor`` and ``fact``: which anchor has which fact.
        texts: The questions, without their question mark.
    """

    facts: pl.DataFrame
    links: pl.DataFrame
    texts: tuple[str, ...]

    @classmethod
    def of(cls, found: pl.DataFrame, templates: Templates, wording: Wording) -> Asked:
        """Puts background facts as questions.

        Args:
            found: ``question`` (the anchor's place), head, relation, tail and negative.
            templates: How relations are asked about.
            wording: How nouns are put.

        Raises:
            RequestError: A relation has no template.
        """
        import polars as pl

        _refuse_unworded(found, templates)
        facts = found.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        links = found.select(*FACT, anchor=pl.col("question").cast(pl.Int64))
        texts: dict[str, int] = {}

        def place(head: str, relation: str, tail: str | None) -> int | None:
            if tail is None:
                return None
            text = background_question((head, relation, tail), templates, wording)
            return texts.setdefault(text, len(texts))

        positive = [place(*fact) for fact in facts.select(FACT).iter_rows()]
        negative = [place(*fact) for fact in facts.select(*FACT[:2], "negative").iter_rows()]
        return cls(
            facts.with_columns(
                pl.Series("positive_question", positive, pl.Int64),
                pl.Series("negative_question", negative, pl.Int64),
            ),
            links.join(
                facts.select(*FACT, "fact"), on=FACT, how="left", maintain_order="left"
            ).select("anchor", "fact"),
            tuple(texts),
        )


def _refuse_unworded(found: pl.DataFrame, templates: Templates) -> None:
    """Says at once which relations cannot be asked about, before much work."""
    unworded = sorted(set(found["relation"]) - set(templates.relations))
    if unworded:
        raise RequestError(
            f"there is no template for {', '.join(unworded)}: add yours with --templates FILE, or "
            "name other --relations"
        )
