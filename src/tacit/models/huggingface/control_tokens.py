"""Special tokens in a user's text: they are read as text, or the text is refused.

A prompt that spells ``</s>`` or ``<mask>`` means these characters. A ``bare`` tokenizer writes them
as any other characters; some cannot (Unigram models that hold their special tokens as pieces).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tacit.errors import PromptError
from tacit.requests import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class ControlTokens:
    """A tokenizer's special tokens, and how a text is searched for them.

    Args:
        ids: Their ids.
        spelled: Matches where one is spelled; None where there are none.
    """

    ids: frozenset[int]
    spelled: re.Pattern[str] | None

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> ControlTokens:
        """Those of a fast tokenizer, looked up once."""
        known = _KNOWN.get(tokenizer)
        if known is None:
            added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
            special = {number: one for number, one in added.items() if one.special and one.content}
            # One that is looked for in the normalized text may stand there in any case.
            patterns = [
                f"(?i:{re.escape(one.content)})" if one.normalized else re.escape(one.content)
                for one in special.values()
            ]
            spelled = re.compile("|".join(patterns)) if patterns else None
            known = _KNOWN[tokenizer] = cls(frozenset(special), spelled)
        return known

    def find(self, text: str) -> str | None:
        """The first special token that a text spells; None where it spells none."""
        found = self.spelled and self.spelled.search(text)
        return found[0] if found else None

    def misread(
        self, text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
    ) -> list[re.Match[str]]:
        """Where a text spells special tokens that were not written as text.

        Args:
            text: The text.
            ids: Its tokens.
            offsets: Which characters each of them covers.
        """
        control = [span for one, span in zip(ids, offsets, strict=True) if one in self.ids]
        return [
            found
            for found in (self.spelled.finditer(text) if self.spelled and control else ())
            if any(begin < found.end() and end > found.start() for begin, end in control)
        ]


_KNOWN: WeakKeyDictionary[PreTrainedTokenizerBase, ControlTokens] = WeakKeyDictionary()


def check_text(tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    """Refuses a text that spells a special token which a tokenizer cannot write as text.

    Args:
        tokenizer: A ``bare`` tokenizer; one that reads special tokens may do so.
        text: The text.

    Raises:
        PromptError: It is so.
    """
    control = ControlTokens.of(tokenizer)
    if not tokenizer.split_special_tokens or not control.find(text):
        return
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    refuse(text, control.misread(text, encoded["input_ids"], encoded["offset_mapping"]))


def refuse(text: str, misread: Sequence[re.Match[str]]) -> None:
    """Refuses a text in which a special token is spelled that was not written as text.

    Raises:
        PromptError: There is one.
    """
    if misread:
        raise PromptError(
            f"{shown(text)} holds {misread[0][0]!r}, which the tokenizer cannot write as text: it "
            "would be read as a special token; take it out"
        )
