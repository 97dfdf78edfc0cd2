"""A model of a run: how it is loaded, what asking it costs, and how it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tacit.engine.ask import Engine
from tacit.engine.options import EngineOptions
from tacit.engine.store import Store
from tacit.models.base import LanguageModel
from tacit.models.openai.options import is_address
from tacit.models.openai.roads import check_answers
from tacit.models.options import LoadOptions
from tacit.requests import Request
from tacit.runs.estimate import Cost, estimate
from tacit.runs.reporter import resumable


@dataclass(frozen=True)
class RunModel:
    """A model by its name, and with what it is started; ``loaded`` is a model in memory."""

    name: str
    loading: LoadOptions
    engine: EngineOptions = field(default_factory=EngineOptions)
    store: Store | None = None
    loaded: LanguageModel | None = None

    def check(self) -> None:
        """Check the options, before any model is loaded."""
        if self.loaded is None:
            self.engine.check([self.name], self.loading)

    def find(self) -> None:
        """Raise an error if there is no such model, where it would be loaded here."""
        from tacit.models import loading

        if self.loaded is None and self.engine.engine == "local":
            loading.find(self.name, self.loading)

    def check_answers(self, asked: type) -> None:
        """Raise an error if a server cannot be asked a class of requests on any permitted road."""
        if self.loaded is None and is_address(self.name):
            check_answers(self.name, self.loading.server.roads, asked)

    @property
    def chats(self) -> bool:
        """Whether the model is asked through a server's chat API."""
        is_served = self.loaded is None and is_address(self.name)
        return is_served and self.loading.server.api == "chat"

    def start(self) -> Engine:
        """Start the model's engine; deleting the engine frees the model's memory."""
        store = self.store or Store.default()
        with resumable(f"{self.name} was not asked yet"):
            if self.loaded is not None:
                return self.engine.start_with(self.loaded, store)
            return self.engine.start(self.name, self.loading, store)

    def costs(self, requests: Sequence[Request]) -> dict[str, Cost]:
        """Return the highest cost of requests to a chat, by the model's name."""
        return {self.name: Cost.of(requests, self.loading.server)} if self.chats else {}

    def estimate(
        self, requests: Sequence[Request], engine: Engine | None, blocks: Path | None = None
    ) -> dict[str, Any]:
        """Compute the output of ``--dry-run``: the highest cost of a chat, or a short trial."""
        for cost in self.costs(requests).values():
            return asdict(cost)
        return estimate(engine or self.start(), requests, blocks, self.loading.server)
