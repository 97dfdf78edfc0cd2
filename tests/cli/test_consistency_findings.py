"""What is missing from a run of the consistency probe, as the terminal and the report tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.cli.anchor import echo_anchor
from tacit.cli.findings import echo_runs
from tacit.probes.consistency.trace import trace
from tacit.probes.consistency.words import verdict
from tacit.prompts import OUTSIDE, AnswerScore, LogProbs, Prompt
from tacit.report.writing import write_report
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tests.probes.consistency.asking_by_hand import POSITIVE, probe_of
from tests.probes.consistency.run_by_hand import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.findings.findings import Findings
    from tacit.probes.consistency.probe import ConsistencyProbe


def cut(prompt: Prompt) -> LogProbs:
    """A server's scores: some prompts tell positive words alone, some nothing, some all."""
    words = "Yes" in prompt.answers or prompt.answers[0] in POSITIVE
    told = "farm" not in prompt.text and (words or "dog" not in prompt.text)
    return LogProbs(
        tuple(
            AnswerScore(one, -1.0 - len(one), 1)
            if told and (not words or one in POSITIVE)
            else AnswerScore(one, None, 1, missing=OUTSIDE)
            for one in prompt.answers
        )
    )


@pytest.fixture(scope="module")
def probe() -> ConsistencyProbe:
    """Twelve questions."""
    return probe_of(CASES)


@pytest.fixture(scope="module")
def found(probe: ConsistencyProbe) -> Findings:
    """What a server that leaves out words shows."""
    return probe.measure_scores([cut(prompt) for prompt in probe.prompts])


def counts(probe: ConsistencyProbe) -> dict[str, int]:
    """What is lacking, counted prompt by prompt and fact by fact."""
    n = len(probe.asked.texts) * len(probe.forms)
    lacking = [sum(one.logprob is None for one in cut(p).answers) for p in probe.prompts]
    facts = probe.asked.facts.to_dicts()
    silent = ["farm" in text for text in probe.asked.texts]
    return {
        "words": sum(lacking[:n]),
        "answers": sum(lacking[n:]),
        "questions": sum(silent),
        "facts": sum(silent[fact["positive_question"]] for fact in facts),
        "negatives": sum(
            silent[fact["negative_question"]]
            for fact in facts
            if fact["negative_question"] is not None
        ),
        "anchors": sum(
            "farm" in anchor.question or "dog" in anchor.question for anchor in probe.anchors
        ),
    }


def test_what_is_missing_is_told_in_the_terminal(
    probe: ConsistencyProbe, found: Findings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words, questions, facts, negatives, margins, and the questions themselves."""
    by_hand = counts(probe)
    assert by_hand["facts"] > 0
    echo_consistency(found, "it")
    said = capsys.readouterr().out
    asked = len(probe.asked.texts)
    for sentence in (
        f"{by_hand['questions']} background questions without an answer, ",
        f"{by_hand['anchors']} questions without an answer, ",
        f"{by_hand['facts']} facts and {by_hand['negatives']} negatives without an answer",
        f"{asked - by_hand['questions']} background questions with an answer, but not by how much",
        f"{by_hand['words']:,} of {asked * 84:,} answer words of background questions, and ",
        f", and {by_hand['answers']:,} of ",
    ):
        assert sentence in said


def test_terminal_and_report_give_the_same_verdict(found: Findings, tmp_path: Path) -> None:
    """One sentence, made in one place; and both counts of facts beside their relevance."""
    run = RunFolder(tmp_path / "run", {"probe": "consistency", "model": "it"})
    run.begin({"model": {"name": "it", "obtained": "log-probabilities"}, "data": {}})
    run.finish(found)
    write_report([tmp_path / "run"], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    terminal = "\n".join(_told(found.summary))
    sentence = verdict(found.summary)
    row = found.summary["relevance"]
    assert row["facts_right"] < 20
    assert sentence in terminal
    assert sentence in page
    assert f"No interval of the relevance: {row['no_interval']}" in terminal
    sides = f"{row['facts_right']} facts answered right and {row['facts_wrong']} answered wrong"
    assert f"({sides}, no interval: {row['no_interval']})." in page


def test_the_terminal_shows_how_many_facts_are_right_and_wrong(
    found: Findings, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the place of their sum, which hides that few are right."""
    row = found.summary["relevance"]
    echo_consistency(found, "it")
    said = capsys.readouterr().out
    line = next(row for row in said.splitlines() if "relevance of a fact" in row)
    assert f"{row['facts_right']} right, {row['facts_wrong']} wrong" in line


def test_what_is_missing_is_told_in_the_report(
    probe: ConsistencyProbe, found: Findings, tmp_path: Path
) -> None:
    """The same counts, and why."""
    by_hand = counts(probe)
    run = RunFolder(tmp_path / "run", {"probe": "consistency", "model": "it"})
    run.begin({"model": {"name": "it", "obtained": "log-probabilities"}, "data": {}})
    run.finish(found.unscored({OUTSIDE: 7}))
    write_report([tmp_path / "run"], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    asked = len(probe.asked.texts)
    for sentence in (
        f"{by_hand['words']:,} of {asked * 84:,} answer words of background questions have no",
        f"{by_hand['answers']:,} of ",
        f"{by_hand['questions']} background questions (of {by_hand['facts']} facts and ",
        f" facts and {by_hand['negatives']} negative",
        f"{by_hand['anchors']} questions have no answer and are left out.",
        f"{asked - by_hand['questions']} background questions have an answer, but not by how much",
        f"7 answers without a score: {OUTSIDE}.",
    ):
        assert sentence in page


def test_a_fact_without_a_margin_is_followed(
    found: Findings, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was said is told, and that nobody knows by how much."""
    echo_anchor(trace(found.tables, "two choices"))
    assert "said 'On' (meta-prompt 1, On/Off, by how much is not known)" in capsys.readouterr().out
