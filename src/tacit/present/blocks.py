"""Print the block of each run: the verdict, the main figures, the control, an example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tacit.present import terminal
from tacit.probes.base import title_of
from tacit.probes.registry import probe

if TYPE_CHECKING:
    from tacit.findings.verdict import Name
    from tacit.runs.run import Run

_COLOURS: Mapping[Name, str] = {
    "clear": "green",
    "weak": "yellow",
    "no signal": "red",
    "constant": "red",
    "too few data": "yellow",
}


def print_blocks(runs: Iterable[Run]) -> None:
    """Print the block of each run beside its probe and model."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    bracketed = False
    for run in runs:
        lines = run.block.lines if run.block else ("nothing was measured",)
        body = Text("\n".join(lines))
        body.highlight_words(["Control:", "Caution:", "Next:"], "bold")
        if run.verdict:
            body.highlight_words([str(run.verdict)], _COLOURS[run.verdict.name])
        bracketed = bracketed or any("[" in line for line in lines)
        grid.add_row(Text(f"{title_of(probe(run.probe))}\n{run.name}", style="bold"), body)
    console = terminal.console(wraps=False)
    with console.capture() as printed:
        console.print(grid, *(["[ ]: 95 % confidence interval"] if bracketed else ()), sep="")
    for line in printed.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")
