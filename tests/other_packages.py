"""Packages of others (``tests/plugins``), on the path as if they were installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tacit.models import registry
from tacit.probes import registry as base

PLUGINS = Path(__file__).parent / "plugins"


@contextmanager
def installed() -> Iterator[None]:
    """For the time of the block, their probes and back-ends are found by their entry points."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PLUGINS)
        patch.setattr(base, "_HERE", {})
        _forget()
        yield
    _forget()


def _forget() -> None:
    base._others.cache_clear()
    registry._registered.cache_clear()
