"""Find prompts in which white space doubles: before the answer, or after a filled blank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from tacit.english import several
from tacit.requests.ranking import RankingPrompt
from tacit.requests.scoring import Prompt
from tacit.requests.vocabulary import Vocabulary

_SHOWN = 40


def doubled(requests: Iterable[object]) -> str | None:
    """Return how many prompts double white space, with an example of both readings, or None.

    A prompt whose separator is empty is meant as it is written.
    """
    found = [both for one in requests if (both := _both_readings(one))]
    if not found:
        return None
    scored, written = (repr(text[-_SHOWN:]) for text in found[0])
    return (
        f"{several(len(found), 'prompt doubles', 'prompts double')} the white space around an "
        f"answer, which is scored as in {scored}. If {written} is meant, remove white space from "
        'the text or the answer, or give the separator "" (tacit score --separator "")'
    )


def _both_readings(request: object) -> tuple[str, str] | None:
    """Return the end of a prompt with an answer as it is scored, and as it may be meant."""
    if isinstance(request, RankingPrompt):
        answers = _spaced(request.vocabulary)
        prompt = request.asking(request.vocabulary.words[:1])
    elif isinstance(request, Prompt):
        answers, prompt = request.answers, request
    else:
        return None
    text, separator = prompt.text, prompt.separator
    if not separator:
        return None
    if around := prompt.around:
        before, after = around
        meant = before, after
    else:
        before, after = text + separator, ""
        meant = before.rstrip() if separator.strip() else text, after
        if _doubles(text, separator):
            first = prompt.answers[0]
            return before + first, text + separator.lstrip() + first
    for answer in answers:
        if _doubles(before, answer) or _doubles(answer, after):
            own = answer.strip() if around else answer
            return before + answer + after, own.join(meant)
    return None


def _doubles(before: str, after: str) -> bool:
    """Return whether two joined texts repeat white space; a blank before a line break is fine."""
    left, right = before[-1:], after[:1]
    return left.isspace() and right.isspace() and (right not in "\r\n" or left in "\r\n")


@lru_cache(maxsize=64)
def _spaced(vocabulary: Vocabulary) -> Sequence[str]:
    """Return the candidates that begin or end with white space."""
    return [word for word in vocabulary.words if word[0].isspace() or word[-1].isspace()]
