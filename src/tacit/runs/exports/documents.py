"""The prompts of a probe as documents, whose continuations another program scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.errors import RequestError
from tacit.probes.base import Probe, Requests
from tacit.requests import Prompt, shown
from tacit.runs.asking import requests_of

Documents = list[dict[str, Any]]
"""The ``key``, the ``text`` and the ``continuations`` of each prompt."""


def documents_of(kind: type[Probe], options: Any) -> Mapping[str, Documents]:  # noqa: ANN401 - an instance of Options
    """Return the documents of each group of a probe's prompts.

    Raises:
        RequestError: If the probe asks for more than scores of continuations.
    """
    if kind.ranks_vocabulary:
        raise RequestError(
            f"the probe {kind.name} ranks the words of a model's vocabulary, and other programs "
            "only score continuations: run it with tacit run"
        )
    return {
        name: list(_documents(name, group)) for name, group in requests_of(kind.of(options)).items()
    }


def _documents(name: str, group: Requests) -> Iterator[dict[str, Any]]:
    for key, asked in zip(group.keys.iter_rows(named=True), group.requests, strict=True):
        if not isinstance(asked, Prompt) or asked.around:
            reason = "has a blank" if isinstance(asked, Prompt) else "is not a list of answers"
            raise RequestError(
                f"{shown(asked.text)} ({name}) {reason}, and other programs only score "
                "continuations: choose prompts that end before the answer"
            )
        continuations = [asked.separator + answer for answer in asked.answers]
        yield {"key": key, "text": asked.text, "continuations": continuations}
