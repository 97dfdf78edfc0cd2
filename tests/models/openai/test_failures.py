"""Servers that fail, and are asked again; one that is gone, and is waited for."""

from __future__ import annotations

import json
import re
import threading
import time
import traceback
from typing import TYPE_CHECKING

import httpx
import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError, ScoringError
from tacit.models.openai.client import Client
from tacit.models.openai.loading import chosen
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.preflight import preflight
from tacit.models.openai.questions import Questions
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.requests import Prompt
from tests.models.openai.conftest import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.models.openai.conftest import Serve
    from tests.models.openai.serving import Toy

KEY = "sk-a-secret-that-nobody-may-see"


def likeliest(toy: Toy, text: str) -> tuple[int, float]:
    """The likeliest next token, and its log-probability."""
    values = toy.following(tuple(toy.tokenizer.encode(text).ids))
    return int(values.argmax()), float(values.max())


@pytest.mark.slow
def test_10000_prompts_at_a_fifth_failing_end_complete_and_right(
    serve: Serve, toy: Toy, tokenizer_file: Path, tmp_path: Path
) -> None:
    """With 500, 429 and bodies that break off, however often."""
    prompts = [Prompt(f"Is {number}", ("a",)) for number in range(10_000)]
    server = serve(failing=0.2, top=0)
    model = load(server, tokenizer_file, concurrency=4)
    before = server.statuses.copy()
    scores = Engine(model, Store(tmp_path)).ask(prompts)
    for prompt, scored in zip(prompts, scores, strict=True):
        (one,) = scored.answers
        ids = tuple(toy.tokenizer.encode(f"{prompt.text} {one.answer}").ids)
        assert one.logprob == pytest.approx(toy.logprob(ids, len(ids) - one.tokens), abs=1e-9)
    done = server.statuses - before
    assert 10_000 < done["200"] < 10_100, "a few are asked again beside them"
    assert all(done[failure] > 500 for failure in ("500", "429", "broken off"))


def test_answers_that_come_out_of_order_stay_with_their_prompts(
    serve: Serve, toy: Toy, tokenizer_file: Path
) -> None:
    """Of eight under way at once, the first ones take longest."""
    model = load(serve(slow=lambda before: 0.02 * (-before % 4), echo="none"), tokenizer_file)
    texts = [f"Statement {number} is" for number in range(24)]
    words = [toy.tokenizer.decode([likeliest(toy, text)[0]]) for text in texts]
    scores = model.answer([Prompt(t, (w,), "") for t, w in zip(texts, words, strict=True)])
    for text, scored in zip(texts, scores, strict=True):
        if scored.answers[0].tokens == 1 and scored.answers[0].logprob is not None:
            ids = tuple(toy.tokenizer.encode(text + scored.answers[0].answer).ids)
            assert scored.answers[0].logprob == pytest.approx(toy.logprob(ids, len(ids) - 1))
    assert sum(scored.answers[0].logprob is not None for scored in scores) > 12


@pytest.mark.slow
def test_a_server_that_always_stalls_is_given_up_with_what_to_do(
    serve: Serve, tokenizer_file: Path
) -> None:
    """More time may be what it needs."""
    server = serve()
    model = load(server, tokenizer_file, timeout=0.25)
    server.manners.stalls = 100
    with pytest.raises(ScoringError, match=r"after 0\.25 s \(raise this limit with --timeout\)"):
        model.answer([Prompt("Is ice cold?", (" yes",), "")])


def test_a_server_that_stalls_is_asked_again(serve: Serve, tokenizer_file: Path) -> None:
    """After the time-out, and the answer that comes too late is nobody's."""
    server = serve()
    model = load(server, tokenizer_file, timeout=0.25)
    prompt = Prompt("A bear has", ("claws",))
    (right,) = model.answer([prompt])
    server.manners.stalls = 1
    assert model.answer([prompt]) == [right]
    assert server.manners.stalls == 0


def test_an_answer_that_drips_in_is_waited_for_no_longer(serve: Serve) -> None:
    """The time-out is of the whole answer, not of each byte of it."""
    server = serve(drips=50)
    options = ServerOptions(timeout=20.0, backoff=Backoff(attempts=1))
    asked = Client(server.address, options)
    begun = time.monotonic()
    with pytest.raises(ScoringError, match=r"the response was not complete after 0\.5 s"):
        asked.complete({"prompt": "a", "max_tokens": 1}, timeout=0.5)
    assert time.monotonic() - begun < 2
    server.manners.drips = 3
    assert asked.complete({"prompt": "a", "max_tokens": 1})["model"] == "toy"


def test_waits_double_and_are_drawn() -> None:
    """From half the first wait up; at least what the server asks for, up to the longest."""
    answers = {None: [1.0, 2.0, 4.0, 5.0, 5.0], "4": [4.0, 4.0, 4.0, 5.0, 5.0], "1000": [5.0] * 5}
    for asked, longest in answers.items():
        slept: list[list[float]] = []
        for _ in range(50):
            waits: list[float] = []
            backoff = Backoff(attempts=6, first=1.0, most=5.0, sleep=waits.append)
            headers = {} if asked is None else {"Retry-After": asked}
            busy = httpx.Response(503, headers=headers)
            with pytest.raises(ScoringError):
                client(busy, backoff).complete({})
            slept.append(waits)
        least = min(float(asked or 0.5), 5.0)
        for at, most in enumerate(longest):
            drawn = [waits[at] for waits in slept]
            assert least <= min(drawn) <= max(drawn) <= most
        assert (asked is None) == (len({tuple(waits) for waits in slept}) == len(slept))


def client(
    answer: httpx.Response | Exception | Callable[[], httpx.Response],
    backoff: Backoff | None = None,
    key: str | None = KEY,
) -> Client:
    """A client of a server that always answers the same, or what is made for each request."""

    def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, httpx.Response):
            return answer()
        said = answer.text.replace("{key}", request.headers.get("Authorization", ""))
        return httpx.Response(answer.status_code, text=said, headers=answer.headers)

    options = ServerOptions(backoff=backoff or Backoff(attempts=3, sleep=lambda _: None))
    return Client("http://host/v1", options, key, httpx.MockTransport(handle))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(500, text="broken {key}"), "status 500: broken Bearer [key]"),
        (httpx.Response(503, text=""), "status 503"),
        (httpx.Response(429, text="slow down"), "status 429: slow down"),
        (httpx.Response(200, text='{"choices": [{"in'), "the response is truncated or is not JSON"),
        (httpx.Response(200, text="[]"), "the response is not a JSON object"),
        (httpx.ReadTimeout("too late"), "ReadTimeout: too late"),
        (httpx.ConnectError("refused"), "ConnectError: refused"),
    ],
)
def test_what_may_pass_is_asked_again(answer: httpx.Response | Exception, said: str) -> None:
    """So often as the back-off says; then the last failure is told, without the key."""
    slept: list[float] = []
    with pytest.raises(ScoringError) as failed:
        client(answer, Backoff(3, sleep=slept.append)).complete({})
    assert f"failed 3 times; the last failure: {said}" in str(failed.value)
    assert len(slept) == 2
    assert KEY not in str(failed.value)


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ModelError), (403, ModelError), (400, ScoringError), (404, ScoringError)],
)
def test_what_will_not_pass_is_told_at_once(status: int, error: type[Exception]) -> None:
    """A refused key asks for another one; nothing repeats it."""
    slept: list[float] = []
    with pytest.raises(error) as failed:
        client(httpx.Response(status, text="no: {key}"), Backoff(sleep=slept.append)).complete({})
    assert slept == []
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("sk-ab/cd+EF", r'{"error": "Bearer sk-ab\/cd+EF"}'),
        ('sk-"q"&\\', r'{"error": "sk-\"q\"&\\"}'),
        ("sk-two  blanks", "not sk-two  blanks"),
    ],
)
def test_a_key_is_hidden_however_it_is_written(key: str, said: str, status: int) -> None:
    """As it is, and as JSON writes it."""
    with pytest.raises(ScoringError) as failed:
        client(httpx.Response(status, text=said), key=key).complete({})
    told = str(failed.value)
    assert "[key]" in told
    assert not any(part in told for part in ("sk-", "EF", "q", "two", "blanks"))


def test_what_is_no_key_stays() -> None:
    """A message is of use only where it can be read."""
    for key in ("sk-ab/cd", None):
        with pytest.raises(ScoringError, match=r"status 500: sk-ab or cd \(100% of %2F\)"):
            client(httpx.Response(500, text="sk-ab or cd (100% of %2F)"), key=key).complete({})


def test_a_model_that_is_called_by_the_key_is_asked_for_by_name() -> None:
    """Else each manifest and message would name it."""
    asked = client(httpx.Response(200, text=json.dumps({"data": [{"id": KEY}]})))
    with pytest.raises(ModelError, match=r"serves \[key\]: choose the model with --served-model"):
        chosen(asked, None)
    assert chosen(asked, "m") == {"id": "m"}


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"token": 5}, "token is a number; expected a string"),
        ({"token": [5]}, "token is a list; expected a string"),
        ({"token": None}, "token is null; expected a string"),
        ({"logprob": KEY}, "logprob is a string; expected a number"),
        ({"logprob": True}, "logprob is a boolean; expected a number"),
        ({"logprob": 10**400}, "logprob: is too large for a floating-point number"),
        ({"top_logprobs": KEY}, "top_logprobs is a string; expected a list"),
    ],
)
def test_a_misshapen_completion_is_told_of_by_its_place(
    spoilt: dict[str, object], said: str
) -> None:
    """Its values are repeated nowhere: they may be the key."""
    token = {"token": "a", "logprob": -1.0, "top_logprobs": [], **spoilt}
    answer = {"choices": [{"logprobs": {"content": [token]}}]}
    asked = client(httpx.Response(200, text=json.dumps(answer)))
    where = re.escape("is not a completion: choices[0].logprobs.content[0].")
    with pytest.raises(ScoringError, match=where + said) as failed:
        Questions(asked, "m").next_token("a")
    assert KEY not in "".join(traceback.format_exception(failed.value))
    assert "with /v1?" in str(failed.value)


def test_a_token_that_is_the_key_is_not_shown(tokenizer_file: Path) -> None:
    """Where it is told that the tokenizer does not have it."""
    one = {"token": KEY, "logprob": -1.0}
    answer = {"choices": [{"logprobs": {"content": [{**one, "top_logprobs": [one]}]}}]}
    asked = client(httpx.Response(200, text=json.dumps(answer)))
    with pytest.raises(ModelError, match=r"returns the token '\[key\]'"):
        preflight(Questions(asked, "m"), TokenizerFile(tokenizer_file))


def test_a_wish_to_be_left_alone_is_heeded() -> None:
    """``Retry-After`` in seconds; a date is not waited for."""
    slept: list[float] = []
    for wish in ("7", "Wed, 21 Oct 2026 07:28:00 GMT", "nan", "-3"):
        response = httpx.Response(429, text="", headers={"Retry-After": wish})
        with pytest.raises(ScoringError):
            client(response, Backoff(3, first=1.0, sleep=slept.append)).complete({})
    assert slept[:2] == [7.0, 7.0]
    assert max(slept[2:]) <= 2.0


def test_a_run_goes_on_where_the_server_died(
    serve: Serve, tokenizer_file: Path, tmp_path: Path
) -> None:
    """What was answered in whole blocks is stored; the rest alone is asked, and all is complete."""
    prompts = [Prompt(f"Number {number} has", ("claws",)) for number in range(40)]
    server = serve(echo="none")
    model = load(server, tokenizer_file, kept=tmp_path, concurrency=1)
    server.manners.dies = len(server.requests) + 25
    engine = Engine(model, Store(tmp_path), block_tokens=100)
    with pytest.raises(ScoringError, match=r"could not be scored.*failed 8 times.*out of memory"):
        engine.ask(prompts)
    stored = Store(tmp_path).read(model.fingerprint).height
    assert 0 < stored <= 25
    server.manners.dies = None
    assert model.answer(prompts[:1]), "the same model is asked again when its server is back"
    again = load(server, tokenizer_file, kept=tmp_path, concurrency=1)
    assert again.fingerprint == model.fingerprint
    asked = len(server.requests)
    scores = Engine(again, Store(tmp_path), block_tokens=100).ask(prompts)
    assert len(scores) == 40
    new = [r["prompt"] for r in server.requests[asked:] if r["max_tokens"] == 1]  # 2: a recheck
    numbers = {text for text in new if text.startswith("Number")}
    assert len({text.split()[1] for text in numbers}) == 40 - stored


def test_no_more_are_under_way_than_allowed(serve: Serve, tokenizer_file: Path) -> None:
    """However many prompts there are."""
    under_way, most, lock = [0], [0], threading.Lock()

    def slow(_: int) -> float:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.01)
        with lock:
            under_way[0] -= 1
        return 0.0

    model = load(serve(slow=slow, echo="none"), tokenizer_file, concurrency=3)
    most[0] = 0
    model.answer([Prompt(f"Number {number} has", ("a",)) for number in range(20)])
    assert 1 < most[0] <= 3
