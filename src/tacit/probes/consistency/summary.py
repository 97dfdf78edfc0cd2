"""The summary of a run: counts and main results, as values that JSON can represent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency import background_scores
from tacit.probes.consistency.adjusted import SUMMARY
from tacit.probes.consistency.baselines import RANDOM
from tacit.probes.consistency.prompt_set import BACKGROUND, CHOICE, VERIFY
from tacit.statistics.conditional import FEWEST_ITEMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Answers
    from tacit.requests import Scores
    from tacit.statistics import Bootstrap
    from tacit.statistics.studentised import Permutations


def of_tables(tables: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the counts and the main results, computed from the tables of a run."""
    anchors = tables["anchors"]
    able = anchors.filter(anchors["facts"] > 0)
    variants = tables["background_variants"]
    mean = background_scores.over_relations(tables["background_by_relation"])
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
            "relations": tables["background_by_relation"]["background_score"].count(),
            "value": mean.value,
            "low": mean.low,
            "high": mean.high,
        },
        **{
            name: background_scores.mean_of(anchors.drop_nulls("background_score")[name])
            for name in ("positive_accuracy", "negative_accuracy")
        },
        "anchor_accuracy": [
            {"of": name, **_accuracy(part, bootstrap)}
            for name, part in (("all", anchors), ("with facts", able))
        ],
        "guessing_accuracy": _guessing(tables["anchor_baselines"]),
        "relevance": tables["relevance"].to_dicts()[0],
        "background_variants": variants.filter(variants["preset"] != "single").to_dicts(),
    }


def of_answers(answers: Answers, facts: pl.DataFrame) -> dict[str, int]:
    """Count background questions: unanswered, tied, or answered without a margin."""
    asked = {side: facts.drop_nulls(f"{side}_question") for side in ("positive", "negative")}
    return {
        **{
            f"{name}_without_answer": asked[side][f"{side}_right"].null_count()
            for name, side in (("facts", "positive"), ("negatives", "negative"))
        },
        "missing_questions": int(answers.missing.sum()),
        "tied_questions": int(answers.tied.sum()),
        "without_margin": int((np.isnan(answers.margin) & ~answers.missing).sum()),
    }


def score_counts(scores: Mapping[str, Sequence[Scores]]) -> dict[str, int]:
    """Count candidate answers: all, unscored, multi-token, merged with the prompt."""
    words = [one for score in scores[BACKGROUND] for one in score.answers]
    anchors = [
        one for name in (CHOICE, VERIFY) for score in scores.get(name, ()) for one in score.answers
    ]
    return {
        "inputs": len(words),
        "inputs_of_several_tokens": sum(one.tokens > 1 for one in words),
        "inputs_without_score": sum(one.logprob is None for one in words),
        "anchor_inputs": len(anchors),
        "anchor_inputs_without_score": sum(one.logprob is None for one in anchors),
        "spanned": sum(one.spanned for one in (*words, *anchors)),
    }


def intervals(how: Permutations, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return a description of how the confidence intervals of the results are computed."""
    by_concept = {"clusters": "question concept"}
    return {
        "consistency": {**how.to_json(), **by_concept},
        "background_score": {"method": "Student's t", "over": "relations"},
        "background_by_relation": {**bootstrap.to_json(), "clusters": "first concept of the fact"},
        "no_knowledge": {**bootstrap.to_json(), "clusters": "first concept of the fact"},
        "relevance": {**how.to_json(), **by_concept, "least_facts": FEWEST_ITEMS},
        "others": {**bootstrap.to_json(), **by_concept},
    }


def _accuracy(anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, float | int | None]:
    """Return the accuracy on answered anchor questions, with a confidence interval."""
    done = anchors.drop_nulls("right")
    right = done["right"].cast(int).to_numpy()
    share = bootstrap.ratio(done["cluster"].to_numpy(), right, np.ones_like(right))
    return {"n": done.height, "value": share.value, "low": share.low, "high": share.high}


def _guessing(baselines: pl.DataFrame) -> float | None:
    """Return the expected accuracy of random guessing on anchor questions."""
    found: float | None = baselines.filter(baselines["baseline"] == RANDOM)["accuracy"].item()
    return found
