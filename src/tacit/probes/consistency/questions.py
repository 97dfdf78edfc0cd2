"""From facts and anchors to prompts: meta-prompts, label pairs, choices (section 3.2)."""

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

    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording


_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """One way to put a question.

    Args:
        meta: The meta-prompt's number in Table 1, from 1.
        pair: The labels that it names; None when it names none.
        answers: The answer words, the positive one of each pair before the negative one: all, or
            the pair's.
        text: The meta-prompt with its labels, and ``{question}``.
    """

    meta: int
    pair: tuple[str, str] | None
    answers: tuple[str, ...]
    text: str

    def __post_init__(self) -> None:
        convert_strings(self, "answers")

    def prompt(self, question: str, answers: Sequence[str] | None = None) -> Prompt:
        """The prompt for a question without its question mark.

        Args:
            question: The question.
            answers: What may answer it; the answer words when None.
        """
        named = strings(answers or self.answers, "answers")
        return Prompt(self.text.format(question=question), named)


def prompt_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """All variants of a yes/no question: 24; in the arXiv version 23.

    Raises:
        RequestError: There is no such version.
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
    """The variants that a choice can answer, which is all but those that ask for a truth value.

    They are 23; in the arXiv version 22.

    Raises:
        RequestError: There is no such version.
    """
    return tuple(
        variant
        for variant in prompt_variants(templates, version)
        if variant.meta not in templates.asks_for_truth
    )


def background_question(fact: tuple[str, str, str], templates: Templates, wording: Wording) -> str:
    """A fact (concept, relation, concept) as a question without its question mark.

    Raises:
        RequestError: The relation has no template.
    """
    first, relation, second = fact
    return wording.question(templates.relation(relation), first, second)


def background_prompts(question: str, variants: Sequence[PromptVariant]) -> list[Prompt]:
    """A background question in every variant; its scores side by side are a row of the inputs."""
    return [variant.prompt(question) for variant in variants]


def choice_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant]
) -> list[Prompt]:
    """An anchor's question in every variant, to be answered by one of its choices.

    Args:
        question: As the anchor has it; see ``bare``.
        choices: The choices, all different.
        variants: Those of ``choice_variants``.
    """
    choices = strings(choices, "choices")
    return [variant.prompt(bare(question), choices) for variant in variants]


def verify_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant], templates: Templates
) -> list[list[Prompt]]:
    """For each choice, whether it is the answer: a yes/no question in every variant."""
    asked = bare(question)
    return [
        background_prompts(
            templates.verify.format(choice=_BLANK.sub(BLANK + "_", choice), question=asked),
            variants,
        )
        for choice in strings(choices, "choices")
    ]


def bare(question: str) -> str:
    """An anchor's question without what ends it, for a meta-prompt that ends it in its own way.

    Blanks around it are dropped, and at its end question marks with all marks behind them, or else
    one full stop; three dots, and a question that ends in no mark, stay. Three underscores would be
    the prompt's blank; a fourth makes them plain text.
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
    """The distinct facts of all anchors, and the distinct questions they come down to.

    Args:
        facts: ``fact`` (from 0), head, relation, tail, negative (the other tail; null when there
            is none), ``positive_question`` and ``negative_question`` (places in ``texts``; the
            second null with the negative).
        links: ``anchor`` and ``fact``: which anchor has which fact.
        texts: The questions, without their question mark.
    """

    facts: pl.DataFrame
    links: pl.DataFrame
    texts: tuple[str, ...]

    @classmethod
    def of(cls, found: pl.DataFrame, templates: Templates, wording: Wording) -> Asked:
        """Puts background facts as questions.

        Args:
            found: ``question`` (the anchor's place), head, relation, tail and negative.
            templates: How relations are asked about.
            wording: How nouns are put.

        Raises:
            RequestError: A relation has no template.
        """
        import polars as pl

        _refuse_unworded(found, templates)
        facts = found.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        links = found.select(*FACT, anchor=pl.col("question").cast(pl.Int64))
        texts: dict[str, int] = {}

        def text_index(head: str, relation: str, tail: str | None) -> int | None:
            if tail is None:
                return None
            text = background_question((head, relation, tail), templates, wording)
            return texts.setdefault(text, len(texts))

        positive = [text_index(*fact) for fact in facts.select(FACT).iter_rows()]
        negative = [text_index(*fact) for fact in facts.select(*FACT[:2], "negative").iter_rows()]
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
    """Says at once which relations cannot be asked about, before much work."""
    unworded = sorted(set(found["relation"]) - set(templates.relations))
    if unworded:
        raise RequestError(
            f"there is no template for {', '.join(unworded)}: add yours with --templates FILE, or "
            "name other --relations"
        )
