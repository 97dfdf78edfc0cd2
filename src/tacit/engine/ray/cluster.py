"""Connect to a Ray cluster or start a local one, and assign cores and GPUs to workers."""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.addresses import check_holds_no_password
from tacit.english import several
from tacit.errors import MissingPackage, RequestError, WorkError

if TYPE_CHECKING:
    from tacit.engine.options import EngineOptions


@dataclass(frozen=True)
class Share:
    """The number of workers, and the resources of each worker."""

    workers: int
    threads: int
    gpus: float

    @property
    def shown(self) -> str:
        """The resources of one worker, as text for messages."""
        cores = f"{self.threads} core{'s' if self.threads > 1 else ''}"
        return f"{cores} and {self.gpus:g} GPU" if self.gpus else cores

    def room(self, nodes: Sequence[Mapping[str, float]]) -> int:
        """Return how many workers fit on the given nodes if nothing else runs on the nodes."""
        cores = [int(node.get("CPU", 0) // self.threads) for node in nodes]
        if not self.gpus:
            return sum(cores)
        gpus = [_holds(node.get("GPU", 0), self.gpus) for node in nodes]
        return sum(map(min, cores, gpus))


def share_out(options: EngineOptions, nodes: Sequence[Mapping[str, float]]) -> Share:
    """Allocate the resources of nodes (``CPU`` and ``GPU``) to workers."""
    most = max((node.get("GPU", 0) for node in nodes), default=0)
    gpus = options.gpus_per_worker
    gpus = float(most >= 1) if gpus is None else gpus
    if gpus < 0 or (gpus > 1 and gpus != int(gpus)):
        raise RequestError(
            f"--gpus-per-worker is {gpus:g}; it must be a fraction of one GPU, such as 0.5, or a "
            "whole number"
        )
    if gpus > most:
        raise RequestError(
            f"--gpus-per-worker is {gpus:g}, but according to Ray the cluster's {_nodes(nodes)} at "
            f"most {most:g} GPU each: start Ray on machines with GPUs (with ray start --num-gpus N "
            "if Ray does not detect them), or pass --gpus-per-worker 0"
        )
    each = _by_gpus(options, nodes, gpus) if gpus else _by_cores(options, nodes)
    if not each.room(nodes):
        raise RequestError(
            f"a worker needs {each.shown}, but according to Ray the cluster's {_nodes(nodes)} at "
            f"most {several(int(max((node.get('CPU', 0) for node in nodes), default=0)), 'core')} "
            "each: lower --threads"
        )
    return each


def _by_gpus(options: EngineOptions, nodes: Sequence[Mapping[str, float]], gpus: float) -> Share:
    """Plan workers with GPUs; by default, as many as fit on the nodes, with one core each."""
    one = Share(1, options.threads or 1, gpus)
    return replace(one, workers=options.workers or max(1, one.room(nodes)))


def _by_cores(options: EngineOptions, nodes: Sequence[Mapping[str, float]]) -> Share:
    cores = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1] or [0]
    workers = options.workers or len(cores)
    threads = options.threads or max(1, min(cores) // math.ceil(workers / len(cores)))
    return Share(workers, threads, 0)


def _holds(gpus: float, share: float) -> int:
    """Return how many workers fit on a node's GPUs; no worker gets parts of two GPUs."""
    return int(gpus) * int(1 / share + 1e-9) if share < 1 else int(gpus // share)


def _nodes(nodes: Sequence[Mapping[str, float]]) -> str:
    return several(len(nodes), "node has", "nodes have")


_ADDRESS = re.compile(r"(ray://)?(?P<host>[^:/\s]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_PATIENCE = 10.0
_PROMPTS = 80 * 2**20
"""Size in bytes of Ray's object store, through which requests are sent to the workers."""

# Turn off Ray's usage reports.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def connect(options: EngineOptions) -> None:
    """Connect to the requested cluster; do nothing if Ray is already connected."""
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
    if not address.startswith("ray://"):
        job = quiet["job_config"] = ray.job_config.JobConfig()
        job._py_driver_sys_path = _OwnPaths()  # noqa: SLF001 - Ray has no setting for it
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


class _OwnPaths(list[str]):
    """The import paths that workers get: not the current folder, unless this process has it."""

    def extend(self, paths: Iterable[str]) -> None:
        own = {os.path.abspath(path) for path in sys.path}  # noqa: PTH100 - "" is the current folder
        super().extend(path for path in paths if path in own)


def _start(options: EngineOptions, quiet: dict[str, Any]) -> None:
    """Start a cluster on this machine, with enough cores for the requested workers."""
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
    except Exception as error:  # Ray raises a bare Exception if it starts too slowly
        raise WorkError(
            f"Ray did not start on this machine ({_first_line(error)}); run the same command again "
            "when the machine is less busy, or omit --engine ray"
        ) from error


def nodes() -> list[dict[str, float]]:
    """Return the resources of each live node of the cluster, keyed by Ray's resource names."""
    import ray

    return [dict(node["Resources"]) for node in ray.nodes() if node["Alive"]]


def _check_answers(address: str) -> None:
    """Raise an error if nothing listens at an address; Ray itself would wait and then exit."""
    if address == "auto":
        return
    parts = _ADDRESS.fullmatch(address)
    if not parts:
        raise RequestError(
            f"--address is {address!r}; it must be auto, HOST:PORT, ray://HOST:PORT or local"
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
        f"no Ray cluster responds at --address {address} ({reason}): start one (`ray start "
        "--head`, and `ray start --address HOST:6379` on the other machines), or omit --address "
        "to use only this machine"
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
