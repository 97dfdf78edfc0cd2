"""A server of llama-cpp-python, on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

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


@contextmanager
def running(path: Path, *more: str) -> Iterator[str]:
    """The address of a server of a GGUF file, which keeps keys and values in 32 bits."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", path, "--port", port]
    command += ["--host", "127.0.0.1", "--n_ctx", 512, "--logits_all", "true", "--n_threads", 1]
    command += ["--type_k", 0, "--type_v", 0, "--verbose", "false", *more]
    process = subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(600):
            try:
                httpx2.get(f"{address}/models")
                break
            except httpx2.HTTPError:
                assert process.poll() is None, process.stdout and process.stdout.read()
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.communicate()
