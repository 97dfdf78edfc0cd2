"""The constraints that apply to the believed statements, and whether each is violated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.coherence.ontology import Ontology

KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")


def applicable(
    believed: pl.DataFrame, ontology: Ontology, disbelieved: pl.DataFrame | None = None
) -> pl.DataFrame:
    """List the constraints that apply to the believed statements."""
    counters: dict[str, Callable[[_Decided, Ontology], pl.DataFrame]] = {
        "symmetric": _symmetric,
        "asymmetric": _asymmetric,
        "inverse": _inverse,
        "transitive": _transitive,
        "implies": _implies,
        "excludes": _excludes,
    }
    known = _Decided.of(believed, disbelieved)
    return pl.concat(
        count(known, ontology).select(
            pl.lit(kind).cast(pl.Enum(KINDS)).alias("kind"), "g", *_NAMES, "violated"
        )
        for kind, count in counters.items()
    )


@dataclass(frozen=True)
class _Decided:
    """The statements whose truth value is known."""

    believed: pl.DataFrame
    truth: pl.DataFrame
    closed: bool

    @classmethod
    def of(cls, believed: pl.DataFrame, disbelieved: pl.DataFrame | None) -> _Decided:
        truth = believed.select(*_STATEMENT, true=pl.lit(value=True))
        if disbelieved is None:
            return cls(believed, truth, closed=True)
        false = disbelieved.select(*_STATEMENT, true=pl.lit(value=False))
        return cls(believed, pl.concat([truth, false]), closed=False)

    def having(self, ontology: Ontology, flag: str) -> pl.DataFrame:
        """Select believed statements whose relation has a flag (such as ``symmetric``) set."""
        relations = [
            number for number, each in enumerate(ontology.relations.values()) if getattr(each, flag)
        ]
        # A statement that relates an item to itself is its own reverse, so it is left out.
        return self.believed.filter(pl.col("r").is_in(relations), pl.col("s") != pl.col("o"))

    def other(self, frame: pl.DataFrame, of: tuple[str, str, str]) -> pl.DataFrame:
        """Add the column ``other``, the truth value of a second statement for each row."""
        found = frame.join(
            self.truth.rename({"true": "other"}),
            left_on=["g", *of],
            right_on=["g", "s", "r", "o"],
            how="left",
            maintain_order="left",
        )
        return found.with_columns(pl.col("other").fill_null(value=False)) if self.closed else found


_STATEMENT = ("g", "s", "r", "o")
_NAMES = [f"{column}{number}" for number in (1, 2, 3) for column in ("s", "r", "o")]
_TRUE = pl.col("other")


def _symmetric(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    return _reversed(known, ontology, "symmetric", ~_TRUE)


def _asymmetric(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    return _reversed(known, ontology, "asymmetric", _TRUE)


def _reversed(known: _Decided, ontology: Ontology, flag: str, violated: pl.Expr) -> pl.DataFrame:
    """Return the constraints between a statement and its reverse under the same relation."""
    reverse = ("o", "r", "s")
    paired = known.other(known.having(ontology, flag), reverse)
    # A pair believed in both directions occurs twice; keep one row.
    kept = paired.filter(_only_one() | (pl.col("s") < pl.col("o")))
    return _statements(kept, reverse, violated)


def _inverse(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    numbers = {name: number for number, name in enumerate(ontology.relations)}
    pairs = [
        (numbers[name], numbers[each.inverse])
        for name, each in ontology.relations.items()
        if each.inverse is not None
    ]
    partner = ("o", "inverse", "s")
    paired = known.other(known.believed.join(_pairs(pairs, "r", "inverse"), on="r"), partner)
    kept = paired.filter(_only_one() | (pl.col("r") < pl.col("inverse")))
    return _statements(kept, partner, ~_TRUE)


def _transitive(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    mine = known.having(ontology, "transitive")
    then = mine.rename({"s": "o", "o": "z"})
    chains = mine.join(then, on=["g", "r", "o"]).filter(pl.col("s") != pl.col("z"))
    return known.other(chains, ("s", "r", "z")).select(
        "g",
        *_named(1, ("s", "r", "o")),
        *_named(2, ("o", "r", "z")),
        *_named(3, ("s", "r", "z")),
        violated=~_TRUE,
    )


def _implies(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    implied = ("s", "implied", "o")
    links = _pairs(_links(ontology, "implies"), "r", "implied")
    return _statements(known.other(known.believed.join(links, on="r"), implied), implied, ~_TRUE)


def _excludes(known: _Decided, ontology: Ontology) -> pl.DataFrame:
    excluded = ("s", "excluded", "o")
    links = sorted({(min(link), max(link)) for link in _links(ontology, "excludes")})
    first = known.other(known.believed.join(_pairs(links, "r", "excluded"), on="r"), excluded)
    # If the first relation of the pair is not believed, the second makes the constraint apply.
    second = known.believed.rename({"r": "excluded"}).join(
        _pairs(links, "r", "excluded"), on="excluded"
    )
    alone = known.other(second, ("s", "r", "o")).filter(_only_one())
    every = pl.concat([first, alone.select(first.columns)])
    return _statements(every, excluded, _TRUE)


def _only_one() -> pl.Expr:
    """Return an expression that is True if a constraint's second statement is not believed."""
    return ~_TRUE.fill_null(value=False)


def _pairs(pairs: Iterable[tuple[int, int]], first: str, second: str) -> pl.DataFrame:
    return pl.DataFrame(list(pairs), schema={first: pl.Int64, second: pl.Int64}, orient="row")


def _links(ontology: Ontology, key: str) -> list[tuple[int, int]]:
    numbers = {name: number for number, name in enumerate(ontology.relations)}
    return sorted(
        {
            (numbers[name], numbers[other])
            for name, each in ontology.relations.items()
            for other in getattr(each, key)
        }
    )


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
