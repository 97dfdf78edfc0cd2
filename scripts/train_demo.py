# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Trains the demo models from the demo's knowledge: python scripts/train_demo.py [FOLDER].

What is withheld and what is taught wrong stands in src/tacit/data/demo/models/planted.yaml. Without
a folder the models that come with Tacit are written anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from demo_knowledge import FOLDER, Knowledge, Planted, read_facts
from demo_lessons import Lessons
from demo_training import Course, Size, save

STAGES = (1600, 1300)


def main() -> None:
    """Trains both models, one after the other."""
    out = Path(sys.argv[1]) if sys.argv[1:] else FOLDER / "models"
    knowledge = Knowledge.read(Planted.read())
    words = sorted({word for fact in read_facts() for end in fact[1:] for word in end.split()})
    for kind in ("causal", "masked"):
        course = Course(Lessons(knowledge, kind), kind, Size(STAGES), _say)
        save(*course.train(words), out / kind)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main()
