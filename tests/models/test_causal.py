from __future__ import annotations

import pytest

from tacit.errors import PromptError
from tacit.requests import Prompt
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, passes

CAUSAL = tiny.names("causal")
TREE = "In a tree, the trunk is above"


def values(model: Local, prompt: Prompt) -> list[float | None]:
    return [one.logprob for one in model.answer([prompt])[0].answers]


@pytest.mark.parametrize("name", CAUSAL)
def test_one_token_answers_take_one_pass(name: str, loaded: Loaded) -> None:
    """Answers of one token are read off one pass over the text, which goes in once."""
    model = loaded(name)
    tokenizer = tiny.tokenizer_of(name)
    answers = tiny.single(name)
    assert {one.tokens for one in model.answer([Prompt(TREE, answers)])[0].answers} == {1}
    before = len(tokenizer(TREE)["input_ids"])
    with passes(model) as seen:
        model.answer([Prompt(TREE, answers)])
    assert [(one.rows, one.tokens) for one in seen] == [(1, before)]


@pytest.mark.parametrize("name", ["opt", "gpt2"])
def test_bos_as_an_answer_is_text(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Behind BOS, its characters are scored."""
    tokenizer, reference = tiny.tokenizer_of(name), plain.load(name, folder_of(name))
    answer = str(tokenizer.bos_token)
    own = tokenizer(answer, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = [tokenizer.bos_token_id, *own]
    expected = sum(float(reference._logits(ids)[at, one]) for at, one in enumerate(own))
    assert values(loaded(name), Prompt("", (answer,), "")) == pytest.approx([expected], abs=1e-4)


def test_a_blank_inside_is_refused(loaded: Loaded) -> None:
    with pytest.raises(PromptError, match=r"'A ___ has fur'.*has text after its blank"):
        loaded("gpt2").answer([Prompt("A ___ has fur", ("bear",))])


@pytest.mark.parametrize("name", ["gpt2", "gpt-neo", "llama"])
def test_spanned(name: str, loaded: Loaded) -> None:
    """A text that ends in a space which its answer's token takes is spanned; a separator is not."""
    model = loaded(name)
    assert model.answer([Prompt("It is ", ("bird",), "")])[0]["bird"].spanned
    assert not model.answer([Prompt("It is", ("bird",), " ")])[0]["bird"].spanned
    assert not model.answer([Prompt("It is ___", ("bird",))])[0]["bird"].spanned
    assert values(model, Prompt("It is ", ("bird",), "")) == pytest.approx(
        values(model, Prompt("It is", ("bird",), " ")), abs=1e-5
    )
