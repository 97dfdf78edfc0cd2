"""The declarations of the tables of the assumptions probe."""

from __future__ import annotations

from tacit.findings.spec import QUESTIONS, Column, TableSpec

_WORDING = Column(
    "wording", "wording", meaning="How the concept is asked for: sentence or blank-last."
)
_ORDER = Column(
    "order",
    "order",
    meaning="Which properties are stated, the most (top) or the least frequent (bottom), in "
    "decreasing or increasing production frequency; random, or one draw such as random-2-5.",
)
_CATEGORY = Column("category", "category", meaning="The category of the properties; null for all.")
_N = Column("n", "properties", "count", "How many properties the prompt states.")
_CONCEPT = Column("concept", "concept", meaning="The concept, as the norms have it.")
_RELATION = Column("relation", "relation", meaning="The relation of the prompt.")
_PREFACE = Column(
    "preface", "\u201cEveryone knows that\u201d", "truth", "Whether the prompt begins with it."
)
_OVER = Column(
    "over", "candidates", meaning="The words that are ranked: the vocabulary, or sensible ones."
)
_TEXT = Column("text", "prompt", meaning="The prompt.")
_PLACE = Column("place", "place", "count", "Its place among the best candidates, from 1.")
_WORD = Column("word", "word", meaning="The candidate.")
_RANK = Column(
    "rank", "rank", "count", "How many candidates are at least as probable; null if missing."
)
_OF = Column("candidates", "of", "count", "How many candidates were ranked.")
_LOGPROB = Column("logprob", "log-probability (nats)", "nats", "The word's log-probability.")
_RENORMALISED = Column(
    "renormalised", "among candidates (nats)", "nats", "Its log-probability among the candidates."
)
_PROMPTS = Column("prompts", "prompts", "count", "How many prompts the figure is over.")


def _mean(name: str, heading: str, meaning: str, kind: str = "score", **more: str) -> Column:
    """Return a column for a mean with its interval in ``_low`` and ``_high``."""
    ends = (f"{name}_low", f"{name}_high")
    return Column(name, heading, kind, meaning, ends, **more)  # type: ignore[arg-type] # a Kind


ASKED = TableSpec(
    QUESTIONS,
    "Prompts",
    "Each text and vocabulary once.",
    keys=2,
    columns=(
        Column("text", "prompt", meaning="The text whose vocabulary is ranked."),
        Column("words", "words", "count", "How many words the vocabulary has."),
        Column("normaliser", "normaliser (nats)", "nats", "The log of all candidates' sum."),
        Column("several", "several tokens", "count", "Candidates of more than one token."),
        Column("missing", "missing", "count", "Candidates that the model cannot write."),
        Column("top", "best candidates", "list", "The best candidates, each with its nats."),
    ),
    shown=False,
)
RETRIEVAL = TableSpec(
    "retrieval",
    "Which concept has these properties?",
    "Where the concept stands among the candidates, a row per prompt.",
    keys=7,
    columns=(
        *(_WORDING, _ORDER, _CATEGORY, _CONCEPT),
        Column("word", "word", meaning="The word that is right."),
        *(_N, _TEXT, _RANK, _OF, _LOGPROB, _RENORMALISED),
        Column("tokens", "tokens", "count", "How many tokens the word has."),
    ),
    shown=False,
)
RETRIEVAL_TOP = TableSpec(
    "retrieval_top",
    "Its best candidates",
    "The best candidates of each prompt in the order of Figure 2.",
    keys=4,
    columns=(*(_CONCEPT, _N, _WORDING, _PLACE, _WORD, _LOGPROB, _RENORMALISED),),
    shown=False,
)
RETRIEVAL_SCORES = TableSpec(
    "retrieval_scores",
    "Every concept's score",
    "Every concept's word in each prompt of Figure 2: ranks among any of them follow from these.",
    keys=4,
    columns=(
        *(_WORDING, _CONCEPT, _N),
        Column("word", "word", meaning="The word of one of the concepts."),
        _LOGPROB,
    ),
    shown=False,
)
ELICITATION = TableSpec(
    "elicitation",
    "What do people say of it?",
    "Where each response of people stands among the candidates.",
    keys=6,
    columns=(
        *(_CONCEPT, _RELATION, _PREFACE, _TEXT, _OVER),
        Column("word", "people's word", meaning="The response."),
        Column("frequency", "people", "count", "How many people gave it."),
        Column("spelling", "spelling", meaning="The spelling that is ranked; null if absent."),
        *(_RANK, _OF, _LOGPROB),
    ),
    shown=False,
)
ELICITATION_TOP = TableSpec(
    "elicitation_top",
    "What the model says first",
    "The best candidates of each prompt.",
    keys=5,
    columns=(_CONCEPT, _RELATION, _PREFACE, _OVER, _PLACE, _WORD, _LOGPROB),
    shown=False,
)
PRINCE = TableSpec(
    "prince",
    "Prince's examples (Table 3)",
    "The best candidates; hers: the word stands in her paper.",
    keys=4,
    columns=(
        _CONCEPT,
        Column(
            "part", "part", meaning="The concept, or the relation that is asked for.", shown=False
        ),
        Column("text", "text", meaning="The prompt."),
        _PLACE,
        *(_WORD, _LOGPROB),
        Column("target", "hers", "truth", "Whether the word is one of Prince's own."),
    ),
)
CANDIDATES = TableSpec(
    "candidates",
    "Sets of candidates",
    "Ranks of two runs are comparable where both have the same words and miss none.",
    keys=3,
    columns=(
        Column("part", "part", meaning="Retrieval or elicitation."),
        Column("of", "of", meaning="The wording; of elicitation, vocabulary or sensible."),
        Column("relation", "relation", meaning="The relation; null for retrieval."),
        Column("words", "words", "count", "How many words compete."),
        Column("missing", "missing", "count", "The most that the model cannot write."),
        Column("digest", "digest", meaning="SHA-256 of the words."),
    ),
    shown=False,
)
RETRIEVAL_BY_NUMBER = TableSpec(
    "retrieval_by_number",
    "Concept retrieval (Figures 2 and 3)",
    "By how many properties are stated, in which order, of which category (none: of all). "
    "Missing: concepts that the model cannot write. Chance: the MRR of random ranks among "
    "the candidates; ranks among other candidates are not comparable.",
    keys=4,
    columns=(
        *(_WORDING, _ORDER, _CATEGORY, _N),
        Column("concepts", "concepts", "count", "How many concepts have a rank."),
        Column("missing", "missing", "count", "How many concepts the model cannot write."),
        _mean("mrr", "MRR", "The mean of 1/rank.", chance="chance_mrr"),
        Column("candidates", "candidates", "count", "The most candidates that were ranked."),
        Column("chance_mrr", "chance", "score", "The MRR of random ranks among them."),
        _mean("probability", "probability", "The mean probability of the right word.", "percent"),
        _mean(
            "renormalised",
            "among candidates",
            "Its mean probability among the candidates alone.",
            "percent",
        ),
        _mean("first", "first", "The share of concepts with rank 1.", "percent"),
    ),
)
ELICITATION_BY_RELATION = TableSpec(
    "elicitation_by_relation",
    "Properties elicited (Table 2)",
    "Mean average precision over prompts; absent: people's words that are no candidate; "
    "without: prompts left out because none of their words is. Chance: the mAP of random "
    "rankings of so many words.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE, _OVER),
        Column("prompts", "prompts", "count", "How many prompts have a ranked response."),
        _mean("map", "mAP", "The mean of their average precisions.", chance="chance_map"),
        Column("candidates", "words", "count", "The most candidates of a prompt."),
        Column("chance_map", "chance", "score", "The mAP of random rankings of the candidates."),
        Column("absent", "absent", "count", "How many responses no candidate spells."),
        Column(
            "missing", "missing", "count", "Responses that the model cannot write.", shown=False
        ),
        Column("without", "without", "count", "Prompts without a ranked response, left out."),
    ),
)
AGREEMENT = TableSpec(
    "agreement",
    "Agreement with people (Table 2)",
    "Spearman's rho between how many people named a word and its log-probability.",
    keys=2,
    columns=(
        *(_RELATION, _PREFACE),
        Column("prompts", "prompts", "count", "How many prompts there are.", shown=False),
        Column("used", "prompts", "count", "How many prompts have a rho."),
        _mean("spearman", "rho", "The mean of the prompts' rho."),
        Column(
            "too_few", "too few words", "count", "Prompts with fewer than three ranked responses."
        ),
        Column("constant", "all tied", "count", "Prompts with one side constant."),
    ),
)
ABLATION = TableSpec(
    "ablation",
    "With and without \u201cEveryone knows that\u201d",
    "The same prompts both ways, paired.",
    keys=2,
    columns=(
        _RELATION,
        Column("measure", "measure", meaning="map vocabulary, map sensible or spearman."),
        Column("prompts", "prompts", "count", "How many prompts have it both ways."),
        Column("with_preface", "with", "score", "Its mean with the preface."),
        Column("without_preface", "without", "score", "Its mean without the preface."),
        Column("difference", "difference", "score", "Without less with.", ("low", "high")),
    ),
)
FAVOURED = TableSpec(
    "favoured",
    "Favoured words",
    "How often a word is the first of all, and how often people said it there.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE),
        Column("word", "word", meaning="A word among the first five of a prompt."),
        _PROMPTS,
        Column("first", "first", "count", "At how many prompts it stands first."),
        Column("share", "share first", "percent", "The share of those prompts."),
        Column("right", "right", "count", "How often people named it where it stands first."),
        Column("in_top5", "in the first 5", "count", "At how many prompts it is among them."),
        Column(
            "probability",
            "mean probability",
            "percent",
            "Its mean probability over the prompts among whose kept best it is.",
        ),
        Column("stored", "stored", "count", "How many prompts these are.", shown=False),
    ),
)
VOCABULARY = TableSpec(
    "vocabulary",
    "Vocabulary",
    "The words of the model, and the candidates.",
    columns=(
        Column("word", "word", meaning="The word."),
        Column("own", "own", "truth", "Whether it is one token of the model."),
        Column("shared", "shared", "truth", "Whether all models compared have it."),
        Column("candidate", "candidate", "truth", "Whether it is a candidate of retrieval."),
    ),
    shown=False,
)
LEFT_OUT = TableSpec(
    "left_out",
    "Concepts that are left out",
    "What is not asked about, by the filter that removed it.",
    keys=2,
    columns=(
        Column("filter", "filter", meaning="The filter that removed it."),
        Column("concept", "concept", meaning="The concept, as the norms have it.", shown=False),
    ),
    shown=False,
)
CATEGORIES = TableSpec(
    "categories",
    "Properties by category",
    "Of the norms: perceptual and non-perceptual ones together stand last.",
    columns=(
        Column("category", "category", meaning="The category."),
        Column("properties", "properties", "count", "How many distinct properties it has."),
        Column(
            "concepts_per_property",
            "concepts per property",
            "number",
            "How many concepts share one on average.",
        ),
        Column("usable", "concepts", "count", "How many concepts have one or more."),
    ),
    shown=False,
)
CATEGORY_COUNTS = TableSpec(
    "category_counts",
    "Concepts by category and number",
    "How many concepts have at least so many properties of a category.",
    keys=2,
    columns=(
        Column("category", "category", meaning="The category."),
        Column("n", "properties", "count", "At least so many."),
        Column("concepts", "concepts", "count", "How many concepts have them."),
    ),
    shown=False,
)

TABLES = (
    *(RETRIEVAL_BY_NUMBER, ELICITATION_BY_RELATION, AGREEMENT, ABLATION, FAVOURED, PRINCE),
    *(ASKED, RETRIEVAL, RETRIEVAL_TOP, RETRIEVAL_SCORES, ELICITATION, ELICITATION_TOP),
    *(CANDIDATES, VOCABULARY, LEFT_OUT, CATEGORIES, CATEGORY_COUNTS),
)
"""Every table of a run, in the order of the report."""
