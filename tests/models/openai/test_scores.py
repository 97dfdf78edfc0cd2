"""What is read off a server, beside the language that it serves."""

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import PromptError, ScoringError
from tacit.models.huggingface.alignment import bare, tokenize
from tacit.models.huggingface.encoding import fill
from tacit.models.openai import completions
from tacit.requests import OUTSIDE, AnswerScore, Prompt, missing_by_reason
from tests.models import tiny
from tests.models.openai.conftest import Serve, load
from tests.models.openai.model import Toy, spelled

TEXT = "A bear has fur, is big, and has"
PROMPTS = [
    Prompt(TEXT, ("claws", "claw", "the egg yolk", "a")),
    Prompt("True or false? The egg yolk is inside.", ("True", "False"), "\n"),
    Prompt("Something that has wings is ", ("bird", "called a bird"), ""),
    Prompt("Something that has fur is called a ___", ("bear", "birdhouse")),
    Prompt("the egg yo", ("lk", "lks"), ""),
    Prompt("naïve café", ("naïve", "café", "don't")),
]


def expected(toy: Toy, prompt: Prompt) -> list[tuple[float, int, bool]]:
    """What the language itself says, by the project's boundary rule on another tokenizer object."""
    cuts = tokenize(bare(tiny.gpt2_like()), fill(prompt))
    return [
        (toy.logprob(one.ids[: one.end], one.begin), one.end - one.begin, one.spanned)
        for one in cuts
    ]


def one_token(toy: Toy, text: str, ranks: range) -> tuple[str, ...]:
    """The answers to a text that are its likeliest next tokens, of these ranks."""
    ids = tuple(toy.tokenizer.encode(text).ids)
    ranked = np.argsort(-toy.following(ids))
    words = [spelled(toy.tokenizer, int(number)) for number in ranked]
    fitting = [w for w in words if toy.tokenizer.encode(text + w).ids[:-1] == list(ids)]
    return tuple(fitting[rank] for rank in ranks)


@pytest.mark.parametrize(
    "manners",
    [{"top": 0}, {"top": 5, "most": 5}, {"zero": "endless", "silent": 2}, {"spaced": False}],
    ids=str,
)
def test_all_answers_of_a_server_that_echoes_are_right(
    serve: Serve, toy: Toy, tokenizer_file: Path, manners: dict[str, object]
) -> None:
    """Of one token or several, with blank, separator and a token that spans text and answer."""
    scores = load(serve(None, **manners), tokenizer_file).answer(PROMPTS)
    for prompt, scored in zip(PROMPTS, scores, strict=True):
        for one, (logprob, tokens, spanned) in zip(
            scored.answers, expected(toy, prompt), strict=True
        ):
            assert one.logprob == pytest.approx(logprob, abs=1e-9)
            assert (one.tokens, one.spanned) == (tokens, spanned)


def test_parts_of_characters_are_tokens_that_a_server_does_not_name(serve: Serve) -> None:
    """A tokenizer would; see the matrix for answers of whole characters."""
    (scored,) = load(serve()).answer([Prompt("Is it?", ("bear 🐻",))])
    assert scored.answers == (AnswerScore("bear 🐻", None, 0, missing=completions.UNSPELT),)


@pytest.mark.parametrize(
    "manners",
    [{"echo": "none", "form": "content"}, {"echo": "none", "by_id": True}, {"echo": "shifted"}],
    ids=str,
)
def test_next_tokens_alone_give_what_is_among_them(
    serve: Serve, toy: Toy, tokenizer_file: Path, manners: dict[str, object]
) -> None:
    """One request reads all answers of one token; what is outside is missing, and counted."""
    inside, outside = one_token(toy, TEXT, range(3)), one_token(toy, TEXT, range(150, 152))
    server = serve(None, **manners)
    model = load(server, tokenizer_file)
    before = len(server.requests)
    (scored,) = model.answer([Prompt(TEXT, (*inside, *outside), "")])
    assert len(server.requests) == before + 1
    values = [one.logprob for one in scored.answers]
    right = [logprob for logprob, _, _ in expected(toy, Prompt(TEXT, inside, ""))]
    assert values[:3] == pytest.approx(right, abs=1e-9)
    assert values[3:] == [None, None]
    assert missing_by_reason([scored]) == {OUTSIDE: 2}


@pytest.mark.parametrize("has_tokenizer", [True, False])
def test_next_tokens_follow_one_another(
    serve: Serve, toy: Toy, tokenizer_file: Path, *, has_tokenizer: bool
) -> None:
    (first,) = one_token(toy, TEXT, range(1))
    (second,) = one_token(toy, TEXT + first, range(1))
    (third,) = one_token(toy, TEXT + first + second, range(1))
    prompt = Prompt(TEXT, (first + second + third,), "")
    ((right, tokens, _),) = expected(toy, prompt)
    model = load(serve(echo="shifted"), tokenizer_file if has_tokenizer else None)
    (scored,) = model.answer([prompt])
    assert scored.answers[0].logprob == pytest.approx(right, abs=1e-9)
    assert scored.answers[0].tokens == tokens


def test_which_token_is_outside_is_told(serve: Serve, toy: Toy, tokenizer_file: Path) -> None:
    """An answer whose first token is outside is no likelier than any inside; another may be."""
    (first, unlikely) = (*one_token(toy, TEXT, range(1)), *one_token(toy, TEXT, range(150, 151)))
    (second,) = one_token(toy, TEXT + first, range(150, 151))
    model = load(serve(echo="none"), tokenizer_file)
    (scored,) = model.answer([Prompt(TEXT, (first + second, unlikely), "")])
    assert [one.missing for one in scored.answers] == [completions.LATER, OUTSIDE]


def test_a_drawn_token_is_not_among_the_most_probable(
    serve: Serve, toy: Toy, tokenizer_file: Path
) -> None:
    """Servers add it to them; what can be read would else depend on the draw."""
    prompt = Prompt(TEXT, one_token(toy, TEXT, range(30)), "")
    model = load(serve(echo="none", top=5), tokenizer_file)
    for _ in range(20):
        (scored,) = model.answer([prompt])
        assert [one.logprob is not None for one in scored.answers] == [True] * 5 + [False] * 25


def test_a_text_that_is_cut_otherwise_by_itself_is_not_guessed_at(
    serve: Serve, tmp_path: Path
) -> None:
    """Half of a character stands before the answer's token, which no text can end with."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("a", "Ã"), ("¯", "v")]
    pieces = [*letters, *("".join(pair) for pair in merges)]
    backend = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.save(str(tmp_path / "tokenizer.json"))
    assert backend.encode("naïve").tokens == ["n", "aÃ", "¯v", "e"]
    assert backend.encode("na").tokens == ["n", "a"]
    language, prompt = Toy(backend), Prompt("naï", ("ve",), "")
    model = load(serve(language, echo="none"), tmp_path)
    (scored,) = model.answer([prompt])
    assert scored.answers == (AnswerScore("ve", None, 2, spanned=True, missing=completions.RECUT),)
    (scored,) = load(serve(language), tmp_path).answer([prompt])
    right = language.logprob(tuple(backend.encode("naïve").ids), 2)
    assert scored.answers[0].logprob == pytest.approx(right, abs=1e-9)


def test_what_nothing_stands_before_is_missing(serve: Serve, tokenizer_file: Path) -> None:
    """Where a server puts no BOS before a text; a separator alone is no context either."""
    for echo in ("right", "none"):
        model = load(serve(echo=echo), tokenizer_file)
        for scored in model.answer(
            [Prompt("", ("a",), ""), Prompt("", ("a",)), Prompt("___", ("a",))]
        ):
            assert scored.answers == (AnswerScore("a", None, 0, missing=completions.NOTHING),)


def test_a_bos_is_what_an_empty_text_follows(serve: Serve, tmp_path: Path) -> None:
    language = Toy(tiny.byte_level_with_bos().backend_tokenizer)
    language.tokenizer.save(str(tmp_path / "tokenizer.json"))
    for tokenizer in (tmp_path, None):
        model = load(serve(language), tokenizer)
        identity = model.description["identity"]
        assert (identity["special_tokens_before"], identity["echo"]) == (1, True)
        (scored,) = model.answer([Prompt("", ("a bird", "True"), "")])
        for one in scored.answers:
            ids = tuple(language.tokenizer.encode(one.answer).ids)
            assert one.logprob == pytest.approx(language.logprob(ids, 1), abs=1e-9)


def test_a_prompt_that_is_too_long_is_refused_before_it_is_asked(
    serve: Serve, tokenizer_file: Path
) -> None:
    model = load(serve(), tokenizer_file)
    with pytest.raises(PromptError, match="accepts at most 399"):
        model.cost([Prompt("word " * 400, ("a",))])


def test_costs_are_tokens_or_a_guess(serve: Serve, toy: Toy, tokenizer_file: Path) -> None:
    server = serve()
    exact, guess = load(server, tokenizer_file), load(server)
    asked = len(server.requests)
    prompt = Prompt("A bear has", ("claws",))
    assert exact.cost([prompt]) == [len(toy.tokenizer.encode("A bear has claws").ids)]
    assert guess.cost([prompt]) == [1 + 16 // 4]
    assert len(server.requests) == asked


def test_a_refused_prompt_is_named(
    serve: Serve, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(echo="none")
    model = load(server, tokenizer_file)
    monkeypatch.setattr(server.manners, "most", 0)
    with pytest.raises(ScoringError, match=r"'Is it' could not be scored: .*status 400.*at most 0"):
        model.answer([Prompt("Is it", ("a",))])
