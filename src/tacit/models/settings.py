"""Command-line options for loading local models and for querying servers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path  # noqa: TC003 - option types are read at run time
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import RequestError
from tacit.options import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.loading import LoadOptions
    from tacit.models.openai.options import ServerOptions, Thinking

MODEL, SERVER, CHAT = "Model", "Server", "Server: chat"


@dataclass(frozen=True)
class LocalSettings:
    """Options for loading models in this process; see ``tacit.models.loading.LoadOptions``."""

    revision: str | None = option(
        None, help="Branch, tag or commit of a model on the Hugging Face hub.", group=MODEL
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = option(
        "auto",
        help="Number format of the weights: auto (float32 on a CPU, the stored format on other "
        "devices), float32, bfloat16 or float16.",
        group=MODEL,
    )
    device: str = option(
        "auto",
        help="Device that runs the model: auto, cpu, cuda, cuda:1, …",
        group=MODEL,
        requested=False,
    )
    batch_tokens: int | None = option(
        None,
        help="Maximum number of tokens in one forward pass [default: chosen for the device].",
        group=MODEL,
        requested=False,
    )
    batch_size: int | None = option(
        None, help="Not accepted; use --batch-tokens instead.", hidden=True, requested=False
    )
    masked_mode: Literal["left-to-right", "one-at-a-time"] = option(
        "left-to-right",
        help="How a masked model scores an answer of several tokens: left-to-right (later tokens "
        "are masked) or one-at-a-time (only the scored token is masked).",
        group=MODEL,
    )
    no_packing: bool = option(
        default=False,
        help="Compute every prompt separately; by default, a prefix that several prompts share is "
        "computed only once.",
        group=MODEL,
        requested=False,
    )
    trust_remote_code: bool = option(
        default=False,
        help="Allow Python code from the model's repository to run.",
        group=MODEL,
        requested=False,
        permits=True,
    )
    allow_pickle: bool = option(
        default=False,
        help="Load pickled weights (pytorch_model.bin) if the model has no safetensors file.",
        group=MODEL,
        requested=False,
        permits=True,
    )
    adapter: Path | None = option(
        None,
        help="A folder with a PEFT adapter for the model, such as a LoRA adapter.",
        group=MODEL,
    )
    device_map: str | None = option(
        None,
        help="How to distribute a large model over several devices: auto, balanced or sequential.",
        group=MODEL,
        requested=False,
    )
    chat: bool = option(
        default=False,
        help="Format prompts with the tokenizer's chat template, so that the answer is the start "
        "of the assistant's turn.",
        group=MODEL,
    )


@dataclass(frozen=True)
class ServerSettings:
    """Options for querying servers; see ``tacit.models.openai.options.ServerOptions``."""

    served_model: str | None = option(
        None,
        help="Name of the model on the server [default: the only model on the server].",
        group=SERVER,
    )
    tokenizer: Path | None = option(
        None,
        help="The served model's tokenizer.json, or the folder that contains this file.",
        group=SERVER,
    )
    concurrency: int = option(
        8,
        help="Number of simultaneous requests.",
        least=1,
        group=SERVER,
        requested=False,
    )
    timeout: float | None = option(
        None,
        help="Time limit of one request in seconds [default: 120, or 600 for reasoning models].",
        group=SERVER,
        requested=False,
    )
    api: Literal["completions", "chat"] = option(
        "completions",
        help="The API of the server to use: completions or chat.",
        group=SERVER,
    )
    samples: int | None = option(
        None,
        help=(
            "With --api chat: sample N replies per prompt and score each answer by its share of "
            "the replies [default: score answers by the log-probabilities of the reply's first "
            "token]."
        ),
        group=CHAT,
    )
    thinking_tokens: str | None = option(
        None,
        help="With --api chat: maximum number of reasoning tokens, or 0 (no reasoning) or all (no "
        "limit).",
        group=CHAT,
    )
    yes: bool = option(
        default=False,
        help="Do not ask for confirmation of the cost of a chat API.",
        group=CHAT,
        requested=False,
        permits=True,
    )

    def check(self, models: Sequence[str]) -> None:
        """Reject chat options that do not apply to the given models."""
        from tacit.models.openai.options import is_address

        if self.api == "chat" and models and not any(map(is_address, models)):
            raise RequestError(
                "--api chat applies only to a server; use --chat for a model in this process"
            )
        if self.api != "chat" and (self.samples is not None or self.thinking_tokens is not None):
            raise RequestError("--samples and --thinking-tokens require --api chat")

    def options(self, *, from_file: bool = False) -> ServerOptions:
        """Return these settings as ``ServerOptions``; see there for ``from_file``."""
        from tacit.models.openai.options import ServerOptions

        return ServerOptions(
            self.served_model,
            self.tokenizer,
            self.concurrency,
            self.timeout,
            api=self.api,
            samples=self.samples,
            thinking=_reasoning_limit(self.thinking_tokens),
            from_file=from_file,
        )


@dataclass(frozen=True)
class DescribedSettings:
    """Options that describe models (see ``tacit.models.families``) without changing scores."""

    family: list[str] | None = option(
        None,
        help="Assign a model to a family; models of different families are not compared by size "
        "[default: the checkpoint's model_type]; repeatable.",
        metavar="NAME=FAMILY",
        group=MODEL,
        requested=False,
    )
    parameters: list[str] | None = option(
        None,
        help="Number of parameters of the model NAME, such as 350M or 1.3B [default: counted in "
        "the checkpoint]; repeatable.",
        metavar="NAME=NUMBER",
        group=MODEL,
        requested=False,
    )

    def of(self, models: Sequence[str]) -> dict[str, dict[str, str | int]]:
        """Return the user-specified family and number of parameters of each model."""
        from tacit.models.families import described

        return described(models, self.family, self.parameters)


@dataclass(frozen=True)
class ModelSettings:
    """Options for loading models in this process and for querying models on a server."""

    local: LocalSettings = field(default_factory=LocalSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    described: DescribedSettings = field(default_factory=DescribedSettings)

    def options(self, models: Sequence[str], *, from_file: bool = False) -> LoadOptions:
        """Return these settings as ``LoadOptions`` for the given models."""
        from tacit.models.huggingface.trust import Trust
        from tacit.models.loading import LoadOptions

        self.server.check(models)
        local = self.local
        if local.batch_size is not None:
            raise RequestError(
                "--batch-size is not an option, because prompts differ in length; limit the tokens "
                "per batch with --batch-tokens N"
            )
        return LoadOptions(
            local.revision,
            _DTYPES.get(local.dtype, local.dtype),
            local.device,
            local.batch_tokens,
            local.masked_mode,
            packing=not local.no_packing,
            server=self.server.options(from_file=from_file),
            chat=local.chat,
            trust=Trust(local.trust_remote_code, local.allow_pickle),
            adapter=local.adapter,
            device_map=local.device_map,
        )

    @property
    def named(self) -> ModelSettings:
        """A copy of the settings in which an abbreviated dtype such as ``bf16`` is spelled out."""
        dtype: Any = _DTYPES.get(self.local.dtype, self.local.dtype)
        return replace(self, local=replace(self.local, dtype=dtype))


_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def _reasoning_limit(given: str | None) -> Thinking:
    if given is None or given == "all":
        return "all" if given else None
    if not str(given).isascii() or not str(given).isdecimal():
        raise RequestError(f"--thinking-tokens is {given!r}; it must be a number of tokens, or all")
    return int(given)
