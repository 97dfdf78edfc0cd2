"""The command line, as its own tests run it."""

from tests.cli.conftest import tacit, workplace

__all__ = ["tacit", "workplace"]
