from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.probes.consistency import asking_by_hand as asking
from tests.probes.consistency.asking_by_hand import PAIRS, Dice, Reply
from tests.probes.consistency.run_by_hand import (
    CASES,
    SILENT,
    Run,
    accuracies,
    both,
    exact,
    figures,
    mean,
)


def check(run: Run, replies: Mapping[str, Reply], *way: object) -> dict[str, Any]:
    """The row of a preset, a meta-prompt and a pair is that of these replies."""
    sides = [accuracies(case.facts, replies) for case in run.cases]
    scored = [(own, other) for own, other in sides if own is not None and other is not None]
    of_pairs = figures(run.pairs(replies))
    (row,) = [
        row
        for row in run.rows("background_variants")
        if (row.pop("preset"), row.pop("meta"), row.pop("pair")) == way
    ]
    assert row == {
        "n": len(scored),
        "positive_accuracy": exact(mean(own for own, _ in scored)),
        "negative_accuracy": exact(mean(other for _, other in scored)),
        "background_score": exact(mean(both(*sides) for sides in scored)),
        **{name: of_pairs[name] for name in ("consistency", "chance", "lift")},
        "missing": sum(reply.positive is None for reply in replies.values()),
        "tied": sum(reply.tied for reply in replies.values()),
    }
    return row


def test_every_way_to_answer_as_by_hand(run: Run) -> None:
    """All inputs by maximum and by count, and 42 single ones, 35 in the arXiv version."""
    rows = run.rows("background_variants")
    together = ["max", "count", "calibrated"]
    assert [row["preset"] for row in rows] == together + ["single"] * 7 * run.metas
    for preset, by in (("max", asking.by_max), ("count", asking.by_count)):
        replies = {text: by(scores) for text, scores in run.scores.items()}
        row = check(run, replies, preset, None, None)
        if preset == run.answering:
            main = run.rows("consistency")[0]
            assert all(main[name] == row[name] for name in ("consistency", "chance", "lift"))
    for meta in range(1, run.metas + 1):
        for pair in ("/".join(words) for words in PAIRS[::3]):
            replies = {
                text: asking.by_single(scores, meta, pair) for text, scores in run.scores.items()
            }
            check(run, replies, "single", meta, pair)


def test_the_preset_calibrated() -> None:
    """Each input's mean subtracted; of scores none of which are equal."""
    run = Run(CASES, Dice(11, SILENT, 10**12))
    tables = asking.calibrated(run.scores)
    replies = {text: asking.by_max(scores) for text, scores in tables.items()}
    row = check(run, replies, "calibrated", None, None)
    assert row != check(run, run.replies, "max", None, None)
