"""Every error that Tacit raises on purpose, and the exit code each one gives the command line.

    TacitError
    ├── RequestError            the request was wrong: exit code 2
    │   ├── DataError           a file: what is wrong, in which file, on which line
    │   ├── PromptError         a prompt that cannot be scored as it stands
    │   │   └── TooLongError    a prompt that is longer than the model's window
    │   ├── ModelError          a model that is not there, or not whole, or of no kind we know
    │   └── MissingPackage      an extra that is not installed
    └── WorkError               the request was right and the work failed: exit code 1
        ├── ScoringError        a model failed, or gave something that is no log-probability
        │   └── UnreliableError  a server no longer answers as it did, or as no model can
        ├── NetworkError        a hub or a server that cannot be reached
        ├── StoreError          the store cannot be read or written
        ├── FindingsError       a probe found what it does not declare
        └── RepairError         a repaired assignment that breaks a constraint (never expected)

A message says what was wrong, where, what was expected, and what to do. An exception of another
library is translated where it enters, with ``from``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTION = "tacit-lm"
"""The name that pip installs; `tacit` on the package index is another project's."""


class TacitError(Exception):
    """The root of every error that Tacit raises on purpose.

    Examples:
        >>> import tacit
        >>> try:
        ...     tacit.demo_data("poems")
        ... except tacit.TacitError as error:
        ...     print(error)
        the demo has no 'poems'; it has drawings, facts, questions, norms
    """

    exit_code = 1


class RequestError(TacitError):
    """What was asked for cannot be done as it was asked."""

    exit_code = 2


class DataError(RequestError):
    """A file is missing, or a row of it is malformed.

    Args:
        problem: What is wrong and what was expected.
        path: The file, when there is one.
        line: The line in the file, counted from 1, header included.
    """

    def __init__(
        self, problem: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + problem)
        self.path = path
        self.line = line


class PromptError(RequestError):
    """A prompt cannot be scored as it stands: no answers, two blanks, longer than the window."""


class TooLongError(PromptError):
    """A prompt is longer, with an answer, than the model's window."""


class ModelError(RequestError):
    """A model that is not there, has no weights, or is of a kind that Tacit does not know."""


class MissingPackage(RequestError):  # noqa: N818 - says what it is
    """A package of an extra is needed and not installed.

    Args:
        package: The package that could not be imported.
        extra: The extra of Tacit that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install '{DISTRIBUTION}[{extra}]'"
        )


class WorkError(TacitError):
    """The request was right, and the work failed."""


class ScoringError(WorkError):
    """A model failed while scoring, or gave something that is not a log-probability."""


class UnreliableError(ScoringError):
    """A server no longer answers as it did, or as no model can; its last answers are not kept."""


class NetworkError(WorkError):
    """A hub or a server cannot be reached."""


class StoreError(WorkError):
    """The store of scores cannot be read or written."""


class FindingsError(WorkError):
    """A probe found something else than it declares: a mistake in the probe."""


class RepairError(WorkError):
    """A repaired assignment breaks a constraint. Never expected: please report it."""
