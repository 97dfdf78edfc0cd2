"""What computing in bfloat16 or float16 changes; the table of docs/performance.md, "Precision".

python benchmarks/precision.py [MODEL…] [--most N] [--device cuda]

The models, the demo's two without any given, are asked all statements about the demo's things and
all background questions behind it, or the first N of each, in each number format. Counted are the
questions whose likeliest answer is another than in float32.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from ranking import Clock  # type: ignore[import-not-found]  # beside this file

from tacit.requests import Prompt, Scores

Dtype = Literal["float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = ("float32", "bfloat16", "float16")
REPEATS = 3


@dataclass(frozen=True)
class Answered:
    """How a model answered in one number format, and the seconds it took."""

    scores: Sequence[Scores]
    seconds: Sequence[float]


def main() -> None:
    """Prints the table."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("models", nargs="*", default=["demo", "demo-masked"])
    parser.add_argument("--most", type=int, help="prompts of each kind")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    sets = {
        "statements about parts": parts()[: chosen.most],
        "background questions": background()[: chosen.most],
    }
    print("| model | questions | format | answered otherwise | largest difference | time |")
    print("|---|---|---|---:|---:|---:|")
    for name in chosen.models:
        for what, prompts in sets.items():
            answered = {dtype: ask(name, dtype, chosen.device, prompts) for dtype in DTYPES}
            for dtype, one in answered.items():
                print(f"| {name} | {what} | {dtype} | {row_text(one, answered['float32'])} |")
    print(f"\nload {os.getloadavg()[0]:.1f}")


def ask(name: str, dtype: Dtype, device: str, prompts: Sequence[Prompt]) -> Answered:
    """Scores the prompts some times."""
    from tacit.models.loading import load_model
    from tacit.models.options import LoadOptions

    model = load_model(name, LoadOptions(dtype=dtype, device=device))
    model.answer(prompts[:1])  # the first is slow for any
    seconds = []
    for _ in range(REPEATS):
        clock = Clock(device)
        with clock:
            scores = model.answer(prompts)
        seconds.append(clock.worked)
    return Answered(scores, seconds)


def row_text(one: Answered, exact: Answered) -> str:
    """The columns of one format: flipped answers, nats, and the time as a share of float32's."""
    pairs = list(zip(one.scores, exact.scores, strict=True))
    flipped = sum(likeliest(ours) != likeliest(theirs) for ours, theirs in pairs)
    largest = max(
        abs(a.logprob - b.logprob)
        for ours, theirs in pairs
        for a, b in zip(ours.answers, theirs.answers, strict=True)
        if a.logprob is not None and b.logprob is not None
    )
    ratio = median(one.seconds) / median(exact.seconds)
    return (
        f"{flipped:,} of {len(pairs):,} ({flipped / len(pairs):.2%}) | {largest:.2g} | {ratio:.2f}"
    )


def likeliest(score: Scores) -> str:
    """The answer with the highest log-probability."""
    known = [one for one in score.answers if one.logprob is not None]
    return max(known, key=lambda one: one.logprob or 0.0).answer if known else ""


def parts() -> Sequence[Prompt]:
    """Every statement about the parts of the demo's things."""
    from tacit.probes.parts.probe import PartsProbe
    from tacit.sources.demo import THINGS

    return PartsProbe.read(THINGS).prompts


def background() -> Sequence[Prompt]:
    """The background questions of the demo, behind each meta-prompt with each pair of words."""
    from tacit.knowledge.background import background as facts_of
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.probes.consistency.options import ConsistencyOptions
    from tacit.probes.consistency.probe import ConsistencyProbe
    from tacit.sources.demo import FACTS, QUESTIONS
    from tacit.sources.dumps import Dump
    from tacit.sources.questions import read_anchors

    anchors = read_anchors(QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        build(KnowledgeSource([Dump(FACTS)]), Path(folder) / "facts.kb")
        with KnowledgeBase(Path(folder) / "facts.kb") as base:
            known = facts_of(base, [(one.question, *one.choices) for one in anchors])
    probe = ConsistencyProbe(ConsistencyOptions(QUESTIONS, Path(folder)), anchors, known)
    return [prompt for prompt in dict.fromkeys(probe.prompts) if len(prompt.answers) == 2]  # noqa: PLR2004


if __name__ == "__main__":
    main()
