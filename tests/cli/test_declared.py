from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
import typer
from typer.testing import CliRunner

from tacit.cli.options import GroupedCommand, declared
from tacit.options import option


@dataclass(frozen=True)
class Size:
    """Options within others, of which one is required."""

    width: int = option(help="Its width.", least=1)
    height: int = option(2, help="Its height.")


@dataclass(frozen=True)
class Theming:
    """Options of two headings."""

    size: Size = field(default_factory=Size)
    colour: Literal["red", "blue"] = option("red", help="Its colour.", group="Paint")
    frame: bool = option(default=True, help="With no frame.", flags=("--no-frame",))
    gloss: int = option(0, help="Its gloss.", group="Paint", rare=True)


@pytest.fixture
def app() -> typer.Typer:
    """A verb that takes a dataclass of options, an argument and an option of its own."""
    made = typer.Typer(rich_markup_mode=None)

    @declared(look=Theming)
    def draw(*, name: str, look: Theming, often: int = 1) -> None:
        """Draw a thing."""
        typer.echo(f"{name} {look} {often}")

    made.command(cls=GroupedCommand)(draw)
    return made


def test_the_fields_of_dataclasses_are_options(app: typer.Typer) -> None:
    asked = ["box", "--width", "3", "--colour", "blue", "--often", "4", "--gloss", "1"]
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 0, told.output
    assert told.output.strip() == f"box {Theming(Size(3), 'blue', gloss=1)} 4"


def test_help_lists_options_under_their_headings(app: typer.Typer) -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    words = ("Arguments:", "What to ask:", "--width", "--height", "--no-frame", "Paint:")
    places = [told.index(word) for word in words]
    assert places == sorted(places)
    assert told.index("Paint:") < told.index("--colour <red|blue>") < told.index("Its colour.")
    assert "Draw a thing." in told
    assert "--size" not in told
    assert "--gloss" not in told
    whole = CliRunner().invoke(app, ["--help-all"])
    assert whole.exit_code == 0
    assert whole.output.index("Paint:") < whole.output.index("--gloss")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "--width"),
        (["--width", "0"], "--width"),
        (["--width", "1", "--colour", "pink"], "'red', 'blue'"),
    ],
)
def test_what_does_not_fit_is_refused(app: typer.Typer, asked: list[str], message: str) -> None:
    """What is required, out of range or no choice, as for an option of the verb itself."""
    told = CliRunner().invoke(app, ["box", *asked])
    assert told.exit_code == 2
    assert message in told.output


@dataclass(frozen=True)
class Drawn:
    """An option that affects only figures."""

    frames: str | None = option(None, help="Its frames.", figures=True)


@pytest.mark.parametrize("figures", [True, False])
def test_only_a_command_that_draws_figures_accepts_their_options(*, figures: bool) -> None:
    """Elsewhere, the option is unknown and keeps its default."""
    made = typer.Typer(rich_markup_mode=None)

    @made.command(cls=GroupedCommand)
    @declared(look=Drawn, figures=figures)
    def draw(*, look: Drawn) -> None:
        """Draw a thing."""
        typer.echo(f"{look}")

    assert CliRunner().invoke(made, []).output.strip() == f"{Drawn()}"
    told = CliRunner().invoke(made, ["--frames", "two"])
    assert (told.exit_code == 0) == figures
    assert (f"{Drawn('two')}" in told.output) == figures
