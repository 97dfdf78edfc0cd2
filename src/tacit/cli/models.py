"""The options by which verbs are told how a model is loaded, or how a server is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tacit.cli import chat as chatting
from tacit.cli import options as given
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.models.loading import LoadOptions
    from tacit.models.masked import MaskedMode
    from tacit.models.server.address import ServerOptions


@dataclass(frozen=True)
class ModelOptions:
    """How models in this process are loaded; as ``tacit.models.loading.LoadOptions`` has it."""

    revision: given.Revision = None
    dtype: given.Dtype = "auto"
    device: given.Device = "auto"
    batch_tokens: given.BatchTokens = None
    masked_mode: given.MaskedMode = "left-to-right"
    no_packing: given.NoPacking = False
    trust_remote_code: given.TrustRemoteCode = False
    allow_pickle: given.AllowPickle = False
    adapter: given.Adapter = None
    device_map: given.DeviceMap = None
    chat: chatting.Chat = False

    def options(self, server: ServerOptions | None = None) -> LoadOptions:
        """The options as those of a model, behind a server or not.

        Raises:
            RequestError: The masked mode is unknown.
        """
        from tacit.models.loading import LoadOptions
        from tacit.models.trust import Trust

        if self.masked_mode not in {"left-to-right", "one-at-a-time"}:
            raise RequestError(
                f"the masked mode {self.masked_mode!r} is none of left-to-right, one-at-a-time"
            )
        return LoadOptions(
            self.revision,
            self.dtype,
            self.device,
            self.batch_tokens,
            cast("MaskedMode", self.masked_mode),
            packing=not self.no_packing,
            server=server,
            chat=self.chat,
            trust=Trust(self.trust_remote_code, self.allow_pickle),
            adapter=self.adapter,
            device_map=self.device_map,
        )

    def request(self) -> dict[str, Any]:
        """What a run's ``run.yaml`` says of it; of a chat and an adapter where there is one."""
        asked = {"revision": self.revision, "dtype": self.dtype, "masked_mode": self.masked_mode}
        more = {"chat": self.chat or None, "adapter": self.adapter and str(self.adapter)}
        return asked | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True)
class ServedOptions:
    """How servers are asked; as ``tacit.models.server.address.ServerOptions`` has it."""

    served_model: given.ServedModel = None
    tokenizer: given.TokenizerPath = None
    concurrency: given.Concurrency = 8
    timeout: given.Timeout = None

    def options(self) -> ServerOptions:
        """The options as those of a server that completes texts."""
        from tacit.models.server.address import ServerOptions

        return ServerOptions(self.served_model, self.tokenizer, self.concurrency, self.timeout)

    def request(self) -> dict[str, str]:
        """What a run's ``run.yaml`` says of it: nothing where none is asked for in particular."""
        more = {"served_model": self.served_model, "tokenizer": self.tokenizer}
        return {name: str(value) for name, value in more.items() if value is not None}


_Hidden = Annotated[str | None, typer.Option(hidden=True)]


@dataclass(frozen=True)
class RefusedOptions:
    """The options of servers where no server can be asked: refused in words, and in no help."""

    served_model: _Hidden = None
    tokenizer: _Hidden = None
    concurrency: _Hidden = None
    timeout: _Hidden = None
    api: _Hidden = None
    samples: _Hidden = None
    thinking_tokens: _Hidden = None
    yes: Annotated[bool, typer.Option("--yes", hidden=True)] = False

    def refuse(self) -> None:
        """Refuses those that were given.

        Raises:
            RequestError: One was.
        """
        named = [name for name, value in asdict(self).items() if value not in (None, False)]
        if named:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in named)
            raise RequestError(
                f"{options}: for models behind a server, and this ranks a whole vocabulary, which "
                "neither a server's replies nor its first tokens do: use a model in this process, "
                "with --chat where it is tuned for chat"
            )
