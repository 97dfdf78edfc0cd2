"""The prompt variants in which a run asks, and the methods that turn scores into answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, cast

from tacit.errors import RequestError
from tacit.probes.consistency.answers import Method
from tacit.probes.consistency.questions import CHOICE, choice_variants, prompt_variants

if TYPE_CHECKING:
    from tacit.probes.consistency.options import ConsistencyOptions
    from tacit.probes.consistency.questions import PromptVariant
    from tacit.probes.consistency.template import Templates


@dataclass(frozen=True)
class Reading:
    """The methods of answering; results come from the first of ``anchoring``."""

    method: Method = field(default_factory=Method)
    anchoring: tuple[str, ...] = (CHOICE,)
    fast: bool = False

    @classmethod
    def of(cls, options: ConsistencyOptions, templates: Templates) -> Self:
        pair = None if options.pair is None else tuple(options.pair.split("/"))
        method = Method(options.answering, options.meta, cast("Any", pair))
        if options.fast and method.preset != "single":
            last = len(templates.of_version(options.background.paper_version))
            method = Method("single", last, templates.pairs[0])
        return cls(method, tuple(options.anchors.split(",")), options.fast)

    def variants(self, templates: Templates, version: str) -> tuple[PromptVariant, ...]:
        """Return the prompt variants in which yes/no questions are asked."""
        every = prompt_variants(templates, version)
        if self.method.pair is not None and self.method.pair not in templates.pairs:
            raise RequestError(
                f"there is no label pair {self.method.label}; expected one of "
                f"{', '.join(map('/'.join, templates.pairs))}"
            )
        if not (own := self._own(every)):
            raise RequestError(
                f"there is no meta-prompt {self.method.meta}; expected one of "
                f"{', '.join(map(str, sorted({one.meta for one in every})))}"
            )
        return own

    def choice_variants(self, templates: Templates, version: str) -> tuple[PromptVariant, ...]:
        """Return the prompt variants in which the choices of anchor questions are scored."""
        every = choice_variants(templates, version)
        own = self._own(every) if self.fast else every
        if not own and CHOICE in self.anchoring:
            raise RequestError(
                f"meta-prompt {self.method.meta} asks for a truth value, so choices cannot be "
                "scored after it: give another --meta, or use --anchors verify"
            )
        return own

    def _own(self, variants: tuple[PromptVariant, ...]) -> tuple[PromptVariant, ...]:
        """Return all variants, or the single one of the method with no other answer words."""
        meta, pair = self.method.meta, self.method.pair
        if meta is None or pair is None:
            return variants
        return tuple(
            replace(one, answers=pair)
            for one in variants
            if one.meta == meta and one.pair in {None, pair}
        )
