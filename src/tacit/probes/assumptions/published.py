"""What Weir et al. (2020) print beside one's own: ours, published, difference.

Published values are set beside a run's findings and go into none. A model's figures are compared
with one of the paper's four models, which a person names; figures of the data and the method with
the paper's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.assumptions.retrieved import MAIN
from tacit.probes.assumptions.spelling import american

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

MODELS = ("bert-base", "bert-large", "roberta-base", "roberta-large")
"""The paper's models; all of them cased."""

TABLES = (
    *("retrieval", "retrieval_by_number", "elicitation", "elicitation_top"),
    *("elicitation_by_relation", "agreement", "ablation", "prince", "categories", "vocabulary"),
)
"""The findings that are compared."""

_EACH, _MEAN = "each", "mean"
_SHOWN = {_EACH: "all four models", _MEAN: "mean of the four models"}


class Cell(NamedTuple):
    """One printed figure and ours; ``of`` is the model it belongs to, None for none."""

    table: str
    row: str
    column: str
    of: str | None
    ours: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    among: Among | None = None


class Among(NamedTuple):
    """What our figure of ranks is among, beside the candidates that the paper ranks.

    Args:
        candidates: How many words the run ranks; None where it has no such figure.
        chance: What random rankings of them give.
        differs: Why the paper's candidates are others, so that there is no difference; None where
            they are the same as far as the paper tells.
        note: What else a reader must know of the comparison.
    """

    candidates: int | None
    chance: float | None
    differs: str | None
    note: str | None = None


@cache
def published() -> dict[str, Any]:
    """What the paper prints, by table."""
    path = resources.files("tacit") / "data" / "published" / "assumptions.yaml"
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def published_table(
    tables: Mapping[str, pl.DataFrame],
    model: str | None = None,
    summary: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """What the paper prints, beside a run.

    Args:
        tables: The run's findings by name; those of ``TABLES`` are looked at, any may be absent.
        model: One of ``MODELS``, with which the run's model is compared. Without it the figures of
            all four are given, and none of them is taken for the run's: no difference.
        summary: The run's summary, for the size of the norms and how beliefs were obtained.

    Returns:
        Columns table, row, column, ours (null where the run has none), published, low, high (the
        ends where a range is printed), difference: ours less published, or less the nearer end of
        a range and 0 within it (null for a mean over the paper's models, and for ranks among other
        candidates than the paper's), candidates and chance (of figures of ranks: how many words
        the run ranks, and what random rankings of them give), note (why there is no difference, or
        what it hides), and obtained: how the run's were had, null where it does not say.

    Raises:
        RequestError: The model is none of the paper's.
    """
    import polars as pl

    if model is not None and model not in MODELS:
        raise RequestError(f"the paper has no model {model!r}; expected one of {', '.join(MODELS)}")
    ours = _Ours(tables, summary or {})
    cells = [*_table_1(ours), *_table_2(ours), *_table_3(ours), *_text(ours)]
    kept = [cell for cell in cells if model is None or cell.of in {None, _EACH, _MEAN, model}]
    names = ("ours", "published", "low", "high", "difference")
    schema = {
        **dict.fromkeys(("table", "row", "column"), pl.String),
        **dict.fromkeys(names, pl.Float64),
        "candidates": pl.Int64,
        "chance": pl.Float64,
        "note": pl.String,
    }
    table = pl.DataFrame([_row(cell, model) for cell in kept], schema, orient="row")
    obtained = None if summary is None else summary.get("obtained")
    return table.with_columns(pl.lit(obtained, pl.String).alias("obtained"))


def _row(cell: Cell, model: str | None) -> tuple[str | float | None, ...]:
    told = cell.column if cell.of in {None, model} else f"{cell.column}, {_of(cell)}"
    own = cell.of is None or (model is not None and cell.of != _MEAN)
    difference = _difference(cell) if own else None
    among = cell.among or Among(None, None, None)
    note = None
    if difference is not None:
        note = among.differs or among.note
        difference = difference if among.differs is None else None
    return (
        *(cell.table, cell.row, told.removeprefix(", ")),
        *(cell.ours, cell.value, cell.low, cell.high, difference),
        *(among.candidates, among.chance, note),
    )


def _words() -> tuple[int, int]:
    """How many words the paper's models may share."""
    least, most = published()["candidates"]["shared"]
    return least, most


def _of(cell: Cell) -> str:
    return _SHOWN.get(cell.of or "", cell.of or "")


def _difference(cell: Cell) -> float | None:
    if cell.ours is None:
        return None
    low = cell.value if cell.low is None else cell.low
    high = cell.value if cell.high is None else cell.high
    if low is None or high is None:
        return None
    return round(cell.ours - min(max(cell.ours, low), high), 6)


def _table_1(ours: _Ours) -> Iterator[Cell]:
    for entry in published()["table_1"]:
        concept, relation = entry["concept"], entry["relation"]
        asked = f"{concept} {'is ' * (relation == 'made of')}{relation}"
        for word, frequency in entry["people"].items():
            named = ours.frequency(concept, relation, word)
            yield Cell("1", f"{asked} {word}", "production frequency", None, named, frequency)
        for model in MODELS:
            for word, value in entry.get(model, {}).items():
                own = ours.response(concept, relation, word)
                yield Cell("1", f"{asked} {word}", "probability", model, own, value)


def _table_2(ours: _Ours) -> Iterator[Cell]:
    for relation, entry in published()["table_2"].items():
        prompts = ours.of_relation(relation, "prompts")
        yield Cell("2", relation, "prompts", None, prompts, entry["prompts"])
        for model in MODELS:
            for column in ("mAP vocabulary", "mAP sensible", "spearman"):
                own = ours.of_relation(relation, column)
                among = None if column == "spearman" else ours.mean_among(relation, column, model)
                value = entry[column][model]
                yield Cell("2", relation, column, model, own, value, among=among)


def _table_3(ours: _Ours) -> Iterator[Cell]:
    for entry in published()["table_3"]:
        concept, part = entry["concept"], entry["part"]
        for model in MODELS:
            for word, value in entry.get(model, {}).items():
                own = ours.example(concept, part, word)
                row = f"{concept}, {part}: {word}" if part != "concept" else f"{concept}: {word}"
                yield Cell("3", row, "probability", model, own, value)


def _text(ours: _Ours) -> Iterator[Cell]:
    for entry in published()["text"]:
        row, where = entry["row"], f"section {entry['where']}"
        of = entry.get("of")
        value, low, high = (entry.get(name) for name in ("value", "low", "high"))
        among = _among(ours, row, of)
        yield Cell("text", row, where, of, _TEXT[row](ours), value, low, high, among)


def _among(ours: _Ours, row: str, of: str | None) -> Among | None:
    """What a figure of the text is among; None where it is not made of ranks."""
    if "MRR at" in row:
        return ours.rank_among(int(row.split()[2]))
    if "decreasing order" in row:
        return ours.rank_among(1)._replace(chance=None)
    if "mAP" in row:
        relation = row.split(":", maxsplit=1)[0]
        return ours.mean_among(relation, "mAP vocabulary", of or "")._replace(chance=None)
    return None


@dataclass(frozen=True)
class _Ours:
    """A run's figures, each None where the run has none.

    Args:
        tables: The findings.
        summary: The run's.
    """

    tables: Mapping[str, pl.DataFrame]
    summary: Mapping[str, Any]

    def frequency(self, concept: str, relation: str, word: str) -> float | None:
        """How many people gave a response."""
        asked = self._asked(concept, relation)
        return self._spelt("elicitation", "frequency", ("word", word), asked)

    def response(self, concept: str, relation: str, word: str) -> float | None:
        """The probability of a word, a response of people or one of the model's best."""
        asked = self._asked(concept, relation)
        logprob = self._spelt("elicitation_top", "logprob", ("word", word), asked)
        if logprob is None:
            logprob = self._spelt("elicitation", "logprob", ("spelling", word), asked)
        return None if logprob is None else math.exp(logprob)

    def of_relation(self, relation: str, column: str) -> float | None:
        """A figure of Table 2."""
        asked: dict[str, Any] = {"relation": relation, "preface": True}
        if column == "prompts":
            table = self._rows("elicitation", **asked, over="vocabulary")
            return None if table is None else table["concept"].n_unique()
        if column == "spearman":
            return self._one("agreement", column, **asked)
        return self._one(
            "elicitation_by_relation", "map", **asked, over=column.removeprefix("mAP ")
        )

    def example(self, concept: str, part: str, word: str) -> float | None:
        """The probability of a word in Prince's example."""
        logprob = self._one("prince", "logprob", concept=concept, part=part, word=word)
        return None if logprob is None else math.exp(logprob)

    def rank_at(self, n: int) -> float | None:
        """Mean reciprocal rank at that many properties."""
        return self._one("retrieval_by_number", "mrr", **self._main, n=n)

    def rank_among(self, n: int) -> Among:
        """What the mean reciprocal rank at that many properties is among."""
        main = self._main
        found = self._rows("retrieval_by_number", **main, n=n)
        if found is None or found["candidates"][0] is None:
            return Among(None, None, None)
        count = found["candidates"][0]
        wording, note = main["wording"], None
        if wording != "sentence":
            note = f"asked in the wording {wording}, in the paper in the wording sentence"
        return Among(count, found["chance_mrr"][0], self._unlike_shared(count), note)

    def mean_among(self, relation: str, column: str, model: str) -> Among:
        """What a mean average precision is among, beside what that model of the paper ranks."""
        over = column.removeprefix("mAP ")
        asked = {"relation": relation, "preface": True, "over": over}
        found = self._rows("elicitation_by_relation", **asked)
        if found is None or found["candidates"][0] is None:
            return Among(None, None, None)
        count = found["candidates"][0]
        if over == "sensible":
            shared = self.summary.get("vocabulary", {}).get("shared")
            differs = None if shared is None else self._unlike_shared(shared)
        else:
            least, most = _words()[0], published()["candidates"]["own"].get(model)
            differs = None
            if most is not None and not least <= count <= most:
                differs = (
                    f"the run ranks {several(count, 'word')}, and {model} has {least:,} to {most:,}"
                )
        return Among(count, found["chance_map"][0], differs)

    def _unlike_shared(self, count: int) -> str | None:
        """Why so many words are not the vocabulary that the paper's models share; None if they are.

        The paper gives its size alone, and roughly.
        """
        vocabulary = self.summary.get("vocabulary", {})
        least, most = _words()
        if not least <= count <= most:
            told = f"the run ranks {several(count, 'candidate')}"
        elif vocabulary.get("name") == "own" or (
            vocabulary.get("name") == "shared"
            and vocabulary.get("shared") == vocabulary.get("own")
            and vocabulary.get("own") is not None
        ):
            told = "the run ranks one model's own words"
        else:
            return None
        return f"{told}, the paper {least:,} to {most:,} words that its models share"

    def concepts(self) -> float | None:
        """How many concepts were asked about."""
        table = self._asked_of_concepts
        return None if table is None else table["concept"].n_unique()

    def prompts(self) -> float | None:
        """How many prompts of retrieval there were."""
        table = self._asked_of_concepts
        return None if table is None else table.height

    def most(self) -> float | None:
        """The most properties of a prompt."""
        table = self._asked_of_concepts
        return None if table is None else max(table["n"])

    def words(self) -> float | None:
        """How many words the models compared share."""
        table = self._rows("vocabulary", shared=True)
        return None if table is None else table.height

    def draws(self, place: int) -> float | None:
        """How many random sets (1) or orders of one (2) there were; None without any."""
        table = self._rows("retrieval")
        names = [] if table is None else table["order"].unique().to_list()
        drawn = {name.split("-")[place] for name in names if name.startswith("random-")}
        return len(drawn) or None

    def shared_by(self, category: str) -> float | None:
        """How many concepts the average property of a category is named of."""
        return self._one("categories", "concepts_per_property", category=category)

    def order_adds(self) -> float | None:
        """The most, over numbers of properties, that decreasing order adds to increasing."""
        falling = self._rows("retrieval_by_number", **self._main)
        rising = self._rows("retrieval_by_number", **{**self._main, "order": "top-increasing"})
        if falling is None or rising is None:
            return None
        both = falling.join(rising, on="n").drop_nulls(["mrr", "mrr_right"])
        added = both["mrr"] - both["mrr_right"]
        return max(added) if both.height else None

    def ablated(self, relation: str) -> float | None:
        """What leaving out the preface adds to mean average precision."""
        return self._one("ablation", "difference", relation=relation, measure="map vocabulary")

    def norms(self) -> float | None:
        """How many concepts the norms have."""
        steps = self.summary.get("steps")
        return steps[0]["removed"] + steps[0]["left"] if steps else None

    def properties(self) -> float | None:
        """How many properties a concept of the norms has, on average."""
        concepts, properties = self.norms(), self.summary.get("properties", {}).get("all")
        return None if not concepts or properties is None else properties / concepts

    @cached_property
    def _main(self) -> dict[str, Any]:
        """Retrieval as in the paper: its wording where the run has it, else the run's first."""
        table = self._rows("retrieval_by_number")
        kinds = [] if table is None else table["wording"].to_list()
        wording = "sentence" if "sentence" in kinds or not kinds else kinds[0]
        return {"wording": wording, "order": MAIN, "category": None}

    @cached_property
    def _asked_of_concepts(self) -> pl.DataFrame | None:
        return self._rows("retrieval", **self._main)

    @staticmethod
    def _asked(concept: str, relation: str) -> dict[str, Any]:
        """Elicitation as Table 1 has it."""
        return {"concept": concept, "relation": relation, "preface": True, "over": "vocabulary"}

    def _spelt(
        self, name: str, column: str, word: tuple[str, str], asked: Mapping[str, Any]
    ) -> float | None:
        """A cell of the first row whose word is this one, in British or American spelling."""
        rows = self._rows(name, **asked)
        if rows is None:
            return None
        field, spelt = word
        held = zip(rows[field], rows[column], strict=True)
        same = (value for said, value in held if said and american(said) == american(spelt))
        return next(same, None)

    def _one(self, name: str, column: str, **where: Any) -> float | None:  # noqa: ANN401 - cells of any type
        """A cell of the one row there is; None where there is no such row, or it is null."""
        rows = self._rows(name, **where)
        return None if rows is None else rows[column][0]

    def _rows(self, name: str, **where: Any) -> pl.DataFrame | None:  # noqa: ANN401 - cells of any type
        """The rows of a finding in which columns have these values; None without a row."""
        import polars as pl

        table = self.tables.get(name)
        if table is None:
            return None
        for column, value in where.items():
            table = table.filter(pl.col(column).eq_missing(pl.lit(value)))
        return None if table.is_empty() else table


_TEXT: Mapping[str, Callable[[_Ours], float | None]] = {
    "concepts in the norms": _Ours.norms,
    "properties of a concept in the norms (roughly)": _Ours.properties,
    "concepts asked about": _Ours.concepts,
    "retrieval prompts": _Ours.prompts,
    "most properties in a prompt": _Ours.most,
    "words in the shared vocabulary (roughly)": _Ours.words,
    "random sets": lambda ours: ours.draws(1),
    "orders of a random set": lambda ours: ours.draws(2),
    "concepts of a perceptual property": lambda ours: ours.shared_by("perceptual"),
    "concepts of another property": lambda ours: ours.shared_by("non-perceptual"),
    "MRR at 1 property": lambda ours: ours.rank_at(1),
    "MRR at 10 properties": lambda ours: ours.rank_at(10),
    "most that decreasing order adds (up to)": _Ours.order_adds,
    "is: mAP without the preface, less with": lambda ours: ours.ablated("is"),
    "has: mAP without the preface, less with": lambda ours: ours.ablated("has"),
    "is a: mAP without the preface, less with": lambda ours: ours.ablated("is a"),
    "has a: mAP without the preface, less with": lambda ours: ours.ablated("has a"),
    "has: mAP without the preface, less with (nearly)": lambda ours: ours.ablated("has"),
}
