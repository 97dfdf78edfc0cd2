"""Headlines and printed tables of concept retrieval and property elicitation."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import score
from tacit.findings.spec import Column, Headline, Layout, TableSpec, View
from tacit.probes.assumptions.block import NUMBERS
from tacit.probes.assumptions.retrieval_measures import MAIN, shown_probability
from tacit.probes.assumptions.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.findings.findings import Findings


_OF = Column("of", "of", meaning="The label of the row in the report.")
_RETRIEVED = replace(
    TABLES["retrieval_by_number"],
    name="headline-retrieval",
    columns=(_OF, *TABLES["retrieval_by_number"].columns),
    shown=False,
)
_ELICITED = replace(
    TABLES["elicitation_by_relation"],
    name="headline-elicitation",
    columns=(_OF, *TABLES["elicitation_by_relation"].columns),
    shown=False,
)

HEADLINES = (
    Headline(
        "Concept retrieval: mean reciprocal rank",
        "one value per number of properties in the prompt; 1 means that the correct concept always "
        "ranks first; a tick shows the chance level",
        _RETRIEVED.name,
        "mrr",
        n=("concepts", "concept"),
        by=_OF.name,
        among=("candidates", "candidate"),
    ),
    Headline(
        "Concept retrieval: probability",
        "probability of the correct word, by number of properties in the prompt; if a causal model "
        "scores whole sentences (wording \u201csentence\u201d), the probabilities of all "
        "candidates are scaled to sum to 1",
        _RETRIEVED.name,
        "probability",
        n=("concepts", "concept"),
        by=_OF.name,
    ),
    Headline(
        "Property elicitation: mean average precision",
        "one value per relation; 1 means that people's responses always rank above all other "
        "words; a tick shows the chance level",
        _ELICITED.name,
        "map",
        n=("prompts", "prompt"),
        by=_OF.name,
        among=("candidates", "candidate"),
    ),
)


def headline_views(findings: Findings) -> Iterator[View]:
    """Yield the tables that headlines use; the column ``of`` contains each row's label."""
    import polars as pl

    rows = retrieved(findings, NUMBERS)
    named = rows["wording"].n_unique() > 1
    of = [
        ", ".join((*([wording] if named else []), several(n, "property", "properties")))
        for wording, n in rows.select("wording", "n").iter_rows()
    ]
    yield View(_RETRIEVED, rows.with_columns(pl.Series("of", of, pl.String)))
    relations = elicited(findings)
    yield View(_ELICITED, relations.with_columns(of=pl.format("\u201c{}\u201d", "relation")))


def retrieved(findings: Findings, numbers: Sequence[int]) -> pl.DataFrame:
    """Return the mean retrieval measures for each number of properties in the prompt."""
    import polars as pl

    rows = (
        findings.tables["retrieval_by_number"]
        .filter(pl.col("category").is_null(), pl.col("n").is_in(numbers), order=MAIN)
        .sort("n", maintain_order=True)
    )
    kind = findings.summary.get("kind")
    among = [
        wording
        for wording in rows["wording"].unique()
        if shown_probability(kind, wording) == "renormalised"
    ]
    return rows.with_columns(
        pl.when(pl.col("wording").is_in(among))
        .then(pl.col(f"renormalised{end}"))
        .otherwise(pl.col(f"probability{end}"))
        .alias(f"probability{end}")
        for end in ("", "_low", "_high")
    )


def elicited(findings: Findings) -> pl.DataFrame:
    """Return measures of prompts with a preface and the candidate set ``vocabulary``."""
    return findings.tables["elicitation_by_relation"].filter(preface=True, over="vocabulary")


_NUMBERS = (1, 2, 4, 6, 8, 10)
_EXAMPLES = (("bear", "has"), ("ladder", "made of"))  # Table 1 of the paper
_BEST = 5
_PAPER = "Weir et al. 2020"

_PROBABILITY = Column(
    "probability",
    "probability",
    "percent",
    "The probability of the concept's word, averaged over concepts.",
    ("probability_low", "probability_high"),
)
_RETRIEVAL = (
    Column("n", "k", "count", "The number of properties in the prompt."),
    Column(
        "mrr",
        "MRR",
        "score",
        "The mean reciprocal rank (MRR) of the concept's word: the mean of 1/rank.",
        ("mrr_low", "mrr_high"),
    ),
    Column("chance_mrr", "chance", "score", "The MRR if the candidates were ranked at random."),
    _PROBABILITY,
    Column(
        "first",
        "first",
        "percent",
        "The share of concepts whose word ranks first among the candidates.",
    ),
    replace(TABLES["retrieval_by_number"].column("concepts"), heading="n"),
)
_RESPONSES = (
    Column("word", "people", meaning="A response that people gave."),
    Column("frequency", "frequency", meaning="The number of people who gave the response."),
    Column(
        "candidate", "model", meaning="The model's candidates, sorted by decreasing probability."
    ),
    Column("probability", "probability", meaning="The candidate's probability."),
)
_RELATIONS = (
    Column(
        "relation",
        "relation",
        meaning="The relation between the concept and its properties, such as “has”.",
    ),
    Column(
        "prompts",
        "prompts",
        "count",
        "The number of prompts for which at least one of the candidates is a response that "
        "people gave.",
    ),
    Column(
        "map",
        "mAP\nvocab",
        "score",
        "The mean average precision (mAP) when all words of the vocabulary are candidates.",
        ("map_low", "map_high"),
    ),
    Column(
        "chance_map",
        "chance",
        "score",
        "The mAP if all words of the vocabulary were ranked at random.",
    ),
    Column(
        "sensible",
        "mAP\nsens",
        "score",
        "The mAP when only the sensible words (words that are people's responses to at least one "
        "prompt with the relation) are candidates.",
    ),
    Column(
        "chance_sensible",
        "chance",
        "score",
        "The mAP if the sensible words (words that are people's responses to at least one prompt "
        "with the relation) were ranked at random.",
    ),
    Column(
        "spearman",
        "rho",
        "score",
        "Spearman's rho between the production frequency and the probability of people's "
        "responses, averaged over prompts.",
    ),
    Column(
        "used", "n of\nrho", "count", "The number of prompts for which Spearman's rho is defined."
    ),
)
_PRINCE = (
    Column("text", "text", meaning="The prompt."),
    Column(
        "best",
        "best candidates [probability]",
        meaning="The most probable candidate words; an asterisk marks a word that the linguist "
        "Ellen Prince gives in the example from which the prompt is taken.",
    ),
)


def printed_views(findings: Findings) -> Iterator[View]:
    """Yield the non-empty tables to print."""
    wording = findings.summary.get("elicitation_wording")
    of = f", wording {wording}" if wording else ""
    views = (
        *_retrieval(findings),
        *_responses(findings, of),
        *_relations(findings, of),
        _prince(findings.tables["prince"], of),
    )
    yield from (view for view in views if not view.table.is_empty())


def _view(name: str, title: str, columns: tuple[Column, ...], table: pl.DataFrame) -> View:
    spec = TableSpec(f"printed-{name}", title, "", columns, printed=Layout(), shown=False)
    return View(spec, table)


def _retrieval(findings: Findings) -> Iterator[View]:
    """Yield a table of concept retrieval per wording, with a row per number of properties."""
    rows, kind = retrieved(findings, _NUMBERS), findings.summary.get("kind")
    among = replace(_PROBABILITY, heading="among candidates")
    for wording in rows["wording"].unique(maintain_order=True):
        whole = shown_probability(kind, wording) == "renormalised"
        columns = tuple(among if whole and c is _PROBABILITY else c for c in _RETRIEVAL)
        title = f"concept retrieval from k properties, wording {wording}"
        yield _view(f"retrieval-{wording}", title, columns, rows.filter(wording=wording))


def _responses(findings: Findings, of: str) -> Iterator[View]:
    """Yield people's responses and the model's best candidates for two example prompts."""
    people, best = findings.tables["elicitation"], findings.tables["elicitation_top"]
    for at, row in enumerate(_examples(people), start=1):
        asked = {key: row[key] for key in ("relation", "preface", "over", "concept")}
        said = people.filter(**asked).sort("frequency", descending=True, maintain_order=True)
        found = best.filter(**asked).sort("place")
        table = _beside(
            said.select("word", "frequency").head(_BEST),
            found.select("word", "logprob").head(_BEST),
        )
        yield _view(
            f"responses-{at}", f"{row['text']} (Table 1 of {_PAPER}{of})", _RESPONSES, table
        )


def _beside(people: pl.DataFrame, model: pl.DataFrame) -> pl.DataFrame:
    """Put people's words and a model's words side by side, and format numbers as text."""
    import polars as pl

    rows = [
        (
            *((said[0], f"{said[1]:,}") if said else (None, None)),
            *((own[0], _probability(own[1])) if own else (None, None)),
        )
        for said, own in zip_longest(people.iter_rows(), model.iter_rows())
    ]
    return pl.DataFrame(rows, {column.name: pl.String for column in _RESPONSES}, orient="row")


def _examples(people: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row of the table ``people`` for each example of Weir et al. (2020, Table 1)."""
    prefaced = people.filter(preface=True, over="vocabulary")
    table = people.filter(over="vocabulary") if prefaced.is_empty() else prefaced
    for concept, relation in _EXAMPLES:
        of = table.filter(relation=relation)
        papers = of.filter(concept=concept)
        yield from (of if papers.is_empty() else papers).head(1).iter_rows(named=True)


def _relations(findings: Findings, of: str) -> Iterator[View]:
    """Yield tables of elicitation measures by relation (Weir et al. 2020, Table 2)."""
    import polars as pl

    agreement = findings.tables["agreement"]
    by_relation = findings.tables["elicitation_by_relation"]
    for (preface,), part in by_relation.group_by("preface", maintain_order=True):
        how = "with" if preface else "without"
        sensible = part.filter(over="sensible").select(
            "relation", sensible="map", chance_sensible="chance_map"
        )
        rho = agreement.filter(preface=preface).select("relation", "spearman", "used")
        table = part.select(pl.col("relation").unique(maintain_order=True))
        for each in (part.filter(over="vocabulary"), sensible, rho):
            table = table.join(each, on="relation", how="left", maintain_order="left")
        title = f'Properties elicited {how} "Everyone knows that" (Table 2 of {_PAPER}{of})'
        yield _view(f"relations-{how}", title, _RELATIONS, table)


def _prince(prince: pl.DataFrame, of: str) -> View:
    """Return the best candidates for Ellen Prince's examples (Weir et al. 2020, Table 3)."""
    import polars as pl

    rows = []
    for (text,), part in prince.group_by("text", maintain_order=True):
        best = part.drop_nulls(["place", "logprob"]).sort("place").head(2 * _BEST)
        words = [
            f"{row['word']}{'*' if row['target'] else ''} [{_probability(row['logprob'])}]"
            for row in best.iter_rows(named=True)
        ]
        rows.append((text, ", ".join(words)))
    table = pl.DataFrame(rows, {"text": pl.String, "best": pl.String}, orient="row")
    title = (
        f"Examples of the linguist Ellen Prince (Table 3 of {_PAPER}{of}); *: a word that Prince "
        "gives in her example"
    )
    return _view("prince", title, _PRINCE, table)


def _probability(logprob: float | None) -> str:
    return score(None if logprob is None else math.exp(logprob))
