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

    from tacit.probes.consistency.surface import Surface
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording


_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt variant: a meta-prompt with a pair of answer words or with none.

    Args:
        meta: The number of the meta-prompt in Table 1 of Sahu et al. (2022), starting at 1.
        pair: The pair of answer words that the prompt mentions; None if the prompt mentions no
            answer words.
        answers: The answer words. Each positive word is followed by the negative word of its pair.
            If ``pair`` is None, the answer words are the words of all pairs.
        text: The text of the meta-prompt, which contains the words of ``pair`` if the meta-prompt
            names answer words. The text still contains the placeholder ``{question}``, which is
            replaced by each question.
    """

    meta: int
    pair: tuple[str, str] | None
    answers: tuple[str, ...]
    text: str

    def __post_init__(self) -> None:
        convert_strings(self, "answers")

    def prompt(self, question: str, answers: Sequence[str] | None = None) -> Prompt:
        """Return the prompt for a question.

        Args:
            question: The question, without a final question mark.
            answers: The candidate answers. If None, the answer words of the prompt variant are
                used.
        """
        named = strings(answers or self.answers, "answers")
        return Prompt(self.text.format(question=question), named)


def prompt_variants(
    templates: Templates, version: str = "review-lexicon"
) -> tuple[PromptVariant, ...]:
    """Return the prompt variants of a yes/no question.

    The function returns 24 prompt variants, or 23 if ``version`` selects the five meta-prompts of
    the arXiv version of Sahu et al. (2022).

    Raises:
        RequestError: If ``version`` is not the name of a version of Sahu et al. (2022).
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
    """Return the prompt variants for scoring choices.

    The function returns 23 prompt variants, or 22 if ``version`` selects the five meta-prompts of
    the arXiv version of Sahu et al. (2022).

    Meta-prompts (prompt templates) that ask for a truth value are excluded, because the choices of
    an anchor question are not truth values.

    Raises:
        RequestError: If ``version`` is not the name of a version of Sahu et al. (2022).
    """
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
    """Return a fact (head, relation, tail) as a question, without the question mark.

    Raises:
        RequestError: If the relation has no template.
    """
    first, relation, second = fact
    return wording.question(templates.relation(relation), first, second)


def background_prompts(question: str, variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return the prompts of a background question, one per prompt variant.

    The scores of the returned prompts form one row of the array that ``Inputs.table`` returns.
    """
    return [variant.prompt(question) for variant in variants]


def choice_prompts(
    question: str, choices: Sequence[str], variants: Sequence[PromptVariant]
) -> list[Prompt]:
    """Return the prompts of an anchor question, with the choices as candidate answers.

    Args:
        question: The text of the anchor question. The final punctuation of the question is removed
            by the function ``bare``.
        choices: The choices, which must all be different.
        variants: The prompt variants that ``choice_variants`` returns.
    """
    choices = strings(choices, "choices")
    return [variant.prompt(bare(question), choices) for variant in variants]


def prior_prompts(choices: Sequence[str], variants: Sequence[PromptVariant]) -> list[Prompt]:
    """Return prompts with an empty question and the given choices as candidate answers.

    The scores of the returned prompts show how probable the choices are without the question.
    """
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
    """Return an anchor question without surrounding whitespace and final punctuation.

    A final question mark and any punctuation after it are removed from the anchor question, because
    the prompt templates (meta-prompts) already contain a question mark. If there is no final
    question mark, one final full stop is removed. A final ellipsis ("...") is not removed. Three
    underscores in a row would be interpreted as the blank of a cloze prompt, so a fourth underscore
    is added.
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
    """The distinct facts of all anchor questions, and the background questions about them.

    Args:
        facts: Table with the columns ``fact`` (numbered from 0), ``head``, ``relation``, ``tail``,
            ``negative``, ``positive_question`` and ``negative_question``. ``negative`` is the tail
            that replaces the fact's tail to form a false statement. ``positive_question`` and
            ``negative_question`` are indices into ``texts``. ``negative`` and ``negative_question``
            are null if the fact has no negative (false version).
        links: Table with the columns ``anchor`` and ``fact``. Each row links an anchor question to
            one of its facts.
        texts: The background questions, without a final question mark.
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
        """Build the background questions about all facts and their negatives (false versions).

        Args:
            found: Table with the columns ``question`` (the index of the anchor question), ``head``,
                ``relation``, ``tail`` and ``negative``.
            templates: The templates of the relations.
            wording: The rules by which concepts are inserted into the templates.
            surface: The surface texts of the facts; None to use only relation templates. If a fact
                has a usable surface text, the background question is built from the surface text
                instead of the relation template.

        Raises:
            RequestError: If a relation has no template.
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
    """Raise an error that names the relations without a template, if there are any."""
    unworded = sorted(set(found["relation"]) - set(templates.relations))
    if unworded:
        raise RequestError(
            f"there is no template for {', '.join(unworded)}: add templates with "
            "--templates FILE, or select other relations with --relations"
        )
