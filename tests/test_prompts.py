from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import PromptError
from tacit.prompts import AnswerScore, LogProbs, Prompt, Ranking, Votes

LOGPROBS = st.dictionaries(
    st.text(min_size=1, max_size=3), st.floats(-50, -1e-3).map(lambda x: round(x, 1)), min_size=1
)


def scores(values: dict[str, float | None]) -> LogProbs:
    """Scores of one token each."""
    return LogProbs(tuple(AnswerScore(answer, value, 1) for answer, value in values.items()))


@pytest.mark.parametrize(
    ("text", "answers", "message"),
    [
        ("It is", (), "'It is' has no answers"),
        ("It is", ("a", ""), "'It is' has an empty answer"),
        ("A ___ is ___", ("a",), r"has 2 blanks \(___\); one is the most"),
        ("___ ___ ___", ("a",), "has 3 blanks"),
        ("half \ud83d", ("a",), r"\\ud83d', half of a character"),
        ("It is", ("half \udc00",), r"\\udc00', half of a character"),
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


@given(LOGPROBS, st.data())
def test_ranking(values: dict[str, float], data: st.DataObject) -> None:
    """The rank counts every other answer that is no worse; the normaliser sums probabilities."""
    target = data.draw(st.sampled_from(sorted(values)))
    ranking = Ranking.of(scores(dict(values)), target, top=3)
    others = [value for answer, value in values.items() if answer != target]
    assert ranking.rank == 1 + sum(value >= values[target] for value in others)
    assert ranking.logprob == values[target]
    assert ranking.normaliser == pytest.approx(math.log(sum(map(math.exp, values.values()))))
    assert len(ranking.top) == min(3, len(values))
    best = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    assert list(ranking.top) == best[:3]


def test_a_ranking_of_very_unlikely_answers() -> None:
    """Log-probabilities far below what exp can hold still have a normaliser."""
    ranking = Ranking.of(scores({"a": -2000.0, "b": -2000.0}), "a")
    assert ranking.normaliser == pytest.approx(-2000 + math.log(2))
    assert ranking.rank == 2


def test_no_ranking() -> None:
    """Without a log-probability for all, or without the target, there is no ranking."""
    with pytest.raises(PromptError, match="no log-probability"):
        Ranking.of(scores({"a": -1.0, "b": None}), "a")
    with pytest.raises(PromptError, match="'c' is none of the 1 answers"):
        Ranking.of(scores({"a": -1.0}), "c")


def test_votes() -> None:
    """A share is of the readable samples; of none it is undefined."""
    votes = Votes({"yes": 3, "no": 1}, unparsed=6)
    assert votes.share("yes") == 0.75
    assert votes.share("perhaps") == 0
    assert Votes({}, unparsed=5).share("yes") is None
    assert Votes({"yes": 0}).share("yes") is None
