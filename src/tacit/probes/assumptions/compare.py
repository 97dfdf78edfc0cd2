"""Several models beside one another: what differs, paired by concept, with intervals.

Ranks are compared over one candidate set only. Where two models ranked different words, retrieval
is ranked anew among the concepts that both scored, and elicitation has no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions import elicited, retrieved
from tacit.probes.assumptions.candidates import (
    ELICITATION,
    RETRIEVAL,
    chance_mrr,
    chance_precisions,
)
from tacit.probes.assumptions.means import paired
from tacit.probes.assumptions.panels import MAIN
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.findings import Findings

_PROBABILITY = "probability"
_RETRIEVED = ("mrr", _PROBABILITY, "renormalised")
_PROMPT = ["n", "concept"]

AMONG_COMMON = "ranks among the concepts that both scored"
"""The note of a figure whose candidates are fewer than a model's own."""

NO_DIFFERENCE = "no difference: the candidates differ"
"""The note of a figure of ranks whose candidate sets differ."""


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Each two models' figures over what was measured of both, and the difference between them.

    Retrieval is compared in the order of Figure 2, over all categories, in every wording that both
    models were asked in; two models that share none are compared across theirs, which ask
    different questions. Elicitation is compared as the paper asks it, with "Everyone knows that".
    A word's probability is not compared with that of a whole sentence, which a causal model gives
    in the wording ``sentence``.

    Args:
        found: What each model shows, by its name: the tables ``retrieval``, ``retrieval_scores``,
            ``candidates`` and ``elicitation``, and ``kind`` in the summary.
        bootstrap: How intervals are made, over concepts.

    Returns:
        ``part`` (``retrieval`` or ``elicitation``), ``of`` (``mrr``, ``probability``,
        ``renormalised``; ``map vocabulary``, ``map sensible``, ``spearman``), ``relation`` (null
        for retrieval), ``n`` (properties stated; null for elicitation), ``model_a``, ``model_b``,
        ``wording_a``, ``wording_b`` (null for elicitation), ``same_question`` (false where the
        wordings ask different questions), ``pairs``, ``a``, ``b``, ``difference`` (b less a),
        ``low``, ``high``, ``candidates_a``, ``candidates_b`` (the most that were ranked),
        ``chance_a``, ``chance_b`` (what random rankings give), ``note`` (why ranks are among
        fewer candidates than a model's own, or why there is no difference). Candidates and chance
        are null for ``probability`` and ``spearman``, which are not made of ranks. Null also where
        nothing was measured of both.
    """
    import polars as pl

    bootstrap = bootstrap or Bootstrap()
    rows = [
        {"model_a": a, "model_b": b, **row}
        for a, b in combinations(found, 2)
        for row in _rows(found[a], found[b], bootstrap)
    ]
    text = ("model_a", "model_b", "wording_a", "wording_b")
    schema = {
        **dict.fromkeys(("part", "of", "relation"), pl.String),
        "n": pl.Int64,
        **dict.fromkeys(text, pl.String),
        "same_question": pl.Boolean,
        "pairs": pl.Int64,
        **dict.fromkeys(("a", "b", "difference", "low", "high"), pl.Float64),
        **dict.fromkeys(("candidates_a", "candidates_b"), pl.Int64),
        **dict.fromkeys(("chance_a", "chance_b"), pl.Float64),
        "note": pl.String,
    }
    return pl.DataFrame(rows, schema)


def different_questions(wordings: Mapping[str, Sequence[str]]) -> list[str]:
    """A warning for each two models that were asked for concepts in no common wording.

    Args:
        wordings: The wordings of retrieval by the model's name.
    """
    return [
        f"Assumptions: {one} was asked for concepts in the wording {' and '.join(wordings[one])}, "
        f"{other} in {' and '.join(wordings[other])}. They ask different questions: rows that "
        "compare across wordings are marked."
        for one, other in combinations(wordings, 2)
        if not set(wordings[one]) & set(wordings[other])
    ]


def _rows(one: Findings, other: Findings, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    for a, b in _wordings(one.tables[RETRIEVAL], other.tables[RETRIEVAL]):
        about = {"part": RETRIEVAL, "wording_a": a, "wording_b": b, "same_question": a == b}
        for row in _retrieval(_Side.of(one, a), _Side.of(other, b), bootstrap):
            yield {**about, **row}
    about = {"part": ELICITATION, "same_question": True}
    for row in _elicitation(one, other, bootstrap):
        yield {**about, **row}


def _wordings(one: pl.DataFrame, other: pl.DataFrame) -> list[tuple[str, str]]:
    ours, theirs = (
        table["wording"].unique(maintain_order=True).to_list() for table in (one, other)
    )
    alike = [(wording, wording) for wording in ours if wording in theirs]
    return alike or list(product(ours, theirs))


@dataclass(frozen=True)
class _Side:
    """One model's retrieval in one wording.

    Args:
        values: ``n``, ``concept``, ``candidates`` and the figures.
        targets: ``n``, ``concept`` and the word looked for.
        scores: ``n``, ``concept``, ``word`` (each concept's) and its log-probability.
        candidates: The digest of the words that compete; None where the model misses some.
        sentences: Whether its probabilities are of whole sentences.
    """

    values: pl.DataFrame
    targets: pl.DataFrame
    scores: pl.DataFrame
    candidates: str | None
    sentences: bool

    @classmethod
    def of(cls, findings: Findings, wording: str) -> _Side:
        """The side of a run."""
        import polars as pl

        retrieval = findings.tables[RETRIEVAL].filter(
            pl.col("category").is_null(), order=MAIN, wording=wording
        )
        return cls(
            retrieved.by_concept(retrieval).sort("n", maintain_order=True),
            retrieval.select(*_PROMPT, "word"),
            findings.tables["retrieval_scores"].filter(wording=wording).drop("wording"),
            _digests(findings, RETRIEVAL, wording).get(None),
            retrieved.reads_sentences(findings.summary.get("kind"), wording),
        )

    def among(self, common: pl.DataFrame) -> pl.DataFrame:
        """The same values with ranks among common candidates alone.

        Args:
            common: ``n``, ``concept``, ``word``: the candidates of each prompt.
        """
        import polars as pl

        scores = self.scores.join(common, on=[*_PROMPT, "word"], how="semi")
        own = scores.join(self.targets, on=[*_PROMPT, "word"], how="semi")
        score, best = pl.col("logprob"), pl.col("logprob").max()
        log_sum = best + (score - best).exp().sum().log()
        ranked = (
            scores.join(own.select(*_PROMPT, own="logprob"), on=_PROMPT)
            .group_by(_PROMPT)
            .agg(
                mrr=1 / (score >= pl.col("own")).sum(),
                renormalised=(pl.col("own").first() - log_sum).exp(),
                candidates=pl.len().cast(pl.Int64),
            )
        )
        left = self.values.drop("mrr", "renormalised", "candidates")
        return left.join(ranked, on=_PROMPT, maintain_order="left")


def _retrieval(one: _Side, other: _Side, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    import polars as pl

    ours, theirs, note = one.values, other.values, None
    if one.candidates is None or one.candidates != other.candidates:
        common = _common(one.scores, other.scores)
        ours, theirs = one.among(common), other.among(common)
        note = AMONG_COMMON
    both = ours.join(theirs, on=_PROMPT, suffix="_b", maintain_order="left")
    for of in _RETRIEVED:
        if of == _PROBABILITY and one.sentences != other.sentences:
            continue
        pairs = both.with_columns(first=pl.col(of), second=pl.col(f"{of}_b"))
        for (n,), some in pairs.group_by("n", maintain_order=True):
            row = {"of": of, "n": n, **_paired(some, bootstrap)}
            if of != _PROBABILITY:
                row |= {"note": note, **_chances(some, "mrr" if of == "mrr" else "renormalised")}
            yield row


def _common(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """The words that both models scored, prompt by prompt."""
    keys = [*_PROMPT, "word"]
    ours, theirs = (scores.drop_nulls("logprob").select(keys) for scores in (one, other))
    return ours.join(theirs, on=keys, how="semi")


def _paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    names = ("pairs", "a", "b", "difference", "low", "high")
    return dict(zip(names, paired(pairs, bootstrap), strict=True))


def _chances(pairs: pl.DataFrame, of: str) -> dict[str, Any]:
    """How many candidates either side ranked, and what random rankings of them give."""
    found: dict[str, Any] = {}
    whole = pairs.drop_nulls(["first", "second"])
    for side, column in (("a", "candidates"), ("b", "candidates_b")):
        counts = whole[column].to_list()
        chances = [chance_mrr(n) if of == "mrr" else 1 / n for n in counts]
        found[f"candidates_{side}"] = max(counts, default=None)
        found[f"chance_{side}"] = sum(chances) / len(chances) if chances else None
    return found


def _elicitation(one: Findings, other: Findings, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    sides = [_elicited(findings) for findings in (one, other)]
    for of in sides[0]:
        over = of.removeprefix("map ")
        ours, theirs = (_digests(findings, ELICITATION, over) for findings in (one, other))
        both = (
            sides[0][of]
            .rename({"value": "first"})
            .join(
                sides[1][of].rename({"value": "second"}),
                on=["relation", "concept"],
                suffix="_b",
                maintain_order="left",
            )
        )
        for (relation,), some in both.group_by("relation", maintain_order=True):
            row = {"of": of, "relation": relation, **_paired(some, bootstrap)}
            if of != "spearman":
                whole = some.drop_nulls(["first", "second"])
                for side, end in (("a", ""), ("b", "_b")):
                    row[f"candidates_{side}"] = whole[f"candidates{end}"].max()
                    row[f"chance_{side}"] = whole[f"chance{end}"].mean()
                if ours.get(relation) is None or ours[relation] != theirs.get(relation):
                    row |= {**dict.fromkeys(("difference", "low", "high")), "note": NO_DIFFERENCE}
            yield row


def _elicited(findings: Findings) -> dict[str, pl.DataFrame]:
    """By measure, each prompt's value with its candidates and chance; asked with the preface."""
    import polars as pl

    elicitation = findings.tables[ELICITATION]
    chances = chance_precisions(elicitation).filter("preface")
    found = {}
    for of, table in elicited.measured(elicitation).items():
        chance = chances.filter(over=of.removeprefix("map ")).select(
            "relation", "concept", "chance"
        )
        asked = table.filter("preface").select("relation", "concept", "value", "candidates")
        found[of] = asked.join(
            chance, on=["relation", "concept"], how="left", maintain_order="left"
        ).with_columns(pl.col("candidates").cast(pl.Int64))
    return found


def _digests(findings: Findings, part: str, of: str) -> dict[str | None, str | None]:
    """By relation, the digest of the words that compete; None where the model misses some."""
    rows = findings.tables["candidates"].filter(part=part, of=of)
    return {
        row["relation"]: None if row["missing"] else row["digest"]
        for row in rows.iter_rows(named=True)
    }
