import subprocess
import sys

import pytest

from tacit.models.huggingface.local import keep_freed

_FAULTS = """
import resource, torch
from tacit.models.huggingface.local import keep_freed

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for size in 20 * (3, 12, 12, 3, 44):
        torch.ones(size << 18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults()
keep_freed()
faults()
print(given_back, faults())
"""


@pytest.mark.skipif(not keep_freed(), reason="the C library is not glibc, or was told otherwise")
@pytest.mark.slow
def test_what_was_freed_is_not_asked_of_the_system_again() -> None:
    """In pages that the system gives a process for what it had freed before."""
    command = [sys.executable, "-c", _FAULTS]
    told = subprocess.run(command, capture_output=True, check=True, text=True)
    given_back, kept = map(int, told.stdout.split())
    assert given_back > 20 * 40 * 256  # of 74 MB in pages of 4 KiB
    assert kept < given_back / 5
