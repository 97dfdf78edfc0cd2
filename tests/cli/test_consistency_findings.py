"""What is missing from a run of the consistency probe, as the terminal and the report tell it."""

from pathlib import Path

import pytest

from tacit.cli.run import echo_runs
from tacit.report.writing import report
from tacit.requests import OUTSIDE, AnswerScore, Prompt, Scores
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.runs.run import Runs
from tests.in_order import measured_in_order
from tests.probes.consistency.asking_by_hand import POSITIVE, probe_of
from tests.probes.consistency.run_by_hand import CASES


def cut(prompt: Prompt) -> Scores:
    """A server's scores: some prompts tell positive words alone, some nothing, some all."""
    words = "Yes" in prompt.answers or prompt.answers[0] in POSITIVE
    told = "farm" not in prompt.text and (words or "dog" not in prompt.text)
    return Scores(
        tuple(
            AnswerScore(one, -1.0 - len(one), 1)
            if told and (not words or one in POSITIVE)
            else AnswerScore(one, None, 1, missing=OUTSIDE)
            for one in prompt.answers
        )
    )


def test_what_is_missing_is_printed_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Background questions, anchor questions and words, counted prompt by prompt."""
    probe = probe_of(CASES)
    texts, scores = probe.asked.texts, [cut(prompt) for prompt in probe.prompts]
    folder = RunFolder(tmp_path / "run", {"probe": "consistency", "model": "it"})
    folder.begin({"model": {"name": "it", "elicitation": "log-probabilities"}, "data": {}})
    folder.finish(measured_in_order(probe, scores).with_summary(unscored={OUTSIDE: 7}))
    (run,) = read_runs([tmp_path / "run"])
    echo_runs(Runs((run,)))
    questions = sum("farm" in text for text in texts)
    anchors = sum("farm" in one.question or "dog" in one.question for one in probe.anchors)
    of_words = (word for each in scores[: len(texts) * 24] for word in each.answers)
    words = sum(word.logprob is None for word in of_words)
    missing = (
        f"Missing: {questions} background questions; {anchors} anchor questions; "
        f"{words:,} of {len(texts) * 84:,} answer words without"
    )
    page = report([run])
    assert questions > 0
    assert missing in capsys.readouterr().out
    assert missing in page
    assert f"7 answers have no score: {OUTSIDE}" in page
