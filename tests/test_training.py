"""The callback of the Trainer: what it logs, that training is unchanged, and what stops it."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from transformers import Trainer, TrainerControl, TrainerState, TrainingArguments

import tacit
from tacit.errors import RequestError
from tacit.models.registry import DEMO, folder_of

ASKED: dict[str, Any] = {"drawings": tacit.demo_data("drawings"), "limit": 3, "fast": True}
SAYS_TRUE = "tacit/parts/says_true"
FLIPPED = {"flipped": {"above": 2.0}}
ENDS = {"says_true": {"rises_by": 0.0, "falls_by": 0.0}}
TIMES = ("train_runtime", "train_samples_per_second", "train_steps_per_second")


class Stopper(transformers.TrainerCallback):
    """Stops training at the end of a step, as early stopping does."""

    def on_step_end(self, args: Any, state: Any, control: TrainerControl, **_: Any) -> None:  # noqa: ANN401
        del args, state
        control.should_training_stop = True


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def trainer_of(folder: Path, **settings: object) -> Trainer:
    """The demo model and a few lines to train it on, with dropout."""
    transformers.set_seed(0)
    pdrop = dict.fromkeys(("attn_pdrop", "resid_pdrop", "embd_pdrop"), 0.1)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder_of(DEMO), dtype="float32", **pdrop
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(DEMO))
    lines = [tokenizer(f"the {part} is above the cup.") for part in ("tree", "egg", "car")]
    given: dict[str, Any] = {
        "output_dir": str(folder / "trained"),
        "max_steps": 4,
        "logging_steps": 1,
        "per_device_train_batch_size": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        **settings,
    }
    data = [{**line, "labels": line["input_ids"]} for line in lines]
    return Trainer(
        model,
        TrainingArguments(**given),
        train_dataset=data,
        eval_dataset=data,
        processing_class=tokenizer,
    )


def watched(folder: Path, options: dict[str, Any], **settings: object) -> Trainer:
    trainer = trainer_of(folder, **settings)
    trainer.add_callback(tacit.TrainerCallback("parts", trainer=trainer, **ASKED | options))
    trainer.train()
    return trainer


def steps_of(trainer: Trainer) -> list[int]:
    return [int(entry["step"]) for entry in trainer.state.log_history if SAYS_TRUE in entry]


def losses(trainer: Trainer) -> list[dict[str, float]]:
    """What the Trainer itself logs."""
    return [
        {name: value for name, value in entry.items() if name not in TIMES}
        for entry in trainer.state.log_history
        if not any(name.startswith("tacit/") for name in entry)
    ]


def test_training_is_unchanged_and_each_step_measured(tmp_path: Path, temporary: Path) -> None:
    """Losses and weights are equal in every bit; each step is logged as a run finds it."""
    plain = trainer_of(tmp_path, learning_rate=1e-2)
    plain.train()
    options = {"every": 3, "out": tmp_path / "runs", "gate": ENDS, "stop": False}
    trainer = watched(tmp_path, options, learning_rate=1e-2)
    assert not list(temporary.glob("tacit-*"))
    assert losses(trainer) == losses(plain)
    expected, model = plain.model, trainer.model
    assert expected is not None
    assert model is not None
    assert model.training == expected.training
    after = expected.state_dict()
    assert all(after[name].equal(value) for name, value in model.state_dict().items())

    assert steps_of(trainer) == [0, 3, 4]
    runs = {step: tacit.load_run(tmp_path / "runs" / f"step-{step}") for step in (0, 3, 4)}
    assert len({run.model["fingerprint"] for run in runs.values()}) == 3
    entries = [entry for entry in trainer.state.log_history if SAYS_TRUE in entry]
    for entry in entries:
        metrics = runs[int(entry["step"])].metrics
        for end in ("", "_low", "_high"):
            assert entry.get(f"{SAYS_TRUE}{end}") == metrics.get(f"parts/says_true{end}")
        assert f"{SAYS_TRUE}_n" not in entry
    own = tacit.run("parts", model=(model, trainer.processing_class), **ASKED)
    assert own.metrics == runs[4].metrics
    changes = [entry.get("tacit/gate/parts/says_true") for entry in entries]
    shares = [entry[SAYS_TRUE] for entry in entries]
    assert changes[0] is None
    assert changes[1:] == pytest.approx([100 * (share - shares[0]) for share in shares[1:]])


def test_a_gate_that_fails_stops_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With a warning and an alert of trackio."""
    alerts: list[tuple[str, str, str]] = []

    def alert(title: str, text: str, level: str) -> None:
        alerts.append((title, text, level))

    trackio = SimpleNamespace(alert=alert, AlertLevel=SimpleNamespace(ERROR="error"))
    monkeypatch.setitem(sys.modules, "trackio", trackio)
    trainer = trainer_of(tmp_path, learning_rate=0.5)
    trainer.args.report_to = ["trackio"]
    trainer.add_callback(
        tacit.TrainerCallback(
            "parts", trainer=trainer, every=2, gate=FLIPPED, **ASKED | {"limit": 10}
        )
    )
    trainer.train()
    assert trainer.state.global_step == 2
    ((title, text, level),) = alerts
    assert title == "Tacit: the gate failed at step 2"
    assert text.startswith("Gate: failed. Against the model before training")
    assert level == "error"
    assert text in caplog.text


def test_weights_that_are_not_finite_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Training stops with a gate, and goes on without one."""
    for options, steps in (({"gate": FLIPPED}, 2), ({}, 4)):
        trainer = watched(tmp_path, {"every": 2, **options}, learning_rate=1e38, max_grad_norm=0)
        assert trainer.state.global_step == steps
        assert "step 2 of training: The probe failed" in caplog.text


def test_another_base_and_an_early_stop(tmp_path: Path) -> None:
    """A run from elsewhere is compared with; the last step is measured whatever ended training."""
    base = tmp_path / "base"
    tacit.run("parts", model=DEMO, out=base, progress=False, **ASKED)
    trainer = trainer_of(tmp_path)
    callback = tacit.TrainerCallback("parts", trainer=trainer, gate=FLIPPED, base=base, **ASKED)
    trainer.add_callback(callback)
    trainer.add_callback(Stopper())
    trainer.train()
    assert steps_of(trainer) == [0, 1]


def test_early_stopping_measures_the_last_step(tmp_path: Path) -> None:
    """At the end of the second epoch, which is no better than the first."""
    trainer = trainer_of(
        tmp_path,
        max_steps=12,
        learning_rate=0.0,
        eval_strategy="epoch",
        metric_for_best_model="eval_loss",
    )
    trainer.add_callback(transformers.EarlyStoppingCallback())
    trainer.add_callback(tacit.TrainerCallback("parts", trainer=trainer, **ASKED))
    trainer.train()
    assert steps_of(trainer) == [0, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "every is 0"),
        ({"base": "runs"}, "base is given without gate"),
        ({"limits": 1}, "parts has no option 'limits'"),
        ({"gate": {"says": {"above": 1}}}, "says"),
        ({"gate": {"flips": {"above": 1}}}, "have no measure flips"),
        ({"gate": FLIPPED, "base": "other"}, "limit"),
    ],
)
def test_wrong_requests_are_refused_before_training(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if options.get("base") == "other":
        asked = ASKED | {"limit": 2}
        options = options | {"base": tacit.run("parts", model=DEMO, progress=False, **asked)}
    with pytest.raises(RequestError, match=message):
        watched(tmp_path, options)


def test_unsupported_trainers_are_refused(tmp_path: Path) -> None:
    """Sharded models, no tokenizer, and a gate whose base training has left behind."""
    trainer = trainer_of(tmp_path)
    control = TrainerControl()
    resumed = TrainerState(global_step=5)
    callback = tacit.TrainerCallback("parts", trainer=trainer, gate=FLIPPED, **ASKED)
    with pytest.raises(RequestError, match=r"resumes at step 5, .* give its run"):
        callback.on_train_begin(trainer.args, resumed, control)
    trainer.processing_class = None
    with pytest.raises(RequestError, match="processing_class="):
        callback.on_train_begin(trainer.args, TrainerState(), control)
    trainer.is_fsdp_enabled = True
    with pytest.raises(RequestError, match="with FSDP, no process has the whole model"):
        callback.on_train_begin(trainer.args, TrainerState(), control)


def test_only_the_main_process_runs_the_probe(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path)
    callback = tacit.TrainerCallback("parts", trainer=trainer, every=1, **ASKED)
    state = TrainerState(is_world_process_zero=False, global_step=1)
    callback.on_step_end(trainer.args, state, TrainerControl())
    assert not trainer.state.log_history


TWO_PROCESSES = """
import sys
from pathlib import Path
import torch
from tests.test_training import FLIPPED, steps_of, watched

trainer = watched(
    Path(sys.argv[1]),
    {"every": 2, "gate": FLIPPED, "limit": 10},
    learning_rate=0.5,
    ddp_backend="gloo",
)
state = trainer.state
rank = trainer.args.process_index
Path(sys.argv[1], str(rank)).write_text(f"{state.global_step} {steps_of(trainer)}")
torch.distributed.destroy_process_group()  # else gloo's threads can abort a process at its exit
"""


@pytest.mark.slow
def test_all_processes_stop_at_the_same_step(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO_PROCESSES)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    root = Path(__file__).parents[1]
    path = os.pathsep.join([str(root), str(root / "src")])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *launch, str(script), str(tmp_path)]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path, timeout=300)
    assert (tmp_path / "0").read_text() == "2 [0, 2]"
    assert (tmp_path / "1").read_text() == "2 []"


def test_a_lora_adapter_in_training_is_measured(tmp_path: Path) -> None:
    """The adapter's weights are part of the fingerprint and of the answers."""
    warnings.filterwarnings("ignore", category=FutureWarning)  # of transformers, used by peft
    peft = pytest.importorskip("peft")
    base = transformers.AutoModelForCausalLM.from_pretrained(folder_of(DEMO), dtype="float32")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder_of(DEMO))
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM", target_modules=["c_attn"], fan_in_fan_out=True
    )
    model = peft.get_peft_model(base, settings)
    asked = {**ASKED, "progress": False, "store": tmp_path / "store"}
    plain = tacit.run("parts", model=DEMO, **asked)
    before = tacit.run("parts", model=(model, tokenizer), **asked)
    assert before.tables["beliefs"].equals(plain.tables["beliefs"])
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.5)
    after = tacit.run("parts", model=(model, tokenizer), **asked)
    merged = tacit.run("parts", model=(model.merge_and_unload(), tokenizer), **asked)
    probabilities = [run.tables["beliefs"]["p_true"].to_list() for run in (before, after, merged)]
    assert probabilities[1] != pytest.approx(probabilities[0], abs=0.01)
    assert probabilities[1] == pytest.approx(probabilities[2], abs=1e-5)
    assert after.model["weights"] != before.model["weights"]
