"""The questions of a run and their prompts (Sahu et al. 2022, section 3.2).

A question is asked in every prompt variant of its group; the key of a prompt is the key of its
question, the meta-prompt and the pair of answer words that the prompt names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tacit.errors import RequestError
from tacit.probes.base import Requests
from tacit.requests import BLANK, Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.contexts import Contexts
    from tacit.probes.consistency.template import Templates
    from tacit.probes.consistency.wording import Wording
    from tacit.sources.anchors import Anchor

BACKGROUND, CHOICE, VERIFY, PRIOR = "background", "choice", "verify", "prior"
"""The groups of prompts. In ``PRIOR``, the choices follow an empty question."""

FACT = ("head", "relation", "tail")

_END = re.compile(r"\s*(?:\?[\s?.!]*|(?<!\.)\.)$")
_BLANK = re.compile(f"(?<!_){BLANK}(?!_)")


def in_context(condition: str) -> str:
    """Return the group of prompts in which facts precede the anchor questions."""
    return f"intervention-{condition}"


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt variant: a meta-prompt with a pair of answer words or with none."""

    meta: int
    pair: tuple[str, str] | None
    answers: tuple[str, ...]
    text: str

    @property
    def label(self) -> str | None:
        """The pair that the prompt names, such as ``Yes/No``."""
        return None if self.pair is None else "/".join(self.pair)

    def prompt(self, question: str, answers: tuple[str, ...] | None = None) -> Prompt:
        """Return the prompt for a question."""
        return Prompt(self.text.format(question=question), answers or self.answers)


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


def _labelled(text: str, pair: tuple[str, str] | None) -> str:
    if pair is None:
        return text
    positive, negative = pair
    return text.format(question="{question}", label_a=positive, label_b=negative)


@dataclass(frozen=True)
class Asked:
    """The distinct facts with the questions about them and their negatives, and whose they are."""

    facts: pl.DataFrame
    links: pl.DataFrame

    @classmethod
    def of(cls, found: pl.DataFrame, templates: Templates, wording: Wording) -> Asked:
        """Word the facts that were found for the anchor questions."""
        import polars as pl

        relations = templates.relations
        if unworded := sorted(set(found["relation"]) - set(relations)):
            raise RequestError(
                f"there is no template for {', '.join(unworded)}: add templates with "
                "--templates FILE, or select other relations with --relations"
            )

        def worded(tail: str) -> pl.Series:
            columns = facts.select("head", "relation", tail).iter_rows()
            return pl.Series(
                [
                    None if last is None else wording.question(relations[relation], first, last)
                    for first, relation, last in columns
                ],
                dtype=pl.String,
            )

        facts = found.select(*FACT, "negative").unique(FACT, keep="first", maintain_order=True)
        facts = facts.with_row_index("fact").with_columns(pl.col("fact").cast(pl.Int64))
        links = found.select(*FACT, anchor=pl.col("question").cast(pl.Int64)).join(
            facts.select(*FACT, "fact"), on=FACT, how="left", maintain_order="left"
        )
        return cls(
            facts.with_columns(
                positive_question=worded("tail"), negative_question=worded("negative")
            ),
            links.select("anchor", "fact"),
        )

    @property
    def questions(self) -> list[str]:
        """The distinct questions, those about facts first."""
        found = self.facts["positive_question"].append(self.facts["negative_question"])
        return found.drop_nulls().unique(maintain_order=True).to_list()


class Question(NamedTuple):
    """A question, the key of its answer, and its answers if they are not those of the variant."""

    key: Mapping[str, str | int]
    text: str
    answers: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Questions:
    """All that is asked in a run."""

    asked: Asked
    anchors: Sequence[Anchor]
    variants: tuple[PromptVariant, ...]
    choice_variants: tuple[PromptVariant, ...]
    templates: Templates
    anchoring: tuple[str, ...]
    contexts: Contexts | None = None

    @property
    def prompts(self) -> dict[str, list[Prompt]]:
        """The prompts of each group."""
        return {
            name: [one for one in group.requests if isinstance(one, Prompt)]
            for name, group in self.requests.items()
        }

    @cached_property
    def requests(self) -> Mapping[str, Requests]:
        """The prompts of each group."""
        background = [Question({"question": text}, text) for text in self.asked.questions]
        groups = {BACKGROUND: _requests(background, self.variants, "question")}
        every = range(len(self.anchors))
        if CHOICE in self.anchoring:
            groups |= {name: self._about(name, every) for name in (CHOICE, PRIOR)}
        if VERIFY in self.anchoring:
            groups[VERIFY] = self._about(VERIFY, every)
        if self.contexts is not None:
            for condition, of in self.contexts.texts.items():
                groups[in_context(condition)] = self._about(self.anchoring[0], of, condition)
        return groups

    def _about(self, group: str, anchors: Iterable[int], condition: str | None = None) -> Requests:
        """Ask some anchor questions, possibly after facts."""
        questions = [question for at in anchors for question in self._of_anchor(group, at)]
        variants = self.variants if group == VERIFY else self.choice_variants
        keys = ("anchor", "choice") if group == VERIFY else ("anchor",)

        def stated(key: Mapping[str, str | int], prompt: Prompt) -> Prompt:
            if self.contexts is None or condition is None:
                return prompt
            return self.contexts.wrapped(condition, int(key["anchor"]), prompt)

        # Questions with the same choices share the prompts for the choices' prior.
        return _requests(questions, variants, *keys, change=stated, repeats=group == PRIOR)

    def _of_anchor(self, group: str, at: int) -> Iterator[Question]:
        """Yield the questions of a group that are about one anchor question."""
        anchor, text = self.anchors[at], bare(self.anchors[at].question)
        if group != VERIFY:
            yield Question({"anchor": at}, text if group == CHOICE else "", anchor.choices)
            return
        for number, choice in enumerate(anchor.choices):
            key = {"anchor": at, "choice": number}
            yield Question(key, self.templates.verify.format(choice=_plain(choice), question=text))


def bare(question: str) -> str:
    """Return an anchor question without surrounding whitespace and final punctuation."""
    return _plain(_END.sub("", question.strip()))


def _plain(text: str) -> str:
    return _BLANK.sub(BLANK + "_", text)


def _requests(
    questions: Iterable[Question],
    variants: Sequence[PromptVariant],
    *keys: str,
    change: Callable[[Mapping[str, str | int], Prompt], Prompt] = lambda _, prompt: prompt,
    repeats: bool = False,
) -> Requests:
    """Ask each question in each variant."""
    import polars as pl

    kinds = {"question": pl.String, "anchor": pl.Int64, "choice": pl.Int64}
    schema = {name: kinds[name] for name in keys} | {"meta": pl.Int64, "pair": pl.String}
    asked = [(question, variant) for question in questions for variant in variants]
    rows = [{**question.key, "meta": form.meta, "pair": form.label} for question, form in asked]
    prompts = [
        change(question.key, variant.prompt(question.text, question.answers))
        for question, variant in asked
    ]
    return Requests(pl.DataFrame(rows, schema), prompts, repeats)
