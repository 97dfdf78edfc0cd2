"""Tables that show the questions of a run with their choices, facts and scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from tacit.english import several
from tacit.errors import RequestError
from tacit.findings.display import Details
from tacit.findings.findings import Findings
from tacit.findings.numbers import evenly_spaced
from tacit.findings.spec import TableSpec
from tacit.probes.consistency import DETAILS, TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import YES
from tacit.probes.consistency.questions import FACT, bare, prompt_variants
from tacit.probes.consistency.template import load_templates

TRACED = ("anchors", "links", "facts", "fact_answers", "choices", "consistency")
"""The tables that ``trace`` reads."""

_EXAMPLES = 3  # negatives of each relation


def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[Details]:
    """Yield tables of anchor questions, choices, background questions and scores."""
    tables = findings.tables
    linked = tables["links"].join(_asked(tables), on="fact", maintain_order="left")
    chosen, sample = _sample(findings, linked, most)
    own = linked.join(chosen, on="anchor", how="semi", maintain_order="left").drop("fact")
    prompts = _prompts(request)
    yield Details(DETAILS["questions"].with_reading(sample), chosen, ("choices", "facts"), "anchor")
    texts = pl.Series(map(bare, chosen["question"]), dtype=pl.String)
    choices = chosen.select("anchor", question=texts).join(
        tables["choices"], on="anchor", maintain_order="left"
    )
    yield Details(DETAILS["choices"], _prompted(choices, prompts, "per_byte"), behind="anchor")
    yield Details(DETAILS["facts"], own, ("scores",), "background", behind="anchor")
    scores = findings.questions.rename({"question": "background"})
    scores = scores.join(own, on="background", how="semi", maintain_order="left")
    by = "votes" if "votes" in scores.columns else "logprob"
    yield Details(DETAILS["scores"], _prompted(scores, prompts, by), behind="background")


def _asked(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the background questions with the relations of their facts, and the answers."""
    relations = tables["facts"].select("fact", "relation")
    answers = tables["fact_answers"].drop("tied").rename({"question": "background"})
    return answers.join(relations, on="fact", maintain_order="left")


def _sample(findings: Findings, linked: pl.DataFrame, most: int) -> tuple[pl.DataFrame, str]:
    """Return the anchor questions to show (a sample if there are too many), and a caption."""
    anchors, asked = findings.tables["anchors"], findings.questions
    inputs = asked.height / max(1, asked["question"].n_unique())
    n = linked["background"].n_unique() * inputs + findings.tables["choices"].height
    every = several(anchors.height, "anchor question")
    if n <= most:
        return anchors, f"Shown: all {every}."
    at = evenly_spaced(anchors.height, max(1, int(anchors.height * most / n)))
    sample = f"a sample of {len(at):,} of {every}, evenly spaced over the file of questions"
    return anchors[at], f"Shown: {sample}."


def _prompts(request: Mapping[str, Any]) -> pl.DataFrame:
    """Return the prompt text for each combination of a meta-prompt and a pair of answer words."""
    templates = load_templates()
    pairs = [None, *map("/".join, templates.pairs)]
    rows = [
        {"meta": variant.meta, "pair": pair, "prompt": variant.text}
        for variant in prompt_variants(templates, request.get("paper_version", "review-lexicon"))
        for pair in (pairs if variant.pair is None else [variant.pair])
    ]
    return pl.DataFrame(rows, {"meta": pl.Int64, "pair": pl.String, "prompt": pl.String})


def _prompted(scores: pl.DataFrame, prompts: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return scores with their prompts, the highest first."""
    return scores.join(
        prompts, on=["meta", "pair"], how="left", nulls_equal=True, maintain_order="left"
    ).sort(by, descending=True, nulls_last=True, maintain_order=True)


def negative_examples(answered: ModelAnswers) -> pl.DataFrame:
    """Select three facts of each relation with their negatives (Sahu et al. 2022, Table 3)."""
    facts, answers = answered.facts, answered.fact_answers
    keys = ["\t".join(fact).encode() for fact in facts.select(FACT).iter_rows()]
    ranks = pl.Series([hashlib.blake2b(key).digest() for key in keys], dtype=pl.Binary)
    ranked = facts.with_columns(rank=ranks).sort("relation", "rank").select("fact", "relation")
    own = answers.filter(YES).select("fact", of="question", fact_right="right")
    other = answers.filter(~YES).select("fact", negative="question", negative_right="right")
    for side in (own, other):
        ranked = ranked.join(side, on="fact", how="inner", maintain_order="left")
    examples = ranked.group_by("relation", maintain_order=True).head(_EXAMPLES)
    return TABLES["negative_examples"].frame(examples.drop("fact").rename({"of": "fact"}))


def trace(tables: Mapping[str, pl.DataFrame], anchor: str) -> dict[str, Any]:
    anchors = tables["anchors"]
    own = anchors.filter(anchor=anchor).to_dicts()
    if not own:
        some = ", ".join(anchors["anchor"].head(3))
        raise RequestError(f"the run has no anchor question {anchor!r}; its ids are {some}, …")
    facts = tables["links"].filter(anchor=anchor).select("fact")
    best = (
        tables["choices"]
        .filter(anchor=anchor)
        .sort("per_byte", descending=True, nulls_last=True, maintain_order=True)
        .unique("choice", keep="first", maintain_order=True)
    )
    return {
        **own[0],
        "choices": best.drop("anchor").to_dicts(),
        "background": facts.join(_asked(tables), on="fact", maintain_order="left").to_dicts(),
        "contribution": _contribution(anchors, own[0], tables["consistency"]),
    }


def _contribution(
    anchors: pl.DataFrame, own: Mapping[str, Any], consistency: pl.DataFrame
) -> dict[str, Any] | None:
    """Return how an anchor question contributes to conceptual consistency."""
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


def tables_of(traced: Mapping[str, Any]) -> Iterator[tuple[TableSpec, pl.DataFrame]]:
    """Yield the result of ``trace`` as tables: the question, its choices and facts, its part."""
    one = {name: value for name, value in traced.items() if not isinstance(value, list | dict)}
    rows = {"questions": [one], "choices": traced["choices"], "facts": traced["background"]}
    rows["contribution"] = [traced["contribution"]] if traced["contribution"] else []
    for name, given in rows.items():
        if given:
            yield DETAILS[name], pl.DataFrame(given)
