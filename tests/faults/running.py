"""Runs of the demo model in processes of their own, in which faults are made."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tacit.sources.drawings import demo_drawings

PARTS_OF_A_PEACH = (
    *("run", "parts", "--drawings", str(demo_drawings()), "--things", "peach", "--no-report"),
)
"""A run of the parts probe on one thing, without its model."""

PEACH = (*PARTS_OF_A_PEACH, "--model", "demo")
"""That run of the demo model."""

SMALL_BLOCKS = """
import functools
from tacit.engine import ask
ask.Engine = functools.partial(ask.Engine, block_tokens=400, seconds=0)
"""
"""Makes that run one of some twenty segments."""


@dataclass(frozen=True)
class Ended:
    status: int
    said: str


class Warm:
    """Runs ``tacit`` in new processes that need not import everything first; a context."""

    def __enter__(self) -> Self:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        environment.pop("TACIT_STORE", None)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        self._process.wait()

    def run(self, folder: Path, *arguments: object, setup: str = SMALL_BLOCKS) -> Ended:
        """How ``tacit`` ends with these arguments in that working folder."""
        folder.mkdir(exist_ok=True)
        command = {"folder": str(folder), "arguments": list(map(str, arguments)), "setup": setup}
        _pipe(self._process.stdin).write(json.dumps(command) + "\n")
        _pipe(self._process.stdin).flush()
        return Ended(**json.loads(_pipe(self._process.stdout).readline()))


def findings_of(folder: Path) -> dict[str, bytes]:
    """The bytes of a run's questions and findings; what is hidden is what was being written."""
    files = [folder / "questions.parquet", *sorted((folder / "findings").glob("[!.]*"))]
    return {file.name: file.read_bytes() for file in files}


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream
    return stream
