"""One question of a consistency run, as a person follows it in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def echo_anchor(found: Mapping[str, Any]) -> None:
    """Prints what ``tacit.probes.consistency.trace.trace`` gives."""
    typer.echo("\n".join([*_question(found), "", *_facts(found), "", *_contribution(found)]))


def _question(found: Mapping[str, Any]) -> Iterator[str]:
    concept = "" if found["concept"] is None else f" (about {found['concept']})"
    yield f"{found['question']}{concept}"
    for choice in found["choices"]:
        marks = [
            mark
            for mark, holds in (
                ("right", choice["choice"] == found["answer"]),
                ("chosen", choice["choice"] == found["choice"]),
            )
            if holds
        ]
        score = "no score" if choice["per_byte"] is None else f"{choice['per_byte']:.4f}"
        where = _form(choice["meta"], choice["pair"])
        told = f"  <- {' and '.join(marks)}" if marks else ""
        yield f"  {score:>9} nats per byte  {choice['choice']}  ({where}){told}"
    if not found["choices"]:
        yield f"  chosen: {found['choice']}; right: {found['answer']}"


def _facts(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"background facts: {found['facts_count']:,}"
    for fact in found["facts"]:
        for side, truth in (("positive", "yes"), ("negative", "no")):
            if fact[f"{side}_question"] is None:
                yield f"       {fact['head']} {fact['relation']}: no possible negative"
                continue
            right, margin = fact[f"{side}_right"], fact[f"{side}_margin"]
            verdict = {True: "right", False: "WRONG", None: "no answer"}[right]
            said = f"{fact[f'{side}_word']!r}" if fact[f"{side}_word"] else "undecided"
            where = _form(fact[f"{side}_meta"], fact[f"{side}_pair"])
            by = "" if margin is None else f", {margin:+.3f} nats"
            yield f"  {verdict:>9}  {fact[f'{side}_question']}? {truth}; said {said} ({where}{by})"


def _contribution(found: Mapping[str, Any]) -> Iterator[str]:
    positive, negative = _share(found["positive_accuracy"]), _share(found["negative_accuracy"])
    yield (
        f"background score {_share(found['background_score'])}: {positive} of facts, "
        f"{negative} of negatives"
    )
    part = found["contribution"]
    if part is None:
        yield "takes no part in conceptual consistency"
        return
    yield (
        f"{part['at_least']:,} questions have this score or a higher one, {part['right']:,} of "
        f"them right: precision {part['precision']:.4f}"
    )
    if not part["all_right"]:
        yield "no question is right, so that conceptual consistency is undefined"
        return
    why = f"{part['precision']:.4f}/{part['all_right']:,}" if part["adds"] else "it is wrong"
    yield f"adds {part['adds']:.6f} ({why}) to conceptual consistency {part['consistency']:.4f}"


def _form(meta: int | None, pair: str | None) -> str:
    if meta is None:
        return "no single prompt"
    return f"meta-prompt {meta}" if pair is None else f"meta-prompt {meta}, {pair}"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
