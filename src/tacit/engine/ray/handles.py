"""One worker as it is seen from where the run was started: what it does, and if it is there."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.engine.ray.worker import Loaded, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.engine.ray.cluster import Share
    from tacit.engine.ray.worker import Order


@dataclass(frozen=True)
class Patience:
    """How long workers are waited for, in seconds.

    Args:
        look: Between two looks at whether all are there.
        silence: Until a worker that does not answer counts as lost.
        start: Seconds until a run without any worker fails, and a loading worker is reported.
        seen: Until what a worker wrote has to be seen from where the run was started.
        tries: How often a block, or the start of a worker, may fail.
    """

    look: float = 2.0
    silence: float = 60.0
    start: float = 600.0
    seen: float = 120.0  # NFS may keep for 60 s that a file was not there
    tries: int = 3


@dataclass(eq=False)
class Job:
    """Something for a worker to do.

    Args:
        send: Sends it to a worker, and returns Ray's reference to what comes back.
        about: What messages call it.
        block: The block that it is of.
    """

    send: Callable[[Any], Any]
    about: str
    block: Any = None
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Lost:
    """A worker is gone, and what it was doing with it."""

    reason: str


@dataclass(eq=False)
class WorkerHandle:
    """A worker; it is loading its model until it reports what it loaded.

    Args:
        actor: Ray's handle.
        pending: Ray's reference to what it is doing; None when it is idle.
        loaded: What it loaded; None until it has.
        job: What it was given to do.
        node: Ray's name of the node that it is on; None until its process is there.
    """

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
        """Asks Ray for a worker, which may have to wait until there is room for it."""
        import ray

        # A second thread answers whether the process is there while the first computes.
        made = ray.remote(Worker).options(
            num_cpus=share.threads, num_gpus=share.gpus, max_concurrency=2, max_restarts=0
        )
        actor: Any = made.remote(order)
        return cls(actor, actor.load.remote(), _ping=actor.ping.remote())

    @property
    def is_idle(self) -> bool:
        """Whether it could be given something to do."""
        return self.loaded is not None and self.pending is None

    @property
    def where(self) -> str:
        """The worker as messages name it."""
        return f"the worker on {self.loaded.host}" if self.loaded else "a worker that was starting"

    def give(self, job: Job) -> None:
        """Sends it a job."""
        self.job, self.pending = job, job.send(self.actor)
        # What it was asked before tells where it is, however short its jobs are.
        self._pinged = time.monotonic()

    def take(self) -> object:
        """What it did, which has to be there by now; ``Lost`` when it is gone."""
        import ray

        pending, self.pending = self.pending, None
        try:
            return ray.get(pending)
        except ray.exceptions.RayError as error:
            return Lost(_reason(error))

    def is_nowhere(self, nodes: set[str]) -> bool:
        """Whether its node is known, and none of those that are there."""
        self._listen()
        return self.node is not None and self.node not in nodes

    def missing(self, nodes: set[str], patience: Patience) -> Lost | None:
        """Whether a worker that is doing something is gone, though Ray has not said so yet.

        Args:
            nodes: Those that are there.
            patience: How long it may be silent.
        """
        if self.pending is None:
            return None
        self._listen()
        if self.node is not None and self.node not in nodes:
            return Lost("its node is no longer there")
        # One that is loading may hold the interpreter for as long as it likes.
        if self.loaded and time.monotonic() - self._pinged > patience.silence:
            return Lost(f"it has not answered for {patience.silence:.0f} s")
        return None

    def loads_for_long(self, seconds: float) -> float:
        """The minutes for which it has been loading its model; told each time that these are over.

        Args:
            seconds: How long is long; before, and between two times, there are 0 minutes.
        """
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
        """Asks whether the process is there, and where, as often as it has answered."""
        import ray

        if self._ping is not None:
            if not ray.wait([self._ping], timeout=0)[0]:
                return
            try:
                self.node = ray.get(self._ping)
            except ray.exceptions.RayError:
                return  # Ray says so of what it is doing as well
        self._ping, self._pinged = self.actor.ping.remote(), time.monotonic()

    def dismiss(self) -> None:
        """Ends its process; what it has not stored is lost."""
        import ray

        dismiss([self.actor] if ray.is_initialized() else [])


def dismiss(actors: Sequence[Any]) -> None:
    """Ends actors, those that are gone already among them."""
    import ray

    for actor in actors:
        # One that cannot be reached is as good as ended.
        try:
            ray.kill(actor, no_restart=True)
        except (ray.exceptions.RayError, ValueError, RuntimeError):
            continue


def _reason(error: Exception) -> str:
    """The sentence of Ray's long message that says why."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = lines[-1].partition(" Some common causes")[0] if lines else ""
    return last or type(error).__name__
