"""The tables of the parts probe's section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.report.content import Column, Table
from tacit.report.graphs import sampled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.runs.reading import Run

# Statements shown of all models together, each with its prompt; whole drawings are left out.
MOST_STATEMENTS = 30_000

_MODEL = Column("model", "model")
_INTERVAL = Column("low", "95 % interval", "percent", to="high")
_WORLD = Column("world", "world")
_COUNT = {
    "n": Column("n", "n", "count"),
    "missing": Column("missing", "no belief", "count"),
}
_ACCURACY = (*_COUNT.values(), Column("accuracy", "accuracy", "percent"))
# Shown where there are any.
_UNDECIDED = Column("undecided", "undecided", "count")
_DRAWING = (_MODEL, Column("thing", "thing"), Column("annotator", "drawn by"))
_TURNED = (
    Column("turned_true", "turned true", "count"),
    Column("turned_false", "turned false", "count"),
    Column("free", "free (a tie)", "count"),
)
_BEFORE_AND_AFTER = (
    Column("before", "before", "percent"),
    Column("paper", "repaired: paper", "percent"),
    Column("log-odds", "repaired: log-odds", "percent"),
    Column("margin", "repaired: margin", "percent"),
)

_TABLES: Mapping[str, tuple[str, str, tuple[Column, ...]]] = {
    "accuracy": (
        "Accuracy (Tables 4 and 6)",
        (
            "Agreement with people's drawings: ParRoT, all statements; ParRoT++, those "
            "that all annotators of a thing agree on; asymmetric, all without connects and "
            "next to. Balanced: the mean of the accuracies on statements drawn true and false. "
            "World: before repair, or repaired under one of three objectives."
        ),
        (_MODEL, Column("set", "set"), Column("gold", "drawn as"), _WORLD, *_ACCURACY, _INTERVAL),
    ),
    "accuracy_baselines": (
        "Accuracy of baselines",
        (
            "Judges who know nothing of a statement, on the same statements: one who always says "
            "true, one who always says false, and one who says what most labels of the relation "
            "are."
        ),
        (
            *(_MODEL, Column("set", "set"), Column("baseline", "baseline"), _COUNT["n"]),
            *(Column("accuracy", "accuracy", "percent"), _INTERVAL),
        ),
    ),
    "accuracy_gain": (
        "What repair adds",
        (
            "Accuracy after repair less accuracy before it, paired. The gain has two parts: a "
            "shift towards true, which a lower threshold would give that makes as many statements "
            "true as repair does, and what consistency adds above it."
        ),
        (
            *(_MODEL, Column("set", "set"), Column("objective", "objective")),
            *(Column("part", "part"), _COUNT["n"], Column("gain", "gain, points", "points")),
            Column("low", "95 % interval", "points", to="high"),
        ),
    ),
    "agreement": (
        "Agreement among annotators (Table 5, appendix C)",
        (
            "Labels that the drawings of a thing imply; distinct statements that all of its "
            "annotators label alike; and labels that contradict another annotator's."
        ),
        (
            *(_MODEL, Column("thing", "thing"), Column("drawings", "drawings", "count")),
            *(Column("labelled", "labels", "count"), Column("distinct", "distinct", "count")),
            *(
                Column("agreed", "agreed on", "count"),
                Column("contradicted", "contradicted", "count"),
            ),
        ),
    ),
    "violation": (
        "Rules broken (Table 3)",
        (
            "Of the rules that apply to what is believed, those that are broken. A rule is "
            "undecided, and left out of the share, when a statement of its own has no belief. "
            "Macro: the mean of the kinds; micro: all together."
        ),
        (
            *(_MODEL, Column("constraint", "rule"), _WORLD),
            *(Column("violated", "broken", "count"), Column("applicable", "apply", "count")),
            _UNDECIDED,
            *(Column("rate", "share broken", "percent"), _INTERVAL),
        ),
    ),
    "accuracy_by_relation": (
        "Accuracy by relation",
        "Agreement with people's drawings.",
        (_MODEL, Column("relation", "relation"), _WORLD, *_ACCURACY, _INTERVAL),
    ),
    "accuracy_by_thing": (
        "Accuracy by thing",
        "Things by their rank before repair.",
        (
            *(_MODEL, Column("thing", "thing"), Column("rank", "rank", "count")),
            *(Column("band", "band"), _WORLD, *_ACCURACY),
        ),
    ),
    "accuracy_by_drawing": (
        "Accuracy by drawing",
        "One annotator's drawing of one thing.",
        (*_DRAWING, *_COUNT.values(), *_BEFORE_AND_AFTER),
    ),
    "violation_by_drawing": (
        "Rules broken, by drawing",
        (
            "Before repair. Broken and applicable rules of all kinds, and the share that is broken "
            "of those that are decided."
        ),
        (
            *_DRAWING,
            *(Column("statements", "statements", "count"), Column("believed", "believed", "count")),
            *(Column("violated", "broken", "count"), Column("applicable", "apply", "count")),
            _UNDECIDED,
            *(
                Column("density", "share broken", "percent"),
                Column("consistent", "consistent", "truth"),
            ),
        ),
    ),
    "repair": (
        "Repair (section 6)",
        (
            "Statements that each repair turns; drawings whose accuracy it improves, keeps or "
            "worsens; and of how many drawings no better world is possible."
        ),
        (
            *(_MODEL, Column("objective", "objective"), Column("groups", "drawings", "count")),
            *(Column("optimal", "proven best", "count"), *_TURNED),
            *(Column("improved", "improved", "count"), Column("same", "same", "count")),
            Column("worse", "worse", "count"),
        ),
    ),
    "repair_by_drawing": (
        "Repair, by drawing",
        "Statements that each repair turns.",
        (
            *(_MODEL, Column("objective", "objective"), *_DRAWING[1:]),
            *(Column("statements", "statements", "count"), *_TURNED),
            Column("optimal", "proven best", "truth"),
        ),
    ),
}
_BELIEFS = (
    *_DRAWING,
    *(Column("subject", "subject"), Column("relation", "relation"), Column("object", "object")),
    Column("p_true", "P(true)", "score"),
    Column("low", "95 % interval", "score", to="high"),
    *(Column("votes_true", "said true", "count"), Column("votes_false", "said false", "count")),
    *(Column("unparsed", "unparsed", "count"), Column("truncated", "thought cut", "count")),
    *(Column("before", "believed", "truth"), Column("paper", "repaired", "truth")),
    Column("label", "drawn", "truth"),
    Column("logprob_true", "log P(true)", "nats"),
    Column("logprob_false", "log P(false)", "nats"),
    Column("text", "prompt"),
)
_VOTES = ("votes_true", "votes_false", "unparsed", "truncated", "low", "high")
_OF_ANSWERS = ("text", "logprob_true", "logprob_false", *_VOTES)
_QUESTION = ("thing", "subject", "relation", "object")


def together(runs: Sequence[Run]) -> dict[str, pl.DataFrame]:
    """Each finding of all runs, with the model's name in front as ``model``."""
    import polars as pl

    names = dict.fromkeys(name for run in runs for name in run.tables)
    return {
        name: pl.concat(
            [
                run.tables[name].select(pl.lit(run.name).alias("model"), pl.all())
                for run in runs
                if name in run.tables
            ],
            how="diagonal_relaxed",
        )
        for name in names
    }


def tables(runs: Sequence[Run], found: Mapping[str, pl.DataFrame]) -> Iterator[Table]:
    """The tables of all models, then the statements with their prompts."""
    for name, (title, about, columns) in _TABLES.items():
        frame = found.get(name)
        if frame is not None and not frame.is_empty():
            there = tuple(
                column
                for column in columns
                if column.name in frame.columns
                and (column is not _UNDECIDED or frame[column.name].sum())
            )
            yield Table(f"parts-{name.replace('_', '-')}", title, about, frame, there)
    statements, told = _statements(runs)
    columns = tuple(column for column in _BELIEFS if column.name in statements.columns)
    about = (
        "Each statement, the belief in it, whether it is true before and after repair, and whether "
        "the annotator drew it so; with the prompt and the log-probabilities in nats, or the "
        f"votes. {told}"
    )
    yield Table("parts-statements", "Statements and prompts", about, statements, columns)


def _statements(runs: Sequence[Run]) -> tuple[pl.DataFrame, str]:
    import polars as pl

    frames, told = [], ""
    for run in runs:
        beliefs = run.tables["beliefs"]
        drawings = run.tables["violation_by_drawing"]
        each = beliefs.height / max(1, drawings.height)
        most = max(1, int(MOST_STATEMENTS / len(runs) / max(1.0, each)))
        chosen, told = sampled(drawings, most)
        keys = pl.DataFrame(chosen, {"thing": pl.String, "annotator": pl.String}, orient="row")
        some = beliefs.join(keys, on=["thing", "annotator"], how="semi", maintain_order="left")
        asked = run.questions
        more = [name for name in _OF_ANSWERS if name in asked.columns]
        # Where each drawing has answers of its own, a question has a row for each drawing.
        key = [*_QUESTION, *(["annotator"] if "annotator" in asked.columns else [])]
        wide = some.join(asked.select(*key, *more), on=key, how="left", maintain_order="left")
        frames.append(wide.select(pl.lit(run.name).alias("model"), pl.all()))
    return pl.concat(frames, how="diagonal_relaxed"), told
