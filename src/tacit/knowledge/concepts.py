"""Which concepts of a knowledge base are in a text (METHODS section 1, "Concepts of an anchor")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from tacit.knowledge.base import KnowledgeBase

Overlap = Literal["all-words", "content-words"]

OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)

# Of the words that stand in a concept's label, which must be more than half in the text.
_OF = {"all-words": ("true", "words"), "content-words": ("NOT stop", "content")}


def concepts_in(
    base: KnowledgeBase, bags: Sequence[Collection[str]], overlap: Overlap = "all-words"
) -> pl.DataFrame:
    """The concepts more than half of whose words are among a bag's lemmas.

    A word is among them when one of its lemmas is. A concept of stop words alone is in no text.

    Args:
        base: The knowledge base.
        bags: The lemmas of each text's content words.
        overlap: Whether all of a concept's words are counted, or its content words.

    Returns:
        ``text`` (the bag's place in the sequence) and ``concept``, each pair once, in order.

    Raises:
        RequestError: The overlap is unknown.
    """
    import polars as pl

    if overlap not in _OF:
        raise RequestError(f"the overlap {overlap!r} is none of {', '.join(OVERLAPS)}")
    counted, words = _OF[overlap]
    pairs = [(text, lemma) for text, bag in enumerate(bags) for lemma in sorted(bag)]
    lemmas = pl.DataFrame(pairs, {"text": pl.Int32, "lemma": pl.String}, orient="row")
    return base.table(
        f"""
        WITH met AS (
            SELECT DISTINCT text, concept, {words} AS words, place
            FROM lemmas JOIN base.terms USING (lemma) WHERE content > 0 AND {counted})
        SELECT text, concept FROM met GROUP BY text, concept, words
        HAVING 2 * count(*) > words ORDER BY text, concept""",
        lemmas=lemmas,
    )
