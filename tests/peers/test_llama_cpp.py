"""A real server, of llama-cpp-python, beside the same model in this process.

Its next tokens are right, its echo is not: it gives a token what belongs to the one before it. With
``max_tokens`` 0 it fills its window. To install it takes a compiler and some minutes: see
``docs/how-to/tests.md``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import ModelError
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import ServerOptions
from tests.models import tiny
from tests.peers.gguf_file import write_gguf
from tests.peers.llama_server import TEXTS, prompts_of, running

pytest.importorskip("llama_cpp.server", reason="llama-cpp-python[server] is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")


def test_its_next_tokens_are_those_of_transformers_and_its_echo_is_refused(tmp_path: Path) -> None:
    """To three decimals, for all answers that it returns; without a tokenizer's file as well."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny.save("qwen2", tmp_path / "qwen2")
    local = tiny.load(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    prompts = prompts_of(model, AutoTokenizer.from_pretrained(folder))
    write_gguf(model, AutoTokenizer.from_pretrained(folder), tmp_path / "model.gguf")
    here = [one for scores in local.answer(prompts) for one in scores.answers]
    with running(tmp_path / "model.gguf") as address:
        for tokenizer in (folder, None):
            served = load_server(address, ServerOptions(tokenizer=tokenizer, concurrency=1))
            assert "its echo is incorrect" in "; ".join(served.description["refused"])
            there = [one for scores in served.answer(prompts) for one in scores.answers]
            off = [
                abs(own.logprob - it.logprob)
                for own, it in zip(here, there, strict=True)
                if own.logprob is not None and it.logprob is not None
            ]
            assert len(off) > len(TEXTS)
            assert max(off) < 5e-4
            assert all(it.logprob is None for it in there if it.answer == "the egg")
        with pytest.raises(ModelError, match="use the tokenizer of the served model"):
            load_server(address, ServerOptions(tokenizer=_another(tmp_path)))


def _another(folder: Path) -> Path:
    """The file of another tokenizer."""
    path = folder / "another.json"
    tiny.llama_like().backend_tokenizer.save(str(path))
    return path
