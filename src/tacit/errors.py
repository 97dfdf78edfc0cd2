"""Exceptions that Tacit raises on purpose, and the exit codes of the command line."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "tacit-lm"
"""The name under which pip installs Tacit; `tacit` on PyPI is a different project."""


DATA_FRAMES = "tacit-data-frames-"
"""The start of the name of the temporary folder to which data frames are written."""


def path_text(path: Path | str) -> str:
    """Return a path as text for messages; a data frame's temporary file is "the data frame"."""
    return "the data frame" if DATA_FRAMES in str(path) else str(path)


class TacitError(Exception):
    """The base class of all errors that Tacit raises on purpose.

    Examples:
        >>> import tacit
        >>> try:
        ...     tacit.demo_data("poems")
        ... except tacit.TacitError as error:
        ...     print(error)
        there is no demo data 'poems'; expected one of drawings, facts, questions, norms
    """

    exit_code = 1


class RequestError(TacitError):
    """The request is invalid."""

    exit_code = 2


class DataError(RequestError):
    """A file is missing or malformed.

    Args:
        problem: What is wrong with the file, and what was expected instead.
        path: The path of the file; None if the data did not come from a file.
        line: The number of the line in the file, counted from 1. The header counts as a line.
    """

    def __init__(
        self, problem: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        where = "" if line is None else f", line {line}"
        super().__init__(problem if path is None else f"{path_text(path)}{where}: {problem}")
        self.path = path
        self.line = line


class PromptError(RequestError):
    """A prompt cannot be scored, such as a prompt with two blanks or no candidate answers."""


class TooLongError(PromptError):
    """A prompt, together with an answer, is longer than the model's context window."""


class ModelError(RequestError):
    """A model does not exist, has no weights, or is of a kind that Tacit does not support."""


class MissingPackage(RequestError):  # noqa: N818 - the name states the condition
    """A package that an optional feature of Tacit requires, and ``extra`` installs, is missing."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install '{DISTRIBUTION}[{extra}]'"
        )


class WorkError(TacitError):
    """The request was valid, but could not be completed."""


class ScoringError(WorkError):
    """A model failed during scoring, or returned an invalid log-probability."""


class UnreliableError(ScoringError):
    """The answers of a server have changed, or are impossible for a language model.

    All answers that were stored since the last successful check of the server are withdrawn from
    the store.
    """


class NetworkError(WorkError):
    """The Hugging Face hub or a server cannot be reached."""


class StoreError(WorkError):
    """The score store cannot be read or written."""


class FindingsError(WorkError):
    """A bug in a probe: its result tables differ from the tables that the probe declares."""


class RepairError(WorkError):
    """The repaired beliefs violate a constraint; this is a bug in Tacit."""
