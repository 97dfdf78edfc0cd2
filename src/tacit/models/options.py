"""The options for loading models in this process, and for describing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Literal

from tacit.errors import RequestError
from tacit.models.openai.options import ServerOptions, is_address
from tacit.options import option
from tacit.strings import last_part

_model = partial(option, group="Model")
_rare = partial(_model, rare=True)
_FULL = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """Options for loading a model in this process, or for querying a server.

    Examples:
        >>> from tacit import LoadOptions
        >>> LoadOptions(dtype="bf16", device="cuda").dtype
        'bfloat16'
    """

    revision: str | None = _rare(
        None, help="Branch, tag or commit of a model on the Hugging Face hub."
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = _rare(
        "auto",
        help="Number format of the weights: auto (float32 on a CPU, the stored format on other "
        "devices), float32, bfloat16 or float16.",
    )
    device: str = _model(
        "auto", help="Device that runs the model: auto, cpu, cuda, cuda:1, …", requested=False
    )
    batch_tokens: int | None = _rare(
        None,
        help="Maximum number of tokens in one forward pass [default: chosen for the device].",
        least=1,
        requested=False,
    )
    masked_mode: Literal["left-to-right", "one-at-a-time"] = _rare(
        "left-to-right",
        help="How a masked model scores an answer of several tokens: left-to-right (later tokens "
        "are masked) or one-at-a-time (only the scored token is masked).",
    )
    packing: bool = _rare(
        default=True,
        flags=("--packing/--no-packing",),
        help="Whether a prefix that several prompts share is computed only once.",
        requested=False,
    )
    trust_remote_code: bool = _rare(
        default=False,
        help="Allow Python code from the model's repository to run.",
        requested=False,
        permits=True,
    )
    allow_pickle: bool = _rare(
        default=False,
        help="Load pickled weights (pytorch_model.bin) if the model has no safetensors file.",
        requested=False,
        permits=True,
    )
    adapter: Path | None = _rare(
        None, help="A folder with a PEFT adapter for the model, such as a LoRA adapter."
    )
    device_map: Literal["auto", "balanced", "balanced_low_0", "sequential"] | None = _rare(
        None,
        help="How to distribute a large model over several devices: auto, balanced or sequential.",
        requested=False,
    )
    chat: bool = _model(
        default=False,
        help="Format prompts with the tokenizer's chat template, so that the answer is the start "
        "of the assistant's turn.",
    )
    server: ServerOptions = field(default_factory=ServerOptions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", _FULL.get(self.dtype, self.dtype))
        if self.adapter is not None:
            object.__setattr__(self, "adapter", Path(self.adapter))

    def of(self, models: Sequence[str], *, from_file: bool = False) -> LoadOptions:
        server, served = self.server, [*map(is_address, models)]
        own = [one for one in fields(self) if one.name != "server"]
        changed = [one.name for one in own if getattr(self, one.name) != one.default]
        if changed and models and all(served):
            idle = [f"--{name.replace('_', '-')}" for name in changed]
            raise RequestError(
                f"{' and '.join(idle)}: only for models in this process, and {models[0]} is a "
                "server: omit them"
            )
        if server.api != "completions" and models and not any(served):
            hint = "; use --chat for a model in this process" if server.api == "chat" else ""
            raise RequestError(f"--api {server.api} applies only to a server{hint}")
        server.check_api()
        return replace(self, server=replace(server, from_file=from_file))


@dataclass(frozen=True)
class DescribedOptions:
    """Options that describe models without changing scores."""

    family: list[str] | None = _rare(
        None,
        help="Assign a model to a family; models of different families are not compared by size "
        "[default: the checkpoint's model_type]; repeatable.",
        metavar="NAME=FAMILY",
        requested=False,
    )
    parameters: list[str] | None = _rare(
        None,
        help="Number of parameters of the model NAME, such as 350M or 1.3B [default: counted in "
        "the checkpoint]; repeatable.",
        metavar="NAME=NUMBER",
        requested=False,
    )

    def of(self, models: Sequence[str]) -> dict[str, dict[str, str | int]]:
        """Return each model's family and number of parameters, as the user specified them."""
        found: dict[str, dict[str, str | int]] = {model: {} for model in models}
        for model, family in _by_model("family", self.family or (), models).items():
            found[model]["family"] = family
        for model, number in _by_model("parameters", self.parameters or (), models).items():
            found[model]["parameters"] = parameters_in(number)
        return found


@dataclass(frozen=True)
class ModelOptions:
    load: LoadOptions = field(default_factory=LoadOptions)
    described: DescribedOptions = field(default_factory=DescribedOptions)


def parameters_in(text: str) -> int:
    """Convert a parameter count such as ``350M``, ``1.3B`` or ``124439808`` to an integer."""
    found = _NUMBER.fullmatch(text.strip())
    number = Decimal(found[1]) * _UNITS[found[2].upper()] if found else Decimal(0)
    if number < 1 or number != int(number):
        raise RequestError(
            f"{text!r} is not a number of parameters; expected a number such as 350M, 1.3B or "
            "124439808"
        )
    return int(number)


def _by_model(option: str, given: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Return the value of each model from entries such as ``NAME=FAMILY``."""
    found: dict[str, str] = {}
    for entry in given:
        # A server's address may contain an equals sign; a family or a number does not.
        name, _, value = map(str.strip, entry.rpartition("="))
        if not name or not value:
            raise RequestError(
                f"--{option} has an entry without a model's name or without a value; expected "
                f"NAME={'350M' if option == 'parameters' else 'FAMILY'}"
            )
        model = _named(option, name, models)
        if model in found:
            raise RequestError(f"--{option} is given twice for {model}: give it once")
        found[model] = value
    return found


def _named(option: str, name: str, models: Sequence[str]) -> str:
    """Find a model by its full name or, if none matches, by the last part of its path."""
    found = [model for model in models if name == model]
    found = found or [model for model in models if name == last_part(model)]
    if len(found) == 1:
        return found[0]
    problem = "several models are" if found else "no model is"
    raise RequestError(
        f"--{option} names {name!r}, but {problem} named so; expected one of {', '.join(models)}"
    )
