"""Servers that fail, and are asked again; one that is gone, and is waited for."""

import asyncio
import base64
import json
import re
import threading
import traceback
from pathlib import Path

import httpx2
import pytest

from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import Client
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.loading import chosen
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.requests import Prompt
from tests.models.openai.conftest import Serve, load
from tests.models.openai.serving import Asked, Sent, Serving

KEY = "sk-a-secret-that-nobody-may-see"


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts, which take no time."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waits


def test_waits_double_and_are_drawn(slept: list[float]) -> None:
    """From half the first wait up; at least what the server asks for, up to the longest."""
    growing = [1.0, 2.0, 4.0, 5.0, 5.0]
    answers = {"4": [4.0, 4.0, 4.0, 5.0, 5.0], "1000": [5.0] * 5}
    answers |= dict.fromkeys(("", "Wed, 21 Oct 2026 07:28:00 GMT", "nan", "-3"), growing)
    for asked, longest in answers.items():
        headers = {"Retry-After": asked}
        busy = client(httpx2.Response(503, headers=headers), Backoff(6, first=1.0, most=5.0))
        slept.clear()
        for _ in range(20):
            with pytest.raises(ScoringError):
                busy.complete({})
        least = min(float(asked), 5.0) if asked.isdigit() else 0.5
        for at, most in enumerate(longest):
            drawn = slept[at::5]
            assert least <= min(drawn) <= max(drawn) <= most
            assert (len(set(drawn)) > 1) == (least < most)


def client(
    answer: httpx2.Response | Exception, backoff: Backoff | None = None, key: str | None = KEY
) -> Client:
    def handle(request: httpx2.Request) -> httpx2.Response:
        if isinstance(answer, Exception):
            raise answer
        said = answer.text.replace("{key}", request.headers.get("Authorization", ""))
        return httpx2.Response(answer.status_code, text=said, headers=answer.headers)

    options = ServerOptions(backoff=backoff or Backoff(3, first=0.0, most=0.0))
    return Client("http://host/v1", options, key, httpx2.MockTransport(handle))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx2.Response(500, text="broken {key}"), "status 500: broken Bearer [key]"),
        (httpx2.Response(429, text="slow down"), "status 429: slow down"),
        (
            httpx2.Response(200, text='{"choices": [{"in'),
            "the response is truncated or is not JSON",
        ),
        (httpx2.Response(200, text="[]"), "the response is not a JSON object"),
        (httpx2.ConnectError("refused"), "ConnectError: refused"),
    ],
)
def test_what_may_pass_is_asked_again(
    answer: httpx2.Response | Exception, said: str, slept: list[float]
) -> None:
    """So often as the back-off says; then the last failure is told, without the key."""
    with pytest.raises(ScoringError) as failed:
        client(answer).complete({})
    assert f"failed 3 times; the last failure: {said}" in str(failed.value)
    assert len(slept) == 2
    assert KEY not in str(failed.value)


@pytest.mark.parametrize(
    ("status", "error"), [(401, ModelError), (403, ModelError), (400, ScoringError)]
)
def test_what_will_not_pass_is_told_at_once(
    status: int, error: type[Exception], slept: list[float]
) -> None:
    """A refused key asks for another one; nothing repeats it."""
    with pytest.raises(error) as failed:
        client(httpx2.Response(status, text="no: {key}")).complete({})
    assert slept == []
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_is_hidden_in_what_a_server_repeats(status: int) -> None:
    """As it is and in base64, in replies and in messages; all else stays."""
    said = {"a": [f"my {KEY}!", base64.b64encode(KEY.encode()).decode()], KEY: "100% of %2F"}
    hidden = {"a": ["my [key]!", "[key]"], "[key]": "100% of %2F"}
    asked = client(httpx2.Response(status, text=json.dumps(said)))
    if status == 200:
        assert asked.complete({}) == hidden
        return
    with pytest.raises(ScoringError, match=re.escape(json.dumps(hidden))):
        asked.complete({})


def test_a_short_key_is_hidden_in_messages_alone() -> None:
    """In a reply it could be a word, whose measurement would change."""
    for status in (200, 400):
        asked = client(httpx2.Response(status, text='{"a": "an EMPTY box"}'), key="EMPTY")
        if status == 200:
            assert asked.complete({}) == {"a": "an EMPTY box"}
            continue
        with pytest.raises(ScoringError, match=r"an \[key\] box"):
            asked.complete({})


def test_a_model_that_is_called_by_the_key_is_asked_for_by_name() -> None:
    """Else each manifest and message would name it."""
    asked = client(httpx2.Response(200, text=json.dumps({"data": [{"id": KEY}]})))
    with pytest.raises(ModelError, match=r"serves \[key\]: choose the model with --served-model"):
        chosen(asked, None)
    assert chosen(asked, "m") == {"id": "m"}


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"token": [5]}, "token: Input should be a valid string"),
        ({"logprob": KEY}, "logprob: Input should be a valid number"),
        ({"logprob": 10**400}, "logprob: is too large for a floating-point number"),
    ],
)
def test_a_misshapen_completion_is_told_of_by_its_place(
    spoilt: dict[str, object], said: str
) -> None:
    """Its values are repeated nowhere: they may be the key."""
    token = {"token": "a", "logprob": -1.0, "top_logprobs": [], **spoilt}
    answer = {"choices": [{"logprobs": {"content": [token]}}]}
    asked = client(httpx2.Response(200, text=json.dumps(answer)))
    where = re.escape("is not a completion: choices[0].logprobs.content[0].")
    with pytest.raises(ScoringError, match=where + said) as failed:
        CompletionsServer(asked, "m").next_token("a")
    assert KEY not in "".join(traceback.format_exception(failed.value))
    assert "with /v1?" in str(failed.value)


def test_no_more_are_under_way_than_allowed(serve: Serve, tokenizer_file: Path) -> None:
    under_way: list[int] = []

    def counted(asked: Asked, server: Serving) -> Sent:
        under_way.append(server.under_way)
        threading.Event().wait(0.01)
        return Sent.of(server.answer(asked.body))

    server = serve(echo="none")
    server.respond = counted
    model = load(server, tokenizer_file, concurrency=3)
    under_way.clear()
    model.answer([Prompt(f"Number {number} has", ("a",)) for number in range(20)])
    assert 1 < max(under_way) <= 3
