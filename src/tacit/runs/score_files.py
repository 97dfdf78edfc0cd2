"""Read and write the JSONL files of ``tacit score``: prompts, scores and votes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tacit.errors import DataError, PromptError
from tacit.files import publish_text
from tacit.requests import AnswerScore, Prompt, Scores, Votes, missing_by_reason
from tacit.tables import read_json_lines


def read_prompts(path: Path, separator: str = " ") -> list[Prompt]:
    """Read the prompts of a JSONL file; ``separator`` is for prompts that give none."""
    prompts = []
    for line, record in read_json_lines(path):
        try:
            prompts.append(_prompt({"separator": separator, **record}))
        except PromptError as error:
            raise DataError(str(error), path, line) from error
    if not prompts:
        raise DataError('contains no prompts; expected lines {"text": …, "answers": [...]}', path)
    return prompts


def _prompt(record: dict[str, Any]) -> Prompt:
    unknown = sorted(set(record) - {"text", "answers", "separator"})
    if unknown:
        raise PromptError(f"has the unknown key {unknown[0]!r}; expected text, answers, separator")
    text, answers, separator = (record.get(key) for key in ("text", "answers", "separator"))
    if not isinstance(text, str) or not isinstance(separator, str):
        raise PromptError("text and separator must be strings, and text is required")
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise PromptError("answers must be a list of strings")
    return Prompt(text, tuple(answers), separator)


def write_answers(answers: Sequence[Scores | Votes], out: Path) -> None:
    """For each prompt, write one line with the scores or the votes of its answers."""
    rows = [
        _row_of_votes(one)
        if isinstance(one, Votes)
        else {"scores": [_row(answer) for answer in one.answers]}
        for one in answers
    ]
    publish_text(out, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def is_scores(path: Path) -> bool:
    """Return whether the first line of a file contains scores or votes."""
    try:
        with path.open(encoding="utf-8") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and bool({"scores", "votes"} & set(first))


def _row(score: AnswerScore) -> dict[str, Any]:
    """Convert an answer's score to a row, with the reason if the score is missing."""
    row = {
        "answer": score.answer,
        "logprob": score.logprob,
        "tokens": score.tokens,
        "bytes": score.bytes,
    }
    return row if score.missing is None else {**row, "missing": score.missing}


def _row_of_votes(votes: Votes) -> dict[str, Any]:
    """Convert a prompt's sampled replies to a row of counts and shares of the answers."""
    rows = [
        {"answer": answer, "votes": count, "share": count / votes.parsed if votes.parsed else None}
        for answer, count in votes.counts.items()
    ]
    return {"votes": rows, "unparsed": votes.unparsed, "truncated": votes.truncated}


def counts(scores: Sequence[Scores]) -> dict[str, Any]:
    """Count answers, missing scores, and answers that share a token with surrounding text."""
    answers = [answer for one in scores for answer in one.answers]
    return {
        "answers": len(answers),
        "missing": sum(answer.logprob is None for answer in answers),
        "missing_by_reason": missing_by_reason(scores),
        "spanned": sum(answer.spanned for answer in answers),
    }
