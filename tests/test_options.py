from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.options import build, digests, names_of, option, requested


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


@dataclass(frozen=True)
class Size:
    width: int = option(help="Its width.", least=1)
    weight: float | None = option(None, help="Its weight.", least=0, requested=False)
    legs: int = option(4, help="Its legs.", check=even)


@dataclass(frozen=True)
class Options:
    size: Size = field(default_factory=Size)
    colour: Literal["red", "blue"] = option("red", help="Its colour.")
    lit: Literal["on", "off"] = option("on", help="Whether it is lit.")
    names: str | None = option(None, help="Its names.")
    file: Path | None = option(None, help="Its file.")
    of: list[str] | None = option(None, help="What each is of.")
    old: bool = option(default=False, help="Whether it is old.")


def test_values_of_python_and_yaml_stand_for_those_of_the_command_line() -> None:
    """Numbers as text, lists as names between commas, text as paths."""
    made = build(
        Options,
        {"width": np.int64(2), "weight": 2, "lit": False, "file": "a.tsv", "of": {"a": "b"}},
    )
    assert made.size == Size(2, 2.0)
    assert (made.lit, made.file, made.of) == ("off", Path("a.tsv"), ["a=b"])
    names = [build(Options, {"width": 1, "names": of}).names for of in (["a", "b"], 12, Path("a"))]
    assert names == ["a,b", "12", "a"]
    assert build(Options, {"width": 1, "of": ("a=b",)}).of == ["a=b"]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("width", 0, "width is 0; it must be at least 1"),
        ("width", "2", "width is '2'; it must be a whole number"),
        ("width", True, "width is True; it must be a whole number"),
        ("legs", 3, "legs must be even"),
        ("colour", "rad", r"must be one of red, blue \(did you mean red\?\)"),
        ("colour", None, "colour is None; it must be one of red, blue"),
        ("names", pl.Series(["a"]), "names is an object of type Series"),
        ("file", 3, "file is 3; it must be a path"),
        ("of", "a=b", "of is 'a=b'; it must be a list"),
        ("old", "no", "old is 'no'; it must be true or false"),
    ],
)
def test_what_an_option_does_not_allow_is_refused_by_its_name(
    name: str, given: object, message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        build(Options, {"width": 1, name: given})


def test_what_is_required_is_named_with_its_help() -> None:
    with pytest.raises(RequestError, match=r"width is missing: Its width\."):
        build(Options, {})


def test_nested_options_are_listed_recorded_and_hashed(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("a\n")
    made: Any = build(Options, {"width": 1, "file": str(file)})
    assert names_of(Options) == (
        *("width", "weight", "legs"),
        *("colour", "lit", "names", "file", "of", "old"),
    )
    assert list(requested(made)) == [name for name in names_of(Options) if name != "weight"]
    assert requested(made)["file"] == str(file)
    assert list(digests(made)) == [str(file)]
