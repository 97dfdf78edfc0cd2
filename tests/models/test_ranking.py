import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import PromptError, ScoringError
from tacit.models.huggingface import vocabulary
from tacit.requests import Prompt, Ranking, RankingPrompt, Vocabulary
from tests.models import plain, tiny
from tests.models.conftest import FolderOf, Loaded
from tests.models.passes import Local, passes
from tests.models.prompts import encodes, prompts_for

TOLERANCE = 1e-4
TARGETS = ("a", "bird", "birdhouse", "True", "egg yolk", "🐦")
WORDS = (
    *("a", "above", "bear", "bird", "birdbath", "birdhouse", "birds", "branches", "cat", "claws"),
    *("crown", "egg", "egg yolk", "fur", "house", "is", "roots", "tree", "trunk", "unbelievable"),
    *("true", "True", "TRUE", "Trues", "12", "345", "'s", ",", "naïve", "🐦", "🐻 bear"),
)
VOCABULARY = Vocabulary(WORDS)
OTHER = Vocabulary(("bird", "egg", "tree", "claws"))


def asked_of(name: str) -> list[RankingPrompt]:
    texts = dict.fromkeys((p.text, p.separator) for p in prompts_for(name)[::2])
    return [RankingPrompt(text, VOCABULARY, TARGETS, by, top=5) for text, by in texts]


def check(ours: Ranking, expected: dict[str, float | None], top: int) -> None:
    known = {word: value for word, value in expected.items() if value is not None}
    assert ours.missing == len(expected) - len(known)
    assert ours.normaliser == pytest.approx(math.log(sum(map(math.exp, known.values()))), abs=1e-4)
    for standing in ours.targets:
        own = expected[standing.target]
        assert standing.logprob == pytest.approx(own, abs=TOLERANCE)
        no_worse = None if own is None else sum(value >= own for value in known.values())
        assert standing.rank == no_worse
    best = sorted(known.items(), key=lambda item: (-item[1], item[0]))[:top]
    assert [word for word, _ in ours.top] == [word for word, _ in best]
    assert [value for _, value in ours.top] == pytest.approx([v for _, v in best], abs=TOLERANCE)


def same(one: Ranking, other: Ranking) -> None:
    ranks = [[(s.target, s.rank, s.tokens) for s in ranking.targets] for ranking in (one, other)]
    assert ranks[0] == ranks[1]
    assert [word for word, _ in one.top] == [word for word, _ in other.top]
    assert (one.several, one.missing) == (other.several, other.missing)
    assert one.normaliser == pytest.approx(other.normaliser, abs=TOLERANCE)


@pytest.mark.parametrize("name", list(tiny.MODELS))
def test_equals_the_plain_computation(name: str, loaded: Loaded, folder_of: FolderOf) -> None:
    """Every candidate by itself, one sequence per pass, over the full softmax, gives the same.

    So do the model's own scores, and one text at a time as all at once.
    """
    reference = plain.load(name, folder_of(name))
    prompts = asked_of(name)
    alone, together = (model.answer(prompts) for model in (loaded(name, 1), loaded(name)))
    scores = loaded(name).answer([prompt.asking(WORDS) for prompt in prompts])
    for one, two, score in zip(alone, together, scores, strict=True):
        same(one, two)
        same(one, Ranking.of(score, TARGETS, top=5))
    for prompt, ours in zip(prompts, together, strict=True):
        asked = {
            word: reference.score(prompt.asking([word]), word)
            for word in WORDS
            if encodes(name, word)
        }
        check(ours, {word: asked[word][0] if word in asked else None for word in WORDS}, 5)
        assert ours.several == sum(tokens > 1 for _, tokens in asked.values())
        for standing in ours.targets:
            if standing.target in asked:
                assert standing.tokens == asked[standing.target][1]


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "t5"])
def test_a_text_is_computed_once(name: str, loaded: Loaded) -> None:
    """However many vocabularies and targets are asked of it."""
    model = loaded(name)
    words = Vocabulary(tiny.single(name))
    prompts = [
        RankingPrompt("Something that is called a ___", words, words.words[:2]),
        RankingPrompt("Something that is called a ___", words, words.words[2:3]),
        RankingPrompt("Something that is called a ___", Vocabulary(words.words[:3])),
    ]
    with passes(model) as seen:
        first, _, small = model.answer(prompts)
    assert [one.rows for one in seen if one.part == "model"] == [1]
    assert len(first.top) == len(words)
    assert len(small.top) == 3
    assert set(small.top) <= set(first.top)


@pytest.mark.parametrize("name", ["gpt2", "bloom", "bert", "roberta"])
def test_the_head_sees_one_place_only(name: str, loaded: Loaded) -> None:
    model = loaded(name)
    words = Vocabulary(tiny.single(name))
    shapes: list[tuple[int, ...]] = []

    def watch(_module: object, given: tuple[Any, ...], _output: object) -> None:
        shapes.append(tuple(given[0].shape[:2]))

    head = model._model.get_output_embeddings().register_forward_hook(watch)
    try:
        model.answer([RankingPrompt(f"{by} is called a ___", words) for by in ("It", "A tree")])
    finally:
        head.remove()
    assert sum(rows * places for rows, places in shapes) == 2


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_head_that_cannot_be_narrowed(name: str, folder_of: FolderOf, loaded: Loaded) -> None:
    model = tiny.load(folder_of(name))
    model._passes.head = None
    prompts = asked_of(name)
    for one, other in zip(model.answer(prompts), loaded(name).answer(prompts), strict=True):
        same(one, other)


def watched(model: Local, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The texts in which a model writes candidates out, with how many."""
    written: list[tuple[str, int]] = []
    write = model._written

    def watch(prompts: Sequence[Prompt]) -> Any:  # noqa: ANN401 - what the kinds give
        written.extend((prompt.text, len(prompt.answers)) for prompt in prompts)
        return write(prompts)

    monkeypatch.setattr(model, "_written", watch)
    return written


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
def test_a_vocabulary_is_written_out_once(
    name: str, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In texts that are alike beside the blank; a few words are, in each."""
    model = tiny.load(folder_of(name))
    written = watched(model, monkeypatch)
    texts = ("Something here is called a ___", "It is called the ___", "What has fur is called ___")
    model.answer([RankingPrompt(text, VOCABULARY) for text in texts])
    (_, first), *others = written
    assert first == len(VOCABULARY)
    assert max(number for _, number in others) < len(VOCABULARY) / 2


def test_a_vocabulary_is_written_out_in_pieces(
    loaded: Loaded, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Around the shortest text, a few words at a time: the rankings are the same."""
    texts = ("What has roots and branches is called the ___", "It is called the ___")
    prompts = [RankingPrompt(text, VOCABULARY, TARGETS, top=5) for text in texts]
    expected = loaded("gpt2").answer(prompts)
    monkeypatch.setattr(vocabulary, "_WORDS_AT_ONCE", 7)
    model = tiny.load(folder_of("gpt2"))
    written = watched(model, monkeypatch)
    found = model.answer(prompts)
    pieces = [7] * (len(WORDS) // 7) + [len(WORDS) % 7] * bool(len(WORDS) % 7)
    assert written[: len(pieces)] == [(texts[1], number) for number in pieces]
    for one, other in zip(found, expected, strict=True):
        same(one, other)


def test_a_batch_is_not_all_padding(loaded: Loaded) -> None:
    """Texts of very unequal length are not computed in one pass, though they would fit."""
    budget = 512
    words = Vocabulary(tiny.single("bert"))
    texts = [f"{'a ' * number}___" for number in (50, 49, 48, 10, 9, 3, 2, 1)]
    with passes(loaded("bert", budget)) as seen:
        loaded("bert", budget).answer([RankingPrompt(text, words) for text in texts])
    assert all(one.padded - one.tokens <= budget / 16 for one in seen)
    assert [one.rows for one in seen] == [3, 5]


def reaching(kind: str, folder: Path) -> Local:
    """A model whose tokenizer joins words, or does so without having said it."""
    from tokenizers import Tokenizer, decoders, models, normalizers
    from transformers import PreTrainedTokenizerFast

    joined = "▁a▁bird"
    pieces = ["<unk>", "<s>", "▁bird", "▁egg", "▁tree", "▁a", "▁the", "▁is", joined, "s"]
    letters = sorted({"▁", *"abcdefghijklmnopqrstuvwxyzIt."})
    backend = Tokenizer(
        models.Unigram([(one, -2.0 - 4 * (len(one) < 2)) for one in pieces + letters], 0)
    )
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="<s>"
    )
    tiny.MODELS[kind].model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tiny.load(folder)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_tokenizer_that_joins_words(tmp_path: Path, *, is_told: bool) -> None:
    """A candidate that grows together with the text is scored by itself, in every prompt."""
    model = reaching("gpt2", tmp_path)
    assert model._writing._reaching
    if not is_told:
        model._writing._reaching = []
    words = Vocabulary(("bird", "egg", "tree", "birds", "trees"))
    texts = ("It is the ___", "It is a ___", "It is ___", "is a ___")
    prompts = [RankingPrompt(text, words, ("bird", "egg")) for text in texts]
    for prompt, ours in zip(prompts, model.answer(prompts), strict=True):
        expected = model.answer([prompt.asking(words.words)])[0]
        check(ours, {one.answer: one.logprob for one in expected.answers}, 5)


@pytest.mark.parametrize(
    ("token", "words", "in_full"),
    [
        ("> </", ("bird", "egg", "tree"), 0),  # as Gemma has
        ("> </", ("bird", "egg", "?"), 2),
        ("of the", ("bird", "egg", "tree"), 2),
    ],
)
def test_a_token_slows_only_what_it_can_join(
    token: str,
    words: Sequence[str],
    in_full: int,
    folder_of: FolderOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A token across a space between marks joins no words: they are written out once."""
    model = tiny.load(folder_of("gpt2"))
    writing = model._writing
    writing._reaching = [token]
    seen: list[RankingPrompt] = []
    whole = writing._in_full

    def watch(prompt: RankingPrompt, write: Any) -> Any:  # noqa: ANN401 - _in_full's own
        seen.append(prompt)
        return whole(prompt, write)

    texts = ("Something here is called a ___", "It is called a ___")
    prompts = [RankingPrompt(text, Vocabulary(words)) for text in texts]
    model.answer(prompts)
    monkeypatch.setattr(writing, "_in_full", watch)
    model.answer(prompts)
    assert len(seen) == in_full


def test_too_many_candidates_of_several_tokens(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before anything is asked, with their number; so is a text too long."""
    monkeypatch.setattr(vocabulary, "MOST_SEVERAL", 1)
    words = Vocabulary(("a", "birdhouse bath", "unbelievable trunk"))
    for name in ("bert", "gpt2", "t5"):
        prompt = RankingPrompt("It is an odd ___", words)
        with pytest.raises(PromptError, match=r"3 candidates, and 2 of them .* \(at most 1 can\)"):
            loaded(name).cost([prompt])
    for name in ("bert", "gpt2"):
        with pytest.raises(PromptError, match=r"window of .* is 64 tokens"):
            loaded(name).cost([RankingPrompt("a " * 100 + "___", VOCABULARY)])


@pytest.mark.parametrize(
    ("name", "mode", "passes_of_all"),
    [
        ("gpt2", "left-to-right", False),
        ("roberta", "left-to-right", False),
        ("roberta", "one-at-a-time", True),
    ],
)
def test_a_separator_that_is_a_token_of_its_own(
    name: str,
    mode: str,
    passes_of_all: bool,  # noqa: FBT001 - a column
    loaded: Loaded,
) -> None:
    """Its log-probability is part of every candidate's, and is computed once where it is one."""
    options: dict[str, Any] = {"masked_mode": mode} if name == "roberta" else {}
    model = loaded(name, **options)
    words = Vocabulary(("a", "s", "t", "True", "12", ",", "?"))
    prompt = RankingPrompt("Is it a bird", words, words.words, separator="\n")
    (asked,) = model._asked([prompt])
    assert (asked.candidates.lead, not asked.candidates.several) == (
        (0, False) if passes_of_all else (1, True)
    )
    (ours,) = model.answer([prompt])
    (score,) = model.answer([prompt.asking(words.words)])
    check(ours, {one.answer: one.logprob for one in score.answers}, 20)
    assert {one.tokens for one in score.answers} == {2}
    assert [one.tokens for one in ours.targets] == [2] * len(words)
    with passes(model) as seen:
        model.answer([prompt])
    assert sum(one.tokens for one in seen) == model.cost([prompt])[0]


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_no_candidate_can_be_read_off_one_place(name: str, loaded: Loaded) -> None:
    words = Vocabulary(("birdhouse bath", "unbelievable trunk"))
    prompt = RankingPrompt("It is an odd ___", words, words.words)
    (ours,) = loaded(name).answer([prompt])
    (score,) = loaded(name).answer([prompt.asking(words.words)])
    check(ours, {one.answer: one.logprob for one in score.answers}, 20)
    assert ours.several == 2


def test_nothing_can_be_written(loaded: Loaded) -> None:
    """No rank, no log-probability, no normaliser: only the count of what is missing."""
    prompt = RankingPrompt("It is ___ .", Vocabulary(("🐦", "🐻", "\u200b")), ("🐦",))
    (ours,) = loaded("bert").answer([prompt])
    assert (ours["🐦"].rank, ours["🐦"].logprob, ours.normaliser) == (None, None, None)
    assert (ours.top, ours.several, ours.missing) == ((), 0, 3)
    assert loaded("bert").cost([prompt]) == [0]


@pytest.mark.parametrize("name", ["gpt2", "mamba", "bert", "t5"])
def test_tokens_are_counted(name: str, loaded: Loaded) -> None:
    model = loaded(name, 1)
    prompt = RankingPrompt("Something is called a", Vocabulary(tiny.single(name)))
    (cost,) = model.cost([prompt])
    with passes(model) as seen:
        model.answer([prompt])
    assert sum(one.tokens for one in seen) == cost


def test_what_is_no_number_is_refused(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded("bert", 99)
    logits = model._logits
    monkeypatch.setattr(model, "_logits", lambda places: logits(places) * math.inf)
    with pytest.raises(ScoringError, match="float32"):
        model.answer([RankingPrompt("A ___ .", OTHER)])


def words_behind_a_space(name: str, words: Sequence[str]) -> set[str]:
    """Those that a tokenizer writes as one token, by what it gives back."""
    tokenizer = tiny.tokenizer_of(name)
    alone = len(tokenizer("a", add_special_tokens=False)["input_ids"])
    return {
        word
        for word in words
        if len(tokenizer(f"a {word}", add_special_tokens=False)["input_ids"]) == alone + 1
        and encodes(name, word)
    }


@pytest.mark.parametrize("name", ["bert", "albert", "roberta", "gpt2", "llama", "t5"])
def test_whole_words(name: str, loaded: Loaded) -> None:
    """They are the words of one token behind a space, and nothing with a sign of the tokenizer."""
    ours = set(loaded(name).whole_words().words)
    lines = sorted({word.strip(".,;:?") for line in tiny.LINES for word in line.split()} - {""})
    if name == "bert":
        lines = sorted({word.lower() for word in lines})
    assert ours & set(lines) == words_behind_a_space(name, lines)
    assert words_behind_a_space(name, sorted(ours)) == ours
    assert len(ours) > 20
    assert not any(mark in word for word in ours for mark in ("#", "Ġ", "▁", "[", "<"))
