"""llama.cpp's own server, beside the same model in this process.

It is skipped without a ``llama-server`` on the path; see ``docs/how-to/tests.md``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tacit.models.openai.loading import load_server, offers
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.roads import ECHO, NEXT_TOKENS
from tests.models import tiny
from tests.peers.gguf_file import write_gguf
from tests.peers.llama_server import prompts_of, running_native

pytest.importorskip("gguf", reason="gguf is not installed")
PROGRAM = shutil.which("llama-server")


@pytest.mark.skipif(PROGRAM is None, reason="llama-server is not on the path")
def test_its_next_tokens_are_those_of_transformers_and_it_has_no_echo(tmp_path: Path) -> None:
    """All answers that it lists, to three decimals; the road is the one that the table names."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny.save("qwen2", tmp_path / "qwen2")
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompts = prompts_of(model, tokenizer)
    write_gguf(model, tokenizer, tmp_path / "model.gguf")
    here = [one for scores in tiny.load(folder).answer(prompts) for one in scores.answers]
    options = ServerOptions(tokenizer=folder, concurrency=1)
    with running_native(str(PROGRAM), tmp_path / "model.gguf") as address:
        served = load_server(address, options)
        there = [one for scores in served.answer(prompts) for one in scores.answers]
        found = {offer.road: offer for offer in offers(address, options).roads}
    off = [
        abs(own.logprob - it.logprob)
        for own, it in zip(here, there, strict=True)
        if own.logprob is not None and it.logprob is not None
    ]
    assert len(off) > len(prompts)
    assert max(off) < 5e-4
    assert found[NEXT_TOKENS].usable
    assert "no tokens of the prompt" in found[ECHO].found
