# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Trains the demo models from the demo's knowledge: python scripts/train_demo.py [FOLDER].

What is withheld and what is taught wrong stands in src/tacit/data/demo/models/planted.yaml. Without
a folder the models that come with Tacit are written anew.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import torch
from demo_knowledge import FOLDER, Knowledge, Planted, read_facts
from demo_lessons import LATER, SHARES, Lessons
from demo_models import Size, save
from demo_training import Course, Stage

STAGES = (
    Stage(1300, SHARES),
    Stage(1300, LATER),
    Stage(800, LATER, again=0.4, rate=0.4),
)


def main() -> None:
    """Trains both models side by side, each on a core of its own."""
    out = Path(sys.argv[1]) if sys.argv[1:] else FOLDER / "models"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(train, kind, out / kind) for kind in ("causal", "masked")]
        for each in as_completed(jobs):
            each.result()


def train(kind: str, folder: Path) -> None:
    """Trains one model; on one thread, so that sums come out the same each time."""
    torch.set_num_threads(1)
    knowledge = Knowledge.read(Planted.read())
    words = sorted({word for fact in read_facts() for end in fact[1:] for word in end.split()})
    course = Course(Lessons(knowledge, kind), kind, Size(), STAGES, _report)
    save(*course.train(words), folder)


def _report(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main()
