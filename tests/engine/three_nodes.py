"""A Ray cluster of three nodes on one machine."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def three_nodes(cache: Path) -> Iterator[Any]:
    """Three nodes of one core each; the driver is connected to the first."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("XDG_CACHE_HOME", str(cache))
        # A busy machine answers late; a node that has ended is noticed by its closed connection.
        patch.setenv("RAY_health_check_timeout_ms", "120000")
        small: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
        head = {**small, "include_dashboard": False}
        try:
            made = Cluster(initialize_head=True, head_node_args=head)
        except Exception:  # noqa: BLE001 - Ray gives a node 30 s, which a busy machine may not keep
            made = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                made.add_node(**small)
            ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()
