"""Several models beside one another: what differs, paired by concept, with intervals."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions import elicited, retrieved
from tacit.probes.assumptions.means import paired
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.probes.findings import Findings

_KEYS = ("part", "of", "relation", "n")
_ORDER = "top-decreasing"
_PROBABILITY = "probability"
_RETRIEVED = ("mrr", _PROBABILITY, "renormalised")


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Each two models' figures over what was measured of both, and the difference between them.

    Retrieval is compared in the order of Figure 2, over all categories, in every wording that both
    models were asked in; two models that share none are compared across theirs. Elicitation is
    compared as the paper asks it, with "Everyone knows that". A word's probability is not compared
    with that of a whole sentence, which a causal model gives in the wording ``sentence``.

    Args:
        found: What each model shows, by its name: the tables ``retrieval`` and ``elicitation``, and
            ``kind`` in the summary.
        bootstrap: How intervals are made, over concepts.

    Returns:
        ``part`` (``retrieval`` or ``elicitation``), ``of`` (``mrr``, ``probability``,
        ``renormalised``; ``map vocabulary``, ``map sensible``, ``spearman``), ``relation`` (null
        for retrieval), ``n`` (properties stated; null for elicitation), ``model_a``, ``model_b``,
        ``wording_a``, ``wording_b`` (null for elicitation), ``pairs``, ``a``, ``b``,
        ``difference`` (b less a), ``low``, ``high``, ``candidates_a``, ``candidates_b`` (the most
        that either ranked: ranks among fewer words are better by themselves; null for
        ``spearman``). Null where nothing was measured of both.
    """
    import polars as pl

    bootstrap = bootstrap or Bootstrap()
    values = {model: _values(findings) for model, findings in found.items()}
    rows = [
        row
        for models in combinations(found, 2)
        for wordings, both in _matched(values[models[0]], values[models[1]])
        for row in _rows(models, wordings, both, bootstrap)
    ]
    text = ("model_a", "model_b", "wording_a", "wording_b")
    schema = {
        **dict.fromkeys(("part", "of", "relation"), pl.String),
        "n": pl.Int64,
        **dict.fromkeys(text, pl.String),
        "pairs": pl.Int64,
        **dict.fromkeys(("a", "b", "difference", "low", "high"), pl.Float64),
        **dict.fromkeys(("candidates_a", "candidates_b"), pl.Int64),
    }
    return pl.DataFrame(rows, schema, orient="row")


def _rows(
    models: Sequence[str],
    wordings: tuple[str | None, str | None],
    both: pl.DataFrame,
    bootstrap: Bootstrap,
) -> Iterator[tuple[Any, ...]]:
    for key, pairs in both.group_by(_KEYS, maintain_order=True):
        candidates = pairs["candidates"].max(), pairs["candidates_b"].max()
        yield (*key, *models, *wordings, *paired(pairs, bootstrap), *candidates)


def _matched(
    one: pl.DataFrame, other: pl.DataFrame
) -> Iterator[tuple[tuple[str | None, str | None], pl.DataFrame]]:
    """By wording of either model, each concept's values of both."""
    import polars as pl

    shared = [*_KEYS, "concept", "sentence"]
    for a, b in (*_wordings(one, other), (None, None)):
        ours = one.filter(pl.col("wording").eq_missing(pl.lit(a)))
        theirs = other.filter(pl.col("wording").eq_missing(pl.lit(b)))
        both = ours.rename({"value": "first"}).join(
            theirs.rename({"value": "second"}),
            on=shared,
            suffix="_b",
            nulls_equal=True,
            maintain_order="left",
        )
        yield (a, b), both


def _wordings(one: pl.DataFrame, other: pl.DataFrame) -> list[tuple[str, str]]:
    ours, theirs = (
        table["wording"].drop_nulls().unique(maintain_order=True).to_list()
        for table in (one, other)
    )
    alike = [(wording, wording) for wording in ours if wording in theirs]
    return alike or list(product(ours, theirs))


def _values(findings: Findings) -> pl.DataFrame:
    """Each concept's value of each figure: the keys, wording, concept, value and candidates.

    ``sentence`` says that the value is the probability of a whole sentence.
    """
    import polars as pl

    columns = (*_KEYS, "wording", "concept", "value", "candidates", "sentence")
    whole = (
        (pl.col("of") == _PROBABILITY)
        & (pl.col("wording") == "sentence").fill_null(value=False)
        & pl.lit(findings.summary.get("kind") == "causal")
    )
    recalled, named = (
        _retrieved(findings.tables["retrieval"]),
        _elicited(findings.tables["elicitation"]),
    )
    none = pl.lit(None, pl.String)
    return (
        pl.concat(
            [
                recalled.with_columns(part=pl.lit("retrieval"), relation=none),
                named.with_columns(
                    part=pl.lit("elicitation"), wording=none, n=pl.lit(None, pl.Int64)
                ),
            ],
            how="diagonal",
        )
        .with_columns(sentence=whole)
        .select(columns)
    )


def _retrieved(retrieval: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    main = (pl.col("order") == _ORDER) & pl.col("category").is_null()
    return (
        retrieved.by_concept(retrieval.filter(main))
        .sort("n", maintain_order=True)
        .unpivot(
            _RETRIEVED,
            index=["wording", "n", "concept", "candidates"],
            variable_name="of",
            value_name="value",
        )
    )


def _elicited(elicitation: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return pl.concat(
        [
            table.filter("preface").with_columns(of=pl.lit(measure))
            for measure, table in elicited.measured(elicitation).items()
        ],
        how="diagonal",
    )
