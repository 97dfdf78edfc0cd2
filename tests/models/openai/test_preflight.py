"""What a server that misbehaves is refused for, and in which way it is used all the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tacit.errors import ModelError, NetworkError, ScoringError
from tests.models import tiny
from tests.models.openai.conftest import load
from tests.models.openai.serving import Toy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.openai.conftest import Serve


def test_a_good_server_does_both(serve: Serve, tokenizer_file: Path) -> None:
    """It is read by its next tokens and by its echo, and nothing is said against it."""
    about = load(serve(), tokenizer_file).description
    assert about["refused"] == []
    assert about["identity"]["next_tokens"] == 100
    assert about["identity"]["echo"] == "echo"
    assert about["identity"]["special_tokens_before"] == 0


@pytest.mark.parametrize("echo", ["none", "text only"])
def test_an_ignored_echo_leaves_the_next_tokens(
    serve: Serve, tokenizer_file: Path, echo: str
) -> None:
    """With the tokenizer given; the description says what is not used."""
    about = load(serve(echo=echo), tokenizer_file).description
    assert (about["identity"]["next_tokens"], about["identity"]["echo"]) == (100, None)
    assert "it returns no tokens of the prompt (echo)" in about["refused"]


def test_an_ignored_echo_without_a_tokenizer_is_refused(serve: Serve) -> None:
    """Nobody could know into which tokens the server cuts a prompt."""
    with pytest.raises(
        ModelError, match="does not return the tokens of a prompt: pass its tokenizer"
    ):
        load(serve(echo="none"))


def test_an_echo_that_is_off_by_one_token_is_found(serve: Serve, tokenizer_file: Path) -> None:
    """Its tokens, their number and its repetition are all right; only the comparison tells."""
    for tokenizer in (tokenizer_file, None):
        about = load(serve(echo="shifted"), tokenizer).description
        assert about["identity"]["echo"] is None
        said = about["refused"][0]
        assert said.startswith("its echo is incorrect (echo): after ")
        assert "26 of 26 such tokens differ by more than 0.02 nats" in said


def test_an_echo_off_by_one_without_next_tokens_is_refused(serve: Serve) -> None:
    """There is no way left that is right."""
    with pytest.raises(ModelError, match=r"no log-probabilities of the most.*echo is incorrect"):
        load(serve(echo="shifted", top=0))


def test_a_server_that_only_writes_is_refused(serve: Serve, tokenizer_file: Path) -> None:
    """As one does whose completions never come with log-probabilities."""
    with pytest.raises(ModelError, match="cannot be used: it returns no log-probabilities"):
        load(serve(form="none"), tokenizer_file)


def test_no_log_probabilities_of_use_are_refused(serve: Serve, tokenizer_file: Path) -> None:
    """Both reasons are given."""
    said = r"returns no log-probabilities of the most probable.*returns no tokens of the prompt"
    with pytest.raises(ModelError, match=said):
        load(serve(echo="none", top=0), tokenizer_file)


@pytest.mark.parametrize(("top", "most"), [(1, 1000), (5, 1000), (1, 1), (5, 5), (None, 20)])
def test_the_number_of_log_probabilities_is_found(
    serve: Serve, tokenizer_file: Path, top: int | None, most: int
) -> None:
    """Whether the server returns no more in silence, or refuses to be asked for more."""
    model = load(serve(top=top, most=most), tokenizer_file)
    assert model.description["identity"]["next_tokens"] == min(top or 20, most)


def test_top_0_leaves_an_echo_that_is_checked_by_drawn_tokens(
    serve: Serve, tokenizer_file: Path
) -> None:
    """The log-probability of the token that was drawn is the next token's."""
    about = load(serve(top=0), tokenizer_file).description
    assert (about["identity"]["next_tokens"], about["identity"]["echo"]) == (0, "echo")


def test_other_scores_each_time_are_refused(serve: Serve, tokenizer_file: Path) -> None:
    """Beyond what rounding makes."""
    with pytest.raises(ModelError, match=r"log-probabilities of the same prompt differ by up to"):
        load(serve(noise=0.3), tokenizer_file)


def test_rounding_is_no_other_score_and_is_told(serve: Serve, tokenizer_file: Path) -> None:
    """Half precision differs a little from one batch to the next; how much, is said."""
    assert load(serve(), tokenizer_file).description["refused"] == []
    (said,) = load(serve(noise=0.003), tokenizer_file).description["refused"]
    told = re.fullmatch(
        "log-probabilities of the same text differ by up to (.*) nats between requests", said
    )
    assert told
    # The largest of some hundred differences of two draws, of which each has a deviation of 0.003.
    assert 0.006 < float(told[1]) < 0.03


@pytest.mark.parametrize("manners", [{}, {"echo": "none"}, {"echo": "none", "counts": False}])
def test_another_tokenizer_is_refused(
    serve: Serve, tmp_path: Path, manners: dict[str, object]
) -> None:
    """By its echo's tokens, by how many it counts, or by tokens that the other does not have."""
    path = tmp_path / "tokenizer.json"
    tiny.llama_like().backend_tokenizer.save(str(path))
    with pytest.raises(ModelError, match="use the tokenizer of the served model"):
        load(serve(None, **manners), path)


def test_a_bos_of_the_server_is_counted(serve: Serve, tmp_path: Path) -> None:
    """It stands before the text, whose tokens follow."""
    language = Toy(tiny.byte_level_with_bos().backend_tokenizer)
    path = tmp_path / "tokenizer.json"
    language.tokenizer.save(str(path))
    for tokenizer in (path, None):
        for manners in ({}, {"echo": "none", "prompt_logprobs": True}):
            identity = load(serve(language, **manners), tokenizer).description["identity"]
            assert identity["special_tokens_before"] == 1
            assert identity["echo"] == ("prompt_logprobs" if manners else "echo")


@pytest.mark.parametrize(("zero", "least"), [("right", 0), ("refused", 1), ("endless", 1)])
def test_no_more_is_generated_than_need_be(serve: Serve, zero: str, least: int) -> None:
    """Asked for no token, some servers refuse, and one fills its whole window."""
    server = serve(zero=zero)
    model = load(server)
    assert model.description["identity"]["echo"] == "echo"
    assert server.requests[-1]["max_tokens"] == least


@pytest.mark.parametrize("prompt_logprobs", [False, True])
@pytest.mark.slow
def test_a_right_but_slow_server_keeps_its_echo(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, *, prompt_logprobs: bool
) -> None:
    """Only where no new token is asked for is the time short."""
    monkeypatch.setattr("tacit.models.openai.echo._SHORT", 0.01)
    echo = "none" if prompt_logprobs else "right"
    server = serve(slow=lambda _: 0.03, echo=echo, prompt_logprobs=prompt_logprobs)
    model = load(server, timeout=None)
    way = "prompt_logprobs" if prompt_logprobs else "echo"
    assert model.description["identity"]["echo"] == way


def test_a_server_that_generates_without_end_is_hung_up_on(
    serve: Serve, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It then has time for what comes next; --timeout is the limit where it is given."""
    monkeypatch.setattr("tacit.models.openai.echo._SHORT", 0.2)
    server = serve(zero="busy")
    assert load(server, timeout=None).description["identity"]["echo"] == "echo"
    assert server.requests[-1]["max_tokens"] == 1
    server.manners.echo = "shifted"
    for given, limit in ((None, "0.2"), (1.0, "1")):
        first, *_ = load(server, tokenizer_file, timeout=given).description["refused"]
        assert f"failed 2 times; the last failure: no complete response after {limit} s" in first
        assert f"after {limit} s (raise this limit with --timeout)" in first


def test_vllms_own_way_is_found(serve: Serve, tokenizer_file: Path) -> None:
    """Where the echo is not there, or is not right."""
    for echo in ("none", "shifted"):
        model = load(serve(echo=echo, prompt_logprobs=True), tokenizer_file)
        assert model.description["identity"]["echo"] == "prompt_logprobs"


def test_a_server_that_lists_several_models_is_asked_for_a_name(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And told which there are."""
    from tacit.models.openai.client import Client

    monkeypatch.setattr(Client, "models", lambda *_: [{"id": "one"}, {"id": "two"}])
    with pytest.raises(ModelError, match="serves one, two: choose the model with --served-model"):
        load(serve())


def test_a_list_of_models_that_fails_is_not_needed_with_a_name(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """It is with none."""
    server = serve(lists=500)
    assert load(server, served_model="toy").name.startswith("toy at ")
    assert "--served-model" in caplog.text
    with pytest.raises(ScoringError, match="status 500"):
        load(server)


def test_nobody_at_the_address_is_said_at_once() -> None:
    """Without waiting for a server that may never come."""
    from tacit.models.openai.completions import load_server
    from tacit.models.openai.options import ServerOptions

    with pytest.raises(NetworkError, match=r"no server responds .* is it running"):
        load_server("http://127.0.0.1:9/v1", ServerOptions())
