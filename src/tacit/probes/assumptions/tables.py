"""The tables of the assumptions probe, declared in ``data/tables/assumptions.yaml``."""

from tacit.findings.declared import Tables
from tacit.findings.display import Headline

TABLES = Tables("assumptions")
DETAILS = Tables("assumptions", "details")

MAIN = "top-decreasing"
"""The order of properties that Weir et al. (2020) use in Figures 1, 2 and 3a."""

NUMBERS = (1, 4, 10)
"""The numbers of properties per prompt for which main results are reported."""

_RETRIEVED = {"category": None, "order": MAIN, "n": NUMBERS}
HEADLINES = (
    Headline(
        "Mean reciprocal rank",
        "of the concept's word, by number of properties in the prompt",
        "retrieval_by_number",
        "mrr",
        where=_RETRIEVED,
        n=("concepts", "concept"),
        by=("wording", "n"),
        among=("candidates", "candidate"),
        best=1.0,
    ),
    Headline(
        "Mean average precision",
        "of the properties that people name, among all words, by relation",
        "elicitation_by_relation",
        "map",
        where={"preface": True, "over": "vocabulary"},
        n=("prompts", "prompt"),
        by=("relation",),
        among=("candidates", "candidate"),
        best=1.0,
    ),
    Headline(
        "Probability",
        "probability of the correct word, by number of properties in the prompt; a causal model "
        "that scores whole sentences has none",
        "retrieval_by_number",
        "probability",
        where=_RETRIEVED,
        n=("concepts", "concept"),
        by=("wording", "n"),
        best=1.0,
    ),
)
