from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import PromptError
from tacit.requests import Prompt
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, passes

CAUSAL = tiny.names("causal")
TREE = "In a tree, the trunk is above"
MANY = ("the roots", "the egg yolk", "birds", "a birdhouse", "unbelievable", "True or False?")


def wrong(name: str, folder: Path, prompt: Prompt, values: list[float | None]) -> float:
    """The largest difference from the plain computation."""
    reference = plain.load(name, folder)
    expected = [reference.score(prompt, answer)[0] for answer in prompt.answers]
    return max(abs(a - b) for a, b in zip(expected, values, strict=True) if b is not None)


def values(model: Local, prompt: Prompt) -> list[float | None]:
    """A prompt's log-probabilities."""
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


@pytest.mark.parametrize("name", ["mistral", "gemma3", "gpt-neo-local"])
def test_texts_longer_than_a_local_window(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Local attention is right for texts around and beyond its window, in mixed batches."""
    model = loaded(name)
    prompts = [Prompt("a" + " a tree" * words, MANY) for words in (0, 1, 2, 3, 4, 5, 9)]
    for prompt, score in zip(prompts, model.answer(prompts), strict=True):
        scored = [one.logprob for one in score.answers]
        assert wrong(name, folder_of(name), prompt, scored) < 1e-4


@pytest.mark.parametrize("name", ["opt", "gemma3"])
def test_bos_is_never_doubled(name: str, loaded: Loaded) -> None:
    """A text that begins with the BOS string has it as text, behind the one BOS."""
    model = loaded(name)
    bos = tiny.tokenizer_of(name).bos_token_id
    prompt = Prompt("<s> In a tree", ("bird", "roots"))
    with passes(model) as seen:
        begun = values(model, prompt)
    for one in seen:
        ids = one.arguments["input_ids"]
        assert int((ids == bos).sum()) == (
            len(ids) if "past_key_values" not in one.arguments else 0
        )
    assert begun != pytest.approx(values(model, replace(prompt, text=" In a tree")), abs=1e-2)


@pytest.mark.parametrize("name", CAUSAL)
def test_an_empty_text_is_preceded_by_bos(name: str, loaded: Loaded) -> None:
    """Whatever the separator, all answers to an empty text follow exactly one BOS."""
    model = loaded(name, 1)
    bos = tiny.tokenizer_of(name).bos_token_id
    for separator in ("", " ", "\n"):
        with passes(model) as seen:
            model.answer([Prompt("", ("True", "In a tree", "unbelievable"), separator)])
        for one in seen:
            ids = one.arguments["input_ids"].tolist()
            assert all(row[0] == bos and row.count(bos) == 1 for row in ids) or (
                "past_key_values" in one.arguments
            )


@pytest.mark.parametrize("name", ["opt", "gpt2"])
def test_bos_as_an_answer_is_text(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Behind BOS, its characters are scored."""
    import torch

    tokenizer, reference = tiny.tokenizer_of(name), plain.load(name, folder_of(name))
    answer = str(tokenizer.bos_token)
    own = tokenizer(answer, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = [tokenizer.bos_token_id, *own]
    with torch.inference_mode():
        logits = reference.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = sum(float(logits[at, one]) for at, one in enumerate(own))
    assert values(loaded(name), Prompt("", (answer,), "")) == pytest.approx([expected], abs=1e-4)


def test_a_blank_inside_is_refused(loaded: Loaded) -> None:
    """Text behind the blank is an error that names the prompt."""
    with pytest.raises(PromptError, match=r"'A ___ has fur'.*has text after its blank"):
        loaded("gpt2").answer([Prompt("A ___ has fur", ("bear",))])


def test_a_blank_at_the_end_is_where_the_answer_goes(loaded: Loaded) -> None:
    """A blank at the end equals no blank; the separator then plays no part."""
    model = loaded("gpt2")
    blank = Prompt("It is called a ___", ("bird", "birdhouse"), "\n")
    assert values(model, blank) == pytest.approx(
        values(model, Prompt("It is called a", blank.answers)), abs=1e-5
    )


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
