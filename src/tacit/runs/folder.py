"""The folder of a run: its request, manifest, questions and findings."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from tacit import files
from tacit.documents import read_yaml
from tacit.errors import DataError, RequestError, WorkError
from tacit.files import file_hash, publish_text
from tacit.findings.findings import Findings
from tacit.models import registry
from tacit.probes.base import declared_tables
from tacit.probes.registry import BUILT_IN, GROUP, probe
from tacit.runs.metrics import metrics_of
from tacit.strings import shown
from tacit.tables import read_table, write_table
from tacit.version import version

_LIBRARIES = (
    *("altair", "numpy", "polars", "pyarrow", "scipy", "tokenizers", "torch", "transformers"),
    "vl-convert-python",
)
_ENTRIES = {"model": dict, "summary": dict, "sha256": dict, "data": dict, "versions": list}
_ANOTHER = "choose another folder for the output"
_CHANGED = (
    "is damaged: it has changed since the run; repeat the run with the options in run.yaml to "
    "restore it"
)


@dataclass
class RunFolder:
    """A run with its folder, to which nothing is written before ``begin`` is called.

    ``data`` has the digests of the run's data files, and ``described`` what the user says about its
    model.
    """

    folder: Path | None
    request: Mapping[str, Any]
    data: Mapping[str, Any] | None = None
    described: Mapping[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    _before: Mapping[str, Any] | None = None
    _began: float = 0.0

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        for path in (self.folder, *self.folder.parents):
            if path.is_file():
                raise RequestError(f"{path} is a file; expected a folder for the run")
        # A hidden file is a temporary file of a process that was killed.
        if not any(self.folder.glob("[!.]*")):
            return
        if not (self.folder / "run.yaml").is_file():
            inside = [*self.folder.glob("*/run.yaml"), *self.folder.glob("*/*/run.yaml")]
            content = f"other runs, such as {inside[0].parent}" if inside else "files but no run"
            raise RequestError(f"{self.folder} contains {content}: {_ANOTHER}")
        try:
            request = read_request(self.folder)
            if (self.folder / "manifest.json").is_file():
                self._before = _parsed(self.folder / "manifest.json")
        except DataError as error:
            raise RequestError(f"{error}. To start a new run, {_ANOTHER}") from error
        differing = [
            f"{key}: {shown(request.get(key))} there, {shown(self.request.get(key))} now"
            for key in sorted({*request, *self.request})
            if request.get(key) != self.request.get(key)
        ]
        if request.get("probe") != self.request["probe"]:
            differing = [each for each in differing if each.startswith("probe: ")]
        if differing:
            raise RequestError(
                f"{self.folder} contains a run with different options "
                f"({'; '.join(differing)}): {_ANOTHER}, or remove this one"
            )

    @property
    def blocks(self) -> Path | None:
        """The path of the file that records the run's blocks (batches) of requests."""
        return self.folder and self.folder / "blocks.parquet"

    def check_data(self) -> None:
        """Raise an error if the data have changed since the folder's run began."""
        if self._before is not None:
            self._refuse_changed({"data": self.data, "model": self._before["model"]})

    def begin(self, about: Mapping[str, Any]) -> None:
        """Write the request of the run, and a manifest with the status "unfinished"."""
        data = {} if self.data is None else {"data": self.data}
        about = {**about, **data, "model": {**about.get("model", {}), **self.described}}
        if self._before is not None:
            self._refuse_changed(about)
        self._began = time.monotonic()
        if self.folder is not None:
            text = yaml.safe_dump(dict(self.request), sort_keys=False, allow_unicode=True)
            publish_text(self.folder / "run.yaml", text)
        this, before = _versions(self.request), self._before or {}
        self.manifest = {
            "format": files.RUN,
            "status": "unfinished",
            "started": before.get("started", datetime.now(UTC).isoformat()),
            "versions": [*(one for one in before.get("versions", []) if one != this), this],
            **about,
            "machine": {"system": platform.platform(), "processor": platform.machine()},
        }
        self._write_manifest()

    def finish(self, findings: Findings) -> Findings:
        """Write the questions and the findings, and a manifest with the status "finished"."""
        kind = probe(str(self.request["probe"]))
        specs = declared_tables(kind)
        findings = findings.check(specs.values()).summarised(specs.values())
        seconds = round(time.monotonic() - self._began, 3)
        summary = dict(findings.summary)
        self.manifest |= {"status": "finished", "seconds": seconds, "summary": summary}
        if self.folder is not None:
            self.manifest |= {"sha256": _write(findings, self.folder)}
            metrics = json.dumps(metrics_of(kind, findings), indent=1, ensure_ascii=False)
            publish_text(self.folder / "metrics.json", metrics + "\n")
        self._write_manifest()
        return findings

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Return a context manager that sets the status to "failed" if an error is raised."""
        try:
            yield
        except Exception as error:
            self.manifest |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
            # This fails too if the disk is full, and the first error is more informative.
            with suppress(WorkError):
                self._write_manifest()
            raise

    def _refuse_changed(self, about: Mapping[str, Any]) -> None:
        """Raise an error if the model or the data differ from those in the folder's manifest."""
        before: Mapping[str, Any] = self._before or {}
        model, known = about["model"], before["model"]
        changed = [key for key in ("fingerprint", "sha256") if known.get(key) != model.get(key)]
        if before.get("data") != about.get("data"):
            changed.append("data")
        if changed:
            raise RequestError(
                f"{self.folder} contains this run, but its model or data have changed since "
                f"({', '.join(changed)}): {_ANOTHER}, or remove this one"
            )

    def _write_manifest(self) -> None:
        if self.folder is None:
            return
        manifest = json.loads(json.dumps(self.manifest, default=str))
        if manifest["status"] == "finished":
            manifest["sha256"]["request"] = file_hash(self.folder / "run.yaml")
            manifest["sha256"]["manifest"] = digest_of(manifest)
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        publish_text(self.folder / "manifest.json", text + "\n")


def read_request(folder: Path) -> dict[str, Any]:
    request = read_yaml(folder / "run.yaml")
    if not isinstance(request, dict):
        raise DataError("is damaged: expected a mapping", folder / "run.yaml")
    return request


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a finished run."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise DataError("is not a run's folder: it has no manifest.json", folder)
    manifest = _parsed(path)
    if manifest.get("status") != "finished":
        raise DataError(
            f"contains a run that is {manifest.get('status', 'damaged')}; expected a finished run: "
            "repeat its command to finish it",
            folder,
        )
    digests = manifest.get("sha256", {})
    if digests.get("manifest") != digest_of(manifest):
        raise DataError(_CHANGED, path)
    if (folder / "run.yaml").is_file() and digests.get("request") != file_hash(folder / "run.yaml"):
        raise DataError(_CHANGED, folder / "run.yaml")
    return manifest


def read_findings(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the findings of a finished run, as a mapping from names to tables."""
    digests = read_manifest(folder)["sha256"]["findings"]
    paths = {name: _finding_path(folder, name) for name in digests}
    for name, path in paths.items():
        if path.is_file() and digests[name] != file_hash(path):
            raise DataError(_CHANGED, path)
    return {name: read_table(path) for name, path in paths.items()}


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Compute the digest of a manifest from all entries except the digest itself."""
    digests = {key: value for key, value in manifest["sha256"].items() if key != "manifest"}
    text = json.dumps({**manifest, "sha256": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _parsed(path: Path) -> dict[str, Any]:
    """Read a manifest of a format that this version knows, whose entries have the right types."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"is damaged: it cannot be read ({error})", path) from error
    if not isinstance(manifest, dict):
        raise DataError("is damaged: it is not a JSON object", path)
    reason = files.unreadable(manifest.get("format", files.RUN), files.RUN)
    if reason:
        raise DataError(reason, path)
    for key, kind in _ENTRIES.items():
        if not isinstance(manifest.get(key, None if key == "model" else kind()), kind):
            raise DataError(f"is damaged: its entry {key} is missing or no {kind.__name__}", path)
    return manifest


def _write(findings: Findings, folder: Path) -> dict[str, Any]:
    """Write the questions and the findings, and return the SHA-256 digest of each file."""
    questions = folder / "questions.parquet"
    write_table(findings.questions, questions)
    paths = {name: _finding_path(folder, name) for name in findings.tables}
    for name, path in paths.items():
        write_table(findings.tables[name], path)
    digests = {name: file_hash(path) for name, path in paths.items()}
    return {"questions": file_hash(questions), "findings": digests}


def _finding_path(folder: Path, finding: str) -> Path:
    return folder / "findings" / f"{finding}.parquet"


def _versions(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the versions of the software that is used now."""
    libraries = {}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            libraries[name] = metadata.version(name)
    plugins = _plugins(str(request.get("probe")), str(request.get("model")))
    return {
        "tacit": version(),
        "python": platform.python_version(),
        "libraries": libraries,
        **({"plugins": plugins} if plugins else {}),
    }


def _plugins(probe: str, model: str) -> dict[str, str]:
    """Return the version of each package that provides the run's probe or back-end."""
    scheme, colon, _ = model.partition(":")
    entries = [
        *metadata.entry_points(group=GROUP, name="" if probe in BUILT_IN else probe),
        *metadata.entry_points(group=registry.GROUP, name=scheme if colon else ""),
    ]
    return {one.dist.name: one.dist.version for one in entries if one.dist}
