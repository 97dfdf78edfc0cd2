import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tacit.errors import TacitError
from tests.fuzzing.mutations import Spoilt, spoilt
from tests.fuzzing.readers import Format, formats

EXAMPLES = int(os.environ.get("TACIT_TEST_EXAMPLES", "25"))
"""Of each format; a long run takes some thousands."""

FORMATS = formats()
fuzzed = settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES < 100,
    suppress_health_check=list(HealthCheck),
    database=None,
)
slowly_fuzzed = settings(fuzzed, max_examples=max(6, EXAMPLES // 5))


@contextmanager
def no_hang() -> Iterator[None]:
    """Ends with an error what takes a minute, where milliseconds are enough."""

    def hangs(*_: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_valid_file_is_read(name: str, examples: Path) -> None:
    """Else what is spoilt was no such file to begin with."""
    form = FORMATS[name]
    path = examples / form.name
    path.write_bytes(form.valid())
    form.read(path)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_spoilt_file_is_read_or_refused(name: str, examples: Path) -> None:
    """Nothing but an error of ours comes out, and nothing hangs."""
    form = FORMATS[name]
    valid = form.valid()

    @(slowly_fuzzed if form.slow else fuzzed)
    @given(spoilt())
    def check(how: Spoilt) -> None:
        _read(form, examples / form.name, how.of(valid))

    check()


def _read(form: Format, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with no_hang(), suppress(TacitError):
        form.read(path)
