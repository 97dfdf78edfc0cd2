"""Real servers of GGUF files, beside the same model in this process.

The next tokens of llama-cpp-python are right, its echo is not: it gives a token what belongs to the
one before it. With ``max_tokens`` 0 it fills its window. llama.cpp's own server has no echo. How to
install them: see ``docs/how-to/tests.md``.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError
from tacit.models.openai.loading import load_server, offers
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.roads import ECHO, NEXT_TOKENS
from tacit.requests import AnswerScore, Prompt, SamplingPrompt
from tests.models import chatting, tiny
from tests.peers.gguf_file import write_gguf
from tests.peers.llama_server import TEXTS, prompts_of, running, running_native

pytest.importorskip("gguf", reason="gguf is not installed")
PROGRAM = shutil.which("llama-server")

# Its format for chats puts an empty system turn before the user's.
SYSTEM = "{{ '<|im_start|>system\\n<|im_end|>\\n' }}"


def written(folder: Path) -> tuple[Any, Any]:
    """A model and its tokenizer as transformers loads them; ``model.gguf`` lies beside."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    write_gguf(model, tokenizer, folder.parent / "model.gguf")
    return model, tokenizer


def answers(model: Any, prompts: Sequence[Prompt]) -> list[AnswerScore]:  # noqa: ANN401
    return [one for scores in model.answer(prompts) for one in scores.answers]


def furthest(here: Sequence[AnswerScore], there: Sequence[AnswerScore]) -> float:
    """The largest difference, in nats, of the answers that both have."""
    off = [
        abs(own.logprob - it.logprob)
        for own, it in zip(here, there, strict=True)
        if own.logprob is not None and it.logprob is not None
    ]
    assert len(off) > len(TEXTS)
    return max(off)


def test_next_tokens_are_those_of_transformers_and_the_echo_is_refused(tmp_path: Path) -> None:
    """To three decimals, for all answers that it returns; without a tokenizer's file as well."""
    pytest.importorskip("llama_cpp.server", reason="llama-cpp-python[server] is not installed")
    folder = tiny.save("qwen2", tmp_path / "qwen2")
    prompts = prompts_of(*written(folder))
    here = answers(tiny.load(folder), prompts)
    another = tmp_path / "another.json"
    tiny.llama_like().backend_tokenizer.save(str(another))
    with running(tmp_path / "model.gguf") as address:
        for tokenizer in (folder, None):
            served = load_server(address, ServerOptions(tokenizer=tokenizer, concurrency=1))
            assert "its echo is incorrect" in "; ".join(served.description["refused"])
            there = answers(served, prompts)
            assert furthest(here, there) < 5e-4
            assert all(it.logprob is None for it in there if it.answer == "the egg")
        with pytest.raises(ModelError, match="use the tokenizer of the served model"):
            load_server(address, ServerOptions(tokenizer=another))


def test_first_tokens_of_a_chat_are_those_of_transformers_and_replies_are_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To four decimals, by the same template; it gives one reply to a request, and other ones."""
    pytest.importorskip("llama_cpp.server", reason="llama-cpp-python[server] is not installed")
    style = replace(chatting.STYLES["chatml"], template=SYSTEM + chatting.CHATML)
    monkeypatch.setitem(chatting.STYLES, "chatml", style)
    folder = chatting.save("chatml", tmp_path / "model")
    _, tokenizer = written(folder)
    words = tuple(sorted(w for w in tokenizer.get_vocab() if w.isascii() and w.isalpha()))
    prompts = [Prompt(text, words) for text in TEXTS]
    with running(tmp_path / "model.gguf", "--chat_format", "chatml") as address:
        served = load_server(address, ServerOptions(api="chat", concurrency=1))
        here = answers(tiny.load(folder, chat=True), prompts)
        assert furthest(here, answers(served, prompts)) < 5e-5
        options = ServerOptions(api="chat", concurrency=1, samples=12)
        model = load_server(address, options)
        assert model.description["refused"] == [
            "it returns one reply per request, however many are requested"
        ]
        votes = Engine(model, Store(tmp_path / "store")).ask(prompts[:2])
        assert [of.parsed + of.unparsed for of in votes] == [12, 12]
        replies = Store(tmp_path / "store").read(model.fingerprint, SamplingPrompt)["reply"]
        assert replies.n_unique() > 12
        again = load_server(address, options, tmp_path / "store")
        assert again.fingerprint == model.fingerprint


@pytest.mark.skipif(PROGRAM is None, reason="llama-server is not on the path")
def test_next_tokens_of_llama_server_are_those_of_transformers(tmp_path: Path) -> None:
    """All answers that it lists, to three decimals; the road is the one that the table names."""
    folder = tiny.save("qwen2", tmp_path / "qwen2")
    prompts = prompts_of(*written(folder))
    options = ServerOptions(tokenizer=folder, concurrency=1)
    with running_native(str(PROGRAM), tmp_path / "model.gguf") as address:
        there = answers(load_server(address, options), prompts)
        found = {offer.road: offer for offer in offers(address, options).roads}
    assert furthest(answers(tiny.load(folder), prompts), there) < 5e-4
    assert found[NEXT_TOKENS].usable
    assert "no tokens of the prompt" in found[ECHO].found
