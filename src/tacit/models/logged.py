"""Answers that another program has computed and logged, as a model that has no others."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import DataError, MissingPackage, ModelError, PromptError
from tacit.models.base import by_kind
from tacit.models.options import LoadOptions
from tacit.options import sha256_of
from tacit.requests import ZERO, AnswerScore, Prompt, Scores
from tacit.tables import check_file, read_json_lines

Values = Mapping[tuple[str, str], float]
"""The log-probability of each continuation, in nats, by context and continuation."""

_TASK = re.compile(r"samples_(.+)_\d{4}-\d{2}-\d{2}T.*\.jsonl")
_OTHER_TEXT = (
    "another text was asked than the prompt: run the task without a chat template, a system "
    "instruction, a description and examples"
)


class LoggedModel:
    """A model that answers only the prompts in a log; see ``LanguageModel``."""

    supports = frozenset({Prompt})

    def __init__(self, name: str, values: Values, about: Mapping[str, Any]) -> None:
        self.name = name
        self._values = values
        content = json.dumps(sorted((*key, value) for key, value in values.items()))
        self.fingerprint = hashlib.sha256(f"logged {content}".encode()).hexdigest()
        self.description = {"name": name, "fingerprint": self.fingerprint, **about}

    def cost(self, requests: Sequence[Any]) -> list[int]:
        """Count the answers; raise an error if one is missing from the log."""
        prompts = [one for one in requests if isinstance(one, Prompt)]
        missing = [one for one in prompts if not all(key in self._values for key in _keys(one))]
        if missing:
            raise PromptError(
                f"{self.name} has no answer to {len(missing):,} of {len(prompts):,} prompts, such "
                f"as {missing[0].shown}: give the options and the data of the export, and the logs "
                "of all of its tasks, without --limit"
            )
        return by_kind(requests, {Prompt: lambda some: [len(one.answers) for one in some]})

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        """Return the logged scores; the log does not say how many tokens an answer has."""
        self.cost(requests)
        return [Scores(tuple(self._scores(one))) for one in requests]

    def _scores(self, prompt: Prompt) -> Iterator[AnswerScore]:
        for answer, key in zip(prompt.answers, _keys(prompt), strict=True):
            value = self._values[key]
            if value == -math.inf:
                yield AnswerScore(answer, None, 0, missing=ZERO)
            else:
                yield AnswerScore(answer, value, 0)


def _keys(prompt: Prompt) -> list[tuple[str, str]]:
    return [(prompt.text, prompt.separator + answer) for answer in prompt.answers]


def load_lm_eval(name: str, _: LoadOptions) -> LoggedModel:
    """Return the model of a log that lm-evaluation-harness wrote with ``--log_samples``.

    The part of ``name`` after the colon is a file of samples, or a folder of such files.
    """
    path = Path(name.partition(":")[2])
    files = sorted(path.glob("samples_*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise ModelError(
            f"{path} has no file samples_….jsonl: name the folder that the harness made in "
            "--output_path, and run it with --log_samples"
        )
    tasks = Counter(found[1] for file in files if (found := _TASK.fullmatch(file.name)))
    for task, number in tasks.items():
        if number > 1:
            raise ModelError(
                f"{path} has {number} logs of the task {task}, which may be of different models: "
                "move the logs of one run to a folder of their own"
            )
    values: dict[tuple[str, str], float] = {}
    for file in files:
        for line, record in read_json_lines(file):
            for key, value in _sampled(record, file, line):
                values.setdefault(key, value)
    about = {"kind": "lm-eval", "logs": {k: v for f in files for k, v in sha256_of(f).items()}}
    return LoggedModel(name, values, {**about, **_settings(files[0].parent)})


def _sampled(
    record: Mapping[str, Any], file: Path, line: int
) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield each scored continuation of a document, with its context."""
    try:
        document = record["doc"]
        asked = [(document["text"], each) for each in document["continuations"]]
        sent = [(each["arg_0"], each["arg_1"]) for each in record["arguments"].values()]
        values = [float(each[0][0]) for each in record["resps"]]
        found = list(zip(asked, values, strict=True))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(
            "is not a sample of a task that `tacit export lm-eval` wrote, with the keys doc, "
            "arguments and resps",
            file,
            line,
        ) from error
    if sent != asked:
        raise DataError(_OTHER_TEXT, file, line)
    for key, value in found:
        if math.isnan(value) or value > 0:
            raise DataError(f"{value} is no log-probability (of {key[1]!r})", file, line)
        yield key, value


def _settings(folder: Path) -> dict[str, Any]:
    """Return what the harness wrote about its model; empty unless one run's results are there."""
    files = list(folder.glob("results_*.json"))
    if len(files) != 1:
        return {}
    try:
        found = json.loads(files[0].read_text(encoding="utf-8"))
        config = found["config"]
        about = {"model": config["model"], "model_args": config["model_args"]}
        version = found.get("lm_eval_version")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"is not a file of results of lm-eval: {error}", files[0]) from error
    return {
        "parameters": config.get("model_num_parameters"),
        "lm_eval": {**about, "version": version},
    }


def load_inspect(name: str, _: LoadOptions) -> LoggedModel:
    """Return the model of a log that ``inspect eval tacit/PROBE`` wrote."""
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError as error:
        raise MissingPackage("inspect_ai", "inspect") from error
    path = Path(name.partition(":")[2])
    check_file(path)
    try:
        header = read_eval_log(str(path), header_only=True)
        samples = list(read_eval_log_samples(str(path), all_samples_required=False))
    except Exception as error:  # of any of the libraries with which it reads
        raise DataError(f"cannot be read as a log of inspect_ai: {error}", path) from error
    if header.status != "success":
        raise DataError(f"the evaluation did not end well: {header.status}", path)
    values: dict[tuple[str, str], float] = {}
    for sample in samples:
        key, value = _in_inspect(sample, path)
        values.setdefault(key, value)
    versions = {"model": header.eval.model, "packages": header.eval.packages}
    about = {"kind": "inspect", "logs": sha256_of(path), "inspect_ai": versions}
    return LoggedModel(name, values, about)


def _in_inspect(sample: Any, path: Path) -> tuple[tuple[str, str], float]:  # noqa: ANN401 - an EvalSample
    """Return the log-probability of a sample's continuation, the sum over its last tokens."""
    try:
        context = sample.metadata["text"]
        (continuation,) = sample.metadata["continuations"]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the sample {sample.id!r} is of no task of tacit/…", path) from error
    if sample.input != context + continuation:
        raise DataError(f"{_OTHER_TEXT} (sample {sample.id!r})", path)
    found = sample.output.choices[0].prompt_logprobs if sample.output.choices else None
    if found is None:
        raise DataError(
            f"the sample {sample.id!r} has no log-probabilities of its prompt: use a model of "
            "vllm-completions or openai-api-completions whose server returns prompt_logprobs",
            path,
        )
    text, value = "", 0.0
    for token in reversed(found.content):
        if len(text) >= len(continuation):
            break
        text, value = token.token + text, value + token.logprob
    if not text.endswith(continuation):
        raise DataError(
            f"the last tokens of the sample {sample.id!r} are {text!r} and not {continuation!r}",
            path,
        )
    return (context, continuation), value
