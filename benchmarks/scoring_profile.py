"""Where the time of Tacit's packed scoring goes, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ranking import Clock, clocked  # type: ignore[import-not-found]  # beside this file
from scoring_sides import Task, body_of, load_tacit  # type: ignore[import-not-found]
from transformers import PreTrainedModel


@dataclass(frozen=True)
class Profile:
    """Seconds of the processor, by stage, and of all together."""

    stages: dict[str, float]
    whole: float


def run(task: Task) -> Profile:
    """Scores a task's prompts, every stage by a clock."""
    model: Any = load_tacit(task)
    clocks = {
        name: Clock() for name in ("tokens", "trees", "packs", "model", "head", "passes", "scores")
    }
    watch(model, "_encode", clocks["tokens"])
    watch(model, "_work", clocks["trees"])
    watch(model, "_scored", clocks["scores"])
    watch(model, "prepare", clocks["packs"])
    watch(model._passes, "score", clocks["passes"])  # noqa: SLF001 - no other tells
    around(body_of(model), clocks["model"])
    around(body_of(model).get_output_embeddings(), clocks["head"])
    whole = Clock()
    prompts = task.prompts
    with whole:
        model.answer(prompts)
    spent = {name: clock.processor for name, clock in clocks.items()}
    stages = {
        "tokenizing": spent["tokens"],
        "the prefix tree": spent["trees"],
        "packing": spent["packs"] - spent["tokens"] - spent["trees"],
        "the model's layers": spent["model"] - spent["head"],
        "its head": spent["head"],
        "log-sum-exp and reading off": spent["passes"] - spent["model"],
        "putting scores together": spent["scores"],
    }
    return Profile(stages, whole.processor)


def watch(holder: object, name: str, clock: Clock) -> None:
    """Has a clock add up a function's calls."""

    def call(*given: object) -> Any:  # noqa: ANN401 - as the function's own
        return clocked(lambda all_given: function(*all_given), clock)(given)

    function: Callable[..., Any] = getattr(holder, name)
    setattr(holder, name, call)


def around(module: PreTrainedModel, clock: Clock) -> None:
    """Has a clock add up a module's passes."""
    module.register_forward_pre_hook(lambda *_: clock.__enter__())
    module.register_forward_hook(lambda *_: clock.__exit__())


def print_profile(work: str, profile: Profile) -> None:
    """Prints the stages."""
    print(f"| {work} | of the processor (s) | share |\n|---|---:|---:|")
    rest = {"the rest": profile.whole - sum(profile.stages.values())}
    for name, seconds in (profile.stages | rest).items():
        print(f"| {name} | {seconds:.2f} | {seconds / profile.whole:.1%} |")
    print(f"| together | {profile.whole:.2f} | |\n", flush=True)
