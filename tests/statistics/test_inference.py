from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from tacit.statistics import Bootstrap, Estimate, bootstrap
from tacit.statistics.estimate import t_interval
from tacit.statistics.permutation import critical_value, p_value
from tacit.statistics.tests import benjamini_hochberg, holm, mcnemar, paired_change
from tests.statistics.samples import mean, resampled

QUICK = Bootstrap(resamples=200)

# Clusters of at most 20 rows' worth of successes: (right, asked).
counts = st.integers(0, 20).flatmap(lambda asked: st.tuples(st.integers(0, asked), st.just(asked)))
tables = st.lists(counts, min_size=2, max_size=30)


def parts(table: list[tuple[int, int]]) -> tuple[list[str], list[int], list[int]]:
    """Names, numerators and denominators of a table of clusters."""
    return (
        [f"thing {number:02}" for number in range(len(table))],
        [right for right, _ in table],
        [asked for _, asked in table],
    )


def observed(clusters: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Numerators and denominators of shape (columns, clusters), none of them empty."""
    random = np.random.default_rng(7)
    under = random.integers(1, 60, (columns, clusters))
    return random.binomial(under, 0.7), under


def scipys(
    over: np.ndarray, under: np.ndarray, figure: str, bootstrap: Bootstrap
) -> tuple[float, float]:
    """The interval that scipy's bootstrap makes of the same draws."""
    data = (*over, *under)
    half = len(over)

    def of(*columns: np.ndarray, axis: int = -1) -> np.ndarray:
        sums = [column.sum(axis=axis) for column in columns]
        ratios = [sums[k] / sums[half + k] for k in range(half)]
        if figure == "difference":
            return np.asarray(ratios[1] - ratios[0])
        return np.asarray(np.mean(ratios, axis=0))

    made = stats.bootstrap(
        data,
        of,
        paired=True,
        vectorized=True,
        n_resamples=bootstrap.resamples,
        confidence_level=bootstrap.level,
        method="percentile",
        rng=np.random.default_rng(bootstrap.seed),
    )
    return made.confidence_interval.low, made.confidence_interval.high


@pytest.mark.parametrize(
    ("figure", "columns"), [("ratio", 1), ("mean_of_ratios", 4), ("difference", 2)]
)
@pytest.mark.parametrize("bootstrap", [Bootstrap(), Bootstrap(500, 3, 0.8)])
def test_intervals_are_scipys(figure: str, columns: int, bootstrap: Bootstrap) -> None:
    """The same draws give the same percentile interval of each figure."""
    over, under = observed(40, columns)
    given = (over[0], under[0]) if figure == "ratio" else (over, under)
    made = getattr(bootstrap, figure)(range(40), *given)
    assert (made.low, made.high) == pytest.approx(scipys(over, under, figure, bootstrap), abs=1e-12)
    assert made.low < made.value < made.high


def test_fewer_than_five_clusters_have_no_interval() -> None:
    """The value is given all the same; five clusters are enough."""
    for clusters in (1, 2, 4, 5, 6):
        over = [0, *[3] * (clusters - 1)]
        made = Bootstrap().ratio(range(clusters), over, [5] * clusters)
        assert made.value == pytest.approx(3 * (clusters - 1) / (5 * clusters))
        assert (made.interval is None) == (clusters < 5)


def test_a_share_or_a_gain_that_all_clusters_have_has_no_interval() -> None:
    """All of 20 things at 100 % do not show that another thing is never wrong.

    Two more right of ten in each cluster is a gain of 0.2 in every resample, up to rounding.
    """
    for right in (0, 3, 5):
        made = Bootstrap().ratio(range(20), [right] * 20, [5] * 20)
        assert made == Estimate(right / 5, None, None)
    over = [[1, 5, 8, 2, 0, 7], [3, 7, 10, 4, 2, 9]]
    gain = Bootstrap().difference(list("abcdef"), over, [[10] * 6] * 2)
    assert gain.value == pytest.approx(0.2)
    assert gain.interval is None
    equal = Bootstrap().difference(range(6), [over[0]] * 2, [[10] * 6] * 2)
    assert (equal.estimate, equal.p_value) == (Estimate(0.0, None, None), 1.0)


def test_nothing_asked_is_undefined() -> None:
    """It has neither a value nor an interval, whether there are clusters or none.

    A mean of ratios is of those that are defined: 1 of 2, 1 of 4 and 0 of 0 have the mean 3/8.
    """
    for clusters, right in (([1, 2], [False, False]), ([], [])):
        assert Bootstrap().auroc(clusters, right, clusters).value is None
    assert Bootstrap().ratio(["a", "b"], [0, 0], [0, 0]) == Estimate(None, None, None)
    assert Bootstrap().ratio([], [], []) == Estimate(None, None, None)
    assert Bootstrap().difference(["a"], [[1], [0]], [[1], [0]]).value is None
    over, under = [[1, 0], [1, 0], [0, 0]], [[1, 1], [2, 2], [0, 0]]
    assert Bootstrap().mean_of_ratios(["a", "a"], over, under).value == 0.375


def test_the_memory_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All resamples at once and a few at a time are the same draws."""
    over, under = observed(17, 1)
    whole = Bootstrap().ratio(range(17), over[0], under[0])
    monkeypatch.setattr(bootstrap, "_CELLS", 100)
    assert Bootstrap().ratio(range(17), over[0], under[0]) == whole


@settings(max_examples=50, deadline=None)
@given(tables, st.randoms(use_true_random=False), st.integers(0, 5))
def test_rows_may_stand_in_any_order_and_in_pieces(
    table: list[tuple[int, int]], random: Random, empty: int
) -> None:
    """One row per statement or per cluster, shuffled, with empty clusters beside: all the same."""
    names, over, under = parts(table)
    rows = [
        (name, int(k < right), 1)
        for name, right, asked in zip(names, over, under, strict=True)
        for k in range(asked)
    ]
    rows += [(f"empty {k}", 0, 0) for k in range(empty)]
    random.shuffle(rows)
    shuffled = tuple(map(list, zip(*rows, strict=True))) or ([], [], [])
    assert QUICK.ratio(*shuffled) == QUICK.ratio(names, over, under)


def test_rounding_errors_of_zero_do_not_change_the_p_value() -> None:
    """Resampled differences of exactly 0 and of a few 1e-17, of either sign, are the same."""
    random = np.random.default_rng(3)
    exact = np.where(random.random(2000) < 0.4, 0.0, random.normal(0.02, 0.05, 2000))
    rounded = exact + np.where(exact == 0, random.normal(0, 1e-16, 2000), 0.0)
    assert QUICK.change(0.02, rounded) == QUICK.change(0.02, exact)


rows = st.lists(
    st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 4)), min_size=2, max_size=60
).filter(lambda each: len({right for _, right, _ in each}) == 2)


@settings(max_examples=30, deadline=None)
@given(table=rows)
def test_auroc_of_resampled_clusters_is_scikit_learns(table: list[tuple[int, bool, int]]) -> None:
    """The ends are percentiles of weighted AUROCs, over resamples with rows of both kinds."""
    clusters, right, score = (np.array(column) for column in zip(*table, strict=True))
    bootstrap = Bootstrap(resamples=60)
    found = bootstrap.auroc(clusters, right, score)
    assert found.value == pytest.approx(roc_auc_score(right, score))
    names, cluster = np.unique(clusters, return_inverse=True)
    behind = [len({*clusters[right]}), len({*clusters[~right]})]
    if min(behind) < 5:
        assert (found.interval, found.why) == (None, "fewer than 5 clusters")
        return
    drawn = np.random.default_rng(0).integers(0, len(names), (60, len(names)))
    values = []
    for names_drawn in drawn:
        times = np.bincount(names_drawn, minlength=len(names))[cluster]
        if times[right].any() and times[~right].any():
            values.append(roc_auc_score(right, score, sample_weight=times))
    ends = np.quantile(values, [0.025, 0.975])
    assert found.interval == (pytest.approx(ends) if np.ptp(values) > 1e-12 else None)


millionths = st.integers(-(10**6), 10**6).map(lambda number: number / 10**6)


@settings(max_examples=40)
@given(values=st.lists(millionths, min_size=60, max_size=200, unique=True), middle=millionths)
def test_p_and_interval_agree(values: list[float], middle: float) -> None:
    """Below .05 if and only if the interval excludes 0; close to twice the smaller share."""
    resampled = np.array(values) - middle
    found = Bootstrap().change(0.5, resampled)
    assert found.p_value is not None
    assert found.low is not None
    assert found.high is not None
    if min(abs(found.low), abs(found.high)) > 1e-9:
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
    share = min((resampled <= 1e-12).mean(), (resampled >= -1e-12).mean())
    assert found.p_value == pytest.approx(min(1, 2 * share), abs=4 / len(values))
    assert 2 / (len(values) + 1) <= found.p_value <= 1


def test_many_pairs_have_more_resamples() -> None:
    """So that the smallest p-value is significant after Holm's correction."""
    assert Bootstrap.for_pairs(2) == Bootstrap.for_pairs(7) == Bootstrap()
    for models in (8, 12, 30):
        pairs = models * (models - 1) // 2
        least = 2 / (Bootstrap.for_pairs(models).resamples + 1)
        assert least * pairs < 0.05


def test_the_observation_is_one_of_the_permutations() -> None:
    """So a p-value is never 0, and equal figures count although their last digits differ."""
    permuted = np.array([0.1, 0.2, 0.3, 0.1 + 0.2])
    assert p_value(0.5, permuted) == 1 / 5
    assert p_value(0.3, permuted) == 3 / 5
    assert p_value(0.0, permuted) == 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.sampled_from([0.05, 0.2, 0.5]))
def test_the_critical_value_is_where_p_values_pass(figures: list[int], level: float) -> None:
    """Above it they are at most the level, up to it they are not."""
    permuted = np.array(figures, dtype=float)
    critical = critical_value(permuted, level)
    for figure in range(32):
        passes = p_value(figure, permuted) <= level + 1e-12
        assert passes == (critical is not None and figure > critical)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=14), st.sampled_from([0.8, 0.95]))
def test_the_interval_is_students(values: list[float], level: float) -> None:
    """Of the mean of two to fourteen values, as scipy has it; none if all are equal."""
    made = t_interval(values, level)
    if np.ptp(values) < 1e-12:
        assert made.value == pytest.approx(np.mean(values))
        assert (made.low, made.high) == (None, None)
        return
    error = np.std(values, ddof=1) / len(values) ** 0.5
    low, high = np.mean(values) + error * np.array(stats.t.interval(level, len(values) - 1))
    assert (made.value, made.low, made.high) == pytest.approx(
        (np.mean(values), low, high), abs=1e-12
    )


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    """How groups differ is not known from one; what was not measured is left out."""
    assert t_interval([0.4, None, 0.6]) == t_interval([0.4, 0.6])
    assert t_interval([0.3, None]) == Estimate(0.3, None, None)
    assert t_interval([None]) == Estimate(None, None, None)
    assert t_interval([]) == Estimate(None, None, None)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_scipy(gained: int, lost: int) -> None:
    changed = gained + lost
    exact = binomtest(lost, changed, alternative="two-sided").pvalue if changed else 1
    assert mcnemar(gained, lost) == pytest.approx(exact, rel=1e-9)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_holm_equals_its_definition(p_values: list[float | None]) -> None:
    known = sorted(p for p in p_values if p is not None)
    steps = [min(1.0, p * (len(known) - k)) for k, p in enumerate(known)]
    expected = {p: max(steps[: known.index(p) + known.count(p)]) for p in known}
    found = holm(p_values)
    assert [p is None for p in found] == [p is None for p in p_values]
    for p, corrected in zip(p_values, found, strict=True):
        if p is not None:
            assert corrected == pytest.approx(expected[p], abs=1e-12)


def test_a_change_is_the_difference_of_accuracies_on_resampled_clusters() -> None:
    random = np.random.default_rng(3)
    clusters = random.integers(0, 12, 60)
    before, after = random.random((2, 60)) < [[0.4], [0.6]]
    found = paired_change(before, after, clusters, Bootstrap(resamples=500))
    assert (found.n, found.before, found.after) == (60, before.mean(), after.mean())
    assert (found.gained, found.lost) == ((after & ~before).sum(), (before & ~after).sum())
    assert found.change.value == pytest.approx(after.mean() - before.mean())
    assert found.p_value == mcnemar(found.gained, found.lost)
    ends = resampled(clusters, mean(after.astype(int) - before), 500)
    assert found.change.interval == pytest.approx(ends, abs=1e-12)


def test_a_change_without_an_interval_says_why() -> None:
    """No rows, no changes, or a single cluster."""
    none = paired_change([], [], [])
    assert (none.n, none.change.value, none.p_value, none.change.why) == (0, None, None, "no pairs")
    same = paired_change([True, False], [True, False], ["a", "b"])
    assert (same.change.value, same.change.low, same.p_value) == (0.0, None, 1.0)
    assert same.change.why == "no answer changed"
    alone = paired_change([False] * 8, [True] * 8, ["a"] * 8)
    assert (alone.change.value, alone.change.low) == (1.0, None)
    assert alone.change.why == "fewer than 5 clusters"
    for changed, reason in ((5, "too few answers changed"), (6, None)):
        after = [at < changed for at in range(12)]
        found = paired_change([False] * 12, after, range(12))
        assert found.p_value is not None
        assert (found.change.why, found.p_value < 0.05) == (reason, reason is None)
        assert (found.change.low is None) == (reason is not None)


P_VALUES = st.lists(st.none() | st.floats(0, 1), max_size=30)


@given(P_VALUES)
def test_corrected_p_values_are_the_least_over_all_larger_ones(
    p_values: list[float | None],
) -> None:
    """By the definition; those that are None stay None, and are not counted among the tests."""
    corrected = benjamini_hochberg(p_values)
    assert [each is None for each in corrected] == [each is None for each in p_values]
    made = [each for each in p_values if each is not None]
    expected = [
        min(1.0, *(len(made) * p / sum(q <= p for q in made) for p in made if p >= own))
        for own in made
    ]
    assert [each for each in corrected if each is not None] == pytest.approx(expected)
