"""Write the main results of runs as evaluation results of a model page on the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from tacit.errors import MissingPackage, RequestError
from tacit.files import publish_text
from tacit.findings.numbers import number
from tacit.probes.registry import probe
from tacit.runs.metrics import Metric, main_metrics
from tacit.runs.run import Run


def is_own(path: Path) -> bool:
    """Return whether a file is one of evaluation results."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return False
    return isinstance(content, list) and all(
        isinstance(one, dict) and "dataset" in one for one in content
    )


def export(runs: Sequence[Run], dataset: str, out: Path) -> int:
    """Write an entry for each result of one model's runs; return the number of entries.

    The tasks of the benchmark ``dataset`` are named like ``parts_balanced_accuracy``.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise MissingPackage("huggingface_hub", "local") from error
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", dataset, re.ASCII):
        raise RequestError(
            f"--dataset {dataset!r} names no data set on the Hugging Face hub: expected ORG/NAME"
        )
    models = sorted({run.name for run in runs})
    if len(models) > 1:
        raise RequestError(
            f"these are runs of {', '.join(models)}, and a model page shows one model: export the "
            "runs of one model"
        )
    entries = [
        EvalResultEntry(
            dataset_id=dataset,
            task_id=metric.name.replace("/", "_"),
            value=float(metric.entry.value),
            date=str(run.manifest["started"]),
            notes=_notes(run, metric),
        )
        for run in runs
        for metric in main_metrics(probe(run.probe), run.findings)
        if metric.entry.value is not None
    ]
    content = eval_result_entries_to_yaml(entries)
    publish_text(out, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return len(entries)


def _notes(run: Run, metric: Metric) -> str:
    """Say how certain a value is, what it is compared with, and how it was measured."""
    entry = metric.entry
    notes = [str(entry)]
    if entry.chance is not None:
        notes.append(f"{metric.headline.baseline} {number(entry.chance)}")
    if metric.n is not None:
        notes.append(f"n {metric.n:,}")
    if run.verdict:
        notes.append(str(run.verdict).removesuffix("."))
    if run.quick:
        notes.append(f"not everything is asked ({', '.join(run.quick)})")
    version = run.manifest["versions"][-1]["tacit"]
    return "; ".join([*notes, run.elicitation, f"Tacit {version}"])
