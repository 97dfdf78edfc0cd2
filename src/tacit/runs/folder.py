"""Read and write the folder of a run: its request, manifest, questions and findings."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

import yaml

from tacit import files
from tacit.documents import read_yaml
from tacit.errors import DataError, RequestError, WorkError
from tacit.files import publish_text
from tacit.models import registry
from tacit.probes.base import declared_tables
from tacit.probes.registry import BUILT_IN, GROUP, probe
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
    """A run with its folder, to which nothing is written before ``begin`` is called.

    ``data`` has the digests of the run's data files, and ``described`` what the user says about its
    model.
    """

    folder: Path | None
    request: Mapping[str, Any]
    data: Mapping[str, Any] | None = None
    described: Mapping[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    _began: float = 0.0

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        for place in (self.folder, *self.folder.parents):
            if place.is_file():
                raise RequestError(f"{place} is a file; expected a folder for the run")
        # A hidden file is a temporary file of a process that was killed.
        if not any(self.folder.glob("[!.]*")):
            return
        known = self._request_before(self.folder)
        self._manifest_before()  # reports a newer format before a difference in the request
        differing = [
            f"{key}: {shown(known.get(key))} there, {shown(self.request.get(key))} now"
            for key in sorted({*known, *self.request})
            if known.get(key) != self.request.get(key)
        ]
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
        before = self._manifest_before()
        if before is not None:
            self._refuse_changed(before, {"data": self.data, "model": before.get("model", {})})

    def begin(self, about: Mapping[str, Any]) -> None:
        """Write the request of the run, and a manifest with the status "unfinished"."""
        data = {} if self.data is None else {"data": self.data}
        about = {**about, **data, "model": {**about.get("model", {}), **self.described}}
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
            "versions": _with_this(before and before.get("versions"), self.request),
            **about,
            "machine": {"system": platform.platform(), "processor": platform.machine()},
        }
        self._write_manifest()

    def finish(self, findings: Findings) -> Findings:
        """Write the questions and the findings, and a manifest with the status "finished"."""
        specs = declared_tables(probe(str(self.request["probe"])))
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

    def _request_before(self, folder: Path) -> dict[str, Any]:
        if not (folder / "run.yaml").is_file():
            raise RequestError(f"{folder} contains files but no run: {_ANOTHER}")
        try:
            return read_request(folder)
        except DataError as error:
            raise RequestError(f"{error}. To start a new run, {_ANOTHER}") from error

    def _manifest_before(self) -> dict[str, Any] | None:
        """Read the manifest in the folder; return None if the folder contains no manifest."""
        path = self.folder and self.folder / "manifest.json"
        if path is None or not path.is_file():
            return None
        try:
            return _parsed(path)
        except DataError as error:
            raise RequestError(f"{error}. To start a new run, {_ANOTHER}") from error

    def _refuse_changed(self, before: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Raise an error if the model or the data differ from those in the folder's manifest."""
        model, known = about.get("model", {}), before.get("model", {})
        changed = [key for key in ("fingerprint", "sha256") if known.get(key) != model.get(key)]
        if before.get("data") != about.get("data"):
            changed.append("data")
        if changed:
            raise RequestError(
                f"{self.folder} contains this run, but its model or data have changed since "
                f"({', '.join(changed)}): {_ANOTHER}, or remove this one"
            )

    def _write_manifest(self, *, finished: bool = False) -> None:
        if self.folder is None:
            return
        manifest = json.loads(json.dumps(self.manifest, default=str))
        if finished:
            manifest["sha256"]["request"] = _sha256(self.folder / "run.yaml")
            manifest["sha256"]["manifest"] = digest_of(manifest)
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        publish_text(self.folder / "manifest.json", text + "\n")


_ANOTHER = "choose another folder for the output"


def read_request(folder: Path) -> dict[str, Any]:
    """Read the request of a run."""
    request = read_yaml(folder / "run.yaml")
    if not isinstance(request, dict):
        raise DataError("is damaged: expected a mapping", folder / "run.yaml")
    return request


def _parsed(path: Path) -> dict[str, Any]:
    """Read a manifest of a format that this version knows."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"is damaged: it cannot be read ({error})", path) from error
    if isinstance(manifest, dict):
        reason = files.unreadable(manifest.get("format", files.RUN), files.RUN)
        if reason:
            raise DataError(reason, path)
        if isinstance(manifest.get("model", {}), dict):
            return manifest
    raise DataError("is damaged: it does not name the run's model", path)


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
    digests = manifest.get("sha256")
    if not isinstance(digests, dict) or digests.get("manifest") != digest_of(manifest):
        raise DataError(_CHANGED, path)
    if (folder / "run.yaml").is_file() and digests.get("request") != _sha256(folder / "run.yaml"):
        raise DataError(_CHANGED, folder / "run.yaml")
    return manifest


def read_findings(folder: Path, names: Iterable[str] | None = None) -> dict[str, pl.DataFrame]:
    """Read the findings of a finished run, as a mapping from names to tables."""
    wanted = None if names is None else strings(names, "names")
    digests = read_manifest(folder)["sha256"]["findings"]
    return {
        name: _finding(_finding_path(folder, name), digests.get(name))
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


def _finding(path: Path, digest: str | None) -> pl.DataFrame:
    """Read one table of the findings, and check that its file has not been changed."""
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


def _with_this(before: object, request: Mapping[str, Any]) -> list[object]:
    """Return all software versions that were used for a run, with the current ones last."""
    mine: dict[str, Any] = {
        "tacit": version(),
        "python": platform.python_version(),
        "libraries": _libraries(),
    }
    plugins = _plugins(str(request.get("probe")), str(request.get("model")))
    if plugins:
        mine["plugins"] = plugins
    known = [one for one in before if one != mine] if isinstance(before, list) else []
    return [*known, mine]


def _libraries() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _plugins(probe: str, model: str) -> dict[str, str]:
    """Return the version of each package that provides the run's probe or back-end."""
    scheme, colon, _ = model.partition(":")
    found = [
        *metadata.entry_points(group=GROUP, name="" if probe in BUILT_IN else probe),
        *metadata.entry_points(group=registry.GROUP, name=scheme if colon else ""),
    ]
    return {one.dist.name: one.dist.version for one in found if one.dist}
