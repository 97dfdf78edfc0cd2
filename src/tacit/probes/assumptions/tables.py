"""Declarations of the tables of the assumptions probe."""

from __future__ import annotations

from tacit.findings.spec import QUESTIONS, Column, TableSpec

_WORDING = Column(
    "wording",
    "wording",
    meaning="The wording of the prompt: \u201csentence\u201d or \u201cblank-last\u201d.",
)
_ORDER = Column(
    "order",
    "order",
    meaning="Which properties the prompt states (\u201ctop\u201d: the most frequent; "
    "\u201cbottom\u201d: the least frequent), and in which order (by decreasing or increasing "
    "production frequency). In a row with the value \u201crandom\u201d, results are means over "
    "the random orders of a concept; a value such as \u201crandom-2-5\u201d stands for one "
    "random order.",
)
_CATEGORY = Column(
    "category",
    "category",
    meaning="The category of the stated properties; null if properties of all categories are "
    "stated.",
)
_N = Column("n", "properties", "count", "The number of properties that the prompt states.")
_CONCEPT = Column("concept", "concept", meaning="The concept, spelled as in the norms.")
_RELATION = Column("relation", "relation", meaning="The relation of the prompt.")
_PREFACE = Column(
    "preface",
    "\u201cEveryone knows that\u201d",
    "truth",
    "Whether the prompt begins with \u201cEveryone knows that\u201d.",
)
_OVER = Column(
    "over",
    "candidates",
    meaning="The set of ranked words: \u201cvocabulary\u201d (all words) or \u201csensible\u201d "
    "(only words with which people completed the relation, whatever the concept).",
)
_TEXT = Column("text", "prompt", meaning="The prompt.")
_PLACE = Column("place", "place", "count", "The candidate's rank, from 1.")
_WORD = Column("word", "word", meaning="The candidate.")
_RANK = Column(
    "rank",
    "rank",
    "count",
    "The number of candidates that are at least as probable as the target word, including the "
    "target word itself. Null if the target word is not a candidate, or cannot be encoded by the "
    "tokenizer.",
)
_OF = Column("candidates", "candidates", "count", "The number of ranked candidates.")
_LOGPROB = Column("logprob", "log-probability (nats)", "nats", "The word's log-probability.")
_RENORMALISED = Column(
    "renormalised",
    "among candidates (nats)",
    "nats",
    "The log-probability of the word, if the probabilities of all candidates are scaled to sum "
    "to 1.",
)
_PROMPTS = Column("prompts", "prompts", "count", "The number of prompts.")


def _mean(name: str, heading: str, meaning: str, kind: str = "score", **more: str) -> Column:
    """Return a column for a mean; its interval columns end in ``_low`` and ``_high``."""
    ends = (f"{name}_low", f"{name}_high")
    return Column(name, heading, kind, meaning, ends, **more)  # type: ignore[arg-type] # a Kind


ASKED = TableSpec(
    QUESTIONS,
    "Prompts",
    "One row per ranking. Each ranking sorts one vocabulary for one prompt.",
    keys=2,
    columns=(
        Column("text", "prompt", meaning="The prompt of the ranking."),
        Column("words", "words", "count", "The size of the vocabulary."),
        Column(
            "normaliser",
            "normaliser (nats)",
            "nats",
            "The logarithm of the total probability of all candidates.",
        ),
        Column(
            "several",
            "several tokens",
            "count",
            "The number of candidates that have more than one token.",
        ),
        Column(
            "missing",
            "missing",
            "count",
            "The number of candidates that the tokenizer cannot encode.",
        ),
        Column(
            "top",
            "best candidates",
            "list",
            "The most probable candidates, each with its log-probability in nats.",
        ),
    ),
    shown=False,
)
RETRIEVAL = TableSpec(
    "retrieval",
    "Which concept has these properties?",
    "One row per prompt, with the rank of the concept among the candidates.",
    keys=7,
    columns=(
        *(_WORDING, _ORDER, _CATEGORY, _CONCEPT),
        Column("word", "word", meaning="The correct word."),
        *(_N, _TEXT, _RANK, _OF, _LOGPROB, _RENORMALISED),
        Column("tokens", "tokens", "count", "The number of tokens of the concept's word."),
    ),
    shown=False,
)
RETRIEVAL_TOP = TableSpec(
    "retrieval_top",
    "Best candidates of retrieval",
    "The most probable candidates of each prompt of Figure 2 of Weir et al. 2020. These prompts "
    "state the most frequent properties first.",
    keys=4,
    columns=(*(_CONCEPT, _N, _WORDING, _PLACE, _WORD, _LOGPROB, _RENORMALISED),),
    shown=False,
)
RETRIEVAL_SCORES = TableSpec(
    "retrieval_scores",
    "Scores of all concepts",
    "The log-probability of every concept's word in each prompt of Figure 2 of Weir et al. 2020. "
    "Ranks among any subset of the concepts can be computed from these log-probabilities.",
    keys=4,
    columns=(
        *(_WORDING, _CONCEPT, _N),
        Column("word", "word", meaning="The word of one of the ranked concepts."),
        _LOGPROB,
    ),
    shown=False,
)
ELICITATION = TableSpec(
    "elicitation",
    "People's responses and their ranks",
    "One row per response that people gave, with its rank among the candidates.",
    keys=6,
    columns=(
        *(_CONCEPT, _RELATION, _PREFACE, _TEXT, _OVER),
        Column("word", "response", meaning="The response."),
        Column("frequency", "people", "count", "The number of people who gave the response."),
        Column(
            "spelling",
            "spelling",
            meaning="The spelling with which the response is ranked; null if no spelling is a "
            "candidate.",
        ),
        *(_RANK, _OF, _LOGPROB),
    ),
    shown=False,
)
ELICITATION_TOP = TableSpec(
    "elicitation_top",
    "Best candidates of elicitation",
    "The most probable candidates of each elicitation prompt.",
    keys=5,
    columns=(_CONCEPT, _RELATION, _PREFACE, _OVER, _PLACE, _WORD, _LOGPROB),
    shown=False,
)
PRINCE = TableSpec(
    "prince",
    "Prince's examples (Table 3 of Weir et al. 2020)",
    "The most probable candidates for Prince's prompts in Table 3 of Weir et al. 2020. Column "
    "\u201cPrince's\u201d: whether the word is one of the words that Prince lists for the prompt.",
    keys=4,
    columns=(
        _CONCEPT,
        Column(
            "part",
            "part",
            meaning="The concept or the relation that the prompt is about.",
            shown=False,
        ),
        Column("text", "text", meaning="The prompt."),
        _PLACE,
        *(_WORD, _LOGPROB),
        Column("target", "Prince's", "truth", "Whether Prince lists the word."),
    ),
)
CANDIDATES = TableSpec(
    "candidates",
    "Sets of candidates",
    "Ranks of two runs are comparable if two conditions hold: both runs have the same "
    "candidates, and no candidate lacks a score.",
    keys=3,
    columns=(
        Column("part", "part", meaning="Retrieval or elicitation."),
        Column(
            "of",
            "of",
            meaning="In retrieval, the wording of the prompts; in elicitation, the set of "
            "candidates (vocabulary or sensible).",
        ),
        Column("relation", "relation", meaning="The relation; null for retrieval."),
        Column("words", "words", "count", "The number of candidates."),
        Column(
            "missing",
            "missing",
            "count",
            "The number of candidates that the tokenizer cannot encode. If prompts differ in "
            "this number, the largest number is given.",
        ),
        Column("digest", "digest", meaning="SHA-256 of the words."),
    ),
    shown=False,
)
RETRIEVAL_BY_NUMBER = TableSpec(
    "retrieval_by_number",
    "Concept retrieval (Figures 2 and 3 of Weir et al. 2020)",
    "One row per number, order and category of the stated properties. In rows without a "
    "category, the prompts state properties of any category. Missing: the number of concepts "
    "that cannot be encoded by the tokenizer. Chance: the MRR of random ranks among the "
    "candidates. Ranks among different sets of candidates are not comparable.",
    keys=4,
    columns=(
        *(_WORDING, _ORDER, _CATEGORY, _N),
        Column("concepts", "concepts", "count", "How many concepts have a defined rank."),
        Column(
            "missing",
            "missing",
            "count",
            "The number of concepts that the tokenizer cannot encode.",
        ),
        _mean("mrr", "MRR", "The mean of 1/rank.", chance="chance_mrr"),
        Column(
            "candidates",
            "candidates",
            "count",
            "The number of ranked candidates. If prompts differ in this number, the largest "
            "number is given.",
        ),
        Column("chance_mrr", "chance", "score", "The MRR of random ranks among the candidates."),
        _mean(
            "probability", "probability", "The mean probability of the concept's word.", "percent"
        ),
        _mean(
            "renormalised",
            "among candidates",
            "The mean probability of the correct word, normalised over the candidates only.",
            "percent",
        ),
        _mean("first", "first", "The share of concepts that rank first.", "percent"),
    ),
)
ELICITATION_BY_RELATION = TableSpec(
    "elicitation_by_relation",
    "Properties elicited (Table 2 of Weir et al. 2020)",
    "Mean average precision over prompts. Absent: the number of people's responses that are not "
    "candidates. Without: the number of prompts without a ranked response, which are left out. "
    "Chance: the mAP of random rankings of the candidates.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE, _OVER),
        Column(
            "prompts",
            "prompts",
            "count",
            "The number of prompts with at least one ranked response.",
        ),
        _mean(
            "map",
            "mAP",
            "The mean of the average precision over these prompts.",
            chance="chance_map",
        ),
        Column(
            "candidates",
            "words",
            "count",
            "The number of ranked candidates. If prompts differ in this number, the largest "
            "number is given.",
        ),
        Column("chance_map", "chance", "score", "The mAP if the candidates were ranked at random."),
        Column(
            "absent",
            "absent",
            "count",
            "The number of responses that are not candidates in any spelling.",
        ),
        Column(
            "missing",
            "missing",
            "count",
            "The number of responses that the tokenizer cannot encode.",
            shown=False,
        ),
        Column(
            "without",
            "without",
            "count",
            "The number of prompts without a ranked response, which are left out.",
        ),
    ),
)
AGREEMENT = TableSpec(
    "agreement",
    "Agreement with people (Table 2 of Weir et al. 2020)",
    "Spearman's rank correlation (rho) over the responses to a prompt, between production "
    "frequency and log-probability.",
    keys=2,
    columns=(
        *(_RELATION, _PREFACE),
        Column("prompts", "prompts", "count", "The number of prompts.", shown=False),
        Column("used", "prompts", "count", "The number of prompts for which rho is defined."),
        _mean("spearman", "rho", "The mean rho over these prompts."),
        Column(
            "too_few",
            "too few words",
            "count",
            "The number of prompts with fewer than three ranked responses.",
        ),
        Column(
            "constant",
            "constant",
            "count",
            "The number of prompts for which all responses have the same frequency or the same "
            "probability.",
        ),
    ),
)
ABLATION = TableSpec(
    "ablation",
    "With and without \u201cEveryone knows that\u201d",
    "Each measure for prompts with the preface \u201cEveryone knows that\u201d and for the same "
    "prompts without the preface, and the paired difference.",
    keys=2,
    columns=(
        _RELATION,
        Column(
            "measure",
            "measure",
            meaning="The name of the measure: \u201cmap vocabulary\u201d, \u201cmap "
            "sensible\u201d or \u201cspearman\u201d.",
        ),
        Column(
            "prompts",
            "prompts",
            "count",
            "The number of prompts for which the measure is defined both with and without "
            "the preface \u201cEveryone knows that\u201d.",
        ),
        Column(
            "with_preface",
            "with",
            "score",
            "The mean of the measure over prompts with the preface \u201cEveryone knows "
            "that\u201d.",
        ),
        Column(
            "without_preface",
            "without",
            "score",
            "The mean of the measure over prompts without the preface \u201cEveryone knows "
            "that\u201d.",
        ),
        Column(
            "difference",
            "difference",
            "score",
            "The mean without the preface \u201cEveryone knows that\u201d minus the mean with the "
            "preface.",
            ("low", "high"),
        ),
    ),
)
FAVOURED = TableSpec(
    "favoured",
    "Favoured words",
    "How often each word ranks first, and how often the word then is one of people's responses.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE),
        Column(
            "word",
            "word",
            meaning="A word that is among the first five candidates of at least one prompt.",
        ),
        _PROMPTS,
        Column("first", "first", "count", "The number of prompts in which the word ranks first."),
        Column(
            "share", "share first", "percent", "The share of prompts in which the word ranks first."
        ),
        Column(
            "right",
            "correct",
            "count",
            "The number of prompts for which the word ranks first and also is one of people's "
            "responses.",
        ),
        Column(
            "in_top5",
            "in the first 5",
            "count",
            "The number of prompts in which the word is among the first five candidates.",
        ),
        Column(
            "probability",
            "mean probability",
            "percent",
            "The mean probability of the word, over the prompts for which the word is a stored "
            "candidate.",
        ),
        Column(
            "stored",
            "stored",
            "count",
            "The number of prompts for which the word is a stored candidate.",
            shown=False,
        ),
    ),
)
VOCABULARY = TableSpec(
    "vocabulary",
    "Vocabulary",
    "For each word: whether the word is a single token of the model, and whether the word is a "
    "candidate in retrieval.",
    columns=(
        Column("word", "word", meaning="The word."),
        Column("own", "own", "truth", "Whether the word is a single token of the model."),
        Column(
            "shared",
            "shared",
            "truth",
            "Whether the word is a single token in all models of the run.",
        ),
        Column("candidate", "candidate", "truth", "Whether the word is a candidate in retrieval."),
    ),
    shown=False,
)
LEFT_OUT = TableSpec(
    "left_out",
    "Concepts left out",
    "The concepts without prompts. Each concept is listed with the filter that removed it.",
    keys=2,
    columns=(
        Column("filter", "filter", meaning="The name of the filter that removed the concept."),
        Column("concept", "concept", meaning="The concept, spelled as in the norms.", shown=False),
    ),
    shown=False,
)
CATEGORIES = TableSpec(
    "categories",
    "Properties by category",
    "The number of properties of the norms, by category. Of the last two rows, one pools all "
    "perceptual categories, and the other pools all non-perceptual categories.",
    columns=(
        Column("category", "category", meaning="The category."),
        Column("properties", "properties", "count", "The number of distinct properties."),
        Column(
            "concepts_per_property",
            "concepts per property",
            "number",
            "The number of concepts that have a property, averaged over the properties of the "
            "category.",
        ),
        Column(
            "usable",
            "concepts",
            "count",
            "The number of concepts with at least one property of the category.",
        ),
    ),
    shown=False,
)
CATEGORY_COUNTS = TableSpec(
    "category_counts",
    "Concepts by category and number",
    "For each category and each number n: the number of concepts that have at least n properties "
    "of the category.",
    keys=2,
    columns=(
        Column("category", "category", meaning="The category."),
        Column("n", "properties", "count", "The minimum number of properties."),
        Column(
            "concepts",
            "concepts",
            "count",
            "The number of concepts with at least n properties of the category.",
        ),
    ),
    shown=False,
)

TABLES = (
    *(RETRIEVAL_BY_NUMBER, ELICITATION_BY_RELATION, AGREEMENT, ABLATION, FAVOURED, PRINCE),
    *(ASKED, RETRIEVAL, RETRIEVAL_TOP, RETRIEVAL_SCORES, ELICITATION, ELICITATION_TOP),
    *(CANDIDATES, VOCABULARY, LEFT_OUT, CATEGORIES, CATEGORY_COUNTS),
)
"""Every table of a run, in the order of the report."""
