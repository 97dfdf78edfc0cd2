"""The executor of the Ray engine, which distributes blocks among workers."""

from __future__ import annotations

import logging
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tacit.engine.ray.cluster import Share
from tacit.engine.ray.worker import Failed, Loaded, Order, Worker
from tacit.engine.storage import Storage
from tacit.errors import ModelError, ScoringError, StoreError
from tacit.requests.kind import Block, Part

log = logging.getLogger(__name__)

TRIES = 3
START = 600.0
SEEN = 120.0  # NFS may cache for 60 s that a file does not exist


@dataclass(eq=False)
class _Worker:
    """A Ray actor, and how often in a row it has not loaded its model."""

    actor: Any
    failures: int = 0


@dataclass(eq=False)
class _Job:
    """A job that any worker can do, and how often it has failed."""

    send: Callable[[Any], Any]
    about: str
    failures: int = 0


class RayExecutor:
    """An executor whose Ray workers load the same model; see ``tacit.engine.local.Executor``.

    Ray restarts a worker whose process or node is lost, as soon as resources are free.
    """

    def __init__(self, order: Order, share: Share) -> None:
        self._order, self._share = order, share
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._busy: dict[Any, tuple[_Worker, _Job | None]] = {}  # None: it loads its model
        self._loaded: Loaded | None = None
        self._seen_from: set[str] = set()
        weakref.finalize(self, dismiss, self._workers)

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
        """The number of workers."""
        return len(self._workers) or self._share.workers

    def first(self) -> Loaded:
        """Start all workers, and wait until the first worker has loaded the model."""
        self._start()
        while self._loaded is None:
            for worker, _, outcome in self._outcomes():
                self._started(worker, outcome)
        return self._loaded

    def call(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - what the model returns
        """Call a method of the model on one of the workers and return the result."""
        job = _Job(lambda actor: actor.call.remote(method, arguments), f"model.{method}")
        ((_, result),) = self._done([job])
        return result

    def execute(self, blocks: Sequence[Block]) -> Generator[Part]:
        """See ``Executor``."""
        jobs = {_job(block): block for block in blocks}
        written: dict[str, str] = {}
        with closing(self._done(list(jobs))) as done:
            for job, stored in done:
                if stored.host not in self._seen_from:
                    self._await({stored.segment: stored.host})
                    self._seen_from.add(stored.host)
                written[stored.segment] = stored.host
                block = jobs[job]
                yield Part(block.requests, block.tokens, len(block.requests))
        self._await(written)

    def _start(self) -> None:
        """Start the workers if there are none."""
        import ray

        if self._workers:
            return
        share = self._share
        made = ray.remote(Worker).options(
            num_cpus=share.threads, num_gpus=share.gpus, max_restarts=-1
        )
        actors: list[Any] = [made.remote(self._order) for _ in range(share.workers)]
        self._workers += map(_Worker, actors)
        if not ray.wait([actor.ready.remote() for actor in actors], timeout=START)[0]:
            raise ScoringError(
                f"no worker started within {START:.0f} s; each needs {share.shown}: check the free "
                "resources with `ray status`, and run the same command again to resume"
            )
        self._load(self._workers)

    def _load(self, workers: Sequence[_Worker]) -> None:
        """Let workers load the model; a worker that was lost does so when Ray has restarted it."""
        for worker in workers:
            self._busy[worker.actor.load.options(max_task_retries=1).remote()] = worker, None

    def _done(self, jobs: Sequence[_Job]) -> Generator[tuple[_Job, Any]]:
        """Send all jobs to idle workers, and yield each job with its result."""
        self._start()
        todo, left = deque(jobs), len(jobs)
        try:
            while left:
                while todo and self._idle:
                    worker, job = self._idle.pop(), todo.popleft()
                    self._busy[job.send(worker.actor)] = worker, job
                for worker, given, outcome in self._outcomes():
                    if given is None:
                        self._started(worker, outcome)
                    elif isinstance(outcome, Failed):
                        self._failed(worker, given, outcome)
                        todo.appendleft(given)
                    else:
                        self._idle.append(worker)
                        left -= 1
                        yield given, outcome
        finally:
            interrupted = isinstance(sys.exception(), GeneratorExit | KeyboardInterrupt)
            if interrupted or any(job for _, job in self._busy.values()):
                self._busy.clear()
                self._idle.clear()
                dismiss(self._workers)

    def _outcomes(self) -> Iterator[tuple[_Worker, _Job | None, Any]]:
        """Wait for results; yield each worker that has a result or was lost, and its job."""
        import ray

        ready = ray.wait(list(self._busy), timeout=START)[0]
        if not ready and not any(job for _, job in self._busy.values()):
            log.warning(
                "all workers have been loading the model, or waiting for free resources, for %.0f "
                "min; `ray status` or Ray's logs (/tmp/ray/session_latest/logs on the node) may "
                "explain why",
                START / 60,
            )
        for reference in ready:
            worker, job = self._busy.pop(reference)
            try:
                outcome = ray.get(reference)
            except ray.exceptions.RayError as error:
                reason = f"its worker was lost ({_reason(error)})"
                outcome = Failed(ScoringError(reason), worker="lost")
            yield worker, job, outcome

    def _started(self, worker: _Worker, outcome: Loaded | Failed) -> None:
        """Mark a worker as idle if it has loaded the model; after repeated failures, drop it."""
        if isinstance(outcome, Loaded):
            if self._loaded is None:
                self._loaded = outcome
                for warning in outcome.warnings:
                    log.warning("%s", warning)
            if outcome.fingerprint == self._loaded.fingerprint:
                worker.failures = 0
                self._idle.append(worker)
                return
            outcome = _different(outcome, self._loaded)
            if not self._seen_from:  # a node that joins a run late must not end the run
                raise outcome.error
        if outcome.is_final and self._loaded is None:
            raise outcome.error
        worker.failures += 1
        if worker.failures < TRIES and not outcome.is_final:
            self._restart(worker, outcome)
            return
        self._workers.remove(worker)
        dismiss([worker])
        log.warning(
            "a worker could not be started (%s): %d of %d workers remain",
            outcome.error,
            len(self._workers),
            self._share.workers,
        )
        if not self._workers:
            raise ScoringError(
                f"no worker could be started: {outcome.error}; see Ray's logs "
                "(/tmp/ray/session_latest/logs on the node), and run the same command again to "
                "resume"
            )

    def _failed(self, worker: _Worker, job: _Job, failed: Failed) -> None:
        """Count a job's failure; raise an error if the job failed too often or cannot succeed."""
        self._restart(worker, failed)
        if failed.is_final:
            raise failed.error
        job.failures += 1
        if job.failures >= TRIES:
            raise type(failed.error)(f"{job.about} failed {TRIES} times: {failed.error}")
        log.warning("%s failed: %s; it is sent to another worker", job.about, failed.error)

    def _restart(self, worker: _Worker, failed: Failed) -> None:
        """Use a worker again, in a new process if a library may have left it in a bad state."""
        if failed.worker == "fine":
            self._idle.append(worker)
            return
        if failed.worker == "broken":
            worker.actor.end.remote()
        # If a node is lost, so are its idle workers: check that they respond.
        self._load([worker, *self._idle])
        self._idle.clear()

    def _await(self, written: dict[str, str]) -> None:
        """Wait until this machine lists the segments that workers wrote on the given machines."""
        storage = Storage(self._order.store)
        folders = {str(PurePosixPath(segment).parent) for segment in written}
        until = time.monotonic() + SEEN
        while True:
            listed = {f"{folder}/{name}" for folder in folders for name in storage.names(folder)}
            unseen = written.keys() - listed
            if not unseen:
                return
            if time.monotonic() > until:
                raise StoreError(
                    f"{storage.shown()}: a file that the worker on {written[unseen.pop()]} wrote "
                    "is not visible here, so this path is another folder on that machine: use a "
                    "--store that all machines share, or an address such as s3://bucket/folder"
                )
            time.sleep(1)


def _different(loaded: Loaded, first: Loaded) -> Failed:
    return Failed(
        ModelError(
            f"{loaded.name} on {loaded.host} differs from the model on {first.host}: the files, "
            "the tokenizer or the number format differ; use the same on every node"
        ),
        is_final=True,
    )


def _job(block: Block) -> _Job:
    """Return a job that computes a block; the requests are sent with it."""
    about = f"the block that begins with {block.requests[0].text[:60]!r}"
    return _Job(lambda actor: actor.work.remote(block.requests), about)


def _reason(error: Exception) -> str:
    """Extract the reason for a failure from Ray's long error message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = lines[-1].partition(" Some common causes")[0] if lines else ""
    return last or type(error).__name__


def dismiss(workers: list[_Worker]) -> None:
    """End workers, some of which may already have ended. Unstored results are lost."""
    import ray

    for worker in workers if ray.is_initialized() else ():
        with suppress(ray.exceptions.RayError, ValueError, RuntimeError):
            ray.kill(worker.actor, no_restart=True)
    workers.clear()
