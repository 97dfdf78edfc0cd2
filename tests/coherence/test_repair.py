from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import check, repair
from tacit.coherence import integer_program
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.errors import RequestError
from tests.coherence.enumerated_by_hand import all_assignments, linked

pytestmark = pytest.mark.filterwarnings("ignore:grouped by", "ignore:column")

Objective = Literal["paper", "log-odds", "margin"]
OBJECTIVES: tuple[Objective, ...] = ("paper", "log-odds", "margin")
# Of the two largest ontologies, the relations whose assignments of four items can all be listed.
FOUR_ITEMS = {
    "parts": None,
    "time": None,
    "space": ["inside", "contains", "overlaps", "borders"],
    "taxonomy": ["is a", "synonym", "antonym"],
}


def random_beliefs(
    ontology: Ontology, n: int, seed: int, decimals: int, share: float = 1.0
) -> pl.DataFrame:
    """Uniform p, rounded, about a share of all statements between n items."""
    random = np.random.default_rng(seed)
    statements = [
        (x, r, y)
        for x, y in permutations([f"item {number}" for number in range(n)], 2)
        for r in ontology.relations
    ]
    p = np.round(random.random(len(statements)), decimals)
    asked = random.random(len(statements)) < share
    frame = pl.DataFrame(statements, schema=["subject", "relation", "object"], orient="row")
    return frame.with_columns(p_true=pl.Series(p)).filter(pl.Series(asked))


def weights_by_hand(p: float | None, objective: Objective) -> float:
    """The weight of one statement, positive for it, by the objectives' definitions."""
    if p is None:
        return 0.0
    if objective == "paper":
        return float(round(100 * p))
    if objective == "margin":
        return p - 0.5
    p = min(max(p, 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))


def best_by_hand(
    beliefs: pl.DataFrame, ontology: Ontology, objective: Objective
) -> tuple[float, set[tuple[str, str, str]]]:
    """The best value, and the rows that are true in one best assignment and false in another."""
    items = tuple(sorted({*beliefs["subject"], *beliefs["object"]}))
    asked = {(x, r, y): p for x, r, y, p in beliefs.iter_rows()}
    total, free = 0.0, set()
    for relations in linked(ontology):
        statements, assignments = all_assignments(ontology.name, tuple(relations), items)
        weights = np.array([weights_by_hand(asked.get(each), objective) for each in statements])
        values = assignments @ np.maximum(weights, 0) + ~assignments @ np.maximum(-weights, 0)
        total += values.max()
        best = assignments[values > values.max() - 1e-9]
        undecided = best.any(axis=0) & ~best.all(axis=0)
        free |= {each for i, each in enumerate(statements) if each in asked and undecided[i]}
    return total, free


def with_relations(ontology: Ontology, names: Sequence[str] | None) -> Ontology:
    if names is None:
        return ontology
    kept = {
        name: replace(
            ontology.relations[name],
            implies=tuple(other for other in ontology.relations[name].implies if other in names),
            excludes=tuple(other for other in ontology.relations[name].excludes if other in names),
        )
        for name in names
    }
    return Ontology(ontology.name, kept)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", shipped_ontologies())
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([3, 4]),
    decimals=st.sampled_from([1, 2, 9]),
    share=st.sampled_from([0.3, 1.0]),
)
def test_the_value_is_the_best_of_all_worlds(
    name: str, objective: Objective, seed: int, n: int, decimals: int, share: float
) -> None:
    """No assignment listed by hand beats the repaired one, and the same statements are free."""
    ontology = with_relations(Ontology.load(name), FOUR_ITEMS[name] if n > 3 else None)
    beliefs = random_beliefs(ontology, n, seed, decimals, share)
    found = repair(beliefs, ontology, objective)
    value, free = best_by_hand(beliefs, ontology, objective)
    assert found.value == pytest.approx(value, abs=1e-4)
    assert found.bound == found.value
    # Weights are compared in whole millionths, where ln 9 is not twice ln 3, and assignments that a
    # millionth sets apart may be more alike than the solver can tell.
    if objective == "paper" or (objective == "margin" and decimals < 9):
        assert found.settled
        assert {tuple(row[:3]) for row in found.beliefs.filter("free").iter_rows()} == free
        assert found.free == len(free)
    counts = check(found.assignment, ontology, "repaired").counts.values()
    assert not any(count.violated for count in counts)
    statement = ["subject", "relation", "object"]
    kept = found.beliefs.filter("repaired").select(statement)
    assert kept.join(found.assignment, on=statement, how="anti").is_empty()
    false = found.beliefs.filter(~pl.col("repaired"))
    assert false.join(found.assignment, on=statement, how="semi").is_empty()


def test_the_paper_keeps_only_what_has_weight_or_follows() -> None:
    """A pair without any weight stays false, though a total order would make it true."""
    ontology = Ontology.load("parts")
    rows = [("a", "above", "b", 0.9), ("b", "above", "c", 0.8), ("c", "above", "d", 0.001)]
    assignment = repair(rows, ontology).assignment
    above = assignment.filter(pl.col("relation") == "above").select("subject", "object").rows()
    assert sorted(above) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_missing_beliefs_have_no_weight_and_may_be_inferred() -> None:
    """A row without a belief is neither believed nor disbelieved, and may turn true."""
    ontology = Ontology.load("parts")
    rows = [("a", "above", "b", 0.9), ("b", "above", "c", 0.8), ("a", "above", "c", None)]
    found = repair(rows, ontology, "log-odds")
    assert found.beliefs["believed"].to_list() == [True, True, None]
    assert found.beliefs["repaired"].to_list() == [True, True, True]
    assert (found.missing, found.inferred, found.turned_true) == (1, 1, 1)
    # Three items, 14 relations, both directions, less the three rows.
    assert found.unasked == 3 * 2 * 14 - 3


def test_rounding_is_pythons() -> None:
    """A p of 0.125 weighs 12, because Python rounds halves to even."""
    assert repair([("a", "above", "b", 0.125)]).value == round(12.5) == 12


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_in_any_order_give_the_same(objective: Objective) -> None:
    ontology = Ontology.load("parts")
    beliefs = pl.concat(
        [
            random_beliefs(ontology, 6, seed, 1).with_columns(thing=pl.lit(f"thing {seed}"))
            for seed in range(4)
        ]
    )
    once = repair(beliefs, ontology, objective)
    again = repair(beliefs.sample(fraction=1.0, shuffle=True, seed=7), ontology, objective)
    assert once.free > 0
    keys = ["thing", "subject", "relation", "object"]
    assert once.beliefs.sort(keys).equals(again.beliefs.sort(keys))
    assert once.assignment.equals(again.assignment)
    assert (once.value, once.free) == (again.value, again.free)
    assert once.table.drop("value", "bound").equals(again.table.drop("value", "bound"))


def one_order() -> Ontology:
    parts = Ontology.load("parts")
    return Ontology("order", {name: parts.relations[name] for name in ("above", "below")})


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["paper", "log-odds"])
def test_a_time_limit_gives_an_assignment_and_a_bound(objective: Objective) -> None:
    """Forty items stop at the limit with a consistent assignment below a bound."""
    beliefs = random_beliefs(one_order(), 40, 0, 9)
    found = repair(beliefs, one_order(), objective, time_limit=6.0)
    assert (found.status, found.optimal, found.settled) == ("timeout", 0, False)
    assert found.bound > found.value > 0
    counts = check(found.assignment, one_order(), "repaired").counts.values()
    assert not any(count.violated for count in counts)
    # Half of the weight is what the worse of an order and its reverse reaches.
    if objective == "paper":
        assert found.value > 50 * float(beliefs["p_true"].to_numpy().sum())


@pytest.mark.slow
def test_a_revision_cost_without_a_proof_is_an_interval() -> None:
    """The cost is missing, for the group and in total; its bounds are reported."""
    far = random_beliefs(one_order(), 40, 0, 9).with_columns(thing=pl.lit("far"))
    near = random_beliefs(one_order(), 3, 0, 9).with_columns(thing=pl.lit("near"))
    found = check(pl.concat([far, near]), one_order(), revision_cost=True, time_limit=1.0)
    low, high = found.revision_cost_at_least, found.revision_cost_at_most
    assert found.revision_cost is None
    assert low is not None
    assert high is not None
    assert 0 <= low < high <= found.believed
    exact = check(near, one_order(), revision_cost=True).revision_cost
    assert found.groups["revision_cost"].to_list() == [None, exact]
    assert found.groups["revision_cost_at_most"][1] == exact
    assert found.to_json()["revision_cost_at_most"] == found.groups["revision_cost_at_most"].sum()


def test_random_log_odds_of_twenty_items_need_no_branching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the rows of cycles of three items the linear program is whole."""
    monkeypatch.setattr(integer_program, "milp", None)
    found = repair(random_beliefs(one_order(), 20, 20, 9), one_order(), "log-odds")
    assert found.status == "optimal"
    assert found.settled


def test_orders_too_large_for_subsets_are_solved_by_linear_programs() -> None:
    """Twenty nearly ordered items are proven optimal, and so is their order's value."""
    items = [f"item {number:02d}" for number in range(20)]
    rows = [(x, "above", y, 0.9 if x < y else 0.2) for x, y in permutations(items, 2)]
    found = repair(rows, one_order(), "paper")
    assert found.status == "optimal"
    assert found.value == 90 * 190
    assert found.free == 0


def test_a_long_chain_keeps_its_time_limit() -> None:
    """Two hundred kinds of one another are proven optimal though the time is short."""
    rows = [(f"{number:03}", "is a", f"{number + 1:03}", 0.9) for number in range(200)]
    found = repair(rows, "taxonomy", "paper", time_limit=0.1)
    assert (found.status, found.value, found.assignment.height) == (
        "optimal",
        90 * 200,
        201 * 200 / 2,
    )


def test_too_many_joined_items_are_refused_before_any_table() -> None:
    """A chain of 20,000 statements is refused by repair and check, with the most they hold."""
    names = [f"{number:05}" for number in range(20_001)]
    chain = {"subject": names[:-1], "relation": "is a", "object": names[1:], "p_true": 0.9}
    for work, most in ((repair, "500"), (check, "3,162")):
        with pytest.raises(
            RequestError, match=f"connect 20,001 items of one group; .* {most}; split"
        ):
            work(pl.DataFrame(chain), "taxonomy")


def test_a_groups_column_may_have_any_name() -> None:
    ontology = Ontology.load("parts")
    beliefs = random_beliefs(ontology, 3, 0, 2).with_columns(g=pl.lit(1), value=pl.lit("x"))
    found = repair(beliefs, ontology, groups=["g", "value"])
    assert found.table.columns[:2] == ["g", "value (group)"]
    assert found.table["value"].to_list() == [found.value]
    assert found.assignment.columns[:2] == ["g", "value"]
    assert check(beliefs, ontology, groups=["g"]).violations["g"].unique().to_list() == [1]


def test_an_item_may_bear_a_relation_to_itself() -> None:
    """Where nothing forbids it, a statement of an item about itself is repaired like others."""
    parts = Ontology.load("parts")
    near = replace(parts.relations["next to"], irreflexive=False)
    found = repair([("a", "next to", "a", 0.9)], Ontology("near", {"next to": near}))
    assert found.beliefs["repaired"].to_list() == [True]
    assert found.assignment.height == 1


def test_what_cannot_be_asked_is_refused() -> None:
    rows = [("a", "above", "b", 0.9)]
    with pytest.raises(RequestError, match="paper, log-odds, margin"):
        repair(rows, objective="best")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="more than 0"):
        repair(rows, time_limit=0.0)
