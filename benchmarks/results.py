"""Run the suite of docs/results.md on two pretrained models, and print the page's tables.

python benchmarks/results.py --models FOLDER --data FOLDER --out FOLDER

The folder of models is the one that scripts/real_models.py makes. The folder of data contains
``parrot``, ``csqa`` and ``conceptnet``. The norms are those of the demo.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.findings.numbers import bounds, estimate, interval, percent, points, score
from tacit.probes.parts.tables import WITHOUT_SYMMETRIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.findings.spec import Kind

    Shown = Callable[[Mapping[str, Any]], str]

SUITE = Path(__file__).with_name("results.yaml")


def main() -> None:
    """Run the suite, or read its finished runs, and print one table per probe."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("models", "data", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args()
    out, models, data = (path.resolve() for path in (chosen.out, chosen.models, chosen.data))
    out.mkdir(parents=True, exist_ok=True)
    chat, base = out / "smollm2-chat", out / "cn100k.kb"
    if not chat.exists():
        chat.symlink_to(models / "smollm2")
    if not base.exists():
        tacit.build_kb(data / "conceptnet" / "cn100k-train.tsv", base)
    text = SUITE.read_text(encoding="utf-8")
    places = {"out": out, "models": models, "data": data, "norms": tacit.demo_data("norms")}
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", str(place))
    (out / "suite.yaml").write_text(text, encoding="utf-8")
    runs = tacit.suite(out / "suite.yaml")
    for probe, rows in (("parts", PARTS), ("consistency", CONSISTENCY), ("assumptions", STA)):
        own = {Path(name).name: run.summary for name, run in runs[probe].items()}
        sys.stdout.write(f"\n## {probe}\n\n" + "\n".join(table(own, rows)) + "\n")


def table(runs: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Shown]) -> Iterable[str]:
    """Return a Markdown table with one column per model."""
    yield f"| | {' | '.join(runs)} |"
    yield "|---|" + "---|" * len(runs)
    for label, shown in rows.items():
        yield f"| {label} | {' | '.join(shown(summary) for summary in runs.values())} |"


def verdict(summary: Mapping[str, Any]) -> str:
    """Return the verdict in bold, with its reason."""
    return f"**{summary['verdict']['verdict']}**: {summary['verdict']['reason']}"


def written(summary: Mapping[str, Any]) -> str:
    """Return the three likeliest next tokens."""
    found = (summary.get("next_tokens") or {}).get("tokens", [])[:3]
    shown = ", ".join(f"`{one['token']!r}` {percent(one['probability'])}" for one in found)
    return shown or "not measured"


def of(row: Mapping[str, Any], name: str, kind: Kind = "percent") -> str:
    """Return a value of a table's row with its interval."""
    return estimate(row[name], row.get(f"{name}_low"), row.get(f"{name}_high"), kind)


def row_of(table: Iterable[Mapping[str, Any]], **keys: object) -> Mapping[str, Any]:
    """Return the row of a table with the given keys."""
    return next(row for row in table if all(row.get(k) == v for k, v in keys.items()))


def _at(summary: Mapping[str, Any], stage: str = "before") -> Mapping[str, Any]:
    return row_of(summary["discrimination"], set=WITHOUT_SYMMETRIC, stage=stage)


def _violations(summary: Mapping[str, Any]) -> str:
    row = row_of(summary["violation"], constraint="micro", stage="before")
    if row["rate"] is None:
        return "no constraint applies"
    ends = interval(row["rate_low"], row["rate_high"])
    shown = f"{percent(row['rate'])} ({ends}); shuffled {percent(row['shuffled'])}"
    return f"{shown}; always true {percent(row['always_true'])}; n = {row['applicable']:,}"


def _gain(summary: Mapping[str, Any]) -> str:
    row = row_of(summary["accuracy_gain"], set=WITHOUT_SYMMETRIC, objective="paper", part="whole")
    mixed = row_of(summary["repaired_shuffled"], set=WITHOUT_SYMMETRIC)
    least = bounds(mixed["gain_least"], mixed["gain_most"], "points")
    ends = interval(row["gain_low"], row["gain_high"], "points")
    return f"{points(row['gain'])} ({ends}); shuffled beliefs {points(mixed['gain'])} ({least})"


PARTS: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: f"{s['questions']:,} statements, {s['things']} things",
    "Says “true”": lambda s: of(_at(s), "share_true"),
    "… where gold is true, false": lambda s: (
        f"{percent(_at(s)['true_if_true'])}, {percent(_at(s)['true_if_false'])}"
    ),
    "AUROC (chance 0.5)": lambda s: of(_at(s), "auroc", "score"),
    "Balanced accuracy (chance 50 %)": lambda s: of(_at(s), "balanced"),
    "… of calibrated beliefs": lambda s: of(_at(s, "calibrated"), "balanced"),
    "Violations": _violations,
    "Gain of repair": _gain,
    "Would write": written,
}


def _answers(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = summary["background_answers"]
    return found


CONSISTENCY: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: f"{s['anchors']} anchor questions, {_answers(s)['n']:,} background questions",
    "Says “yes” to facts": lambda s: of(_answers(s), "yes_facts"),
    "Says “yes” to negatives": lambda s: of(_answers(s), "yes_negatives"),
    "AUROC of the yes-margin (chance 0.5)": lambda s: of(_answers(s), "auroc", "score"),
    "Balanced accuracy (chance 50 %)": lambda s: of(_answers(s), "balanced_accuracy"),
    "Anchor accuracy (guessing 20 %)": lambda s: of(
        {
            "a": s["anchor_accuracy"][0]["value"],
            "a_low": s["anchor_accuracy"][0]["value_low"],
            "a_high": s["anchor_accuracy"][0]["value_high"],
        },
        "a",
    ),
    "Conceptual consistency (chance)": lambda s: (
        f"{score(s['consistency']['consistency'])} ({score(s['consistency']['chance'])})"
    ),
    "Adjusted lift (chance 0)": lambda s: of(s, "lift_adjusted", "score"),
    "Would write": written,
}


def _mrr(number: int) -> Shown:
    def shown(summary: Mapping[str, Any]) -> str:
        row = summary["retrieval_by_number"][number]
        return f"{of(row, 'mrr', 'score')}; chance {row['chance_mrr']:.2g}"

    return shown


STA: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: (
        f"{s['concepts']} concepts, {s['retrieval_by_number'][0]['candidates']:,} candidates"
    ),
    "Most frequent top prediction": lambda s: (
        f"“{s['top_prediction']['word']}”, {percent(s['top_prediction']['share'])} of "
        f"{s['top_prediction']['n']}"
    ),
    "MRR given 1 property": _mrr(0),
    "MRR given 10 properties": _mrr(-1),
    "MRR of candidates by frequency": lambda s: f"{s['frequency_mrr']:.2g}",
    "mAP of “is” properties": lambda s: (
        f"{of(s['elicitation_by_relation'][0], 'map', 'score')}; n = "
        f"{s['elicitation_by_relation'][0]['prompts']}"
    ),
    "Would write": written,
}


if __name__ == "__main__":
    main()
