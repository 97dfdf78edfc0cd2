"""How a cluster's cores and GPUs are shared out among workers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class RayOptions:
    """What is asked for; what is None goes by the cluster.

    Args:
        address: A running cluster: ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; ``local`` for
            one of this machine, which is started for the run. None is ``$RAY_ADDRESS``, else local.
        workers: How many workers, each with the whole model.
        gpus_per_worker: Each one's share of GPUs: a fraction, or a whole number.
        threads: In how many threads each computes.
    """

    address: str | None = None
    workers: int | None = None
    gpus_per_worker: float | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Share:
    """What each of so many workers gets.

    Args:
        workers: How many there are to be.
        threads: How many cores each takes.
        gpus: How many GPUs, or which part of one.
    """

    workers: int
    threads: int
    gpus: float

    @property
    def shown(self) -> str:
        """What one worker needs, in words."""
        cores = f"{self.threads} core{'s' if self.threads > 1 else ''}"
        return f"{cores} and {self.gpus:g} GPU" if self.gpus else cores

    def room(self, nodes: Sequence[Mapping[str, float]]) -> int:
        """How many such workers the nodes hold when nothing else runs there."""
        cores = [int(node.get("CPU", 0) // self.threads) for node in nodes]
        if not self.gpus:
            return sum(cores)
        gpus = [_holds(node.get("GPU", 0), self.gpus) for node in nodes]
        return sum(map(min, cores, gpus))


def share_out(options: RayOptions, nodes: Sequence[Mapping[str, float]]) -> Share:
    """What each worker gets, by what was asked for and what each node has (``CPU``, ``GPU``).

    Unless told, there is one worker per GPU with one core, or where there are no GPUs one per node
    with as many cores as the smallest node has.

    Raises:
        RequestError: No node has room for a worker, or the share is no share of a GPU.
    """
    most = max((node.get("GPU", 0) for node in nodes), default=0)
    gpus = options.gpus_per_worker
    gpus = float(most >= 1) if gpus is None else gpus
    if gpus < 0 or (gpus > 1 and gpus != int(gpus)):
        raise RequestError(
            f"--gpus-per-worker is {gpus:g}; it is a part of one GPU, such as 0.5, or a "
            "whole number"
        )
    if gpus > most:
        raise RequestError(
            f"--gpus-per-worker is {gpus:g}, and the cluster's {_nodes(nodes)} at most {most:g} "
            "GPU each as Ray counts them: start Ray where there are some (ray start --num-gpus N "
            "where it does not see them), or give --gpus-per-worker 0"
        )
    each = _by_gpus(options, nodes, gpus) if gpus else _by_cores(options, nodes)
    if not each.room(nodes):
        raise RequestError(
            f"a worker needs {each.shown}, and the cluster's {_nodes(nodes)} at most "
            f"{max((node.get('CPU', 0) for node in nodes), default=0):g} cores each as Ray counts "
            "them: give fewer --threads"
        )
    return each


def _by_gpus(options: RayOptions, nodes: Sequence[Mapping[str, float]], gpus: float) -> Share:
    """As many as there is room for; computing happens on GPUs, so that one core each is enough."""
    one = Share(1, options.threads or 1, gpus)
    return replace(one, workers=options.workers or max(1, one.room(nodes)))


def _by_cores(options: RayOptions, nodes: Sequence[Mapping[str, float]]) -> Share:
    cores = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1] or [0]
    workers = options.workers or len(cores)
    threads = options.threads or max(1, min(cores) // math.ceil(workers / len(cores)))
    return Share(workers, threads, 0)


def _holds(gpus: float, share: float) -> int:
    """How many shares there are in a node's GPUs; a part of one is never made of two."""
    return int(gpus) * int(1 / share + 1e-9) if share < 1 else int(gpus // share)


def _nodes(nodes: Sequence[Mapping[str, float]]) -> str:
    return several(len(nodes), "node has", "nodes have")
