"""Prompts from facts and anchors: meta-prompts, label pairs and choices (section 3.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.requests import BLANK, Prompt
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.surface import Surface
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording


_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt variant: a meta-prompt, with a label pair if it names one.

    Args:
        meta: The meta-prompt's number in Table 1, from 1.
        pair: The labels that the prompt names; None if it names none.
        answers: The answer words, each pair's positive word first: those of ``pair``, or of all
            pairs.
        text: The meta-prompt with its labels filled in, and ``{question}``.
    """

    meta: int
    pair: tuple[str, str] | None
    answers: tuple[str, ...]
    text: str

    def __post_init__(self) -> None:
        convert_strings(self, "answers")

    def prompt(self, question: str, answers: Sequence[str] | None = None) -> Prompt:
        """Return the prompt for a question without its question mark.

        Args:
            question: The question.
            answers: The candidate answers; the answer words if None.
        """
        named = strings(answers or self.answers, "answers")
        return Prompt(self.text.format(question=question), named)


def prompt_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return all prompt variants of a yes/no question: 24, or 23 in the arXiv version.

    Raises:
        RequestError: The version does not exist.
    """
    words = tuple(word for pair in templates.pairs for word in pair)
    return tuple(
        PromptVariant(meta, pair, pair or words, _labelled(text, pair))
        for meta, text in enumerate(templates.of_version(version), start=1)
        for pair in (templates.pairs if "{label_a}" in text else (None,))
    )


def choice_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants that a choice can answer: 23, or 22 in the arXiv version.

    These variants exclude meta-prompts that ask for a truth value.

    Raises:
        RequestError: The version does not exist.
    """
    return tuple(
        variant
        for variant in prompt_variants(templates, version)
        if variant.meta not in templates.asks_for_truth
    )


def background_question(fact: tuple[str, str, str], templates: Templates, wording: Wording) -> str:
    """Return a fact (concept, relation, concept) as a question without its question mark.

    Raises:
        RequestError: The relation has no template.
    """
    first, relation, second = fact
    return wording.question(templates.relation(relation), first, second)


def background_prompts(question: str, variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return a background question in every prompt variant.

    The scores of these prompts form one row of ``Inputs.table``.
    """
    return [variant.prompt(question) for variant in variants]


def choice_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant]
) -> list[Prompt]:
    """Return an anchor's question in every prompt variant, with its choices as answers.

    Args:
        question: The anchor's question; see ``bare``.
        choices: The choices, all different.
        variants: The result of ``choice_variants``.
    """
    choices = strings(choices, "choices")
    return [variant.prompt(bare(question), choices) for variant in variants]


def prior_prompts(choices: Sequence[str], variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return an empty question in every prompt variant, with an anchor's choices as answers.

    The scores show how probable the choices are without their question ("Question: ? Answer:").
    """
    choices = strings(choices, "choices")
    return [variant.prompt("", choices) for variant in variants]


def verify_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant], templates: Templates
) -> list[list[Prompt]]:
    """Ask of each choice whether it is the answer: a yes/no question in every prompt variant."""
    asked = bare(question)
    return [
        background_prompts(
            templates.verify.format(choice=_BLANK.sub(BLANK + "_", choice), question=asked),
            variants,
        )
        for choice in strings(choices, "choices")
    ]


def bare(question: str) -> str:
    """Return an anchor's question without its final punctuation, which the meta-prompt supplies.

    Surrounding whitespace is removed. So is a final question mark with any marks behind it, or else
    a single final full stop. An ellipsis stays. A run of three underscores would be the prompt's
    blank; a fourth underscore is added, which makes the run plain text.
    """
    return _BLANK.sub(BLANK + "_", _END.sub("", question.strip()))


def _labelled(text: str, pair: tuple[str, str] | None) -> str:
    if pair is None:
        return text
    positive, negative = pair
    return text.format(question="{question}", label_a=positive, label_b=negative)


FACT = ("head", "relation", "tail")


@dataclass(frozen=True)
class Asked:
    """The distinct facts of all anchors, and their distinct questions.

    Args:
        facts: ``fact`` (from 0), head, relation, tail, negative (the other tail; null if there is
            none), ``positive_question`` and ``negative_question`` (indices into ``texts``; the
            latter is null without a negative).
        links: ``anchor`` and ``fact``: the facts of each anchor.
        texts: The questions, without their question mark.
    """

    facts: pl.DataFrame
    links: pl.DataFrame
    texts: tuple[str, ...]

    @classmethod
    def of(
        cls,
        found: pl.DataFrame,
        templates: Templates,
        wording: Wording,
        surface: Surface | None = None,
    ) -> Asked:
        """Build the questions about background facts.

        Args:
            found: ``question`` (the index of the anchor), head, relation, tail and negative.
            templates: The templates of the relations.
            wording: How concepts are inserted into the templates.
            surface: The surface texts, which are used for the facts that have one.

        Raises:
            RequestError: A relation has no template.
        """
        import polars as pl

        _refuse_unworded(found, templates)
        facts = found.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        links = found.select(*FACT, anchor=pl.col("question").cast(pl.Int64))
        texts: dict[str, int] = {}

        def text_index(fact: tuple[str, str, str], tail: str | None) -> int | None:
            if tail is None:
                return None
            text = None if surface is None else surface.question(fact, tail)
            text = text or background_question((*fact[:2], tail), templates, wording)
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
    """Raise, before further work, if a relation has no template; the error names all of them."""
    unworded = sorted(set(found["relation"]) - set(templates.relations))
    if unworded:
        raise RequestError(
            f"there is no template for {', '.join(unworded)}: add templates with "
            "--templates FILE, or select other relations with --relations"
        )
