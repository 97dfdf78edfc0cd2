"""How fast answers are scored; the tables of docs/performance.md, "Scoring".

python benchmarks/scoring.py facts  SOURCES     background facts: the harness, and 84 inputs naively
python benchmarks/scoring.py parts  SOURCES     statements about the parts of things
python benchmarks/scoring.py anchors SOURCES    choices of questions
python benchmarks/scoring.py seq2seq SOURCES    background facts, by a model of T5-small's size
python benchmarks/scoring.py masked SOURCES     blanks, beside minicons
python benchmarks/scoring.py growth SOURCES     100 to 10,000 facts, by a small model
python benchmarks/scoring.py profile SOURCES    where Tacit's time goes

SOURCES are ``--dumps FILE…`` of a knowledge base, ``--questions FILE``, ``--drawings FOLDER``,
``--norms FILE`` and ``--tokenizer FOLDER`` (``vocab.json`` and ``merges.txt`` of a byte-level BPE,
such as GPT-2's); what is not given is the demo's. ``--model`` is a size of which the weights are
random, or the folder of a causal model; ``--device`` and ``--dtype`` say where and how it computes.
All sides of a table score the same prompts: each time in a process of its own, by turns. The peers
have their best batch size of ``--batches``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import ranking  # type: ignore[import-not-found]  # beside this file
import ranking_model  # type: ignore[import-not-found]
import scoring_profile  # type: ignore[import-not-found]
import scoring_sides as sides  # type: ignore[import-not-found]
from ranking import apart
from scoring_counts import Work  # type: ignore[import-not-found]
from scoring_sides import Scored, Task
from scoring_work import (  # type: ignore[import-not-found]
    DEMO,
    Sizes,
    Sources,
    prepare,
    prepare_growth,
)

Side = Callable[[], Scored]

BATCHES = (8, 32, 64)
FACTS = (100, 300, 1000, 3000, 10_000)
FORMS = 24
_TRIED = 200
LEFT_OUT = ("plain", "engine", "naive", "harness", "minicons")
MODELS = ("gpt2", "opt-1.3b")
TABLES = ("facts", "parts", "anchors", "seq2seq", "masked", "growth", "profile")


def main() -> None:
    """Prints the tables that are asked for; all where none is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--dumps", type=Path, nargs="+", default=[DEMO / "facts.tsv"])
    parser.add_argument("--questions", type=Path, default=DEMO / "questions.jsonl")
    parser.add_argument("--drawings", type=Path, default=DEMO / "things")
    parser.add_argument("--norms", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--facts", type=int, default=24)
    parser.add_argument("--some-drawings", type=int, default=2)
    parser.add_argument("--anchors", type=int, default=8)
    parser.add_argument("--masked", type=int, default=100, help="prompts with a blank")
    parser.add_argument("--without", nargs="+", default=[], choices=LEFT_OUT)
    parser.add_argument("--most", type=int, default=FACTS[-1], help="facts of the table growth")
    parser.add_argument("--model", default="gpt2", help=f"{', '.join(MODELS)} or a folder")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, …; masked is measured on cpu")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES, help="tried by peers")
    chosen = parser.parse_args()
    if chosen.model not in MODELS and not Path(chosen.model).is_dir():
        parser.error(f"--model {chosen.model}: expected {', '.join(MODELS)} or a folder")
    if unknown := set(chosen.tables) - set(TABLES):
        parser.error(f"{', '.join(sorted(unknown))}: the tables are {', '.join(TABLES)}")
    with tempfile.TemporaryDirectory() as folder:
        print_table(chosen, Path(folder))


def print_table(chosen: argparse.Namespace, place: Path) -> None:
    """Prints the tables."""
    asked = chosen.tables or TABLES
    sources = Sources(tuple(chosen.dumps), chosen.questions, chosen.drawings, chosen.tokenizer)
    if {"facts", "parts", "anchors", "seq2seq", "profile"} & set(asked):
        sizes = Sizes(chosen.facts, chosen.some_drawings, chosen.anchors)
        apart(partial(prepare, place, sources, sizes, chosen.model, chosen.dtype))
    own = sides.Task(place, "causal", "", chosen.threads, device=chosen.device, dtype=chosen.dtype)
    for table in asked:
        print(f"\n### {table}\n", flush=True)
        if table == "masked":
            print_masked(chosen, place / "masked")
        elif table == "growth":
            print_growth(chosen, sources, replace(own, place=place / "growth", work="facts"))
        elif table == "profile":
            for work in ("facts", "parts", "anchors"):
                task = replace(own, work=work)
                scoring_profile.print_profile(work, apart(partial(scoring_profile.run, task)))
        else:
            task = replace(own, work=table)
            if table == "seq2seq":
                task = replace(own, model="t5", work="facts")
            compare(task, chosen.repeats, sides_of(table, task, chosen))
        print(f"\nload {os.getloadavg()[0]:.1f}", flush=True)


def sides_of(table: str, task: Task, chosen: argparse.Namespace) -> Mapping[str, Side]:
    """Who scores the prompts of a table, Tacit first, less those that are left out."""
    without, sizes = chosen.without, chosen.batches
    peers: dict[str, Side] = {}
    if "harness" not in without:
        tried, run = sides.try_harness, sides.run_harness
        peers |= peer("lm-evaluation-harness", tried, run, task, sizes)
    if table == "seq2seq":
        return {"Tacit": partial(sides.run_tacit, task), **peers}
    if "minicons" not in without:
        peers |= peer("minicons", sides.try_minicons, sides.run_minicons, task, sizes)
    own = {"Tacit, packed": partial(sides.run_tacit, task)}
    plain = {"Tacit, plain": partial(sides.run_tacit, task, packing=False)}
    engine = {"Tacit, packed, engine and store": partial(sides.run_engine, task)}
    naive = {"84 inputs naively": partial(sides.run_naively, task)}
    more = {"plain": plain, "engine": engine if table == "facts" else {}}
    for name, side in more.items():
        own |= {} if name in without else side
    named = table == "facts" and "naive" not in without
    return {**own, **peers, **(naive if named else {})}


def peer(
    name: str,
    trial: Callable[[Task, Sequence[int]], dict[int, float]],
    run: Callable[[Task, int], Scored],
    task: Task,
    sizes: Sequence[int],
) -> dict[str, Side]:
    """Another program with its best batch size, found with some of the prompts."""
    few = replace(task, part=min(_TRIED, max(1, len(task.prompts) // 6)))
    tried: dict[int, float] = apart(partial(trial, few, sizes))
    best = min(sizes, key=lambda size: tried[size])
    told = ", ".join(f"{size}: {tried[size]:.1f} s" for size in sizes)
    print(f"{name} with {few.part} of the prompts, by batch size: {told}\n", flush=True)
    return {f"{name}, {best} at once": partial(run, task, best)}


def compare(task: Task, repeats: int, asked: Mapping[str, Side]) -> None:
    """Prints what the sides took by turns, what the token counts allow, and if they agree."""
    times: dict[str, list[Scored]] = {name: [] for name in asked}
    for _ in range(repeats):
        for name, run in asked.items():
            took = apart(run)
            times[name].append(took)
            said = f"{name}: {took.seconds:.1f} s, {took.processor:.1f} s of the processor"
            print(said, file=sys.stderr, flush=True)
    ours = next(iter(times.values()))
    print(f"{len(task.prompts):,} prompts, {len(ours[0].found):,} answers\n")
    print_times(times)
    least = ours[0].needed and (ours[0].needed, ours[0].needed_flops)
    print_work(times, least)
    if least:
        print_useful(ours)
    for name, side in times.items():
        pairs = zip(ours[0].found, side[-1].found, strict=True)
        off = max(abs(one - other) for one, other in pairs)
        print(f"{name}: log-probabilities differ by {off:.1e} nats at most")


def print_times(times: dict[str, list[Scored]]) -> None:
    """Prints the table of times, ratios and memory."""
    head = "| side | seconds | of the processor | Tacit is quicker by | of the processor "
    print(f"{head}| memory (MB) |\n|---|---:|---:|---:|---:|---:|")
    ours = next(iter(times.values()))
    for name, side in times.items():
        pairs = list(zip(side, ours, strict=True))
        columns = (
            spread([one.seconds for one in side], 1),
            spread([one.processor for one in side], 1),
            "" if side is ours else spread([one.seconds / own.seconds for one, own in pairs]),
            "" if side is ours else spread([one.processor / own.processor for one, own in pairs]),
            f"{max(one.megabytes for one in side):,.0f}",
        )
        print(f"| {name} | {' | '.join(columns)} |")
    print(flush=True)


def print_work(times: dict[str, list[Scored]], least: tuple[Work, float] | None) -> None:
    """Prints what was computed; beside the tree, each ratio is the ceiling of Tacit's gain."""
    print("| side | tokens | of the tree's | logits at | GFLOP | of the tree's |")
    print("|---|---:|---:|---:|---:|---:|")
    counts = {"the prefix tree": least} if least else {}
    counts |= {name: (side[0].work, side[0].flops) for name, side in times.items()}
    for name, (work, flops) in counts.items():
        columns = [f"{work.tokens:,}", "-", f"{work.heads:,}", "-", "-"]
        if least:
            columns[1] = f"{work.tokens / least[0].tokens:.2f}"
            columns[3:] = f"{flops / 1e9:,.0f}", f"{flops / least[1]:.2f}"
        print(f"| {name} | {' | '.join(columns)} |")
    print(flush=True)


def print_useful(ours: Sequence[Scored]) -> None:
    """Prints what useful arithmetic Tacit does in a second, beside what the device could."""
    rates = [took.needed_flops / took.worked / 1e9 for took in ours]
    print(f"useful GFLOP/s: {spread(rates, 1)}")
    for name, peaks in (
        ("the model's own matrix products", [took.peak / 1e9 for took in ours]),
        ("a large matrix product", [took.largest / 1e9 for took in ours]),
    ):
        shares = [rate / most for rate, most in zip(rates, peaks, strict=True)]
        print(f"{name}: {spread(peaks, 1)} GFLOP/s; share: {spread(shares)}")
    tokens = [took.needed.tokens / took.worked for took in ours if took.needed]
    print(f"the tree's tokens a second: {spread(tokens, 0)}\n")


def print_masked(chosen: argparse.Namespace, place: Path) -> None:
    """Prints what ranking a vocabulary at blanks takes, and what the token counts allow."""
    place.mkdir()
    apart(partial(ranking_model.prepare, place, chosen.norms, chosen.tokenizer, 2660))
    lengths = [one[2] for one in json.loads((place / "prompts.json").read_text())]
    some = ranking.sample(lengths, chosen.masked)
    ranking.compare(place, some, chosen.repeats, chosen.threads)
    own = [lengths[at] for at in some]
    for size in ranking.BATCHES:
        batches = [own[at : at + size] for at in range(0, len(own), size)]
        padded = sum(max(batch) * len(batch) for batch in batches)
        print(f"minicons, {size} at once: {padded:,} tokens and logits, ", end="")
        print(f"{padded / sum(own):.2f} of the {sum(own):,} needed, with {len(own):,} logits")


def print_growth(chosen: argparse.Namespace, sources: Sources, task: Task) -> None:
    """Prints how time grows with the number of facts."""
    task.place.mkdir()
    apart(partial(prepare_growth, task.place, sources, chosen.most))
    known = len(task.prompts) // FORMS
    print("| facts | tokens | seconds | of the processor (s) | a fact (ms) | memory (MB) |")
    print("|---:|---:|---:|---:|---:|---:|")
    for facts in dict.fromkeys(min(known, size) for size in FACTS):
        took = apart(partial(sides.run_engine, replace(task, part=facts * FORMS)))
        each = 1000 * took.processor / facts
        print(f"| {facts:,} | {took.work.tokens:,} | {took.seconds:.1f} | ", end="")
        print(f"{took.processor:.1f} | {each:.1f} | {took.megabytes:,.0f} |", flush=True)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, and the least and most."""
    low, middle, high = (f"{x:,.{digits}f}" for x in (min(values), median(values), max(values)))
    return middle if len(values) == 1 else f"{middle} ({low} to {high})"


if __name__ == "__main__":
    main()
