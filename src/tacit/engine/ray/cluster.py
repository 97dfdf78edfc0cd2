"""Connecting to a Ray cluster, or starting one of this machine for the run."""

from __future__ import annotations

import logging
import os
import re
import socket
from typing import TYPE_CHECKING, Any

from tacit.addresses import check_holds_no_password
from tacit.errors import MissingPackage, RequestError, WorkError

if TYPE_CHECKING:
    from tacit.engine.ray.resources import RayOptions

_ADDRESS = re.compile(r"(ray://)?(?P<host>[^:/\s]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_PATIENCE = 10.0
_PROMPTS = 80 * 2**20
"""Bytes for what is on its way to workers; what they answer goes to the store."""

# Ray otherwise tells its makers that it is used.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def connect(options: RayOptions) -> None:
    """Connects to the cluster that is asked for; does nothing where Ray is connected already.

    Raises:
        RequestError: The address is malformed or holds a password, or no cluster answers there.
        MissingPackage: The extra ``ray`` is not installed.
        WorkError: Ray does not start on this machine.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingPackage("ray", "ray") from error
    if ray.is_initialized():
        return
    address = options.address or os.environ.get("RAY_ADDRESS") or "local"
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    check_holds_no_password(address, "the cluster's address (--address, or $RAY_ADDRESS)")
    if address == "local":
        _start(options, quiet)
        return
    _check_answers(address)
    try:
        ray.init(address=address, **quiet)
    except ImportError as error:
        raise MissingPackage(error.name or "grpcio", "ray") from error
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RequestError(_nobody(address, _first_line(error))) from error


def _start(options: RayOptions, quiet: dict[str, Any]) -> None:
    """Starts a cluster of this machine, with room for what is asked for."""
    import ray

    workers, threads = options.workers or 1, options.threads or 1
    cores = max(os.cpu_count() or 1, workers * threads)
    try:
        ray.init(
            address="local",
            num_cpus=cores,
            object_store_memory=_PROMPTS,
            include_dashboard=False,
            **quiet,
        )
    except Exception as error:  # where it is too slow to start, it raises a bare one
        raise WorkError(
            f"Ray did not start on this machine ({_first_line(error)}); give the same command "
            "again when it is less busy, or leave --engine ray off"
        ) from error


def nodes() -> list[dict[str, float]]:
    """What each node of the cluster has, by Ray's names of resources."""
    return [dict(node["Resources"]) for node in alive()]


def alive() -> list[dict[str, Any]]:
    """What Ray says of each node that is there."""
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def _check_answers(address: str) -> None:
    """Refuses an address at which nothing listens; Ray itself would wait for long, and then exit.

    Raises:
        RequestError: It is malformed, or nothing listens.
    """
    if address == "auto":
        return
    parts = _ADDRESS.fullmatch(address)
    if not parts:
        raise RequestError(
            f"--address is {address!r}; it is auto, HOST:PORT, ray://HOST:PORT or local"
        )
    try:
        with socket.create_connection(
            (parts["host"].strip("[]"), int(parts["port"])), timeout=_PATIENCE
        ):
            return
    except (OSError, OverflowError) as error:
        raise RequestError(_nobody(address, str(error))) from error


def _nobody(address: str, reason: str) -> str:
    return (
        f"no Ray cluster answers at --address {address} ({reason}): start one (`ray start --head`, "
        "and `ray start --address HOST:6379` on the other machines), or leave --address off to "
        "use this machine alone"
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
