"""Paired comparison of models on the assumptions probe, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.compare import schema
from tacit.probes.assumptions import elicitation_measures, retrieval_measures
from tacit.probes.assumptions.block import NUMBERS
from tacit.probes.assumptions.candidates import (
    ELICITATION,
    RETRIEVAL,
    chance_mrr,
    chance_precisions,
)
from tacit.probes.assumptions.means import paired
from tacit.probes.assumptions.retrieval_measures import MAIN
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.findings import Findings

_PROBABILITY = "probability"
_RETRIEVED = ("mrr", _PROBABILITY, "renormalised")
_PROMPT = ["n", "concept"]

AMONG_COMMON = "ranks are computed among the concepts that both models scored"
"""The note that ranks were recomputed among the candidates that both models scored."""

NO_DIFFERENCE = "no difference is reported because the models ranked different candidates"
"""The note that no difference is reported because the models' candidates differ."""

DIFFERENT_QUESTIONS = "the two models' prompts ask different questions"
"""The note that the prompts of the two models have different wordings."""

_MEASURES = {
    "mrr": "mean reciprocal rank",
    "probability": "probability of the concept",
    "renormalised": "probability among the candidates",
    "map vocabulary": "mean average precision, vocabulary",
    "map sensible": "mean average precision, candidates: people's responses",
    "spearman": "agreement with people (Spearman)",
}
_OPTIONAL = (
    *("n", "part", "measure", "relation", "properties", "first_wording", "second_wording"),
    *("same_question", "first_candidates", "second_candidates", "first_chance", "second_chance"),
    *("note", "printed"),
)


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Compare the measures of each pair of models on the prompts that both models answered."""
    import polars as pl

    bootstrap = bootstrap or Bootstrap.for_pairs(len(found))
    rows = [
        {"first": first, "second": second, **row, **_worded(row)}
        for first, second in combinations(found, 2)
        for row in _rows(found[first], found[second], bootstrap)
    ]
    return pl.DataFrame(rows, schema(_OPTIONAL))


def _worded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns ``figure``, ``note`` and ``printed`` for a row of the comparison."""
    n = row.get("properties")
    figure = _MEASURES[row["measure"]]
    if "relation" in row:
        figure += f", {row['relation']}"
    if n is not None:
        figure = retrieval_name(row["measure"], n, _asked(row))
    notes = [] if row["same_question"] else [DIFFERENT_QUESTIONS]
    notes += [row["note"]] if row.get("note") else []
    return {
        "figure": figure,
        "note": "; ".join(notes) or None,
        "printed": n is None or n in NUMBERS,
    }


def retrieval_name(measure: str, n: int, wording: str) -> str:
    """Return the label of a retrieval measure for prompts that state ``n`` properties."""
    return f"{_MEASURES[measure]}, {several(n, 'property', 'properties')} stated ({wording})"


def _asked(row: Mapping[str, Any]) -> str:
    """Return the wording of two models' prompts, or both wordings if they differ."""
    if row["same_question"]:
        return str(row["first_wording"])
    both = f"{row['first_wording']} and {row['second_wording']}"
    return f"wordings {both}, which ask different questions"


def different_questions(wordings: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a warning for each pair of models whose retrieval prompts share no wording."""
    return [
        "Assumptions probe: the wording of the retrieval prompts is "
        f"{' and '.join(wordings[one])} for {one}, but {' and '.join(wordings[other])} for "
        f"{other}. Prompts of different wordings ask different questions. In the table of "
        "differences, the column “note” marks rows that compare differently worded prompts."
        for one, other in combinations(wordings, 2)
        if not set(wordings[one]) & set(wordings[other])
    ]


def _rows(one: Findings, other: Findings, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    for ours, theirs in _wordings(one.tables[RETRIEVAL], other.tables[RETRIEVAL]):
        about = {
            "part": RETRIEVAL,
            "first_wording": ours,
            "second_wording": theirs,
            "same_question": ours == theirs,
        }
        for row in _retrieval(Side.of(one, ours), Side.of(other, theirs), bootstrap):
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
class Side:
    """The retrieval results of one model for the prompts in one wording."""

    values: pl.DataFrame
    targets: pl.DataFrame
    scores: pl.DataFrame
    candidates: str | None
    sentences: bool

    @classmethod
    def of(cls, findings: Findings, wording: str) -> Side:
        """Select one model's retrieval results for the prompts with the wording ``wording``."""
        import polars as pl

        retrieval = findings.tables[RETRIEVAL].filter(
            pl.col("category").is_null(), order=MAIN, wording=wording
        )
        return cls(
            retrieval_measures.by_concept(retrieval).sort("n", maintain_order=True),
            retrieval.select(*_PROMPT, "word"),
            findings.tables["retrieval_scores"].filter(wording=wording).drop("wording"),
            _digests(findings, RETRIEVAL, wording).get(None),
            retrieval_measures.reads_sentences(findings.summary.get("kind"), wording),
        )

    def among(self, common: pl.DataFrame) -> pl.DataFrame:
        """Return the retrieval results, with ranks recomputed among the candidates ``common``."""
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


def _retrieval(one: Side, other: Side, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    import polars as pl

    ours, theirs = comparable([one, other])
    note = None if ours is one.values else AMONG_COMMON
    both = ours.join(theirs, on=_PROMPT, suffix="_second", maintain_order="left")
    for of in _RETRIEVED:
        if of == _PROBABILITY and one.sentences != other.sentences:
            continue
        pairs = both.with_columns(first=pl.col(of), second=pl.col(f"{of}_second"))
        for (n,), some in pairs.group_by("n", maintain_order=True):
            row = {"measure": of, "properties": n, **_paired(some, bootstrap)}
            if of != _PROBABILITY:
                row |= {"note": note, **_chances(some, "mrr" if of == "mrr" else "renormalised")}
            yield row


def comparable(sides: Sequence[Side]) -> list[pl.DataFrame]:
    """Return each model's retrieval measures among the candidates that all models share."""
    first = sides[0]
    if first.candidates is not None and len({side.candidates for side in sides}) == 1:
        return [side.values for side in sides]
    keys = [*_PROMPT, "word"]
    common = first.scores.drop_nulls("logprob").select(keys)
    for side in sides[1:]:
        common = common.join(side.scores.drop_nulls("logprob"), on=keys, how="semi")
    return [side.among(common) for side in sides]


def _paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    names = ("n", "first_value", "second_value", "difference", "low", "high", "p_value")
    return dict(zip(names, paired(pairs, bootstrap), strict=True))


def _chances(pairs: pl.DataFrame, of: str) -> dict[str, Any]:
    """Return each model's maximum number of candidates in a prompt, and mean chance level."""
    found: dict[str, Any] = {}
    whole = pairs.drop_nulls(["first", "second"])
    for side, column in (("first", "candidates"), ("second", "candidates_second")):
        counts = whole[column].to_list()
        chances = [chance_mrr(n) if of == "mrr" else 1 / n for n in counts]
        found[f"{side}_candidates"] = max(counts, default=None)
        found[f"{side}_chance"] = sum(chances) / len(chances) if chances else None
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
                suffix="_second",
                maintain_order="left",
            )
        )
        for (relation,), some in both.group_by("relation", maintain_order=True):
            row = {"measure": of, "relation": relation, **_paired(some, bootstrap)}
            if of != "spearman":
                whole = some.drop_nulls(["first", "second"])
                for side, end in (("first", ""), ("second", "_second")):
                    row[f"{side}_candidates"] = whole[f"candidates{end}"].max()
                    row[f"{side}_chance"] = whole[f"chance{end}"].mean()
                if ours.get(relation) is None or ours[relation] != theirs.get(relation):
                    undefined = ("difference", "low", "high", "p_value")
                    row |= {**dict.fromkeys(undefined), "note": NO_DIFFERENCE}
            yield row


def _elicited(findings: Findings) -> dict[str, pl.DataFrame]:
    """Return, for each elicitation measure, a table with one row per prompt."""
    import polars as pl

    elicitation = findings.tables[ELICITATION]
    chances = chance_precisions(elicitation).filter("preface")
    found = {}
    for of, table in elicitation_measures.measured(elicitation).items():
        chance = chances.filter(over=of.removeprefix("map ")).select(
            "relation", "concept", "chance"
        )
        asked = table.filter("preface").select("relation", "concept", "value", "candidates")
        found[of] = asked.join(
            chance, on=["relation", "concept"], how="left", maintain_order="left"
        ).with_columns(pl.col("candidates").cast(pl.Int64))
    return found


def _digests(findings: Findings, part: str, of: str) -> dict[str | None, str | None]:
    """Return, for each relation, the digest of its candidates."""
    rows = findings.tables["candidates"].filter(part=part, of=of)
    return {
        row["relation"]: None if row["missing"] else row["digest"]
        for row in rows.iter_rows(named=True)
    }
