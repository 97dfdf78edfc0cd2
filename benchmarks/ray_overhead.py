"""What the Ray engine takes beside the local one, for the same work on the same cores.

python benchmarks/ray_overhead.py --drawings FOLDER --some-drawings N --cores C

Asks the questions of some drawings of a causal model of random weights (six layers of GPT-2's kind,
512 wide), through engine and store. All sides are held to the same cores, Ray's own processes
among them, and run by turns, each in a process of its own that starts its own Ray. The whole time
counts: imports, Ray's start and end, loading the model, planning, asking, reading the store.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from ranking import apart  # type: ignore[import-not-found]  # beside this file
from scoring_work import (  # type: ignore[import-not-found]
    DEMO,
    causal_tokenizer,
    part_prompts,
    read,
    write,
)

from tacit.engine.ask import Engine


@dataclass(frozen=True)
class Side:
    """Who asks.

    Args:
        place: The folder of the model and the prompts.
        cores: How many cores there are for everything.
        threads: In how many threads each model computes.
        workers: How many workers; None is the local engine.
    """

    place: Path
    cores: int
    threads: int
    workers: int | None

    @property
    def name(self) -> str:
        """As the table names it."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        if self.workers is None:
            return f"local, {threads}"
        workers = f"{self.workers} worker{'s' if self.workers > 1 else ''}"
        return f"Ray, {workers} of {threads}"


@dataclass(frozen=True)
class Took:
    """What a side took, in seconds.

    Args:
        start: Until the model is loaded.
        plan: Until the blocks are cut.
        ask: Until all is asked and read again.
        end: Until Ray is shut down.
        processor: Of all cores and processes together.
        blocks: How many blocks there were.
        found: Every log-probability in nats.
    """

    start: float
    plan: float
    ask: float
    end: float
    processor: float
    blocks: int
    found: list[float | None]

    @property
    def whole(self) -> float:
        """All of it."""
        return self.start + self.plan + self.ask + self.end


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--drawings", type=Path, default=DEMO / "things")
    parser.add_argument("--some-drawings", type=int, default=1000)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    chosen = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.cores])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        apart(partial(prepare, place, chosen.drawings, chosen.some_drawings, chosen.tokenizer))
        shapes = {(chosen.cores, None): 0, (chosen.cores, 1): 0, (1, chosen.cores): 0}
        sides = [Side(place, chosen.cores, threads, workers) for threads, workers in shapes]
        times: dict[str, list[Took]] = {side.name: [] for side in sides}
        for _ in range(chosen.repeats):
            for side in sides:
                took = apart(partial(run, side))
                times[side.name].append(took)
                print(f"{side.name}: {took.whole:.1f} s", file=sys.stderr, flush=True)
        print(f"{len(read(place / 'parts.json')):,} prompts\n")
        print_times(times)
    print(f"\nload {os.getloadavg()[0]:.1f}")


def prepare(place: Path, drawings: Path, some: int, tokenizer: Path | None) -> None:
    """Writes the model and the prompts."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    own = causal_tokenizer(tokenizer)
    end = own.eos_token_id
    config = GPT2Config(
        vocab_size=len(own), bos_token_id=end, eos_token_id=end, n_layer=6, n_embd=512, n_head=8
    )
    GPT2LMHeadModel(config).save_pretrained(place / "model")
    own.save_pretrained(place / "model")
    write(place / "parts.json", part_prompts(drawings, some))


def run(side: Side) -> Took:
    """Asks everything, with a new store."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(side.threads)
    with tempfile.TemporaryDirectory() as store:
        took = _asked(side, store)
        asked = time.perf_counter()
        if side.workers is not None:
            import ray

            ray.shutdown()
        return replace(took, end=time.perf_counter() - asked)


def _asked(side: Side, store: str) -> Took:
    prompts = read(side.place / "parts.json")
    moments = [time.perf_counter()]
    engine = _engine(side, store)
    moments.append(time.perf_counter())
    plan = engine.plan(prompts)
    moments.append(time.perf_counter())
    scores = engine.ask(prompts, plan)
    moments.append(time.perf_counter())
    start, planned, asked = (late - early for early, late in pairwise(moments))
    found = [one.logprob for score in scores for one in score.answers]
    return Took(start, planned, asked, 0.0, _processor(), len(plan.blocks), found)


def _engine(side: Side, store: str) -> Engine:
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.loading import load_model
    from tacit.models.options import LoadOptions

    name, kept = str(side.place / "model"), Store(store)
    loading = LoadOptions(device="cpu")
    if side.workers is not None:
        from tacit.engine.options import EngineOptions

        cluster = EngineOptions("ray", "local", workers=side.workers, threads=side.threads)
        return cluster.start(name, loading, kept)
    import torch

    torch.set_num_threads(side.threads)
    return Engine(load_model(name, loading, kept.hashes), kept)


def _processor() -> float:
    """What this process and all that it started have taken of the processor, in seconds."""
    import psutil  # type: ignore[import-untyped]

    own = psutil.Process()
    return sum(_taken(each) for each in [own, *own.children(recursive=True)])


def _taken(process: Any) -> float:  # noqa: ANN401 - psutil ships no types
    import psutil

    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # ended since it was listed
    return float(times.user + times.system + times.children_user + times.children_system)


def print_times(times: dict[str, list[Took]]) -> None:
    """Prints what each side took, beside the first, and how its scores differ from that one's."""
    head = "| side | blocks | start | plan | ask | end | whole (s) | of the local engine's "
    print(f"{head}| processor (s) | of it | largest difference (nats) |")
    print(f"|---|{'---:|' * 10}")
    local = next(iter(times.values()))
    for name, side in times.items():
        pairs = list(zip(side, local, strict=True))
        parts = (median(getattr(one, part) for one in side) for part in ("start", "plan", "ask"))
        columns = (
            str(side[0].blocks),
            *(f"{part:.1f}" for part in parts),
            f"{median(one.end for one in side):.1f}",
            f"{median(one.whole for one in side):.1f}",
            _ratio([one.whole / own.whole for one, own in pairs]),
            f"{median(one.processor for one in side):.1f}",
            _ratio([one.processor / own.processor for one, own in pairs]),
            f"{max(_difference(one.found, own.found) for one, own in pairs):.1e}",
        )
        print(f"| {name} | {' | '.join(columns)} |")


def _ratio(values: list[float]) -> str:
    return f"{median(values):.3f}" + (
        f" ({min(values):.3f} to {max(values):.3f})" if len(values) > 1 else ""
    )


def _difference(one: list[float | None], other: list[float | None]) -> float:
    """The largest; infinite where one is missing and the other is not."""
    largest = 0.0
    for mine, its in zip(one, other, strict=True):
        if mine is None or its is None:
            largest = max(largest, 0.0 if mine is its else float("inf"))
        else:
            largest = max(largest, abs(mine - its))
    return largest


if __name__ == "__main__":
    main()
