"""Roads of elicitation: which one is taken, and what is refused."""

from pathlib import Path

import pytest

from tacit.errors import ModelError
from tacit.models.openai.loading import offers
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.roads import ECHO, NEXT_TOKENS, ROADS, VOTES
from tacit.requests import OUTSIDE, Prompt, missing_by_reason
from tests.models.openai.conftest import Serve, load
from tests.models.openai.model import Toy
from tests.models.openai.test_scores import TEXT, expected, one_token


def test_a_forced_road_is_the_only_one(serve: Serve, toy: Toy, tokenizer_file: Path) -> None:
    """What the echo alone tells is missing without it; what both tell is equal."""
    prompt = Prompt(TEXT, one_token(toy, TEXT, range(0, 200, 100)), "")
    right = [logprob for logprob, _, _ in expected(toy, prompt)]
    both: dict[str, list[float | None]] = {"echo": [*right], "next-tokens": [right[0], None]}
    fingerprints = set()
    for name, given in both.items():
        model = load(serve(), tokenizer_file, elicitation=name)
        assert model.description["roads"] == [name]
        (scored,) = model.answer([prompt])
        assert [one.logprob for one in scored.answers] == pytest.approx(given, abs=1e-9)
        assert missing_by_reason([scored]) == ({OUTSIDE: 1} if None in given else {})
        fingerprints.add(model.fingerprint)
    assert len(fingerprints) == 2


def test_next_tokens_that_a_server_does_not_list_are_refused(
    serve: Serve, tokenizer_file: Path
) -> None:
    with pytest.raises(ModelError, match="--elicitation next-tokens needs"):
        load(serve(top=0), tokenizer_file, elicitation=NEXT_TOKENS.name)


def test_all_roads_are_tested_once(serve: Serve, tokenizer_file: Path) -> None:
    """Those of completions by one preflight; replies are sampled only if nothing else is left."""
    server = serve(echo="shifted")
    found = offers(server.address, ServerOptions(tokenizer=tokenizer_file, timeout=20.0))
    usable = {offer.road.name: offer.usable for offer in found.roads}
    offered = {"next-tokens", "first-tokens"}
    assert usable == {road.name: road.name in offered for road in ROADS}
    assert found.best == NEXT_TOKENS
    assert found.requests == server.statuses.total() < 100
    (echo,) = (offer for offer in found.roads if offer.road == ECHO)
    assert "its echo is incorrect" in echo.found


def test_a_road_that_was_forced_and_fails_names_the_others(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of the same API too; what is wrong is reported once."""
    with pytest.raises(ModelError) as failed:
        load(serve(echo="shifted"), elicitation=ECHO.name)
    assert "other roads to try: next-tokens, first-tokens, votes" in str(failed.value)
    assert str(failed.value).count("its echo is incorrect") == 1
    assert "its echo" not in caplog.text


def test_a_server_without_log_probabilities_has_votes(serve: Serve) -> None:
    server = serve(form="none")
    server.manners.speech.logprobs = False
    found = offers(server.address, ServerOptions(timeout=20.0))
    assert [offer.road for offer in found.roads if offer.usable] == [found.best] == [VOTES]
    with pytest.raises(ModelError, match="other roads to try: first-tokens, votes"):
        load(server)


def test_ollama_is_asked_in_its_own_api(serve: Serve, toy: Toy, tokenizer_file: Path) -> None:
    """Its completions have no log-probabilities; it needs the tokenizer, and has no echo."""
    server = serve(echo="none", form="content", most=20, ollama=True)
    model = load(server, tokenizer_file)
    assert model.description["roads"] == ["next-tokens"]
    assert "by Ollama's own API" in model.description["preflight"]
    prompt = Prompt(TEXT, one_token(toy, TEXT, range(2)), "")
    (scored,) = model.answer([prompt])
    right = [logprob for logprob, _, _ in expected(toy, prompt)]
    assert [one.logprob for one in scored.answers] == pytest.approx(right, abs=1e-9)
    with pytest.raises(ModelError, match="pass its tokenizer with --tokenizer PATH"):
        load(server)
    with pytest.raises(ModelError, match="Ollama does not score the tokens of a prompt"):
        load(server, tokenizer_file, elicitation="echo")
