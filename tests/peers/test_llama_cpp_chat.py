"""The chat of a real server, of llama-cpp-python, beside the same model in this process.

To install it: see ``docs/how-to/tests.md``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import ServerOptions
from tacit.requests import Prompt, SamplingPrompt
from tests.models import chatting, tiny
from tests.peers.gguf_file import write_gguf
from tests.peers.llama_server import TEXTS, running

pytest.importorskip("llama_cpp.server", reason="llama-cpp-python[server] is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")

# Its format for chats puts an empty system turn before the user's.
SYSTEM = "{{ '<|im_start|>system\\n<|im_end|>\\n' }}"


def test_its_first_tokens_are_those_of_transformers_and_its_replies_are_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To four decimals, by the same template; it gives one reply to a request, and other ones."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    style = replace(chatting.STYLES["chatml"], template=SYSTEM + chatting.CHATML)
    monkeypatch.setitem(chatting.STYLES, "chatml", style)
    folder = chatting.save("chatml", tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    write_gguf(AutoModelForCausalLM.from_pretrained(folder), tokenizer, tmp_path / "model.gguf")
    words = tuple(sorted(w for w in tokenizer.get_vocab() if w.isascii() and w.isalpha()))
    prompts = [Prompt(text, words) for text in TEXTS]
    here = [
        one for scores in tiny.load(folder, chat=True).answer(prompts) for one in scores.answers
    ]
    with running(tmp_path / "model.gguf", "--chat_format", "chatml") as address:
        served = load_server(address, ServerOptions(api="chat", concurrency=1))
        there = [one for scores in served.answer(prompts) for one in scores.answers]
        off = [
            abs(own.logprob - it.logprob)
            for own, it in zip(here, there, strict=True)
            if own.logprob is not None and it.logprob is not None
        ]
        assert len(off) > len(TEXTS)
        assert max(off) < 5e-5
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
