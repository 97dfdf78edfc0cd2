"""``tacit score``: log-probabilities of candidate answers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import options as given
from tacit.cli.declared import declared
from tacit.cli.findings import echo_estimate
from tacit.engine.options import EngineOptions
from tacit.english import several
from tacit.errors import DataError, PromptError
from tacit.models.settings import ModelSettings
from tacit.present.reporter import Terminal
from tacit.prompts import missing_by_reason

if TYPE_CHECKING:
    from tacit.engine.voting import VotingEngine
    from tacit.prompts import AnswerScore, LogProbs, Prompt, Votes


@declared()
def score(
    *,
    prompts: Annotated[
        Path,
        typer.Argument(help='JSONL: {"text": …, "answers": [...]} and, as you like, "separator".'),
    ],
    model: given.ModelName,
    out: Annotated[Path, typer.Option(help="JSONL: one line of scores per line of prompts.")],
    settings: ModelSettings,
    engine: EngineOptions,
    store: given.StorePath = None,
    dry_run: given.DryRun = False,
    force: given.Force = False,
    as_json: given.AsJson = False,
) -> None:
    """Score the candidate answers of prompts.

    Example: tacit score --model gpt2 prompts.jsonl --out scores.jsonl
    """
    from tacit.engine.store import Store
    from tacit.outputs import Kind, check_outputs
    from tacit.runs import asking
    from tacit.runs.cost import Cost, chats_of
    from tacit.runs.estimate import estimate

    begun, reporter = time.monotonic(), Terminal()
    options = settings.options([model])
    if out.suffix != ".jsonl":
        raise DataError(f"has the suffix {out.suffix!r}; scores are written as .jsonl", out)
    check_outputs([prompts], [(out, Kind("a file of scores", _is_scores))], force=force)
    asked = read_prompts(prompts)
    kept = Store(store) if store else Store.default()
    engine.check([model], options)
    costs = {
        name: Cost.of(asked, settings.server.options())
        for name in chats_of([model], options.server)
    }
    if dry_run and costs:
        echo_estimate(costs[model].to_json(), as_json=as_json)
        return
    if not dry_run:
        reporter.confirm(costs, yes=settings.server.yes)
    if asking.is_sampled(model, options):
        summary = _sample(asking.voting_engine(model, options, kept), asked, out, reporter)
        summary["seconds"] = round(time.monotonic() - begun, 3)
        typer.echo(json.dumps(summary) if as_json else _readable_votes(summary))
        return
    started = engine.start(model, options, kept)
    scorer = started.model
    if dry_run:
        echo_estimate(estimate(started, asked), as_json=as_json)
        return
    plan = started.plan(asked)
    scores = asking.score(started, asked, plan, reporter)
    _write(scores, out)
    summary = {
        "prompts": len(asked),
        "asked": plan.prompts,
        "skipped": len(plan.skipped),
        "tokens": plan.tokens,
        **_counts(scores),
        "model": scorer.name,
        "obtained": scorer.description.get("obtained"),
        "fingerprint": scorer.fingerprint,
        "out": str(out),
        "seconds": round(time.monotonic() - begun, 3),
    }
    typer.echo(json.dumps(summary) if as_json else _readable(summary))


def _sample(
    engine: VotingEngine, asked: list[Prompt], out: Path, reporter: Terminal
) -> dict[str, Any]:
    """Asks for replies, writes their votes, and gives a summary."""
    from tacit.findings.findings import votes_summary
    from tacit.publishing import publish_text
    from tacit.runs import asking

    plan = engine.plan(asked)
    votes = asking.vote(engine, asked, plan, reporter)
    lines = [json.dumps(_row_of_votes(one), ensure_ascii=False) for one in votes]
    publish_text(out, "".join(f"{line}\n" for line in lines))
    return {
        "prompts": len(asked),
        "asked": plan.tokens,
        **votes_summary(votes),
        "model": engine.model.name,
        "obtained": engine.model.description["obtained"],
        "fingerprint": engine.model.fingerprint,
        "out": str(out),
    }


def _readable_votes(summary: dict[str, Any]) -> str:
    return (
        f"{summary['model']}: {summary['obtained']} of {several(summary['prompts'], 'prompt')}; "
        f"{several(summary['asked'], 'reply was', 'replies were')} asked for, the rest was in the "
        "store\n"
        f"{summary['unparsed']:,} of {several(summary['replies'], 'reply is', 'replies are')} "
        "no answer for certain\n"
        f"Written: {summary['out']}"
    )


def read_prompts(path: Path) -> list[Prompt]:
    """The prompts of a JSONL file.

    Raises:
        DataError: A line is malformed; the message names it.
    """
    from tacit.tables import read_json_lines

    found = []
    for line, record in read_json_lines(path):
        try:
            found.append(_prompt(record))
        except PromptError as error:
            raise DataError(str(error), path, line) from error
    if not found:
        raise DataError('holds no prompts; expected lines {"text": …, "answers": [...]}', path)
    return found


def _prompt(record: dict[str, Any]) -> Prompt:
    from tacit.prompts import Prompt

    unknown = sorted(set(record) - {"text", "answers", "separator"})
    if unknown:
        raise PromptError(f"has the key {unknown[0]!r}; expected text, answers, separator")
    text, answers, separator = (
        record.get("text"),
        record.get("answers"),
        record.get("separator", " "),
    )
    if not isinstance(text, str) or not isinstance(separator, str):
        raise PromptError("text and separator must be strings, and text must be there")
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise PromptError("answers must be a list of strings")
    return Prompt(text, tuple(answers), separator)


def _write(scores: list[LogProbs], out: Path) -> None:
    from tacit.publishing import publish_text

    lines = [
        json.dumps({"scores": [_row(answer) for answer in one.answers]}, ensure_ascii=False)
        for one in scores
    ]
    publish_text(out, "".join(f"{line}\n" for line in lines))


def _is_scores(path: Path) -> bool:
    """Whether a file begins with a line of scores or of votes."""
    try:
        with path.open(encoding="utf-8") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and bool({"scores", "votes"} & set(first))


def _row(score: AnswerScore) -> dict[str, Any]:
    """An answer's score as it is written; why there is none stands only where there is none."""
    row = {
        "answer": score.answer,
        "logprob": score.logprob,
        "tokens": score.tokens,
        "bytes": score.bytes,
    }
    return row if score.missing is None else {**row, "missing": score.missing}


def _row_of_votes(votes: Votes) -> dict[str, Any]:
    """What ``tacit score`` writes of a prompt: each answer's votes and share, with its interval."""
    from tacit.statistics.shares import wilson

    rows = []
    for answer, count in votes.counts.items():
        share = wilson(count, votes.parsed)
        rows.append({"answer": answer, "votes": count, "share": share.value})
        rows[-1] |= {"low": share.low, "high": share.high}
    return {"votes": rows, "unparsed": votes.unparsed, "truncated": votes.truncated}


def _counts(scores: list[LogProbs]) -> dict[str, Any]:
    answers = [answer for one in scores for answer in one.answers]
    return {
        "answers": len(answers),
        "missing": sum(answer.logprob is None for answer in answers),
        "missing_by_reason": missing_by_reason(scores),
        "spanned": sum(answer.spanned for answer in answers),
    }


def _readable(summary: dict[str, Any]) -> str:
    scored = (
        f"scored {several(summary['answers'], 'answer')} to {several(summary['prompts'], 'prompt')}"
    )
    asked = (
        f"{several(summary['asked'], 'prompt was', 'prompts were')} asked, the rest was in the "
        "store"
    )
    if summary["skipped"]:
        asked += f" or too long ({summary['skipped']:,} skipped)"
    lines = [f"{summary['model']}: {scored}; {asked}"]
    if summary["obtained"]:
        lines.append(f"Obtained: {summary['obtained']}")
    if summary["spanned"]:
        lines.append(
            f"{several(summary['spanned'], 'answer shares', 'answers share')} a token with "
            "their text, which is scored too"
        )
    if summary["missing"]:
        lines.append(
            f"{several(summary['missing'], 'answer has', 'answers have')} no score (null); "
            + "; ".join(f"{why}: {n:,}" for why, n in summary["missing_by_reason"].items())
        )
    return "\n".join([*lines, f"Written: {summary['out']}"])
