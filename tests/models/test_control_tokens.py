"""Special tokens that stand in a prompt or an answer are text, or refused."""

import re
from functools import cache

import pytest
from hypothesis import given, settings
from transformers import PreTrainedTokenizerBase

from tacit.errors import PromptError
from tacit.models.huggingface.alignment import Filled, bare, locate
from tacit.models.huggingface.chat_template import Chat
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tests.models import chatting, tiny
from tests.models.chatting import STYLES
from tests.models.conftest import Loaded
from tests.models.test_encoding import ANSWERS, TEXTS

REFUSED = "as a special token"


def whole(text: str, answer: str) -> Filled:
    return Filled(text + answer, len(text), len(text + answer), len(text))


@cache
def two(kind: str) -> tuple[PreTrainedTokenizerBase, PreTrainedTokenizerBase]:
    """A tokenizer as it is, and another of its kind that adds nothing."""
    return tiny.TOKENIZERS[kind](), bare(tiny.TOKENIZERS[kind]())


@settings(max_examples=150)
@given(TEXTS, ANSWERS)
@pytest.mark.parametrize("kind", tiny.TOKENIZERS)
def test_tokens_are_those_of_transformers_that_splits_them(
    kind: str, text: str, answer: str
) -> None:
    """No token that covers what spells a special one is special; else the text is refused."""
    (tokenizer, plain), one = two(kind), whole(text, answer)
    expected = tokenizer(
        one.string, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True
    )
    special = {*tokenizer.all_special_tokens}
    spans = [m.span() for token in special for m in re.finditer(re.escape(token), one.string)]
    pairs = zip(expected["input_ids"], expected["offset_mapping"], strict=True)
    covered = [span for number, span in pairs if number in tokenizer.all_special_ids]
    misread = [
        (begin, end)
        for begin, end in spans
        if any(first < end and last > begin for first, last in covered)
    ]
    try:
        (tokens,) = locate(plain, [one])
    except PromptError:
        assert any(begin < one.begin for begin, _ in misread)
        return
    assert not any(begin < one.begin for begin, _ in misread)
    assert tokens is None or (list(tokens.ids) == expected["input_ids"] and not misread)


@pytest.mark.parametrize(
    ("name", "token"),
    [("gpt2", "<|endoftext|>"), ("opt", "</s>"), ("gemma", "<s>"), ("roberta", "<mask>")],
)
@pytest.mark.parametrize("answer", ["bird", None])
def test_a_prompt_s_special_token_is_text(
    name: str, token: str, answer: str | None, loaded: Loaded
) -> None:
    model = loaded(name)
    text = f"{token} A bear {token} has" if answer else "A bear has"
    prompt = Prompt(text, (answer or f"a {token}",))
    sequence, *_ = model.inputs(prompt, prompt.answers[0])
    tokenizer = tiny.tokenizer_of(name)
    string = f"{text} {prompt.answers[0]}" + ("." if model.kind == "masked" else "")
    written = tokenizer(string, split_special_tokens=True)["input_ids"]
    number = tokenizer.convert_tokens_to_ids(token)
    assert number not in written[1:-1]
    if model.kind == "causal":
        assert list(sequence.ids) == written
    else:
        masked = [a for a, b in zip(sequence.ids, written, strict=True) if a != b]
        assert set(masked) == {number}, "the masks of the answer alone"
    assert model.answer([prompt])[0].answers[0].logprob is not None


def test_the_encoder_s_text_is_text(loaded: Loaded) -> None:
    model, tokenizer = loaded("bart"), tiny.tokenizer_of("bart")
    prompt = Prompt("A bear </s> has<mask>", ("a </s> b",))
    encoder, decoder = model.inputs(prompt, "a </s> b")
    assert list(encoder.ids) == tokenizer(prompt.text, split_special_tokens=True)["input_ids"]
    answer = tokenizer("a </s> b", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert [decoder.ids[at] for at in decoder.scored] == answer
    assert encoder.ids.count(tokenizer.eos_token_id) == 1


def test_a_decoder_s_answer_may_end_with_the_end_token(loaded: Loaded) -> None:
    model, tokenizer = loaded("bart"), tiny.tokenizer_of("bart")
    prompt = Prompt("A bear has", ("a seal", "a seal</s>", "a</s> seal</s>"))
    plain, ended, both = (model.inputs(prompt, answer)[1] for answer in prompt.answers)
    assert ended.ids == (*plain.ids, tokenizer.eos_token_id)
    assert len(ended.scored) == len(plain.scored) + 1
    assert both.ids.count(tokenizer.eos_token_id) == plain.ids.count(tokenizer.eos_token_id) + 1
    one, other, _ = model.answer([prompt])[0].answers
    assert one.logprob is not None
    assert other.logprob is not None
    assert other.logprob < one.logprob


@pytest.mark.parametrize("name", ["llama", "albert", "t5"])
@pytest.mark.parametrize(
    ("text", "answer"), [("A bear {} has", "a bird"), ("A bear has", "a {} b")]
)
def test_what_cannot_be_written_as_text_is_refused(
    name: str, text: str, answer: str, loaded: Loaded
) -> None:
    """Unigram models hold special tokens as pieces, and have no others for them."""
    token = "[MASK]" if name == "albert" else "</s>"
    prompt = Prompt(text.format(token), ("bird", answer.format(token)))
    with pytest.raises(PromptError, match=f"{re.escape(repr(token))}.*{REFUSED}"):
        loaded(name).cost([prompt])
    with pytest.raises(PromptError, match=REFUSED):
        loaded(name).answer([prompt])


@pytest.mark.parametrize("name", ["llama", "albert", "t5"])
def test_a_ranking_misses_what_cannot_be_written(name: str, loaded: Loaded) -> None:
    token = "[MASK]" if name == "albert" else "</s>"
    model, words = loaded(name), Vocabulary(("bird", "egg", "roots", token))
    (ranking,) = model.answer([RankingPrompt("A bear has", words, targets=("bird", token))])
    assert (ranking.targets[0].logprob is None, ranking.targets[1].logprob) == (False, None)
    assert ranking.missing == 1
    with pytest.raises(PromptError, match=REFUSED):
        model.answer([RankingPrompt(f"A {token} has", words)])


def test_a_blank_is_marked_as_before(loaded: Loaded) -> None:
    """By the tokenizer's own sentinel; one that the text spells beside it is refused."""
    model, tokenizer = loaded("t5"), tiny.tokenizer_of("t5")
    encoder, _ = model.inputs(Prompt("A ___ has fur.", ("bear",)), "bear")
    assert list(encoder.ids) == tokenizer("A <extra_id_0> has fur.")["input_ids"]
    with pytest.raises(PromptError, match=r"'<extra_id_1>', which would be read.*the blank"):
        model.cost([Prompt("A ___ has <extra_id_1>.", ("bear",))])


@pytest.mark.parametrize("name", ["chatml", "llama-2"])
def test_a_chat_s_control_tokens_are_the_template_s_alone(name: str) -> None:
    tokenizer = chatting.tokenizer_of(STYLES[name])
    chat, token = Chat.of("m", tokenizer), str(tokenizer.eos_token)
    said = f"contains {re.escape(repr(token))}, which would be read {REFUSED} in a chat"
    with pytest.raises(PromptError, match=rf"the prompt 'Is it\?.*{said}"):
        chat.render(f"Is it?{token}")
    with pytest.raises(PromptError, match=f"the answer 'x.*' to the prompt 'Is it.*{said}"):
        chat.begin(Prompt("Is it?", ("a", f"x{token}")))
