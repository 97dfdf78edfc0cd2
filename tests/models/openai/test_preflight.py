"""How a server that lacks something is used all the same, and when it is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import Client
from tests.models import tiny
from tests.models.openai.conftest import Serve, load
from tests.models.openai.matrix.positions import values
from tests.models.openai.serving import Asked, Sent, Serving
from tests.models.openai.test_agreement import SGLANG, VLLM


@pytest.mark.parametrize(
    ("manners", "top", "echo"),
    [
        ({}, 100, True),
        ({"most": 20}, 20, True),
        ({"top": 5}, 5, True),
        ({"top": 0}, 0, True),  # the drawn tokens are compared with the echo
        ({"zero": "refused"}, 100, True),
        ({"zero": "endless"}, 100, True),
        ({"echo": "text only"}, 100, False),
        ({"echo": "shifted"}, 100, False),
    ],
    ids=str,
)
def test_what_a_server_can_do_is_found(
    *, serve: Serve, tokenizer_file: Path, manners: dict[str, Any], top: int, echo: bool
) -> None:
    about = load(serve(**manners), tokenizer_file).description
    assert (about["identity"]["next_tokens"], about["identity"]["echo"]) == (top, echo)
    assert bool(about["refused"]) != echo


@pytest.mark.parametrize(
    ("manners", "reason"),
    [
        ({"echo": "none"}, "no tokens of the prompt; .*pass its tokenizer"),
        ({"echo": "shifted", "top": 0}, "echo is incorrect.*no log-probabilities of the most"),
        ({"form": "none"}, "it returns no log-probabilities"),
    ],
    ids=str,
)
def test_a_server_that_gives_too_little_is_refused(
    serve: Serve, manners: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ModelError, match=f"cannot be used: .*{reason}"):
        load(serve(**manners))


def test_logits_are_refused(serve: Serve, tokenizer_file: Path) -> None:
    """Those of some models are all negative, as log-probabilities are."""
    server = serve()
    server.respond = lambda asked, server: values(server.answer(asked.body), lambda v: v - 30)
    with pytest.raises(ModelError, match="its values are no log-probabilities"):
        load(server, tokenizer_file)


@pytest.mark.parametrize(
    "more", [{}, {"echo": "none"}, {"echo": "none", "counts": False}, VLLM, SGLANG], ids=str
)
def test_another_tokenizer_is_refused(serve: Serve, tmp_path: Path, more: dict[str, Any]) -> None:
    """By its echo's tokens, by how many it counts, or by tokens that the other does not have."""
    path = tmp_path / "tokenizer.json"
    tiny.llama_like().backend_tokenizer.save(str(path))
    with pytest.raises(ModelError, match="use the tokenizer of the served model"):
        load(serve(**more), path)


def test_a_server_that_generates_without_end_is_hung_up_on(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.models.openai.echo._SHORT", 0.2)

    def endless(asked: Asked, server: Serving) -> Sent:
        answer = Sent.of(server.answer(asked.body))
        return answer if asked.body["max_tokens"] else replace(answer, ends="never")

    server = serve()
    server.respond = endless
    assert load(server, timeout=None).description["identity"]["echo"]
    assert server.requests[-1]["max_tokens"] == 1


def test_a_server_that_lists_several_models_is_asked_for_a_name(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "models", lambda *_: [{"id": "one"}, {"id": "two"}])
    with pytest.raises(ModelError, match="serves one, two: choose the model with --served-model"):
        load(serve())


def test_a_list_of_models_that_fails_is_not_needed_with_a_name(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(lists=500)
    assert load(server, served_model="toy").name.startswith("toy at ")
    assert "--served-model" in caplog.text
    with pytest.raises(ScoringError, match="status 500"):
        load(server)
