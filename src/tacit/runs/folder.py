"""The folder of a run: what was asked for, how it went, the questions, the findings.

``run.yaml`` holds the request, ``manifest.json`` everything else that a figure depends on, with
the run's status: unfinished, finished or failed, and every Tacit that worked on it with its
libraries, the last one last. A run that was interrupted goes on when the same request is made again
with the same folder.
"""

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
from tacit.strings import strings
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
    """A run and its folder; nothing is written before ``begin``.

    Args:
        folder: The run's folder; None for a run that is not written.
        request: What was asked for, ready for YAML.

    Raises:
        RequestError: The folder holds another run, or something that is no run.
    """

    folder: Path | None
    request: Mapping[str, Any]
    manifest: dict[str, Any] = field(default_factory=dict)
    _about: Mapping[str, Any] = field(default_factory=dict)
    _began: float = 0.0

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        for place in (self.folder, *self.folder.parents):
            if place.is_file():
                raise RequestError(f"{place} is a file; --out names the run's folder")
        # A hidden file is what a killed process was writing.
        if not any(self.folder.glob("[!.]*")):
            return
        known = self._stored_request(self.folder)
        self._manifest_before()  # a newer Tacit's is no other request, and said to be newer
        differing = sorted(
            key for key in {*known, *self.request} if known.get(key) != self.request.get(key)
        )
        if differing:
            raise RequestError(
                f"{self.folder} holds a run of another request (it differs in "
                f"{', '.join(differing)}): choose another --out, or remove it"
            )

    @property
    def blocks(self) -> Path | None:
        """Where the blocks of requests are recorded."""
        return self.folder and self.folder / "blocks.parquet"

    def about(self, about: Mapping[str, Any]) -> RunFolder:
        """The same, whose manifest says this too."""
        return replace(self, _about={**self._about, **about})

    def begin(self, about: Mapping[str, Any]) -> None:
        """Writes the request, and a manifest that says the run is unfinished.

        Args:
            about: What the manifest says of model and data.

        Raises:
            RequestError: The folder holds the same request of another model or other data: what
                stands under their names has changed since.
        """
        about = {**about, **self._about}
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
        """Writes the questions, the findings' tables, and a manifest that says finished.

        Returns:
            The findings; their summary holds the tables that are printed, if it has no such entry.

        Raises:
            FindingsError: They are not as the probe declares them.
        """
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
        """Writes a manifest that says failed, and of what, when the work within raises an error.

        A run that a person interrupts stays unfinished.
        """
        try:
            yield
        except Exception as error:
            self.manifest |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
            # A disk that is full has no room for this either, and the first error tells more.
            with suppress(WorkError):
                self._write_manifest()
            raise

    def _manifest_before(self) -> dict[str, Any] | None:
        """What the folder's manifest says; None where there is none.

        Raises:
            RequestError: It cannot be read, or a newer Tacit has written it.
        """
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
            raise RequestError(f"{path} {reason}, or choose another --out")
        if not is_mapping or not isinstance(before.get("model", {}), dict):
            raise RequestError(
                f"{path} is damaged (it does not say of which model the run is): choose another "
                "--out, or remove it"
            )
        return dict(before)

    def _refuse_changed(self, before: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Compares what the folder's manifest says of model and data with what there is now."""
        model, known = about.get("model", {}), before.get("model", {})
        changed = [key for key in ("fingerprint", "sha256") if known.get(key) != model.get(key)]
        if before.get("data") != about.get("data"):
            changed.append("data")
        if changed:
            raise RequestError(
                f"{self.folder} holds this run as it was before its model or data changed "
                f"({', '.join(changed)}): choose another --out, or remove it"
            )

    def _stored_request(self, folder: Path) -> dict[str, Any]:
        path = folder / "run.yaml"
        if not path.is_file():
            raise RequestError(f"{folder} holds files and no run: choose another --out")
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
    """The manifest of a finished run.

    Raises:
        DataError: The folder holds no run that is finished, or it is not what the run wrote.
    """
    path = folder / "manifest.json"
    if not path.is_file():
        raise DataError("is no run's folder: it has no manifest.json", folder)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        reason = _unreadable(manifest)
        status = None if reason else manifest["status"]
    except (OSError, ValueError, AttributeError, KeyError, RecursionError) as error:
        raise DataError("is damaged: it says nothing of a run's status", path) from error
    if reason:
        raise DataError(reason, path)
    if status != "finished":
        raise DataError(f"holds a run that is {status}; only a finished one has findings", folder)
    digests = manifest.get("sha256")
    if not isinstance(digests, dict) or digests.get("manifest") != digest_of(manifest):
        raise DataError(_CHANGED, path)
    if (folder / "run.yaml").is_file() and digests.get("request") != _sha256(folder / "run.yaml"):
        raise DataError(_CHANGED, folder / "run.yaml")
    return dict(manifest)


def read_findings(folder: Path, names: Iterable[str] | None = None) -> dict[str, pl.DataFrame]:
    """Findings of a finished run, by their names.

    Args:
        folder: The run's.
        names: Which; all without.

    Raises:
        DataError: As ``read_manifest``; or a finding is missing or damaged.
    """
    wanted = None if names is None else strings(names, "names")
    digests = read_manifest(folder)["sha256"]["findings"]
    return {
        name: _finding(folder, name, digests.get(name))
        for name in (digests if wanted is None else wanted)
    }


def digest_of(manifest: Mapping[str, Any]) -> str:
    """What tells whether a manifest is as it was written: of all that it says beside this."""
    digests = {key: value for key, value in manifest["sha256"].items() if key != "manifest"}
    text = json.dumps({**manifest, "sha256": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


_CHANGED = "is damaged: it is not what the run wrote; the command in run.yaml makes it anew"


def _finding(folder: Path, name: str, digest: str | None) -> pl.DataFrame:
    """A finding as it was written."""
    path = _finding_path(folder, name)
    if path.is_file() and digest != _sha256(path):
        raise DataError(_CHANGED, path)
    return read_table(path)


def _write(findings: Findings, folder: Path) -> dict[str, Any]:
    """Writes the tables; gives their digests for the manifest."""
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
    """Why a run cannot be read, by its manifest's format; None where it can be."""
    return files.unreadable(manifest.get("format", files.RUN), files.RUN)


def _with_this(before: object) -> list[object]:
    """The versions that worked on a run, each once: those before, and this one's."""
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
