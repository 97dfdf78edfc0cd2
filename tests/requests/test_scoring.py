from __future__ import annotations

import pytest

from tacit.errors import PromptError
from tacit.requests import AnswerScore, Prompt, Scores, Votes


def scores(values: dict[str, float | None]) -> Scores:
    """Scores of one token each."""
    return Scores(tuple(AnswerScore(answer, value, 1) for answer, value in values.items()))


@pytest.mark.parametrize(
    ("text", "answers", "message"),
    [
        ("It is", (), "'It is' has no answers"),
        ("It is", ("a", ""), "'It is' has an empty answer"),
        ("A ___ is ___", ("a",), r"has 2 blanks \(___\); at most one is allowed"),
        ("___ ___ ___", ("a",), "has 3 blanks"),
        ("half \ud83d", ("a",), r"\\ud83d', half of a surrogate pair"),
        ("It is", ("half \udc00",), r"\\udc00', half of a surrogate pair"),
    ],
)
def test_what_is_no_prompt(text: str, answers: tuple[str, ...], message: str) -> None:
    """What cannot be asked is an error that names the text."""
    with pytest.raises(PromptError, match=message):
        Prompt(text, answers)


def test_a_long_text_is_cut_in_messages() -> None:
    """An error names 80 characters of a text."""
    shown = Prompt("x" * 100, ("a",)).shown
    assert shown == f"the prompt '{'x' * 79}…'"
    assert Prompt("x" * 80, ("a",)).shown == f"the prompt '{'x' * 80}'"


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("A ___ has fur", ("A ", " has fur")),
        ("___", ("", "")),
        ("un___able.", ("un", "able.")),
        ("no blank", None),
        ("__ is two", None),
        ("____ is four", None),
        ("_______ and ___", ("_______ and ", "")),
    ],
)
def test_the_blank(text: str, around: tuple[str, str] | None) -> None:
    """Exactly three underscores are the blank; fewer or more are plain text."""
    assert Prompt(text, ("a",)).around == around


def test_bytes_are_of_utf8() -> None:
    """An answer's length counts UTF-8 bytes."""
    assert AnswerScore("né🐦", -1.0, 3).bytes == 7


def test_a_score_by_its_answer() -> None:
    """Scores are looked up by answer; another answer is a KeyError."""
    one = scores({"a": -1.0, "b": None})
    assert one["b"].logprob is None
    with pytest.raises(KeyError, match="c"):
        one["c"]


def test_votes() -> None:
    """A share is of the readable samples; of none it is undefined."""
    votes = Votes({"yes": 3, "no": 1}, unparsed=6)
    assert votes.share("yes") == 0.75
    assert votes.share("perhaps") == 0
    assert Votes({}, unparsed=5).share("yes") is None
    assert Votes({"yes": 0}).share("yes") is None
