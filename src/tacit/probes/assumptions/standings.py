"""Tables of ranks and log-probabilities, from which the probe computes its measures.

The rank and the log-probability of a word are null if the model's tokenizer cannot encode the word.
Log-probabilities are in nats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from tacit.probes.assumptions.elicitation import Eliciting, Item, Prince
    from tacit.probes.assumptions.responses import Response
    from tacit.probes.assumptions.retrieval import Retrieval
    from tacit.requests import Ranking, RankingPrompt, Standing


def retrieval_table(part: Retrieval, rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return a table with the rank of the correct concept in each retrieval prompt."""
    import polars as pl

    rows = []
    for item, ranking in zip(part.items, rankings, strict=True):
        one, standing = item.prompt, ranking[item.prompt.word]
        rows.append(
            {
                "wording": part.wording,
                "order": item.order,
                "category": item.category,
                "concept": one.concept,
                "word": one.word,
                "n": one.n,
                "text": one.text,
                "rank": standing.rank,
                "logprob": standing.logprob,
                "renormalised": _less(standing.logprob, ranking.normaliser),
                "tokens": standing.tokens,
                "candidates": len(part.vocabulary) - ranking.missing,
            }
        )
    schema = {
        "wording": pl.String,
        "order": pl.String,
        "category": pl.String,
        "concept": pl.String,
        "word": pl.String,
        "n": pl.Int64,
        "text": pl.String,
        "rank": pl.Int32,
        "logprob": pl.Float64,
        "renormalised": pl.Float64,
        "tokens": pl.Int32,
        "candidates": pl.Int32,
    }
    return pl.DataFrame(rows, schema=schema)


def retrieval_top(part: Retrieval, rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return the best candidates for prompts like those in Figure 2 of Weir et al. (2020)."""
    import polars as pl

    rows = [
        (
            *(part.wording, item.prompt.concept, item.prompt.n),
            *(place, word, logprob, _less(logprob, ranking.normaliser)),
        )
        for item, ranking in zip(part.items, rankings, strict=True)
        if part.is_main(item)
        for place, word, logprob in _placed(ranking)
    ]
    schema = {"wording": pl.String, "concept": pl.String, "n": pl.Int64}
    return _frame(rows, {**schema, **_top(), "renormalised": pl.Float64})


def elicitation_table(part: Eliciting, rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return a table: for each prompt, the rank of each response's most probable spelling."""
    import polars as pl

    rows = [
        row
        for item, ranking in zip(part.items, rankings, strict=True)
        for row in _responses(part, item, ranking)
    ]
    return _frame(
        rows,
        {
            "relation": pl.String,
            "preface": pl.Boolean,
            "over": pl.String,
            "concept": pl.String,
            "text": pl.String,
            "word": pl.String,
            "frequency": pl.Int64,
            "spelling": pl.String,
            "rank": pl.Int32,
            "logprob": pl.Float64,
            "candidates": pl.Int32,
        },
    )


def elicitation_top(part: Eliciting, rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return the best candidates of each elicitation prompt, by decreasing probability."""
    import polars as pl

    rows = [
        (item.prompt.relation, item.preface, item.over, item.prompt.concept, *placed)
        for item, ranking in zip(part.items, rankings, strict=True)
        for placed in _placed(ranking)
    ]
    schema = {"relation": pl.String, "preface": pl.Boolean, "over": pl.String}
    return _frame(rows, {**schema, "concept": pl.String, **_top()})


def prince_table(part: Prince, rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return the best candidates and all target words for the prompts by Ellen Prince."""
    import polars as pl

    rows = []
    for one, ranking in zip(part.shown, rankings, strict=True):
        best = list(_placed(ranking))
        shown = {word for _, word, _ in best}
        best += [(s.rank, s.target, s.logprob) for s in ranking.targets if s.target not in shown]
        rows += [
            (one.concept, one.part, one.text, place, word, logprob, word in one.targets)
            for place, word, logprob in best
        ]
    return _frame(
        rows,
        {
            "concept": pl.String,
            "part": pl.String,
            "text": pl.String,
            **_top(),
            "target": pl.Boolean,
        },
    )


def _responses(part: Eliciting, item: Item, ranking: Ranking) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each response to a prompt."""
    known = {one.target: one for one in ranking.targets}
    best = [_best(response, known.values()) for response in item.prompt.responses]
    counted = {one.target for one in best if one is not None}
    others = [one for one in ranking.targets if one.target not in counted]
    beside = sum(one.logprob is not None for one in others)
    candidates = len(part.candidates(item)) - ranking.missing - beside
    for response, one in zip(item.prompt.responses, best, strict=True):
        yield (
            item.prompt.relation,
            item.preface,
            item.over,
            item.prompt.concept,
            item.prompt.text,
            response.word,
            response.frequency,
            None if one is None else one.target,
            None if one is None else _rank_without(one, others),
            None if one is None else one.logprob,
            candidates,
        )


def _best(response: Response, known: Iterable[Standing]) -> Standing | None:
    """Return the ``Standing`` (rank and score) of a response's most probable spelling."""
    spelt = [one for one in known if one.target in response.spellings]
    found = [one for one in spelt if one.logprob is not None]
    return max(found, key=lambda one: one.logprob or 0.0) if found else next(iter(spelt), None)


def _rank_without(one: Standing, others: Iterable[Standing]) -> int | None:
    """Return the rank of a word among all candidates except ``others``."""
    if one.rank is None or one.logprob is None:
        return None
    return one.rank - sum(
        other.logprob is not None and other.logprob >= one.logprob for other in others
    )


def _placed(ranking: Ranking) -> Iterator[tuple[int | None, str, float | None]]:
    for place, (word, logprob) in enumerate(ranking.top, start=1):
        yield place, word, logprob


def _less(value: float | None, normaliser: float | None) -> float | None:
    return None if value is None or normaliser is None else value - normaliser


def _top() -> dict[str, type[pl.DataType]]:
    import polars as pl

    return {"place": pl.Int32, "word": pl.String, "logprob": pl.Float64}


def _frame(rows: Sequence[tuple[Any, ...]], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=schema, orient="row")


def questions_table(prompts: Sequence[RankingPrompt], rankings: Sequence[Ranking]) -> pl.DataFrame:
    """Return a table with one row per combination of prompt text and vocabulary."""
    import polars as pl

    found = {
        (prompt.text, prompt.vocabulary.digest): (prompt, ranking)
        for prompt, ranking in zip(prompts, rankings, strict=True)
    }
    rows = [
        (
            prompt.text,
            len(prompt.vocabulary),
            ranking.normaliser,
            ranking.several,
            ranking.missing,
            [{"word": word, "logprob": logprob} for word, logprob in ranking.top],
        )
        for prompt, ranking in found.values()
    ]
    schema: dict[str, Any] = {
        "text": pl.String,
        "words": pl.Int64,
        "normaliser": pl.Float64,
        "several": pl.Int32,
        "missing": pl.Int32,
        "top": pl.List(pl.Struct({"word": pl.String, "logprob": pl.Float64})),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
