from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import PromptError
from tacit.models.huggingface.alignment import Filled, Specials, Tokens, bare, locate
from tacit.models.huggingface.causal import CausalModel
from tacit.models.huggingface.encoding import Encoder, Inputs, beginning
from tacit.models.huggingface.tokenization import splits
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import Loaded

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def llama_3_like() -> PreTrainedTokenizerBase:
    """Byte-level BPE that splits words by a pattern of its own."""
    from tokenizers import Regex, pre_tokenizers

    tokenizer = tiny.gpt2_like()
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


BEFORE = -1
"""A special token with which no text begins, so that it is added before each."""


def behind(tokens: Tokens) -> Tokens:
    """An answer's input: no token after the answer, and the special token before all."""
    ids = (BEFORE, *tokens.ids[: tokens.end])
    return Tokens(ids, tokens.begin + 1, tokens.end + 1, tokens.spanned)


@cache
def bared(kind: str) -> PreTrainedTokenizerBase:
    """A tokenizer of a kind that adds nothing."""
    return bare({**tiny.TOKENIZERS, "llama_3_like": llama_3_like}[kind]())


PIECES = st.sampled_from(
    [
        *("True", "bird", "birdhouse", "don't", "12", "345", "café", "e\u0301", "ΟΣ", "🐻"),
        *(" ", "  ", "\n", "\t", "\u00a0", ".", "?", ":", "'s", "...", "▁", "Ġ", "##s", "-", "ﬁ"),
        *("<s>", "<mask>", "[MASK]", "<|endoftext|>", "</s>", "<unk>", " a", " the egg", " A"),
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
ANSWERS = st.lists(PIECES, min_size=1, max_size=3).map("".join)


@settings(max_examples=100)
@given(TEXTS, st.sampled_from([" ", "", "\n", ": "]), st.lists(ANSWERS, min_size=1, max_size=4))
@pytest.mark.parametrize("kind", [*tiny.TOKENIZERS, "llama_3_like"])
def test_parts_are_tokenized_as_the_whole(
    kind: str, text: str, separator: str, answers: list[str]
) -> None:
    """The answers' tokens and places are those of the whole strings, for every kind.

    What cannot be written as text is refused both ways.
    """
    tokenizer = bared(kind)
    assert splits(tokenizer)
    encoder = Encoder("a model", tokenizer, Specials((BEFORE,), ()), beginning)
    prompts = [Prompt(text, tuple(answers), separator)]
    before = text + separator
    filled = [Filled(before + a, len(before), len(before + a), len(text)) for a in answers]
    try:
        whole = locate(tokenizer, filled)
    except PromptError:
        with pytest.raises(PromptError, match="as a special token"):
            encoder.encode(prompts)
        return
    assert encoder.encode(prompts).of(0) == [one and behind(one) for one in whole]


def changed(kind: str) -> PreTrainedTokenizerBase:
    """GPT-2's kind of tokenizer with one thing changed, by which its words may reach further."""
    from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers

    tokenizer = tiny.gpt2_like()
    backend: Any = tokenizer.backend_tokenizer
    if kind == "no words":
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(use_regex=False)
    elif kind == "words of several":
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(r"\w+ \w+"), "isolated"),
                pre_tokenizers.ByteLevel(use_regex=False),
            ]
        )
    elif kind == "prepending":
        backend.normalizer = normalizers.Prepend("_")
    elif kind == "replacing":
        backend.normalizer = normalizers.Sequence([normalizers.Replace(" ", "_")])
    elif kind == "dropout":
        backend.model.dropout = 0.5
    elif kind == "no pre-tokenizer":
        backend.pre_tokenizer = pre_tokenizers.Sequence([])
    elif kind == "normalized to a word":
        backend.normalizer = normalizers.NFKC()
        backend.add_tokens([AddedToken("#\uff41", normalized=True)])
    else:
        backend.add_tokens([AddedToken({"added words": "a bird", "added word": "bird"}[kind])])
    return bare(tokenizer)


@pytest.mark.parametrize(
    "kind",
    [
        "no words",
        "words of several",
        "prepending",
        "replacing",
        "dropout",
        "no pre-tokenizer",
        "added words",
        "added word",
        "normalized to a word",
    ],
)
def test_whatever_may_reach_over_a_space_is_given_whole_strings(kind: str) -> None:
    """A tokenizer that is not known to split words before all else does not split strings."""
    assert not splits(changed(kind))


def test_each_prompt_is_tokenized_once(
    loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To plan it, to tell its block's cost and to score it."""
    model = loaded("gpt2")
    assert isinstance(model, CausalModel)
    written: list[Prompt] = []
    encode = model._encoder.encode

    def watched(of: Sequence[Prompt]) -> Inputs:
        written.extend(of)
        return encode(of)

    monkeypatch.setattr(model._encoder, "encode", watched)
    prompts = [
        Prompt(f"{word} is a {other}", ("tree", "bird"))
        for word in ("Tree", "Bird", "Egg", "Fur", "Trunk", "Crown")
        for other in ("tree", "bird", "egg yolk")
    ]
    engine = Engine(model, Store(tmp_path), block_tokens=8)
    plan = engine.plan(prompts)
    assert len(plan.blocks) > 1
    engine.ask(prompts, plan)
    assert sorted(written, key=str) == sorted(prompts, key=str)
