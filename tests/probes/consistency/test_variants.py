from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.probes.consistency import asking_by_hand as asking
from tests.probes.consistency import figures_by_hand as figures
from tests.probes.consistency.asking_by_hand import PAIRS, Dice
from tests.probes.consistency.run_by_hand import CASES, SILENT, Run, accuracies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.probes.consistency.asking_by_hand import Reply


MAIN = ("consistency", "chance", "lift")


def background_row(run: Run, replies: Mapping[str, Reply]) -> dict[str, object]:
    sides = [accuracies(case.facts, replies) for case in run.cases]
    scored = [(own, other) for own, other in sides if own is not None and other is not None]
    pairs = run.pairs(replies)
    return {
        "n": len(scored),
        "positive_accuracy": figures.exact(figures.mean(own for own, _ in scored)),
        "negative_accuracy": figures.exact(figures.mean(other for _, other in scored)),
        "background_score": figures.exact(figures.mean(figures.both(*both) for both in scored)),
        "consistency": figures.exact(figures.average_precision(pairs)),
        "chance": figures.exact(figures.chance(pairs)),
        "lift": figures.exact(figures.lift(pairs)),
        "missing": sum(reply.positive is None for reply in replies.values()),
        "tied": sum(reply.tied for reply in replies.values()),
    }


def row_of(
    run: Run, preset: str, meta: int | None = None, pair: str | None = None
) -> dict[str, Any]:
    (row,) = [
        row
        for row in run.rows("background_variants")
        if (row["preset"], row["meta"], row["pair"]) == (preset, meta, pair)
    ]
    return {name: row[name] for name in row if name not in {"preset", "meta", "pair"}}


def test_the_preset_max_is_the_main_result(run: Run) -> None:
    """The same figures as the findings' own."""
    row = row_of(run, "max")
    (main,) = run.rows("consistency")
    assert row == background_row(run, run.replies)
    assert {name: main[name] for name in MAIN} == {name: row[name] for name in MAIN}
    ways = [way["preset"] for way in run.rows("background_variants")]
    assert ways[:4] == ["max", "count", "calibrated", "single"]


def test_the_preset_count(run: Run) -> None:
    """Each pair behind each meta-prompt is a vote."""
    replies = {text: asking.by_count(scores) for text, scores in run.scores.items()}
    assert row_of(run, "count") == background_row(run, replies)


def test_the_preset_calibrated() -> None:
    """Each input's mean subtracted; of scores none of which are equal."""
    run = Run(CASES, Dice(11, SILENT, 10**12))
    tables = asking.calibrated(run.scores)
    replies = {text: asking.by_max(scores) for text, scores in tables.items()}
    assert row_of(run, "calibrated") == background_row(run, replies)
    assert row_of(run, "calibrated") != row_of(run, "max")


def test_every_single_meta_prompt_and_pair(run: Run) -> None:
    """42 ways, 35 in the arXiv version; those of three pairs as by hand."""
    rows = [row for row in run.rows("background_variants") if row["preset"] == "single"]
    assert len(rows) == 7 * run.metas
    for meta in range(1, run.metas + 1):
        for pair in ("/".join(words) for words in PAIRS[::3]):
            replies = {
                text: asking.by_single(scores, meta, pair) for text, scores in run.scores.items()
            }
            assert row_of(run, "single", meta, pair) == background_row(run, replies)
