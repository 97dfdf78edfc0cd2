from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from tacit.probes.assumptions import averages
from tacit.probes.assumptions.averages import favoured
from tacit.probes.assumptions.tables import TABLES
from tacit.statistics import FEWEST_CLUSTERS, Bootstrap
from tests.probes.assumptions.made_up import (
    ELICITATION,
    ELICITATION_TOP,
    Prompt,
    elicitation,
    random_prompt,
    ranked,
    top,
)

FEW = Bootstrap(50)
PROMPTS = st.builds(
    random_prompt, st.integers(0, 10**6), st.sampled_from([1, 3, 20, 10**9]), st.integers(1, 3)
)
MANY = st.lists(PROMPTS, min_size=1, max_size=5)


def precision(prompt: Prompt) -> float | None:
    """Average precision of the candidates with a log-probability, by scikit-learn."""
    values = {word: value for word, value in prompt.rivals.items() if not math.isnan(value)}
    right = [word in prompt.best for word in values]
    return float(average_precision_score(right, list(values.values()))) if any(right) else None


def correlated(prompt: Prompt) -> tuple[int, float | None]:
    """How many responses are ranked, and SciPy's rho; None where it is undefined."""
    pairs = [
        (frequency, prompt.values[word])
        for word, frequency in zip(prompt.best, prompt.frequencies, strict=True)
        if word is not None and not math.isnan(prompt.values[word])
    ]
    constant = any(len(set(side)) < 2 for side in zip(*pairs, strict=True))
    if len(pairs) < 3 or constant:
        return len(pairs), None
    return len(pairs), float(
        stats.spearmanr([x for x, _ in pairs], [y for _, y in pairs]).statistic
    )


@settings(max_examples=80, deadline=None)
@given(prompts=MANY)
def test_mean_average_precision_is_scikit_learns(prompts: list[Prompt]) -> None:
    """Over the prompts with a ranked response, also where candidates tie; the rest is counted."""
    named = {f"c{at}": prompt for at, prompt in enumerate(prompts)}
    (row,) = averages.elicitation_by_relation(ranked(named), FEW).iter_rows(named=True)
    expected = [value for prompt in prompts if (value := precision(prompt)) is not None]
    assert row["prompts"] == len(expected)
    assert row["without"] == len(prompts) - len(expected)
    best = [(prompt, word) for prompt in prompts for word in prompt.best]
    assert row["absent"] == sum(word is None for _, word in best)
    assert row["missing"] == sum(
        word is not None and math.isnan(prompt.values[word]) for prompt, word in best
    )
    if expected:
        assert row["map"] == pytest.approx(np.mean(expected), abs=1e-12)
        assert 0 < row["map"] <= 1
    else:
        assert row["map"] is None
    few = len(expected) < FEWEST_CLUSTERS
    same = len({round(value, 9) for value in expected}) == 1
    assert (row["map_low"] is None) == (few or same)


@settings(max_examples=80, deadline=None)
@given(prompts=MANY)
def test_agreement_with_people_is_scipys(prompts: list[Prompt]) -> None:
    """Each prompt's rho with ties; too few responses and constant sides are left out, counted."""
    named = {f"c{at}": prompt for at, prompt in enumerate(prompts)}
    table = ranked(named)
    expected = [correlated(prompt) for prompt in prompts]
    for row, (_, rho) in zip(averages.correlations(table)["value"], expected, strict=True):
        assert row == (None if rho is None else pytest.approx(rho, abs=1e-12))
    (row,) = averages.agreement(table, FEW).iter_rows(named=True)
    used = [rho for _, rho in expected if rho is not None]
    few = sum(n < 3 for n, _ in expected)
    assert (row["prompts"], row["used"], row["too_few"]) == (len(prompts), len(used), few)
    assert row["constant"] == len(prompts) - len(used) - few
    assert row["spearman"] == (pytest.approx(np.mean(used), abs=1e-12) if used else None)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_same_order_is_exactly_one(sign: int) -> None:
    """And the opposite one exactly minus one, ties included, for any number of responses."""
    for n in range(3, 40):
        rows = [
            {"word": f"w{at}", "frequency": at // 2, "rank": 1, "logprob": sign * (at // 2) - 99.0}
            for at in range(n)
        ]
        assert averages.correlations(elicitation(*rows))["value"].to_list() == [sign]


def test_the_ablation_is_paired() -> None:
    """Only prompts that have the figure both ways count, in both means."""
    ranks: dict[bool, dict[str, int | None]] = {
        True: {"bear": 1, "wolf": 2, "gnu": 1, "cow": 1, "emu": 1, "fox": 1},
        False: {"cow": 2, "emu": 2, "fox": 2, "bear": 4, "wolf": 4, "gnu": None, "owl": 1},
    }
    rows = [
        {"concept": concept, "rank": rank, "preface": preface, "spelling": rank and "fur"}
        for preface, some in ranks.items()
        for concept, rank in some.items()
    ]
    found = averages.ablation(elicitation(*rows), Bootstrap(500))
    vocabulary, spearman = found.iter_rows(named=True)
    assert vocabulary["measure"] == "map vocabulary"
    assert vocabulary["prompts"] == 5
    assert vocabulary["with_preface"] == pytest.approx((1 + 1 / 2 + 3) / 5)
    assert vocabulary["without_preface"] == pytest.approx((2 / 4 + 3 / 2) / 5)
    assert vocabulary["difference"] == pytest.approx(-1 / 2)
    drawn = np.random.default_rng(0).integers(0, 5, size=(500, 5))
    each = np.array([-3 / 4, -1 / 2, -1 / 2, -1 / 2, -1 / 4])[drawn].mean(axis=1)  # by name
    ends = np.quantile(each, [0.025, 0.975])
    assert (vocabulary["difference_low"], vocabulary["difference_high"]) == pytest.approx(
        tuple(ends)
    )
    assert (spearman["measure"], spearman["prompts"]) == ("spearman", 0)
    assert spearman["difference"] is None is spearman["with_preface"]


def test_favoured_words_by_hand() -> None:
    """Teeth stand first for two of three concepts; for one, people named them (spelt otherwise)."""
    best = {"bear": ["teeth", "fur"], "wolf": ["teeth", "legs"], "gnu": ["horns", "teeth"]}
    stood = top(
        *(
            {"concept": concept, "place": place, "word": word, "logprob": math.log(0.6 / place)}
            for concept, words in best.items()
            for place, word in enumerate(words, 1)
        )
    )
    people = elicitation(
        {"word": "tooth", "spelling": "teeth"},
        {"word": "fur"},
        {"concept": "wolf", "word": "fangs"},
        {"concept": "gnu", "word": "teeth"},
    )
    found = favoured(people, stood)
    assert found["word"].to_list() == ["teeth", "horns", "fur", "legs"]
    teeth = found.row(0, named=True)
    assert (teeth["prompts"], teeth["first"], teeth["right"], teeth["in_top5"]) == (3, 2, 1, 3)
    assert teeth["share"] == 2 / 3
    assert teeth["probability"] == pytest.approx((0.6 + 0.6 + 0.3) / 3)
    assert found["stored"].to_list() == [3, 1, 1, 1]
    assert found["right"].to_list() == [1, 0, 0, 0]


def test_words_below_the_first_five_are_not_shown() -> None:
    """They count in no table, unless another prompt has them among its five."""
    rows = [{"place": at, "word": f"w{at}", "logprob": -float(at)} for at in range(1, 8)]
    rows.append({"concept": "wolf", "place": 1, "word": "w7", "logprob": -1.0})
    rows.append({"over": "sensible", "place": 1, "word": "w6", "logprob": -1.0})
    found = favoured(elicitation(), top(*rows))
    assert found["word"].to_list() == ["w1", "w7", "w2", "w3", "w4", "w5"]
    seventh = found.row(1, named=True)
    assert (seventh["in_top5"], seventh["stored"]) == (1, 2)


def test_nothing_gives_empty_tables() -> None:
    none = pl.DataFrame(schema=ELICITATION)
    tables = {
        "elicitation_by_relation": averages.elicitation_by_relation(none, FEW),
        "agreement": averages.agreement(none, FEW),
        "ablation": averages.ablation(none, FEW),
        "favoured": favoured(none, pl.DataFrame(schema=ELICITATION_TOP)),
    }
    for name, table in tables.items():
        assert table.schema == TABLES[name].schema
        assert table.is_empty()
