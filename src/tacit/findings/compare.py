"""How models differ: paired differences of what a probe declares as means over its questions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from tacit.findings.spec import QUESTIONS, Column, Layout, TableSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Kind


def _some(name: str, heading: str, kind: Kind, meaning: str, *, shown: bool = True) -> Column:
    """A column that only some probes' comparisons have."""
    return Column(name, heading, kind, meaning, optional=True, shown=shown, sparse=True)


COMPARISON = TableSpec(
    "comparison",
    "Differences between models",
    "The second model's figure less the first's, over the questions that both answered. An "
    "interval that includes 0 does not tell the two apart.",
    columns=(
        Column("figure", "figure", meaning="What is compared."),
        Column("first", "first", meaning="One model."),
        Column("second", "second", meaning="The other model."),
        Column("first_value", "first", "score", "Its value for the first model."),
        Column("second_value", "second", "score", "Its value for the second model."),
        Column(
            "difference",
            "second \N{MINUS SIGN} first",
            "signed",
            "The second value less the first; with a 95 % CI, paired.",
            ends=("low", "high"),
        ),
        _some("n", "n", "count", "How many questions both answered."),
        *(
            _some(
                f"{side}_undecided",
                f"undecided, {side}",
                "count",
                f"Of constraints, how many are undecided for the {side} model and left out.",
            )
            for side in ("first", "second")
        ),
        _some("part", "part", "text", "Which part of the probe it is of.", shown=False),
        _some("measure", "measure", "text", "What is measured.", shown=False),
        _some("relation", "relation", "text", "Of which relation.", shown=False),
        _some("properties", "properties", "count", "How many are stated.", shown=False),
        _some("first_wording", "wording, first", "text", "How the first was asked.", shown=False),
        _some("second_wording", "wording, second", "text", "How the second was.", shown=False),
        _some(
            "same_question",
            "same question",
            "truth",
            "False where the wordings ask different questions.",
            shown=False,
        ),
        _some("first_candidates", "candidates, first", "count", "How many words were ranked."),
        _some("second_candidates", "candidates, second", "count", "How many of the second."),
        _some("first_chance", "chance, first", "score", "What random rankings give."),
        _some("second_chance", "chance, second", "score", "What they give for the second."),
        _some("note", "note", "text", "What to know of the row, or why there is no difference."),
        _some("printed", "printed", "truth", "Whether a terminal shows the row.", shown=False),
        *(
            _some(
                f"{side}_elicitation",
                f"elicitation, {side}",
                "text",
                f"How the {side} model's beliefs were elicited.",
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
            "first_undecided",
            "second_undecided",
        )
    ),
)


def schema(optional: Collection[str] = ("n",)) -> dict[str, Any]:
    """The types of the columns of ``COMPARISON``.

    Args:
        optional: The optional columns that are wanted.
    """
    wanted = {
        name
        for column in COMPARISON.columns
        if not column.optional or column.name in optional
        for name in column.names
    }
    return {name: kind for name, kind in COMPARISON.schema.items() if name in wanted}


def compare(
    declared: Sequence[TableSpec], questions: Mapping[str, pl.DataFrame]
) -> pl.DataFrame | None:
    """Each two models' means, and the difference between them, paired by question.

    An interval resamples the clusters of each table, the same for both models.

    Args:
        declared: The tables of a probe, ``questions`` among them, whose keys pair the models.
        questions: What each model was asked and answered, by its name.

    Returns:
        The columns of ``COMPARISON``; None where the probe declares no mean over questions.
    """
    import polars as pl

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
                for figure, numbers in _differences(spec, column, both)
            ]
    return pl.DataFrame(rows, schema=schema())


def _differences(
    spec: TableSpec, column: Column, both: pl.DataFrame
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The difference in each group of a table's keys."""
    import numpy as np

    from tacit.statistics import Bootstrap

    keys = list(spec.key_names)
    for group in both.partition_by(keys, maintain_order=True) if keys else [both]:
        values = np.stack([group["first"].to_numpy(), group["second"].to_numpy()])
        clusters = group[spec.cluster] if spec.cluster else range(group.height)
        change = Bootstrap().difference(clusters, values, np.ones_like(values))
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
                "n": group.height,
            },
        )
