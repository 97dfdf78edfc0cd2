import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import TacitError
from tacit.models.openai.chat import ChatServer, FirstTokensModel, read_replies
from tacit.models.openai.client import Client
from tacit.models.openai.completions import ServerModel
from tacit.models.openai.completions_server import CompletionsServer
from tacit.models.openai.loading import chosen
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.sampling import SampledModel
from tacit.models.openai.schema import Answer, Completion, Replied, validated
from tacit.models.openai.tokens import likeliest, read_tokens, returned
from tacit.models.openai.votes_server import VotesServer
from tacit.requests import Prompt
from tests.fuzzing.mutations import spoilt
from tests.fuzzing.shapes import GONE, Damage, Reshaped, reshaped
from tests.fuzzing.test_files import fuzzed, no_hang, slowly_fuzzed
from tests.models import tiny
from tests.models.openai.model import Manners, Model, Toy
from tests.models.openai.speaking import Refusal

KEY = "sk-a-secret-that-nobody-may-see"
PROMPTS = [Prompt("A bear has", ("claws", "True")), Prompt("Is ice", ("cold",))]
USAGE = {"prompt_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 2}}
LISTS = {
    "tokens": [" a", "token_id:7"],
    "token_logprobs": [None, -1.5],
    "top_logprobs": [None, {" a": -1.5, " b": -9999.0}],
}
ANSWER = {"choices": [{"index": 0, "text": " a", "logprobs": LISTS}], "usage": USAGE}
TOKEN = {"token": " a", "id": 3, "logprob": -1.5}
CONTENT = {
    "choices": [{"index": 0, "logprobs": {"content": [{**TOKEN, "top_logprobs": [TOKEN]}]}}],
    "usage": USAGE,
}
REPLIES: tuple[dict[str, Any], ...] = (
    {"message": {"content": "True.", "reasoning_content": "hm"}, "finish_reason": "length"},
    {"message": {"content": "<think>so</think> False", "reasoning": None}},
)
SAID = {"choices": [{"index": at, **one} for at, one in enumerate(REPLIES)], "usage": USAGE}
TOY = Toy(tiny.gpt2_like().backend_tokenizer)
LISTED = {"object": "list", "data": [{"id": "toy", "max_model_len": 60}]}


def shapes() -> st.SearchStrategy[Any]:
    """JSON of any shape: what no server should send, and half of a character, and the key."""
    plain = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 60),
        st.sampled_from([10**400, -(10**400), 2**63, -(10**4)]),
        st.floats(),
        st.sampled_from([KEY, "", " a", "\ud800", "token_id:7", f"token_id:{'9' * 5000}", "²"]),
        st.text(max_size=5),
    )
    names = st.sampled_from(["token", "logprob", "7", "-1", "²", KEY, "id", "index", "content"])
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=6,
    )


SHAPES = shapes()
MISSHAPEN = reshaped(st.one_of(SHAPES, SHAPES, SHAPES, st.just(GONE)), 1)
"""Any field, gone or of any shape."""

DAMAGED = st.one_of(MISSHAPEN, MISSHAPEN, spoilt())
THRICE = reshaped(st.one_of(SHAPES, SHAPES, SHAPES, st.just(GONE)), 3)


@fuzzed
@given(st.sampled_from([ANSWER, CONTENT]), THRICE)
def test_a_misshapen_completion_is_read_or_refused(reply: Any, how: Reshaped) -> None:  # noqa: ANN401 - JSON
    """Whatever is read of it is of the right types, and what is said of it repeats nothing."""
    with refused():
        found = read_tokens(validated(how.of(reply), Answer[Completion]))
        for token in found:
            assert isinstance(token.text, (str, type(None)))
            assert isinstance(token.logprob, (float, type(None)))
            likeliest(token, 5)
        returned(found)


@fuzzed
@given(THRICE)
def test_a_misshapen_reply_of_a_chat_is_read_or_refused(how: Reshaped) -> None:
    with refused():
        answer = validated(how.of(SAID), Answer[Replied])
        for one in read_replies(answer, 2):
            one.sample(begun=False, meant=True).reply.encode()


@pytest.mark.parametrize("kind", ["completions", "content", "chat", "samples"])
def test_a_server_of_misshapen_replies_is_used_or_refused(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From some reply on, in its preflight or later, each is of another shape, or no JSON."""
    root = tmp_path_factory.mktemp("stores")
    names = count()

    @slowly_fuzzed
    @given(DAMAGED, st.integers(0, 120))
    def check(how: Damage, begin: int) -> None:
        with refused():
            ask(kind, Spoiling(kind, how, begin), Store(root / str(next(names))))

    check()


@fuzzed
@given(DAMAGED)
def test_a_misshapen_list_of_models_is_read_or_refused(how: Damage) -> None:
    """What it calls its model can be sent to it again."""
    answer = damaged(LISTED, how)
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=answer))
    with refused():
        chosen(client(transport), None)["id"].encode()


def damaged(reply: Any, how: Damage) -> bytes:  # noqa: ANN401 - JSON
    if isinstance(how, Reshaped):
        return json.dumps(how.of(reply)).encode()
    return how.of(json.dumps(reply).encode())


@contextmanager
def refused() -> Iterator[None]:
    """Lets an error of ours pass that, with what led to it, does not repeat the key."""
    told = ""
    with no_hang():
        try:
            yield
        except TacitError as error:
            told = "".join(traceback.format_exception(error))
    assert KEY not in told


class Spoiling(httpx2.AsyncBaseTransport):
    """A server of the toy language, whose replies are out of shape from some on."""

    def __init__(self, kind: str, how: Damage, begin: int) -> None:
        self._how, self._left = how, begin
        self._model = Model(TOY, Manners(form="content" if kind == "content" else "completions"))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._left -= 1
        try:
            reply = self._model.answer(json.loads(request.content))
        except Refusal as refusal:
            return httpx2.Response(400, text=str(refusal))
        content = damaged(reply, self._how) if self._left < 0 else json.dumps(reply).encode()
        return httpx2.Response(200, content=content)


def client(transport: httpx2.AsyncBaseTransport) -> Client:
    options = ServerOptions(backoff=Backoff(2, first=0.0, most=0.0))
    return Client("http://127.0.0.1:1/v1", options, KEY, transport)


def ask(kind: str, transport: httpx2.AsyncBaseTransport, store: Store) -> None:
    asked = client(transport)
    if kind == "samples":
        Engine(SampledModel(VotesServer(asked, "toy"), samples=3), store).ask(PROMPTS)
    elif kind == "chat":
        Engine(FirstTokensModel(ChatServer(asked, "toy")), store).ask(PROMPTS)
    else:
        Engine(ServerModel(CompletionsServer(asked, "toy", window=60)), store).ask(PROMPTS)
