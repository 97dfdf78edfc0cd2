from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tacit.models.huggingface.local import keep_freed

_FAULTS = """
import resource, torch
from tacit.models.huggingface.local import keep_freed
keep_freed()
def fill():
    for size in (3, 12, 12, 3, 44):
        torch.ones(size << 18)
fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**environment: str) -> int:
    """How many pages the system gave a process for what it had freed before."""
    told = subprocess.run(
        [sys.executable, "-c", _FAULTS],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
        text=True,
    )
    return int(told.stdout)


@pytest.mark.skipif(not keep_freed(), reason="the C library is not glibc, or was told otherwise")
@pytest.mark.slow
def test_what_was_freed_is_not_asked_of_the_system_again() -> None:
    """Unless the environment says what glibc does."""
    given_back = faults(MALLOC_MMAP_THRESHOLD_="131072")
    assert given_back > 20 * 60 * 256  # 74 MB in pages of 4 KiB, nearly all of them
    assert faults() < given_back / 5
