"""Where a model's files are: in a folder, in a GGUF file, or on the hub, as a snapshot of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tacit.documents import similar
from tacit.errors import ModelError, NetworkError, TacitError
from tacit.models.huggingface import gguf
from tacit.models.registry import DEMOS, folder_of

log = logging.getLogger(__name__)

SETTINGS = ("*.json", "*.txt", "*.model", "*.jinja", "*.py")
"""Patterns of a model's files on the hub other than its weights."""

_SECONDS = 10.0
_MAIN = "main"
_NETWORK = frozenset({"httpcore", "httpcore2", "httpx", "httpx2", "requests", "urllib3"})
_AGAIN = frozenset({408, 429})
_SERVER_FAILS = 500


@dataclass(frozen=True)
class Source:
    """A model's folder; ``commit`` is that of a snapshot of the hub."""

    name: str
    folder: Path
    gguf: Path | None = None
    commit: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The arguments with which transformers finds the model's files."""
        file = {"gguf_file": self.gguf.name} if self.gguf else {}
        return {"pretrained_model_name_or_path": str(self.folder), **file}


def source_of(name: str, revision: str | None) -> Source:
    """Return where a model is; of a model on the hub, only the settings are fetched."""
    return local_source(name) or snapshot(name, revision, SETTINGS)


def local_source(name: str) -> Source | None:
    """Return where a bundled or local model is, or None if there is no such folder or file."""
    if name in DEMOS:
        return Source(name, folder_of(name))
    path = named_path(name)
    if path is not None and path.is_file() and name.lower().endswith(gguf.SUFFIX):
        return Source(name, gguf.folder_of(path), path)
    return Source(name, path) if path is not None and path.is_dir() else None


def named_path(name: str) -> Path | None:
    """Return the local file or folder with the given path, or None if there is none."""
    try:
        path = Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None  # not a valid path


def snapshot(name: str, revision: str | None, patterns: tuple[str, ...]) -> Source:
    """Fetch the files of a model on the hub that match patterns, or find them in the cache."""
    from huggingface_hub import snapshot_download

    revision = revision or _MAIN
    offline = not _is_online(name, revision)
    try:
        folder = Path(
            snapshot_download(
                name,
                revision=revision,
                allow_patterns=list(patterns),
                local_files_only=offline,
            )
        )
    except Exception as error:  # errors of the HTTP client are not wrapped
        raise loading_error(name, "its files cannot be downloaded", error) from error
    return Source(name, folder, commit=folder.name)


def cached(name: str, revision: str | None) -> Source | None:
    """Return where the hub's cache contains a model's files, or None."""
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(name, revision=revision or _MAIN, local_files_only=True))
    except (ImportError, OSError, ValueError):  # not cached, or not a valid name on the hub
        return None
    return Source(name, folder, commit=folder.name) if (folder / "config.json").is_file() else None


def loading_error(name: str, problem: str, error: Exception) -> TacitError:
    """Return the error to raise when a library fails to load a part of a model."""
    if _is_network_failure(error):
        return NetworkError(
            f"{name}: {problem}: the hub cannot be reached ({first_line(error)}): check the "
            "network and run the command again"
        )
    return ModelError(f"{name}: {problem}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the error's class if it has no message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


@cache
def _is_online(name: str, revision: str) -> bool:
    """Return True if the hub can be used, or False if only the hub's cache can be used."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    if constants.HF_HUB_OFFLINE:
        if cached(name, revision):
            return False
        raise ModelError(
            f"{name}: {_no_folder(name)}, the hub's cache does not contain this model "
            f"(revision {revision}), and HF_HUB_OFFLINE prevents the download: unset "
            "HF_HUB_OFFLINE, or give the path of a model folder"
        )
    try:
        HfApi().model_info(name, revision=revision, timeout=_SECONDS)
    except RevisionNotFoundError as error:
        raise ModelError(f"{name}: the hub has no revision {revision} of this model") from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{name}: {_no_folder(name)}, and the hub has no such model, or the model is "
            "private: check the name, or log in with: hf auth login"
        ) from error
    except Exception as error:  # errors of the HTTP client are not wrapped
        if not _is_network_failure(error):
            raise ModelError(
                f"{name}: {_no_folder(name)}, and the hub rejects the name: {first_line(error)}"
            ) from error
        if not cached(name, revision):
            raise NetworkError(
                f"{name}: {_no_folder(name)}, the hub's cache does not contain this model, "
                f"and {constants.ENDPOINT} cannot be reached ({first_line(error)}): check "
                "the network and run the command again, or give the path of a model folder"
            ) from error
        log.warning(
            "%s: %s cannot be reached (%s); using the files in the hub's cache",
            name,
            constants.ENDPOINT,
            first_line(error),
        )
        return False
    return True


def _no_folder(name: str) -> str:
    """Return an error text for a missing model folder, with any demo model of similar name."""
    return f"there is no folder of this name{similar(name, DEMOS)}"


def _is_network_failure(error: BaseException | None) -> bool:
    """Return whether a network problem or a failing server caused an error."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int):
            is_of_network = status in _AGAIN or status >= _SERVER_FAILS
        else:
            of_client = type(error).__module__.partition(".")[0] in _NETWORK
            is_of_network = of_client or isinstance(error, (ConnectionError, TimeoutError))
        if is_of_network:
            return True
        error = error.__cause__ or error.__context__
    return False
