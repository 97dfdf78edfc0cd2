"""Colours that can be read and told apart."""

from __future__ import annotations

import pytest

from tacit.charts.theme import PALETTES, SHAPES, Palette, mixed, series


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return sum(share * each for share, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_words_have_contrast(palette: Palette) -> None:
    """Every colour that words are written in has a contrast with white of 3.5, ink and grey 4.5."""
    for colour in (palette.ink, palette.muted):
        assert 1.05 / (luminance(colour) + 0.05) > 4.5
    for colour in palette.faults:
        assert 1.05 / (luminance(colour) + 0.05) > 3.5


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_numbers_can_be_read_on_the_deepest_shade(palette: Palette) -> None:
    """Ink has a contrast of 4.5 with every cell."""
    for hue in (palette.before, palette.after["paper"], palette.after["log-odds"]):
        assert (luminance(mixed(hue, 1)) + 0.05) / (luminance(palette.ink) + 0.05) > 4.5
        assert mixed(hue, 7) == mixed(hue, 1)
        assert mixed(hue, 0) == "#ffffff"


@pytest.mark.parametrize("palette", PALETTES)
def test_a_series_differs_in_hue_and_shape(palette: str) -> None:
    hues = PALETTES[palette].series
    assert len({*hues}) == len({*SHAPES}) == len(hues) == 8


def test_series_differ_in_hue_shape_or_dash() -> None:
    """Also when there are more of them than hues."""
    looks = [
        (one.hue, one.shape, one.dash) for one in series(map(str, range(12)), PALETTES["house"])
    ]
    assert len(set(looks)) == 12
