"""Build prompts from facts, anchor questions and meta-prompts.

The meta-prompts (prompt templates) are those of Sahu et al. (2022, section 3.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.requests import BLANK, Prompt
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording


_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt variant: a meta-prompt with a pair of answer words or with none."""

    meta: int
    pair: tuple[str, str] | None
    answers: tuple[str, ...]
    text: str

    def __post_init__(self) -> None:
        convert_strings(self, "answers")

    def prompt(self, question: str, answers: Sequence[str] | None = None) -> Prompt:
        """Return the prompt for a question."""
        named = strings(answers or self.answers, "answers")
        return Prompt(self.text.format(question=question), named)


def prompt_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants of a yes/no question."""
    words = tuple(word for pair in templates.pairs for word in pair)
    return tuple(
        PromptVariant(meta, pair, pair or words, _labelled(text, pair))
        for meta, text in enumerate(templates.of_version(version), start=1)
        for pair in (templates.pairs if "{label_a}" in text else (None,))
    )


def choice_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants for scoring choices."""
    return tuple(
        variant
        for variant in prompt_variants(templates, version)
        if variant.meta not in templates.asks_for_truth
    )


def narrowed(
    variants: Sequence[PromptVariant], meta: int, pair: tuple[str, str]
) -> tuple[PromptVariant, ...]:
    """Return the variants of one meta-prompt and one pair, with the words of this pair alone."""
    return tuple(
        replace(one, answers=pair)
        for one in variants
        if one.meta == meta and one.pair in {None, pair}
    )


def background_question(fact: tuple[str, str, str], templates: Templates, wording: Wording) -> str:
    """Return a fact (head, relation, tail) as a question, without the question mark."""
    first, relation, second = fact
    return wording.question(templates.relation(relation), first, second)


def background_prompts(question: str, variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return the prompts of a background question, one per prompt variant."""
    return [variant.prompt(question) for variant in variants]


def choice_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant]
) -> list[Prompt]:
    """Return the prompts of an anchor question, with the choices as candidate answers."""
    choices = strings(choices, "choices")
    return [variant.prompt(bare(question), choices) for variant in variants]


def prior_prompts(choices: Sequence[str], variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return prompts with an empty question and the given choices as candidate answers."""
    choices = strings(choices, "choices")
    return [variant.prompt("", choices) for variant in variants]


def verify_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant], templates: Templates
) -> list[list[Prompt]]:
    """For each choice, return the prompts that ask whether the choice is the answer."""
    asked = bare(question)
    return [
        background_prompts(
            templates.verify.format(choice=_BLANK.sub(BLANK + "_", choice), question=asked),
            variants,
        )
        for choice in strings(choices, "choices")
    ]


def bare(question: str) -> str:
    """Return an anchor question without surrounding whitespace and final punctuation."""
    return _BLANK.sub(BLANK + "_", _END.sub("", question.strip()))


def _labelled(text: str, pair: tuple[str, str] | None) -> str:
    if pair is None:
        return text
    positive, negative = pair
    return text.format(question="{question}", label_a=positive, label_b=negative)


FACT = ("head", "relation", "tail")


@dataclass(frozen=True)
class Asked:
    """The distinct facts of all anchor questions, and the background questions about them."""

    facts: pl.DataFrame
    links: pl.DataFrame
    texts: tuple[str, ...]

    @classmethod
    def of(cls, found: pl.DataFrame, templates: Templates, wording: Wording) -> Asked:
        """Build the background questions about all facts and their negatives (false versions)."""
        import polars as pl

        _refuse_unworded(found, templates)
        facts = found.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        links = found.select(*FACT, anchor=pl.col("question").cast(pl.Int64))
        texts: dict[str, int] = {}

        def text_index(fact: tuple[str, str, str], tail: str | None) -> int | None:
            if tail is None:
                return None
            text = background_question((*fact[:2], tail), templates, wording)
            return texts.setdefault(text, len(texts))

        rows = [
            (tuple(fact), other) for *fact, other in facts.select(*FACT, "negative").iter_rows()
        ]
        positive = [text_index(fact, fact[2]) for fact, _ in rows]
        negative = [text_index(fact, other) for fact, other in rows]
        return cls(
            facts.with_columns(
                pl.Series("positive_question", positive, pl.Int64),
                pl.Series("negative_question", negative, pl.Int64),
            ),
            links.join(
                facts.select(*FACT, "fact"), on=FACT, how="left", maintain_order="left"
            ).select("anchor", "fact"),
            tuple(texts),
        )


def _refuse_unworded(found: pl.DataFrame, templates: Templates) -> None:
    """Raise an error that names the relations without a template, if there are any."""
    unworded = sorted(set(found["relation"]) - set(templates.relations))
    if unworded:
        raise RequestError(
            f"there is no template for {', '.join(unworded)}: add templates with "
            "--templates FILE, or select other relations with --relations"
        )
