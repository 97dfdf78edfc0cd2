"""Check once per model whether it is on the Hugging Face hub, before any file is loaded.

The Hugging Face libraries query the hub for every file. Without a network connection, the Hugging
Face libraries retry each query for half a minute.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any

from tacit.documents import similar
from tacit.errors import ModelError, NetworkError
from tacit.models.registry import DEMOS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.errors import TacitError

log = logging.getLogger(__name__)

_SECONDS = 10.0
_MAIN = "main"
_NETWORK = frozenset({"httpcore", "httpcore2", "httpx", "httpx2", "requests", "urllib3"})
_AGAIN = frozenset({408, 429})
_SERVER_FAILS = 500


def where_from(name: str, revision: str | None) -> dict[str, Any]:
    """Return arguments to load a model from the hub or from the hub's cache."""
    revision = revision or _MAIN
    return {"revision": revision, "local_files_only": not _is_online(name, revision)}


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
        if _is_cached(name, revision):
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
        if not _is_cached(name, revision):
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


def _is_cached(name: str, revision: str) -> bool:
    """Return whether the hub's cache contains the model's config."""
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str)
    except (OSError, ValueError):  # not a valid name on the hub
        return False


def _is_network_failure(error: BaseException) -> bool:
    """Return whether a network problem or a failing server caused an error."""
    return any(_is_of_network(each) for each in _chain(error))


def _is_of_network(error: BaseException) -> bool:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return status in _AGAIN or status >= _SERVER_FAILS
    of_client = type(error).__module__.partition(".")[0] in _NETWORK
    return of_client or isinstance(error, (ConnectionError, TimeoutError))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and, repeatedly, the cause or context of the previously yielded error."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
