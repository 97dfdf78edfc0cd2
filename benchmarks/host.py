"""What scoring costs the host beside the model; the table "The host" of docs/performance.md.

python benchmarks/host.py --drawings FOLDER --tokenizer FOLDER --dump FILE... --questions FILE

A causal model of one layer of width 16 is asked all questions of the drawings, and the background
questions of 1,000 facts: plan, tokenization, packing, reading back and storing take nearly all of
the time. The seconds that torch spends inside the model's forward passes, and in normalising its
logits over the vocabulary, are told apart, and subtracted: a GPU would do these. What is not given
is taken from the demo.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

    from tacit.requests import Prompt


@dataclass(frozen=True)
class Took:
    """Seconds of the processor, by stage; ``wall`` of the clock."""

    prompts: int
    plan: float
    ask: float
    model: float
    wall: float

    @property
    def host(self) -> float:
        """All but the model."""
        return self.plan + self.ask - self.model


def main() -> None:
    """Prints a row for each work and turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--drawings", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--dump", type=Path, nargs="*", default=[])
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", choices=["parts", "facts"])
    parser.add_argument("--profile", action="store_true", help="Print where the time goes.")
    chosen = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(chosen.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = str(chosen.threads > 1).lower()
    works = [chosen.only] if chosen.only else ["parts", "facts"]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        asked = prepare(folder, chosen)
        print("| work | prompts | plan (s) | ask (s) | model (s) | host (s) | prompts a second |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for work in works:
            for _ in range(chosen.turns):
                took = run(folder, asked[work], profile=chosen.profile)
                print(
                    f"| {work} | {took.prompts:,} | {took.plan:.2f} | {took.ask:.2f} | "
                    f"{took.model:.2f} | {took.host:.2f} | {took.prompts / took.wall:,.0f} |",
                    flush=True,
                )


def prepare(folder: Path, chosen: argparse.Namespace) -> dict[str, Sequence[Prompt]]:
    """Writes the model; the prompts of each work."""
    import torch
    from scoring_work import (  # type: ignore[import-not-found]  # beside this file
        DEMO,
        Sources,
        causal_tokenizer,
        consistency,
        fact_prompts,
    )
    from transformers import GPT2Config, GPT2LMHeadModel

    from tacit.probes.parts.probe import PartsProbe

    torch.set_num_threads(chosen.threads)
    own = causal_tokenizer(chosen.tokenizer)
    torch.manual_seed(0)
    end = own.eos_token_id
    config = GPT2Config(
        vocab_size=len(own), n_layer=1, n_embd=16, n_head=2, bos_token_id=end, eos_token_id=end
    )
    GPT2LMHeadModel(config).save_pretrained(folder / "causal")
    own.save_pretrained(folder / "causal")
    asked: dict[str, Sequence[Prompt]] = {}
    if chosen.only != "facts":
        asked["parts"] = PartsProbe.read(chosen.drawings or DEMO / "things").prompts
    if chosen.only != "parts":
        given = {"dumps": tuple(chosen.dump)} if chosen.dump else {}
        if chosen.questions:
            given["questions"] = chosen.questions
        asked["facts"] = fact_prompts(consistency(folder, Sources(**given)), chosen.facts)
    return asked


def run(folder: Path, prompts: Sequence[Prompt], *, profile: bool) -> Took:
    """Plans and asks all prompts of a model that is loaded anew, into a store of its own."""
    from ranking import Clock  # type: ignore[import-not-found]  # beside this file

    from tacit.engine.ask import Engine
    from tacit.engine.store import Store
    from tacit.models.huggingface import packed_passes
    from tacit.models.loading import LoadOptions, load_model

    model = load_model(str(folder / "causal"), LoadOptions(device="cpu"))
    inner: torch.nn.Module = model._model  # type: ignore[attr-defined]  # noqa: SLF001 - timed
    clocks = {name: Clock() for name in ("plan", "ask", "model")}
    inner.register_forward_pre_hook(lambda *_: clocks["model"].__enter__())
    inner.register_forward_hook(lambda *_: clocks["model"].__exit__())
    normalise: Callable[..., torch.Tensor] = vars(packed_passes)["read_values"]

    def timed(*given: Any) -> torch.Tensor:  # noqa: ANN401 - as of the function
        with clocks["model"]:
            return normalise(*given)

    vars(packed_passes)["read_values"] = timed
    profiler = cProfile.Profile()
    with tempfile.TemporaryDirectory() as place:
        engine = Engine(model, Store(place))
        if profile:
            profiler.enable()
        with clocks["plan"]:
            plan = engine.plan(prompts, Path(place) / "blocks.parquet")
            plan.record(Path(place) / "blocks.parquet")
        with clocks["ask"]:
            found = engine.ask(prompts, plan)
        profiler.disable()
    if profile:
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(45)
    vars(packed_passes)["read_values"] = normalise
    if len(found) != len(prompts):
        raise RuntimeError(f"{len(found)} answers to {len(prompts)} prompts")
    spent = {name: clock.processor for name, clock in clocks.items()}
    wall = clocks["plan"].seconds + clocks["ask"].seconds - clocks["model"].seconds
    return Took(len(prompts), spent["plan"], spent["ask"], spent["model"], wall)


if __name__ == "__main__":
    main()
