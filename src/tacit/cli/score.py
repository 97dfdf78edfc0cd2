"""``tacit score``: compute the log-probability of each candidate answer to each prompt."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.options import declared
from tacit.cli.run import echo_estimate
from tacit.engine.options import EngineOptions
from tacit.english import several
from tacit.errors import DataError
from tacit.models.options import ModelOptions
from tacit.present.progress import Terminal


@declared()
def score(
    *,
    prompts: Annotated[
        Path,
        typer.Argument(
            help='A JSONL file with one prompt per line, in the form {"text": …, "answers": […]}; '
            'the key "separator" is optional.'
        ),
    ],
    model: given.ModelName,
    out: Annotated[Path, typer.Option(help="JSONL file for the scores, with one line per prompt.")],
    separator: Annotated[
        str,
        typer.Option(
            help='Text between a prompt and an answer, for prompts without the key "separator"; "" '
            "if the answers begin with their own white space.",
            show_default="a space",
        ),
    ] = " ",
    settings: ModelOptions,
    engine: EngineOptions,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Compute the log-probability of each candidate answer to each prompt of a file.

    Example: tacit score --model gpt2 prompts.jsonl --out scores.jsonl
    """
    from tacit.engine.store import Store
    from tacit.findings.findings import votes_summary
    from tacit.outputs import OutputKind, check_outputs
    from tacit.requests import Votes
    from tacit.runs import asking
    from tacit.runs.model import RunModel
    from tacit.runs.score_files import counts, is_scores, read_prompts, write_answers

    begun, reporter = time.monotonic(), Terminal()
    options = settings.load.of([model])
    settings.described.of([model])  # raises if a name or a number is wrong
    if out.suffix != ".jsonl":
        raise DataError(f"has the unsupported suffix {out.suffix!r}; expected .jsonl", out)
    check_outputs([prompts], [(out, OutputKind("a file of scores", is_scores))], force=force)
    asked = read_prompts(prompts, separator)
    named = RunModel(model, options, engine, Store(store) if store else None)
    named.check()
    if dry_run:
        echo_estimate(named.estimate(asked, None), as_json=as_json)
        return
    reporter.confirm(named.costs(asked), yes=options.server.yes)
    started = named.start()
    scorer = started.model
    plan = started.plan(asked)
    answers = asking.answers_to(asked, started, plan, reporter)
    write_answers(answers, out)
    sampled = any(isinstance(one, Votes) for one in answers)
    summary = {
        "prompts": len(asked),
        "asked": plan.tokens if sampled else plan.prompts,
        **({} if sampled else {"skipped": len(plan.skipped), "tokens": plan.tokens}),
        **(votes_summary(answers) if sampled else counts(answers)),
        "model": scorer.name,
        "elicitation": scorer.description.get("elicitation"),
        "fingerprint": scorer.fingerprint,
        "out": str(out),
        "seconds": round(time.monotonic() - begun, 3),
    }
    readable = _readable_votes if sampled else _readable
    typer.echo(json.dumps(summary) if as_json else readable(summary))


def _readable_votes(summary: dict[str, Any]) -> str:
    return (
        f"{summary['model']}: {several(summary['prompts'], 'prompt')}, {summary['elicitation']}; "
        f"{several(summary['asked'], 'reply', 'replies')} requested, the rest cached\n"
        f"{summary['unparsed']:,} of {several(summary['replies'], 'reply', 'replies')} could not "
        "be read as an answer\n"
        f"Written: {summary['out']}"
    )


def _readable(summary: dict[str, Any]) -> str:
    scored = (
        f"scored {several(summary['answers'], 'answer')} to {several(summary['prompts'], 'prompt')}"
    )
    asked = f"{several(summary['asked'], 'prompt')} sent to the model, the rest cached"
    if summary["skipped"]:
        asked += f" or too long ({summary['skipped']:,} skipped)"
    lines = [f"{summary['model']}: {scored}; {asked}"]
    if summary["elicitation"]:
        lines.append(f"Elicitation: {summary['elicitation']}")
    if summary["spanned"]:
        lines.append(
            f"{several(summary['spanned'], 'answer shares', 'answers share')} a token with the "
            "prompt; the score includes this token"
        )
    if summary["missing"]:
        lines.append(
            f"{several(summary['missing'], 'answer has', 'answers have')} no score (null); "
            + "; ".join(f"{why}: {n:,}" for why, n in summary["missing_by_reason"].items())
        )
    return "\n".join([*lines, f"Written: {summary['out']}"])
