"""Every constraint that applies to the statements believed true, and whether it is violated.

Counted constraint by constraint as in Gu et al. 2023 (section 6.1): a symmetric,
asymmetric or inverse constraint joins an unordered pair of statements and applies when at least
one is believed; a transitive one joins three items and applies when both premises are believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.coherence.ontology import Ontology

KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")


def applicable(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Lists the constraints that apply.

    Args:
        believed: The statements believed, each once: integer columns g (group), s (subject),
            r (relation, its position in the ontology) and o (object).
        ontology: The constraints.

    Returns:
        One row per constraint: kind, g, its statements s1, r1, o1, s2, r2, o2 and, when it is
        transitive, s3, r3, o3 (else null), and ``violated``.
    """
    counters: dict[str, Callable[[pl.DataFrame, Ontology], pl.DataFrame]] = {
        "symmetric": _symmetric,
        "asymmetric": _asymmetric,
        "inverse": _inverse,
        "transitive": _transitive,
        "implies": _implies,
        "excludes": _excludes,
    }
    # A statement of an item about itself is its own reverse: nothing can contradict it.
    found = [
        count(believed, ontology).select(
            pl.lit(kind).cast(pl.Enum(KINDS)).alias("kind"), "g", *_NAMES, "violated"
        )
        for kind, count in counters.items()
    ]
    return pl.concat(found)


_NAMES = [f"{column}{number}" for number in (1, 2, 3) for column in ("s", "r", "o")]


def _symmetric(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    mine = _apart(_of(believed, _having(ontology, "symmetric")))
    paired = _with_reverse(mine)
    # Of a pair believed both ways, one is kept; of one believed one way, that one.
    kept = paired.filter(pl.col("both").is_null() | (pl.col("s") < pl.col("o")))
    return _statements(kept, ("o", "r", "s"), pl.col("both").is_null())


def _asymmetric(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    mine = _apart(_of(believed, _having(ontology, "asymmetric")))
    paired = _with_reverse(mine)
    kept = paired.filter(pl.col("both").is_null() | (pl.col("s") < pl.col("o")))
    return _statements(kept, ("o", "r", "s"), pl.col("both").is_not_null())


def _inverse(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    numbers = {name: number for number, name in enumerate(ontology.relations)}
    pairs = pl.DataFrame(
        [
            (numbers[name], numbers[each.inverse])
            for name, each in ontology.relations.items()
            if each.inverse is not None
        ],
        schema={"r": pl.Int64, "other": pl.Int64},
        orient="row",
    )
    mine = believed.join(pairs, on="r")
    partner = believed.select("g", pl.col("o").alias("s"), pl.col("r").alias("other"), _turned())
    paired = mine.join(
        partner.with_columns(both=pl.lit(value=True)), on=["g", "s", "other", "o"], how="left"
    )
    kept = paired.filter(pl.col("both").is_null() | (pl.col("r") < pl.col("other")))
    return _statements(kept, ("o", "other", "s"), pl.col("both").is_null())


def _transitive(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    mine = _apart(_of(believed, _having(ontology, "transitive")))
    then = mine.rename({"s": "o", "o": "z"})
    chains = mine.join(then, on=["g", "r", "o"]).filter(pl.col("s") != pl.col("z"))
    follows = mine.select("g", "s", "r", pl.col("o").alias("z"), both=pl.lit(value=True))
    return chains.join(follows, on=["g", "s", "r", "z"], how="left").select(
        "g",
        *_named(1, ("s", "r", "o")),
        *_named(2, ("o", "r", "z")),
        *_named(3, ("s", "r", "z")),
        violated=pl.col("both").is_null(),
    )


def _implies(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    return _joined(believed, _links(ontology, "implies"), implied=True)


def _excludes(believed: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    links = sorted({(min(link), max(link)) for link in _links(ontology, "excludes")})
    return _joined(believed, links, implied=False)


def _joined(
    believed: pl.DataFrame, links: Iterable[tuple[int, int]], *, implied: bool
) -> pl.DataFrame:
    """Constraints between two relations of the same subject and object."""
    pairs = pl.DataFrame(list(links), schema={"r": pl.Int64, "other": pl.Int64}, orient="row")
    there = believed.rename({"r": "other"}).with_columns(both=pl.lit(value=True))
    keys = ["g", "s", "other", "o"]
    first = believed.join(pairs, on="r").join(there, on=keys, how="left")
    if implied:
        return _statements(first, ("s", "other", "o"), pl.col("both").is_null())
    second = believed.rename({"r": "other"}).join(pairs, on="other")
    only = second.join(believed, on=["g", "s", "r", "o"], how="anti")
    every = pl.concat([first, only.with_columns(both=pl.lit(None, pl.Boolean))], how="diagonal")
    return _statements(every, ("s", "other", "o"), pl.col("both").is_not_null())


def _having(ontology: Ontology, flag: str) -> list[int]:
    return [
        number for number, each in enumerate(ontology.relations.values()) if getattr(each, flag)
    ]


def _links(ontology: Ontology, key: str) -> list[tuple[int, int]]:
    numbers = {name: number for number, name in enumerate(ontology.relations)}
    return sorted(
        {
            (numbers[name], numbers[other])
            for name, each in ontology.relations.items()
            for other in getattr(each, key)
        }
    )


def _of(believed: pl.DataFrame, relations: list[int]) -> pl.DataFrame:
    return believed.filter(pl.col("r").is_in(relations))


def _apart(believed: pl.DataFrame) -> pl.DataFrame:
    return believed.filter(pl.col("s") != pl.col("o"))


def _turned() -> pl.Expr:
    return pl.col("s").alias("o")


def _with_reverse(believed: pl.DataFrame) -> pl.DataFrame:
    reverse = believed.select(
        "g", pl.col("o").alias("s"), "r", _turned(), pl.lit(value=True).alias("both")
    )
    return believed.join(reverse, on=["g", "s", "r", "o"], how="left")


def _statements(
    frame: pl.DataFrame, second: tuple[str, str, str], violated: pl.Expr
) -> pl.DataFrame:
    nothing = [pl.lit(None, pl.Int64).alias(f"{column}3") for column in ("s", "r", "o")]
    return frame.select(
        "g",
        *_named(1, ("s", "r", "o")),
        *_named(2, second),
        *nothing,
        violated=violated,
    )


def _named(number: int, columns: tuple[str, str, str]) -> list[pl.Expr]:
    return [
        pl.col(column).alias(f"{name}{number}")
        for name, column in zip(("s", "r", "o"), columns, strict=True)
    ]
