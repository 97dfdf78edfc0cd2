"""Read and write the folder of a run: its request, manifest, questions and findings."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

import yaml

from tacit import files
from tacit.errors import DataError, RequestError, WorkError
from tacit.files import publish_text
from tacit.probes.base import declared, probe
from tacit.strings import shown, strings
from tacit.tables import read_table, write_table
from tacit.version import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from tacit.findings.findings import Findings

_LIBRARIES = (
    "altair",
    "numpy",
    "polars",
    "pyarrow",
    "scipy",
    "tokenizers",
    "torch",
    "transformers",
    "vl-convert-python",
)


@dataclass
class RunFolder:
    """A run with its folder; nothing is written to the folder before ``begin`` is called."""

    folder: Path | None
    request: Mapping[str, Any]
    manifest: dict[str, Any] = field(default_factory=dict)
    _about: Mapping[str, Any] = field(default_factory=dict)
    _described: Mapping[str, Any] = field(default_factory=dict)
    _began: float = 0.0

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        for place in (self.folder, *self.folder.parents):
            if place.is_file():
                raise RequestError(f"{place} is a file; --out must name a folder")
        # A hidden file is a temporary file of a process that was killed.
        if not any(self.folder.glob("[!.]*")):
            return
        known = self._stored_request(self.folder)
        self._manifest_before()  # reports a newer format before a difference in the request
        differing = [
            f"{key}: {shown(known.get(key))} there, {shown(self.request.get(key))} now"
            for key in sorted({*known, *self.request})
            if known.get(key) != self.request.get(key)
        ]
        if differing:
            raise RequestError(
                f"{self.folder} contains a run with different options "
                f"({'; '.join(differing)}): choose another --out, or remove the folder"
            )

    @property
    def blocks(self) -> Path | None:
        """The path of the file that records the run's blocks (batches) of requests."""
        return self.folder and self.folder / "blocks.parquet"

    def about(self, about: Mapping[str, Any]) -> RunFolder:
        """Return a copy of the run, with the entries of ``about`` added to its manifest."""
        return replace(self, _about={**self._about, **about})

    def check_data(self) -> None:
        """Raise an error if the data have changed since the folder's run began."""
        before = self._manifest_before()
        if before is not None:
            self._refuse_changed(before, {**self._about, "model": before.get("model", {})})

    def describing(self, described: Mapping[str, Any]) -> RunFolder:
        """Return a copy of the run, with entries added to the description of its model."""
        return replace(self, _described=described)

    def begin(self, about: Mapping[str, Any]) -> None:
        """Write the request of the run, and a manifest with the status "unfinished"."""
        about = {**about, **self._about}
        about["model"] = {**about.get("model", {}), **self._described}
        before = self._manifest_before()
        if before is not None:
            self._refuse_changed(before, about)
        self._began = time.monotonic()
        if self.folder is not None:
            text = yaml.safe_dump(dict(self.request), sort_keys=False, allow_unicode=True)
            publish_text(self.folder / "run.yaml", text)
        self.manifest = {
            "format": files.RUN,
            "status": "unfinished",
            "versions": _with_this(before and before.get("versions")),
            **about,
            "machine": {"system": platform.platform(), "processor": platform.machine()},
        }
        self._write_manifest()

    def finish(self, findings: Findings) -> Findings:
        """Write the questions and the findings, and a manifest with the status "finished"."""
        specs = declared(probe(str(self.request["probe"]))).tables
        findings = findings.check(specs.values()).summarised(specs.values())
        written = {} if self.folder is None else _write(findings, self.folder)
        self.manifest |= {
            "status": "finished",
            "seconds": round(time.monotonic() - self._began, 3),
            "summary": dict(findings.summary),
            **written,
        }
        self._write_manifest(finished=True)
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

    def _manifest_before(self) -> dict[str, Any] | None:
        """Read the manifest in the folder; return None if the folder contains no manifest."""
        path = self.folder and self.folder / "manifest.json"
        if path is None or not path.is_file():
            return None
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise RequestError(f"{path} cannot be read ({error}): choose another --out") from error
        is_mapping = isinstance(before, dict)
        reason = _unreadable(before) if is_mapping else None
        if reason:
            raise RequestError(f"{path} {reason}. To start a new run, choose another --out")
        if not is_mapping or not isinstance(before.get("model", {}), dict):
            raise RequestError(
                f"{path} is damaged (it does not name the run's model): choose another --out, or "
                "remove it"
            )
        return dict(before)

    def _refuse_changed(self, before: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Raise an error if the model or the data differ from those in the folder's manifest."""
        model, known = about.get("model", {}), before.get("model", {})
        changed = [key for key in ("fingerprint", "sha256") if known.get(key) != model.get(key)]
        if before.get("data") != about.get("data"):
            changed.append("data")
        if changed:
            raise RequestError(
                f"{self.folder} contains this run, but its model or data have changed since "
                f"({', '.join(changed)}): choose another --out, or remove the folder"
            )

    def _stored_request(self, folder: Path) -> dict[str, Any]:
        path = folder / "run.yaml"
        if not path.is_file():
            raise RequestError(f"{folder} contains files but no run: choose another --out")
        try:
            known = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise RequestError(f"{path} cannot be read ({error}): choose another --out") from error
        return known if isinstance(known, dict) else {}

    def _write_manifest(self, *, finished: bool = False) -> None:
        if self.folder is None:
            return
        manifest = json.loads(json.dumps(self.manifest, default=str))
        if finished:
            manifest["sha256"]["request"] = _sha256(self.folder / "run.yaml")
            manifest["sha256"]["manifest"] = digest_of(manifest)
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        publish_text(self.folder / "manifest.json", text + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a finished run."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise DataError("is not a run's folder: it has no manifest.json", folder)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        reason = _unreadable(manifest)
        status = None if reason else manifest["status"]
    except (OSError, ValueError, AttributeError, KeyError, RecursionError) as error:
        raise DataError("is damaged: the run's status cannot be read", path) from error
    if reason:
        raise DataError(reason, path)
    if status != "finished":
        raise DataError(
            f"contains a run that is {status}; expected a finished run: repeat its command to "
            "finish it",
            folder,
        )
    digests = manifest.get("sha256")
    if not isinstance(digests, dict) or digests.get("manifest") != digest_of(manifest):
        raise DataError(_CHANGED, path)
    if (folder / "run.yaml").is_file() and digests.get("request") != _sha256(folder / "run.yaml"):
        raise DataError(_CHANGED, folder / "run.yaml")
    return dict(manifest)


def read_findings(folder: Path, names: Iterable[str] | None = None) -> dict[str, pl.DataFrame]:
    """Read the findings of a finished run, as a mapping from names to tables."""
    wanted = None if names is None else strings(names, "names")
    digests = read_manifest(folder)["sha256"]["findings"]
    return {
        name: _finding(folder, name, digests.get(name))
        for name in (digests if wanted is None else wanted)
    }


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Compute the digest of a manifest from all entries except the digest itself."""
    digests = {key: value for key, value in manifest["sha256"].items() if key != "manifest"}
    text = json.dumps({**manifest, "sha256": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


_CHANGED = (
    "is damaged: it has changed since the run; repeat the run with the options in run.yaml to "
    "restore it"
)


def _finding(folder: Path, name: str, digest: str | None) -> pl.DataFrame:
    """Read one table of the findings, and check that its file has not been changed."""
    path = _finding_path(folder, name)
    if path.is_file() and digest != _sha256(path):
        raise DataError(_CHANGED, path)
    return read_table(path)


def _write(findings: Findings, folder: Path) -> dict[str, Any]:
    """Write the questions and the findings, and return the SHA-256 digest of each file."""
    questions = folder / "questions.parquet"
    write_table(findings.questions, questions)
    digests = {}
    for name, table in findings.tables.items():
        path = _finding_path(folder, name)
        write_table(table, path)
        digests[name] = _sha256(path)
    return {"sha256": {"questions": _sha256(questions), "findings": digests}}


def _finding_path(folder: Path, finding: str) -> Path:
    return folder / "findings" / f"{finding}.parquet"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unreadable(manifest: Mapping[str, Any]) -> str | None:
    """Return the reason why a manifest cannot be read, or None if it can be read."""
    return files.unreadable(manifest.get("format", files.RUN), files.RUN)


def _with_this(before: object) -> list[object]:
    """Return all software versions that were used for a run, with the current ones last."""
    mine = {
        "tacit": version(),
        "python": platform.python_version(),
        "libraries": _libraries(),
    }
    known = [one for one in before if one != mine] if isinstance(before, list) else []
    return [*known, mine]


def _libraries() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
