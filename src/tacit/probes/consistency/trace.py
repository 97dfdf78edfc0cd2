"""Trace how a single anchor question contributes to conceptual consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl


TABLES = ("anchors", "links", "facts", "choices", "consistency")


def trace(tables: Mapping[str, pl.DataFrame], anchor: str) -> dict[str, Any]:
    """Collect all results of a run that concern one anchor question."""
    import polars as pl

    anchors = tables["anchors"]
    place = anchors["anchor"].index_of(anchor)
    if place is None:
        some = ", ".join(anchors["anchor"].head(3))
        raise RequestError(f"the run has no anchor question {anchor!r}; its ids are {some}, …")
    of = tables["links"].filter(pl.col("anchor") == place)["fact"]
    facts = tables["facts"].filter(pl.col("fact").is_in(of.implode()))
    best = (
        tables["choices"]
        .filter(pl.col("anchor") == anchor)
        .sort("per_byte", descending=True, nulls_last=True, maintain_order=True)
        .unique("choice", keep="first", maintain_order=True)
    )
    return {
        **anchors.row(place, named=True),
        "facts_count": facts.height,
        "choices": best.drop("anchor").to_dicts(),
        "facts": facts.drop("fact").to_dicts(),
        "contribution": _contribution(anchors, place, tables["consistency"]),
    }


def _contribution(
    anchors: pl.DataFrame, place: int, consistency: pl.DataFrame
) -> dict[str, Any] | None:
    """Return the entry ``contribution`` of the result of ``trace``."""
    own = anchors.row(place, named=True)
    threshold = own["background_score"]
    if threshold is None or own["right"] is None:
        return None
    able = anchors.drop_nulls(["background_score", "right"])
    above = able.filter(able["background_score"] >= threshold)
    right, everything = int(above["right"].sum()), int(able["right"].sum())
    precision = right / above.height
    return {
        "background_score": threshold,
        "at_least": above.height,
        "right": right,
        "precision": precision,
        "all_right": everything,
        "adds": precision / everything if own["right"] else 0.0,
        "consistency": consistency["consistency"].item(),
    }


def traced(found: Mapping[str, Any]) -> str:
    """Format the result of ``trace`` as readable text."""
    return "\n".join(
        [*_question_lines(found), "", *_fact_lines(found), "", *_contribution_lines(found)]
    )


def _question_lines(found: Mapping[str, Any]) -> Iterator[str]:
    concept = "" if found["concept"] is None else f" (about {found['concept']})"
    yield f"{found['question']}{concept}"
    # The columns of the method that counts have no prefix. If the other method is choice, its
    # columns begin with "choice_".
    verified = "choice_choice" in found or not found["choices"]
    chosen = found.get("choice_choice", found["choice"])
    for choice in found["choices"]:
        marks = [
            mark
            for mark, holds in (
                ("correct", choice["choice"] == found["answer"]),
                ("chosen", choice["choice"] == chosen),
            )
            if holds
        ]
        score = "no score" if choice["per_byte"] is None else f"{choice['per_byte']:.4f}"
        where = _variant_text(choice["meta"], choice["pair"])
        told = f"  <- {' and '.join(marks)}" if marks else ""
        yield f"  {score:>9} nats per byte  {choice['choice']}  ({where}){told}"
    if verified:
        voted = found["meta"] is None and found["margin"] is not None
        unit = "of the votes" if voted else "nats"
        by = "" if found["margin"] is None else f", margin {found['margin']:.3f} {unit}"
        where = "all replies" if voted else _variant_text(found["meta"], found["pair"])
        yield f"  answer by verify: {found['choice'] or 'no answer'} ({where}{by})"
    if not found["choices"]:
        yield f"  correct answer: {found['answer']}"


def _fact_lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"background facts: {found['facts_count']:,}"
    for fact in found["facts"]:
        for side, truth in (("positive", "yes"), ("negative", "no")):
            if fact[f"{side}_question"] is None:
                yield f"       {fact['head']} {fact['relation']}: no possible negative"
                continue
            verdict = {True: "correct", False: "WRONG", None: "no answer"}[fact[f"{side}_right"]]
            yield f"  {verdict:>9}  {fact[f'{side}_question']}? {truth}; {_answer_text(fact, side)}"


def _answer_text(fact: Mapping[str, Any], side: str) -> str:
    """Describe a background question's answer and the answer's margin."""
    word, margin = fact[f"{side}_word"], fact[f"{side}_margin"]
    if fact[f"{side}_right"] is None:
        return "no answer could be scored"
    tie = "tied, counted as no; " if fact[f"{side}_tied"] else ""
    if word is None and margin is not None:
        by = f"by {margin:+.3g} in votes or contests"
        return f"{tie}answered {'yes' if margin > 0 else 'no'} ({by}{_replied(fact, side)})"
    where = _variant_text(fact[f"{side}_meta"], fact[f"{side}_pair"])
    by = "margin unknown" if margin is None else f"{margin:+.3f} nats"
    return f"{tie}answered {word!r} ({where}, {by}{_replied(fact, side)})"


def _replied(fact: Mapping[str, Any], side: str) -> str:
    """Return the share of positive votes and the number of unparsed replies, as text."""
    share = fact.get(f"{side}_share")
    if share is None:
        return ""
    low, high, unparsed = (fact[f"{side}_{name}"] for name in ("low", "high", "unparsed"))
    return (
        f"; {share:.1%} of the replies yes, 95 % CI {low:.1%} to {high:.1%}, {unparsed:,} unparsed"
    )


def _contribution_lines(found: Mapping[str, Any]) -> Iterator[str]:
    positive, negative = _share(found["positive_accuracy"]), _share(found["negative_accuracy"])
    yield (
        f"background score {_share(found['background_score'])}: {positive} of facts, "
        f"{negative} of negatives correct"
    )
    part = found["contribution"]
    if part is None:
        yield (
            "this anchor question has no background score or no answer, so conceptual consistency "
            "is computed without it"
        )
        return
    yield (
        f"{several(part['at_least'], 'anchor question has', 'anchor questions have')} this "
        f"background score or a higher background score; {part['right']:,} of these questions are "
        f"answered correctly: precision {part['precision']:.4f}"
    )
    if not part["all_right"]:
        yield "no anchor question is answered correctly, so conceptual consistency is undefined"
        return
    why = (
        f"{part['precision']:.4f}/{part['all_right']:,}" if part["adds"] else "its answer is wrong"
    )
    yield f"adds {part['adds']:.6f} ({why}) to conceptual consistency {part['consistency']:.4f}"


def _variant_text(meta: int | None, pair: str | None) -> str:
    if meta is None:
        return "no single prompt"
    return f"meta-prompt {meta}" if pair is None else f"meta-prompt {meta}, {pair}"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
