"""Replies of a chat, read as answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.requests import Sample
from tacit.requests.answer_parsing import read_answer, votes_of

TRUTH = ("True", "False")
WORDS = ("Yes", "No", "True", "False", "Right", "Wrong", "Correct", "Incorrect", "On", "Off")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("True", "True"),
        (" true.", "True"),
        ("**False**", "False"),
        ("FALSE!\nBecause the lid is above.", "False"),
        ("“True”, I think.", "True"),
        ("Answer: False", "False"),
        ("The answer is: **True**", "True"),
        ("The final answer is false", "False"),
        ("True, the stone is inside", "True"),
        ("True. Stones are inside.", "True"),
        ("True;", "True"),
        ("True - the stone is inside", "True"),
        ("True\n\nExplanation: the stone is inside", "True"),
        ("False — it is outside", "False"),
        ("[True]", "True"),
        ("(**True**), I think", "True"),
        ("(Answer: True)", "True"),
        ("**True.** It is inside.", "True"),
        ("**Answer**: True", "True"),
        ("- True", "True"),
        ("False—definitely", "False"),
    ],
)
def test_a_reply_that_begins_with_an_answer_is_that_answer(reply: str, answer: str) -> None:
    """In any case, quotation marks, emphasis, and behind "the answer is"."""
    assert read_answer(reply, TRUTH) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "True or false?",
        "True, or is it false?",
        "True/False",
        "Truest",
        "It is true.",
        "I would say True",
        "False. It is not true that the stone is outside.",
        "FALSE!\nBecause it is not true.",
        "True\n\nWait, no: False",
        "Not true.",
        "True enough that I would not object",
        "1",
        "ture",
    ],
)
def test_a_reply_that_is_not_certain_is_no_answer(reply: str) -> None:
    """Nothing is guessed, also where a person would."""
    assert read_answer(reply, TRUTH) is None


@pytest.mark.parametrize(
    "behind",
    [
        *("?", "? No.", "? I do not think so.", ": incorrect", ":", " (not)", " (it is inside)"),
        *("…", "...", "... not!", ".. not", ".” … not", "!!! Not", "!?", ". . . not"),
        *(" is wrong", "** is wrong", '" or not', "]", ") I would not say", " not", "-ish"),
    ],
)
def test_what_goes_on_or_asks_behind_an_answer_may_take_it_back(behind: str) -> None:
    """Only one end of a sentence, of a part of one, or of a line makes an answer of a word."""
    assert read_answer(f"True{behind}", TRUTH) is None
    assert read_answer(f"**The answer is: True{behind}", TRUTH) is None


def test_the_longest_answer_counts_and_case_decides_among_alike() -> None:
    """One answer may begin with another, or differ from it in case alone."""
    assert read_answer("no, never", ("no", "no, never")) == "no, never"
    assert read_answer("no, never mind", ("no", "no, never")) is None
    assert read_answer("TRUE", ("true", "True", "TRUE")) == "TRUE"
    assert read_answer("tRUE", ("true", "True")) == "true"
    assert read_answer("**TRUE**, True", ("true", "True", "TRUE")) == "TRUE"
    assert read_answer("Incorrect.", WORDS) == "Incorrect"
    assert read_answer("No, correct.", WORDS) is None


@pytest.mark.parametrize(
    "reply",
    [
        "No answer",
        "No correct answer",
        "No answer (insufficient information)",
        "0.5",
        "0.9 probability",
        "1. The lid is above the pot.\n2. The pot is below the lid.",
        "1 of them",
        "No1",
    ],
)
def test_a_word_or_number_that_goes_on_is_no_answer(reply: str) -> None:
    """Neither of the words in front of "answer", nor of a number, nor of a list."""
    assert read_answer(reply, ("Yes", "No", "1", "0")) is None


def test_a_number_alone_is_an_answer() -> None:
    """With its mark, its emphasis and its lead."""
    assert read_answer("**1**.", ("1", "0")) == "1"
    assert read_answer("The answer is 0.", ("1", "0")) == "0"


def test_an_answer_keeps_the_marks_that_are_its_own() -> None:
    """A # and brackets; an apostrophe goes on with a word."""
    assert read_answer("C#", ("C", "C#")) == "C#"
    assert read_answer("**(a)**", ("(a)", "(b)")) == "(a)"
    assert read_answer("I'm sure", ("I", "II")) is None
    assert read_answer("'I'", ("I", "II")) == "I"
    assert read_answer("Answer A.", ("Answer A", "Answer B")) == "Answer A"


@given(st.sampled_from(WORDS), st.sampled_from(["", ".", "!", "\n", ", ", " \n\nSo it is."]))
def test_every_answer_is_read_as_itself(answer: str, behind: str) -> None:
    """Whatever ends it."""
    assert read_answer(answer + behind, WORDS) == answer


@given(st.text(max_size=30), st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
def test_what_is_read_stands_at_the_beginning(reply: str, answers: list[str]) -> None:
    """No reply is read as an answer whose letters it does not hold."""
    read = read_answer(reply, answers)
    assert read is None or (read in answers and read.casefold() in reply.casefold())


def test_votes_count_every_sample_once() -> None:
    """As an answer or as unparsed; those cut while thinking are among the latter."""
    replies = ["True", "true.", "False", "Perhaps", ""]
    samples = [*map(Sample, replies), Sample("True, as", "cut"), Sample("", "thinking")]
    votes = votes_of(samples, TRUTH)
    assert votes.counts == {"True": 3, "False": 1}
    assert (votes.unparsed, votes.truncated) == (3, 1)
    assert votes.parsed + votes.unparsed == len(samples)
    assert votes.share("True") == 3 / 4


@pytest.mark.parametrize(
    ("reply", "answers", "read"),
    [
        ("True", TRUTH, None),
        ("The answer is **true", TRUTH, None),
        ("False. It is true", TRUTH, None),
        ("The answer is I", ("I", "IX"), None),
        ("The answer is I", ("I", "Ix"), None),
        ("True, as it is wri", TRUTH, "True"),
        ("True.", TRUTH, "True"),
    ],
)
def test_the_last_word_of_a_reply_that_was_cut_may_go_on(
    reply: str, answers: tuple[str, ...], read: str | None
) -> None:
    """So it is no answer, and an answer before it is one all the same."""
    votes = votes_of([Sample(reply, "cut")], answers)
    assert [answer for answer, count in votes.counts.items() if count] == [read] * bool(read)


def test_a_cut_thought_is_not_read_whatever_it_says() -> None:
    """It is no reply yet."""
    assert votes_of([Sample("True", "thinking")], TRUTH).share("True") is None
