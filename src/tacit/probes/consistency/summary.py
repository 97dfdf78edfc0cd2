"""The summary of a run: what was counted, what is missing, and how results were computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.probes.consistency.background import YES
from tacit.probes.consistency.questions import BACKGROUND, CHOICE, VERIFY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.probes.consistency.answers import ModelAnswers
    from tacit.statistics import Bootstrap
    from tacit.statistics.permutation import Permutations


def counts(found: ModelAnswers) -> dict[str, int]:
    """Count facts and questions: all, unanswered, tied, or answered without a margin."""
    anchors, answers = found.anchors, found.fact_answers
    distinct = answers.unique("question")
    return {
        "anchors": anchors.height,
        "without_facts": anchors.filter(facts=0).height,
        "without_background_score": anchors.filter(pl.col("facts") > 0)[
            "background_score"
        ].null_count(),
        "without_answer": anchors["right"].null_count(),
        "tied_anchors": int(anchors["tied"].sum()),
        "facts": found.facts.height,
        "without_negative": found.facts["negative"].null_count(),
        "facts_without_answer": answers.filter(YES)["right"].null_count(),
        "negatives_without_answer": answers.filter(~YES)["right"].null_count(),
        "questions": distinct.height,
        "missing_questions": distinct["right"].null_count(),
        "tied_questions": int(distinct["tied"].sum()),
        "without_margin": distinct.drop_nulls("right")["margin"].null_count(),
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
    by_concept = {"clusters": "question concept"}
    of_facts = {**bootstrap.to_json(), "clusters": "first concept of the fact"}
    return {
        "consistency": {**how.to_json(), **by_concept},
        "background_score": {"method": "Student's t", "over": "relations"},
        "background_by_relation": of_facts,
        "no_knowledge": of_facts,
        "others": {**bootstrap.to_json(), **by_concept},
    }
