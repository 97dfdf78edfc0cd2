"""The questions of a run and their prompts (Sahu et al. 2022, section 3.2).

A question is asked in every prompt variant of its group; the key of a prompt is the key of its
question, the meta-prompt and the pair of answer words that the prompt names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from tacit.errors import RequestError
from tacit.probes.base import Requests
from tacit.requests import BLANK, Prompt
from tacit.sources.questions import Anchor

if TYPE_CHECKING:
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording

BACKGROUND, CHOICE, VERIFY, PRIOR = "background", "choice", "verify", "prior"
"""The groups of prompts. In ``PRIOR``, the choices follow an empty question."""

FACT = ("head", "relation", "tail")
BY_CHOICE = ("anchor", "choice")

_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


def in_context(condition: str) -> str:
    """Return the group of prompts in which facts precede the anchor questions."""
    return f"intervention-{condition}"


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt variant: a meta-prompt with a pair of answer words or with none."""

    meta: int
    pair: str | None
    answers: tuple[str, ...]
    text: str

    def prompt(self, text: str) -> Prompt:
        return Prompt(self.text.format(question=text), self.answers)


def prompt_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants of a yes/no question."""
    words = tuple(word for pair in templates.pairs for word in pair)
    variants = []
    for meta, text in enumerate(templates.of_version(version), start=1):
        if "{label_a}" not in text:
            variants.append(PromptVariant(meta, None, words, text))
            continue
        for a, b in templates.pairs:
            labelled = text.format(question="{question}", label_a=a, label_b=b)
            variants.append(PromptVariant(meta, f"{a}/{b}", (a, b), labelled))
    return tuple(variants)


def choice_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants for scoring choices."""
    every = prompt_variants(templates, version)
    return tuple(one for one in every if one.meta not in templates.asks_for_truth)


def single(variants: Iterable[PromptVariant], meta: int, pair: str) -> tuple[PromptVariant, ...]:
    """Return the variant of a meta-prompt and a pair, asked for these two words alone."""
    first, _, second = pair.partition("/")
    return tuple(
        replace(one, answers=(first, second))
        for one in variants
        if one.meta == meta and one.pair in {None, pair}
    )


@dataclass(frozen=True)
class BackgroundQuestions:
    """The distinct ``facts``, whose they are, and the questions about them and their negatives.

    ``links`` has the ids of anchor questions. ``questions`` has two rows per fact, or one for a
    fact without a negative, with the ``expected`` answer.
    """

    facts: pl.DataFrame
    links: pl.DataFrame
    questions: pl.DataFrame

    @classmethod
    def of(
        cls, extracted: pl.DataFrame, ids: Sequence[str], templates: Templates, wording: Wording
    ) -> BackgroundQuestions:
        """Word the facts that were found for the anchor questions with the given ids."""
        relations = templates.relations
        if unworded := sorted(set(extracted["relation"]) - set(relations)):
            raise RequestError(
                f"there is no template for {', '.join(unworded)}: add templates with "
                "--templates FILE, or select other relations with --relations"
            )
        facts = extracted.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        own = pl.Series("anchor", ids, dtype=pl.String).gather(extracted["anchor"])
        links = extracted.select(*FACT).with_columns(own)
        links = links.join(facts, on=FACT, how="left", maintain_order="left")
        rows = [
            (fact, expected, wording(relations[relation], head, tail))
            for expected, name in (("yes", "tail"), ("no", "negative"))
            for fact, head, relation, tail in facts.select("fact", *FACT[:2], name).iter_rows()
            if tail is not None
        ]
        schema = {"fact": pl.Int64, "expected": pl.String, "question": pl.String}
        questions = pl.DataFrame(rows, schema, orient="row")
        return cls(facts, links.select("anchor", "fact"), questions)

    @property
    def texts(self) -> list[str]:
        """The distinct questions, those about facts first."""
        return self.questions["question"].unique(maintain_order=True).to_list()


def anchor_frame(anchors: Sequence[Anchor]) -> pl.DataFrame:
    """Return the anchor questions as the first columns of the table ``anchors``."""
    rows = [
        {
            "anchor": one.id,
            "question": one.question,
            "concept": one.concept,
            "cluster": one.concept or f"anchor {one.id}",
            "answer": None if one.answer is None else one.choices[one.answer],
        }
        for one in anchors
    ]
    return pl.DataFrame(rows, schema_overrides={"concept": pl.String, "answer": pl.String})


class Query(NamedTuple):
    """A question to ask, the key of its answer, its answers if they are not the variant's."""

    key: Mapping[str, str]
    text: str
    answers: tuple[str, ...] = ()
    before: str = ""  # facts that the prompt begins with


def requests_of(
    queries: Iterable[Query],
    variants: Sequence[PromptVariant],
    *keys: str,
    repeats: bool = False,
) -> Requests:

    schema = {**dict.fromkeys(keys, pl.String), "meta": pl.Int64, "pair": pl.String}
    rows, prompts = [], []
    for query in queries:
        for variant in variants:
            text = query.before + variant.text.format(question=query.text)
            prompts.append(Prompt(text, query.answers or variant.answers))
            rows.append({**query.key, "meta": variant.meta, "pair": variant.pair})
    return Requests(pl.DataFrame(rows, schema), prompts, repeats)


def about_anchors(group: str, anchors: Iterable[Anchor], templates: Templates) -> Iterator[Query]:
    for anchor in anchors:
        key, text = {"anchor": anchor.id}, bare(anchor.question)
        if group == VERIFY:
            for choice in anchor.choices:
                asked = templates.verify.format(choice=_plain(choice), question=text)
                yield Query({**key, "choice": choice}, asked)
        else:
            yield Query(key, "" if group == PRIOR else text, anchor.choices)


def bare(question: str) -> str:
    """Return an anchor question without surrounding whitespace and final punctuation."""
    return _plain(_END.sub("", question.strip()))


def _plain(text: str) -> str:
    return _BLANK.sub(BLANK + "_", text)
