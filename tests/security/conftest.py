"""The command line, as its own tests run it."""

from __future__ import annotations

from tests.cli.conftest import tacit, workplace

__all__ = ["tacit", "workplace"]
