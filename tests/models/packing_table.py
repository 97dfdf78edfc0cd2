"""The table of architectures in docs/reference/scores.md; ``python -m tests.models.packing_table``.

Each is made tiny, with random weights, and loaded as a user loads it, once with packing and once
without; a local window, where it has one, is shorter than a pack.
"""

import logging
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported

from tests.models import tiny
from tests.models.passes import differences
from tests.models.prompts import CONTINUED, EVERYWHERE

BEGIN, END = "<!-- measured architectures -->", "<!-- /measured architectures -->"
PROMPTS = [*EVERYWHERE, *CONTINUED]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "scores.md"


@dataclass(frozen=True)
class Measured:
    name: str
    difference: float | None
    refused: str | None

    @property
    def line(self) -> str:
        told = "" if self.difference is None else f"{self.difference:.0e}"
        return (
            f"| {self.name} | {'no' if self.refused else 'yes'} | {told} | {self.refused or ''} |"
        )


def measure(name: str, folder: Path) -> Measured:
    place = tiny.save(name, folder / name)
    model, alone = tiny.load(place), tiny.load(place, packing=False)
    told: dict[str, Any] = dict(model.description)
    difference = told["errors"].get("packed")
    if told["packs"]:
        off = differences(model.answer(PROMPTS), alone.answer(PROMPTS))
        difference = max(difference, *off)
    return Measured(named(name, told["architecture"]), difference, told["not_packed"])


def named(name: str, architecture: str) -> str:
    more = {
        "gpt-neo": ", context window shorter than a pack",
        "gpt-neo-long": ", local window shorter than a pack",
        "falcon-alibi": " with ALiBi",
        "mistral": ", window of 12",
        "gemma2": ", window of 12",
        "gemma3": ", window of 12",
        "gpt-oss": ", window of 12",
    }
    return re.sub(r"(For|LMHead).*", "", architecture) + more.get(name, "")


def names() -> list[str]:
    """The architectures of the table; of GPT-Neo the two ways in which it cannot pack."""
    return [name for name in tiny.causal() if name != "gpt-neo-local"]


def table() -> str:
    with TemporaryDirectory() as folder:
        measured = [measure(name, Path(folder)) for name in names()]
    measured.sort(key=lambda one: (one.refused is not None, one.name.lower()))
    head = "| architecture | packs | largest difference (nats) | why not |\n|---|---|---|---|\n"
    return head + "".join(f"{one.line}\n" for one in measured)


def shown() -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip() + "\n"


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    made = table()
    page = PAGE.read_text(encoding="utf-8")
    page = page[: page.index(BEGIN) + len(BEGIN)] + f"\n{made}" + page[page.index(END) :]
    PAGE.write_text(page, encoding="utf-8")
    sys.stdout.write(made)
