"""What a whole run of ParRoT costs the host; the table "The host" of docs/performance.md.

python benchmarks/host.py --drawings FOLDER --tokenizer FOLDER

``tacit run parts`` asks a causal model of one layer of width 16, in processes of its own: fresh,
and again with every answer in the score store. The script prints CPU seconds by stage, workers
included; ``model`` contains the forward passes and the normalisation of the logits.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

# The functions whose seconds make a stage; what they call of another stage is subtracted.
STAGES = {
    "load": ["tacit.models.loading:load_model"],
    "plan": ["tacit.runs.asking:requests_of", "tacit.engine.ask:Engine.plan"],
    "ask": ["tacit.engine.ask:Engine.ask"],
    "model": [],  # see time_model
    "measure": ["tacit.probes.parts.probe:PartsProbe.measure"],
    "repair": ["tacit.probes.parts.repair:repair"],
    "tables": ["tacit.runs.folder:RunFolder.finish"],
    "figures": ["tacit.report.sections:section", "tacit.probes.parts.details:graph_set"],
    "report": ["tacit.runs.run:Runs.report"],
}


def main() -> None:
    """Prints a row for each turn, fresh and cached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--drawings", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args()
    from scoring_work import DEMO  # type: ignore[import-not-found]  # beside this file

    names = ("start", *STAGES, "sum")
    print(f"| answers | {' | '.join(names)} |\n|---{'|---:' * len(names)}|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_model(folder / "causal", chosen.tokenizer)
        given = [
            "--drawings",
            str(chosen.drawings or DEMO / "things"),
            "--model",
            f"{folder}/causal",
        ]
        for turn in range(chosen.turns):
            for answers in ("fresh", "cached"):
                store, out = folder / f"store{turn}", folder / f"{answers}{turn}"
                own = ["--store", str(store), "--out", str(out)]
                print(f"| {answers} | {run([*given, *own])} |", flush=True)


def write_model(folder: Path, tokenizer: Path | None) -> None:
    """Writes the model, with random weights."""
    import torch
    from scoring_work import causal_tokenizer
    from transformers import GPT2Config, GPT2LMHeadModel

    own = causal_tokenizer(tokenizer)
    torch.manual_seed(0)
    end = own.eos_token_id
    config = GPT2Config(
        vocab_size=len(own), n_layer=1, n_embd=16, n_head=2, bos_token_id=end, eos_token_id=end
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    own.save_pretrained(folder)


def run(given: list[str]) -> str:
    """Runs Tacit in a process of its own, on one thread; the last line that it prints."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    done = subprocess.run(  # noqa: S603 - this file
        [sys.executable, __file__, "run", "parts", *given],
        env={**os.environ, **one, "TOKENIZERS_PARALLELISM": "false"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def processor() -> float:
    """Seconds of the processor of this process and of its children that ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


class Stages:
    """The seconds of each stage, without those of the stages inside it."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("start", *STAGES), 0.0)
        self._open = ["start"]
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What runs inside belongs to a stage."""
        self.settle()
        self._open.append(name)
        yield
        self.settle()
        self._open.pop()

    @property
    def innermost(self) -> str:
        """The stage that is running."""
        return self._open[-1]

    def settle(self) -> None:
        """Gives the seconds since the last change to the innermost stage."""
        now = processor()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose calls belong to a stage."""

        def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as of the function
            with self.stage(name):
                found = function(*given, **named)
                return found if not hasattr(found, "__next__") else iter(list(found))

        return call


def time_model(stages: Stages) -> None:
    """Gives the forward passes and the normalisation of logits to the stage ``model``."""
    import torch

    from tacit.models.huggingface.passes import Passes

    forward = torch.nn.Module.__call__
    Passes.score = stages.timed("model", Passes.score)  # type: ignore[method-assign]
    passing = stages.timed("model", forward)

    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as of the function
        outermost = stages.innermost == "ask"
        return (passing if outermost else forward)(*given, **named)

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]


def measured() -> None:
    """Runs the command line, and prints the seconds of its stages."""
    stages = Stages()
    for name, places in STAGES.items():
        for place in places:
            module, _, path = place.partition(":")
            *owner, attribute = path.split(".")
            of = reduce(getattr, owner, importlib.import_module(module))
            setattr(of, attribute, stages.timed(name, getattr(of, attribute)))
    from tacit.models import loading

    load = loading.load_model

    def loaded(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as of the function
        with stages.stage("load"):
            time_model(stages)
        return load(*given, **named)

    vars(loading)["load_model"] = loaded
    from tacit.cli import main as command

    try:
        command()
    finally:
        stages.settle()
        seconds = [*stages.seconds.values()]
        print(" | ".join(f"{each:.1f}" for each in (*seconds, sum(seconds))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        measured()
    else:
        main()
