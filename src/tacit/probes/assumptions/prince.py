"""The linguist Ellen Prince's examples as prompts (Weir et al. 2020, Table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tacit.probes.assumptions.elicitation import elicitation_text
from tacit.probes.assumptions.template import load_templates
from tacit.requests import BLANK, RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl


class PrincePrompt(NamedTuple):
    """A prompt that asks for the concept of an example, or for one part of its properties."""

    concept: str
    part: str
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Prince:
    """The prompts for one model, with its candidates."""

    candidates: Vocabulary
    wording: str
    top: int

    @cached_property
    def prompts(self) -> Sequence[PrincePrompt]:
        """The prompts for all examples."""
        return list(self._prompts())

    def _prompts(self) -> Iterator[PrincePrompt]:
        templates = load_templates()
        retrieval = templates.retrieval[self.wording]
        for concept, example in templates.prince.items():
            properties = example.text.split(BLANK, 1)[1].strip().removesuffix(".")
            text = retrieval.format(a="a", A="A", properties=properties)
            yield PrincePrompt(concept, "concept", text, (concept,))
            for relation, words in example.completions.items():
                text = elicitation_text(relation, concept, self.wording)
                yield PrincePrompt(concept, relation, text, words)

    @property
    def keys(self) -> pl.DataFrame:
        """What identifies each prompt, its text and its number of candidates."""
        import polars as pl

        rows = [{**one._asdict(), "words": len(self.candidates)} for one in self.prompts]
        return pl.DataFrame(rows)

    @property
    def meant(self) -> pl.DataFrame:
        """The words that Prince gives in each example."""
        import polars as pl

        rows = [one._asdict() for one in self.prompts]
        return pl.DataFrame(rows).select("concept", "part", word="words").explode("word")

    @property
    def rankings(self) -> Sequence[RankingPrompt]:
        """A ranking prompt for each of the prompts."""
        return [
            RankingPrompt(
                one.text,
                self.candidates,
                tuple(word for word in one.words if word in self.candidates),
                top=self.top,
            )
            for one in self.prompts
        ]
