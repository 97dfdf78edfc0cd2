"""Replies of a chat, read as answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.requests import Sample
from tacit.requests.answer_parsing import read_answer, votes_of

TRUTH = ("True", "False")
WORDS = ("Yes", "No", "True", "False", "Right", "Wrong", "Correct", "Incorrect", "On", "Off")
NUMBERS = ("Yes", "No", "1", "0")
CASES = ("true", "True", "TRUE")

READ: dict[tuple[tuple[str, ...], str | None], tuple[str, ...]] = {
    # In any case, quotation marks, emphasis, and behind "the answer is".
    (TRUTH, "True"): (
        *("True", " true.", "“True”, I think.", "The answer is: **True**", "True;", "[True]"),
        *("True, the stone is inside", "True. Stones are inside.", "True - the stone is inside"),
        *("True\n\nExplanation: the stone is inside", "(**True**), I think", "(Answer: True)"),
        *("**True.** It is inside.", "**Answer**: True", "- True"),
    ),
    (TRUTH, "False"): (
        *("**False**", "FALSE!\nBecause the lid is above.", "Answer: False", "False—definitely"),
        *("The final answer is false", "False — it is outside"),
    ),
    # Nothing is guessed, also where a person would.
    (TRUTH, None): (
        *("", "   ", "True or false?", "True, or is it false?", "True/False", "Truest", "ture"),
        *("It is true.", "I would say True", "Not true.", "1", "True\n\nWait, no: False"),
        "False. It is not true that the stone is outside.",
        "FALSE!\nBecause it is not true.",
        "True enough that I would not object",
    ),
    # Neither the word in front of "answer", nor a number that goes on, nor that of a list.
    (NUMBERS, None): (
        *("No answer", "No correct answer", "No answer (insufficient information)", "0.5"),
        *("0.9 probability", "1 of them", "No1"),
        "1. The lid is above the pot.\n2. The pot is below the lid.",
    ),
    (NUMBERS, "1"): ("**1**.",),
    (NUMBERS, "0"): ("The answer is 0.",),
    # One answer may begin with another, or differ from it in case alone.
    (("no", "no, never"), "no, never"): ("no, never",),
    (("no", "no, never"), None): ("no, never mind",),
    (CASES, "TRUE"): ("TRUE", "**TRUE**, True"),
    (CASES[:2], "true"): ("tRUE",),
    (WORDS, "Incorrect"): ("Incorrect.",),
    (WORDS, None): ("No, correct.",),
    # A # and brackets are an answer's own; an apostrophe goes on with a word.
    (("C", "C#"), "C#"): ("C#",),
    (("(a)", "(b)"), "(a)"): ("**(a)**",),
    (("I", "II"), None): ("I'm sure",),
    (("I", "II"), "I"): ("'I'",),
    (("Answer A", "Answer B"), "Answer A"): ("Answer A.",),
}


@pytest.mark.parametrize(
    ("reply", "answers", "read"),
    [(reply, *expected) for expected, replies in READ.items() for reply in replies],
)
def test_a_reply_is_the_answer_that_it_begins_with_or_none(
    reply: str, answers: tuple[str, ...], read: str | None
) -> None:
    assert read_answer(reply, answers) == read


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


@given(st.sampled_from(WORDS), st.sampled_from(["", ".", "!", "\n", ", ", " \n\nSo it is."]))
def test_every_answer_is_read_as_itself(answer: str, behind: str) -> None:
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
    assert votes_of([Sample("True", "thinking")], TRUTH).share("True") is None


@pytest.mark.parametrize(
    ("reply", "answers", "read"),
    [
        *((one, TRUTH, None) for one in ("True", "The answer is **true", "False. It is true")),
        ("The answer is I", ("I", "IX"), None),
        ("The answer is I", ("I", "Ix"), None),
        *((one, TRUTH, "True") for one in ("True, as it is wri", "True.")),
    ],
)
def test_the_last_word_of_a_reply_that_was_cut_may_go_on(
    reply: str, answers: tuple[str, ...], read: str | None
) -> None:
    """So it is no answer, and an answer before it is one all the same."""
    votes = votes_of([Sample(reply, "cut")], answers)
    assert [answer for answer, count in votes.counts.items() if count] == [read] * bool(read)
