"""Which of the models that a server serves is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.openai.redaction import SHOWN

if TYPE_CHECKING:
    from tacit.models.openai.client import Client


def chosen(client: Client, name: str | None) -> dict[str, Any]:
    """What the server says of the model of that name, or of its only one.

    Raises:
        ModelError: It serves no such model, or several and none was named.
    """
    known = {str(one["id"]): dict(one) for one in client.models()}
    if name is None:
        shown = [client.hide(one) for one in sorted(known)]
        # One that is called by the key would carry it everywhere.
        if len(known) == 1 and SHOWN not in shown[0]:
            return next(iter(known.values()))
        listed = f"serves {', '.join(shown)}" if known else "does not say what it serves"
        raise ModelError(f"{client.address} {listed}: name the model with --served-model")
    # Some complete with whatever they serve, by any name, and list it by its file.
    return known.get(name, {"id": name})
