"""The tables of the consistency probe's section, and what opens behind a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.consistency.replies import COLUMNS
from tacit.report.content import Column, Details, Table
from tacit.report.together import together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.runs.reading import Run

# Log-probabilities that open behind questions, of all models together.
MOST_SCORES = 250_000

_MODEL = Column("model", "model")
_RELATION = Column("relation", "relation")
_INTERVAL = Column("low", "95 % interval", "percent", to="high")
_N = Column("n", "n", "count")
_SIDES = (
    Column("positive_accuracy", "facts right", "percent"),
    Column("negative_accuracy", "negatives right", "percent"),
)
_CONSISTENCY = (
    *(_N, Column("right", "right", "count"), Column("background_score", "background", "score")),
    *(Column("consistency", "CC", "score"), Column("chance", "chance", "score")),
    *(
        Column("lift", "lift", "score"),
        Column("lift_low", "95 % interval", "score", to="lift_high"),
    ),
    Column("auroc", "AUROC", "score"),
    Column("auroc_low", "95 % interval", "score", to="auroc_high"),
    *(Column("p_value", "p", "p"), Column("p_corrected", "p, corrected", "p")),
    Column("smallest_lift", "smallest lift that n shows", "score"),
    Column("no_interval", "no interval because"),
)
_FORM = (Column("meta", "meta-prompt", "count"), Column("pair", "answer words"))

_TABLES: Mapping[str, tuple[str, str, tuple[Column, ...]]] = {
    "consistency": (
        "Conceptual consistency, all questions",
        (
            "Over the questions that have a background score and an answer. p: one-sided, of no "
            "lift, from the same permutations as the interval."
        ),
        (_MODEL, *_CONSISTENCY),
    ),
    "consistency_by_relation": (
        "Conceptual consistency by relation",
        (
            "Over the questions whose background holds the relation. p, corrected: Benjamini and "
            "Hochberg, over the relations of a model."
        ),
        (_MODEL, Column("name", "relation"), *_CONSISTENCY),
    ),
    "consistency_by_concept": (
        "Conceptual consistency by concept",
        (
            "Over the questions whose background holds the concept: the 14 most frequent, of at "
            "least 28 questions each."
        ),
        (_MODEL, Column("name", "concept"), *_CONSISTENCY),
    ),
    "background_by_relation": (
        "Background score by relation",
        "Accuracy on the relation's facts (to be answered yes) and their negatives (no).",
        (
            *(_MODEL, _RELATION, Column("facts", "facts", "count"), *_SIDES),
            *(Column("background_score", "background score", "percent"), _INTERVAL),
        ),
    ),
    "relevance": (
        "Relevance of a fact",
        (
            "P(question right | fact right) less P(question right), as the paper defines it. The "
            "interval permutes which facts are right."
        ),
        (
            *(_MODEL, _RELATION),
            *(Column("facts_right", "facts right", "count"),),
            *(Column("facts_wrong", "facts wrong", "count"),),
            *(Column("relevance", "relevance, points", "points"),),
            Column("low", "95 % interval", "points", to="high"),
            Column("no_interval", "no interval because"),
        ),
    ),
    "background_ways": (
        "Ways to read the background",
        "Each meta-prompt and pair alone, and all together.",
        (
            *(_MODEL, Column("preset", "way"), *_FORM, _N, *_SIDES),
            *(
                Column("background_score", "background", "score"),
                Column("consistency", "CC", "score"),
            ),
            *(Column("chance", "chance", "score"), Column("lift", "lift", "score")),
            *(Column("missing", "missing", "count"), Column("tied", "undecided", "count")),
        ),
    ),
    "anchor_ways": (
        "Ways to answer questions",
        "Each form alone.",
        (
            *(_MODEL, Column("anchoring", "way"), *_FORM, _N),
            *(Column("right", "right", "count"), Column("accuracy", "accuracy", "percent")),
        ),
    ),
    "winners": (
        "Which form gave the answer",
        "How often each meta-prompt and pair had the highest score of all.",
        (
            *(_MODEL, Column("of", "of"), *_FORM),
            *(Column("count", "times", "count"), Column("share", "share", "percent")),
        ),
    ),
}
_QUESTIONS = (
    Column("question", "question"),
    Column("concept", "concept"),
    Column("answer", "right answer"),
    Column("choice", "its answer"),
    Column("right", "right", "truth"),
    Column("facts", "facts", "count"),
    Column("background_score", "background score", "score"),
    Column("positive_accuracy", "facts right", "percent"),
    Column("negative_accuracy", "negatives right", "percent"),
)
_CHOICES = (
    Column("choice", "choice"),
    *_FORM,
    Column("per_byte", "nats per byte", "nats"),
    Column("logprob", "log-probability (nats)", "nats"),
    Column("prompt", "prompt", "prompt", to="question"),
)
_SHARE = (
    Column("share", "share of replies", "percent"),
    Column("low", "95 % interval", "percent", to="high"),
    *(Column("unparsed", "unparsed", "count"), Column("truncated", "thought cut", "count")),
)
_FACTS = (
    Column("background", "background question"),
    _RELATION,
    Column("expected", "expected"),
    Column("right", "right", "truth"),
    Column("margin", "ahead by (nats, or share of votes)", "nats"),
    *_SHARE,
    Column("word", "best word"),
    *_FORM,
)
_SCORES = (
    Column("word", "word"),
    Column("logprob", "log-probability (nats)", "nats"),
    Column("votes", "votes", "count"),
    *_SHARE,
    *_FORM,
    Column("prompt", "prompt", "prompt", to="background"),
)


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """The tables of all models, then each model's questions down to log-probabilities."""
    found = together(runs)
    for name, (title, about, columns) in _TABLES.items():
        frame = found.get(name)
        if frame is None or frame.is_empty():
            continue
        there = _in(frame, columns)
        # So that the filter of the section finds them.
        kind = "relation" if name.endswith("relation") else "concept"
        if "name" in frame.columns:
            frame = frame.rename({"name": kind})
            there = tuple(Column(kind, kind) if c.name == "name" else c for c in there)
        yield Table(f"consistency-{name.replace('_', '-')}", title, about, frame, there)
    for number, run in enumerate(runs):
        yield from _questions(run, f"consistency-{number}", MOST_SCORES // len(runs))


def _questions(run: Run, stem: str, most: int) -> Iterator[Table]:
    """The questions of a model; behind each its choices and facts, behind those their scores."""
    import polars as pl

    from tacit.probes.consistency.questions import bare

    anchors = run.tables["anchors"].with_row_index("place")
    facts = run.tables["facts"]
    asked = _asked(facts)
    links = run.tables["links"].select(place=pl.col("anchor").cast(pl.UInt32), fact="fact")
    shown, told = _sample(anchors, links.join(asked, on="fact"), run, most)
    behind = links.join(shown.select("place", "anchor"), on="place").select("anchor", "fact")
    own = behind.join(asked, on="fact", maintain_order="left").drop("fact")
    yield Table(
        f"{stem}-questions",
        f"Questions, down to their prompts: {run.name}",
        f"Open a question to see its choices and background facts, and behind each fact every "
        f"prompt with its log-probability. {told}",
        shown.drop("place"),
        _QUESTIONS,
        Details("anchor", (f"{stem}-choices", f"{stem}-facts")),
        model=run.name,
    )
    asked_as = shown.select(
        "anchor", question=pl.Series(map(bare, shown["question"]), dtype=pl.String)
    )
    choices = run.tables["choices"].join(asked_as, on="anchor", maintain_order="left")
    framed = choices.join(_prompts(run), on=["meta", "pair"], how="left", nulls_equal=True)
    yield Table(
        f"{stem}-choices",
        "Choices",
        "Each choice behind each form, the best first: the first of them is the answer when "
        "questions are answered by choice.",
        framed.sort("per_byte", descending=True, nulls_last=True, maintain_order=True),
        _CHOICES,
        behind="anchor",
    )
    yield Table(
        f"{stem}-facts",
        "Background facts and their negatives",
        "As yes/no questions; a tie counts as no. The share is that of yes.",
        own,
        _in(own, _FACTS),
        Details("background", (f"{stem}-scores",)),
        behind="anchor",
    )
    scores = run.questions.rename({"question": "background"}).join(
        own.select("background").unique(maintain_order=True), on="background", how="semi"
    )
    by = "votes" if "votes" in scores.columns else "logprob"
    worded = scores.join(_prompts(run), on=["meta", "pair"], how="left", nulls_equal=True)
    yield Table(
        f"{stem}-scores",
        "Log-probabilities" if by == "logprob" else "Votes",
        "Every answer word behind every prompt, the most probable first.",
        worded.sort(by, descending=True, nulls_last=True, maintain_order=True),
        _in(worded, _SCORES),
        behind="background",
    )


def _asked(facts: pl.DataFrame) -> pl.DataFrame:
    """A row for each question about a fact, called ``background``, with its expected answer."""
    import polars as pl

    names = ["question", "right", "margin", "word", "meta", "pair"]
    if "positive_share" in facts.columns:
        names += COLUMNS
    sides = [
        facts.select(
            "fact",
            "relation",
            pl.lit(expected).alias("expected"),
            *(pl.col(f"{side}_{name}").alias(name) for name in names),
        )
        for side, expected in (("positive", "yes"), ("negative", "no"))
    ]
    return pl.concat(sides).rename({"question": "background"}).drop_nulls("background")


def _in(frame: pl.DataFrame, columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that a table has."""
    return tuple(column for column in columns if column.name in frame.columns)


def _sample(
    anchors: pl.DataFrame, asked: pl.DataFrame, run: Run, most: int
) -> tuple[pl.DataFrame, str]:
    """The anchors that can be opened: all, or as many evenly spaced ones as have few scores."""
    import polars as pl

    forms = run.questions.height / max(1, run.questions["question"].n_unique())
    n = asked["background"].n_unique() * forms + run.tables["choices"].height
    if n <= most:
        return anchors, f"All here: {several(anchors.height, 'question')}."
    kept = max(1, int(anchors.height * most / n))
    places = sorted({round(i * (anchors.height - 1) / max(1, kept - 1)) for i in range(kept)})
    return anchors.filter(pl.col("place").is_in(places)), (
        f"A sample is here, {len(places):,} of {several(anchors.height, 'question')}, evenly "
        "spaced in the order of the file."
    )


def _prompts(run: Run) -> pl.DataFrame:
    """The text of each meta-prompt and pair."""
    import polars as pl

    from tacit.errors import TacitError
    from tacit.probes.consistency.questions import forms
    from tacit.probes.consistency.template import load_templates

    schema = {"meta": pl.Int64, "pair": pl.String, "prompt": pl.String}
    try:
        of = forms(load_templates(), str(run.request.get("version", "review-lexicon")))
    except TacitError:  # a version of another Tacit: the prompts are not known
        return pl.DataFrame(schema=schema)
    rows: dict[tuple[int, str | None], str] = {}
    for form in of:
        pairs: list[str | None] = [None] if form.pair is None else ["/".join(form.pair)]
        if form.pair is None:
            pairs += ["/".join(form.answers[i : i + 2]) for i in range(0, len(form.answers), 2)]
        rows |= {(form.meta, pair): form.text for pair in pairs}
    found = [(meta, pair, text) for (meta, pair), text in rows.items()]
    return pl.DataFrame(found, schema, orient="row")
