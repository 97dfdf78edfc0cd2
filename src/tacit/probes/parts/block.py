"""What a reader sees first of a parts run: the verdict and the main figures beside chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tacit.english import several
from tacit.findings import verdict as rule
from tacit.findings.block import Block, Entries, Entry, sentence, sure_ends
from tacit.findings.findings import Findings
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Measured, Verdict
from tacit.probes.parts import TABLES, WITHOUT_SYMMETRIC
from tacit.probes.parts.beliefs import ontology_of
from tacit.probes.parts.questions import QUESTION
from tacit.statistics import FEWEST_CLUSTERS

_WITH_LABEL = ("thing with the rarer gold label", "things with the rarer gold label")
_SMALL = 1e-3  # a smaller probability of either answer is warned about
_MAIN = {"set": WITHOUT_SYMMETRIC, "stage": "before"}
_VIOLATION = {"constraint": "micro", "stage": "before"}
_AFTER = {"set": WITHOUT_SYMMETRIC, "stage": "paper", "gold": "all"}


def block(findings: Findings) -> Block:
    """Return the verdict, how often the model judges statements true, and the main figures."""
    summary, cell = findings.summary, Entries(findings, TABLES)
    verdict = Verdict.of(summary["verdict"])
    asked = several(summary["questions"] - summary["missing"], "statement")
    things = several(summary["things"], "thing")
    share = percent(summary["true_share"])
    main = []
    if accuracy := cell("discrimination", "balanced", **_MAIN):
        main.append(f"balanced accuracy {accuracy} (chance {percent(1 / 2)})")
    if area := cell("discrimination", "auroc", **_MAIN):
        without = ", both without symmetric relations" * bool(accuracy)
        main.append(f"AUROC {area} (chance {score(1 / 2)}){without}")
    if rate := cell("violation", "rate", **_VIOLATION):
        shuffled = f" (shuffled beliefs {rate.of('shuffled')})"
        main.append(f"violations {rate}{shuffled * (rate.row['shuffled'] is not None)}")
    return Block(
        verdict,
        f"Says true to {share} of {asked} about {things}.",
        sentence(main),
        _caution(summary, cell) or (_gain(cell) if verdict.shows_something else None),
        _example(findings) if verdict.shows_something else None,
    )


def _example(findings: Findings) -> str | None:
    """Return the surest pair of believed statements that exclude each other, if there is one."""
    relations = ontology_of(findings).relations.items()
    asymmetric = [name for name, relation in relations if relation.asymmetric]
    believed = findings.questions.filter(
        pl.col("p_true") > 1 / 2, pl.col("relation").is_in(asymmetric)
    )
    turned = believed.select(
        *("thing", "relation"), subject="object", object="subject", p_turned="p_true"
    )
    pairs = believed.join(turned, on=QUESTION, maintain_order="left").sort(
        pl.min_horizontal("p_true", "p_turned"), descending=True, maintain_order=True
    )
    for row in pairs.head(1).iter_rows(named=True):
        one, relation, other = row["subject"], row["relation"], row["object"]
        return (
            f"For example, {row['thing']}: “{one} {relation} {other}” ({score(row['p_true'])}) and "
            f"“{other} {relation} {one}” ({score(row['p_turned'])})."
        )
    return None


def _gain(cell: Entries) -> str | None:
    """Return the gain of repair, beside the accuracy of repaired shuffled beliefs."""
    where = {"set": WITHOUT_SYMMETRIC}
    gain = cell("accuracy_gain", "gain", objective="paper", part="whole", **where)
    after = cell("accuracy", "accuracy", **_AFTER)
    shuffled = cell("repaired_shuffled", "after", **where)
    if not (gain and after and shuffled):
        return None
    return (
        f"Repair changes the accuracy without symmetric relations by {gain} to "
        f"{percent(after.value)}; shuffled beliefs reach {percent(shuffled.value)}."
    )


def _caution(summary: Mapping[str, Any], cell: Entries) -> str | None:
    """Return the first caution that holds."""
    mass = summary.get("answer_probability")
    if mass is not None and mass < _SMALL:
        return (
            "Caution: the answers, with the separator before them, are improbable "
            f"(median probability {score(mass)})."
        )
    if summary["missing"]:
        missing = several(summary["missing"], "statement has", "statements have")
        undecided = cell("violation", "undecided", **_VIOLATION)
        n = undecided.value if undecided else 0
        left_out = f"; {several(n, 'constraint is', 'constraints are')} undecided"
        return f"Caution: {missing} no belief{left_out * bool(n)}."
    return None


def verdict(findings: Findings) -> Verdict:
    """Return the verdict; without gold labels, the violations alone decide."""
    cell = Entries(findings, TABLES)
    violations = _violations(cell("violation", "rate", **_VIOLATION))
    things = cell("discrimination", "things", **_MAIN)
    if things is None:
        known = findings.questions.drop_nulls("p_true")
        n = known["thing"].n_unique()
        return rule.verdict(_answers(known), n, FEWEST_CLUSTERS, [violations], noun=("thing",))
    known = findings.tables["beliefs"].drop_nulls(["label", "p_true"])
    names = {"auroc": "the AUROC", "balanced": "the balanced accuracy"}
    return rule.verdict(
        _answers(known.unique([*QUESTION, "p_true"])),
        things.value,
        FEWEST_CLUSTERS,
        [
            Measured(name, *sure_ends(cell("discrimination", column, **_MAIN)), 1 / 2)
            for column, name in names.items()
        ],
        noun=_WITH_LABEL,
        also=[violations],
        control=_control(cell),
    )


def _answers(known: pl.DataFrame) -> rule.TopAnswer | None:
    return rule.TopAnswer.of("true" if p > 1 / 2 else "false" for p in known["p_true"])


def _violations(rate: Entry | None) -> Measured:
    name = "the drop in violations against shuffled beliefs"
    # Few things may have constraints that apply, so that another rate is not known to be exact.
    unknown = rate is None or (rate.ends[0] is None and rate.value not in {0.0, 1.0})
    low, high = sure_ends(None if unknown else rate)
    if rate is None or rate.chance is None or low is None or high is None:
        return Measured(name, None, None, 0.0)
    return Measured(name, rate.chance - high, rate.chance - low, 0.0)


def _control(cell: Entries) -> str | None:
    """Return why repaired shuffled beliefs explain the accuracy; None if they do not."""
    after = cell("accuracy", "accuracy", **_AFTER)
    shuffled = cell("repaired_shuffled", "after", set=WITHOUT_SYMMETRIC)
    low, _ = sure_ends(after)
    if shuffled is None or low is None or low > shuffled.value:
        return None
    return f"after repair, shuffled beliefs are as accurate ({shuffled}) as the model's"
