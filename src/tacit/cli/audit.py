"""``tacit kb audit`` and ``tacit kb agreement``: audit facts, compare people's ratings."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli import options as given
from tacit.cli.options import declared
from tacit.english import several
from tacit.findings.numbers import estimate, score
from tacit.knowledge.options import BackgroundOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.knowledge.background import Background, Extraction
    from tacit.probes.consistency.questions import Asked
    from tacit.sources.anchors import Anchor

_SAMPLE = 100


@declared()
def audit(
    *,
    base: given.KnowledgeBaseFile,
    questions: given.Questions,
    out: Annotated[
        Path, typer.Option(help="File for the sample of facts: TSV, CSV, JSONL or Parquet.")
    ],
    sample: Annotated[int, typer.Option(min=1, help="Number of facts in the sample.")] = _SAMPLE,
    wording: Annotated[
        Literal["paper", "grammatical", "surface"],
        typer.Option(
            help="Wording of the facts in the sample: paper (the templates of Sahu et al. 2022 as "
            "printed), grammatical (these templates with correct grammar) or surface (the "
            "knowledge base's own sentences)."
        ),
    ] = "grammatical",
    templates: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file with your own templates that turn the facts of a relation into text."
        ),
    ] = None,
    extracted: BackgroundOptions,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Audit the background facts of questions, and draw a sample of facts for people to rate.

    After the command has drawn the sample, two people rate all facts in it, independently of each
    other. Each rater enters ratings in the column "rating" of a separate copy of the sample file.
    The option --seed determines which facts the sample contains.

    Example: tacit kb audit conceptnet.kb --questions dev.jsonl --out sample.tsv
    """
    from tacit.outputs import Kind, check_outputs
    from tacit.probes.consistency.audit import RATING_QUESTION
    from tacit.probes.consistency.audit import sample as draw
    from tacit.sources.anchors import read_anchors
    from tacit.sources.ratings import RATING, is_unrated
    from tacit.tables import write_table

    kind = Kind("a sample of background facts without ratings", is_unrated, is_table=True)
    inputs = [base, questions, *([] if templates is None else [templates])]
    check_outputs(inputs, [(out, kind)], force=force)
    how = extracted.extraction()
    anchors = read_anchors(questions)
    found, asked = _worded(base, anchors, how, FactWording(wording, templates))
    found.check_facts()
    drawn = draw(asked, anchors, sample, extracted.seed)
    write_table(drawn, out)
    size = {"facts": drawn.height, "of": asked.links.height, "seed": extracted.seed}
    if as_json:
        rows = [] if found.audited is None else found.audited.to_dicts()
        typer.echo(json.dumps({"audit": rows, "sample": size, "extraction": how.to_json()}))
        return
    print_audit(found)
    typer.echo(
        f"Written: {out}, {size['facts']:,} of {several(size['of'], 'fact')}, seed {size['seed']}\n"
        f"To rate in the column {RATING}: {RATING_QUESTION}"
    )


def agreement(
    first: Annotated[
        Path, typer.Argument(help="File in which one person rated a sample of facts.")
    ],
    second: Annotated[
        Path,
        typer.Argument(
            help="A file with the same facts as the file FIRST, rated by a second person."
        ),
    ],
    as_json: given.AsJson = False,
) -> None:
    """Measure how well two people's ratings of the same facts agree (Cohen's kappa).

    Example: tacit kb agreement rater-1.tsv rater-2.tsv
    """
    import numpy as np

    from tacit.sources.ratings import read_both
    from tacit.statistics import agreement as statistics
    from tacit.statistics.intervals import wilson

    ratings = read_both(first, second)
    one, other = ratings
    pairs = [(one[fact], other[fact]) for fact in one]
    both = np.array([pair for pair in pairs if None not in pair], np.int64).reshape(-1, 2)
    found = statistics.agreement(both[:, 0], both[:, 1])
    raters = []
    for path, rater in zip((first, second), ratings, strict=True):
        rated = [rating for rating in rater.values() if rating is not None]
        share = wilson(sum(rated), len(rated))
        counts = {"rated": len(rated), "blank": len(rater) - len(rated), "relevant": sum(rated)}
        raters.append({"file": str(path), **counts, **asdict(share)})
    result = {"facts": len(ratings[0]), "raters": raters, **asdict(found)}
    typer.echo(json.dumps(result) if as_json else "\n".join(_agreement_lines(result)))


def print_audit(found: Background) -> None:
    """Print the audit of questions' background facts as a table."""
    from tacit.present.tables import print_table
    from tacit.probes.consistency.tables import TABLES

    if found.audited is not None:
        print_table(TABLES["audit"], found.audited, TABLES["audit"].title)


def _agreement_lines(result: Mapping[str, Any]) -> Iterator[str]:
    for rater in result["raters"]:
        yield (
            f"{rater['file']}: {rater['relevant']:,} of {several(rater['rated'], 'rated fact')} "
            f"relevant and true, {estimate(rater)}; {rater['blank']:,} blank"
        )
    left_out = result["facts"] - result["n"]
    without = f"; {left_out:,} left out, blank in a file" if left_out else ""
    yield f"rated by both: {several(result['n'], 'fact')}{without}"
    yield f"agreement: {estimate(result['agreement'])}"
    kappa, reason = result["kappa"], result["no_interval"]
    label = "" if kappa["value"] is None else "no interval: "
    why = f" ({label}{reason})" if reason else ""
    yield f"Cohen's kappa: {estimate(kappa, 'value', score)}{why}"


@dataclass(frozen=True)
class FactWording:
    """The wording of facts: a preset (such as ``paper``) and, optionally, user templates."""

    preset: str
    templates: Path | None


def _worded(
    base: Path, anchors: Sequence[Anchor], how: Extraction, words: FactWording
) -> tuple[Background, Asked]:
    """Return the background facts of questions, and the yes/no questions about these facts."""
    from tacit.knowledge.background import background
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.words import spare_torch
    from tacit.probes.consistency.questions import Asked
    from tacit.probes.consistency.surface import Surface
    from tacit.probes.consistency.template import load_templates
    from tacit.probes.consistency.wording import wording

    worded, templates = wording(words.preset), load_templates(words.templates)
    spare_torch(how.words.tagger)
    with KnowledgeBase(base) as opened:
        found = background(opened, [(a.question, *a.choices) for a in anchors], how)
        surface = None
        if words.preset == "surface":
            surface = Surface.of(opened, found.facts, templates.surface)
    return found, Asked.of(found.facts, templates, worded, surface)
