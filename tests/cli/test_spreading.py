from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from tacit.cli.spreading import spread


@dataclass(frozen=True)
class Size:
    """Options of one group, of which one is required."""

    width: Annotated[int, typer.Option(min=1)]
    height: Annotated[int, typer.Option()] = 2


@dataclass(frozen=True)
class Look:
    """Options of another."""

    colour: Annotated[str, typer.Option(help="Its colour.")] = "red"
    no_frame: Annotated[bool, typer.Option("--no-frame")] = False


@pytest.fixture
def app() -> typer.Typer:
    """A verb that takes both groups, an argument and an option of its own."""
    made = typer.Typer(rich_markup_mode=None)

    @made.command()
    @spread
    def draw(
        *, name: Annotated[str, typer.Argument()], size: Size, look: Look, often: int = 1
    ) -> None:
        """Draw a thing."""
        typer.echo(f"{name} {size} {look} {often}")

    return made


def test_a_group_s_fields_are_options_of_their_own(app: typer.Typer) -> None:
    """Those that are not given have their defaults."""
    asked = ["box", "--width", "3", "--no-frame", "--often", "4"]
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 0
    assert told.output.strip() == f"box {Size(3)} {Look(no_frame=True)} 4"


def test_help_tells_of_each_in_the_place_of_its_group(app: typer.Typer) -> None:
    """And the verb is described as it describes itself."""
    told = CliRunner().invoke(app, ["--help"]).output
    places = [told.index(word) for word in ("--width", "--height", "--colour", "--often")]
    assert places == sorted(places)
    assert "Its colour." in told
    assert "Draw a thing." in told
    assert "--size" not in told


@pytest.mark.parametrize("asked", [["box"], ["box", "--width", "0"]])
def test_what_is_required_or_out_of_range_is_refused(app: typer.Typer, asked: list[str]) -> None:
    """As for an option of the verb itself."""
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 2
    assert "--width" in told.output
