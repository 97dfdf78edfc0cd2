"""Named tokens: what vLLM's and SGLang's routes give is what the model gives here."""

from pathlib import Path
from typing import Any, Literal

import pytest

from tacit import Engine, Store
from tacit.errors import ModelError
from tacit.models.huggingface.source import source_of
from tacit.models.loading import load_model, words_of
from tacit.models.openai.named_routes import CompletionsRoute, Position, ScoreRoute
from tacit.models.openai.options import ServerOptions
from tacit.models.options import LoadOptions
from tacit.requests import Prompt, RankingPrompt, Vocabulary, missing_by_reason
from tests.models import tiny
from tests.models.openai.conftest import Serve, load
from tests.models.openai.model import Toy
from tests.models.openai.naming import MOST, prompts_of
from tests.models.openai.serving import Asked, Sent, Serving
from tests.models.openai.test_agreement import SGLANG, TOLERANCE, VLLM, HuggingFace
from tests.models.openai.test_scores import PROMPTS, TEXT, expected, one_token
from tests.models.test_ranking import same

Names = Literal["vllm", "sglang"]
MANNERS: dict[Names, dict[str, Any]] = {"vllm": VLLM, "sglang": SGLANG}
EACH = pytest.mark.parametrize("names", MANNERS)
CAUSAL = source_of("demo", None).folder


@EACH
def test_the_demo_model_has_the_same_scores_and_ranks_here_and_there(
    serve: Serve, names: Names
) -> None:
    """Whatever is ranked: words of one token and of several, and all words of the tokenizer."""
    local = load_model("demo")
    server = serve(HuggingFace(CAUSAL), window=100, **MANNERS[names])
    served = load(server, CAUSAL)
    words = served.whole_words()
    assert words == words_of("demo")[1]
    given = LoadOptions(server=ServerOptions(tokenizer=CAUSAL))
    assert words_of(server.address, given) == ("causal", words)
    few = Vocabulary([*words.words[:40], "unheard-of things", "zyzzyva"])
    text = "Everyone knows that a bear has"
    prompts = [
        Prompt(text, words.words[::60]),
        RankingPrompt(text, words, words.words[::60]),
        RankingPrompt(f"{text} ___", few, ("zyzzyva", *words.words[:40:7])),
    ]
    before = len(server.requests)
    scored, *ranked = served.answer(prompts)
    here, *ranks = local.answer(prompts)
    values = [one.logprob for one in here.answers]
    assert [one.logprob for one in scored.answers] == pytest.approx(values, abs=TOLERANCE)
    for one, other in zip(ranks, ranked, strict=True):
        same(one, other)
    sent = server.requests[before:]
    if names == "sglang":
        assert len(sent) == len(prompts)
        assert sum(map(len, sent[1]["label_token_ids"])) >= len(words) / 60
    else:
        assert max(len(body["logprob_token_ids"]) for body in sent) <= MOST
        assert len(sent) >= len(words) / MOST
    read = sum(len(ids) for body in sent for ids in prompts_of(body))
    assert sum(served.cost(prompts)) == read


@EACH
def test_rankings_that_were_wrong_for_a_while_are_asked_again(
    serve: Serve, tmp_path: Path, names: Names
) -> None:
    server = serve(HuggingFace(CAUSAL), window=100, **MANNERS[names])
    model = load(server, CAUSAL, concurrency=1)
    words = Vocabulary(model.whole_words().words[:100])
    prompts = [RankingPrompt(f"A thing of kind {n} has", words, words.words[:2]) for n in range(12)]
    right = model.answer(prompts)

    def exchanged(asked: Asked, server: Serving) -> dict[str, Any]:
        answer = server.answer(asked.body)
        if "items" in asked.body:
            answer["token_logprobs"] = [[*row[1:], row[0]] for row in answer["token_logprobs"]]
            return answer
        for choice in answer["choices"]:
            (top,) = choice["logprobs"]["top_logprobs"]
            values = list(top.values())
            top |= dict(zip(top, [*values[1:], values[0]], strict=True))
        return answer

    server.respond = exchanged
    server.begin_after(3, 6)
    found = Engine(model, Store(tmp_path)).ask(prompts)
    assert server.faulty == 6
    for one, other in zip(right, found, strict=True):
        same(one, other)


@EACH
def test_a_server_of_which_only_rankings_are_stored_is_recognised(
    serve: Serve, tmp_path: Path, names: Names
) -> None:
    server = serve(HuggingFace(CAUSAL), window=100, noise=0.003, **MANNERS[names])
    model = load(server, CAUSAL, kept=tmp_path)
    words = Vocabulary(model.whole_words().words[:20])
    Engine(model, Store(tmp_path)).ask([RankingPrompt(TEXT, words)])
    assert load(server, CAUSAL, kept=tmp_path).fingerprint == model.fingerprint


@EACH
def test_what_is_improbable_is_not_missing(
    serve: Serve, toy: Toy, tokenizer_file: Path, names: Names
) -> None:
    """Though neither echo nor next tokens tell it; prompts that begin alike follow one another."""
    server = serve(None, **MANNERS[names], echo="none")
    model = load(server, tokenizer_file, concurrency=1)
    prompt = Prompt(TEXT, one_token(toy, TEXT, range(0, 200, 40)), "")
    prompts = [*PROMPTS[::-1], prompt]
    before = len(server.requests)
    for one, scored in zip(prompts, model.answer(prompts), strict=True):
        right = [logprob for logprob, _, _ in expected(toy, one)]
        assert [each.logprob for each in scored.answers] == pytest.approx(right, abs=1e-9)
        assert not missing_by_reason([scored])
    (request,) = server.requests[before:]
    sent = prompts_of(request)
    assert sent == sorted(sent)


def test_without_a_tokenizer_or_a_route_the_echo_is_used(
    serve: Serve, tokenizer_file: Path
) -> None:
    for server, tokenizer in ((serve(names="sglang"), None), (serve(), tokenizer_file)):
        assert load(server, tokenizer).description["roads"] == ["echo", "next-tokens"]
    with pytest.raises(ModelError, match="--elicitation named-tokens needs log-probabilities of"):
        load(serve(), tokenizer_file, elicitation="named-tokens")
    with pytest.raises(ModelError, match="--elicitation named-tokens requires --tokenizer PATH"):
        load(serve(names="sglang"), elicitation="named-tokens")


@EACH
@pytest.mark.parametrize("tokenizes", [True, False])
def test_a_bos_is_the_servers_own(
    serve: Serve, tmp_path: Path, names: Names, *, tokenizes: bool
) -> None:
    """It stands before each prompt, also where the server does not return a prompt's tokens."""
    language = Toy(tiny.byte_level_with_bos().backend_tokenizer)
    language.tokenizer.save(str(tmp_path / "tokenizer.json"))
    server = serve(language, **MANNERS[names])

    def untokenized(asked: Asked, server: Serving) -> dict[str, Any] | Sent:
        if "max_tokens" not in asked.body and "items" not in asked.body:
            return Sent(b"{}", status=404)
        answer = server.answer(asked.body)
        for choice in answer.get("choices", []):
            choice.pop("prompt_token_ids", None)
        return answer

    server.respond = None if tokenizes else untokenized
    model = load(server, tmp_path)
    assert model.description["identity"]["special_tokens_before"] == 1
    (scored,) = model.answer([Prompt("", ("a bird", "True"), "")])
    for one in scored.answers:
        ids = tuple(language.tokenizer.encode(one.answer).ids)
        assert one.logprob == pytest.approx(language.logprob(ids, 1), abs=1e-9)


def test_129_tokens_are_two_requests_and_prompts_with_the_same_tokens_one() -> None:
    """Of vLLM; SGLang is asked about as many tokens in one."""
    ids = tuple(range(MOST + 1))
    positions = [Position((1,), ids), Position((1, 2), ids[-1:])]
    asked = [
        [(one.before, len(one.ids)) for one in some]
        for some in CompletionsRoute().requests(positions)
    ]
    assert asked == [[((1,), MOST)], [((1,), 1), ((1, 2), 1)]]
    (group,) = ScoreRoute().requests(positions)
    assert ScoreRoute().body(group, 1.0, longer=False)["label_token_ids"] == [[*ids], [MOST]]
