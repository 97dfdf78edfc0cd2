import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from tacit.probes.assumptions import TABLES, averages
from tacit.probes.assumptions.averages import (
    by_concept,
    categories,
    elicitation_by_relation,
    favoured,
    retrieval_by_number,
)
from tacit.probes.assumptions.ranks import chance_mrr, chance_precision
from tacit.probes.assumptions.retrieval import RANDOM_ORDERS
from tacit.sources.norms import Norms, Property
from tacit.statistics import FEWEST_CLUSTERS, Bootstrap
from tests.probes.assumptions.made_up import (
    ELICITATION,
    ELICITATION_TOP,
    MadePrompt,
    elicitation,
    random_prompt,
    ranked,
    retrieval,
    top,
)
from tests.statistics.samples import mean, resampled

FEW = Bootstrap(50)
DRAWS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(0, 7), st.one_of(st.none(), st.integers(1, 9))),
    max_size=40,
)
COLUMNS = list(TABLES["retrieval_by_number"].schema)
MEASURES: dict[str, Callable[[int], float]] = {
    "first": lambda rank: rank == 1,
    "probability": lambda rank: math.exp(-rank),
    "renormalised": lambda rank: math.exp(-rank / 2),
}


@settings(max_examples=30, deadline=None)
@given(draws=DRAWS)
def test_measures_are_means_over_concepts(draws: list[tuple[int, int, int | None]]) -> None:
    """In fractions: however many random draws a concept has, it counts once, or is missing."""
    rows = [
        {"n": n, "concept": f"c{at}", "rank": rank, "candidates": 10 + at, "order": order}
        for (n, at, rank), order in zip(draws, RANDOM_ORDERS * 2, strict=False)
    ]
    found = retrieval_by_number(retrieval(*rows), FEW)
    assert found["n"].to_list() == list(dict.fromkeys(n for n, _, _ in draws))
    for row in found.iter_rows(named=True):
        ranks: dict[int, list[int]] = {}
        for n, at, rank in draws:
            if n == row["n"]:
                ranks.setdefault(at, []).extend([] if rank is None else [rank])
        ranked = {at: of for at, of in ranks.items() if of}
        there = [*ranked.values()]
        assert row["order"] == "random"
        assert (row["concepts"], row["missing"]) == (len(there), len(ranks) - len(there))
        if not there:
            assert {row[name] for name in COLUMNS[6:]} == {None}
            continue
        means = [sum(Fraction(1, rank) for rank in of) / len(of) for of in there]
        assert row["mrr"] == pytest.approx(float(sum(means) / len(means)), abs=1e-12)
        for name, of_rank in MEASURES.items():
            of_concepts = [sum(map(of_rank, of)) / len(of) for of in there]
            assert row[name] == pytest.approx(sum(of_concepts) / len(there), abs=1e-12)
        harmonic = [sum(1 / r for r in range(1, 11 + at)) / (10 + at) for at in ranked]
        assert row["chance_mrr"] == pytest.approx(sum(harmonic) / len(harmonic))
        assert row["candidates"] == 10 + max(ranked)
        few = len(there) < FEWEST_CLUSTERS or len(set(means)) == 1
        assert (row["mrr_low"] is None) == few


def test_a_probability_of_nought_is_no_missing_one() -> None:
    """A log-probability of minus infinity is a probability of 0, and counts."""
    table = retrieval({"rank": 9, "logprob": -math.inf}, {"rank": 1, "concept": "wolf"})
    (row,) = retrieval_by_number(table, FEW).iter_rows(named=True)
    assert row["probability"] == pytest.approx(math.exp(-1) / 2)


def test_the_interval_is_the_bootstrap_of_the_concepts() -> None:
    """The ends are those of the same resamples, drawn here with NumPy alone."""
    ranks = [1, 2, 5, 9, 3]
    table = retrieval(*({"rank": rank, "concept": f"c{at}"} for at, rank in enumerate(ranks)))
    (row,) = retrieval_by_number(table, Bootstrap(400, seed=3)).iter_rows(named=True)
    ends = resampled(range(5), mean(1 / np.array(ranks)), 400, 3)
    assert [row["mrr_low"], row["mrr_high"]] == pytest.approx(ends)


def test_a_whole_sentence_has_no_probability_of_the_word() -> None:
    """Its rank and its probability among the candidates count."""
    found = by_concept(retrieval({"rank": 2, "whole_sentence": True}))
    assert found.select("mrr", "probability").row(0) == (0.5, None)
    assert found["renormalised"][0] == pytest.approx(math.exp(-1))


PROMPTS = st.builds(
    random_prompt, st.integers(0, 10**6), st.sampled_from([1, 3, 20, 10**9]), st.integers(1, 3)
)
MANY = st.lists(PROMPTS, min_size=1, max_size=5)


def precision(prompt: MadePrompt) -> float | None:
    """Average precision of the candidates with a log-probability, by scikit-learn."""
    values = {word: value for word, value in prompt.rivals.items() if not math.isnan(value)}
    right = [word in prompt.best for word in values]
    return float(average_precision_score(right, list(values.values()))) if any(right) else None


def correlated(prompt: MadePrompt) -> tuple[int, float | None]:
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


@settings(max_examples=30, deadline=None)
@given(prompts=MANY)
def test_mean_average_precision_is_scikit_learns(prompts: list[MadePrompt]) -> None:
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


@settings(max_examples=30, deadline=None)
@given(prompts=MANY)
def test_agreement_with_people_is_scipys(prompts: list[MadePrompt]) -> None:
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
    table = averages.ablation(elicitation(*rows), Bootstrap(500))
    vocabulary, spearman = table.iter_rows(named=True)
    assert vocabulary["measure"] == "map vocabulary"
    assert vocabulary["prompts"] == 5
    assert vocabulary["with_preface"] == pytest.approx((1 + 1 / 2 + 3) / 5)
    assert vocabulary["without_preface"] == pytest.approx((2 / 4 + 3 / 2) / 5)
    assert vocabulary["difference"] == pytest.approx(-1 / 2)
    each = [-3 / 4, -1 / 2, -1 / 2, -1 / 2, -1 / 4]  # by name
    ends = resampled(range(5), mean(each), 500)
    found = [vocabulary[f"difference_{end}"] for end in ("low", "high")]
    assert found == pytest.approx(ends)
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


NAMES = ("visual perceptual", "other perceptual", "functional", "encyclopaedic", "taxonomic")
# In the order of the tables; norms may class properties as they like, and "sensory" is not pooled.
PARTS = {
    **{name: {name} for name in sorted([*NAMES, "sensory"])},
    "perceptual": set(NAMES[:2]),
    "non-perceptual": set(NAMES[2:]),
}
CELLS = st.tuples(st.integers(0, 6), st.integers(0, 9), st.sampled_from([None, "sensory", *NAMES]))
# Of one concept and feature there is one property.
ROWS = st.lists(CELLS, max_size=60, unique_by=lambda cell: cell[:2])


def norms_of(rows: list[tuple[int, int, str | None]]) -> Norms:
    properties = (Property(f"c{c}", f"has f{f}", 1, category) for c, f, category in rows)
    return Norms(Path("norms.tsv"), tuple(properties))


@given(rows=ROWS)
def test_concepts_and_properties_are_counted_one_by_one(
    rows: list[tuple[int, int, str | None]],
) -> None:
    """The mean over a category's features of how many concepts each has, pooled ones included."""
    expected = []
    for name, parts in PARTS.items():
        pairs = [(c, f) for c, f, category in rows if category in parts]
        concepts: dict[int, set[int]] = {}
        for c, f in pairs:
            concepts.setdefault(f, set()).add(c)
        if pairs:
            per_feature = sum(map(len, concepts.values())) / len(concepts)
            expected.append((name, len(concepts), per_feature, len({c for c, _ in pairs})))
    found = categories(norms_of(rows))
    assert found["categories"].rows() == expected
    counts = found["category_counts"].group_by("category", maintain_order=True)
    for (category,), some in counts:
        of = [c for c, _, named in rows if named in PARTS[str(category)]]
        assert some["n"].to_list() == list(range(1, 11))
        assert some["concepts"].to_list() == [
            sum(of.count(concept) >= n for concept in set(of)) for n in range(1, 11)
        ]


@pytest.mark.parametrize("n", [1, 2, 34, 1876])
def test_chance_is_the_mean_of_all_reciprocal_ranks(n: int) -> None:
    """H_n / n, in fractions."""
    exact = sum(Fraction(1, rank) for rank in range(1, n + 1)) / n
    assert chance_mrr(n) == pytest.approx(float(exact), rel=1e-14)


def precision_at(places: Sequence[int]) -> Fraction:
    """Average precision of responses at these places, from 1, by its definition."""
    ordered = sorted(places)
    return sum((Fraction(k, at) for k, at in enumerate(ordered, 1)), Fraction()) / len(ordered)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 7), (2, 7), (5, 7), (7, 7), (3, 9)])
def test_chance_precision_is_the_mean_over_all_rankings(m: int, n: int) -> None:
    """Every set of places that responses may have, each as likely."""
    found = [precision_at(places) for places in combinations(range(1, n + 1), m)]
    assert chance_precision(m, n) == pytest.approx(float(sum(found) / len(found)), rel=1e-12)


def test_a_relations_chance_is_the_mean_of_its_prompts() -> None:
    """Those without a ranked response left out; the most candidates of a prompt."""
    rows: list[dict[str, Any]] = [
        {"concept": "bear", "rank": 1, "candidates": 10},
        {"concept": "bear", "rank": 2, "candidates": 10, "word": "claws"},
        {"concept": "wolf", "rank": 1, "candidates": 12},
        {"concept": "gnu", "rank": None, "candidates": 12},
    ]
    table = elicitation(*rows)
    row = elicitation_by_relation(table, Bootstrap(10)).row(0, named=True)
    assert row["candidates"] == 12
    expected = (chance_precision(2, 10) + chance_precision(1, 12)) / 2
    assert row["chance_map"] == pytest.approx(expected)
