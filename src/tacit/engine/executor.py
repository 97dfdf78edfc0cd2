"""Who carries out the blocks of a plan in the engine's place: workers elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from tacit.engine.plan import Part, Plan


class Executor(Protocol):
    """Asks blocks of one model and writes what it answers to the engine's store."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What a manifest says of them: plain values, ready for JSON."""
        ...

    @property
    def size(self) -> int:
        """How many blocks are under way at once."""
        ...

    def execute(self, plan: Plan) -> Generator[Part]:
        """Has all blocks asked; gives each as soon as it is stored, in whatever order that is.

        When it is closed, the others are asked no longer.

        Raises:
            ScoringError: The model failed, or no worker is left.
            StoreError: The store cannot be written.
        """
        ...
