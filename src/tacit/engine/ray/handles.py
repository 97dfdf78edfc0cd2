"""Handles of Ray workers: each handle tracks a worker's job and whether the worker is alive."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.engine.ray.cluster import Share
from tacit.engine.ray.worker import Loaded, Order, Worker


@dataclass(frozen=True)
class Patience:
    """Time limits in seconds, and a limit on failed attempts, which apply to Ray workers."""

    look: float = 2.0
    silence: float = 60.0
    start: float = 600.0
    seen: float = 120.0  # NFS may cache for 60 s that a file does not exist
    tries: int = 3


@dataclass(eq=False)
class Job:
    """A job for a worker."""

    send: Callable[[Any], Any]
    about: str
    block: Any = None
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Lost:
    """The result of a job whose worker was lost."""

    reason: str


@dataclass(eq=False)
class WorkerHandle:
    """A handle of a worker. A worker that was just created is still loading its model."""

    actor: Any
    pending: Any
    loaded: Loaded | None = None
    job: Job | None = None
    node: str | None = None
    _ping: Any = None
    _pinged: float = 0.0
    _loading_since: float | None = None
    _told: float = 0.0

    @classmethod
    def hire(cls, order: Order, share: Share) -> WorkerHandle:
        """Request a worker from Ray; the worker starts when enough resources are free."""
        import ray

        # A second thread answers pings while the first computes.
        made = ray.remote(Worker).options(
            num_cpus=share.threads, num_gpus=share.gpus, max_concurrency=2, max_restarts=0
        )
        actor: Any = made.remote(order)
        return cls(actor, actor.load.remote(), _ping=actor.ping.remote())

    @property
    def is_idle(self) -> bool:
        """Whether the worker has loaded its model and has no job."""
        return self.loaded is not None and self.pending is None

    @property
    def where(self) -> str:
        """A description of the worker, for use in messages."""
        return f"the worker on {self.loaded.host}" if self.loaded else "a worker that was starting"

    def give(self, job: Job) -> None:
        """Send a job to the worker that this handle tracks."""
        self.job, self.pending = job, job.send(self.actor)
        # Only restart the timer: a pending ping still reports the node, however short the jobs.
        self._pinged = time.monotonic()

    def take(self) -> object:
        """Return the result of the finished job, or ``Lost`` if the worker was lost."""
        import ray

        pending, self.pending = self.pending, None
        try:
            return ray.get(pending)
        except ray.exceptions.RayError as error:
            return Lost(_reason(error))

    def is_nowhere(self, nodes: set[str]) -> bool:
        """Return whether the worker's node is known but is not one of the live nodes."""
        self._listen()
        return self.node is not None and self.node not in nodes

    def missing(self, nodes: set[str], patience: Patience) -> Lost | None:
        """Return ``Lost`` if a busy worker does not respond or its node is lost; else None."""
        if self.pending is None:
            return None
        self._listen()
        if self.node is not None and self.node not in nodes:
            return Lost("its node left the cluster")
        # A worker that is loading may block the interpreter, so it may be silent for long.
        if self.loaded and time.monotonic() - self._pinged > patience.silence:
            return Lost(f"it has not responded for {patience.silence:.0f} s")
        return None

    def loads_for_long(self, seconds: float) -> float:
        """Return how many minutes the model has been loading; 0 if that need not be said now."""
        if self.loaded or self.node is None:
            return 0.0
        now = time.monotonic()
        if self._loading_since is None:
            self._loading_since = self._told = now
        if now - self._told < seconds:
            return 0.0
        self._told = now
        return (now - self._loading_since) / 60

    def _listen(self) -> None:
        """Read the response to the last ping if it has arrived, and send the next ping."""
        import ray

        if self._ping is not None:
            if not ray.wait([self._ping], timeout=0)[0]:
                return
            try:
                self.node = ray.get(self._ping)
            except ray.exceptions.RayError:
                return  # the pending job fails with the same error
        self._ping, self._pinged = self.actor.ping.remote(), time.monotonic()

    def dismiss(self) -> None:
        """End the worker's process. Results that the worker has not stored are lost."""
        import ray

        dismiss([self.actor] if ray.is_initialized() else [])


def dismiss(actors: Sequence[Any]) -> None:
    """End Ray actors, some of which may already have ended."""
    import ray

    for actor in actors:
        # An actor that cannot be reached counts as ended.
        try:
            ray.kill(actor, no_restart=True)
        except (ray.exceptions.RayError, ValueError, RuntimeError):
            continue


def _reason(error: Exception) -> str:
    """Extract the reason for a failure from Ray's long error message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = lines[-1].partition(" Some common causes")[0] if lines else ""
    return last or type(error).__name__
