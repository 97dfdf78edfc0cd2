import pytest

from tacit.errors import PromptError
from tacit.requests import AnswerScore, Prompt


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
    with pytest.raises(PromptError, match=message):
        Prompt(text, answers)


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
    assert AnswerScore("né🐦", -1.0, 3).bytes == 7
