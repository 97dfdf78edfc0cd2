from __future__ import annotations

from math import exp, log

import numpy as np
import polars as pl
import pytest
from wordfreq import zipf_frequency

from tacit.knowledge.frequency import mean_zipf
from tacit.probes.consistency.answers import choose
from tacit.probes.consistency.background_scores import CorrectAnswers
from tacit.probes.consistency.features import FactAnswers, best_per_byte, features, of_background
from tacit.probes.consistency.probe import Reading
from tacit.probes.consistency.questions import Asked
from tacit.probes.consistency.template import load_templates
from tacit.probes.consistency.wording import Paper
from tests.probes.consistency.asking_by_hand import Dice, probe_of
from tests.probes.consistency.run_by_hand import CASES, SILENT, Run

NAN = float("nan")


def asked_of(links: list[tuple[int, str, str | None]]) -> Asked:
    """Facts of anchors: the anchor, the fact's head, and the tail of its negative."""
    rows = [(at, head, "IsA", "thing", other) for at, head, other in links]
    schema = {"question": pl.Int32} | dict.fromkeys(
        ("head", "relation", "tail", "negative"), pl.String
    )
    return Asked.of(pl.DataFrame(rows, schema, orient="row"), load_templates(), Paper())


ASKED = asked_of([(0, "dog", "sky"), (0, "cat", "sea"), (2, "cow", None), (3, "pig", "sun")])
KNOWN = FactAnswers(
    CorrectAnswers(np.array([1.0, 0, 1, NAN]), np.array([0.0, 1, NAN, 1])),
    np.array([2.0, -1, 3, NAN]),
    np.array([4.0, -6, NAN, -2]),
)


def test_the_features_of_a_background_by_hand() -> None:
    """Both sides count alike; a question without a fact has none of them."""
    found = of_background(KNOWN, ASKED, 4).to_dicts()
    assert found == [
        {"background_score": 0.5, "background_margin": (0.5 + 1) / 2, "log_facts": log(2)},
        {"background_score": None, "background_margin": None, "log_facts": None},
        {"background_score": None, "background_margin": None, "log_facts": 0.0},
        {"background_score": None, "background_margin": None, "log_facts": 0.0},
    ]


def test_a_flipped_fact_changes_its_own_question_alone() -> None:
    """Its correctness and the sign of its margin; flipped twice it is as before."""
    other = KNOWN.flipped(1)
    assert other.correct.positive[:2].tolist() == [1, 1]
    assert other.positive_margin[:2].tolist() == [2, 1]
    assert other.correct.negative is KNOWN.correct.negative
    assert of_background(other, ASKED, 4)["background_score"][0] == 0.75
    assert of_background(other.flipped(1), ASKED, 4).equals(of_background(KNOWN, ASKED, 4))


def test_the_features_of_answers_are_those_of_their_scores(run: Run) -> None:
    """Entropy and prior from the scores per byte, anchor by anchor."""
    probe = run.probe
    if probe.reading.anchoring[0] != "choice":
        pytest.skip("answered by verification")
    found = features_of(run)
    for case, row, right in zip(run.cases, found.to_dicts(), run.right, strict=True):
        best = {c: per_byte(run, case.anchor.question, c) for c in case.anchor.choices}
        if right is None:
            assert row["answer_margin"] is row["entropy"] is row["prior"] is None
            continue
        assert None not in best.values()
        values = sorted((value for value in best.values() if value is not None), reverse=True)
        shares = [exp(each) / sum(map(exp, values)) for each in values]
        entropy = -sum(each * log(each) for each in shares) / log(len(shares))
        assert row["answer_margin"] == pytest.approx(values[0] - values[1])
        assert row["entropy"] == pytest.approx(entropy)


def features_of(run: Run) -> pl.DataFrame:
    """The features of the anchors of a run."""
    probe = run.probe
    from tacit.models.fake import FakeModel

    model = FakeModel(lambda prompt, answer: run.says(prompt.text, answer))
    scores = {
        name: model.answer(probe.prompt_set.prompts(name)) for name in probe.prompt_set.requests
    }
    scored = probe.prompt_set.scored(scores)
    return features(scored, probe.reading, probe.asked, probe.background.concepts)


def per_byte(run: Run, question: str, choice: str) -> float | None:
    """The best score per byte of a choice behind the question's prompts."""
    prompts = run.probe.prompt_set.prompts("choice")
    about = [one.text for one in prompts if question.removesuffix("?") in one.text]
    said = [score for text in about if (score := run.says(text, choice)) is not None]
    return max(said) / len(choice.encode()) if said else None


def test_the_best_per_byte_is_unknown_where_a_score_is() -> None:
    """It could be the best; padding has none."""
    scores = np.array([[[-4.0, -3, NAN], [-2, NAN, NAN]]])
    best = best_per_byte(scores, np.array([[2, 3, 0]]))
    assert best[0, 0] == -1
    assert np.isnan(best[0, 1:]).all()


def test_values_of_choices_are_kept() -> None:
    """Per byte; none for padding."""
    chosen = choose(np.array([[[-4.0, -3, NAN]]]), np.array([[2, 3, 0]]))
    assert chosen.values[0, :2].tolist() == [-2, -1]
    assert np.isnan(chosen.values[0, 2])
    assert chosen.margin.tolist() == [1]


def test_the_frequency_is_the_mean_of_wordfreqs() -> None:
    """In any order of the concepts; null without any."""
    rows = {"question": [2, 0, 0], "concept": ["dog", "front door", "xyzzyx"]}
    concepts = pl.DataFrame(rows, {"question": pl.Int32, "concept": pl.String})
    expected = [zipf_frequency("front door", "en") / 2, None, zipf_frequency("dog", "en")]
    assert mean_zipf(concepts, 3).to_list() == expected
    assert mean_zipf(concepts.reverse(), 3).to_list() == expected
    assert mean_zipf(pl.DataFrame(), 2).to_list() == [None, None]


def test_verified_anchors_have_no_prior() -> None:
    """Unless the choices were asked too."""
    verified = Run(CASES, Dice(5, SILENT), anchoring=("verify",))
    assert features_of(verified)["prior"].is_null().all()
    both = Run(CASES, Dice(5, SILENT), anchoring=("verify", "choice"))
    assert not features_of(both)["prior"].is_null().all()
    assert probe_of(CASES, reading=Reading(anchoring=("verify",))).prompt_set.prompts("prior") == []
