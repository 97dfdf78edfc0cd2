"""The summary of a run: counts and main results, as values that JSON can represent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.consistency.adjusted import SUMMARY
from tacit.probes.consistency.baselines import RANDOM
from tacit.probes.consistency.questions import BACKGROUND, CHOICE, VERIFY

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.statistics import Bootstrap
    from tacit.statistics.permutation import Permutations


def of_tables(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the counts and the main results, computed from the tables of a run."""
    anchors = tables["anchors"]
    able = anchors.filter(anchors["facts"] > 0)
    variants = tables["background_variants"]
    score = tables["background_score"].row(0, named=True)
    return {
        "anchors": anchors.height,
        "without_facts": anchors.height - able.height,
        "without_background_score": able["background_score"].null_count(),
        "with_background_score": anchors["background_score"].count(),
        "without_answer": anchors["right"].null_count(),
        "tied_anchors": int(anchors["tied"].sum()),
        "consistency": tables["consistency"].to_dicts()[0],
        "background_answers": tables["background_answers"].to_dicts()[0],
        **tables["adjusted"].select(SUMMARY).to_dicts()[0],
        "background_score": {
            name: score[name] for name in ("relations", "value", "value_low", "value_high")
        },
        **{name: score[name] for name in ("positive_accuracy", "negative_accuracy")},
        "anchor_accuracy": tables["anchor_accuracy"].to_dicts(),
        "guessing_accuracy": _guessing(tables["anchor_baselines"]),
        "relevance": tables["relevance"].to_dicts()[0],
        "background_variants": variants.filter(variants["preset"] != "single").to_dicts(),
    }


def of_answers(answered: pl.DataFrame, facts: pl.DataFrame) -> dict[str, int]:
    """Count background questions: unanswered, tied, or answered without a margin."""
    asked = {side: facts.drop_nulls(f"{side}_question") for side in ("positive", "negative")}
    known = answered.drop_nulls("yes")
    return {
        "facts_without_answer": asked["positive"]["positive_right"].null_count(),
        "negatives_without_answer": asked["negative"]["negative_right"].null_count(),
        "missing_questions": answered.height - known.height,
        "tied_questions": int(answered["tied"].sum()),
        "without_margin": known["margin"].null_count(),
    }


def score_counts(scores: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Count candidate answers: all, unscored, multi-token, merged with the prompt."""
    words = scores[BACKGROUND]
    anchors = [scores[name] for name in (CHOICE, VERIFY) if name in scores]
    return {
        "inputs": words.height,
        "inputs_of_several_tokens": int((words["tokens"] > 1).sum()),
        "inputs_without_score": words["score"].null_count(),
        "anchor_inputs": sum(each.height for each in anchors),
        "anchor_inputs_without_score": sum(each["score"].null_count() for each in anchors),
        "spanned": sum(int(each["spanned"].sum()) for each in (words, *anchors)),
    }


def intervals(how: Permutations, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return a description of how the confidence intervals of the results are computed."""
    by_concept = {"clusters": "question concept"}
    return {
        "consistency": {**how.to_json(), **by_concept},
        "background_score": {"method": "Student's t", "over": "relations"},
        "background_by_relation": {**bootstrap.to_json(), "clusters": "first concept of the fact"},
        "no_knowledge": {**bootstrap.to_json(), "clusters": "first concept of the fact"},
        "others": {**bootstrap.to_json(), **by_concept},
    }


def _guessing(baselines: pl.DataFrame) -> float | None:
    """Return the expected accuracy of random guessing on anchor questions."""
    found: float | None = baselines.filter(baselines["baseline"] == RANDOM)["accuracy"].item()
    return found
