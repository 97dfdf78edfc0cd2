from math import exp, log

import polars as pl
import pytest
from wordfreq import zipf_frequency

from tacit.knowledge.background import mean_zipf
from tacit.probes.consistency.features import features, of_background
from tacit.probes.consistency.results import model_answers, scored
from tacit.requests import Prompt
from tests.probes.consistency.asking_by_hand import Dice, answers_of
from tests.probes.consistency.run_by_hand import CASES, Run


def test_the_features_of_a_background_by_hand() -> None:
    """Both sides count alike; a question without a negative has no score."""
    rows = [
        ("a", 0, "yes", True, 2.0),
        ("a", 0, "no", False, 4.0),
        ("a", 1, "yes", False, -1.0),
        ("a", 1, "no", True, -6.0),
        ("b", 2, "yes", True, 3.0),
        ("c", 3, "yes", None, None),
        ("c", 3, "no", True, -2.0),
    ]
    names = ("anchor", "fact", "expected", "right", "margin")
    found = of_background(pl.DataFrame(rows, names, orient="row")).sort("anchor")
    none = (None, None)
    assert found.select("anchor", "facts", "background_score", "background_margin").rows() == [
        ("a", 2, 0.5, (0.5 + 1) / 2),
        ("b", 1, *none),
        ("c", 1, *none),
    ]
    assert found["log_facts"].to_list() == [log(2), 0, 0]


def test_the_features_of_answers_are_those_of_their_scores(run: Run) -> None:
    """Entropy and prior from the scores per byte, anchor by anchor."""
    if run.anchoring[0] != "choice":
        pytest.skip("answered by verification")
    found = features_of(run)
    for case, row, right in zip(run.cases, found.to_dicts(), run.right, strict=True):
        about = case.anchor.question.removesuffix("?")
        best = {c: per_byte(run, "choice", c, about) for c in case.anchor.choices}
        if right is None:
            assert row["answer_margin"] is row["entropy"] is row["prior"] is None
            continue
        ordered = sorted(best, key=lambda choice: best[choice] or 0.0, reverse=True)
        values = [value for choice in ordered if (value := best[choice]) is not None]
        shares = [exp(each) / sum(map(exp, values)) for each in values]
        entropy = -sum(each * log(each) for each in shares) / log(len(case.anchor.choices))
        assert row["answer_margin"] == pytest.approx(values[0] - values[1])
        assert row["entropy"] == pytest.approx(entropy)
        if row["prior"] is not None:  # else a prompt of the choice has no score
            assert row["prior"] == pytest.approx(per_byte(run, "prior", ordered[0]))


def features_of(run: Run) -> pl.DataFrame:
    scores = scored(run.probe, answers_of(run.probe, run.says))
    return features(model_answers(run.probe, scores))


def per_byte(run: Run, group: str, choice: str, about: str = "") -> float | None:
    """The best score per byte of a choice behind the prompts about a question."""
    prompts = run.probe.requests()[group].requests
    texts = {
        one.text
        for one in prompts
        if isinstance(one, Prompt) and about in one.text and choice in one.answers
    }
    said = [score for text in texts if (score := run.says(text, choice)) is not None]
    return max(said) / len(choice.encode()) if said else None


def test_the_frequency_is_the_mean_of_wordfreqs() -> None:
    """In any order of the concepts; null without any."""
    rows = {"anchor": [2, 0, 0], "concept": ["dog", "front door", "xyzzyx"]}
    concepts = pl.DataFrame(rows, {"anchor": pl.Int32, "concept": pl.String})
    expected = [zipf_frequency("front door", "en") / 2, None, zipf_frequency("dog", "en")]
    assert mean_zipf(concepts, 3).to_list() == expected
    assert mean_zipf(concepts.reverse(), 3).to_list() == expected
    assert mean_zipf(pl.DataFrame(), 2).to_list() == [None, None]


def test_verified_anchors_have_no_prior_unless_the_choices_were_asked_too() -> None:
    assert features_of(Run(CASES, Dice(5), anchoring=("verify",)))["prior"].is_null().all()
    both = Run(CASES, Dice(5), anchoring=("verify", "choice"))
    assert not features_of(both)["prior"].is_null().all()
