"""Whether a model thinks before it replies, seen from one reply that is allowed to end.

Some templates write the beginning of a thought into the prompt, so that a reply shows its end
alone. A reply that is cut before that end looks like an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.models.openai.client import RefusalError
from tacit.models.openai.preflight import TEXTS
from tacit.models.openai.replies import CLOSES, OPENS

if TYPE_CHECKING:
    from tacit.models.openai.chat import Talk
    from tacit.models.openai.replies import Said

ROOM = 1024
"""Tokens in which a reply is to end; without limit where a thought is meant, or where the server
has no room for so many."""

MOST_CALLS = 2
"""So many calls, at most, are made for it."""


def ended(talk: Talk) -> Said:
    """A reply that is allowed to end, however short others are to be.

    Raises:
        RefusalError: The server refuses.
        ScoringError: It failed each time.
    """
    if not talk.thinking:
        try:
            return talk.but(room=ROOM).replies(TEXTS[1], seed=0)[0]
        except RefusalError:  # its window is smaller
            pass
    return talk.but(room=None).replies(TEXTS[1], seed=0)[0]


def begun(said: Said) -> bool:
    """Whether the end of a thought comes without its beginning."""
    opened = said.thought.strip() or said.text.lstrip().startswith(OPENS)
    return CLOSES in said.text and not opened
