"""Declarations of the tables of the assumptions probe."""

from __future__ import annotations

from tacit.findings.spec import QUESTIONS, Column, TableSpec

_WORDING = Column(
    "wording",
    "wording",
    meaning="The wording of the prompt: \u201csentence\u201d (such as \u201cA ___ has "
    "fur.\u201d) or \u201cblank-last\u201d (such as \u201cSomething that has fur is "
    "called a ___\u201d).",
)
_ORDER = Column(
    "order",
    "order",
    meaning="The selection and the order of the properties in the prompt. \u201ctop\u201d: the "
    "properties with the highest production frequency; \u201cbottom\u201d: the "
    "properties with the lowest production frequency. \u201cdecreasing\u201d or "
    "\u201cincreasing\u201d: how the production frequency changes from the first to the "
    "last property in the prompt. \u201crandom\u201d: the row contains means over all "
    "random orders of a concept's properties; \u201crandom-2-5\u201d: the fifth random "
    "order of the second random selection of properties.",
)
_CATEGORY = Column(
    "category",
    "category",
    meaning="The category to which all properties in the prompt belong; null if the properties "
    "were selected from all categories.",
)
_N = Column("n", "properties", "count", "The number of properties in the prompt.")
_CONCEPT = Column("concept", "concept", meaning="The concept, spelled as in the feature norms.")
_RELATION = Column(
    "relation",
    "relation",
    meaning="The relation between the concept and its properties, such as “has”.",
)
_PREFACE = Column(
    "preface",
    "\u201cEveryone knows that\u201d",
    "truth",
    "Whether the prompt begins with \u201cEveryone knows that\u201d.",
)
_OVER = Column(
    "over",
    "candidates",
    meaning="The set of candidate words: \u201cvocabulary\u201d (all words) or "
    "\u201csensible\u201d (only words that are people's responses to at least one prompt with the "
    "relation).",
)
_TEXT = Column("text", "prompt", meaning="The prompt.")
_PLACE = Column(
    "place", "place", "count", "The candidate's rank; the most probable candidate has rank 1."
)
_WORD = Column("word", "word", meaning="The candidate.")
_RANK = Column(
    "rank",
    "rank",
    "count",
    "The number of candidates that are at least as probable as the target word, including the "
    "target word itself. Null if the target word is not a candidate or if the tokenizer cannot "
    "encode the target word.",
)
_OF = Column("candidates", "candidates", "count", "The number of ranked candidates.")
_LOGPROB = Column("logprob", "log-probability (nats)", "nats", "The word's log-probability.")
_RENORMALISED = Column(
    "renormalised",
    "among candidates (nats)",
    "nats",
    "The log-probability of the word among the candidates, after the probabilities of all "
    "candidates are scaled so that they sum to 1.",
)
_PROMPTS = Column("prompts", "prompts", "count", "The number of prompts.")


def _mean(name: str, heading: str, meaning: str, kind: str = "score", **more: str) -> Column:
    """Declare the column of a mean, with the ends of its CI in ``*_low`` and ``*_high``."""
    ends = (f"{name}_low", f"{name}_high")
    return Column(name, heading, kind, meaning, ends, **more)  # type: ignore[arg-type] # a Kind


ASKED = TableSpec(
    QUESTIONS,
    "Prompts",
    "One row per combination of a prompt and a list of words that are ranked as completions of "
    "the prompt.",
    keys=2,
    columns=(
        Column("text", "prompt", meaning="The prompt that the candidates complete."),
        Column("words", "words", "count", "The number of words in the vocabulary."),
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
    "Retrieval prompts and the rank of the correct concept",
    "One row per retrieval prompt, with the rank of the correct concept among the candidates.",
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
    "The most probable candidates for each retrieval prompt whose properties are selected and "
    "ordered as in Figure 2 of Weir et al. 2020. Each prompt in this table states the concept's "
    "n most frequently produced properties, whatever their category, in decreasing order of "
    "production frequency.",
    keys=4,
    columns=(*(_CONCEPT, _N, _WORDING, _PLACE, _WORD, _LOGPROB, _RENORMALISED),),
    shown=False,
)
RETRIEVAL_SCORES = TableSpec(
    "retrieval_scores",
    "Scores of all concepts",
    "The log-probability of every concept's word, for each retrieval prompt whose properties "
    "are selected and ordered as in Figure 2 of Weir et al. 2020. Each prompt in this table "
    "states the concept's n most frequently produced properties, whatever their category, in "
    "decreasing order of production frequency. The log-probabilities in this table can be used "
    "to rank the words of any subset of the concepts.",
    keys=4,
    columns=(
        *(_WORDING, _CONCEPT, _N),
        Column("word", "word", meaning="A candidate word, which names a concept."),
        _LOGPROB,
    ),
    shown=False,
)
ELICITATION = TableSpec(
    "elicitation",
    "People's responses and their ranks",
    "One row per response that people gave, with the rank of the response among the candidates.",
    keys=6,
    columns=(
        *(_CONCEPT, _RELATION, _PREFACE, _TEXT, _OVER),
        Column("word", "response", meaning="The response."),
        Column("frequency", "people", "count", "The number of people who gave the response."),
        Column(
            "spelling",
            "spelling",
            meaning="The spelling with which the response is ranked among the candidates; null if "
            "no spelling of the response is a candidate.",
        ),
        *(_RANK, _OF, _LOGPROB),
    ),
    shown=False,
)
ELICITATION_TOP = TableSpec(
    "elicitation_top",
    "Best candidates for each elicitation prompt",
    "The most probable candidates for each elicitation prompt.",
    keys=5,
    columns=(_CONCEPT, _RELATION, _PREFACE, _OVER, _PLACE, _WORD, _LOGPROB),
    shown=False,
)
PRINCE = TableSpec(
    "prince",
    "Ellen Prince's examples of tacit assumptions (Table 3 of Weir et al. 2020)",
    "For each prompt in Table 3 of Weir et al. 2020: the most probable candidates, and the "
    "words that the linguist Ellen Prince gives in her example. The column \u201cPrince's\u201d "
    "shows whether the candidate is a word in Ellen Prince's example on which the prompt is "
    "based.",
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
        Column(
            "target",
            "Prince's",
            "truth",
            "Whether the linguist Ellen Prince gives the candidate in the example from which the "
            "prompt is taken.",
        ),
    ),
)
CANDIDATES = TableSpec(
    "candidates",
    "Sets of candidates",
    "The sets of candidate words that the model ranked in retrieval and in elicitation. The "
    "ranks of two runs are comparable if both runs have the same candidates and every candidate "
    "has a score.",
    keys=3,
    columns=(
        Column("part", "part", meaning="Retrieval or elicitation."),
        Column(
            "of",
            "of",
            meaning="In retrieval, the wording of the prompts; in elicitation, the set of "
            "candidates: “vocabulary” (all words) or “sensible” (only words that are "
            "people's responses).",
        ),
        Column(
            "relation",
            "relation",
            meaning="The relation between the concept and its properties in elicitation, such "
            "as “has”; null for retrieval.",
        ),
        Column("words", "words", "count", "The number of candidates."),
        Column(
            "missing",
            "missing",
            "count",
            "The number of candidates that the tokenizer cannot encode; if this number differs "
            "between prompts, the largest number.",
        ),
        Column("digest", "digest", meaning="SHA-256 of the words."),
    ),
    shown=False,
)
RETRIEVAL_BY_NUMBER = TableSpec(
    "retrieval_by_number",
    "Concept retrieval (Figures 2 and 3 of Weir et al. 2020)",
    "One row per combination of prompt wording, order of properties, category of properties and "
    "number of properties. In rows without a category, the properties in the prompts were "
    "selected from all categories. Column \u201cMRR\u201d: the mean reciprocal rank of the "
    "concept's word. Column \u201cmissing\u201d: the number of concepts whose word the "
    "tokenizer cannot encode. Column \u201cchance\u201d: the MRR if the candidates were ranked "
    "at random. Ranks among different sets of candidates are not comparable.",
    keys=4,
    columns=(
        *(_WORDING, _ORDER, _CATEGORY, _N),
        Column(
            "concepts",
            "concepts",
            "count",
            "The number of concepts whose word is one of the ranked candidates. A word that the "
            "tokenizer cannot encode is not ranked.",
        ),
        Column(
            "missing",
            "missing",
            "count",
            "The number of concepts whose word the tokenizer cannot encode.",
        ),
        _mean(
            "mrr",
            "MRR",
            "The mean reciprocal rank (MRR) of the concept's word: the mean of 1/rank.",
            chance="chance_mrr",
        ),
        Column(
            "candidates",
            "candidates",
            "count",
            "The number of ranked candidates; if prompts have different numbers of candidates, the "
            "largest number.",
        ),
        Column("chance_mrr", "chance", "score", "The MRR if the candidates were ranked at random."),
        *(
            Column(
                f"chance_mrr_{end}",
                f"chance, {end}",
                "score",
                f"The {tail} % quantile of the MRRs of random rankings; null for the order "
                "“random”.",
            )
            for end, tail in (("low", "2.5"), ("high", "97.5"))
        ),
        _mean(
            "probability",
            "probability",
            "The probability of the concept's word, averaged over concepts.",
            "percent",
        ),
        _mean(
            "renormalised",
            "among candidates",
            "The probability of the concept's word if the probabilities of all candidates are "
            "scaled so that they sum to 1, averaged over concepts.",
            "percent",
        ),
        _mean(
            "first",
            "first",
            "The share of concepts whose word ranks first among the candidates.",
            "percent",
        ),
    ),
)
ELICITATION_BY_RELATION = TableSpec(
    "elicitation_by_relation",
    "Properties elicited (Table 2 of Weir et al. 2020)",
    "The mean average precision (mAP) of people's responses in the model's rankings, by relation. "
    "Column \u201cabsent\u201d: the number of people's responses that are not candidates. Column "
    "\u201cwithout\u201d: the number of prompts that are excluded from the mAP because none of "
    "people's responses to the prompt is ranked among the candidates. Column \u201cchance\u201d: "
    "the mAP if the candidates were ranked at random.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE, _OVER),
        Column(
            "prompts",
            "prompts",
            "count",
            "The number of prompts for which at least one of the candidates is a response that "
            "people gave.",
        ),
        _mean(
            "map",
            "mAP",
            "The mean average precision (mAP): the average precision of people's responses in the "
            "model's ranking, averaged over prompts.",
            chance="chance_map",
        ),
        Column(
            "candidates",
            "words",
            "count",
            "The number of ranked candidates; if prompts have different numbers of candidates, the "
            "largest number.",
        ),
        Column("chance_map", "chance", "score", "The mAP if the candidates were ranked at random."),
        Column(
            "absent",
            "absent",
            "count",
            "The number of people's responses that are not among the candidates in any spelling.",
        ),
        Column(
            "missing",
            "missing",
            "count",
            "The number of people's responses that the tokenizer cannot encode.",
            shown=False,
        ),
        Column(
            "without",
            "without",
            "count",
            "The number of prompts that are excluded from the mAP because none of people's "
            "responses to the prompt is ranked among the candidates.",
        ),
    ),
)
AGREEMENT = TableSpec(
    "agreement",
    "Agreement with people (Table 2 of Weir et al. 2020)",
    "Spearman's rank correlation (rho) between the production frequency and the log-probability of "
    "people's responses. Rho is computed separately for each prompt and averaged over prompts.",
    keys=2,
    columns=(
        *(_RELATION, _PREFACE),
        Column("prompts", "prompts", "count", "The number of prompts.", shown=False),
        Column(
            "used",
            "prompts",
            "count",
            "The number of prompts for which Spearman's rho "
            "between production frequency and log-probability is "
            "defined.",
        ),
        _mean(
            "spearman",
            "rho",
            "Spearman's rho between the production frequency and the log-probability of people's "
            "responses, averaged over the prompts for which rho is defined.",
        ),
        Column(
            "too_few",
            "too few words",
            "count",
            "The number of prompts for which rho is undefined because fewer than three responses "
            "have a rank.",
        ),
        Column(
            "constant",
            "constant",
            "count",
            "The number of prompts for which rho is undefined because all responses have the same "
            "production frequency or the same probability.",
        ),
    ),
)
ABLATION = TableSpec(
    "ablation",
    "Elicitation with and without \u201cEveryone knows that\u201d",
    "The mean of each measure for prompts with the preface \u201cEveryone knows that\u201d, the "
    "mean for the same prompts without the preface, and the paired difference of the two means.",
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
            "The mean of the measure over the prompts with the preface \u201cEveryone knows "
            "that\u201d.",
        ),
        Column(
            "without_preface",
            "without",
            "score",
            "The mean of the measure over the prompts without the preface \u201cEveryone knows "
            "that\u201d.",
        ),
        Column(
            "difference",
            "difference",
            "score",
            "The mean of the measure over the prompts without the preface \u201cEveryone knows "
            "that\u201d, minus the mean over the same prompts with the preface.",
            ("low", "high"),
        ),
    ),
)
FAVOURED = TableSpec(
    "favoured",
    "Favoured words",
    "For each word, the number of prompts for which the word ranks first, and the number of "
    "prompts for which the word ranks first and is one of people's responses.",
    keys=3,
    columns=(
        *(_RELATION, _PREFACE),
        Column(
            "word",
            "word",
            meaning="A word that is among the first five candidates for at least one prompt.",
        ),
        _PROMPTS,
        Column(
            "first",
            "first",
            "count",
            "The number of prompts for which the word ranks first among the candidates.",
        ),
        Column(
            "share",
            "share first",
            "percent",
            "The share of prompts for which the word ranks first among the candidates.",
        ),
        Column(
            "right",
            "correct",
            "count",
            "The number of prompts for which the word ranks first and is one of "
            "people's responses.",
        ),
        Column(
            "in_top5",
            "in the first 5",
            "count",
            "The number of prompts for which the word is among the first five candidates.",
        ),
        Column(
            "probability",
            "mean probability",
            "percent",
            "The probability of the word, averaged over the prompts for which the run stores the "
            "word as one of the best candidates.",
        ),
        Column(
            "stored",
            "stored",
            "count",
            "The number of prompts for which the run stores the word as one of the best "
            "candidates.",
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
            "Whether the word is a single token in all compared models.",
        ),
        Column("candidate", "candidate", "truth", "Whether the word is a candidate in retrieval."),
    ),
    shown=False,
)
LEFT_OUT = TableSpec(
    "left_out",
    "Concepts left out",
    "The concepts for which there are no prompts, each with the filter that removed the concept.",
    keys=2,
    columns=(
        Column("filter", "filter", meaning="The name of the filter that removed the concept."),
        Column(
            "concept",
            "concept",
            meaning="The concept, spelled as in the feature norms.",
            shown=False,
        ),
    ),
    shown=False,
)
CATEGORIES = TableSpec(
    "categories",
    "Properties by category",
    "The number of properties in the feature norms, by category. Two additional rows at the "
    "end of the table cover all perceptual categories and all non-perceptual categories.",
    columns=(
        Column("category", "category", meaning="The category."),
        Column(
            "properties",
            "properties",
            "count",
            "The number of distinct properties in the category.",
        ),
        Column(
            "concepts_per_property",
            "concepts per property",
            "number",
            "The mean number of concepts that share a property of the category.",
        ),
        Column(
            "usable",
            "concepts",
            "count",
            "The number of concepts with at least one property of the row's category.",
        ),
    ),
    shown=False,
)
CATEGORY_COUNTS = TableSpec(
    "category_counts",
    "Concepts by category and minimum number of properties",
    "For each category and each number n: the number of concepts that have at least n properties "
    "of the category.",
    keys=2,
    columns=(
        Column("category", "category", meaning="The category."),
        Column(
            "n",
            "properties",
            "count",
            "The minimum number n of properties. The column \u201cconcepts\u201d contains the "
            "number of concepts that have at least n properties of the category.",
        ),
        Column(
            "concepts",
            "concepts",
            "count",
            "The number of concepts that have at least n properties of the row's category, where n "
            "is the number in the column \u201cproperties\u201d.",
        ),
    ),
    shown=False,
)

TABLES = (
    *(RETRIEVAL_BY_NUMBER, ELICITATION_BY_RELATION, AGREEMENT, ABLATION, FAVOURED, PRINCE),
    *(ASKED, RETRIEVAL, RETRIEVAL_TOP, RETRIEVAL_SCORES, ELICITATION, ELICITATION_TOP),
    *(CANDIDATES, VOCABULARY, LEFT_OUT, CATEGORIES, CATEGORY_COUNTS),
)
"""The specifications of all tables of a run, in the order in which a report shows them."""
