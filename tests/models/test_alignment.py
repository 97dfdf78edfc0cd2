from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.alignment import (
    Filled,
    Specials,
    Tokens,
    answer_tokens,
    bare,
    locate,
    tokenize,
)
from tests.models import tiny

# Letters that merge, spaces, line ends, combining marks and characters of several bytes.
CHARACTERS = st.sampled_from(
    [*"TreFals dbihouyk.,'?12_\n\t ", " ", "  ", "é", "e\u0301", "🐦", "鳥"]
)
TEXT = st.lists(CHARACTERS, max_size=12).map("".join)
ANSWER = st.lists(CHARACTERS, min_size=1, max_size=8).map("".join)
SEPARATOR = st.sampled_from([" ", "\n", "", ": "])


def filled(text: str, separator: str, answer: str, after: str = "") -> Filled:
    begin = len(text + separator)
    string = text + separator + answer + after
    return Filled(string, begin, begin + len(answer), len(text))


def byte_spans(tokenizer: PreTrainedTokenizerBase, ids: tuple[int, ...]) -> list[tuple[int, int]]:
    """Where the tokens of byte-level BPE begin and end, in bytes: each letter of one is a byte."""
    spans, at = [], 0
    for piece in tokenizer.convert_ids_to_tokens(list(ids)):
        spans.append((at, at + len(piece)))
        at += len(piece)
    return spans


@pytest.mark.parametrize("make", [tiny.gpt2_like, tiny.trimming, tiny.byte_level_with_bos])
def test_the_rule_holds_for_any_text(make: Callable[[], PreTrainedTokenizerBase]) -> None:
    """By the bytes of each token: those that reach beyond the text are scored, and no other."""
    tokenizer = make()
    plain = bare(tokenizer)

    @given(TEXT, SEPARATOR, ANSWER, TEXT)
    def check(text: str, separator: str, answer: str, after: str) -> None:
        one = filled(text, separator, answer, after)
        (tokens,) = tokenize(plain, [one])
        whole = tokenizer(one.string, add_special_tokens=False)["input_ids"]
        assert list(tokens.ids) == whole
        assert 0 <= tokens.begin < tokens.end <= len(whole)
        end, text_end = (len(one.string[:at].encode()) for at in (one.end, one.text_end))
        spans = byte_spans(tokenizer, tokens.ids)
        assert spans[-1][1] == len(one.string.encode())
        covering = [i for i, span in enumerate(spans) if span[0] < end and span[1] > text_end]
        assert covering == list(range(tokens.begin, tokens.end))
        first, last = spans[tokens.begin], spans[tokens.end - 1]
        assert tokens.spanned is (first[0] < text_end or last[1] > end)

    check()


@pytest.mark.parametrize("make", [tiny.word_piece, tiny.t5_like, tiny.llama_like, tiny.albert_like])
def test_any_text_of_other_tokenizers(make: Callable[[], PreTrainedTokenizerBase]) -> None:
    """The ids are those of the whole string, and those to score are found by its characters."""
    tokenizer = make()
    plain = bare(tokenizer)

    @given(TEXT, SEPARATOR, ANSWER, TEXT)
    def check(text: str, separator: str, answer: str, after: str) -> None:
        one = filled(text, separator, answer, after)
        whole = tokenizer(one.string, add_special_tokens=False)
        held, joining = (
            {whole.char_to_token(at) for at in range(*ends)} - {None}
            for ends in ((one.begin, one.end), (one.text_end, one.begin))
        )
        if not held:
            with pytest.raises(PromptError, match="produces no token"):
                tokenize(plain, [one])
            return
        (tokens,) = tokenize(plain, [one])
        assert list(tokens.ids) == whole["input_ids"]
        assert held | joining <= set(range(tokens.begin, tokens.end))
        assert tokens.begin == (min(held | joining) if text else 0)
        spans = [whole.token_to_chars(at) for at in range(tokens.begin, tokens.end)]
        assert tokens.spanned is (spans[0].start < one.text_end or spans[-1].end > one.end)

    check()


@pytest.mark.parametrize(
    ("make", "text", "separator", "answer", "scored"),
    [
        (tiny.gpt2_like, "It is", " ", "bird", ["Ġbird"]),
        (tiny.gpt2_like, "It is", " ", "🐦", ["Ġ", "ð", "Ł", "Ĳ", "¦"]),
        (tiny.gpt2_like, "It is", "\n", "a", ["Ċ", "a"]),
        (tiny.gpt2_like, "It is", ": ", "bird", [":", "Ġbird"]),
        (tiny.gpt2_like, "It i", "", "s", ["Ġis"]),
        (tiny.gpt2_like, "It is ", " ", "bird", ["Ġbird"]),
        (tiny.gpt2_like, "It is", " ", " bird", ["Ġ", "Ġbird"]),
        (tiny.gpt2_like, "", " ", "bird", ["Ġbird"]),
        (tiny.llama_like, "It is", " ", "bird", ["▁bird"]),
        (tiny.llama_like, "It is", " ", "don", ["▁do", "n"]),
        (tiny.llama_like, "It is", " ", "💧", ["▁", "<unk>"]),
        (tiny.llama_like, "It is", " ", ",", ["▁", ","]),
        (tiny.llama_like, "", "", ",", ["▁", ","]),
        (tiny.llama_like, "", " ", ",", ["▁", ","]),
        (tiny.albert_like, "It is", " ", ",", ["▁", ","]),
        (tiny.word_piece, "It is", " ", "bird", ["bird"]),
        (tiny.word_piece, "It is", ": ", "bird", [":", "bird"]),
    ],
)
def test_what_is_scored(
    make: Callable[[], PreTrainedTokenizerBase],
    text: str,
    separator: str,
    answer: str,
    scored: list[str],
) -> None:
    """The separator is scored with the answer, as a token of its own or as a part of one."""
    tokenizer = make()
    (tokens,) = tokenize(bare(tokenizer), [filled(text, separator, answer)])
    own = list(tokens.ids[tokens.begin : tokens.end])
    assert tokenizer.convert_ids_to_tokens(own) == scored


def test_a_token_of_no_character() -> None:
    """A space that a server's tokenizer puts before a string is scored where no text follows it."""
    ids, offsets = (5, 6), ((0, 0), (0, 1))
    assert answer_tokens(ids, offsets, filled("", "", "1")) == Tokens(ids, 0, 2, spanned=False)
    assert answer_tokens((*ids, 7), (*offsets, (1, 2)), filled("1", "", "2")) == Tokens(
        (*ids, 7), 2, 3, spanned=False
    )


@pytest.mark.parametrize("make", tiny.TOKENIZERS.values(), ids=tiny.TOKENIZERS)
def test_rivals_are_conditioned_on_the_same_text(
    make: Callable[[], PreTrainedTokenizerBase],
) -> None:
    """What precedes the scored tokens is the same for all answers to a text that are not spanned.

    A token that precedes them covers nothing of the separator or the answer.
    """
    tokenizer = make()
    plain = bare(tokenizer)

    @given(TEXT, SEPARATOR, st.lists(ANSWER, min_size=2, max_size=5), TEXT)
    def check(text: str, separator: str, answers: list[str], after: str) -> None:
        several = [filled(text, separator, answer, after) for answer in answers]
        found = [one for one in locate(plain, several) if one and not one.spanned]
        assert len({one.ids[: one.begin] for one in found}) <= 1
        for one, whole in zip(locate(plain, several), several, strict=True):
            offsets = plain(whole.string, return_offsets_mapping=True)["offset_mapping"]
            assert one is None or all(end <= len(text) for _, end in offsets[: one.begin])

    check()


def test_special_tokens_that_change_a_text() -> None:
    class Changing:
        def __call__(self, _text: str, *, add_special_tokens: bool = True) -> dict[str, list[int]]:
            return {"input_ids": [1, 2] if add_special_tokens else [3]}

    with pytest.raises(ModelError, match="encodes a text differently"):
        Specials.of(Changing())  # type: ignore[arg-type]
