"""The probes as tasks of inspect_ai, which scores each answer as the end of a prompt.

``inspect eval tacit/parts`` loads this module by its entry point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate

from tacit.options import build
from tacit.probes.registry import probe, probes
from tacit.runs.exports.documents import documents_of


def _maker(name: str) -> Callable[..., Task]:
    def make(**options: Any) -> Task:  # noqa: ANN401 - any options of a probe
        return Task(
            dataset=MemoryDataset(list(_samples(name, options)), name=f"tacit_{name}"),
            solver=generate(),
            config=GenerateConfig(max_tokens=1, temperature=0.0, prompt_logprobs=1),
        )

    return make


def _samples(name: str, options: dict[str, Any]) -> Iterator[Sample]:
    kind = probe(name)
    for group, documents in documents_of(kind, build(kind.Options, options)).items():
        for number, document in enumerate(documents):
            for at, continuation in enumerate(document["continuations"]):
                yield Sample(
                    id=f"{group} {number} {at}",
                    input=document["text"] + continuation,
                    metadata={**document, "continuations": [continuation], "group": group},
                )


TASKS = {name: task(name=name)(_maker(name)) for name in probes()}
"""The tasks by name, which inspect_ai registers as ``tacit/parts`` and so on."""
