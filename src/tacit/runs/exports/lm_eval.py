"""Write a probe's prompts as tasks of lm-evaluation-harness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import RequestError
from tacit.files import publish_text
from tacit.options import requested
from tacit.probes.base import Probe
from tacit.runs.exports.documents import Documents, documents_of
from tacit.version import version

_READER = '''"""Read the documents of a task from the file beside this one."""

import json
from pathlib import Path

import datasets


def load(file, **_):
    """Return the documents as the split "test"."""
    lines = (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
'''
_LOADER = "tacit_documents"


@dataclass(frozen=True)
class Task:
    """A task of the harness, which asks one group of a probe's prompts."""

    name: str
    documents: Documents

    def write(self, folder: Path, about: Mapping[str, Any]) -> None:
        """Write the task's settings and documents to a folder."""
        lines = (json.dumps(each, ensure_ascii=True) for each in self.documents)
        publish_text(folder / f"{self.name}.jsonl", "".join(f"{line}\n" for line in lines))
        settings = {
            "task": self.name,
            "tag": f"tacit_{about['probe']}",
            "dataset_kwargs": {"file": f"{self.name}.jsonl"},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "text",
            "doc_to_choice": "continuations",
            "doc_to_target": 0,
            "target_delimiter": "",
            "num_fewshot": 0,
            "metric_list": [
                {"metric": "bypass", "aggregation": "bypass", "higher_is_better": True}
            ],
            "metadata": {"version": version(), "tacit": dict(about)},
        }
        # YAML's library writes no tag of a function.
        text = f"custom_dataset: !function {_LOADER}.load\n"
        text += yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        publish_text(folder / f"{self.name}.yaml", text)


def export(kind: type[Probe], options: Any, folder: Path) -> list[Task]:  # noqa: ANN401 - an instance of Options
    """Write a task for each group of a probe's prompts, and the function that reads documents."""
    reader = folder / f"{_LOADER}.py"
    if folder.is_file():
        raise RequestError(f"{folder} is a file; expected a folder for the tasks")
    if any(folder.glob("[!.]*")) and not reader.is_file():
        raise RequestError(
            f"{folder} contains files but no tasks of an earlier export: choose another folder"
        )
    tasks = [
        Task(f"tacit_{kind.name}_{name.replace(' ', '_')}", documents)
        for name, documents in documents_of(kind, options).items()
    ]
    publish_text(reader, _READER)
    for task in tasks:
        task.write(folder, {"probe": kind.name, **requested(options)})
    return tasks
