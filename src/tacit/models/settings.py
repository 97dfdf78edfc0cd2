"""The options by which models are loaded, and servers are asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path  # noqa: TC003 - the types of options are read
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
    """How models in this process are loaded; as ``tacit.models.loading.LoadOptions`` has it."""

    revision: str | None = option(
        None, help="Branch, tag or commit of a model on the hub.", group=MODEL
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16", "fp32", "bf16", "fp16"] = option(
        "auto",
        help="auto (float32 on a CPU, else as stored), float32, bfloat16 or float16.",
        group=MODEL,
    )
    device: str = option("auto", help="auto, cpu, cuda, cuda:1, …", group=MODEL, requested=False)
    batch_tokens: int | None = option(
        None,
        help="Tokens in one forward pass; the default goes by the device.",
        group=MODEL,
        requested=False,
    )
    batch_size: int | None = option(
        None, help="Not an option: --batch-tokens.", hidden=True, requested=False
    )
    masked_mode: Literal["left-to-right", "one-at-a-time"] = option(
        "left-to-right", help="How a masked model scores answers of several tokens.", group=MODEL
    )
    no_packing: bool = option(
        default=False,
        help="Compute every prompt by itself, in place of what prompts begin with alike once.",
        group=MODEL,
        requested=False,
    )
    trust_remote_code: bool = option(
        default=False,
        help="Run the programs that a model brings; without it they are never run.",
        group=MODEL,
        requested=False,
    )
    allow_pickle: bool = option(
        default=False,
        help="Read weights from a pickle (pytorch_model.bin) where there are no safetensors.",
        group=MODEL,
        requested=False,
    )
    adapter: Path | None = option(
        None, help="A folder with a PEFT adapter (LoRA and others) for the model.", group=MODEL
    )
    device_map: str | None = option(
        None,
        help="Spread the model over devices: auto, balanced, sequential (accelerate).",
        group=MODEL,
        requested=False,
    )
    chat: bool = option(
        default=False,
        help="Put each prompt as a chat, by the tokenizer's own template: the answer begins the "
        "assistant's turn.",
        group=MODEL,
    )


@dataclass(frozen=True)
class ServerSettings:
    """How servers are asked; as ``tacit.models.openai.options.ServerOptions`` has it."""

    served_model: str | None = option(
        None, help="What the server calls the model [default: its only one].", group=SERVER
    )
    tokenizer: Path | None = option(
        None, help="The model's tokenizer.json, or a folder that holds it.", group=SERVER
    )
    concurrency: int = option(
        8,
        help="How many prompts are under way at once.",
        least=1,
        group=SERVER,
        requested=False,
    )
    timeout: float | None = option(
        None,
        help="Seconds that an answer may take [default: 120; 600 where it thinks].",
        group=SERVER,
        requested=False,
    )
    api: Literal["completions", "chat"] = option(
        "completions", help="Whether it completes texts, or replies in a chat.", group=SERVER
    )
    samples: int | None = option(
        None,
        help="With --api chat: sample so many replies of each prompt, and count the answers "
        "[default: log-probabilities of the reply's first token].",
        group=CHAT,
    )
    thinking_tokens: str | None = option(
        None,
        help="With --api chat: the longest thought before a reply, in tokens; 0 for none, all to "
        "let it run.",
        group=CHAT,
    )
    yes: bool = option(
        default=False,
        help="With --api chat: do not ask whether the cost is meant.",
        group=CHAT,
        requested=False,
    )

    def check(self, models: Sequence[str]) -> None:
        """Refuses options of a chat where there is none.

        Raises:
            RequestError: No model is a server's, or replies are to be sampled or thought about
                outside of a chat.
        """
        from tacit.models.openai.options import is_address

        if self.api == "chat" and models and not any(map(is_address, models)):
            raise RequestError(
                "--api chat is for a server's address; a model in this process takes --chat"
            )
        if self.api != "chat" and (self.samples is not None or self.thinking_tokens is not None):
            raise RequestError(
                "--samples and --thinking-tokens are for a server's chat: add --api chat"
            )

    def options(self) -> ServerOptions:
        """The options as those of a server.

        Raises:
            RequestError: The thought's length is no number.
        """
        from tacit.models.openai.options import ServerOptions

        return ServerOptions(
            self.served_model,
            self.tokenizer,
            self.concurrency,
            self.timeout,
            api=self.api,
            samples=self.samples,
            thinking=_reasoning_limit(self.thinking_tokens),
        )


@dataclass(frozen=True)
class ModelSettings:
    """How models are loaded, in this process or behind a server."""

    local: LocalSettings = field(default_factory=LocalSettings)
    server: ServerSettings = field(default_factory=ServerSettings)

    def options(self, models: Sequence[str]) -> LoadOptions:
        """The options as those of the models.

        Raises:
            RequestError: As ``ServerSettings``.
        """
        from tacit.models.huggingface.trust import Trust
        from tacit.models.loading import LoadOptions

        self.server.check(models)
        local = self.local
        if local.batch_size is not None:
            raise RequestError(
                "--batch-size counts prompts, whose lengths differ; a batch is as large as its "
                "tokens: give --batch-tokens N"
            )
        return LoadOptions(
            local.revision,
            _DTYPES.get(local.dtype, local.dtype),
            local.device,
            local.batch_tokens,
            local.masked_mode,
            packing=not local.no_packing,
            server=self.server.options(),
            chat=local.chat,
            trust=Trust(local.trust_remote_code, local.allow_pickle),
            adapter=local.adapter,
            device_map=local.device_map,
        )

    @property
    def named(self) -> ModelSettings:
        """The same, with the full name of an abbreviated number format."""
        dtype: Any = _DTYPES.get(self.local.dtype, self.local.dtype)
        return replace(self, local=replace(self.local, dtype=dtype))


_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def _reasoning_limit(given: str | None) -> Thinking:
    if given is None or given == "all":
        return "all" if given else None
    if not str(given).isascii() or not str(given).isdecimal():
        raise RequestError(f"--thinking-tokens is {given!r}; it must be a number of tokens, or all")
    return int(given)
