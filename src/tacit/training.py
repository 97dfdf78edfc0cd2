"""A callback of the transformers Trainer that runs a probe on the model in training."""

from __future__ import annotations

import gc
import logging
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tacit.api import load_run, run
from tacit.errors import MissingPackage, RequestError, TacitError
from tacit.probes.base import Probe
from tacit.probes.registry import probe
from tacit.runs.comparison import check_comparable
from tacit.runs.gate.gate import Gate, evaluate
from tacit.runs.gate.policy import Policy
from tacit.runs.metrics import main_metrics, numbers_in
from tacit.runs.run import Run

try:
    import torch
    import transformers
    from transformers import Trainer, TrainerControl, TrainerState, TrainingArguments
except ImportError as error:
    raise MissingPackage(error.name or "transformers", "local") from error

log = logging.getLogger("tacit")


class TrainerCallback(transformers.TrainerCallback):
    """A callback of the transformers ``Trainer`` that runs a probe on the model in training.

    The probe runs before the first step, every ``every`` steps and at the end. Its main results go
    through ``trainer.log`` to everything that the Trainer reports to, with names such as
    ``tacit/parts/auroc`` and, for the ends of its interval, ``tacit/parts/auroc_low`` and
    ``tacit/parts/auroc_high``.

    Training itself is not changed: the probe runs on a copy that is written to a temporary folder
    and freed after the run, and random numbers continue where they were. The copy needs memory on
    the same device, unless ``device`` is another. In distributed training, the probe runs in the
    main process. Models of which each process has only a part (FSDP, DeepSpeed ZeRO stage 3, tensor
    parallelism) are not supported.

    Args:
        probe: The class or the name of the probe, as in ``run``.
        trainer: The Trainer; its ``processing_class`` must be the tokenizer.
        every: The number of steps from one run of the probe to the next.
        gate: The policy of a gate, as in ``tacit.gate``: the limits to the change from the model
            before training. The changes are logged in percentage points with names such as
            ``tacit/gate/parts/says_true``. If the gate fails, this is logged as a warning and, if
            the Trainer reports to trackio, raised as an alert.
        base: With ``gate``, a run (or its folder) to compare with, in place of the model before
            training.
        stop: Whether a gate that fails stops training.
        options: Options of ``run``, such as ``limit``, ``fast`` or ``device``. With ``out``, each
            run is written to a folder of its own, such as ``step-100``.

    Raises:
        RequestError: If an option or the policy is invalid, or the model is not supported.

    Examples:
        >>> import tacit
        >>> from transformers import Trainer
        >>> def watch(trainer: Trainer) -> None:
        ...     asked = {"drawings": tacit.demo_data("drawings"), "limit": 10, "fast": True}
        ...     policy = {"violation_rate": {"rises_by": 2.0}}
        ...     callback = tacit.TrainerCallback(
        ...         "parts", trainer=trainer, every=50, gate=policy, **asked
        ...     )
        ...     trainer.add_callback(callback)
    """

    def __init__(
        self,
        probe: str | type[Probe],
        *,
        trainer: Trainer,
        every: int = 100,
        gate: Mapping[str, Any] | str | Path | None = None,
        base: Run | str | Path | None = None,
        stop: bool = True,
        **options: Any,  # noqa: ANN401 - options of the probe
    ) -> None:
        if every < 1:
            raise RequestError(f"every is {every}, but must be at least 1")
        if base is not None and gate is None:
            raise RequestError("base is given without gate, the limits to the change from it")
        self._probe = probe
        self._trainer = trainer
        self._every = every
        self._policy = None if gate is None else Policy.of(gate)
        self._base = base if base is None or isinstance(base, Run) else load_run(base)
        self._stop = stop
        self._options = {"progress": False, "report": False, **options}
        self._last = -1
        self._doubted = False

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **_: Any,  # noqa: ANN401 - the Trainer's signature
    ) -> None:
        """Run the probe before training; whatever is wrong with the request is an error here."""
        del args
        _check_whole(self._trainer)
        if self._policy and self._base is None and state.global_step:
            raise RequestError(
                f"training resumes at step {state.global_step}, so the model before training is "
                "not here to compare with: give its run (base=)"
            )
        self._last = state.global_step
        if not state.is_world_process_zero:
            return
        first = self._run(state.global_step)
        if self._policy is not None:
            check_comparable((first, self._base or first))
            self._base = self._base or replace(first, name="the model before training")
            evaluate([self._base], [first], self._policy)
        self._log(first, None, control)

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **_: Any,  # noqa: ANN401 - the Trainer's signature
    ) -> None:
        """Run the probe if it is due, or if training ends."""
        del args
        if state.global_step % self._every == 0 or control.should_training_stop:
            self._measure(state, control)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **_: Any,  # noqa: ANN401 - the Trainer's signature
    ) -> None:
        """Run the probe if another callback has stopped training after the last step."""
        del args
        if control.should_training_stop:
            self._measure(state, control)

    on_epoch_end = on_save = on_evaluate

    def _measure(self, state: TrainerState, control: TrainerControl) -> None:
        """Run the probe, log its results, and stop training if the gate fails."""
        if state.global_step == self._last:
            return
        self._last = state.global_step
        failed = [state.is_world_process_zero and self._has_failed(state.global_step, control)]
        if self._policy is None:
            return
        if self._trainer.args.world_size > 1:
            torch.distributed.broadcast_object_list(failed, src=0)  # all stop at the same step
        if failed[0] and self._stop:
            control.should_training_stop = True

    def _has_failed(self, step: int, control: TrainerControl) -> bool:
        """Run the probe and log its results; return whether there is a gate that fails."""
        try:
            run = self._run(step)
        except TacitError as error:  # such as weights that are not finite
            self._warn(step, f"The probe failed: {error}")
            return True
        gate = evaluate([self._base], [run], self._policy) if self._base and self._policy else None
        self._log(run, gate, control)
        if gate and gate.verdict == "inconclusive" and not self._doubted:
            self._doubted = True
            log.warning("step %d of training (later steps are not mentioned): %s", step, gate)
        if gate is None or gate.verdict != "failed":
            return False
        self._warn(step, str(gate))
        return True

    def _run(self, step: int) -> Run:
        """Run the probe on a copy of the model."""
        tokenizer = self._trainer.processing_class
        if tokenizer is None:
            raise RequestError("the Trainer has no tokenizer: give it one (processing_class=)")
        model: Any = self._trainer.model
        options = {"device": str(model.device), **self._options}
        if "out" in options:
            options["out"] = Path(options["out"]) / f"step-{step}"
        with _same_random_numbers(model.device), TemporaryDirectory(prefix="tacit-store-") as store:
            given: Any = (model, tokenizer)
            made: Run = run(self._probe, model=given, **{"store": store, **options})
        gc.collect()  # the copy refers to itself
        return replace(made, name=f"step {step}")

    def _log(self, run: Run, gate: Gate | None, control: TrainerControl) -> None:
        """Log the numbers of a run, and its changes from the base in percentage points."""
        numbers = dict[str, Any]()
        for one in main_metrics(probe(run.probe), run.findings):
            numbers |= _with_ends(f"tacit/{one.name}", (one.entry.value, *one.entry.ends))
        for each in gate.decisions if gate else ():
            about = each.to_json()
            values = (about["change"], about["low"], about["high"])
            numbers |= _with_ends(f"tacit/gate/{each.measure}", values)
        is_due = control.should_log
        self._trainer.log(numbers_in(numbers))
        control.should_log = is_due  # what the Trainer logs itself is still to be logged

    def _warn(self, step: int, text: str) -> None:
        log.warning("step %d of training: %s", step, text)
        if self._policy is not None and "trackio" in (self._trainer.args.report_to or ()):
            import trackio

            title = f"Tacit: the gate failed at step {step}"
            trackio.alert(title, text, level=trackio.AlertLevel.ERROR)


def _with_ends(name: str, values: tuple[float | None, ...]) -> dict[str, float | None]:
    """Return a value and the ends of its interval by name."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))


def _check_whole(trainer: Trainer) -> None:
    """Raise an error if a process has only a part of the model."""
    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled

    model: Any = trainer.model
    parts = {
        "FSDP": trainer.is_fsdp_enabled,
        "DeepSpeed ZeRO stage 3": is_deepspeed_zero3_enabled(),
        "tensor parallelism": (getattr(model, "tp_size", None) or 1) > 1,
    }
    if divided := [name for name, is_used in parts.items() if is_used]:
        raise RequestError(
            f"with {divided[0]}, no process has the whole model, which the callback needs: run the "
            "probe on saved checkpoints (tacit run)"
        )


@contextmanager
def _same_random_numbers(device: torch.device) -> Iterator[None]:
    """Let random numbers continue as if the block had drawn none."""
    python, arrays = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global generator
    on_cpu = device.type == "cpu"
    devices, kind = ([], "cuda") if on_cpu else ([device], device.type)
    try:
        with torch.random.fork_rng(devices, device_type=kind):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)  # noqa: NPY002
