"""The options for loading models in this process, and for describing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from tacit.errors import RequestError
from tacit.models.openai.options import ServerOptions, is_address
from tacit.options import option

_MODEL = "Model"
_FULL = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """Options for loading a model in this process, or for querying a server.

    Args:
        revision: A branch, tag or commit of a model on the Hugging Face hub.
        dtype: Number format of the weights. With ``auto``, unquantised weights are float32 on a
            CPU, and all other weights keep their stored format.
        device: The device that runs the model: ``auto``, ``cpu``, ``cuda``, ``cuda:1`` and so on.
        batch_tokens: Maximum number of tokens per forward pass, including padding. If None, the
            limit is 2048 tokens on a CPU and 16384 tokens on other devices.
        masked_mode: The mode in which masked models score answers of several tokens,
            ``left-to-right`` or ``one-at-a-time``.
        packing: Whether a causal model computes the common prefix of several prompts only once.
            Packing is used only if a check shows that it does not change scores, so this option
            affects only the run time.
        trust_remote_code: Whether Python code from the model's repository may run.
        allow_pickle: Whether pickled weights are loaded if there is no safetensors file.
        adapter: A folder with a PEFT adapter to apply to the model; None for no adapter.
        device_map: The device map, such as ``auto``, with which the package ``accelerate``
            distributes the model over several devices; None to load the whole model on ``device``.
        chat: Whether prompts are formatted as a chat with the tokenizer's chat template.
        server: Options for the connection to a server, used if the model's name is a server's
            address.

    Examples:
        >>> from tacit import LoadOptions
        >>> LoadOptions(dtype="bf16", device="cuda").dtype
        'bfloat16'
    """

    revision: str | None = option(
        None,
        help="Branch, tag or commit of a model on the Hugging Face hub.",
        group=_MODEL,
        rare=True,
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = option(
        "auto",
        help="Number format of the weights: auto (float32 on a CPU, the stored format on other "
        "devices), float32, bfloat16 or float16.",
        group=_MODEL,
        rare=True,
    )
    device: str = option(
        "auto",
        help="Device that runs the model: auto, cpu, cuda, cuda:1, …",
        group=_MODEL,
        requested=False,
    )
    batch_tokens: int | None = option(
        None,
        help="Maximum number of tokens in one forward pass [default: chosen for the device].",
        least=1,
        group=_MODEL,
        requested=False,
        rare=True,
    )
    masked_mode: Literal["left-to-right", "one-at-a-time"] = option(
        "left-to-right",
        help="How a masked model scores an answer of several tokens: left-to-right (later tokens "
        "are masked) or one-at-a-time (only the scored token is masked).",
        group=_MODEL,
        rare=True,
    )
    packing: bool = option(
        default=True,
        flags=("--packing/--no-packing",),
        help="Whether a prefix that several prompts share is computed only once.",
        group=_MODEL,
        requested=False,
        rare=True,
    )
    trust_remote_code: bool = option(
        default=False,
        help="Allow Python code from the model's repository to run.",
        group=_MODEL,
        requested=False,
        permits=True,
        rare=True,
    )
    allow_pickle: bool = option(
        default=False,
        help="Load pickled weights (pytorch_model.bin) if the model has no safetensors file.",
        group=_MODEL,
        requested=False,
        permits=True,
        rare=True,
    )
    adapter: Path | None = option(
        None,
        help="A folder with a PEFT adapter for the model, such as a LoRA adapter.",
        group=_MODEL,
        rare=True,
    )
    device_map: Literal["auto", "balanced", "balanced_low_0", "sequential"] | None = option(
        None,
        help="How to distribute a large model over several devices: auto, balanced or sequential.",
        group=_MODEL,
        requested=False,
        rare=True,
    )
    chat: bool = option(
        default=False,
        help="Format prompts with the tokenizer's chat template, so that the answer is the start "
        "of the assistant's turn.",
        group=_MODEL,
    )
    server: ServerOptions = field(default_factory=ServerOptions)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", _FULL.get(self.dtype, self.dtype))
        if self.adapter is not None:
            object.__setattr__(self, "adapter", Path(self.adapter))

    @property
    def _idle(self) -> list[str]:
        """The flags of the options that are set and have no effect on a server."""
        own = [one for one in fields(self) if one.name != "server"]
        changed = [one.name for one in own if getattr(self, one.name) != one.default]
        return [f"--{name.replace('_', '-')}" for name in changed]

    def of(self, models: Sequence[str], *, from_file: bool = False) -> LoadOptions:
        """Return the options for models; ``from_file`` says that a file names their addresses.

        Raises:
            RequestError: If an option applies to none of the models.
        """
        server, idle = self.server, self._idle if models and all(map(is_address, models)) else []
        if idle:
            raise RequestError(
                f"{' and '.join(idle)}: only for models in this process, and {models[0]} is a "
                "server: omit them"
            )
        if server.api != "completions" and models and not any(map(is_address, models)):
            hint = "; use --chat for a model in this process" if server.api == "chat" else ""
            raise RequestError(f"--api {server.api} applies only to a server{hint}")
        server.check_api()
        return replace(self, server=replace(server, from_file=from_file))


@dataclass(frozen=True)
class DescribedOptions:
    """Options that describe models (see ``tacit.models.families``) without changing scores."""

    family: list[str] | None = option(
        None,
        help="Assign a model to a family; models of different families are not compared by size "
        "[default: the checkpoint's model_type]; repeatable.",
        metavar="NAME=FAMILY",
        group=_MODEL,
        requested=False,
        rare=True,
    )
    parameters: list[str] | None = option(
        None,
        help="Number of parameters of the model NAME, such as 350M or 1.3B [default: counted in "
        "the checkpoint]; repeatable.",
        metavar="NAME=NUMBER",
        group=_MODEL,
        requested=False,
        rare=True,
    )

    def of(self, models: Sequence[str]) -> dict[str, dict[str, str | int]]:
        """Return the user-specified family and number of parameters of each model."""
        from tacit.models.families import described

        return described(models, self.family, self.parameters)


@dataclass(frozen=True)
class ModelOptions:
    """The options of all models of a run."""

    load: LoadOptions = field(default_factory=LoadOptions)
    described: DescribedOptions = field(default_factory=DescribedOptions)
