"""The tables and headlines of the parts probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.spec import Column, Headline, Layout, TableSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDS = ("low", "high")
_KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")
_STAGES = ("before", "paper", "log-odds", "margin")

_SET = Column("set", "set", meaning="ParRoT, ParRoT++, or ParRoT without symmetric relations.")
_OBJECTIVE = Column("objective", "objective", meaning="The objective that repair maximises.")
_STAGE = Column("stage", "stage", meaning="before (the raw beliefs), or the objective of repair.")
_THING = Column("thing", "thing", meaning="The everyday thing.")
_ANNOTATOR = Column(
    "annotator", "annotator", meaning="The person who drew the thing; empty if there is no drawing."
)
_RELATION = Column("relation", "relation", meaning="The relation between the two parts.")
_N = Column("n", "n", "count", "Statements with a gold label and a belief.")
_MISSING = Column(
    "missing", "no belief", "count", "Statements with a gold label and no belief; excluded."
)
_ACCURACY = Column(
    "accuracy",
    "accuracy",
    "percent",
    "The share of the n statements whose truth value equals the gold label.",
    ends=_ENDS,
)
_ALWAYS_TRUE = Column(
    "always_true",
    "always true",
    "percent",
    "The value if every statement were answered true.",
)
_STATEMENTS = Column("statements", "statements", "count", "The number of statements.")
_OPTIMAL = "Whether the assignment is proven optimal."
_TURNED = (
    Column("turned_true", "turned true", "count", "Statements that become true."),
    Column("turned_false", "turned false", "count", "Statements that become false."),
    Column("free", "free", "count", "Statements that only the tie rule decides."),
)
_COUNTS = (
    Column("violated", "violated", "count", "Constraints that the beliefs violate."),
    Column("applicable", "applicable", "count", "Constraints that apply to the beliefs."),
    Column(
        "undecided",
        "undecided",
        "count",
        "Applicable constraints that depend on a missing belief; rates exclude them.",
        sparse=True,
    ),
)

QUESTIONS = TableSpec(
    "questions",
    "Questions",
    "Each distinct question, with the belief in its statement.",
    columns=(
        _THING,
        Column("subject", "subject", meaning="The part that the statement is about."),
        _RELATION,
        Column("object", "object", meaning="The other part."),
        Column("annotator", "annotator", meaning=_ANNOTATOR.meaning, optional=True),
        Column("text", "prompt", meaning="The prompt.", optional=True),
        Column(
            "logprob_true",
            "log P(true)",
            "nats",
            "Log-probability of the answers that mean true, in nats.",
            optional=True,
        ),
        Column(
            "logprob_false",
            "log P(false)",
            "nats",
            "Log-probability of the answers that mean false, in nats.",
            optional=True,
        ),
        Column(
            "votes_true", "votes true", "count", "Sampled replies that answer true.", optional=True
        ),
        Column(
            "votes_false",
            "votes false",
            "count",
            "Sampled replies that answer false.",
            optional=True,
        ),
        Column(
            "unparsed",
            "unparsed",
            "count",
            "Sampled replies without a clear answer.",
            optional=True,
        ),
        Column(
            "truncated",
            "truncated",
            "count",
            "Unparsed replies that were cut off while reasoning.",
            optional=True,
        ),
        Column(
            "p_true",
            "belief",
            "percent",
            "P(true)/(P(true) + P(false)), or the vote share of true among sampled replies.",
        ),
        Column("low", "95 % CI, low", "percent", "Lower end of the 95 % CI.", optional=True),
        Column("high", "95 % CI, high", "percent", "Upper end of the 95 % CI.", optional=True),
        Column(
            "filled",
            "filled in",
            "truth",
            "Whether the template's value replaces a missing belief.",
            optional=True,
        ),
    ),
    keys=4,
    shown=False,
    open=True,
)

TABLES = (
    QUESTIONS,
    TableSpec(
        "accuracy",
        "Accuracy (Tables 4 and 6 of Gu et al. 2023)",
        "Agreement with the gold labels that the annotators' drawings imply. ParRoT: all labelled "
        "statements. ParRoT++: those that all annotators of a thing agree on. Without symmetric "
        "relations: ParRoT without connects and next to. Balanced: the mean of the "
        "accuracies on statements labelled true and labelled false. Stage: before repair, or after "
        "repair under one of three objectives.",
        columns=(
            _SET,
            Column(
                "gold",
                "gold label",
                meaning="all, true, false, or balanced (mean of true and false).",
            ),
            *(_STAGE, _N, _MISSING, _ACCURACY),
        ),
        keys=3,
        printed=Layout(
            {"gold": ("all", "balanced")}, columns=("set", "gold", "n", "accuracy"), across="stage"
        ),
    ),
    TableSpec(
        "accuracy_baselines",
        "Accuracy of baselines",
        "Baselines that do not use the model, on the same statements: always true, always false, "
        "and the majority label of each relation.",
        columns=(
            *(_SET, Column("baseline", "baseline", meaning="The baseline.")),
            *(_N, _ACCURACY),
        ),
        keys=2,
        printed=Layout(
            {"baseline": ("always true", "majority by relation")},
            columns=("set", "n", "accuracy"),
            across="baseline",
        ),
    ),
    TableSpec(
        "accuracy_gain",
        "Accuracy gain of repair, in percentage points",
        "Accuracy after repair minus accuracy before repair, paired by statement. The whole gain "
        "is the sum of two parts. Shift of the threshold: the gain if, instead of repair, another "
        "threshold on the beliefs makes as many statements true as repair does. Consistency: the "
        "gain of repair over that threshold. Each part may be negative.",
        columns=(
            *(_SET, _OBJECTIVE),
            Column("part", "part", meaning="whole, shift of the threshold, or consistency."),
            _N,
            Column("gain", "gain, points", "points", "The gain, or this part of it.", ends=_ENDS),
        ),
        keys=3,
        printed=Layout(columns=("set", "part", "n", "gain"), across="objective"),
    ),
    TableSpec(
        "accuracy_at",
        "Drawings with an accuracy of at least s (Figure 3 of Gu et al. 2023)",
        "The share of drawings whose accuracy is at least s.",
        columns=(
            Column("s", "s, %", "count", "The minimum accuracy in per cent."),
            *(_STAGE, Column("n", "n", "count", "Drawings with a belief.")),
            Column("share", "share", "percent", "The share of the n drawings.", ends=_ENDS),
            _ALWAYS_TRUE,
        ),
        keys=2,
        shown=False,
    ),
    TableSpec(
        "accuracy_by_relation",
        "Accuracy by relation",
        "Agreement with the gold labels, by relation.",
        columns=(_RELATION, _STAGE, _N, _MISSING, _ACCURACY, _ALWAYS_TRUE),
        keys=2,
    ),
    TableSpec(
        "accuracy_by_thing",
        "Accuracy by thing",
        "Agreement with the gold labels. Things are ranked by accuracy before repair.",
        columns=(
            *(
                _THING,
                Column("rank", "rank", "count", "Rank by accuracy before repair; 1 is best."),
            ),
            Column(
                "band",
                "band",
                meaning="best 20, worst 20, or middle. With fewer than 40 things, the better and "
                "the worse half, such as best 12.",
            ),
            *(_STAGE, _N, _MISSING),
            Column("accuracy", "accuracy", "percent", _ACCURACY.meaning),
            _ALWAYS_TRUE,
        ),
        keys=1,
    ),
    TableSpec(
        "accuracy_by_drawing",
        "Accuracy by drawing",
        "Agreement with the gold labels of each annotator's drawing of a thing.",
        columns=(
            *(_THING, _ANNOTATOR, _N, _MISSING),
            *(
                Column(
                    stage,
                    "before repair" if stage == "before" else f"repaired: {stage}",
                    "percent",
                    f"Accuracy {'before' if stage == 'before' else 'after'} repair"
                    f"{'' if stage == 'before' else f' with the objective {stage}'}.",
                )
                for stage in _STAGES
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "violation",
        "Constraint violations (Table 3 of Gu et al. 2023)",
        "The share of violated constraints among those that apply to the beliefs. A constraint "
        "that depends on a missing belief is undecided and excluded. Macro: the mean over "
        "constraint types. Micro: the share over all constraints, so that types with "
        "many constraints weigh more. Shuffled and always true: the rates, before repair, of "
        "baselines without knowledge. After repair no constraint is violated.",
        columns=(
            Column("constraint", "constraint", meaning="The constraint type, macro, or micro."),
            *(_STAGE, *_COUNTS),
            Column(
                *("rate", "violation rate", "percent", "violated/(applicable - undecided)."),
                ends=_ENDS,
                chance="shuffled",
            ),
            Column(
                "shuffled",
                "shuffled",
                "percent",
                "The rate if the model's beliefs are permuted among the statements of each "
                "drawing; the mean over seeded permutations. Null after repair.",
            ),
            Column(
                "always_true",
                "always true",
                "percent",
                "The rate if every statement with a belief were believed. Null after repair.",
            ),
        ),
        keys=2,
        printed=Layout(
            {"stage": ("before",)},
            columns=(
                *("constraint", "violated", "applicable", "undecided"),
                *("rate", "shuffled", "always_true"),
            ),
        ),
    ),
    TableSpec(
        "violation_by_drawing",
        "Constraint violations by drawing",
        "Constraint violations before repair. The violation rate is the share of violated "
        "constraints among those that apply and are decided.",
        columns=(
            *(_THING, _ANNOTATOR, _STATEMENTS),
            Column("believed", "believed", "count", "The number of believed statements."),
            *(
                Column(f"{kind}_{count.name}", f"{kind}, {count.heading}", "count", shown=False)
                for kind in _KINDS
                for count in _COUNTS
            ),
            *_COUNTS,
            Column("density", "violation rate", "percent", "violated/(applicable - undecided)."),
            Column(
                "consistent",
                "believed statements\ncan all be true",
                "truth",
                "Whether all believed statements can be true together, for some truth values of "
                "the other statements. If believed statements imply a statement that is not "
                "believed, such as the other direction of a symmetric relation, a constraint is "
                "violated although all believed statements can be true together.",
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "repair",
        "Repair (section 6 of Gu et al. 2023)",
        "For each objective: the statements whose truth value repair changes, the drawings whose "
        "accuracy improves, stays the same or worsens, and the drawings whose assignment is proven "
        "optimal.",
        columns=(
            *(_OBJECTIVE, Column("groups", "drawings", "count", "The number of drawings.")),
            Column("optimal", "proven optimal", "count", "Drawings with a proven optimum."),
            Column("value", "value", "number", "The value of the objective.", shown=False),
            Column("bound", "bound", "number", "An upper bound on the value.", shown=False),
            *_TURNED,
            Column("improved", "improved", "count", "Drawings whose accuracy increases."),
            Column("same", "same", "count", "Drawings whose accuracy does not change."),
            Column("worse", "worse", "count", "Drawings whose accuracy decreases."),
        ),
        printed=Layout(
            columns=(
                *("objective", "turned_true", "turned_false", "improved", "same", "worse"),
                "optimal",
            )
        ),
    ),
    TableSpec(
        "repair_by_drawing",
        "Repair by drawing",
        "The statements whose truth value repair changes, for each objective and drawing.",
        columns=(
            *(_OBJECTIVE, _THING, _ANNOTATOR, _STATEMENTS),
            Column("missing", "no belief", "count", "Statements without a belief.", sparse=True),
            Column("value", "value", "number", "The value of the objective.", shown=False),
            Column("bound", "bound", "number", "An upper bound on the value.", shown=False),
            *(Column("optimal", "proven optimal", "truth", _OPTIMAL), *_TURNED),
        ),
        keys=3,
    ),
    TableSpec(
        "agreement",
        "Agreement among annotators (Table 5, appendix C of Gu et al. 2023)",
        "For each thing: the gold labels that its drawings imply, the distinct statements that all "
        "annotators label alike, and the labels that contradict another annotator's label.",
        columns=(
            *(
                _THING,
                Column("drawings", "drawings", "count", "The number of drawings of the thing."),
            ),
            Column("labelled", "labels", "count", "Gold labels that the drawings imply."),
            Column("distinct", "distinct", "count", "Distinct labelled statements."),
            Column("agreed", "agreed on", "count", "Statements that all annotators label alike."),
            Column(
                "contradicted",
                "contradicted",
                "count",
                "Labels that another annotator contradicts.",
            ),
        ),
    ),
    TableSpec(
        "beliefs",
        "Beliefs",
        "The belief in each statement, its truth before and after repair, and its gold label.",
        columns=(
            *(_THING, _ANNOTATOR, QUESTIONS.columns[1], _RELATION, QUESTIONS.columns[3]),
            Column(
                "p_true",
                "belief",
                "percent",
                "The belief in the statement, as in the table questions.",
            ),
            *(
                Column(
                    stage,
                    "before repair" if stage == "before" else f"repaired: {stage}",
                    "truth",
                    "Whether the statement is true "
                    f"{'before' if stage == 'before' else 'after'} repair"
                    f"{'' if stage == 'before' else f' with the objective {stage}'}.",
                )
                for stage in _STAGES
            ),
            Column(
                "label", "gold label", "truth", "The truth value that the drawing implies, or null."
            ),
        ),
        keys=5,
        shown=False,
    ),
)
BY_NAME = {spec.name: spec for spec in TABLES}


def decided(row: Mapping[str, Any]) -> str:
    """Return a phrase with the number of applicable constraints that are violated or satisfied."""
    return several(row["applicable"] - row["undecided"], "applicable constraint")


_ALL = {"set": "ParRoT", "gold": "all"}
_AGREES = "share of statements whose truth value equals the gold label"
HEADLINES = (
    *(
        Headline(
            *(f"Accuracy {when} repair", _AGREES, "accuracy", "accuracy"),
            where={**_ALL, "stage": stage},
            n=("n", "statement"),
        )
        for when, stage in (("before", "before"), ("after", "paper"))
    ),
    Headline(
        "Constraint violations",
        "share of the constraints that apply to its beliefs; chance: the same beliefs shuffled",
        "violation",
        "rate",
        where={"constraint": "micro", "stage": "before"},
        n=decided,
    ),
)
