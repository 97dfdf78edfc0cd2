"""How long a knowledge base takes; the tables of docs/performance.md, "Knowledge base".

python benchmarks/knowledge.py DUMP… --questions QUESTIONS     import, then ask
python benchmarks/knowledge.py --base KB --questions QUESTIONS     ask alone

DUMP is one that ``conceptnet_dump.py`` writes, ConceptNet's own, or files of triples, which make
one knowledge base. The import runs in a process of its own, whose memory is the highest that it
had at any time. Each time of a question is from its text to its facts, in a process where words,
lexicon and knowledge base are open; negatives are told apart.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from statistics import median

import polars as pl

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
from tacit.knowledge.facts import concepts_in, facts_between
from tacit.knowledge.negatives import negatives
from tacit.knowledge.words import Words
from tacit.sources.dumps import Dump
from tacit.sources.questions import Anchor, read_anchors

# Questions that are asked one at a time, evenly over the file.
ALONE = 20
_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Imported:
    """What an import took."""

    lines: int
    seconds: float
    # Of both cores together, which is the same whatever else the machine does.
    processor: float
    megabytes: float


@dataclass(frozen=True)
class Asked:
    """How many facts questions had, and what these and their negatives took."""

    facts: int
    seconds: float
    processor: float
    negatives: float


def main() -> None:
    """Prints the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dumps", nargs="*", type=Path, metavar="DUMP")
    parser.add_argument("--base", type=Path, help="ask this knowledge base; import nothing")
    parser.add_argument("--questions", type=Path, required=True)
    chosen = parser.parse_args()
    if bool(chosen.dumps) == bool(chosen.base):
        parser.error("name dumps, or a knowledge base with --base")
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(
        dir=chosen.dumps[0].parent if chosen.dumps else None
    ) as folder:
        base = chosen.base or Path(folder) / "base.kb"
        if chosen.dumps:
            print_import(imported(chosen.dumps, base), base)
        print_questions(base, read_anchors(chosen.questions))
    print(f"load {os.getloadavg()[0]:.1f}")


def imported(dumps: Sequence[Path], out: Path) -> Imported:
    """Imports the dumps in a process of its own."""
    context = multiprocessing.get_context("spawn")
    answers: Queue[Imported] = context.Queue()
    process = context.Process(target=run_import, args=(dumps, out, answers))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"the import ended with {process.exitcode}")
    return answers.get()


def run_import(dumps: Sequence[Path], out: Path, answers: Queue[Imported]) -> None:
    """Imports the dumps and says what it took."""
    begun = time.perf_counter()
    read = [Dump(path) for path in dumps]
    build(KnowledgeSource(read), out)
    seconds = time.perf_counter() - begun
    lines = sum(dump.lines for dump in read)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers.put(Imported(lines, seconds, time.process_time(), kilobytes / 1024))


def print_import(took: Imported, base: Path) -> None:
    """Prints the table of an import."""
    with KnowledgeBase(base) as opened:
        edges, concepts = opened.about["edges"], opened.about["concepts"]
    counted = "| lines | edges | concepts | seconds | lines a second | of the processor (s) "
    print(f"{counted}| memory (MB) | file (MB) |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    counts = f"| {took.lines:,} | {edges:,} | {concepts:,} | {took.seconds:,.1f} "
    rate = f"| {took.lines / took.seconds:,.0f} | {took.processor:,.1f} "
    print(
        f"{counts}{rate}| {took.megabytes:,.0f} | {base.stat().st_size / _MEGABYTE:,.0f} |\n",
        flush=True,
    )


def print_questions(path: Path, anchors: Sequence[Anchor]) -> None:
    """Prints the table of questions, alone and all together."""
    words = Words()
    words.parts(["Words and their lexicon are loaded."])
    step = len(anchors) // ALONE or 1
    with KnowledgeBase(path) as base:
        first = asked(base, words, anchors[:1])
        alone = [asked(base, words, [anchor]) for anchor in anchors[::step][:ALONE]]
        together = asked(base, words, anchors)
    print("| questions | facts | facts (s) | of the processor (s) | their negatives (s) |")
    print("|---|---:|---:|---:|---:|")
    print(f"| the first, on opening the file | {_row([first])}")
    print(f"| one of {len(alone)}: median (least to most) | {_row(alone)}")
    print(f"| all {len(anchors):,} | {_row([together])}\n")


def asked(base: KnowledgeBase, words: Words, anchors: Sequence[Anchor]) -> Asked:
    """Asks for the facts of questions, then for their negatives."""
    begun, worked = time.perf_counter(), time.process_time()
    facts = facts_of(base, words, anchors)
    found, worked = time.perf_counter(), time.process_time() - worked
    negatives(base, facts.select("head", "relation", "tail").unique(maintain_order=True))
    return Asked(facts.height, found - begun, worked, time.perf_counter() - found)


def facts_of(base: KnowledgeBase, words: Words, anchors: Sequence[Anchor]) -> pl.DataFrame:
    """The facts of questions, L = 1, the 14 relations of Sahu et al. (2022)."""
    texts = [(anchor.question, *anchor.choices) for anchor in anchors]
    read = iter(words.parts([part for parts in texts for part in parts]))
    found = concepts_in(base, [[next(read) for _ in parts] for parts in texts])
    members = found.filter("counts").select("anchor", "concept").unique(maintain_order=True)
    return facts_between(base, members, base.chosen())


def _row(times: Sequence[Asked]) -> str:
    columns = (
        f"{median(asked.facts for asked in times):,.0f}",
        _spread([asked.seconds for asked in times]),
        _spread([asked.processor for asked in times]),
        _spread([asked.negatives for asked in times]),
    )
    return " | ".join(columns) + " |"


def _spread(seconds: Sequence[float]) -> str:
    if len(seconds) == 1:
        return f"{seconds[0]:.3f}"
    return f"{median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})"


if __name__ == "__main__":
    main()
