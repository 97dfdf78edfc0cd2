"""Paired differences between models, for columns that are declared as means over questions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from tacit.findings.spec import QUESTIONS, Column, Layout, TableSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Kind
    from tacit.statistics import Bootstrap


def _some(name: str, heading: str, kind: Kind, meaning: str, *, shown: bool = True) -> Column:
    """Declare a column of ``COMPARISON`` that only some probes use."""
    return Column(name, heading, kind, meaning, optional=True, shown=shown, sparse=True)


COMPARISON = TableSpec(
    "comparison",
    "Differences between models",
    "One row per measure and pair of models. The difference is the second model's value minus the "
    "first model's value, computed over the questions that both models answered. A difference "
    "whose 95 % CI includes 0 may be due to chance.",
    columns=(
        Column("figure", "figure", meaning="The measure that is compared."),
        Column("first", "first", meaning="The first model."),
        Column("second", "second", meaning="The second model."),
        Column("first_value", "first", "score", "The value of the measure for the first model."),
        Column("second_value", "second", "score", "The value of the measure for the second model."),
        Column(
            "difference",
            "second \N{MINUS SIGN} first",
            "signed",
            "The second model's value minus the first model's value, with a paired 95 % CI.",
            ends=("low", "high"),
        ),
        Column(
            "p_value",
            "p",
            "p",
            "Two-sided p-value of a test of whether the difference is 0.",
            optional=True,
            shown=False,
        ),
        Column(
            "p_holm",
            "p, Holm",
            "p",
            "The p-value of the difference, corrected by Holm's method for the number of pairs of "
            "models that are compared on the measure.",
            optional=True,
        ),
        _some(
            "n",
            "n",
            "count",
            "Number of questions or concepts for which both models have a result.",
        ),
        *(
            _some(
                f"{side}_undecided",
                f"undecided, {side}",
                "count",
                f"Number of constraints that are not counted for the {side} model, because its "
                "belief is unknown for at least one statement in the constraint.",
            )
            for side in ("first", "second")
        ),
        _some(
            "part",
            "part",
            "text",
            "The part of the assumptions probe: \u201cretrieval\u201d or \u201celicitation\u201d.",
            shown=False,
        ),
        _some("measure", "measure", "text", "The measure.", shown=False),
        _some("relation", "relation", "text", "The relation.", shown=False),
        _some(
            "properties",
            "properties",
            "count",
            "Number of properties of a concept in each retrieval prompt.",
            shown=False,
        ),
        _some(
            "first_wording",
            "wording, first",
            "text",
            "The wording of the first model's retrieval prompts: \u201csentence\u201d or "
            "\u201cblank-last\u201d.",
            shown=False,
        ),
        _some(
            "second_wording",
            "wording, second",
            "text",
            "The wording of the second model's retrieval prompts: \u201csentence\u201d or "
            "\u201cblank-last\u201d.",
            shown=False,
        ),
        _some(
            "same_question",
            "same question",
            "truth",
            "Whether the prompts of both models have the same wording.",
            shown=False,
        ),
        _some(
            "first_candidates",
            "candidates, first",
            "count",
            "Number of candidate words that the first model ranked.",
        ),
        _some(
            "second_candidates",
            "candidates, second",
            "count",
            "Number of candidate words that the second model ranked.",
        ),
        _some(
            "first_chance",
            "chance, first",
            "score",
            "The chance level of the measure: its expected value if the first model's candidate "
            "words were ranked at random.",
        ),
        _some(
            "second_chance",
            "chance, second",
            "score",
            "The chance level of the measure: its expected value if the second model's candidate "
            "words were ranked at random.",
        ),
        _some(
            "note",
            "note",
            "text",
            "A caveat about the comparison, or the reason why the difference is missing.",
        ),
        _some(
            "printed",
            "printed",
            "truth",
            "Whether the row contains a main result: a result of elicitation, or a result of "
            "retrieval with 1, 4 or 10 properties.",
            shown=False,
        ),
        *(
            _some(
                f"{side}_elicitation",
                f"elicitation, {side}",
                "text",
                f"The method by which the {side} model's answers or beliefs were obtained.",
                shown=False,
            )
            for side in ("first", "second")
        ),
    ),
    keys=3,
    printed=Layout(
        columns=(
            "figure",
            "n",
            "first_value",
            "second_value",
            "difference",
            "p_holm",
            "first_undecided",
            "second_undecided",
        )
    ),
)


def schema(optional: Collection[str] = ("n",)) -> dict[str, Any]:
    """Return the polars type of each column of ``COMPARISON``."""
    wanted = {
        name
        for column in COMPARISON.columns
        if not column.optional or column.name in {"p_value", *optional}
        for name in column.names
    }
    return {name: kind for name, kind in COMPARISON.schema.items() if name in wanted}


def compare(
    declared: Sequence[TableSpec], questions: Mapping[str, pl.DataFrame]
) -> pl.DataFrame | None:
    """Compare means over questions between each pair of models."""
    import polars as pl

    from tacit.statistics import Bootstrap

    how = Bootstrap.for_pairs(len(questions))
    specs = {spec.name: spec for spec in declared}
    means = [
        (spec, column) for spec in declared for column in spec.columns if column.of and column.ends
    ]
    if QUESTIONS not in specs or not means:
        return None
    keys = list(specs[QUESTIONS].key_names)
    rows: list[dict[str, Any]] = []
    for first, second in combinations(questions, 2):
        for spec, column in means:
            taken = list(
                dict.fromkeys([*keys, *spec.key_names, *([spec.cluster] if spec.cluster else [])])
            )
            both = (
                questions[first]
                .select(*taken, pl.col(str(column.of)).cast(pl.Float64).alias("first"))
                .join(
                    questions[second].select(
                        *keys, pl.col(str(column.of)).cast(pl.Float64).alias("second")
                    ),
                    on=keys,
                    maintain_order="left",
                )
                .drop_nulls(["first", "second"])
            )
            named = {"first": first, "second": second}
            rows += [
                {"figure": figure, **named, **numbers}
                for figure, numbers in _differences(spec, column, both, how)
            ]
    return pl.DataFrame(rows, schema=schema())


def _differences(
    spec: TableSpec, column: Column, both: pl.DataFrame, how: Bootstrap
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Group rows by the key columns; yield each group's label and paired difference."""
    import numpy as np

    keys = list(spec.key_names)
    for group in both.partition_by(keys, maintain_order=True) if keys else [both]:
        values = np.stack([group["first"].to_numpy(), group["second"].to_numpy()])
        clusters = group[spec.cluster] if spec.cluster else range(group.height)
        change = how.difference(clusters, values, np.ones_like(values))
        named = ", ".join(f"{name} {group[name][0]}" for name in keys)
        means = values.mean(axis=1) if group.height else (None, None)
        yield (
            f"{column.heading}, {named}" if named else column.heading,
            {
                "first_value": means[0],
                "second_value": means[1],
                "difference": change.value,
                "low": change.low,
                "high": change.high,
                "p_value": change.p_value,
                "n": group.height,
            },
        )


def with_holm(comparison: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``p_holm``: p-values, Holm-corrected per measure for all model pairs."""
    import polars as pl

    from tacit.statistics.prediction import holm

    if "p_value" not in comparison.columns or comparison.is_empty():
        return comparison
    rows = comparison.with_row_index("at")
    corrected = [
        some.select("at", p_holm=pl.Series(holm(some["p_value"].to_list()), dtype=pl.Float64))
        for _, some in rows.group_by("figure")
    ]
    return rows.join(pl.concat(corrected), on="at", maintain_order="left").drop("at")
