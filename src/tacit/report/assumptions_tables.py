"""The tables of the assumptions probe's section, and what opens behind a concept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import number_of, several
from tacit.probes.assumptions.candidates import chance_mrr
from tacit.report.content import Column, Details, Table
from tacit.report.together import together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.runs.reading import Run

# Rows that open behind concepts, of all models together.
MOST_ROWS = 150_000
_ORDER = "top-decreasing"
_NUMBERS = (1, 4, 10)

_MODEL = Column("model", "model")
_CONCEPT = Column("concept", "concept")
_RELATION = Column("relation", "relation")
_PREFACE = Column("preface", "\u201cEveryone knows that\u201d", "truth")
_LOGPROB = Column("logprob", "log-probability (nats)", "nats")


def _estimated(name: str, heading: str) -> tuple[Column, Column]:
    """A figure and its interval."""
    return Column(name, heading, "score"), Column(
        f"{name}_low", "95 % interval", "score", to=f"{name}_high"
    )


_TABLES: Mapping[str, tuple[str, str, tuple[Column, ...]]] = {
    "retrieval_by_number": (
        "Concept retrieval (Figures 2 and 3)",
        (
            "By how many properties are stated, in which order, of which category (none: of all). "
            "Missing: concepts that the model cannot write. Chance: the MRR of random ranks among "
            "the candidates; ranks among other candidates are not comparable."
        ),
        (
            *(_MODEL, Column("wording", "wording"), Column("order", "order")),
            *(Column("category", "category"), Column("n", "properties", "count")),
            *(Column("concepts", "concepts", "count"), Column("missing", "missing", "count")),
            *_estimated("mrr", "MRR"),
            *(Column("candidates", "candidates", "count"), Column("chance_mrr", "chance", "score")),
            *_estimated("probability", "probability"),
            *_estimated("renormalised", "among candidates"),
            *(Column("first", "first", "percent"),),
        ),
    ),
    "elicitation_by_relation": (
        "Properties elicited (Table 2)",
        (
            "Mean average precision over prompts; absent: people's words that are no candidate; "
            "without: prompts left out because none of their words is. Chance: the mAP of random "
            "rankings of so many words."
        ),
        (
            *(_MODEL, _RELATION, _PREFACE, Column("over", "candidates")),
            *(Column("prompts", "prompts", "count"), *_estimated("map", "mAP")),
            *(Column("candidates", "words", "count"), Column("chance_map", "chance", "score")),
            *(Column("absent", "absent", "count"), Column("without", "without", "count")),
        ),
    ),
    "agreement": (
        "Agreement with people (Table 2)",
        "Spearman's rho between how many people named a word and its log-probability.",
        (
            *(_MODEL, _RELATION, _PREFACE, Column("used", "prompts", "count")),
            *_estimated("spearman", "rho"),
            *(Column("too_few", "too few words", "count"), Column("constant", "all tied", "count")),
        ),
    ),
    "ablation": (
        "With and without \u201cEveryone knows that\u201d",
        "The same prompts both ways, paired.",
        (
            *(_MODEL, _RELATION, Column("measure", "measure")),
            *(Column("prompts", "prompts", "count"), Column("with_preface", "with", "score")),
            *(Column("without_preface", "without", "score"),),
            *(Column("difference", "difference", "signed"),),
            Column("low", "95 % interval", "signed", to="high"),
        ),
    ),
    "favoured": (
        "Favoured words",
        "How often a word is the first of all, and how often people said it there.",
        (
            *(_MODEL, _RELATION, _PREFACE, Column("word", "word")),
            *(Column("prompts", "prompts", "count"), Column("first", "first", "count")),
            *(Column("share", "share first", "percent"), Column("right", "right", "count")),
            *(Column("in_top5", "in the first 5", "count"),),
            *(Column("probability", "mean probability", "score"),),
        ),
    ),
    "prince": (
        "Prince's examples (Table 3)",
        "The best candidates; hers: the word stands in her paper.",
        (
            *(_MODEL, _CONCEPT, Column("text", "text"), Column("place", "place", "count")),
            *(Column("word", "word"), _LOGPROB, Column("target", "hers", "truth")),
        ),
    ),
}
_RETRIEVAL = (
    Column("n", "properties", "count"),
    Column("wording", "wording"),
    Column("text", "prompt"),
    Column("rank", "rank", "count"),
    Column("candidates", "of", "count"),
    _LOGPROB,
    Column("renormalised", "among candidates (nats)", "nats"),
)
_BEST = (
    Column("n", "properties", "count"),
    Column("wording", "wording"),
    Column("place", "place", "count"),
    Column("word", "word"),
    _LOGPROB,
)
_SAID = (
    _RELATION,
    Column("text", "prompt"),
    Column("over", "candidates"),
    Column("word", "people's word"),
    Column("frequency", "people", "count"),
    Column("rank", "rank", "count"),
    Column("candidates", "of", "count"),
    _LOGPROB,
)
_FIRST = (
    _RELATION,
    _PREFACE,
    Column("over", "candidates"),
    Column("place", "place", "count"),
    Column("word", "word"),
    _LOGPROB,
)


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """The tables of all models, then each model's concepts down to log-probabilities."""
    found = together(runs)
    for name, (title, about, columns) in _TABLES.items():
        frame = found.get(name)
        if frame is not None and not frame.is_empty():
            there = tuple(column for column in columns if column.name in frame.columns)
            yield Table(f"assumptions-{name.replace('_', '-')}", title, about, frame, there)
    for number, run in enumerate(runs):
        yield from _concepts(run, f"assumptions-{number}", MOST_ROWS // len(runs))


def _concepts(run: Run, stem: str, most: int) -> Iterator[Table]:
    """The concepts of a model; behind each its prompts, the best candidates, people's words."""
    import polars as pl

    retrieval = run.tables["retrieval"]
    main = retrieval.filter(pl.col("category").is_null(), order=_ORDER)
    behind = {
        "retrieval": ("Which concept has these properties?", main, _RETRIEVAL),
        "retrieval_top": ("Its best candidates", run.tables["retrieval_top"], _BEST),
        "elicitation": ("What do people say of it?", run.tables["elicitation"], _SAID),
        "elicitation_top": ("What the model says first", run.tables["elicitation_top"], _FIRST),
    }
    names = pl.concat([table.select("concept") for _, table, _ in behind.values()])
    concepts = names.unique(maintain_order=True)
    shown, told = _sample(concepts, sum(t.height for _, t, _ in behind.values()), most)
    places = main.filter(pl.col("n").is_in(_NUMBERS))
    ranks = places.group_by("concept", "n", maintain_order=True).agg(pl.col("rank").min())
    wide = shown
    for n in _NUMBERS:
        own = ranks.filter(n=n).select("concept", pl.col("rank").alias(f"rank_{n}"))
        wide = wide.join(own, on="concept", how="left", maintain_order="left")
    first = run.tables["elicitation"].filter(over="vocabulary", preface=True)
    best = first.group_by("concept").agg(pl.col("rank").min().alias("best_word"))
    wide = wide.join(best, on="concept", how="left", maintain_order="left")
    yield Table(
        f"{stem}-concepts",
        f"Concepts, down to their prompts: {run.name}",
        "The rank of the concept given 1, 4 and 10 of its properties"
        f"{_among(places)}, and the best rank of a word that people say of it{_among(first)}. "
        f"Open a concept to see every prompt. {told}",
        wide,
        (
            _CONCEPT,
            *(Column(f"rank_{n}", f"rank, {n}", "count") for n in _NUMBERS),
            Column("best_word", "best word of people", "count"),
        ),
        Details("concept", tuple(f"{stem}-{name.replace('_', '-')}" for name in behind)),
        model=run.name,
    )
    for name, (title, table, columns) in behind.items():
        some = table.join(shown, on="concept", how="semi", maintain_order="left")
        yield Table(f"{stem}-{name.replace('_', '-')}", title, "", some, columns, behind="concept")


def _among(ranks: pl.DataFrame) -> str:
    """How many candidates ranks are among, and their chance level."""
    counts = sorted(set(ranks.drop_nulls("rank")["candidates"]))
    if not counts:
        return ""
    ends = list(dict.fromkeys((counts[0], counts[-1])))
    words = " to ".join(f"{n:,}" for n in ends)
    chances = " to ".join(f"{chance_mrr(n):.3f}" for n in ends)
    return f" (among {words} {number_of(counts[-1], 'candidate')}, chance MRR {chances})"


def _sample(concepts: pl.DataFrame, rows: int, most: int) -> tuple[pl.DataFrame, str]:
    """The concepts that can be opened, all or evenly spaced ones, and which these are."""
    if rows <= most:
        return concepts, f"All here: {several(concepts.height, 'concept')}."
    kept = max(1, int(concepts.height * most / rows))
    places = sorted({round(i * (concepts.height - 1) / max(1, kept - 1)) for i in range(kept)})
    return concepts[places], (
        f"A sample is here, {len(places):,} of {several(concepts.height, 'concept')}, evenly "
        "spaced in the order of the norms."
    )
