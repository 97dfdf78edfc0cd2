"""What is missing from a run of the consistency probe, as the terminal and the report tell it."""

from __future__ import annotations

import pytest

from tacit.cli.run import echo_runs
from tacit.findings.findings import Findings
from tacit.probes.consistency.details import tables_of, trace
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.report.writing import report
from tacit.requests import OUTSIDE, AnswerScore, Prompt, Scores
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tacit.runs.run import Run, Runs
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


@pytest.fixture(scope="module")
def probe() -> ConsistencyProbe:
    """Twelve questions."""
    return probe_of(CASES)


@pytest.fixture(scope="module")
def found(probe: ConsistencyProbe) -> Findings:
    """What a server that leaves out words shows."""
    return measured_in_order(probe, [cut(prompt) for prompt in probe.prompts])


def counts(probe: ConsistencyProbe) -> dict[str, int]:
    """What is lacking, counted prompt by prompt."""
    texts = probe.asked.texts
    background = probe.prompts[: len(texts) * len(probe.variants)]
    return {
        "words": sum(one.logprob is None for prompt in background for one in cut(prompt).answers),
        "questions": sum("farm" in text for text in texts),
        "anchors": sum(
            "farm" in anchor.question or "dog" in anchor.question for anchor in probe.anchors
        ),
    }


@pytest.fixture(scope="module")
def run(found: Findings, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same, written and read."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    run = RunFolder(folder, {"probe": "consistency", "model": "it"})
    run.begin({"model": {"name": "it", "elicitation": "log-probabilities"}, "data": {}})
    run.finish(found.with_summary(unscored={OUTSIDE: 7}))
    (read,) = read_runs([folder])
    return read


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    """Its report."""
    return report([run])


@pytest.fixture
def printed(run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    """What the terminal shows of it."""
    echo_runs(Runs((run,)))
    return capsys.readouterr().out


def test_what_is_missing_is_told_in_terminal_and_report(
    probe: ConsistencyProbe, printed: str, page: str
) -> None:
    """Background questions, anchor questions and words."""
    by_hand, asked = counts(probe), len(probe.asked.texts)
    assert by_hand["questions"] > 0
    missing = (
        f"Missing: {by_hand['questions']} background questions; {by_hand['anchors']} anchor "
        f"questions; {by_hand['words']:,} of {asked * 84:,} answer words without"
    )
    assert missing in printed
    assert missing in page
    assert f"7 answers have no score: {OUTSIDE}." in page


def test_a_fact_without_a_margin_is_followed(found: Findings) -> None:
    """What was said is told, and that nobody knows by how much."""
    tables = {spec.name: table for spec, table in tables_of(trace(found.tables, "two choices"))}
    assert list(tables) == ["questions", "choices", "facts", "contribution"]
    said = tables["facts"].filter(word="On", meta=1, pair="On/Off")
    assert said["margin"].null_count()
