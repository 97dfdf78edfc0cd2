"""How fast a masked model ranks a vocabulary; the tables of docs/performance.md, "Ranking".

python benchmarks/ranking.py --norms NORMS --tokenizer FOLDER            Tacit and minicons
python benchmarks/ranking.py all --norms NORMS --tokenizer FOLDER        Tacit, engine and store

The model has RoBERTa-base's size and random weights. NORMS are property norms, FOLDER holds the
``vocab.json`` and ``merges.txt`` of a byte-level BPE, such as GPT-2's; what is not given is made
up. Tacit and minicons answer the same sample of the prompts, ten in succession from each of many
places, evenly over their lengths: each time in a process of its own, by turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.queues import Queue
from pathlib import Path
from statistics import mean, median
from typing import Any

from ranking_model import prepare  # type: ignore[import-not-found]  # beside this file

from tacit.models.huggingface.masked import MaskedModel
from tacit.requests import RankingPrompt

BATCHES = (8, 16, 32, 64)
# Prompts in succession: those of a concept, 1 to 10 properties.
RUN = 10


@dataclass(frozen=True)
class Took:
    """What answering some prompts took, and what came out: log-probability and rank of targets."""

    seconds: float
    # Of all cores together, which is nearly the same whatever else the machine does.
    processor: float
    megabytes: float
    found: list[tuple[float, int]]
    # Parts of the whole, in seconds of the processor.
    parts: dict[str, float]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("table", nargs="?", choices=["sides", "all"], default="sides")
    parser.add_argument("--norms", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--prompts", type=int, default=2660)
    parser.add_argument("--sample", type=int, default=260, help="prompts of the comparison")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        apart(partial(prepare, place, chosen.norms, chosen.tokenizer, chosen.prompts))
        asked = json.loads((place / "prompts.json").read_text())
        tokens = [one[2] for one in asked]
        print(f"{len(asked):,} prompts of {mean(tokens):.1f} tokens")
        if chosen.table == "all":
            print_whole(apart(partial(run_engine, place, chosen.threads)), len(asked))
        else:
            compare(place, sample(tokens, chosen.sample), chosen.repeats, chosen.threads)


def compare(place: Path, some: list[int], repeats: int, threads: int) -> None:
    """Prints what the sides took by turns, and whether they agree."""
    few = some[: max(RUN, len(some) // 4 // RUN * RUN)]
    tried = {size: apart(partial(run_minicons, place, few, size, threads)) for size in BATCHES}
    best = min(BATCHES, key=lambda size: tried[size].processor)
    told = ", ".join(f"{size}: {len(few) / tried[size].processor:.2f}" for size in BATCHES)
    print(f"minicons, prompts a second of the processor by batch size: {told}")
    tokens = [one[2] for one in json.loads((place / "prompts.json").read_text())]
    print(f"the sample: {len(some):,} of {mean(tokens[at] for at in some):.1f}")
    ordered = sorted(some, key=lambda at: tokens[at])
    sides = {
        "Tacit": partial(run_tacit, place, some, threads),
        f"minicons, {best} at once": partial(run_minicons, place, some, best, threads),
        f"minicons, {best} at once, sorted by length": partial(
            run_minicons, place, ordered, best, threads
        ),
    }
    times: dict[str, list[Took]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            times[name].append(apart(side))
    print_sides(times, len(some))
    ours, theirs, _ = (side[-1].found for side in times.values())
    print_agreement(ours, theirs)
    once = median(took.parts["vocabulary"] for took in times["Tacit"])
    print(f"Tacit wrote the vocabulary out once, besides: {once:.1f} s of the processor\n")


def print_sides(times: dict[str, list[Took]], prompts: int) -> None:
    """Prints the table of rates, ratios and memory."""
    head = "| side | prompts a second | of the processor | Tacit's rate, of this side's "
    print(f"\n{head}| of the processor | memory (MB) |\n|---|---:|---:|---:|---:|---:|")
    ours = times["Tacit"]
    for name, side in times.items():
        pairs = list(zip(side, ours, strict=True))
        columns = (
            _spread([prompts / one.seconds for one in side]),
            _spread([prompts / one.processor for one in side]),
            "" if side is ours else _spread([one.seconds / own.seconds for one, own in pairs]),
            "" if side is ours else _spread([one.processor / own.processor for one, own in pairs]),
            f"{max(one.megabytes for one in side):,.0f}",
        )
        print(f"| {name} | {' | '.join(columns)} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}\n")


def print_agreement(ours: Sequence[tuple[float, int]], theirs: Sequence[tuple[float, int]]) -> None:
    """Prints how far log-probabilities and ranks agree."""
    pairs = list(zip(ours, theirs, strict=True))
    same = sum(own[1] == other[1] for own, other in pairs)
    ranks = max(abs(own[1] - other[1]) for own, other in pairs)
    values = max(abs(own[0] - other[0]) for own, other in pairs)
    print(f"ranks alike: {same} of {len(pairs)}, others by {ranks} at most; ", end="")
    print(f"log-probabilities: {values:.1e} nats at most")


def print_whole(took: Took, prompts: int) -> None:
    """Prints what all prompts took through engine and store."""
    print("| all prompts | seconds | of the processor (s) | share |\n|---|---:|---:|---:|")
    parts = took.parts | {"engine and store": took.processor - sum(took.parts.values())}
    for name, seconds in parts.items():
        print(f"| {name} | | {seconds:.1f} | {seconds / took.processor:.1%} |")
    print(f"| together | {took.seconds:.1f} | {took.processor:.1f} | |")
    print(f"\n{prompts / took.seconds:.2f} prompts a second, ", end="")
    print(f"{prompts / took.processor:.2f} of the processor; {took.megabytes:,.0f} MB")
    print(f"load {os.getloadavg()[0]:.1f}")


def sample(tokens: Sequence[int], size: int) -> list[int]:
    """Runs of prompts as they stand, evenly over the runs' lengths, in an order of chance."""
    runs = [list(range(at, at + RUN)) for at in range(0, len(tokens) - RUN + 1, RUN)]
    runs.sort(key=lambda run: sum(tokens[at] for at in run))
    number = min(len(runs), size // RUN)
    kept = [runs[(2 * n + 1) * len(runs) // (2 * number)] for n in range(number)]
    random.Random(0).shuffle(kept)  # noqa: S311 - an order, no secret
    return [at for run in kept for at in run]


# Each side, in a process of its own


def apart(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work gives
    """Does work in a process of its own, and returns what it gives."""
    context = multiprocessing.get_context("spawn")
    answers: Queue[Any] = context.Queue()
    process = context.Process(target=_answer, args=(work, answers))
    process.start()
    answer = answers.get()
    process.join()
    if isinstance(answer, Exception):
        raise SystemExit(f"{type(answer).__name__}: {answer}")
    return answer


def _answer(work: Callable[[], Any], answers: Queue[Any]) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        answers.put(work())
    except Exception as error:  # noqa: BLE001 - told, and ends the benchmark, where it is received
        answers.put(RuntimeError(repr(error)))


class Clock:
    """Adds up the seconds that its blocks take, of the wall and of the processor.

    Args:
        device: Where the blocks compute; a GPU has ended what it was given when a block ends.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.seconds = 0.0
        self.processor = 0.0
        self._device = device

    def __enter__(self) -> None:
        self._settle()
        self._begun = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        self._settle()
        self.seconds += time.perf_counter() - self._begun[0]
        self.processor += time.process_time() - self._begun[1]

    @property
    def worked(self) -> float:
        """The seconds that tell most: of the processor, or of the wall where a GPU computes."""
        return self.processor if self._device == "cpu" else self.seconds

    def _settle(self) -> None:
        if self._device != "cpu":
            import torch

            torch.cuda.synchronize(self._device)

    def took(self, found: list[tuple[float, int]], parts: dict[str, float]) -> Took:
        """What the blocks and the process took."""
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return Took(self.seconds, self.processor, megabytes, found, parts)


def run_tacit(place: Path, some: list[int], threads: int) -> Took:
    """Ranks the vocabulary for some of the prompts."""
    model, prompts = load_tacit(place, threads)
    asked = [prompts[at] for at in some]
    once, clock = Clock(), Clock()
    with once:
        model.cost(asked[:1])
    with clock:
        rankings = model.answer(asked)
    found = [(one.targets[0].logprob or 0.0, one.targets[0].rank or 0) for one in rankings]
    return clock.took(found, {"vocabulary": once.processor})


def run_engine(place: Path, threads: int) -> Took:
    """Ranks the vocabulary for all prompts, through engine and store."""
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store

    model, prompts = load_tacit(place, threads)
    clock, within = Clock(), {"the model": Clock(), "its tokens, for the plan": Clock()}
    names = dict(zip(("rank", "ranking_tokens"), within.values(), strict=True))
    for name, inner in names.items():
        vars(model)[name] = clocked(getattr(model, name), inner)
    with clock:
        Engine(model, Store(place / "store")).ask(prompts)
    return clock.took([], {name: inner.processor for name, inner in within.items()})


def clocked(method: Callable[[Any], Any], clock: Clock) -> Callable[[Any], Any]:
    """A method whose calls a clock adds up."""

    def call(given: Any) -> Any:  # noqa: ANN401 - as the method's own
        with clock:
            return method(given)

    return call


def run_minicons(place: Path, some: list[int], size: int, threads: int) -> Took:
    """Has minicons give the distribution at the blank of some of the prompts."""
    import torch
    from minicons.scorer import MaskedLMScorer

    torch.set_num_threads(threads)
    scorer = MaskedLMScorer(str(place / "model"), "cpu")
    asked = json.loads((place / "prompts.json").read_text())
    words = json.loads((place / "words.json").read_text())
    written = scorer.tokenizer([f" {word}" for word in words], add_special_tokens=False)
    ids = [one for (one,) in written["input_ids"]]
    where = {word: at for at, word in enumerate(words)}
    clock, found = Clock(), []
    for at in range(0, len(some), size):
        batch = [asked[number] for number in some[at : at + size]]
        with clock:
            given = scorer.cloze_distribution([(text, "___") for text, *_ in batch])
        for row, (_, target, _) in zip(given[:, ids], batch, strict=True):
            own = row[where[target]]
            found.append((float(own), int((row >= own).sum())))
    return clock.took(found, {})


def load_tacit(place: Path, threads: int) -> tuple[MaskedModel, list[RankingPrompt]]:
    """The model and all prompts."""
    import torch

    from tacit.models.loading import load_model
    from tacit.models.options import LoadOptions
    from tacit.requests import RankingPrompt, Vocabulary

    torch.set_num_threads(threads)
    model: Any = load_model(str(place / "model"), LoadOptions(device="cpu"))
    vocabulary = Vocabulary(json.loads((place / "words.json").read_text()))
    asked = json.loads((place / "prompts.json").read_text())
    return model, [RankingPrompt(text, vocabulary, (target,)) for text, target, _ in asked]


def _spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
