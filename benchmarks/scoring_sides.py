"""Who scores the prompts of ``scoring.py``; each is run in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from ranking import Clock  # type: ignore[import-not-found]  # beside this file
from scoring_counts import Shape, Work, largest_peak, needed, peak  # type: ignore[import-not-found]
from scoring_work import read  # type: ignore[import-not-found]
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tacit.models.base import LanguageModel
from tacit.requests import Prompt, Scores


@dataclass(frozen=True)
class Task:
    """What is scored.

    Args:
        place: The folder that ``prepare`` wrote.
        model: Its folder there.
        work: ``facts``, ``parts``, ``anchors``.
        threads: How many the processor uses.
        part: Only the first so many prompts; all when None.
        device: Where the model computes.
        dtype: Its number format.
    """

    place: Path
    model: str
    work: str
    threads: int = 1
    part: int | None = None
    device: str = "cpu"
    dtype: str = "float32"

    @property
    def folder(self) -> str:
        """The model's."""
        return str(self.place / self.model)

    @property
    def prompts(self) -> list[Prompt]:
        """All that is asked."""
        prompts: list[Prompt] = read(self.place / f"{self.work}.json")[: self.part]
        return prompts


@dataclass(frozen=True)
class Scored:
    """What scoring took and gave.

    Args:
        seconds: Of the wall.
        processor: Seconds of all cores together, nearly the same whatever else the machine does.
        worked: The one of the two that tells more: the first where a GPU computes.
        megabytes: The most that the process had, or a GPU had of it.
        work: What went through the model, padding included.
        flops: That in floating-point operations; 0 where they are not counted.
        found: Every answer's log-probability in nats, in the prompts' order.
        needed: What would have to be, of Tacit's packed side alone.
        needed_flops: That in floating-point operations.
        peak: FLOP/s of the device at the model's own matrix products, measured right behind.
        largest: FLOP/s at one large matrix product.
    """

    seconds: float
    processor: float
    worked: float
    megabytes: float
    work: Work
    flops: float
    found: list[float]
    needed: Work | None = None
    needed_flops: float = 0.0
    peak: float = 0.0
    largest: float = 0.0


def run_tacit(task: Task, *, packing: bool = True) -> Scored:
    """Tacit's model, without engine and store; behind it the device's peak is measured."""
    model = load_tacit(task, packing=packing)
    clock, work, prompts = Clock(task.device), Work(), task.prompts
    if task.device != "cpu":
        model.answer(prompts[:1])  # the first is slow for any
    work.watch(body_of(model))
    with clock:
        scores = model.answer(prompts)
    scored = _scored(clock, work, body_of(model), _values(scores))
    if not packing or not scored.flops:
        return scored
    shape = Shape.of(body_of(model))
    like = body_of(model).get_input_embeddings().weight
    most = peak(shape, model.description["batch_tokens"], work, like)
    least = needed(model, prompts)
    return replace(
        scored,
        needed=least,
        needed_flops=shape.flops(least),
        peak=most,
        largest=largest_peak(like),
    )


def run_engine(task: Task) -> Scored:
    """Tacit as its probes use it: plan, blocks, an empty store."""
    from tacit.engine.ask import Engine
    from tacit.engine.store import Store

    model = load_tacit(task)
    clock, work, prompts = Clock(task.device), Work(), task.prompts
    with tempfile.TemporaryDirectory() as folder:
        # What the store imports at its first use is not part of the work.
        Engine(model, Store(Path(folder) / "first")).ask(prompts[:1])
        work.watch(body_of(model))
        with clock:
            scores = Engine(model, Store(Path(folder) / "store")).ask(prompts)
    return _scored(clock, work, body_of(model), _values(scores))


def run_harness(task: Task, size: int) -> Scored:
    """lm-evaluation-harness: all requests in one call."""
    model, requests = load_harness(task, size)
    model.loglikelihood(requests[:size], disable_tqdm=True)  # the first is slow for any
    clock, work = Clock(task.device), Work()
    work.watch(model.model)
    with clock:
        found = model.loglikelihood(requests, disable_tqdm=True)
    return _scored(clock, work, model.model, [value for value, _ in found])


def try_harness(task: Task, sizes: Sequence[int]) -> dict[int, float]:
    """Seconds that it takes, by batch size."""
    model, requests = load_harness(task, sizes[0])
    model.loglikelihood(requests[: sizes[0]], disable_tqdm=True)
    clocks = {size: Clock(task.device) for size in sizes}
    for size, clock in clocks.items():
        model.batch_size_per_gpu = size
        with clock:
            model.loglikelihood(requests, disable_tqdm=True)
    return {size: clock.worked for size, clock in clocks.items()}


def load_harness(task: Task, size: int) -> tuple[Any, list[Any]]:
    """Its model, and a task's requests."""
    import torch
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(task.threads)
    backend = "seq2seq" if task.model == "t5" else "causal"
    model = HFLM(
        task.folder, backend=backend, device=task.device, dtype=task.dtype, batch_size=size
    )
    between = "" if backend == "seq2seq" else None
    requests = [
        Instance("loglikelihood", {}, (one.text, _continued(one, answer, between)), number)
        for number, one in enumerate(task.prompts)
        for answer in one.answers
    ]
    return model, requests


def _continued(prompt: Prompt, answer: str, between: str | None) -> str:
    return (prompt.separator if between is None else between) + answer


def run_minicons(task: Task, size: int) -> Scored:
    """minicons, in batches of the prompts as they come."""
    model, asked = load_minicons(task)
    _minicons(model, asked[:size], size)
    clock, work = Clock(task.device), Work()
    work.watch(model.model)
    with clock:
        found = _minicons(model, asked, size)
    return _scored(clock, work, model.model, found)


def try_minicons(task: Task, sizes: Sequence[int]) -> dict[int, float]:
    """Seconds that it takes, by batch size."""
    model, asked = load_minicons(task)
    _minicons(model, asked[: sizes[0]], sizes[0])
    clocks = {size: Clock(task.device) for size in sizes}
    for size, clock in clocks.items():
        with clock:
            _minicons(model, asked, size)
    return {size: clock.worked for size, clock in clocks.items()}


def load_minicons(task: Task) -> tuple[Any, list[tuple[str, str, str]]]:
    """Its model; and text, separator and answer of all that is scored."""
    import torch
    from minicons.scorer import IncrementalLMScorer

    torch.set_num_threads(task.threads)
    model = IncrementalLMScorer(task.folder, task.device, dtype=getattr(torch, task.dtype))
    asked = [(one.text, one.separator, answer) for one in task.prompts for answer in one.answers]
    return model, asked


def _minicons(model: Any, asked: Sequence[tuple[str, str, str]], size: int) -> list[float]:  # noqa: ANN401 - it has no types
    found: list[float] = []
    for at in range(0, len(asked), size):
        texts, separators, answers = map(list, zip(*asked[at : at + size], strict=True))
        found += model.conditional_score(
            texts, answers, separator=separators, reduction=lambda tokens: tokens.sum(0).item()
        )
    return found


def run_naively(task: Task, size: int = 8) -> Scored:
    """Each input of each answer whole, in batches as they come; logits of every token."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(task.threads)
    tokenizer = AutoTokenizer.from_pretrained(task.folder)
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.eos_token, "right"
    dtype = getattr(torch, task.dtype)
    model = AutoModelForCausalLM.from_pretrained(task.folder, dtype=dtype).eval().to(task.device)
    asked = [(one.text, one.separator + answer) for one in task.prompts for answer in one.answers]
    with torch.inference_mode():
        list(_naive_batch(model, tokenizer, asked[:size]))
    clock, work = Clock(task.device), Work()
    work.watch(model)
    found: list[float] = []
    with clock, torch.inference_mode():
        for at in range(0, len(asked), size):
            found += _naive_batch(model, tokenizer, asked[at : at + size])
    return _scored(clock, work, model, found)


def _naive_batch(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, asked: Sequence[tuple[str, str]]
) -> Iterator[float]:
    texts = [text + rest for text, rest in asked]
    given = tokenizer(texts, return_tensors="pt", padding=True).to(model.device)
    begins = [len(ids) for ids in tokenizer([text for text, _ in asked])["input_ids"]]
    ids: torch.Tensor = given["input_ids"]
    values = model(**given).logits[:, :-1].log_softmax(dim=-1)
    values = values.gather(-1, ids[:, 1:, None])[..., 0]
    for row, begin, end in zip(values, begins, given["attention_mask"].sum(-1), strict=True):
        yield float(row[begin - 1 : end - 1].sum())


def load_tacit(task: Task, *, packing: bool = True) -> LanguageModel:
    """The model, as Tacit loads it."""
    import torch

    from tacit.models.loading import load_model
    from tacit.models.options import LoadOptions

    torch.set_num_threads(task.threads)
    dtype: Any = task.dtype
    return load_model(task.folder, LoadOptions(device=task.device, dtype=dtype, packing=packing))


def body_of(model: Any) -> PreTrainedModel:  # noqa: ANN401 - a local model
    """The torch model inside Tacit's, to count what it computes."""
    inner: PreTrainedModel = model._model  # noqa: SLF001 - the part that is measured
    return inner


def _values(scores: Sequence[Scores]) -> list[float]:
    return [one.logprob or 0.0 for score in scores for one in score.answers]


def _scored(clock: Clock, work: Work, model: PreTrainedModel, found: list[float]) -> Scored:
    import torch

    megabytes = clock.took([], {}).megabytes
    if model.device.type == "cuda":
        megabytes = torch.cuda.max_memory_allocated(model.device) / 2**20
    flops = 0.0 if model.config.is_encoder_decoder else Shape.of(model).flops(work)
    times = clock.seconds, clock.processor, clock.worked
    return Scored(*times, megabytes, work, flops, found)
