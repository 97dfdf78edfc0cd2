"""Servers of llama-cpp-python and of llama.cpp itself, on loopback."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tacit.requests import Prompt

TEXTS = (
    "A bear has fur, is big, and has",
    "Judge whether this statement is true or false: a cat has fur.",
    "True or false? The egg yolk is inside.",
    "Something that has fur is called a",
    "Is it?\nAnswer:",
    "In a tree, the trunk is above the",
    "A bird is",
    "the egg yolk is inside the",
)


_TOP = 30


def prompts_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[Prompt]:
    """Texts with the likeliest words behind each, one that is not likely, and one of two tokens."""
    prompts = []
    for text in TEXTS:
        logits = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
        likely = [str(tokenizer.decode([number])) for number in logits.topk(_TOP).indices.tolist()]
        words = [one[1:] for one in likely if one.startswith(" ") and one[1:].isalpha()]
        prompts.append(Prompt(text, (*words, "claws", "the egg")))
    return prompts


@contextmanager
def running(path: Path, *more: str) -> Iterator[str]:
    """The address of a server of a GGUF file, which keeps keys and values in 32 bits."""
    command = [sys.executable, "-m", "llama_cpp.server", "--model", path]
    command += ["--n_ctx", 512, "--logits_all", "true", "--n_threads", 1]
    command += ["--type_k", 0, "--type_v", 0, "--verbose", "false", *more]
    with _listening(command) as address:
        yield address


@contextmanager
def running_native(program: str, path: Path) -> Iterator[str]:
    """The same of llama.cpp's own server."""
    command = [program, "--model", path, "--ctx-size", 512, "--parallel", 1, "--threads", 1]
    command += ["--cache-type-k", "f32", "--cache-type-v", "f32", "--flash-attn", "off"]
    with _listening(command) as address:
        yield address


@contextmanager
def _listening(command: Sequence[object]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*map(str, command), "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,  # a pipe that nobody reads would fill
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(600):
            try:
                if httpx2.get(f"{address}/models").is_success:
                    break
            except httpx2.HTTPError:
                assert process.poll() is None, command
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()
