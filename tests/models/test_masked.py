from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.errors import ModelError, PromptError
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import Loaded
from tests.models.passes import Pass, passes

MASKED = tiny.names("masked")


def rows_of(seen: list[Pass]) -> list[list[int]]:
    return [row for one in seen for row in one.arguments["input_ids"].tolist()]


@pytest.mark.parametrize("name", MASKED)
def test_one_token_answers_take_one_row(name: str, loaded: Loaded) -> None:
    """Answers of one token are all read off one row with one mask."""
    model = loaded(name)
    prompt = Prompt("The ___ is above the roots", tiny.single(name))
    assert {one.tokens for one in model.answer([prompt])[0].answers} == {1}
    with passes(model) as seen:
        model.answer([prompt])
    (row,) = rows_of(seen)
    assert row.count(tiny.tokenizer_of(name).mask_token_id) == 1


def test_an_answer_inside_a_word_may_be_spanned(loaded: Loaded) -> None:
    """A token that reaches over the answer's end belongs to the answer, which is then spanned."""
    scores = loaded("bert").answer(
        [Prompt("un___able", ("believ",)), Prompt("un ___ able", ("egg",))]
    )
    assert scores[0].answers[0].spanned
    assert not scores[1].answers[0].spanned


def test_an_answer_that_the_tokenizer_drops(loaded: Loaded) -> None:
    with pytest.raises(PromptError, match=r"no token for the answer ' '"):
        loaded("bert").answer([Prompt("It is", (" ",))])


def test_no_mask_token(tmp_path: Path, folder_of: Callable[[str], Path]) -> None:
    import transformers

    tiny.make("bert").save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of("gpt2"))
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no mask token"):
        tiny.load(tmp_path)


@pytest.mark.parametrize(("name", "spans"), [("roberta", True), ("albert", True), ("bert", False)])
def test_spanned(name: str, spans: bool, loaded: Loaded) -> None:  # noqa: FBT001 - a column
    """A space at the text's end is spanned where the answer's token takes it, and only there."""
    model = loaded(name)
    assert model.answer([Prompt("It is ", ("bird",), "")])[0]["bird"].spanned is spans
    assert not model.answer([Prompt("It is", ("bird",))])[0]["bird"].spanned
    assert not model.answer([Prompt("It is ___ here", ("bird",))])[0]["bird"].spanned
