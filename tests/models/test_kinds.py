"""What each kind of local model computes for a prompt, and the models and prompts it refuses."""

from pathlib import Path

import pytest

from tacit.errors import ModelError, PromptError
from tacit.requests import Prompt
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, passes

TREE = "In a tree, the trunk is above"


def values(model: Local, prompt: Prompt) -> list[float | None]:
    return [one.logprob for one in model.answer([prompt])[0].answers]


@pytest.mark.parametrize("name", ["gpt2", "opt", "bloom", "mamba", "bert", "roberta"])
def test_answers_of_one_token_are_read_off_one_row(name: str, loaded: Loaded) -> None:
    model, answers = loaded(name), tiny.single(name)
    text = TREE if model.kind == "causal" else "The ___ is above the roots"
    assert {one.tokens for one in model.answer([Prompt(text, answers)])[0].answers} == {1}
    with passes(model) as seen:
        model.answer([Prompt(text, answers)])
    (one,) = seen
    (row,) = one.arguments["input_ids"].tolist()
    tokenizer = tiny.tokenizer_of(name)
    if model.kind == "causal":
        assert one.tokens == len(tokenizer(text)["input_ids"])
    else:
        assert row.count(tokenizer.mask_token_id) == 1


@pytest.mark.parametrize("name", tiny.names("seq2seq"))
def test_the_encoder_runs_once_per_text(name: str, loaded: Loaded) -> None:
    """The encoder reads each text once, however many answers and decoder passes there are."""
    answers = ("True", "False", "a birdhouse", "a bird", "unbelievable, 12 345 words")
    prompts = [Prompt("Is it a tree?", answers), Prompt("It is", answers)]
    texts = [len(tiny.tokenizer_of(name)(prompt.text)["input_ids"]) for prompt in prompts]
    for batch_tokens, passes_made in ((100_000, 1), (1, 2)):
        with passes(loaded(name, batch_tokens)) as seen:
            loaded(name, batch_tokens).answer(prompts)
        encoded = [one for one in seen if one.part == "encoder"]
        assert len(encoded) == passes_made
        assert sum(one.tokens for one in encoded) == sum(texts)
        decoded = [one for one in seen if one.part == "model"]
        assert len(decoded) == (1 if batch_tokens > 1 else sum(one.rows for one in decoded))


@pytest.mark.parametrize("name", ["opt", "gpt2"])
def test_bos_as_an_answer_is_text(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Behind BOS, its characters are scored."""
    tokenizer, reference = tiny.tokenizer_of(name), plain.load(name, folder_of(name))
    answer = str(tokenizer.bos_token)
    own = tokenizer(answer, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    ids = [tokenizer.bos_token_id, *own]
    expected = sum(float(reference._logits(ids)[at, one]) for at, one in enumerate(own))
    assert values(loaded(name), Prompt("", (answer,), "")) == pytest.approx([expected], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "spans"), [("gpt2", True), ("llama", True), ("roberta", True), ("bert", False)]
)
def test_spanned(name: str, spans: bool, loaded: Loaded) -> None:  # noqa: FBT001 - a column
    """A space at the text's end is spanned where the answer's token takes it, and only there."""
    model = loaded(name)
    assert model.answer([Prompt("It is ", ("bird",), "")])[0]["bird"].spanned is spans
    assert not model.answer([Prompt("It is", ("bird",))])[0]["bird"].spanned
    assert not model.answer([Prompt("It is ___", ("bird",))])[0]["bird"].spanned


@pytest.mark.parametrize(
    ("name", "prompt", "message"),
    [
        ("gpt2", Prompt("A ___ has fur", ("bear",)), r"'A ___ has fur'.*has text after its blank"),
        ("bert", Prompt("It is", (" ",)), r"no token for the answer ' '"),
        ("bart", Prompt("A ___ has fur", ("bear",)), r"has a blank, but .* has no sentinel"),
    ],
)
def test_a_prompt_of_another_kind_is_refused(
    name: str, prompt: Prompt, message: str, loaded: Loaded
) -> None:
    with pytest.raises(PromptError, match=message):
        loaded(name).answer([prompt])


@pytest.mark.parametrize(
    ("name", "tokenizer", "message"),
    [("bert", "gpt2", "has no mask token"), ("t5", "t5", "has no decoder_start_token_id")],
)
def test_a_model_that_lacks_a_token_is_refused(
    name: str, tokenizer: str, message: str, tmp_path: Path
) -> None:
    model = tiny.make(name)
    model.config.decoder_start_token_id = None
    model.save_pretrained(tmp_path)
    tiny.tokenizer_of(tokenizer).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=message):
        tiny.load(tmp_path)
