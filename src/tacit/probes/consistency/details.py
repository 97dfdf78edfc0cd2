"""Tables that show the questions of a run with their choices, facts and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import evenly_spaced
from tacit.findings.spec import Details
from tacit.probes.consistency.questions import bare, prompt_variants
from tacit.probes.consistency.tables import DETAILS
from tacit.probes.consistency.template import load_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.findings.findings import Findings


def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[Details]:
    """Yield tables of anchor questions, choices, background questions and scores."""
    import polars as pl

    anchors = findings.tables["anchors"].with_row_index("place")
    questions = asked(findings.tables["facts"])
    links = findings.tables["links"].select(place=pl.col("anchor").cast(pl.UInt32), fact="fact")
    shown, told = _sample(anchors, links.join(questions, on="fact"), findings, most)
    behind = links.join(shown.select("place", "anchor"), on="place").select("anchor", "fact")
    own = behind.join(questions, on="fact", maintain_order="left").drop("fact")
    prompts = _prompts(request)
    yield Details(
        DETAILS["questions"].with_reading(told), shown.drop("place"), ("choices", "facts"), "anchor"
    )
    yield Details(DETAILS["choices"], _choices(shown, findings, prompts), behind="anchor")
    yield Details(DETAILS["facts"], own, ("scores",), "background", behind="anchor")
    yield _scores(own, findings, prompts)


def _choices(shown: pl.DataFrame, findings: Findings, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the choices of the given anchor questions, highest score per byte first."""
    import polars as pl

    asked_as = shown.select(
        "anchor", question=pl.Series(map(bare, shown["question"]), dtype=pl.String)
    )
    choices = findings.tables["choices"].join(asked_as, on="anchor", maintain_order="left")
    framed = choices.join(prompts, on=["meta", "pair"], how="left", nulls_equal=True)
    return framed.sort("per_byte", descending=True, nulls_last=True, maintain_order=True)


def _scores(own: pl.DataFrame, findings: Findings, prompts: pl.DataFrame) -> Details:
    """Return the scores of all answer words to the given background questions."""
    scores = findings.questions.rename({"question": "background"}).join(
        own.select("background").unique(maintain_order=True), on="background", how="semi"
    )
    by = "votes" if "votes" in scores.columns else "logprob"
    worded = scores.join(prompts, on=["meta", "pair"], how="left", nulls_equal=True)
    ordered = worded.sort(by, descending=True, nulls_last=True, maintain_order=True)
    return Details(DETAILS["scores"], ordered, behind="background")


def asked(facts: pl.DataFrame) -> pl.DataFrame:
    """Return a table of the background questions with their expected answers."""
    import polars as pl

    names = ["question", "right", "margin", "word", "meta", "pair"]
    if "positive_share" in facts.columns:
        names += ["share", "unparsed", "truncated"]
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


def _sample(
    anchors: pl.DataFrame, asked: pl.DataFrame, findings: Findings, most: int
) -> tuple[pl.DataFrame, str]:
    """Return the anchor questions to show (a sample if there are too many), and a caption."""
    import polars as pl

    questions = findings.questions
    inputs = questions.height / max(1, questions["question"].n_unique())
    n = asked["background"].n_unique() * inputs + findings.tables["choices"].height
    if n <= most:
        return anchors, f"Shown: all {several(anchors.height, 'anchor question')}."
    kept = max(1, int(anchors.height * most / n))
    places = evenly_spaced(anchors.height, kept)
    return anchors.filter(pl.col("place").is_in(places)), (
        f"Shown: a sample of {len(places):,} of {several(anchors.height, 'anchor question')}, "
        "evenly spaced over the file of questions."
    )


def _prompts(request: Mapping[str, Any]) -> pl.DataFrame:
    """Return the prompt text for each combination of a meta-prompt and a pair of answer words."""
    import polars as pl

    templates = load_templates()
    pairs = [None, *map("/".join, templates.pairs)]
    rows = [
        {"meta": variant.meta, "pair": pair, "prompt": variant.text}
        for variant in prompt_variants(templates, request.get("paper_version", "review-lexicon"))
        for pair in (pairs if variant.pair is None else [variant.label])
    ]
    return pl.DataFrame(rows, {"meta": pl.Int64, "pair": pl.String, "prompt": pl.String})
