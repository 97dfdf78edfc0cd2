"""The executor of the Ray engine, which distributes blocks among workers."""

from __future__ import annotations

import logging
import time
import weakref
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import PurePosixPath
from typing import Any

from tacit.engine.plan import Plan
from tacit.engine.ray.cluster import Share, alive
from tacit.engine.ray.handles import Job, Lost, Patience, WorkerHandle
from tacit.engine.ray.worker import Failed, Loaded, Order, Stored
from tacit.engine.storage import Storage
from tacit.errors import ModelError, ScoringError, StoreError
from tacit.requests.block import Block, Part

log = logging.getLogger(__name__)

_TICK = 1.0


class RayExecutor:
    """An executor whose Ray workers load the same model; see ``tacit.engine.plan.Executor``."""

    def __init__(self, order: Order, share: Share, patience: Patience) -> None:
        self._order, self._share, self._patience = order, share, patience
        self._workers: list[WorkerHandle] = []
        self._wanted = share.workers
        self._false_starts = 0
        self._looked = self._anybody = time.monotonic()
        self._seen_from: set[str] = set()
        self._loaded: Loaded | None = None
        weakref.finalize(self, _disband, self._workers)

    @property
    def description(self) -> dict[str, Any]:
        """The engine's kind, Ray's version, the number of workers, and a worker's resources."""
        import ray

        return {
            "kind": "ray",
            "ray": ray.__version__,
            "workers": self._share.workers,
            "threads": self._share.threads,
            "gpus_per_worker": self._share.gpus,
        }

    @property
    def size(self) -> int:
        """The requested number of workers minus the number that could not be started."""
        return self._wanted

    def first(self) -> Loaded:
        """Start all workers, and wait until the first worker has loaded the model."""
        self._hire()
        while self._loaded is None:
            for worker, outcome in self._outcomes():
                self._arrived(worker, outcome)
        return self._loaded

    def call(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - what the model returns
        """Call a method of the model on one of the workers and return the result."""
        job = Job(lambda actor: actor.call.remote(method, arguments), f"the call of model.{method}")
        ((_, result),) = self._done([job])
        return result

    def execute(self, plan: Plan) -> Generator[Part]:
        """See ``Executor``."""
        if not plan.blocks:
            return
        jobs = [_job(block) for block in plan.blocks]
        written: set[str] = set()
        with closing(self._done(jobs)) as done:
            for job, stored in done:
                self._check_seen(stored)
                written.add(stored.segment)
                yield job.block.whole
        self._await_listed(written)

    def _done(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Any]]:
        """Send all jobs to idle workers, and yield each job with its result."""
        todo, left = deque(jobs), len(jobs)
        self._hire()
        try:
            while left:
                idle = [worker for worker in self._workers if worker.is_idle]
                for worker in idle[: len(todo)]:
                    worker.give(todo.popleft())
                for worker, outcome in self._outcomes():
                    job, worker.job = worker.job, None
                    if job is None:
                        self._arrived(worker, outcome)
                    elif isinstance(outcome, Failed | Lost):
                        self._failed(worker, job, outcome)
                        todo.appendleft(job)
                    else:
                        left -= 1
                        yield job, outcome
        except GeneratorExit:
            # Interrupted: also end the idle workers, which would keep their cores and GPUs.
            for worker in list(self._workers):
                self._leave(worker)
            raise
        finally:
            # A block failed for good: end the workers that are still busy.
            for worker in [worker for worker in self._workers if worker.job is not None]:
                self._leave(worker)

    def _outcomes(self) -> Iterator[tuple[WorkerHandle, object]]:
        """Wait briefly for results; yield each worker that has a result or has been lost."""
        import ray

        busy = {worker.pending: worker for worker in self._workers if worker.pending is not None}
        ready = ray.wait(list(busy), timeout=_TICK)[0] if busy else []
        for pending in ready:
            yield busy[pending], busy[pending].take()
        now = time.monotonic()
        if now - self._looked < self._patience.look:
            return
        self._looked = now
        nodes = {str(node["NodeID"]) for node in alive()}
        for worker in list(self._workers):
            lost = worker.missing(nodes, self._patience)
            if lost:
                worker.pending = None
                yield worker, lost
            elif minutes := worker.loads_for_long(self._patience.start):
                log.warning(
                    "a worker has been loading its model for %.0f min; Ray's logs "
                    "(/tmp/ray/session_latest/logs on its node) may explain why",
                    minutes,
                )
        self._check_anybody(now)

    def _arrived(self, worker: WorkerHandle, outcome: object) -> None:
        """Mark a worker as ready if it has loaded its model; replace it if loading failed."""
        if not isinstance(outcome, Loaded):
            self._false_start(worker, outcome)
            return
        first = self._loaded
        if first and outcome.fingerprint != first.fingerprint:
            error = ModelError(
                f"{outcome.name} on {outcome.host} differs from the model on {first.host}: the "
                "files, the tokenizer or the number format differ; use the same on every node"
            )
            if not self._seen_from:
                self._leave(worker)
                raise error
            # A node that joins a run late must not end the run.
            self._false_start(worker, Failed.of(error))
            return
        for warning in outcome.warnings if first is None else ():
            log.warning("%s", warning)
        worker.loaded = outcome
        self._loaded, self._false_starts = first or outcome, 0

    def _false_start(self, worker: WorkerHandle, outcome: object) -> None:
        """Replace a worker whose model did not load; use fewer workers after repeated failures."""
        self._leave(worker)
        failed = outcome if isinstance(outcome, Failed) else None
        if failed and failed.is_final and self._loaded is None:
            raise failed.error
        message = failed.message if failed else getattr(outcome, "reason", str(outcome))
        self._false_starts += 1
        if self._false_starts >= self._patience.tries:
            self._wanted, self._false_starts = self._wanted - 1, 0
            log.warning(
                "a worker could not be started (%s): %d of %d workers remain",
                message,
                self._wanted,
                self._share.workers,
            )
        if self._wanted < 1:
            raise ScoringError(
                f"no worker could be started: {message}; see Ray's logs on the node "
                "(/tmp/ray/session_latest/logs), and run the same command again to resume"
            )
        self._hire()

    def _failed(self, worker: WorkerHandle, job: Job, outcome: Failed | Lost) -> None:
        """Count a job's failure; raise an error if the job failed too often or cannot succeed."""
        if isinstance(outcome, Failed) and outcome.is_final:
            raise outcome.error
        lost = isinstance(outcome, Lost)
        message = outcome.reason if isinstance(outcome, Lost) else outcome.message
        key = "lost" if lost else message
        job.failures[key] += 1
        if job.failures[key] >= self._patience.tries or len(job.failures) > self._patience.tries:
            if isinstance(outcome, Failed) and outcome.is_ours:
                raise outcome.error
            ends = "lost its worker" if lost else "failed"
            raise ScoringError(f"{job.about} {ends} {job.failures[key]} times: {message}")
        if lost:
            log.warning(
                "%s was lost (%s); %s is sent to another worker", worker.where, message, job.about
            )
        else:
            log.warning("%s failed: %s; it is retried", job.about, message)
        # A library's error may have left the process, or its GPU, in a bad state.
        if lost or not getattr(outcome, "is_ours", False):
            self._leave(worker)
            self._leave_lost_nodes()
            self._hire()

    def _leave_lost_nodes(self) -> None:
        """Dismiss idle workers on lost nodes, so that these workers receive no more jobs."""
        nodes = {str(node["NodeID"]) for node in alive()}
        for worker in [worker for worker in self._workers if worker.is_idle]:
            if worker.is_nowhere(nodes):
                self._leave(worker)

    def _hire(self) -> None:
        """Start new workers until the wanted number of workers is reached."""
        if not any(worker.loaded for worker in self._workers):
            self._anybody = time.monotonic()
        while len(self._workers) < self._wanted:
            self._workers.append(WorkerHandle.hire(self._order, self._share))

    def _leave(self, worker: WorkerHandle) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
        worker.job = worker.pending = None
        worker.dismiss()

    def _check_anybody(self, now: float) -> None:
        """Raise an error if no worker has started within the time limit."""
        if any(worker.node or worker.loaded for worker in self._workers):
            self._anybody = now
        elif now - self._anybody > self._patience.start:
            raise ScoringError(
                f"no worker started within {self._patience.start:.0f} s; each needs "
                f"{self._share.shown}: check the free resources with `ray status`, and run the "
                "same command again to resume"
            )

    def _check_seen(self, stored: Stored) -> None:
        """Raise an error if the store's path is a different folder on the worker's machine."""
        if stored.host in self._seen_from:
            return
        # On a shared file system, another machine's files may appear with a delay.
        until = time.monotonic() + self._patience.seen
        store = Storage(self._order.store)
        while store.read(stored.segment) is None:
            if time.monotonic() > until:
                raise StoreError(
                    f"{store.shown()}: a file that the worker on {stored.host} wrote is not "
                    "visible here, so this path is another folder on that machine: use a --store "
                    "that all machines share, or an address such as s3://bucket/folder"
                )
            time.sleep(_TICK)
        self._seen_from.add(stored.host)

    def _await_listed(self, written: set[str]) -> None:
        """Wait until the store lists all segments that workers wrote, or until a time limit."""
        store = Storage(self._order.store)
        folders = {str(PurePosixPath(segment).parent) for segment in written}
        until = time.monotonic() + self._patience.seen
        while time.monotonic() < until:
            listed = {f"{folder}/{name}" for folder in folders for name in store.names(folder)}
            if written <= listed:
                return
            time.sleep(_TICK)


def _job(block: Block) -> Job:
    """Return a job that computes a block; the requests are sent with it."""
    text = block.requests[0].text
    return Job(
        lambda actor: actor.work.remote(block.requests),
        f"the block that begins with {text[:60]!r}",
        block,
    )


def _disband(workers: list[WorkerHandle]) -> None:
    """End all workers."""
    for worker in workers:
        worker.dismiss()
    workers.clear()
