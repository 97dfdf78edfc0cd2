"""Run the suite of docs/results.md on two pretrained models, and print the page's tables.

python benchmarks/results.py --models FOLDER --data FOLDER --out FOLDER

The folder of models is the one that scripts/real_models.py makes. The folder of data contains
``parrot``, ``csqa`` and ``conceptnet``. The norms are those of the demo.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import tacit
from tacit.findings.numbers import bounds, estimate, percent, points, score
from tacit.findings.spec import ColumnKind
from tacit.probes.parts import WITHOUT_SYMMETRIC

Shown = Callable[[tacit.Run], str]

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
        triples = out / "cn100k.tsv"
        parts = sorted((data / "conceptnet").glob("cn100k-*.tsv"))
        triples.write_bytes(b"".join(part.read_bytes() for part in parts))
        tacit.build_kb(triples, base)
    text = SUITE.read_text(encoding="utf-8")
    places = {"out": out, "models": models, "data": data, "norms": tacit.demo_data("norms")}
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", str(place))
    (out / "suite.yaml").write_text(text, encoding="utf-8")
    runs = tacit.suite(out / "suite.yaml")
    for probe, rows in (("parts", PARTS), ("consistency", CONSISTENCY), ("assumptions", STA)):
        own = {Path(name).name: run for name, run in runs[probe].items()}
        sys.stdout.write(f"\n## {probe}\n\n" + "\n".join(table(own, rows)) + "\n")


def table(runs: Mapping[str, tacit.Run], rows: Mapping[str, Shown]) -> Iterable[str]:
    """Return a Markdown table with one column per model."""
    yield f"| | {' | '.join(runs)} |"
    yield "|---|" + "---|" * len(runs)
    for label, shown in rows.items():
        yield f"| {label} | {' | '.join(shown(run) for run in runs.values())} |"


def verdict(run: tacit.Run) -> str:
    """Return the verdict in bold, with its reason."""
    found = run.summary["verdict"]
    return f"**{found['verdict']}**: {found['reason']}"


def written(run: tacit.Run) -> str:
    """Return the three likeliest next tokens."""
    found = (run.summary.get("next_tokens") or {}).get("tokens", [])[:3]
    shown = ", ".join(f"`{one['token']!r}` {percent(one['probability'])}" for one in found)
    return shown or "not measured"


def of(row: Mapping[str, Any], name: str, kind: ColumnKind = "percent") -> str:
    """Return a value of a table's row with its interval."""
    return estimate(row[name], row.get(f"{name}_low"), row.get(f"{name}_high"), kind)


def row_of(run: tacit.Run, table: str, at: int = 0, **keys: object) -> Mapping[str, Any]:
    """Return the row at an index among those of a table with the given keys."""
    return run.tables[table].filter(**keys).row(at, named=True)


def _at(run: tacit.Run, stage: str = "before") -> Mapping[str, Any]:
    return row_of(run, "discrimination", set=WITHOUT_SYMMETRIC, stage=stage)


def _violations(run: tacit.Run) -> str:
    row = row_of(run, "violation", constraint="micro", stage="before")
    if row["rate"] is None:
        return "no constraint applies"
    shown = f"{of(row, 'rate')}; shuffled {percent(row['shuffled'])}"
    return f"{shown}; always true {percent(row['always_true'])}; n = {row['applicable']:,}"


def _gain(run: tacit.Run) -> str:
    row = row_of(run, "accuracy_gain", set=WITHOUT_SYMMETRIC, objective="paper", part="whole")
    mixed = row_of(run, "repaired_shuffled", set=WITHOUT_SYMMETRIC)
    least = bounds(mixed["gain_least"], mixed["gain_most"], "points")
    return f"{of(row, 'gain', 'points')}; shuffled beliefs {points(mixed['gain'])} ({least})"


PARTS: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: f"{s.summary['questions']:,} statements, {s.summary['things']} things",
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


def _answers(run: tacit.Run) -> Mapping[str, Any]:
    return row_of(run, "background_answers")


CONSISTENCY: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: (
        f"{s.summary['anchors']} anchor questions, {_answers(s)['n']:,} background questions"
    ),
    "Says “yes” to facts": lambda s: of(_answers(s), "yes_facts"),
    "Says “yes” to negatives": lambda s: of(_answers(s), "yes_negatives"),
    "AUROC of the yes-margin (chance 0.5)": lambda s: of(_answers(s), "auroc", "score"),
    "Balanced accuracy (chance 50 %)": lambda s: of(_answers(s), "balanced_accuracy"),
    "Anchor accuracy (guessing 20 %)": lambda s: of(row_of(s, "anchor_accuracy"), "value"),
    "Conceptual consistency (chance)": lambda s: (
        f"{score(row_of(s, 'consistency')['consistency'])} "
        f"({score(row_of(s, 'consistency')['chance'])})"
    ),
    "Adjusted lift (chance 0)": lambda s: of(row_of(s, "adjusted"), "lift_adjusted", "score"),
    "Would write": written,
}


def _mrr(number: int) -> Shown:
    def shown(run: tacit.Run) -> str:
        row = row_of(run, "retrieval_by_number", n=number)  # of all categories first
        return f"{of(row, 'mrr', 'score')}; chance {row['chance_mrr']:.2g}"

    return shown


STA: dict[str, Shown] = {
    "Verdict": verdict,
    "n": lambda s: (
        f"{row_of(s, 'retrieval_by_number')['concepts']} concepts, "
        f"{row_of(s, 'retrieval_by_number')['candidates']:,} candidates"
    ),
    "Most frequent top prediction": lambda s: (
        f"“{s.summary['top_prediction']['word']}”, "
        f"{percent(s.summary['top_prediction']['share'])} of {s.summary['top_prediction']['n']}"
    ),
    "MRR given 1 property": _mrr(1),
    "MRR given 10 properties": _mrr(10),
    "MRR of candidates by frequency": lambda s: f"{s.summary['frequency_mrr']:.2g}",
    "mAP of “is” properties": lambda s: (
        f"{of(row_of(s, 'elicitation_by_relation'), 'map', 'score')}; n = "
        f"{row_of(s, 'elicitation_by_relation')['prompts']}"
    ),
    "Would write": written,
}


if __name__ == "__main__":
    main()
