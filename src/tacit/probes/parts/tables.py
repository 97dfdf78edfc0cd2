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

_SET = Column("set", "set", meaning="ParRoT, ParRoT++ or asymmetric.")
_OBJECTIVE = Column("objective", "objective", meaning="What the repair keeps as much of as it can.")
_STAGE = Column("stage", "stage", meaning="before (repair), or the objective of a repair.")
_THING = Column("thing", "thing", meaning="The everyday thing.")
_ANNOTATOR = Column("annotator", "drawn by", meaning="Who drew it; empty where nobody did.")
_RELATION = Column("relation", "relation", meaning="How the parts relate.")
_N = Column("n", "n", "count", "How many labelled statements have a belief.")
_MISSING = Column("missing", "no belief", "count", "How many have none, and are left out.")
_ACCURACY = Column(
    "accuracy",
    "accuracy",
    "percent",
    "The share of them that are believed as the annotator drew them.",
    ends=_ENDS,
)
_STATEMENTS = Column("statements", "statements", "count", "How many statements were asked.")
_OPTIMAL = "Whether no better consistent assignment is possible."
_TURNED = (
    Column("turned_true", "turned true", "count", "Statements that repair makes true."),
    Column("turned_false", "turned false", "count", "Statements that repair makes false."),
    Column("free", "free (a tie)", "count", "Statements that the tie rule alone decides."),
)
_COUNTS = (
    Column("violated", "broken", "count", "Constraints that are violated."),
    Column("applicable", "apply", "count", "Constraints that apply to what is believed."),
    Column(
        "undecided",
        "undecided",
        "count",
        "Constraints one of whose statements has no belief; rates leave them out.",
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
        Column("annotator", "drawn by", meaning=_ANNOTATOR.meaning, optional=True),
        Column("text", "prompt", meaning="What the model was given.", optional=True),
        Column("logprob_true", "true, nats", "nats", "Of the true answers.", optional=True),
        Column("logprob_false", "false, nats", "nats", "Of the false ones.", optional=True),
        Column("votes_true", "votes true", "count", "Replies that say true.", optional=True),
        Column("votes_false", "votes false", "count", "Replies that say false.", optional=True),
        Column("unparsed", "unparsed", "count", "Replies that say neither.", optional=True),
        Column("truncated", "thought cut", "count", "Of these, cut while thinking.", optional=True),
        Column(
            "p_true",
            "belief",
            "percent",
            "P(true)/(P(true) + P(false)), or of sampled replies the share of true.",
        ),
        Column("low", "95 % CI", "percent", "Where its interval begins.", optional=True),
        Column("high", "to", "percent", "Where it ends.", optional=True),
        Column(
            "filled", "filled in", "truth", "Whether a missing belief was filled in.", optional=True
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
        "Accuracy (Tables 4 and 6)",
        "Agreement with people's drawings: ParRoT, all statements; ParRoT++, those that all "
        "annotators of a thing agree on; asymmetric, all without connects and next to. Balanced: "
        "the mean of the accuracies on statements drawn true and false. Stage: before repair, or "
        "repaired under one of three objectives.",
        columns=(
            _SET,
            Column("gold", "drawn as", meaning="all, true, false, or balanced: the mean of these."),
            *(_STAGE, _N, _MISSING, _ACCURACY),
        ),
        keys=3,
        printed=Layout(
            {"gold": ("all", "balanced")}, columns=("set", "gold", "accuracy"), across="stage"
        ),
    ),
    TableSpec(
        "accuracy_baselines",
        "Accuracy of baselines",
        "Judges who know nothing of a statement, on the same statements: one who always says true, "
        "one who always says false, and one who says what most labels of the relation are.",
        columns=(
            *(_SET, Column("baseline", "baseline", meaning="The judge.")),
            *(_N, _ACCURACY),
        ),
        keys=2,
        printed=Layout(
            {"baseline": ("always true", "majority by relation")},
            columns=("set", "accuracy"),
            across="baseline",
        ),
    ),
    TableSpec(
        "accuracy_gain",
        "What repair adds, in points",
        "Accuracy after repair less accuracy before it, paired. The gain has two parts: a shift "
        "towards true, which a lower threshold would give that makes as many statements true as "
        "repair does, and what consistency adds above it.",
        columns=(
            *(_SET, _OBJECTIVE),
            Column("part", "part", meaning="whole, shift towards true, or consistency."),
            _N,
            Column("gain", "gain, points", "points", "The gain of that part.", ends=_ENDS),
        ),
        keys=3,
        printed=Layout(columns=("set", "part", "gain"), across="objective"),
    ),
    TableSpec(
        "accuracy_at",
        "Drawings that are right to at least s per cent (Figure 3)",
        "The share of drawings with an accuracy of at least s.",
        columns=(
            Column("s", "s, %", "count", "The least accuracy, in per cent."),
            *(_STAGE, Column("n", "n", "count", "How many drawings.")),
            Column("share", "share", "percent", "The share of drawings.", ends=_ENDS),
        ),
        keys=2,
        shown=False,
    ),
    TableSpec(
        "accuracy_by_relation",
        "Accuracy by relation",
        "Agreement with people's drawings.",
        columns=(_RELATION, _STAGE, _N, _MISSING, _ACCURACY),
        keys=2,
    ),
    TableSpec(
        "accuracy_by_thing",
        "Accuracy by thing",
        "Things by their rank before repair.",
        columns=(
            *(_THING, Column("rank", "rank", "count", "Its rank by accuracy before repair.")),
            Column("band", "band", meaning="best 20, worst 20, or middle."),
            *(_STAGE, _N, _MISSING),
            Column("accuracy", "accuracy", "percent", _ACCURACY.meaning),
        ),
        keys=1,
    ),
    TableSpec(
        "accuracy_by_drawing",
        "Accuracy by drawing",
        "One annotator's drawing of one thing.",
        columns=(
            *(_THING, _ANNOTATOR, _N, _MISSING),
            *(
                Column(
                    stage,
                    stage if stage == "before" else f"repaired: {stage}",
                    "percent",
                    f"Accuracy {'before repair' if stage == 'before' else f'under {stage}'}.",
                )
                for stage in _STAGES
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "violation",
        "Constraint violations (Table 3)",
        "Of the constraints that apply to the beliefs, the share that is violated. A constraint is "
        "undecided, and left out of the share, when one of its statements has no belief. Macro: "
        "the mean over constraint types; micro: all constraints together.",
        columns=(
            Column("constraint", "constraint", meaning="The constraint type, macro, or micro."),
            *(_STAGE, *_COUNTS),
            Column("rate", "violated", "percent", "violated/(applicable - undecided).", ends=_ENDS),
        ),
        keys=2,
        printed=Layout(columns=("constraint", "rate"), across="stage"),
    ),
    TableSpec(
        "violation_by_drawing",
        "Constraint violations, by drawing",
        "Before repair. Violated and applicable constraints of all types, and the share of the "
        "decided ones that is violated.",
        columns=(
            *(_THING, _ANNOTATOR, _STATEMENTS),
            Column("believed", "believed", "count", "How many of them are believed."),
            *(
                Column(f"{kind}_{count.name}", f"{kind}, {count.heading}", "count", shown=False)
                for kind in _KINDS
                for count in _COUNTS
            ),
            *_COUNTS,
            Column("density", "violated", "percent", "violated/(applicable - undecided)."),
            Column(
                "consistent",
                "consistent",
                "truth",
                "Whether some consistent assignment has all that is believed and nothing that is "
                "disbelieved.",
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "repair",
        "Repair (section 6)",
        "Statements that each repair turns; drawings whose accuracy it improves, keeps or worsens; "
        "and of how many drawings no better assignment is possible.",
        columns=(
            *(_OBJECTIVE, Column("groups", "drawings", "count", "How many drawings.")),
            Column("optimal", "proven best", "count", "Drawings with no better assignment."),
            Column("value", "value", "number", "The weight that repair keeps.", shown=False),
            Column("bound", "bound", "number", "No consistent assignment keeps more.", shown=False),
            *_TURNED,
            Column("improved", "improved", "count", "Drawings with a higher accuracy than before."),
            Column("same", "same", "count", "Drawings with the same."),
            Column("worse", "worse", "count", "Drawings with a lower one."),
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
        "Repair, by drawing",
        "Statements that each repair turns.",
        columns=(
            *(_OBJECTIVE, _THING, _ANNOTATOR, _STATEMENTS),
            Column("missing", "no belief", "count", "How many have none.", sparse=True),
            Column("value", "value", "number", "The weight that repair keeps.", shown=False),
            Column("bound", "bound", "number", "No consistent assignment keeps more.", shown=False),
            *(Column("optimal", "proven best", "truth", _OPTIMAL), *_TURNED),
        ),
        keys=3,
    ),
    TableSpec(
        "agreement",
        "Agreement among annotators (Table 5, appendix C)",
        "Labels that the drawings of a thing imply; distinct statements that all of its annotators "
        "label alike; and labels that contradict another annotator's.",
        columns=(
            *(
                _THING,
                Column("drawings", "drawings", "count", "How many drawings of it there are."),
            ),
            Column("labelled", "labels", "count", "Labels that they imply."),
            Column("distinct", "distinct", "count", "Distinct statements among these."),
            Column("agreed", "agreed on", "count", "Those that all annotators label alike."),
            Column("contradicted", "contradicted", "count", "Labels that contradict another's."),
        ),
    ),
    TableSpec(
        "beliefs",
        "Beliefs",
        "Each statement's belief, whether it is true before and after repair, and people's label.",
        columns=(
            *(_THING, _ANNOTATOR, QUESTIONS.columns[1], _RELATION, QUESTIONS.columns[3]),
            Column("p_true", "belief", "percent", "As in the questions."),
            *(
                Column(
                    stage,
                    stage if stage == "before" else f"repaired: {stage}",
                    "truth",
                    "Whether it is true "
                    f"{'before repair' if stage == 'before' else f'after repair under {stage}'}.",
                )
                for stage in _STAGES
            ),
            Column(
                "label", "drawn", "truth", "Whether the drawing says so; null where nobody did."
            ),
        ),
        keys=5,
        shown=False,
    ),
)
BY_NAME = {spec.name: spec for spec in TABLES}


def decided(row: Mapping[str, Any]) -> str:
    """Return the number of applicable constraints that are violated or satisfied, in words."""
    return several(row["applicable"] - row["undecided"], "applicable constraint")


_ALL = {"set": "ParRoT", "gold": "all"}
_AGREES = "statements on which it agrees with the drawings"
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
        "of those that apply to its beliefs; less is better",
        "violation",
        "rate",
        where={"constraint": "micro", "stage": "before"},
        n=decided,
    ),
)
