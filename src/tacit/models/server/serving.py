"""Which of the models that a server serves is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def chosen(models: Sequence[Mapping[str, Any]], address: str, name: str | None) -> dict[str, Any]:
    """What the server says of the model of that name, or of its only one.

    Raises:
        ModelError: It serves no such model, or several and none was named.
    """
    known = {str(one["id"]): dict(one) for one in models}
    if name is None:
        if len(known) == 1:
            return next(iter(known.values()))
        listed = f"serves {', '.join(sorted(known))}" if known else "does not say what it serves"
        raise ModelError(f"{address} {listed}: name the model with --served-model")
    # Some complete with whatever they serve, by any name, and list it by its file.
    return known.get(name, {"id": name})
