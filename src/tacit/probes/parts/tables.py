"""The declarations of the parts probe's tables and headlines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.spec import Column, Headline, Layout, TableSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


_ENDS = ("low", "high")
_KINDS = ("symmetric", "asymmetric", "inverse", "transitive", "implies", "excludes")
_STAGES = ("before", "paper", "log-odds", "margin")

_SET = Column(
    "set",
    "set",
    meaning="The set of statements: \u201cParRoT\u201d (all statements with a gold label), "
    "\u201cParRoT++\u201d (only statements that have the same gold label from every "
    "annotator) or \u201cwithout symmetric relations\u201d (ParRoT without statements "
    "that have a symmetric relation).",
)
_OBJECTIVE = Column(
    "objective",
    "objective",
    meaning="The objective that repair maximises: \u201cpaper\u201d, \u201clog-odds\u201d or "
    "\u201cmargin\u201d.",
)
_STAGE = Column(
    "stage",
    "stage",
    meaning="The value \u201cbefore\u201d (beliefs before repair), or the objective that repair "
    "maximises: \u201cpaper\u201d, \u201clog-odds\u201d or \u201cmargin\u201d.",
)
_THING = Column("thing", "thing", meaning="The everyday thing.")
_ANNOTATOR = Column(
    "annotator",
    "annotator",
    meaning="The annotator who drew the thing; empty if nobody drew the thing.",
)
_RELATION = Column(
    "relation", "relation", meaning="The relation that the statement asserts between two parts."
)
_N = Column("n", "n", "count", "The number of statements with a gold label and a known belief.")
_MISSING = Column(
    "missing",
    "no belief",
    "count",
    "The number of statements that have a gold label but no belief. Statements without a belief "
    "are left out of the accuracy.",
)
_ACCURACY = Column(
    "accuracy",
    "accuracy",
    "percent",
    "The share of statements for which the belief agrees with the gold label, among the "
    "statements with a gold label and a known belief.",
    ends=_ENDS,
)
_ALWAYS_TRUE = Column(
    "always_true",
    "always true",
    "percent",
    "The accuracy of a model that always answers true.",
)


def _ends(name: str) -> tuple[str, str]:
    return f"{name}_low", f"{name}_high"


_STATEMENTS = Column("statements", "statements", "count", "The number of statements.")
_VALUE_AND_BOUND = (
    Column(
        "value",
        "value",
        "number",
        "The value of the repair objective (the quantity that the solver maximises) for the "
        "repaired beliefs.",
        shown=False,
    ),
    Column(
        "bound",
        "bound",
        "number",
        "An upper bound on the value of the objective, proven by the solver.",
        shown=False,
    ),
)
_OPTIMAL = (
    "Whether the solver proved that no repair of the beliefs has a better value of the objective."
)
_TURNED = (
    Column(
        "turned_true",
        "turned true",
        "count",
        "The number of statements that are not believed before repair but are true after repair.",
    ),
    Column(
        "turned_false",
        "turned false",
        "count",
        "The number of statements that are believed before repair but are false after repair.",
    ),
    Column(
        "free",
        "free",
        "count",
        "The number of statements that a tie rule decides, because “true” and “false” are "
        "equally good under the objective of repair.",
    ),
)
_COUNTS = (
    Column(
        "violated",
        "violated",
        "count",
        "The number of constraints that are violated by the beliefs.",
    ),
    Column(
        "applicable",
        "applicable",
        "count",
        "The number of applicable constraints; for "
        "example, a transitive constraint is applicable if "
        "both of its premises are believed.",
    ),
    Column(
        "undecided",
        "undecided",
        "count",
        "The number of applicable constraints that are undecided because a belief is missing, and "
        "that are therefore excluded from violation rates.",
        sparse=True,
    ),
)

QUESTIONS = TableSpec(
    "questions",
    "Questions",
    "One row per distinct true-or-false question about a statement, with the model's belief about "
    "the statement.",
    columns=(
        _THING,
        Column("subject", "subject", meaning="The part that is the subject of the statement."),
        _RELATION,
        Column("object", "object", meaning="The part that is the object of the statement."),
        Column("annotator", "annotator", meaning=_ANNOTATOR.meaning, optional=True),
        Column("text", "prompt", meaning="The prompt.", optional=True),
        Column(
            "logprob_true",
            "log P(true)",
            "nats",
            "The log-probability of the answers that mean \u201ctrue\u201d, in nats.",
            optional=True,
        ),
        Column(
            "logprob_false",
            "log P(false)",
            "nats",
            "The log-probability of the answers that mean \u201cfalse\u201d, in nats.",
            optional=True,
        ),
        Column(
            "votes_true",
            "votes true",
            "count",
            "The number of sampled replies with the answer \u201ctrue\u201d.",
            optional=True,
        ),
        Column(
            "votes_false",
            "votes false",
            "count",
            "The number of sampled replies with the answer \u201cfalse\u201d.",
            optional=True,
        ),
        Column(
            "unparsed",
            "unparsed",
            "count",
            "The number of sampled replies that could not be parsed as \u201ctrue\u201d or "
            "\u201cfalse\u201d.",
            optional=True,
        ),
        Column(
            "truncated",
            "truncated",
            "count",
            "The number of unparsed replies that were cut off before the model's reasoning ended.",
            optional=True,
        ),
        Column(
            "p_true",
            "belief",
            "percent",
            "The belief: P(true)/(P(true) + P(false)); with sampled replies, the share of parsed "
            "replies with the answer \u201ctrue\u201d.",
        ),
        Column(
            "low",
            "95 % CI, low",
            "percent",
            "Lower end of the 95 % CI of the belief.",
            optional=True,
        ),
        Column(
            "high",
            "95 % CI, high",
            "percent",
            "Upper end of the 95 % CI of the belief.",
            optional=True,
        ),
        Column(
            "filled",
            "filled in",
            "truth",
            "Whether the belief was missing and therefore replaced by a fixed value that is "
            "defined in the file of the prompt template.",
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
        "discrimination",
        "Share of true, and discrimination between true and false statements",
        "The beliefs before repair. The gold labels of statements with a symmetric relation are "
        "all true, so the main values are those without symmetric relations, where chance is one "
        "half. "
        "The stage \u201ccalibrated\u201d (option --calibrate) counts a statement as true if the "
        "log-odds of the belief exceed the mean log-odds over all questions; the AUROC does not "
        "depend on it.",
        columns=(
            _SET,
            Column(
                "stage",
                "stage",
                meaning="\u201cbefore\u201d: a belief above one half counts as true; "
                "\u201ccalibrated\u201d: a belief above the model's own mean counts as true.",
            ),
            Column(
                "things",
                "things",
                "count",
                "The number of things with statements of the gold label that has fewer things.",
            ),
            Column(
                "statements",
                "statements",
                "count",
                "The number of distinct statements with a known belief.",
            ),
            Column(
                "share_true",
                "true",
                "percent",
                "The share of true among the distinct statements.",
                ends=_ends("share_true"),
            ),
            _N,
            Column(
                "true_if_true",
                "true if gold is true",
                "percent",
                "The share of true among the statements with the gold label true.",
                ends=_ends("true_if_true"),
            ),
            Column(
                "true_if_false",
                "true if gold is false",
                "percent",
                "The share of true among the statements with the gold label false.",
                ends=_ends("true_if_false"),
            ),
            Column(
                "auroc",
                "AUROC",
                "score",
                "The probability that a statement with the gold label true has a higher belief "
                "than a statement with the gold label false.",
                chance=0.5,
                ends=_ends("auroc"),
            ),
            Column(
                "balanced",
                "balanced accuracy",
                "percent",
                "The mean of the accuracy on statements labelled true and the accuracy on "
                "statements labelled false.",
                chance=0.5,
                ends=_ends("balanced"),
            ),
            Column(
                "accuracy",
                "accuracy",
                "percent",
                _ACCURACY.meaning,
                optional=True,
                ends=_ends("accuracy"),
            ),
            Column(
                "violation",
                "violation rate",
                "percent",
                "The share of violated constraints among the constraints that apply, over all "
                "constraint types.",
                optional=True,
                ends=_ends("violation"),
            ),
        ),
        keys=2,
        printed=Layout(
            columns=(
                *("set", "stage", "share_true", "n", "auroc", "balanced"),
                *("accuracy", "violation"),
            )
        ),
    ),
    TableSpec(
        "accuracy",
        "Accuracy (Tables 4 and 6 of Gu et al. 2023)",
        "How often beliefs agree with the gold labels, which follow from the annotators' "
        "drawings. The set \u201cParRoT\u201d contains all labelled statements. The set "
        "\u201cParRoT++\u201d contains only statements that have the same gold label from every "
        "annotator. The set \u201cwithout symmetric relations\u201d contains all labelled "
        "statements except those with the relations \u201cconnects\u201d and \u201cnext "
        "to\u201d. Accuracy is measured before "
        "repair, and after repair with each of the objectives \u201cpaper\u201d, "
        "\u201clog-odds\u201d and \u201cmargin\u201d.",
        columns=(
            _SET,
            Column(
                "gold",
                "gold label",
                meaning="Which statements are included, by their gold label: \u201call\u201d, "
                "\u201ctrue\u201d or \u201cfalse\u201d.",
            ),
            *(_STAGE, _N, _MISSING, _ACCURACY),
        ),
        keys=3,
        printed=Layout({"gold": ("all",)}, columns=("set", "n", "accuracy"), across="stage"),
    ),
    TableSpec(
        "accuracy_baselines",
        "Accuracy of baselines",
        "Baselines that do not use the model: \u201calways true\u201d, \u201calways false\u201d, "
        "and the majority label of each relation. The baselines are measured on the same "
        "statements as the model.",
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
        "Accuracy after repair minus accuracy before repair, on the same statements. The whole "
        "gain is the sum of the parts \u201cshift of the threshold\u201d and "
        "\u201cconsistency\u201d, each of which may be negative. The part \u201cshift of the "
        "threshold\u201d is the accuracy gain of the threshold method. The threshold method "
        "ignores the constraints, and only moves the threshold above which a belief counts as "
        "true. For example, if 10 statements count as true after repair, the threshold method "
        "counts the 10 statements with the highest beliefs as true. The part "
        "\u201cconsistency\u201d is the accuracy gain of repair minus the part "
        "\u201cshift of the threshold\u201d.",
        columns=(
            *(_SET, _OBJECTIVE),
            Column(
                "part",
                "part",
                meaning="“whole”: the accuracy gain; “shift of the threshold” or “consistency”: "
                "one of the two parts whose sum is the accuracy gain.",
            ),
            _N,
            Column(
                "gain",
                "gain, points",
                "points",
                "The accuracy gain, or the part of it that the column “part” names.",
                ends=_ENDS,
            ),
        ),
        keys=3,
        printed=Layout(columns=("set", "part", "n", "gain"), across="objective"),
    ),
    TableSpec(
        "repaired_shuffled",
        "Accuracy of repaired shuffled beliefs",
        "The accuracy that repair reaches without knowledge. The model's beliefs are permuted "
        "among the statements of each drawing, and repaired with the objective \u201cpaper\u201d. "
        "Only the part of the model's accuracy and gain that exceeds these values says something "
        "about the model. The values are means over 20 permutations, with the lowest and the "
        "highest value.",
        columns=(
            *(_SET, _N),
            Column("before", "before repair", "percent", "The accuracy of shuffled beliefs."),
            Column("after", "after repair", "percent", "The accuracy after repair."),
            Column("after_least", "lowest", "percent", "The lowest accuracy after repair."),
            Column("after_most", "highest", "percent", "The highest accuracy after repair."),
            Column("gain", "gain, points", "points", "The accuracy gain of repair."),
            Column("gain_least", "lowest", "points", "The lowest accuracy gain."),
            Column("gain_most", "highest", "points", "The highest accuracy gain."),
        ),
        printed=Layout(),
    ),
    TableSpec(
        "accuracy_at",
        "Share of annotators' drawings for which beliefs reach a minimum accuracy (Figure 3 of Gu "
        "et al. 2023)",
        "A drawing is an annotator's sketch of an everyday thing and its parts. For each "
        "percentage s, the table contains the share of drawings for which at least s % of the "
        "model's beliefs are correct.",
        columns=(
            Column(
                "s",
                "s, %",
                "count",
                "A minimum accuracy s, in per cent. The column \u201cshare\u201d contains the "
                "share of drawings for which the beliefs have at least the accuracy s.",
            ),
            *(
                _STAGE,
                Column(
                    "n",
                    "n",
                    "count",
                    "The number of annotators' drawings for which at least one belief is known.",
                ),
            ),
            Column(
                "share",
                "share",
                "percent",
                "The share of annotators' drawings for which the accuracy of the beliefs is at "
                "least the minimum accuracy in the column “s”.",
                ends=_ENDS,
            ),
            _ALWAYS_TRUE,
        ),
        keys=2,
        shown=False,
    ),
    TableSpec(
        "accuracy_by_relation",
        "Accuracy by relation",
        "For each relation, how often beliefs agree with the gold labels.",
        columns=(_RELATION, _STAGE, _N, _MISSING, _ACCURACY, _ALWAYS_TRUE),
        keys=2,
    ),
    TableSpec(
        "accuracy_by_thing",
        "Accuracy by thing",
        "For each thing, how often beliefs agree with the gold labels. Things are ranked by the "
        "accuracy of the beliefs before repair.",
        columns=(
            *(
                _THING,
                Column(
                    "rank",
                    "rank",
                    "count",
                    "The rank of the thing by accuracy before repair; rank 1 is the best.",
                ),
            ),
            Column(
                "band",
                "band",
                meaning="\u201cbest 20\u201d: the 20 things with the highest accuracy before "
                "repair; \u201cworst 20\u201d: the 20 things with the lowest accuracy "
                "before repair; \u201cmiddle\u201d: all other things. If the model has beliefs "
                "about fewer than 40 things, the best and the worst band each contain half of the "
                "things, rounded down. For 25 things, the best and the "
                "worst band are \u201cbest 12\u201d and \u201cworst 12\u201d.",
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
        "Gold labels are the truth values that follow from an annotator's drawing (sketch) of a "
        "thing. For each drawing, the table shows how often beliefs agree with the gold labels.",
        columns=(
            *(_THING, _ANNOTATOR, _N, _MISSING),
            *(
                Column(
                    stage,
                    "before repair" if stage == "before" else f"repaired: {stage}",
                    "percent",
                    f"The accuracy {'before' if stage == 'before' else 'after'} "
                    f"repair{'' if stage == 'before' else f' with the objective “{stage}”'}.",
                )
                for stage in _STAGES
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "violation",
        "Constraint violations (Table 3 of Gu et al. 2023)",
        "The violation rate: the share of violated constraints among the constraints that apply "
        "to the beliefs. A constraint that depends on a missing belief is undecided and is not "
        "counted in violation rates. Macro: the mean of the violation rates of all constraint "
        "types. Micro: the share of violated constraints among the applicable constraints of "
        "all types together. Columns \u201cshuffled\u201d and \u201calways true\u201d: the "
        "violation rates of two baselines that have no knowledge. A model that always answers "
        "false has no violation rate, because no constraint applies to it. After repair, no "
        "constraint is violated.",
        columns=(
            Column(
                "constraint",
                "constraint",
                meaning="The constraint type, or the value \u201cmacro\u201d or \u201cmicro\u201d.",
            ),
            *(_STAGE, *_COUNTS),
            Column(
                *(
                    "rate",
                    "violation rate",
                    "percent",
                    "The share of violated constraints: violated/(applicable - undecided).",
                ),
                ends=_ENDS,
                chance="shuffled",
            ),
            Column(
                "shuffled",
                "shuffled",
                "percent",
                "The violation rate of shuffled beliefs: the mean over several random permutations "
                "of the model's beliefs within each drawing. Null in rows about repaired beliefs.",
            ),
            Column(
                "always_true",
                "always true",
                "percent",
                "The violation rate of a baseline that believes every statement, except "
                "statements for which the model's belief is unknown. Null in rows about repaired "
                "beliefs.",
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
        "For each annotator's drawing of an everyday thing, the number of constraints that the "
        "model's beliefs violate before repair. The violation rate is the share of violated "
        "constraints among the constraints that apply to the model's beliefs. Constraints are "
        "not counted if a belief that is needed to evaluate them is missing.",
        columns=(
            *(_THING, _ANNOTATOR, _STATEMENTS),
            Column("believed", "believed", "count", "The number of believed statements."),
            *(
                Column(f"{kind}_{count.name}", f"{kind}, {count.heading}", "count", shown=False)
                for kind in _KINDS
                for count in _COUNTS
            ),
            *_COUNTS,
            Column(
                "density",
                "violation rate",
                "percent",
                "The share of violated constraints: violated/(applicable - undecided).",
            ),
            Column(
                "consistent",
                "believed statements\ncan all be true",
                "truth",
                "Whether some assignment of truth values satisfies all constraints and makes "
                "all believed statements true. Statements that the model does not believe may be "
                "true or false in this assignment of truth values. Even if all believed statements "
                "can be true together, the beliefs can violate a constraint. For example, if "
                "statement A implies statement B, and the model believes A but not B, a constraint "
                "is violated, but A and B can both be true.",
            ),
        ),
        keys=2,
    ),
    TableSpec(
        "repair",
        "Repair (section 6 of Gu et al. 2023)",
        "One row per objective of repair (the quantity that the solver maximises). Each row "
        "contains the number of truth values that repair changes. Each row contains the number of "
        "drawings for which the accuracy is higher, equal or lower after repair than before "
        "repair.",
        columns=(
            *(_OBJECTIVE, Column("groups", "drawings", "count", "The number of drawings.")),
            Column(
                "optimal",
                "proven optimal",
                "count",
                "The number of drawings for which the solver proved that the repair is optimal.",
            ),
            *_VALUE_AND_BOUND,
            *_TURNED,
            Column(
                "improved",
                "improved",
                "count",
                "The number of drawings for which the accuracy of the beliefs is higher after "
                "repair than before repair.",
            ),
            Column(
                "same",
                "same",
                "count",
                "The number of drawings for which the accuracy of the beliefs is the same "
                "before and after repair.",
            ),
            Column(
                "worse",
                "worse",
                "count",
                "The number of drawings for which the accuracy of the beliefs is lower after "
                "repair than before repair.",
            ),
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
        "For each objective and each drawing, the number of statements whose truth value is "
        "changed by repair.",
        columns=(
            *(_OBJECTIVE, _THING, _ANNOTATOR, _STATEMENTS),
            Column(
                "missing",
                "no belief",
                "count",
                "The number of statements for which the belief is missing.",
                sparse=True,
            ),
            *_VALUE_AND_BOUND,
            *(Column("optimal", "proven optimal", "truth", _OPTIMAL), *_TURNED),
        ),
        keys=3,
    ),
    TableSpec(
        "agreement",
        "Agreement among annotators (Table 5, appendix C of Gu et al. 2023)",
        "The number of gold labels that follow from the annotators' drawings (sketches) of each "
        "everyday thing. The columns “agreed on” and “contradicted” show how often the "
        "annotators of a thing agree and disagree.",
        columns=(
            *(
                _THING,
                Column(
                    "drawings",
                    "drawings",
                    "count",
                    "The number of annotators' drawings (sketches) of the everyday thing.",
                ),
            ),
            Column(
                "labelled",
                "labels",
                "count",
                "The number of gold labels that follow from the annotators' drawings of the "
                "everyday thing.",
            ),
            Column(
                "distinct",
                "distinct",
                "count",
                "The number of distinct statements with a gold label.",
            ),
            Column(
                "agreed",
                "agreed on",
                "count",
                "The number of distinct statements that have the same label from all annotators.",
            ),
            Column(
                "contradicted",
                "contradicted",
                "count",
                "The number of gold labels that contradict the gold label of another annotator.",
            ),
        ),
    ),
    TableSpec(
        "beliefs",
        "Beliefs",
        "For each statement: the belief, the truth value before repair, the truth value after "
        "repair with each objective, and the gold label.",
        columns=(
            *(_THING, _ANNOTATOR, QUESTIONS.columns[1], _RELATION, QUESTIONS.columns[3]),
            Column(
                "p_true",
                "belief",
                "percent",
                "The model's belief about the statement, as in the table “questions”.",
            ),
            *(
                Column(
                    stage,
                    "before repair" if stage == "before" else f"repaired: {stage}",
                    "truth",
                    "Whether the statement is true "
                    f"{'before' if stage == 'before' else 'after'} repair"
                    f"{'' if stage == 'before' else f' with the objective “{stage}”'}.",
                )
                for stage in _STAGES
            ),
            Column(
                "label",
                "gold label",
                "truth",
                "The gold label: the statement's truth value according to the drawing; null if "
                "there is no label.",
            ),
        ),
        keys=5,
        shown=False,
    ),
)
BY_NAME = {spec.name: spec for spec in TABLES}


def decided(row: Mapping[str, Any]) -> str:
    """Return, as text, the number of constraints known to be violated or satisfied."""
    kind = "applicable and decided constraint" if row["undecided"] else "applicable constraint"
    return several(row["applicable"] - row["undecided"], kind)


_ALL = {"set": "ParRoT", "gold": "all"}
_AGREES = "share of statements for which the belief agrees with the gold label"
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
        "share of violated constraints among the constraints that apply to the model's beliefs; "
        "chance: the same beliefs, randomly shuffled",
        "violation",
        "rate",
        where={"constraint": "micro", "stage": "before"},
        n=decided,
    ),
)
