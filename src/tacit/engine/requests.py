"""What is asked of a model, in its two kinds: answers to score, and vocabularies to rank.

The engine treats both alike. A kind says by what the store knows a request's parts, how requests of
the same text become one, and how one is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tacit.prompts import Prompt
from tacit.rankings import RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

Request = TypeVar("Request", bound=Prompt | RankingPrompt)

Held = tuple[str | int | None, ...]
"""What the store knows one part of a request by."""


class Kind(Protocol[Request]):
    """How the engine handles requests of one kind."""

    def merge(self, prompts: Iterable[Request]) -> list[Request]:
        """The distinct requests, in their first order; what differs in its parts only is one."""
        ...

    def keys(self, prompt: Request) -> list[Held]:
        """What the store knows the request's parts by."""
        ...

    def less(self, prompt: Request, held: Collection[Held]) -> Request | None:
        """The request without the parts that are held; None when all are."""
        ...

    def row(self, prompt: Request) -> dict[str, Any]:
        """The request as a row of a table."""
        ...

    def prompt(self, row: Mapping[str, Any]) -> Request:
        """The request that a row is of."""
        ...


class Scoring:
    """Prompts whose answers are scored; each answer is stored by itself."""

    def merge(self, prompts: Iterable[Prompt]) -> list[Prompt]:
        """Those of one text and separator are one, with all their answers."""
        answers: dict[tuple[str, str], dict[str, None]] = {}
        for prompt in prompts:
            answers.setdefault((prompt.text, prompt.separator), {}).update(
                dict.fromkeys(prompt.answers)
            )
        return [Prompt(text, tuple(of), separator) for (text, separator), of in answers.items()]

    def keys(self, prompt: Prompt) -> list[Held]:
        """One for each answer."""
        return [(prompt.text, prompt.separator, answer) for answer in prompt.answers]

    def less(self, prompt: Prompt, held: Collection[Held]) -> Prompt | None:
        """Without the answers that are stored."""
        lacking = tuple(a for a in prompt.answers if (prompt.text, prompt.separator, a) not in held)
        return Prompt(prompt.text, lacking, prompt.separator) if lacking else None

    def row(self, prompt: Prompt) -> dict[str, Any]:
        """Text, separator, answers."""
        return {
            "text": prompt.text,
            "separator": prompt.separator,
            "answers": list(prompt.answers),
        }

    def prompt(self, row: Mapping[str, Any]) -> Prompt:
        """The prompt of a row."""
        return Prompt(row["text"], tuple(row["answers"]), row["separator"])


@dataclass(frozen=True)
class Ranked:
    """Prompts that rank a vocabulary; each target is stored by itself, and the top.

    Args:
        vocabularies: Those that the prompts name, by digest.
    """

    vocabularies: Mapping[str, Vocabulary]

    @classmethod
    def of(cls, prompts: Iterable[RankingPrompt]) -> Ranked:
        """For prompts and whatever is recorded of them."""
        return cls({prompt.vocabulary.digest: prompt.vocabulary for prompt in prompts})

    def merge(self, prompts: Iterable[RankingPrompt]) -> list[RankingPrompt]:
        """Those of one text, separator, vocabulary and k are one, with all their targets."""
        first: dict[Held, RankingPrompt] = {}
        targets: dict[Held, dict[str, None]] = {}
        for prompt in prompts:
            key = prompt_key(prompt)
            first.setdefault(key, prompt)
            targets.setdefault(key, {}).update(dict.fromkeys(prompt.targets))
        return [replace(prompt, targets=tuple(targets[key])) for key, prompt in first.items()]

    def keys(self, prompt: RankingPrompt) -> list[Held]:
        """One for the prompt, of which the top is kept, and one for each target."""
        key = prompt_key(prompt)
        return [(*key, None), *((*key, target) for target in prompt.targets)]

    def less(self, prompt: RankingPrompt, held: Collection[Held]) -> RankingPrompt | None:
        """Without the targets that are stored."""
        whole, *each = self.keys(prompt)
        pairs = zip(each, prompt.targets, strict=True)
        lacking = tuple(target for key, target in pairs if key not in held)
        return replace(prompt, targets=lacking) if lacking or whole not in held else None

    def row(self, prompt: RankingPrompt) -> dict[str, Any]:
        """Text, separator, the vocabulary's digest, k and the targets."""
        return {
            "text": prompt.text,
            "separator": prompt.separator,
            "vocabulary": prompt.vocabulary.digest,
            "k": prompt.top,
            "targets": list(prompt.targets),
        }

    def prompt(self, row: Mapping[str, Any]) -> RankingPrompt:
        """The prompt of a row; its vocabulary is one of those known."""
        vocabulary = self.vocabularies[row["vocabulary"]]
        return RankingPrompt(
            row["text"], vocabulary, tuple(row["targets"]), row["separator"], row["k"]
        )


def prompt_key(prompt: RankingPrompt) -> Held:
    """What the store knows a ranking by, whatever its targets."""
    return (prompt.text, prompt.separator, prompt.vocabulary.digest, prompt.top)
