"""The command line of ``tests/cli``, for what it shows."""

from tests.cli.conftest import tacit, workplace

__all__ = ["tacit", "workplace"]
